"""Selection of a kernel by the form of W, the kind of array, and the cost.

Every kernel has the signature that ``reference`` specifies. A new kind of array needs a package of
kernels next to ``compiled`` and a line in ``backend``. A new form of W needs a step in
``reference`` and in each of these packages.
"""

from __future__ import annotations

from importlib import import_module
from types import ModuleType
from typing import Any

import numpy as np

from eigenecho.arrays import namespace
from eigenecho.kernels import compiled, convolution, costs, reference
from eigenecho.kernels.forms import Array, CustomForm, DiagonalForm, FeatureForm, Form
from eigenecho.progress import Progress


def backend(array: Any, features: FeatureForm | CustomForm | None = None) -> ModuleType:
    """Return the kernels for a kind of array. Custom features use the reference kernels."""
    if isinstance(features, CustomForm):
        return reference
    # The package for tensors imports torch, so it is imported only when there is a tensor.
    return compiled if namespace(array).is_host else import_module("eigenecho.kernels.tensors")


def observe(features: FeatureForm | CustomForm | None, states: Array) -> Array:
    """Return the features z (T, M) of states (T, N), or the states if there are no features."""
    if features is None:
        return states
    return backend(states, features).observe(features, states)


# The caller checks for overflow, because it knows the step and the cause.
@np.errstate(over="ignore", invalid="ignore")
def scan(
    form: Form, B: Array, drive: Array, state: Array, out: Array | None = None
) -> tuple[Array, Array]:
    """Return the states r(1) … r(T), (…, T, N), written into ``out`` if it is given, and r(T)."""
    return backend(drive).scan(form, B, drive, state, out)


@np.errstate(over="ignore", invalid="ignore")
def scan_readout(
    form: Form, B: Array, drive: Array, weights: Array, state: Array, out: Array | None = None
) -> tuple[Array, Array]:
    """Return the outputs r(t) weightsᵀ, (…, T, D_out), without storing states, and r(T)."""
    return backend(drive).scan_readout(form, B, drive, weights, state, out)


@np.errstate(over="ignore", invalid="ignore")
def read_out(
    form: Form,
    B: Array,
    drive: Array,
    weights: Array,
    state: Array,
    out: Array,
    progress: Progress | None = None,
) -> Array:
    """Write r(t) weightsᵀ into ``out`` by a scan or by a convolution, and return r(T)."""
    xp = namespace(drive)
    together, last = drive.ndim == 2 or not xp.is_host, xp.array(state)
    measured = drive if together else None
    if not should_convolve(form, drive.shape[-2], drive.shape[-1], len(weights), measured):
        for piece, own in (progress or Progress()).cut(drive.shape):
            _, last[own] = scan_readout(form, B, drive[piece], weights, last[own], out[piece])
        return last
    if together:
        run = backend(drive)
        return convolution.convolve_readout(run, form, B, drive, weights, state, out, progress)
    for i, (a, r) in enumerate(zip(drive, state, strict=True)):
        # The choice must not depend on the other series.
        last[i] = read_out(form, B, a, weights, r, out[i], progress)
    return last


def should_convolve(
    form: Form, steps: int, columns: int, outputs: int, drive: Array | None = None
) -> bool:
    """Return True if a convolution is cheaper than a scan, and accurate for this drive."""
    if not isinstance(form, DiagonalForm) or columns == 0:
        return False
    mode = costs.READOUT_NS + costs.READOUT_COLUMN_NS * (columns + outputs)
    scan = (form.real.size + 2 * form.re.size) * mode
    step = costs.TRANSFORM_NS * (columns + outputs) + costs.PRODUCT_NS * columns * outputs
    limit = costs.MAX_CONVOLUTION_COST * scan
    # The cheap test comes first: computing the radius takes longer than a short run.
    if steps < 8 or step >= limit:
        return False
    K = convolution.settling_steps(form)
    # The responses of all columns are scanned, and the last K steps for the state.
    if steps < 4 * K or step + scan * (columns + 1) * K / steps >= limit:
        return False
    return drive is None or convolution.has_even_loudness(drive)
