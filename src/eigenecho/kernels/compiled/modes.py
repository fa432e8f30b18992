"""Compiled kernels of the diagonal form: plain loops over steps, which the compiler vectorises.

Stored states have the columns of the Q layout. Inside a kernel, a vector of N units is *planar*: an
array (2, K) with the rows [real parts of pairs, real modes, 0] and [imaginary parts of pairs, 0],
padded to LANES columns, or only the first row if all modes are real. These rules keep loops fast:

- An array that a loop writes is a separate argument of the function with the loop. Otherwise the
  check for overlaps also compares the real and imaginary parts of one row, which always fails.
- Within a loop over steps, no array is passed to another function and no tuple is unpacked, because
  counting references takes as long as a step of tens of units.
- An optional argument is None, so that numba removes its branches.
- Planar vectors begin at a cache line.
- Numbers that are needed again are kept in local variables, not read from an array just written.

States result from the same operations in the same order in all loops, so they do not depend on how
a series is split. Products and sums are not contracted, and the compiler may reorder only sums over
modes. All functions are in one file because numba's cache does not check other files for changes.
"""

import numpy as np

from eigenecho.kernels.compiled.jit import jit

LANES = 8
"""Number of columns to a multiple of which planar vectors are padded, from twice as many on."""

LINE = 64
"""Number of bytes of a cache line."""

MIN_PASS_UNITS = 600
"""Smallest number of units for which four steps at a time are faster than one."""

# Flags are explicit: otherwise, a function first compiled within a summing one inherits its flags.
compiled = jit(fastmath=False)
summing = jit(fastmath={"reassoc", "nsz"})


@compiled
def stretch(a, r, f):
    """Return a r + f in real arithmetic."""
    return a * r + f


@compiled
def turn(a, b, p, q, f, g):
    """Return the complex (a + ib)(p + iq) + (f + ig) in real arithmetic."""
    return a * p - b * q + f, b * p + a * q + g


# Planar vectors ----------------------------------------------------------------------------------


