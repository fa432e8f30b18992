"""Compiled steps of each form, ``row = prev W + x b``, features, and loops over steps.

All functions are in one file because numba's cache does not check other files for changes. Full
fast-math is not used: the compiler could ignore NaN and Inf, which overflow checks need, and could
contract products and sums in some places only, so that results would depend on the compiler.
"""

import numpy as np
from numba import types
from numba.extending import overload

from eigenecho.kernels.compiled.jit import jit
from eigenecho.kernels.forms import DenseForm, DiagonalForm, SparseForm

PI = 3.1415926218032837, 3.1786509424591713e-08, 1.2246467991473532e-16
"""π in three parts. The first two have at most 26 bits, so their multiples up to 2²⁷ are exact."""

COSINE = tuple((-1) ** k / np.prod(np.arange(1.0, 2 * k + 1)) for k in range(11, 0, -1))
"""Coefficients of q¹¹, …, q¹ in cos √q; the next term is below 10⁻¹⁸ for √q ≤ π/2."""

FASTMATH = {"reassoc", "nsz"}
"""Flags that let the compiler reorder sums and ignore the sign of zero."""

compiled = jit(fastmath=FASTMATH)


@compiled
def step_reals(real, x, b, prev, row):
    """Compute row = λ prev + x b for real modes."""
    for i in range(real.size):
        row[i] = real[i] * prev[i] + x * b[i]


