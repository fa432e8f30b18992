"""The textbook loops: the oracle that every other test compares with.

Plain NumPy in the neuron basis, one step at a time, nothing of eigenecho. Row vectors throughout:

    r(t) = r(t−1) W' + u(t) W_in' + bias' + y(t−1) W_fb'
    y(t) = [1, y(t−1), r(t)] W_out

    W' = lr W + (1 − lr) I,   W_in' = lr W_in,   W_fb' = lr W_fb,   bias' = lr bias

Shapes: W (N, N), W_in (D_in, N), bias (N,), W_fb (D_out, N), u (T, D_in), y (T, D_out);
W_out (N', D_out), rows in the order [1, y(t−1), r], the first two where the flags say so.
"""

from __future__ import annotations

import numpy as np


def leaky(W, W_in, *, lr=1.0, bias=None, W_fb=None):
    """The weights with the leaking rate in them: (W', W_in', bias', W_fb')."""
    W = lr * np.asarray(W, float) + (1 - lr) * np.eye(len(W))
    W_in = lr * np.asarray(W_in, float)
    bias = np.zeros(len(W)) if bias is None else lr * np.asarray(bias, float)
    W_fb = None if W_fb is None else lr * np.asarray(W_fb, float)
    return W, W_in, bias, W_fb


def shifted(y, first=0.0):
    """y(t−1) for t = 1 … T, given y(0): zero before the first row."""
    y = np.asarray(y, float)
    previous = np.zeros_like(y)
    for t in range(len(y)):
        previous[t] = first if t == 0 else y[t - 1]
    return previous


def states(W, W_in, u, *, lr=1.0, bias=None, W_fb=None, y_previous=None, r0=None):
    """States r(1) … r(T) as rows (T, N), from r(0) = ``r0`` (zero by default).

    ``y_previous`` (T, D_out) holds y(t−1) in row t; it is needed where there is a W_fb.
    """
    W, W_in, bias, W_fb = leaky(W, W_in, lr=lr, bias=bias, W_fb=W_fb)
    u = np.asarray(u, float)
    r = np.zeros(len(W)) if r0 is None else np.array(r0, float)
    out = np.empty((len(u), len(W)))
    for t in range(len(u)):
        r = r @ W + u[t] @ W_in + bias
        if W_fb is not None:
            r = r + y_previous[t] @ W_fb
        out[t] = r
    return out


def extended(r, y_previous=None, bias=True, previous=False):
    """Readout rows [1, y(t−1), r], the first two blocks where ``bias`` and ``previous`` say so."""
    blocks = [r]
    if previous:
        blocks.insert(0, np.asarray(y_previous, float))
    if bias:
        blocks.insert(0, np.ones((len(r), 1)))
    return np.concatenate(blocks, axis=1)


def ridge(X, Y, alpha, penalise_bias=True):
    """Argmin ‖Y − X w‖² + alpha ‖w‖², by least squares on the stacked [X; √alpha I].

    ``penalise_bias=False`` leaves the first row of w, which has to be the bias, unpenalised.
    ``alpha=0`` gives the minimum-norm answer.
    """
    penalty = np.sqrt(alpha) * np.eye(X.shape[1])
    if not penalise_bias:
        penalty[0] = 0.0
    stacked = np.concatenate([X, penalty])
    target = np.concatenate([Y, np.zeros((X.shape[1], Y.shape[1]))])
    # With a ridge the system has full rank, so that no singular value may be cut off.
    return np.linalg.lstsq(stacked, target, rcond=None if alpha == 0 else 0.0)[0]


def fit(
    W,
    W_in,
    series,
    *,
    lr=1.0,
    bias=None,
    W_fb=None,
    fit_bias=True,
    output_to_readout=False,
    warmup=0,
    alpha=1e-8,
    penalise_bias=True,
):
    """W_out (N', D_out) from a list of (u, y), ragged, each from the zero state.

    Teacher-forced: y(t−1) is the true output, zero before the first row. The first ``warmup``
    rows of every series are dropped.
    """
    rows, targets = [], []
    for u, y in series:
        previous = shifted(y)
        r = states(W, W_in, u, lr=lr, bias=bias, W_fb=W_fb, y_previous=previous)
        rows.append(extended(r, previous, fit_bias, output_to_readout)[warmup:])
        targets.append(np.asarray(y, float)[warmup:])
    return ridge(
        np.concatenate(rows), np.concatenate(targets), alpha, penalise_bias or not fit_bias
    )


