"""Specification of the kernels, as readable NumPy loops.

Shapes: ``B`` (D, N), ``drive`` (T, D), ``state`` (N,). Results are returned, and no argument is
changed but those named as places for results, and the triangle of ``absorb_row``.
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


def step(form: Form, B: Array, drive: Array, state: Array) -> Array:
    """Return r W + a B for one drive row ``a`` (D,)."""
    return advance(form, state) + drive @ B


def scan(
    form: Form, B: Array, drive: Array, state: Array, out: Array | None = None
) -> tuple[Array, Array]:
    """Return the states r(1) … r(T), (T, N), written into ``out`` if it is given, and r(T)."""
    states = np.empty((len(drive), state.size), state.dtype) if out is None else out
    for t in range(len(drive)):
        states[t] = state = step(form, B, drive[t], state)
    return states, state


def scan_readout(
    form: Form, B: Array, drive: Array, weights: Array, state: Array, out: Array | None = None
) -> tuple[Array, Array]:
    """Return the outputs r(t) weightsᵀ, (T, D_out), without storing states, and r(T).

    ``weights`` (D_out, N) has one row per output.
    """
    outputs = np.empty((len(drive), len(weights)), state.dtype) if out is None else out
    for t in range(len(drive)):
        state = step(form, B, drive[t], state)
        outputs[t] = weights @ state
    return outputs, state


def run_closed_loop(
    form: Form,
    B: Array,
    drive: Array,
    feedback: Array,
    readout: Readout,
    state: Array,
    y: Array,
    noise: Array | None = None,
) -> tuple[Array, Array]:
    """Return the outputs (T, D_out) of a run in which they are fed back, and r(T).

        r ← r W + a B + y F,   y ← offset + y previous + r weightsᵀ + n

    ``feedback`` is F (D_out, N). ``y`` (D_out,) is the output before the first row, and ``noise``
    (T, D_out) contains n(t), by default 0.
    """
    outputs = np.empty((len(drive), y.size), state.dtype)
    for t in range(len(drive)):
        state = advance(form, state) + drive[t] @ B + y @ feedback
        y = readout.offset + y @ readout.previous + readout.weights @ state
        outputs[t] = y = y if noise is None else y + noise[t]
    return outputs, state


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
    """Write the next state into ``row`` and the output into ``y``; return True if y is finite.

        r(t) = r(t−1) W + a B,   y(t) = offset + y(t−1) previous + z(t) weightsᵀ

    z are the features of the next state, and ``before`` (D_out,) is y(t−1).
    """
    row[:] = step(form, B, drive, state)
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
    noise: Array | None = None,
) -> tuple[Array, Array]:
    """Return the outputs of ``step_readout`` on the rows of a drive (T, D), and the last state.

    ``before`` (T, D_out) contains y(t−1) for each row. With a ``loop``, only its first row is used,
    and then the outputs, which also replace the columns of the drive for y(t−1). The run ends
    before an output that is not finite or, in a loop, out of bounds, so there may be fewer than T.
    ``noise`` (T, D_out) is added to the outputs.
    """
    outputs = np.empty((len(drive), len(readout.offset)), state.dtype)
    for t in range(len(drive)):
        a, b = drive[t], before[t]
        if loop is not None and t > 0:
            fed_back = (outputs[t - 1] * loop.scale + loop.mean).astype(outputs.dtype)
            b = ((fed_back - loop.mean) / loop.scale).astype(before.dtype)
            a = np.concatenate([a[: loop.start], b[: len(a) - loop.start]])
        row = np.empty_like(state)
        valid = step_readout(form, B, a, readout, b, state, row, outputs[t])
        if noise is not None:
            outputs[t] += noise[t]
        if loop is not None and loop.clip:
            outputs[t] = np.clip(outputs[t], loop.low, loop.high)
        elif loop is not None:
            valid = valid and not np.any((outputs[t] < loop.low) | (outputs[t] > loop.high))
        if not valid:
            return outputs[:t], state
        state = row
    return outputs, state


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
