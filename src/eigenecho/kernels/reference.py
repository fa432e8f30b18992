"""Specification of the kernels, as readable NumPy loops.

Shapes: ``B`` (D, N), ``drive`` (T, D), ``state`` (N,), updated in place to the last state.
"""

from __future__ import annotations

import numpy as np

from eigenecho.kernels.forms import (
    CustomForm,
    DenseForm,
    DiagonalForm,
    FeatureForm,
    Feedback,
    Form,
    Readout,
)
from eigenecho.types import Array


def advance(form: Form, state: Array) -> Array:
    """Return the product of ``state`` and W as a new array.

    For eigenvalues, pairs are viewed as complex numbers: the same bytes are (Re, Im) columns for
    the readout and complex modes for the step.
    """
    if isinstance(form, DiagonalForm):
        new = state.copy()
        new[: form.real.size] *= form.real
        pairs = new[form.real.size :].view(np.result_type(new, np.complex64))
        pairs *= form.re + 1j * form.im
        return new
    if isinstance(form, DenseForm):
        return state @ form.W
    new = np.zeros_like(state)
    for j in range(state.size):
        row = slice(form.indptr[j], form.indptr[j + 1])
        new[j] = form.data[row] @ state[form.indices[row]]
    return new


def step(form: Form, B: Array, drive: Array, state: Array) -> None:
    """Compute r ← r W + a B for one drive row ``a`` (D,)."""
    state[:] = advance(form, state) + drive @ B


def scan(form: Form, B: Array, drive: Array, state: Array, out: Array) -> None:
    """Write states r(1) … r(T) into ``out`` (T, N)."""
    for t in range(len(drive)):
        step(form, B, drive[t], state)
        out[t] = state


def scan_readout(
    form: Form, B: Array, drive: Array, weights: Array, state: Array, out: Array
) -> None:
    """Write r(t) weightsᵀ into ``out`` (T, D_out), without storing states.

    ``weights`` (D_out, N) has one row per output.
    """
    for t in range(len(drive)):
        step(form, B, drive[t], state)
        out[t] = weights @ state


def run_closed_loop(
    form: Form,
    B: Array,
    drive: Array,
    feedback: Array,
    readout: Readout,
    state: Array,
    y: Array,
    out: Array,
) -> None:
    """Run with outputs fed back: r ← r W + a B + y F;  y ← offset + y previous + r weightsᵀ.

    ``feedback`` is F (D_out, N). ``y`` (D_out,) is the previous output, updated in place.
    """
    for t in range(len(drive)):
        state[:] = advance(form, state) + drive[t] @ B + y @ feedback
        y[:] = readout.offset + y @ readout.previous + readout.weights @ state
        out[t] = y


def observe(features: FeatureForm | CustomForm | None, states: Array) -> Array:
    """Return the features z (T, M) of states (T, N), or the states if there are no features."""
    if features is None:
        return states
    form = features.builtin if isinstance(features, CustomForm) else features
    s = (states[:, form.columns] - form.mean) / form.scale
    z = list(s.T)
    for i, j in form.products:
        z.append(z[i] * z[j])
    cosines = np.cos(s @ form.cos_weights + form.cos_offsets)
    sigmoids = np.tanh(s @ form.tanh_weights + form.tanh_offsets)
    parts = [np.array(z).T, cosines, sigmoids]
    if isinstance(features, CustomForm):
        parts.append(features.function(s))
    return np.concatenate(parts, axis=1, dtype=states.dtype)


def step_readout(
    form: Form,
    B: Array,
    drive: Array,
    readout: Readout,
    before: Array,
    state: Array,
    row: Array,
    y: Array,
) -> bool:
    """Compute row = r W + a B and y = offset + before previous + z weightsᵀ.

    Return True if y is finite. z are the features of ``row``, and ``before`` (D_out,) is y(t−1).
    ``state`` is not changed.
    """
    row[:] = advance(form, state) + drive @ B
    (z,) = observe(readout.features, row[None])
    y[:] = readout.offset + before @ readout.previous + readout.weights @ z
    return bool(np.isfinite(y).all())


def run_readout(
    form: Form,
    B: Array,
    drive: Array,
    readout: Readout,
    before: Array,
    loop: Feedback | None,
    state: Array,
    out: Array,
) -> int:
    """Run ``step_readout`` on the rows of ``drive`` (T, D); return the number of valid outputs.

    ``before`` (T, D_out) contains y(t−1) for each row. With a ``loop``, only its first row is
    required: the other rows, and the columns of the drive for y(t−1), are filled with the outputs.
    The run ends before an output that is not finite or, in a loop, out of bounds.
    """
    row = np.empty_like(state)
    for t in range(len(drive)):
        if loop is not None and t > 0:
            output = (out[t - 1] * loop.scale + loop.mean).astype(out.dtype)
            before[t] = (output - loop.mean) / loop.scale
            drive[t, loop.start :] = before[t, : drive.shape[1] - loop.start]
        if not step_readout(form, B, drive[t], readout, before[t], state, row, out[t]):
            return t
        if loop is not None:
            if loop.clip:
                out[t] = np.clip(out[t], loop.low, loop.high)
            elif np.any((out[t] < loop.low) | (out[t] > loop.high)):
                return t
        state[:] = row
    return len(drive)


def absorb_row(R: Array, Z: Array, keep: float, x: Array, y: Array) -> None:
    """Replace [R Z] with the triangular factor of [keep R, keep Z; x y].

    ``R`` (N', N') is upper triangular, ``Z`` is (N', D_out), ``x`` (N',) and ``y`` (D_out,). With
    λ = keep²,
    RᵀR ← λ RᵀR + xᵀx and RᵀZ ← λ RᵀZ + xᵀy. ``x`` and ``y`` may be overwritten.
    """
    orthogonal, upper = np.linalg.qr(np.concatenate([keep * R, x[None]]))
    Z[:] = orthogonal.T @ np.concatenate([keep * Z, y[None]])
    R[:] = upper


def back_substitute(R: Array, Z: Array, W: Array) -> None:
    """Write the solution of R Wᵀ = Z into W (D_out, N'), with 0 where the diagonal of R is 0."""
    for i in reversed(range(len(R))):
        difference = Z[i] - W[:, i + 1 :] @ R[i, i + 1 :]
        W[:, i] = difference / R[i, i] if R[i, i] != 0 else 0.0
