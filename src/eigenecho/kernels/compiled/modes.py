"""Compiled kernels of the diagonal form, with several steps in each pass over the modes.

Modes are independent, so a state stays in registers during a pass, and eigenvalues and weights are
read once per pass. The arguments are the same as in ``steps``, in the Q layout. Internally,
real and imaginary parts of pairs are separate arrays (*planar*), which the compiler can vectorise.

States and outputs result from the same operations in the same order wherever a pass begins, so they
do not depend on how a series is split. For this reason, the compiler may reorder only sums over
modes, products and sums are not contracted, and a pass that extends past the end is computed in
full and truncated. All functions are in one file because numba's cache does not check other files
for changes.
"""

import numpy as np

from eigenecho.kernels.compiled.jit import jit

PASS_STEPS = 8
"""Number of steps in a pass that stores states."""

SUM_PASS_STEPS = 4
"""Number of steps in a pass that sums over modes, each of which needs a register for its sum."""

MIN_DIRECT_UNITS = 256
"""Smallest number of units whose rows are written directly into the result.

Writing eight short rows at the same time is slow, so shorter rows are computed in a buffer and
copied.
"""

ROW_PADDING = 8
"""Number of additional columns of a buffer, so that its rows do not share cache lines."""

# Flags are explicit: otherwise, a function first compiled within a summing one inherits its flags.
compiled = jit(fastmath=False)
summing = jit(fastmath={"reassoc", "nsz"})


@compiled
def turn(a, b, p, q, f, g):
    """Return the complex (a + ib)(p + iq) + (f + ig) in real arithmetic."""
    return a * p - b * q + f, b * p + a * q + g


@compiled
def stretch(a, r, f):
    """Return a r + f in real arithmetic."""
    return a * r + f


@compiled
def weigh(e, u, h, v):
    """Return the contribution of a pair to an output, e u + h v."""
    return e * u + h * v


@compiled
def to_tuple(x):
    """Return eight numbers as a tuple, which the compiler knows not to overlap with arrays."""
    return x[0], x[1], x[2], x[3], x[4], x[5], x[6], x[7]


@compiled
def columns_from(rows, n):
    """Return views of eight rows from column n on, so that no index can be negative."""
    return (
        rows[0][n:], rows[1][n:], rows[2][n:], rows[3][n:],
        rows[4][n:], rows[5][n:], rows[6][n:], rows[7][n:],
    )  # fmt: skip


@compiled
def drive_reals(real, c, x, s, rows):
    """Write eight steps r ← a r + x c of real modes, one step per row."""
    for i in range(real.size):
        a, r, f = real[i], s[i], c[i]
        r = a * r + x[0] * f
        rows[0][i] = r
        r = a * r + x[1] * f
        rows[1][i] = r
        r = a * r + x[2] * f
        rows[2][i] = r
        r = a * r + x[3] * f
        rows[3][i] = r
        r = a * r + x[4] * f
        rows[4][i] = r
        r = a * r + x[5] * f
        rows[5][i] = r
        r = a * r + x[6] * f
        rows[6][i] = r
        r = a * r + x[7] * f
        rows[7][i] = r
        s[i] = r


@compiled
def drive_pairs(re, im, c, d, x, p, q, rows):
    """Write eight steps of pairs, driven by x c and x d."""
    for i in range(re.size):
        a, b, u, v, f, g = re[i], im[i], p[i], q[i], c[i], d[i]
        u, v = turn(a, b, u, v, x[0] * f, x[0] * g)
        rows[0][2 * i], rows[0][2 * i + 1] = u, v
        u, v = turn(a, b, u, v, x[1] * f, x[1] * g)
        rows[1][2 * i], rows[1][2 * i + 1] = u, v
        u, v = turn(a, b, u, v, x[2] * f, x[2] * g)
        rows[2][2 * i], rows[2][2 * i + 1] = u, v
        u, v = turn(a, b, u, v, x[3] * f, x[3] * g)
        rows[3][2 * i], rows[3][2 * i + 1] = u, v
        u, v = turn(a, b, u, v, x[4] * f, x[4] * g)
        rows[4][2 * i], rows[4][2 * i + 1] = u, v
        u, v = turn(a, b, u, v, x[5] * f, x[5] * g)
        rows[5][2 * i], rows[5][2 * i + 1] = u, v
        u, v = turn(a, b, u, v, x[6] * f, x[6] * g)
        rows[6][2 * i], rows[6][2 * i + 1] = u, v
        u, v = turn(a, b, u, v, x[7] * f, x[7] * g)
        rows[7][2 * i], rows[7][2 * i + 1] = u, v
        p[i], q[i] = u, v


