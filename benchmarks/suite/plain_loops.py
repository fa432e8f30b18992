"""Plain compiled loops of a linear network, which the package should not be slower than.

States have the columns [real modes | Re and Im of each pair]. Inside the loops, vectors are planar:
[real modes | Re of all pairs | Im of all pairs]. Loops for a single input or output are fused.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import njit

summing = njit(nogil=True, fastmath={"reassoc", "nsz"})


def planar(real: int, units: int) -> np.ndarray:
    """Return the order of state columns in planar vectors, for a number of real modes."""
    re = np.arange(real, units, 2)
    return np.concatenate([np.arange(real), re, re + 1])


@njit(nogil=True)
def add(B: Any, values: Any, f: Any) -> None:
    """Write the sum of the rows of B (D, N), multiplied by D values, into f."""
    for i in range(f.size):
        f[i] = values[0] * B[0, i]
    for k in range(1, len(B)):
        for i in range(f.size):
            f[i] += values[k] * B[k, i]


@njit(nogil=True)
def states(real: Any, re: Any, im: Any, B: Any, drive: Any, out: Any) -> None:
    """Write the states r(t) = r(t−1) Λ + u(t) B from zero, for planar B (D, N)."""
    n, m = real.size, re.size
    s, p, q, f = np.zeros_like(real), np.zeros_like(re), np.zeros_like(re), np.empty_like(B[0])
    F, G, H = f[:n], f[n : n + m], f[n + m :]
    b, c, d = B[0, :n], B[0, n : n + m], B[0, n + m :]
    for t in range(len(out)):
        row, a = out[t], drive[t, 0]
        if len(B) == 1:
            for i in range(n):
                s[i] = real[i] * s[i] + a * b[i]
                row[i] = s[i]
            for i in range(m):
                u = re[i] * p[i] - im[i] * q[i] + a * c[i]
                v = im[i] * p[i] + re[i] * q[i] + a * d[i]
                p[i], q[i] = u, v
                row[n + 2 * i], row[n + 2 * i + 1] = u, v
        else:
            add(B, drive[t], f)
            for i in range(n):
                s[i] = real[i] * s[i] + F[i]
                row[i] = s[i]
            for i in range(m):
                u = re[i] * p[i] - im[i] * q[i] + G[i]
                v = im[i] * p[i] + re[i] * q[i] + H[i]
                p[i], q[i] = u, v
                row[n + 2 * i], row[n + 2 * i + 1] = u, v


@summing
def output(real: Any, re: Any, im: Any, B: Any, W: Any, drive: Any, y: Any, out: Any) -> None:
    """Write outputs 1 + r(t) Wᵀ of a single drive. Without a drive, the output y is fed back."""
    n, m, closed, a = real.size, re.size, drive.size == 0, y[0]
    s, p, q = np.zeros_like(real), np.zeros_like(re), np.zeros_like(re)
    b, c, d = B[0, :n], B[0, n : n + m], B[0, n + m :]
    w, x, z = W[0, :n], W[0, n : n + m], W[0, n + m :]
    for t in range(len(out)):
        total = y.dtype.type(1)
        if not closed:
            a = drive[t, 0]
        for i in range(n):
            s[i] = real[i] * s[i] + a * b[i]
            total += w[i] * s[i]
        for i in range(m):
            u = re[i] * p[i] - im[i] * q[i] + a * c[i]
            v = im[i] * p[i] + re[i] * q[i] + a * d[i]
            p[i], q[i] = u, v
            total += x[i] * u + z[i] * v
        out[t, 0] = a = total


@summing
def outputs(real: Any, re: Any, im: Any, B: Any, W: Any, drive: Any, y: Any, out: Any) -> None:
    """Write outputs 1 + r(t) Wᵀ for planar W (E, N). Without a drive, outputs y are fed back."""
    n, m, closed = real.size, re.size, drive.size == 0
    r, f = np.zeros_like(B[0]), np.empty_like(B[0])
    s, p, q = r[:n], r[n : n + m], r[n + m :]
    F, G, H = f[:n], f[n : n + m], f[n + m :]
    for t in range(len(out)):
        add(B, y if closed else drive[t], f)
        for i in range(n):
            s[i] = real[i] * s[i] + F[i]
        for i in range(m):
            u = re[i] * p[i] - im[i] * q[i] + G[i]
            q[i] = im[i] * p[i] + re[i] * q[i] + H[i]
            p[i] = u
        for e in range(len(W)):
            total = y.dtype.type(1)
            for i in range(r.size):
                total += W[e, i] * r[i]
            out[t, e] = total
        if closed:
            y[:] = out[t]
