"""Which kernel runs: by the form of W, the kind of array, and what it costs.

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
    """The kernels for this kind of array."""
    # The package for tensors imports torch, so it is loaded when the first tensor comes in.
    return compiled if namespace(array).is_host else import_module("eigenecho.kernels.tensors")


# States that overflow are for the caller to find, who can say where and why.
@np.errstate(over="ignore", invalid="ignore")
def scan(form: Form, B: Array, drive: Array, state: Array, out: Array, fresh: bool = False) -> None:
    """States r(1) … r(T) into ``out`` (T, N), which must be C-contiguous.

    ``fresh`` says that nothing was ever written there, which is a matter of speed alone.
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
    """r(t) weightsᵀ into ``out`` (T, D_out), no states stored; ``weights`` (D_out, N)."""
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
    """What ``scan_readout`` computes, by a scan or by convolution, whichever is cheaper."""
    if convolves(form, drive.shape[-2], drive.shape[-1], len(weights), drive):
        convolution.convolve_readout(backend(drive), form, B, drive, weights, state, out, progress)
        return
    for rows in [slice(None)] if progress is None else progress.pieces(drive.shape[-2]):
        scan_readout(form, B, drive[..., rows, :], weights, state, out[..., rows, :])


def convolves(
    form: Form, steps: int, columns: int, outputs: int, drive: Array | None = None
) -> bool:
    """Whether outputs come from a convolution: it is cheaper, and the drive has no spikes."""
    if not isinstance(form, DiagonalForm) or columns == 0:
        return False
    alone = columns == 1 and outputs == 1
    mode = costs.ALONE if alone else costs.FUSED + costs.PER_COLUMN * (columns + outputs)
    scan = (form.real.size + 2 * form.re.size) * mode
    step = costs.TRANSFORM * (columns + outputs) + costs.PRODUCT * columns * outputs
    most = costs.WORTH_A_TRANSFORM * scan
    # What is cheap to know comes first: to find the radius takes longer than a short run.
    if steps < 8 or step >= most:
        return False
    K = convolution.settling_steps(form)
    # Each column's response is scanned, and so are the last K steps, for the state.
    if steps < 4 * K or step + scan * (columns + 1) * K / steps >= most:
        return False
    return drive is None or convolution.is_even(drive)
