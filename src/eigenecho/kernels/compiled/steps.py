"""Compiled steps of each form, ``row = prev W + x b``, and loops over steps.

It is one file because numba's cache checks no other files for changes. Full fast-math would let the
compiler ignore NaN and Inf, which the overflow checks need; products and sums would be contracted
in some places and not in others, so that bits would depend on the compiler.
"""

import numpy as np
from numba.extending import overload

from eigenecho.kernels.compiled.jit import jit
from eigenecho.kernels.forms import CascadeForm, DenseForm, DiagonalForm, SparseForm

FASTMATH = {"reassoc", "nsz"}
compiled = jit(fastmath=FASTMATH)


@compiled
def step_reals(real, x, b, prev, row):
    """Compute row = λ prev + x b for real modes."""
    for i in range(real.size):
        row[i] = real[i] * prev[i] + x * b[i]


@compiled
def step_pairs(re, im, x, b, prev, row):
    """Compute μ prev + x b for pairs as (Re, Im) columns, in real arithmetic."""
    for i in range(re.size):
        p = prev[2 * i]
        q = prev[2 * i + 1]
        row[2 * i] = re[i] * p - im[i] * q + x * b[2 * i]
        row[2 * i + 1] = im[i] * p + re[i] * q + x * b[2 * i + 1]


@compiled
def add_scaled(x, b, row):
    """Compute row += x b."""
    for i in range(row.size):
        row[i] += x * b[i]


@compiled
def dot(a, b):
    """Return a · b."""
    total = a[0] * b[0]
    for i in range(1, a.size):
        total += a[i] * b[i]
    return total


@jit(fastmath={"nsz"})
def gather(indptr, indices, data, x, b, prev, row):
    """Compute row[j] = x b[j] + Σ data[k] prev[indices[k]] over k in row j.

    There are four sums side by side. The compiler may not reorder them: it would use gather
    instructions, which are slower than plain loads. One index runs through all rows without
    slices, because most rows are short.
    """
    k, one, two, three, four = np.uint64(0), np.uint64(1), np.uint64(2), np.uint64(3), np.uint64(4)
    for j in range(row.size):
        p = q = r = s = data.dtype.type(0)
        stop = indptr[j + 1]
        whole = k + (stop - k) // four * four
        while k < whole:
            p += data[k] * prev[indices[k]]
            q += data[k + one] * prev[indices[k + one]]
            r += data[k + two] * prev[indices[k + two]]
            s += data[k + three] * prev[indices[k + three]]
            k += four
        while k < stop:
            p += data[k] * prev[indices[k]]
            k += one
        row[j] = x * b[j] + ((p + q) + (r + s))


def diagonal_step(form, x, b, prev, row):
    """Step modes."""
    n = form.real.size
    step_reals(form.real, x, b[:n], prev[:n], row[:n])
    # Slices, not offsets: the compiler must see that no index can be negative.
    step_pairs(form.re, form.im, x, b[n:], prev[n:], row[n:])


def cascade_step(form, x, b, prev, row):
    """Step a block that drives modes."""
    k, n = form.block.shape[0], form.block.shape[0] + form.real.size
    row[:k] = x * b[:k]
    step_reals(form.real, x, b[k:n], prev[k:n], row[k:n])
    step_pairs(form.re, form.im, x, b[n:], prev[n:], row[n:])
    for j in range(k):
        add_scaled(prev[j], form.block[j], row[:k])
        add_scaled(prev[j], form.coupling[j], row[k:])


def dense_step(form, x, b, prev, row):
    """Multiply by a dense W."""
    np.dot(prev, form.W, row)
    add_scaled(x, b, row)


def sparse_step(form, x, b, prev, row):
    """Multiply by a sparse W."""
    gather(form.indptr, form.indices, form.data, x, b, prev, row)


STEP_OF = {
    DiagonalForm: diagonal_step,
    CascadeForm: cascade_step,
    DenseForm: dense_step,
    SparseForm: sparse_step,
}


def advance(form, x, b, prev, row):
    """Compute ``row = prev W + x b`` for any form; not compiled if numba is disabled."""
    STEP_OF[type(form)](form, x, b, prev, row)