@compiled
def turn_reals(real, s, rows):
    """Write eight steps of real modes, driven by the values in the rows."""
    for i in range(real.size):
        a, r = real[i], s[i]
        r = a * r + rows[0][i]
        rows[0][i] = r
        r = a * r + rows[1][i]
        rows[1][i] = r
        r = a * r + rows[2][i]
        rows[2][i] = r
        r = a * r + rows[3][i]
        rows[3][i] = r
        r = a * r + rows[4][i]
        rows[4][i] = r
        r = a * r + rows[5][i]
        rows[5][i] = r
        r = a * r + rows[6][i]
        rows[6][i] = r
        r = a * r + rows[7][i]
        rows[7][i] = r
        s[i] = r


@compiled
def turn_pairs(re, im, p, q, rows):
    """Write eight steps of pairs, driven by the values in the rows."""
    for i in range(re.size):
        a, b, u, v = re[i], im[i], p[i], q[i]
        u, v = turn(a, b, u, v, rows[0][2 * i], rows[0][2 * i + 1])
        rows[0][2 * i], rows[0][2 * i + 1] = u, v
        u, v = turn(a, b, u, v, rows[1][2 * i], rows[1][2 * i + 1])
        rows[1][2 * i], rows[1][2 * i + 1] = u, v
        u, v = turn(a, b, u, v, rows[2][2 * i], rows[2][2 * i + 1])
        rows[2][2 * i], rows[2][2 * i + 1] = u, v
        u, v = turn(a, b, u, v, rows[3][2 * i], rows[3][2 * i + 1])
        rows[3][2 * i], rows[3][2 * i + 1] = u, v
        u, v = turn(a, b, u, v, rows[4][2 * i], rows[4][2 * i + 1])
        rows[4][2 * i], rows[4][2 * i + 1] = u, v
        u, v = turn(a, b, u, v, rows[5][2 * i], rows[5][2 * i + 1])
        rows[5][2 * i], rows[5][2 * i + 1] = u, v
        u, v = turn(a, b, u, v, rows[6][2 * i], rows[6][2 * i + 1])
        rows[6][2 * i], rows[6][2 * i + 1] = u, v
        u, v = turn(a, b, u, v, rows[7][2 * i], rows[7][2 * i + 1])
        rows[7][2 * i], rows[7][2 * i + 1] = u, v
        p[i], q[i] = u, v


@compiled
def set_scaled(x, b, row):
    """Compute row = x b."""
    for i in range(b.size):
        row[i] = x * b[i]


@compiled
def add_scaled(x, b, row):
    """Compute row += x b."""
    for i in range(b.size):
        row[i] += x * b[i]


@compiled
def project(drive, t, count, B, first, rows):
    """Compute rows = a B for ``count`` drive rows from t on, for at least two drive columns.

    Rows are not sliced, because counting references takes as long as a step of tens of units.
    """
    for k in range(count):
        x, y = drive[t + k, 0], drive[t + k, 1]
        for i in range(B.shape[1]):
            rows[k, first + i] = x * B[0, i] + y * B[1, i]
        for d in range(2, B.shape[0]):
            x = drive[t + k, d]
            for i in range(B.shape[1]):
                rows[k, first + i] += x * B[d, i]


@compiled
def copy(values, row):
    """Copy the first values into a row."""
    for i in range(row.size):
        row[i] = values[i]


@compiled
def to_planar(row, n):
    """Return a row in the Q layout as real modes, real parts and imaginary parts."""
    m = (row.size - n) // 2
    s, p, q = np.empty(n, row.dtype), np.empty(m, row.dtype), np.empty(m, row.dtype)
    copy(row, s)
    for i in range(m):
        p[i], q[i] = row[n + 2 * i], row[n + 2 * i + 1]
    return s, p, q


@compiled
def write_interleaved(s, p, q, row):
    """Write real modes, real parts and imaginary parts into one row in the Q layout."""
    n = s.size
    copy(s, row[:n])
    for i in range(p.size):
        row[n + 2 * i], row[n + 2 * i + 1] = p[i], q[i]


@compiled
def write_pass(form, B, b, c, d, drive, t, count, x, s, p, q, first, rows):
    """Write one pass from step t on into eight rows, beginning with column ``first``.

    Only ``count`` rows are driven. A single drive column, with weights ``b``, ``c`` and ``d``, is
    added during the pass. Several columns are first projected into the rows. If B is empty, the
    rows already contain a(t) B.
    """
    n = s.size
    if len(B) == 1:
        for k in range(PASS_STEPS):
            x[k] = drive[t + min(k, count - 1), 0]
        drive_reals(form.real, b, to_tuple(x), s, columns_from(rows, first))
        drive_pairs(form.re, form.im, c, d, to_tuple(x), p, q, columns_from(rows, first + n))
        return
    if len(B):
        project(drive, t, count, B, first, rows)
    for k in range(count, PASS_STEPS):
        copy(rows[0], rows[k])
    turn_reals(form.real, s, columns_from(rows, first))
    turn_pairs(form.re, form.im, p, q, columns_from(rows, first + n))