@compiled
def step_pairs(re, im, x, b, prev, row):
    """Compute row = μ prev + x b for pairs as (Re, Im) columns, in real arithmetic."""
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
def multiply_sparse(indptr, indices, data, x, b, prev, row):
    """Compute row[j] = x b[j] + Σ data[k] prev[indices[k]] over k in row j.

    Four sums are computed in parallel. The compiler must not reorder them, because it would use
    gather instructions, which are slower than plain loads. One index runs through all rows without
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


def step_diagonal(form, x, b, prev, row):
    """Compute a step of a diagonal form."""
    n = form.real.size
    step_reals(form.real, x, b[:n], prev[:n], row[:n])
    # Slices instead of offsets let the compiler see that no index can be negative.
    step_pairs(form.re, form.im, x, b[n:], prev[n:], row[n:])


def step_dense(form, x, b, prev, row):
    """Compute a step of a dense W."""
    np.dot(prev, form.W, row)
    add_scaled(x, b, row)


def step_sparse(form, x, b, prev, row):
    """Compute a step of a sparse W."""
    multiply_sparse(form.indptr, form.indices, form.data, x, b, prev, row)


STEP_BY_FORM = {
    DiagonalForm: step_diagonal,
    DenseForm: step_dense,
    SparseForm: step_sparse,
}
"""The function that computes a step, by the class of the form."""


def advance(form, x, b, prev, row):
    """Compute row = prev W + x b for any form. Numba uses ``_advance`` instead."""
    STEP_BY_FORM[type(form)](form, x, b, prev, row)


@overload(advance)
def _advance(form, x, b, prev, row):
    return STEP_BY_FORM.get(getattr(form, "instance_class", type(form)))


@compiled
def step(form, B, drive, state):
    """Return r W + a B."""
    row = np.empty_like(state)
    advance(form, drive[0], B[0], state, row)
    for d in range(1, drive.size):
        add_scaled(drive[d], B[d], row)
    return row


@compiled
def scan(form, B, drive, state, out, projected):
    """Write states into ``out``.

    If ``projected``, row t of the argument ``B`` already contains the product a(t) B, and the drive
    is a column of ones.
    """
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


@jit(fastmath=set())
def cosine(x):
    """Return cos x, computed by a polynomial that the compiler can vectorise.

    If k is the integer nearest to x/π, cos x = (−1)ᵏ cos(x − kπ). The error is below 4e-16, plus
    the effect of rounding x if |x| > 10⁸.
    """
    k = np.rint(x * (1 / np.pi))
    rest = ((x - k * PI[0]) - k * PI[1]) - k * PI[2]
    rest = min(max(rest, -1.6), 1.6)  # for numbers so large that rest is inaccurate
    q = rest * rest
    total = COSINE[0]
    for c in COSINE[1:]:
        total = total * q + c
    return (1 - 2 * (k - 2 * np.floor(0.5 * k))) * (total * q + 1)


@compiled
def observe(features, row, z):
    """Write the features of a state into ``z``."""
    columns, mean, scale, products, cos_weights, cos_offsets, tanh_weights, tanh_offsets = features
    n, P, K = columns.size, products.shape[0], cos_offsets.size
    for i in range(n):
        z[i] = (row[columns[i]] - mean[i]) / scale[i]
    for k in range(P):
        z[n + k] = z[products[k, 0]] * z[products[k, 1]]
    cosines, sigmoids = z[n + P : n + P + K], z[n + P + K :]
    cosines[:], sigmoids[:] = cos_offsets, tanh_offsets
    for i in range(n):
        add_scaled(z[i], cos_weights[i], cosines)
        add_scaled(z[i], tanh_weights[i], sigmoids)
    for k in range(K):
        cosines[k] = cosine(np.float64(cosines[k]))
    for k in range(sigmoids.size):
        sigmoids[k] = np.tanh(sigmoids[k])


@compiled
def observe_rows(features, states, out):
    """Write the features of states (T, N) into ``out`` (T, M)."""
    for t in range(states.shape[0]):
        observe(features, states[t], out[t])


def read_features(features, row, size):
    """Return the features of a state as a new array. Numba uses ``_read_features`` instead."""
    if features is None:
        return row
    z = np.empty(size, row.dtype)
    observe(features, row, z)
    return z


@overload(read_features)
def _read_features(features, row, size):
    if isinstance(features, types.NoneType):
        return lambda features, row, size: row

    def compute(features, row, size):
        z = np.empty(size, row.dtype)
        observe(features, row, z)
        return z

    return compute


@compiled
def step_readout(form, B, drive, readout, before, state, row, y):
    """Write the state and the output of one step into ``row`` and ``y``.

    Return True if y is finite.
    """
    offset, previous, weights, features = readout
    advance(form, drive[0], B[0], state, row)
    for d in range(1, drive.size):
        add_scaled(drive[d], B[d], row)
    z = read_features(features, row, weights.shape[1])
    finite = True
    for e in range(y.size):
        total = offset[e] + dot(weights[e], z)
        for d in range(y.size):
            total += before[d] * previous[d, e]
        y[e] = total
        # np.isfinite compiles to x − x = 0, which is always true if sums may be reordered.
        finite = finite and abs(total) < np.inf
    # Each output sums over all states, and each state over all drives, so no NaN or Inf is missed.
    return finite


@jit(fastmath={"nsz"})
def feed_back(y, mean, scale, output, before):
    """Convert y to the caller's units and back, with the rounding errors of both conversions.

    Sums must not be reordered, because this rounding is part of the result.
    """
    for e in range(y.size):
        output[e] = y[e] * scale[e] + mean[e]
        before[e] = (output[e] - mean[e]) / scale[e]


@compiled
def stay_within(y, low, high, clip):
    """Return True if y is within its bounds. If ``clip`` is True, clip y to the bounds first."""
    for e in range(y.size):
        if clip:
            y[e] = min(max(y[e], low[e]), high[e])
        elif y[e] < low[e] or y[e] > high[e]:
            return False
    return True


@compiled
def run_readout(form, B, drive, readout, before, closed, loop, noise, state, out):
    """Run steps with a readout until an output is invalid; return the number of valid outputs."""
    start, mean, scale, low, high, clip = loop
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
        if noise is not None:
            add_scaled(1, noise[t], out[t])
        if closed and not stay_within(out[t], low, high, clip):
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
    """Rotate the row [x y] into the triangle keep [R Z] by Givens rotations; overwrite x and y."""
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
    """Write the solution of R Wᵀ = Z into W (D_out, N'), with 0 where the diagonal of R is 0."""
    for i in range(len(R) - 1, -1, -1):
        for e in range(len(W)):
            total = Z[i, e]
            if i + 1 < len(R):
                total -= dot(R[i, i + 1 :], W[e, i + 1 :])
            W[e, i] = total / R[i, i] if R[i, i] != 0 else 0.0