@overload(advance)
def _advance(form, x, b, prev, row):
    return STEP_OF.get(getattr(form, "instance_class", type(form)))


@compiled
def step(form, B, drive, state):
    """Compute r ← r W + a B."""
    row = np.empty_like(state)
    advance(form, drive[0], B[0], state, row)
    for d in range(1, drive.size):
        add_scaled(drive[d], B[d], row)
    state[:] = row


@compiled
def scan(form, B, drive, state, out, projected):
    """Write states into ``out``; a ``projected`` drive has one row of weights for each step."""
    prev = state
    for t in range(drive.shape[0]):
        advance(form, drive[t, 0], B[t if projected else 0], prev, out[t])
        for d in range(1, drive.shape[1]):
            add_scaled(drive[t, d], B[d], out[t])
        prev = out[t]
    state[:] = prev


@compiled
def scan_readout(form, B, drive, weights, state, out):
    """Write r(t) weightsᵀ into ``out``."""
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
    """Write outputs that are fed back into ``out``."""
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


@compiled
def step_readout(form, B, drive, readout, before, state, row, y):
    """Write state and output of one step into ``row`` and ``y``; return True if y is finite."""
    offset, previous, weights = readout
    advance(form, drive[0], B[0], state, row)
    for d in range(1, drive.size):
        add_scaled(drive[d], B[d], row)
    finite = True
    for e in range(y.size):
        total = offset[e] + dot(weights[e], row)
        for d in range(y.size):
            total += before[d] * previous[d, e]
        y[e] = total
        # Not np.isfinite: it is x − x = 0 here, which is always true if sums may be reordered.
        finite = finite and abs(total) < np.inf
    # Each output sums over all states, and each state over all drives, so NaN and Inf show up.
    return finite


@jit(fastmath={"nsz"})
def feed_back(y, mean, scale, output, before):
    """Convert y to the caller's units and back, with the rounding of both.

    Without fast-math, because this rounding is part of the result.
    """
    for e in range(y.size):
        output[e] = y[e] * scale[e] + mean[e]
        before[e] = (output[e] - mean[e]) / scale[e]


@compiled
def run_readout(form, B, drive, readout, before, closed, start, mean, scale, state, out):
    """Step with readout until an output is not finite; return how many are."""
    prev, row = state.copy(), np.empty_like(state)
    output = np.empty(out.shape[1], out.dtype)
    done = 0
    while done < drive.shape[0]:
        t = done
        if closed and t > 0:
            feed_back(out[t - 1], mean, scale, output, before[t])
            for e in range(drive.shape[1] - start):
                drive[t, start + e] = before[t, e]
        if not step_readout(form, B, drive[t], readout, before[t], prev, row, out[t]):
            break
        prev, row = row, prev
        done += 1
    state[:] = prev
    return done


@compiled
def rotate(cos, sin, keep, row, x):
    """Rotate (keep row, x) by an angle, in place."""
    for k in range(row.size):
        a = keep * row[k]
        b = x[k]
        row[k] = cos * a + sin * b
        x[k] = cos * b - sin * a


@compiled
def absorb_row(R, Z, keep, x, y):
    """Rotate the row [x y] into keep [R Z] by Givens rotations; overwrites x and y."""
    for j in range(x.size):
        diagonal = keep * R[j, j]
        length = np.hypot(diagonal, x[j])
        cos, sin = 1.0, 0.0
        if length > 0:
            cos, sin = diagonal / length, x[j] / length
        rotate(cos, sin, keep, R[j, j:], x[j:])
        rotate(cos, sin, keep, Z[j], y)


@compiled
def back_substitute(R, Z, W):
    """Solve R Wᵀ = Z for W (D_out, N'), zero where the diagonal is zero."""
    for i in range(len(R) - 1, -1, -1):
        for e in range(len(W)):
            total = Z[i, e]
            if i + 1 < len(R):
                total -= dot(R[i, i + 1 :], W[e, i + 1 :])
            W[e, i] = total / R[i, i] if R[i, i] != 0 else 0.0
