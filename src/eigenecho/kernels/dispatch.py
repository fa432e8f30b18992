"""Selection of a kernel by the form of W, the kind of array, and the cost.

Every kernel has the signature that ``reference`` specifies. Another kind of array needs a package
of kernels beside ``compiled`` and a line in ``backend``; another form of W, a step in ``reference``
and in each of those packages.
"""

from __future__ import annotations

from importlib import import_module
from types import ModuleType
from typing import Any

import numpy as np

from eigenecho.arrays import namespace
from eigenecho.kernels import cascade, compiled, convolution, costs
from eigenecho.kernels.forms import Array, CascadeForm, DiagonalForm, Form
from eigenecho.progress import Progress


def backend(array: Any) -> ModuleType:
    """Return the kernels for this kind of array."""
    # The package for tensors imports torch, so it is loaded with the first tensor.
    return compiled if namespace(array).is_host else import_module("eigenecho.kernels.tensors")


# The caller checks for overflow, and can say where and why.
@np.errstate(over="ignore", invalid="ignore")
def scan(form: Form, B: Array, drive: Array, state: Array, out: Array, fresh: bool = False) -> None:
    """Write states r(1) … r(T) into ``out`` (T, N), which must be C-contiguous.

    ``fresh`` says that its memory is new, which affects only the speed.
    """
    kernels = backend(drive)
    if isinstance(form, CascadeForm):
        cascade.scan(kernels, form, B, drive, state, out)
    else:
        kernels.scan(form, B, drive, state, out, fresh)


@np.errstate(over="ignore", invalid="ignore")
def scan_readout(
    form: Form, B: Array, drive: Array, weights: Array, state: Array, out: Array
) -> None:
    """Write r(t) weightsᵀ into ``out`` (T, D_out), without storing states."""
    kernels = backend(drive)
    if isinstance(form, CascadeForm):
        cascade.scan_readout(kernels, form, B, drive, weights, state, out)
    else:
        kernels.scan_readout(form, B, drive, weights, state, out)


@np.errstate(over="ignore", invalid="ignore")
def outputs(
    form: Form,
    B: Array,
    drive: Array,
    weights: Array,
    state: Array,
    out: Array,
    progress: Progress | None = None,
) -> None:
    """Compute ``scan_readout`` by a scan or by convolution, whichever is cheaper."""
    if convolves(form, drive.shape[-2], drive.shape[-1], len(weights), drive):
        convolution.convolve_readout(backend(drive), form, B, drive, weights, state, out, progress)
        return
    for rows in [slice(None)] if progress is None else progress.pieces(drive.shape[-2]):
        scan_readout(form, B, drive[..., rows, :], weights, state, out[..., rows, :])


def convolves(
    form: Form, steps: int, columns: int, outputs: int, drive: Array | None = None
) -> bool:
    """Return True if a convolution is cheaper, and accurate because the drive has no spikes."""
    if not isinstance(form, DiagonalForm) or columns == 0:
        return False
    alone = columns == 1 and outputs == 1
    mode = costs.ALONE if alone else costs.FUSED + costs.PER_COLUMN * (columns + outputs)
    scan = (form.real.size + 2 * form.re.size) * mode
    step = costs.TRANSFORM * (columns + outputs) + costs.PRODUCT * columns * outputs
    most = costs.WORTH_A_TRANSFORM * scan
    # The cheap test comes first: computing the radius takes longer than a short run.
    if steps < 8 or step >= most:
        return False
    K = convolution.settling_steps(form)
    # The responses of all columns are scanned, and the last K steps for the state.
    if steps < 4 * K or step + scan * (columns + 1) * K / steps >= most:
        return False
    return drive is None or convolution.is_even(drive)