@compiled
def to_planar(rows, n):
    """Return rows in the Q layout, with n real modes, as planar vectors (rows, 1 or 2, K)."""
    m = (rows.shape[1] - n) // 2
    P, K = 2 if m else 1, max((n + m + LANES - 1) // LANES, 2) * LANES
    flat = np.zeros(P * len(rows) * K + LINE, rows.dtype)
    first = -flat.ctypes.data % LINE // flat.itemsize
    out = flat[first : first + P * len(rows) * K].reshape(len(rows), P, K)
    for k in range(len(rows)):
        for i in range(n):
            out[k, 0, m + i] = rows[k, i]
        for i in range(m):
            out[k, 0, i], out[k, 1, i] = rows[k, n + 2 * i], rows[k, n + 2 * i + 1]
    return out


@compiled
def write_back(planar, n, rows):
    """Write planar vectors into rows in the Q layout."""
    m = (rows.shape[1] - n) // 2
    for k in range(len(rows)):
        for i in range(n):
            rows[k, i] = planar[k, 0, m + i]
        for i in range(m):
            rows[k, n + 2 * i], rows[k, n + 2 * i + 1] = planar[k, 0, i], planar[k, 1, i]


def eigenvalues(form):
    """Return the eigenvalues (1, N) in the Q layout, and the number of real ones.

    This is not compiled, because compiling assignments to slices takes a second.
    """
    real, re, im = form
    n, row = real.size, np.empty((1, real.size + 2 * re.size), real.dtype)
    row[0, :n], row[0, n::2], row[0, n + 1 :: 2] = real, re, im
    return row, n


@compiled
def split(x, n, m):
    """Return the real modes, real parts and imaginary parts of a planar vector."""
    return x[0, m : m + n], x[0, :m], x[-1, :m]


# States ------------------------------------------------------------------------------------------


@compiled
def run_steps(form, b, state, B, f, parts, several, drive, out):
    """Write states.

    The last drive column has the weights ``b``. With ``several``, the sum of the other columns,
    with weights B, is written into f = (parts).
    """
    (real, re, im), (b, c, d), (s, p, q), last = form, b, state, drive.shape[1] - 1
    for t in range(drive.shape[0]):
        if several is not None:
            for k in range(last):
                x = drive[t, k]
                for i in range(f.size):
                    f[i] = f[i] + x * B[k, i] if k else x * B[k, i]
        x, row, pairs = drive[t, last], out[t], out[t, real.size :]
        for i in range(real.size):
            u = x * b[i]
            if several is not None:
                u = parts[0][i] + u
            u = stretch(real[i], s[i], u)
            s[i] = u
            row[i] = u
        for i in range(re.size):
            u, v = x * c[i], x * d[i]
            if several is not None:
                u, v = parts[1][i] + u, parts[2][i] + v
            u, v = turn(re[i], im[i], p[i], q[i], u, v)
            p[i], q[i] = u, v
            pairs[2 * i], pairs[2 * i + 1] = u, v


@compiled
def four_rows(rows, t, first):
    """Return views of four rows from column ``first`` on."""
    return rows[t, first:], rows[t + 1, first:], rows[t + 2, first:], rows[t + 3, first:]


@compiled
def pass_reals(real, b, x, s, rows):
    """Write four steps of real modes with the inputs ``x``."""
    for i in range(real.size):
        r = s[i]
        for k in range(4):
            r = stretch(real[i], r, x[k] * b[i])
            rows[k][i] = r
        s[i] = r


@compiled
def pass_pairs(re, im, c, d, x, p, q, rows):
    """Write four steps of pairs with the inputs ``x``."""
    for i in range(re.size):
        a, b, f, g, u, v = re[i], im[i], c[i], d[i], p[i], q[i]
        for k in range(4):
            u, v = turn(a, b, u, v, x[k] * f, x[k] * g)
            rows[k][2 * i], rows[k][2 * i + 1] = u, v
        p[i], q[i] = u, v


@compiled
def scan_series(modes, n, B, several, drive, state, out):
    """Write states of several series, from drives (S, T, D) and first states (S, N)."""
    form, B, states = to_planar(modes, n), to_planar(B, n), to_planar(state, n)
    f, m = np.empty_like(form[0]), (modes.size - n) // 2
    form, b, parts = split(form[0], n, m), split(B[-1], n, m), split(f, n, m)
    flat, sums, T = B.reshape(len(B), -1), f.reshape(-1), out.shape[1]
    for k in range(len(out)):
        r, start = split(states[k], n, m), 0
        if several is None and n + 2 * m >= MIN_PASS_UNITS:
            for t in range(0, T - 3, 4):
                x = drive[k, t, 0], drive[k, t + 1, 0], drive[k, t + 2, 0], drive[k, t + 3, 0]
                pass_reals(form[0], b[0], x, r[0], four_rows(out[k], t, 0))
                rows = four_rows(out[k], t, n)
                pass_pairs(form[1], form[2], b[1], b[2], x, r[1], r[2], rows)
                start = t + 4
        run_steps(form, b, r, flat, sums, parts, several, drive[k, start:], out[k, start:])
    write_back(states, n, state)


def scan(form, B, drive, state, out):
    """Write states into ``out`` (S, T, N)."""
    scan_series(*eigenvalues(form), B, len(B) > 1 or None, drive, state, out)


@compiled
def run_projected(form, state, out):
    """Write states into ``out``, which contains a(t) B."""
    (real, re, im), (s, p, q) = form, state
    for t in range(out.shape[0]):
        row, pairs = out[t], out[t, real.size :]
        for i in range(real.size):
            u = stretch(real[i], s[i], row[i])
            s[i] = u
            row[i] = u
        for i in range(re.size):
            u, v = turn(re[i], im[i], p[i], q[i], pairs[2 * i], pairs[2 * i + 1])
            p[i], q[i] = u, v
            pairs[2 * i], pairs[2 * i + 1] = u, v


@compiled
def scan_projected_series(modes, n, state, out):
    """Write states of one series, with the first state (1, N)."""
    form, planar, m = to_planar(modes, n), to_planar(state, n), (modes.size - n) // 2
    run_projected(split(form[0], n, m), split(planar[0], n, m), out)
    write_back(planar, n, state)


def scan_projected(form, state, out):
    """Write states of one series into ``out`` (T, N), which contains a(t) B."""
    scan_projected_series(*eigenvalues(form), state[None], out)


# Outputs -----------------------------------------------------------------------------------------


@summing
def run_outputs(  # noqa: C901 (numba removes branches on None)
    paired, form, b, w, state, W, B, f, parts, several, drive, offset, previous, y, noise, out
):
    """Write outputs r(t) Wᵀ, which are fed back unless ``y`` is None, with ``noise`` added.

    ``b`` contains the weights of the last drive column, or of the first output that is fed back,
    and ``w`` those of the first output. With ``several``, the sum of the other columns, with
    weights B, is written into f = (parts). If modes are ``paired``, real ones are pairs with a zero
    imaginary part; otherwise, imaginary parts are not used.
    """
    (re, im), (c, d), (w, z), (p, q), (V, Z), D = form, b, w, state, W, drive.shape[1]
    zero = re.dtype.type(0)
    x = zero if y is None else y[0]
    for t in range(out.shape[0]):
        if y is None:
            x = drive[t, D - 1]
        if several is not None:
            for k in range(B.shape[0] - 1):
                a = drive[t, k] if y is None or k < D else y[k - D + 1]
                for i in range(f.size):
                    f[i] = f[i] + a * B[k, i] if k else a * B[k, i]
        for e in range(out.shape[1]):
            total = zero
            if y is not None:
                total = offset[e] + x * previous[0, e]
                for k in range(1, y.size):
                    total += y[k] * previous[k, e]
                if noise is not None:
                    total += noise[t, e]
            if e:
                for i in range(p.size):
                    total += V[e, i] * p[i]
                    if paired is not None:
                        total += Z[e, i] * q[i]
            else:
                for i in range(p.size):
                    u = x * c[i]
                    if several is not None:
                        u = parts[0][i] + u
                    if paired is None:
                        u = stretch(re[i], p[i], u)
                    else:
                        v = x * d[i]
                        if several is not None:
                            v = parts[1][i] + v
                        u, v = turn(re[i], im[i], p[i], q[i], u, v)
                        q[i] = v
                        total += z[i] * v
                    p[i] = u
                    total += w[i] * u
                first = total
            out[t, e] = total
        if y is not None:
            for e in range(1, y.size):
                y[e] = out[t, e]
            x = first
    if y is not None:
        y[0] = x  # a store in each step would delay loads from addresses that differ by 4096 k


@compiled
def write_outputs(modes, n, paired, B, W, several, drive, offset, previous, y, noise, state, out):
    """Write the outputs of several series, from drives (S, T, D) and first states (S, N)."""
    form, states = to_planar(modes, n)[0], to_planar(state, n)
    B, W, f = to_planar(B, n), to_planar(W, n), np.empty_like(form)
    weights, sums, f = (W[:, 0].copy(), W[:, -1].copy()), f.reshape(-1), (f[0], f[-1])
    form, b, w = (form[0], form[-1]), (B[-1, 0], B[-1, -1]), (W[0, 0], W[0, -1])
    flat = B.reshape(len(B), -1)
    for k in range(len(out)):
        state_parts = states[k, 0], states[k, -1]
        run_outputs(
            paired, form, b, w, state_parts, weights, flat, sums, f, several,
            drive[k], offset, previous, y, noise, out[k],
        )  # fmt: skip
    write_back(states, n, state)


def scan_readout(form, B, drive, weights, state, out, loop=(None,) * 4):
    """Write r(t) weightsᵀ into ``out`` (S, T, D_out), without storing states."""
    options = len(form.re) > 0 or None, B, weights, len(B) > 1 or None
    write_outputs(*eigenvalues(form), *options, drive, *loop, state, out)


def run_closed_loop(form, B, drive, feedback, readout, state, y, noise, out):
    """Run one series with outputs fed back, and write them into ``out`` (T, D_out)."""
    loop = readout.offset, readout.previous, y, noise
    inputs = np.concatenate((B, feedback[1:], feedback[:1]))
    scan_readout(form, inputs, drive[None], readout.weights, state[None], out[None], loop)