def predict(
    W,
    W_in,
    W_out,
    u,
    *,
    lr=1.0,
    bias=None,
    W_fb=None,
    fit_bias=True,
    output_to_readout=False,
    y_previous=None,
    r0=None,
    y0=None,
    return_state=False,
):
    """Outputs (T, D_out) of one series; with ``return_state`` also (r(T), y(T)).

    With ``y_previous`` (T, D_out) the loop is teacher-forced: row t of it is y(t−1). Without, it
    is closed on the network's own outputs, from y(0) = ``y0`` (zero by default).
    """
    W, W_in, bias, W_fb = leaky(W, W_in, lr=lr, bias=bias, W_fb=W_fb)
    u = np.asarray(u, float)
    D_out = W_out.shape[1]
    r = np.zeros(len(W)) if r0 is None else np.array(r0, float)
    y = np.zeros(D_out) if y0 is None else np.array(y0, float)
    out = np.empty((len(u), D_out))
    for t in range(len(u)):
        before = y if y_previous is None else np.asarray(y_previous, float)[t]
        r = r @ W + u[t] @ W_in + bias
        if W_fb is not None:
            r = r + before @ W_fb
        y = extended(r[None], before[None], fit_bias, output_to_readout)[0] @ W_out
        out[t] = y
    return (out, (r, y)) if return_state else out


def forecast(
    W,
    W_in,
    W_out,
    horizon,
    *,
    context=None,
    inputs=None,
    state=None,
    lr=1.0,
    bias=None,
    W_fb=None,
    fit_bias=True,
    output_to_readout=False,
):
    """A free run (horizon, D_out): each output is the next input, and y(t−1) with it.

    ``context`` (T, D_in): its first D_out columns are the series itself, and y(t−1) = u(t) there;
    row 0 of the answer predicts the step after its last row. ``state`` (r, y) stands in for a
    context: y is then the next input. ``inputs`` (horizon, D_in − D_out) are the further columns,
    its row 0 at the step after the context's last row (or at the input that ``state`` ends with).
    A generator has D_in = 0 and a context (T, D_out).
    """
    W, W_in, bias, W_fb = leaky(W, W_in, lr=lr, bias=bias, W_fb=W_fb)
    D_in, D_out = len(W_in), W_out.shape[1]

    def step(r, u, before):
        """One input row u (D_in,), with y(t−1) = before (D_out,)."""
        r = r @ W + u @ W_in + bias
        if W_fb is not None:
            r = r + before @ W_fb
        return r, extended(r[None], before[None], fit_bias, output_to_readout)[0] @ W_out

    ahead = np.empty((horizon, 0)) if inputs is None else np.asarray(inputs, float)
    outputs = []
    if context is not None:
        r = np.zeros(len(W))
        for row in np.asarray(context, float):
            r, y = step(r, row[:D_in], row[:D_out])
        outputs.append(y)
    else:
        r, y = (np.array(part, float) for part in state)
    k = 0
    while len(outputs) < horizon:
        u = np.concatenate([y, ahead[k]])[:D_in]
        r, y = step(r, u, y)
        outputs.append(y)
        k += 1
    return np.array(outputs)


def recursive_least_squares(X, Y, penalties, forgetting=1.0, centre=None):
    """Weights after each row: ridge regression anew on all rows so far, older ones fading.

    Row t of X (T, N') weighs forgetting^(T−t). ``penalties[t]`` (N', N') is √α L at step t, a
    pull to ``centre`` (N', D_out; zero by default).
    """
    found = []
    for t in range(len(X)):
        weight = np.sqrt(forgetting) ** np.arange(t, -1, -1)[:, None]
        L = penalties[t]
        pull = np.zeros((len(L), Y.shape[1])) if centre is None else L @ centre
        rows = np.concatenate([weight * X[: t + 1], L])
        targets = np.concatenate([weight * Y[: t + 1], pull])
        found.append(np.linalg.lstsq(rows, targets, rcond=0.0)[0])
    return np.array(found)


