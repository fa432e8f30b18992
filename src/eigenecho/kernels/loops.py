"""All that is compiled: one step of each form, ``row = prev W + x b``, and loops over steps.

It is one file because numba's cache looks at no other for changes. Full fast-math would let the
compiler forget NaN and Inf, which the overflow checks need; contracting a product and a sum would
be done in one place and not in another, and the bits would depend on what compiled the code.
"""

from __future__ import annotations

import numpy as np
from numba import njit
from numba.extending import overload

from eigenecho.kernels.forms import Dense, Diagonal, Sparse

FASTMATH = {"reassoc", "nsz"}
compiled = njit(nogil=True, cache=True, fastmath=FASTMATH)


@compiled
def step_reals(real, x, b, prev, row):
    """Real modes: row = λ prev + x b."""
    for i in range(real.size):
        row[i] = real[i] * prev[i] + x * b[i]


@compiled
def step_pairs(re, im, x, b, prev, row):
    """Pairs as (Re, Im) columns: the complex product μ prev + x b in real arithmetic."""
    for i in range(re.size):
        p = prev[2 * i]
        q = prev[2 * i + 1]
        row[2 * i] = re[i] * p - im[i] * q + x * b[2 * i]
        row[2 * i + 1] = im[i] * p + re[i] * q + x * b[2 * i + 1]


@compiled
def add_scaled(x, b, row):
    """Row += x b."""
    for i in range(row.size):
        row[i] += x * b[i]


@compiled
def dot(a, b):
    """A · b."""
    total = a[0] * b[0]
    for i in range(1, a.size):
        total += a[i] * b[i]
    return total


@njit(nogil=True, cache=True, fastmath={"nsz"})
def gather(indices, data, prev, start, stop):
    """Σ data[k] prev[indices[k]], k from start to stop.

    Four sums side by side, and no licence to reorder them: the compiler would turn that into
    gather instructions, which are slower than plain loads. Rows are short: a range costs less
    than slices, and is unsigned like the indices, so that nothing can be negative.
    """
    a = b = c = d = data.dtype.type(0)
    whole = start + (stop - start) // np.uint64(4) * np.uint64(4)
    for k in range(start, whole, np.uint64(4)):
        a += data[k] * prev[indices[k]]
        b += data[k + np.uint64(1)] * prev[indices[k + np.uint64(1)]]
        c += data[k + np.uint64(2)] * prev[indices[k + np.uint64(2)]]
        d += data[k + np.uint64(3)] * prev[indices[k + np.uint64(3)]]
    for k in range(whole, stop):
        a += data[k] * prev[indices[k]]
    return (a + b) + (c + d)


def advance(form, x, b, prev, row):
    """``row = prev W + x b``, compiled for the form at hand."""
    raise NotImplementedError("only inside compiled code; kernels.reference has the plain one")


@overload(advance)
def _advance(form, x, b, prev, row):
    form_class = getattr(form, "instance_class", None)
    if form_class is Diagonal:

        def diagonal_step(form, x, b, prev, row):
            n = form.real.size
            step_reals(form.real, x, b[:n], prev[:n], row[:n])
            # Slices, not offsets: the compiler must see that no index can be negative.
            step_pairs(form.re, form.im, x, b[n:], prev[n:], row[n:])

        return diagonal_step
    if form_class is Dense:

        def dense_step(form, x, b, prev, row):
            np.dot(prev, form.W, row)
            add_scaled(x, b, row)

        return dense_step
    if form_class is Sparse:

        def sparse_step(form, x, b, prev, row):
            for j in range(row.size):
                start, stop = np.uint64(form.indptr[j]), np.uint64(form.indptr[j + 1])
                row[j] = x * b[j] + gather(form.indices, form.data, prev, start, stop)

        return sparse_step
    return None


@compiled
def step(form, B, drive, state):
    """R ← r W + a B."""
    row = np.empty_like(state)
    advance(form, drive[0], B[0], state, row)
    for d in range(1, drive.size):
        add_scaled(drive[d], B[d], row)
    state[:] = row


@compiled
def scan(form, B, drive, state, out, projected):
    """States into ``out``; a ``projected`` drive has a row of weights for each step."""
    prev = state
    for t in range(drive.shape[0]):
        advance(form, drive[t, 0], B[t if projected else 0], prev, out[t])
        for d in range(1, drive.shape[1]):
            add_scaled(drive[t, d], B[d], out[t])
        prev = out[t]
    state[:] = prev


@compiled
def scan_readout(form, B, drive, weights, state, out):
    """R(t) weightsᵀ into ``out``."""
    row = np.empty_like(state)
    prev = state.copy()
    for t in range(drive.shape[0]):
        advance(form, drive[t, 0], B[0], prev, row)
        for d in range(1, drive.shape[1]):
            add_scaled(drive[t, d], B[d], row)
        for e in range(weights.shape[0]):
            out[t, e] = dot(weights[e], row)
        prev, row = row, prev
    state[:] = prev


@compiled
def closed_loop(form, B, drive, feedback, readout, state, y, out):
    """Outputs fed back into ``out``."""
    row = np.empty_like(state)
    prev = state.copy()
    for t in range(drive.shape[0]):
        advance(form, y[0], feedback[0], prev, row)
        for e in range(1, feedback.shape[0]):
            add_scaled(y[e], feedback[e], row)
        for d in range(drive.shape[1]):
            add_scaled(drive[t, d], B[d], row)
        for e in range(y.size):
            total = readout.offset[e] + dot(readout.weights[e], row)
            for d in range(y.size):
                total += y[d] * readout.previous[d, e]
            out[t, e] = total
        y[:] = out[t]
        prev, row = row, prev
    state[:] = prev