@compiled
def scan(form, B, drive, state, first, out):
    """Write states into ``out``, beginning with column ``first``.

    If B has no rows, ``out`` already contains a(t) B.
    """
    T, N = out.shape[0], state.size
    n = form.real.size
    b, c, d = to_planar(B[0] if len(B) == 1 else state, n)
    s, p, q = to_planar(state, n)
    x = np.empty(PASS_STEPS, out.dtype)
    spare = np.empty((PASS_STEPS, N + ROW_PADDING), out.dtype)
    for t in range(0, T, PASS_STEPS):
        count = min(PASS_STEPS, T - t)
        if count == PASS_STEPS and N >= MIN_DIRECT_UNITS:
            rows = out[t : t + PASS_STEPS]
            write_pass(form, B, b, c, d, drive, t, count, x, s, p, q, first, rows)
            continue
        for k in range(0 if len(B) else count):
            copy(out[t + k, first:], spare[k, :N])
        write_pass(form, B, b, c, d, drive, t, count, x, s, p, q, 0, spare)
        for k in range(count):
            copy(spare[k], out[t + k, first : first + N])
    if T:
        copy(out[T - 1, first:], state)


@summing
def dot(a, b):
    """Return a · b."""
    total = a.dtype.type(0)
    for i in range(a.size):
        total += a[i] * b[i]
    return total


@compiled
def scan_dots(form, B, drive, weights, state, out):
    """Write r(t) weightsᵀ into ``out``, computed from eight rows of states at a time."""
    T, N = drive.shape[0], state.size
    n = form.real.size
    b, c, d = to_planar(B[0], n)
    s, p, q = to_planar(state, n)
    x = np.empty(PASS_STEPS, out.dtype)
    rows = np.empty((PASS_STEPS, N + ROW_PADDING), out.dtype)
    for t in range(0, T, PASS_STEPS):
        count = min(PASS_STEPS, T - t)
        write_pass(form, B, b, c, d, drive, t, count, x, s, p, q, 0, rows)
        for e in range(weights.shape[0]):
            for k in range(count):
                out[t + k, e] = dot(weights[e], rows[k])
    if T:
        copy(rows[(T - 1) % PASS_STEPS], state)


@summing
def sum_reals(real, c, x, w, s):
    """Return Σ w r after each of four steps of real modes, without storing states."""
    y0 = y1 = y2 = y3 = real.dtype.type(0)
    x0, x1, x2, x3 = x[0], x[1], x[2], x[3]
    for i in range(real.size):
        a, r, f, e = real[i], s[i], c[i], w[i]
        r = stretch(a, r, x0 * f)
        y0 += e * r
        r = stretch(a, r, x1 * f)
        y1 += e * r
        r = stretch(a, r, x2 * f)
        y2 += e * r
        r = stretch(a, r, x3 * f)
        y3 += e * r
        s[i] = r
    return y0, y1, y2, y3


@summing
def sum_pairs(re, im, c, d, x, w, z, p, q):
    """Return Σ (w Re r + z Im r) after each of four steps of pairs, without storing states."""
    y0 = y1 = y2 = y3 = re.dtype.type(0)
    x0, x1, x2, x3 = x[0], x[1], x[2], x[3]
    for i in range(re.size):
        a, b, u, v, f, g, e, h = re[i], im[i], p[i], q[i], c[i], d[i], w[i], z[i]
        u, v = turn(a, b, u, v, x0 * f, x0 * g)
        y0 += weigh(e, u, h, v)
        u, v = turn(a, b, u, v, x1 * f, x1 * g)
        y1 += weigh(e, u, h, v)
        u, v = turn(a, b, u, v, x2 * f, x2 * g)
        y2 += weigh(e, u, h, v)
        u, v = turn(a, b, u, v, x3 * f, x3 * g)
        y3 += weigh(e, u, h, v)
        p[i], q[i] = u, v
    return y0, y1, y2, y3