def fit_where_there(
    W, W_in, series, *, lr=1.0, bias=None, fit_bias=True, warmup=0, alpha=1e-8, penalise_bias=True
):
    """W_out (N', D_out) from a list of (u, y) in which NaN in y is missing, each from zero.

    Column by column: ridge regression on the rows after the warmup whose target is there.
    """
    rows, targets = [], []
    for u, y in series:
        r = states(W, W_in, u, lr=lr, bias=bias)
        rows.append(extended(r, bias=fit_bias)[warmup:])
        targets.append(np.asarray(y, float)[warmup:])
    X, Y = np.concatenate(rows), np.concatenate(targets)
    columns = []
    for y in Y.T:
        there = [t for t in range(len(y)) if not np.isnan(y[t])]
        columns.append(ridge(X[there], y[there, None], alpha, penalise_bias or not fit_bias))
    return np.concatenate(columns, axis=1)


# Forecasters ----------------------------------------------------------------------------------


def filtered(y, real, pairs, memory=0.0):
    """Level (T,) and rows [c, r], (T, 1 + n + 2m), after each value of a series (T,).

    c is the root mean square step so far; a pair of modes μ, μ̄ is two columns, Re z and Im z of
    z(t) = μ z(t−1) + u(t) b.
    """
    keep = np.exp(-1 / memory) if memory > 0 else 0.0
    modes = [*np.asarray(real, complex), *np.asarray(pairs, complex)]
    n, level, z = len(real), y[0], np.zeros(len(modes), complex)
    levels, rows = [], []
    for t, value in enumerate(y):
        u = value - level
        level = level + (1 - keep) * u
        for i, mode in enumerate(modes):
            weight = np.sqrt(max(1 - abs(mode) ** 2, 1e-6))
            z[i] = mode * z[i] + u * weight * (1 if i < n else np.sqrt(2))
        steps = [y[s] - y[s - 1] for s in range(1, t + 1)]
        size = np.sqrt(np.mean(np.square(steps))) if steps else 0.0
        parts = [part for one in z[n:] for part in (one.real, one.imag)]
        levels.append(level)
        rows.append([size, *z[:n].real, *parts])
    return np.array(levels), np.array(rows)


def run_on(y, weights, horizon, **filter):
    """Forecasts (H,) of a filter that is given its own forecasts, one after another.

    The constant, the first of the ``weights``, is that of the end of y.
    """
    known = list(y)
    constant = filtered(y, **filter)[1][-1, 0]
    for _ in range(horizon):
        level, rows = filtered(known, **filter)
        known.append(level[-1] + constant * weights[0] + rows[-1, 1:] @ weights[1:])
    return np.array(known[len(y) :])


def evidence(X, y, alpha):
    """Log likelihood of y ~ N(0, σ² (I + X Xᵀ / α)) at the likeliest σ, but for a constant."""
    n = len(y)
    covariance = np.eye(n) + X @ X.T / alpha
    sigma2 = y @ np.linalg.solve(covariance, y) / n
    return -n / 2 * np.log(sigma2) - np.linalg.slogdet(covariance)[1] / 2


def filled(values, season):
    """A series (T,) from its first observation on, its gaps filled from the past; and that row.

    From the row before, by the step of a season ago where both of its ends were observed, else by
    the mean step between the first and the last observation so far.
    """
    start = 0
    while np.isnan(values[start]):
        start += 1
    seen = values[start:]
    found = []
    for t, value in enumerate(seen):
        if not np.isnan(value):
            found.append(value)
            continue
        ago = [t - season - 1, t - season]
        if season > 1 and ago[0] >= 0 and not np.isnan(seen[ago]).any():
            step = seen[ago[1]] - seen[ago[0]]
        else:
            last = max(s for s in range(t) if not np.isnan(seen[s]))
            step = (seen[last] - seen[0]) / max(last, 1)
        found.append(found[-1] + step)
    return np.array(found), start
