"""Textbook loops, the reference implementation for all other tests.

These use plain NumPy in the neuron basis, one step at a time, and no code of eigenecho. Vectors are
rows:

    r(t) = r(t−1) W' + u(t) W_in' + bias' + y(t−1) W_fb'
    y(t) = [1, y(t−1), r(t)] W_out

    W' = lr W + (1 − lr) I,   W_in' = lr W_in,   W_fb' = lr W_fb,   bias' = lr bias

Shapes: W (N, N), W_in (D_in, N), bias (N,), W_fb (D_out, N), u (T, D_in), y (T, D_out);
W_out (N', D_out), with rows in the order [1, y(t−1), r]; flags select the first two blocks.
"""

from __future__ import annotations

import itertools
import math
from typing import NamedTuple

import numpy as np


def leaky(W, W_in, *, lr=1.0, bias=None, W_fb=None):
    """Apply the leaking rate to the weights: return (W', W_in', bias', W_fb')."""
    W = lr * np.asarray(W, float) + (1 - lr) * np.eye(len(W))
    W_in = lr * np.asarray(W_in, float)
    bias = np.zeros(len(W)) if bias is None else lr * np.asarray(bias, float)
    W_fb = None if W_fb is None else lr * np.asarray(W_fb, float)
    return W, W_in, bias, W_fb


def shifted(y, first=0.0):
    """Return y(t−1) for t = 1 … T, given y(0), which is zero by default."""
    y = np.asarray(y, float)
    previous = np.zeros_like(y)
    for t in range(len(y)):
        previous[t] = first if t == 0 else y[t - 1]
    return previous