@compiled
def scan_sum(form, B, drive, weights, state, out):
    """Write r(t) weightsᵀ into ``out``, for one drive column and one output."""
    T, n = drive.shape[0], form.real.size
    b, c, d = to_planar(B[0], n)
    w, e, f = to_planar(weights[0], n)
    s, p, q = to_planar(state, n)
    x = np.zeros(SUM_PASS_STEPS, state.dtype)
    whole = T // SUM_PASS_STEPS * SUM_PASS_STEPS
    for t in range(0, T, SUM_PASS_STEPS):
        count = min(SUM_PASS_STEPS, T - t)
        if count < SUM_PASS_STEPS:
            write_interleaved(s, p, q, state)
            x[:] = 0
        for k in range(count):
            x[k] = drive[t + k, 0]
        y = sum_reals(form.real, b, x, w, s)
        z = sum_pairs(form.re, form.im, c, d, x, e, f, p, q)
        for k in range(count):
            out[t + k, 0] = y[k] + z[k]
    if whole == T:
        write_interleaved(s, p, q, state)
    else:
        # The last pass computed too many steps, so the last few are repeated one by one.
        s, p, q = to_planar(state, n)
        for t in range(whole, T):
            for i in range(n):
                s[i] = stretch(form.real[i], s[i], drive[t, 0] * b[i])
            for i in range(p.size):
                p[i], q[i] = turn(
                    form.re[i], form.im[i], p[i], q[i], drive[t, 0] * c[i], drive[t, 0] * d[i]
                )
        write_interleaved(s, p, q, state)


@summing
def step_and_sum_reals(real, b, x, c, z, w, s):
    """Return Σ w r after a step of real modes driven by x b + z c."""
    y = real.dtype.type(0)
    for i in range(real.size):
        r = stretch(real[i], s[i], x * b[i]) + z * c[i]
        y += w[i] * r
        s[i] = r
    return y


@summing
def step_and_sum_pairs(re, im, b, c, x, f, g, z, v, w, p, q):
    """Return Σ (v Re r + w Im r) after a step of pairs driven by x (b + ic) + z (f + ig)."""
    y = re.dtype.type(0)
    for i in range(re.size):
        r, s = turn(re[i], im[i], p[i], q[i], x * b[i], x * c[i])
        r += z * f[i]
        s += z * g[i]
        y += weigh(v[i], r, w[i], s)
        p[i], q[i] = r, s
    return y


@compiled
def to_planar_rows(rows, n):
    """Return rows in the Q layout as rows [real modes, real parts, imaginary parts]."""
    out = np.empty_like(rows)
    m = (rows.shape[1] - n) // 2
    for d in range(rows.shape[0]):
        s, p, q = to_planar(rows[d], n)
        copy(s, out[d, :n])
        copy(p, out[d, n : n + m])
        copy(q, out[d, n + m :])
    return out


@compiled
def combine_drives(a, B, y, F, row):
    """Compute row = a B + y F without the first output, which is added during the step."""
    if a.size:
        set_scaled(a[0], B[0], row)
    else:
        set_scaled(y.dtype.type(0), F[0], row)
    for d in range(1, a.size):
        add_scaled(a[d], B[d], row)
    for e in range(1, y.size):
        add_scaled(y[e], F[e], row)


@compiled
def run_closed_loop(form, B, drive, feedback, readout, state, y, out):
    """Run with outputs fed back, and write them into ``out``.

    The first output and a single drive column are added during the step. If there are more, the
    others are first combined in one row.
    """
    n, m, D = form.real.size, form.re.size, drive.shape[1]
    B, F, W = to_planar_rows(B, n), to_planar_rows(feedback, n), to_planar_rows(readout.weights, n)
    r = to_planar_rows(state.reshape(1, -1), n)[0]
    f, x = np.zeros_like(r), y.dtype.type(1)
    combined = D > 1 or y.size > 1
    if not combined:
        f, x = (B[0], x) if D else (F[0], y.dtype.type(0))
    # Slices are created once, because creating one takes as long as a step of tens of units.
    real, re, im, b, w = form.real, form.re, form.im, F[0], W[0]
    s, p, q = r[:n], r[n : n + m], r[n + m :]
    bs, bp, bq = b[:n], b[n : n + m], b[n + m :]
    fs, fp, fq = f[:n], f[n : n + m], f[n + m :]
    ws, wp, wq = w[:n], w[n : n + m], w[n + m :]
    before = np.empty_like(y)
    for t in range(drive.shape[0]):
        if combined:
            combine_drives(drive[t], B, y, F, f)
        elif D:
            x = drive[t, 0]
        total = step_and_sum_reals(real, bs, y[0], fs, x, ws, s)
        total += step_and_sum_pairs(re, im, bp, bq, y[0], fp, fq, x, wp, wq, p, q)
        copy(y, before)
        for e in range(y.size):
            if e:
                total = dot(W[e], r)
            total += readout.offset[e]
            for d in range(y.size):
                total += before[d] * readout.previous[d, e]
            y[e] = total
            out[t, e] = total
    write_interleaved(s, p, q, state)