def states(W, W_in, u, *, lr=1.0, bias=None, W_fb=None, y_previous=None, r0=None):
    """Return the states r(1) … r(T) as rows (T, N), from r(0) = ``r0`` (zero by default).

    ``y_previous`` (T, D_out) holds y(t−1) in row t; it is required if there is a W_fb.
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
    """Return readout rows [1, y(t−1), r]; ``bias`` and ``previous`` select the first two blocks."""
    blocks = [r]
    if previous:
        blocks.insert(0, np.asarray(y_previous, float))
    if bias:
        blocks.insert(0, np.ones((len(r), 1)))
    return np.concatenate(blocks, axis=1)


def features(s, monomials=1, cosines=None, tanh=None, function=None):
    """Return [s, φ(s)] for standardised states (T, n), one row and one feature at a time.

    φ are all products of 2 to ``monomials`` states, in the order of their degrees and then of the
    states, cos(s A + b) and tanh(s A + b) for pairs (A, b), and a function of a row.
    """
    out = []
    for row in np.asarray(s, float):
        z = list(row)
        for degree in range(2, monomials + 1):
            for chosen in itertools.combinations_with_replacement(range(len(row)), degree):
                z.append(math.prod(row[i] for i in chosen))
        for pair, curve in ((cosines, math.cos), (tanh, math.tanh)):
            if pair is not None:
                z += [curve(sum(row * a) + b) for a, b in zip(pair[0].T, pair[1], strict=True)]
        if function is not None:
            z += list(function(row[None])[0])
        out.append(z)
    return np.array(out)


def ridge(X, Y, alpha, penalise_bias=True):
    """Return argmin ‖Y − X w‖² + alpha ‖w‖², by least squares on the stacked [X; √alpha I].

    ``penalise_bias=False`` does not penalise the first row of w, which must be the bias.
    ``alpha=0`` gives the minimum-norm solution.
    """
    penalty = np.sqrt(alpha) * np.eye(X.shape[1])
    if not penalise_bias:
        penalty[0] = 0.0
    stacked = np.concatenate([X, penalty])
    target = np.concatenate([Y, np.zeros((X.shape[1], Y.shape[1]))])
    # With a ridge, the system has full rank, and no singular value may be cut off.
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
    """Return W_out (N', D_out) for a list of (u, y) of any lengths, each from the zero state.

    The fit is teacher-forced: y(t−1) is the true output, and zero before the first row. The first
    ``warmup`` rows of every series are dropped.
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
    """Return the outputs (T, D_out) of one series; with ``return_state`` also (r(T), y(T)).

    With ``y_previous`` (T, D_out) the loop is teacher-forced: its row t is y(t−1). Otherwise the
    network's own outputs are fed back, from y(0) = ``y0`` (zero by default).
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
    """Return a free run (horizon, D_out): each output is the next input, and the next y(t−1).

    ``context`` (T, D_in): its first D_out columns are the series itself, so y(t−1) = u(t) there;
    row 0 of the result predicts the step after its last row. ``state`` (r, y) replaces a context: y
    is then the next input. ``inputs`` (horizon, D_in − D_out) are the other columns; their row 0 is
    the step after the last row of the context (or the input at which ``state`` ends). A generator
    has D_in = 0 and a context (T, D_out).
    """
    W, W_in, bias, W_fb = leaky(W, W_in, lr=lr, bias=bias, W_fb=W_fb)
    D_in, D_out = len(W_in), W_out.shape[1]

    def step(r, u, before):
        """Process one input row u (D_in,), with y(t−1) = before (D_out,)."""
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
    """Return the weights after each row: a new ridge regression on all rows so far, with decay.

    Row t of X (T, N') has the weight forgetting^(T−t). ``penalties[t]`` (N', N') is √α L at step t,
    which shrinks the weights to ``centre`` (N', D_out; zero by default).
    """
    results = []
    for t in range(len(X)):
        weight = np.sqrt(forgetting) ** np.arange(t, -1, -1)[:, None]
        L = penalties[t]
        pull = np.zeros((len(L), Y.shape[1])) if centre is None else L @ centre
        rows = np.concatenate([weight * X[: t + 1], L])
        targets = np.concatenate([weight * Y[: t + 1], pull])
        results.append(np.linalg.lstsq(rows, targets, rcond=0.0)[0])
    return np.array(results)


def fit_with_gaps(
    W, W_in, series, *, lr=1.0, bias=None, fit_bias=True, warmup=0, alpha=1e-8, penalise_bias=True
):
    """Return W_out (N', D_out) for a list of (u, y) in which NaN in y is missing.

    Every series starts in the zero state. Each column is a ridge regression on the rows after the
    warmup whose target is not missing.
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


def filtered(y, real, pairs):
    """Return the rows [c, r], (T, 1 + n + 2m), after each value of a series (T,).

    c is the root mean square step so far; a pair of modes μ, μ̄ has two columns, Re z and Im z of
    z(t) = μ z(t−1) + (y(t) − y(t−1)) b.
    """
    modes = [*np.asarray(real, complex), *np.asarray(pairs, complex)]
    n, z, rows = len(real), np.zeros(len(modes), complex), []
    for t, value in enumerate(y):
        u = value - y[max(t - 1, 0)]
        for i, mode in enumerate(modes):
            weight = np.sqrt(max(1 - abs(mode) ** 2, 1e-6))
            z[i] = mode * z[i] + u * weight * (1 if i < n else np.sqrt(2))
        steps = [y[s] - y[s - 1] for s in range(1, t + 1)]
        size = np.sqrt(np.mean(np.square(steps))) if steps else 0.0
        parts = [part for one in z[n:] for part in (one.real, one.imag)]
        rows.append([size, *z[:n].real, *parts])
    return np.array(rows)


def iterate_filter(y, weights, horizon, **filter):
    """Return forecasts (H,) of a filter that is fed its own forecasts.

    The constant, the first of the ``weights``, is the one at the end of y.
    """
    extended_y = list(y)
    constant = filtered(y, **filter)[-1, 0]
    for _ in range(horizon):
        row = filtered(extended_y, **filter)[-1]
        extended_y.append(extended_y[-1] + constant * weights[0] + row[1:] @ weights[1:])
    return np.array(extended_y[len(y) :])


def evidence(X, y, alpha):
    """Return the log likelihood of y ~ N(0, σ² (I + X Xᵀ / α)) at the best σ, up to a constant."""
    n = len(y)
    covariance = np.eye(n) + X @ X.T / alpha
    sigma2 = y @ np.linalg.solve(covariance, y) / n
    return -n / 2 * np.log(sigma2) - np.linalg.slogdet(covariance)[1] / 2


def filled(values, season):
    """Return a series (T,) from its first observation on, with filled gaps, and its first row.

    The deviation of a missing row from the row one season earlier, plus the mean growth so far, is
    0.7 times that of the row before. In the first season, the mean step so far is added instead.
    """
    start = 0
    while np.isnan(values[start]):
        start += 1
    seen = values[start:]
    results = []
    for t, value in enumerate(seen):
        if not np.isnan(value):
            results.append(value)
            continue
        last = max(s for s in range(t) if not np.isnan(seen[s]))
        step = (seen[last] - seen[0]) / max(last, 1)
        if season == 1 or t <= season:
            results.append(results[-1] + step)
        else:
            usual, usual_before = (results[t - i - season] + season * step for i in (0, 1))
            results.append(usual + 0.7 * (results[t - 1] - usual_before))
    return np.array(results), start


# Classifiers ----------------------------------------------------------------------------------


def mode_outputs(x, modes, phases, mixes):
    """Return the outputs (T, 2 · phases, modes) of a series x (T, D) driving complex modes.

    Mode k sees the channels in the mix ``mixes[k]`` (D,), and starts in the steady state of the
    first row. The first outputs are Re e^{iθ} w for each phase θ; the others are their increments.
    """
    outputs = np.zeros((len(x), 2 * phases, len(modes)))
    for k, mode in enumerate(modes):
        gain = 1j * (1 - mode) / abs(1 - mode)
        u = [sum(weight * value for weight, value in zip(mixes[k], row, strict=True)) for row in x]
        w = gain * u[0] / (1 - mode)
        for t in range(len(x)):
            before, w = w, mode * w + gain * u[t]
            for p in range(phases):
                turn = np.exp(1j * np.pi * p / phases)
                outputs[t, p, k] = (turn * w).real
                outputs[t, phases + p, k] = (turn * (w - before)).real
    return outputs


def rounded_mode_outputs(x, level, modes, phases, mixes):
    """Return ``mode_outputs`` of x + level, rounded to single precision after each operation."""
    f = np.float32
    rates = np.asarray(modes) - 1
    gains, start = -1j * rates / abs(rates), f(1 / abs(rates))
    a, b, g, h = f(rates.real), f(rates.imag), f(gains.real), f(gains.imag)
    angles = np.pi * np.arange(phases) / phases
    cosines, sines = f(np.cos(angles)), f(np.sin(angles))
    rows = np.concatenate([f(x), f(level)[None]])
    inputs = np.zeros((len(rows), len(modes)), f)
    for k, mix in enumerate(f(mixes)):
        for c in np.flatnonzero(mix):
            inputs[:, k] += mix[c] * rows[:, c]
    inputs, offset = inputs[:-1], start * inputs[-1]
    real, imag = np.zeros(len(modes), f), start * inputs[0]
    outputs = np.zeros((len(x), 2 * phases, len(modes)), f)
    for t, u in enumerate(inputs):
        dx, dy = a * real - b * imag + g * u, a * imag + b * real + h * u
        real, imag = real + dx, imag + dy
        for p in range(phases):
            outputs[t, p] = cosines[p] * real - sines[p] * (imag + offset)
            outputs[t, phases + p] = cosines[p] * dx - sines[p] * dy
    return outputs


def leave_one_out(X, Y, alpha):
    """Return the outputs (n, K) for each row of a ridge regression without it.

    The intercept is not penalised.
    """
    outputs = np.empty_like(Y, dtype=float)
    for i in range(len(X)):
        others = np.arange(len(X)) != i
        rows = np.column_stack([np.ones(len(X)), X])
        weights = ridge(rows[others], Y[others], alpha, penalise_bias=False)
        outputs[i] = rows[i] @ weights
    return outputs


class Sums(NamedTuple):
    """Sums XᵀX (N', N') and XᵀY (N', D_out) over rows, and their number."""

    XtX: np.ndarray
    XtY: np.ndarray
    rows: int


def gram(triangle):
    """Return the sums of products of the rows that a triangle stands for."""
    return Sums(triangle.R.T @ triangle.R, triangle.R.T @ triangle.Z, triangle.rows)
