"""Forecasts of short series by simple methods and by readouts that were trained on other series.

A series of a few rows is too short to select and train a reservoir. It is forecast by simple
methods and by several readouts that were trained on a corpus. The inputs x of these readouts are
normalised modes of the steps Δ of the series, that is, weighted means of its steps:

    x_τ(t) = Σ_j a^j Δ(t−j) / Σ_j a^j,   a = exp(−1/τ),   ŷ(t+h) = y(t) + x(t) W_h

Each method and each readout has a weight w proportional to L^−POWER, where L is the mean of its n
errors at earlier rows of the series. If n < FEW_ERRORS, L also includes the distance of the
forecast from the last value, times (1/n² − 1/FEW_ERRORS²), because a few errors may be small by
chance. The readouts are then adapted to the rows of the series:

    W = argmin ‖Y − X W‖² + PULL √h ‖W − Σ_k w_k W_k‖²

The more rows a series has, the smaller is the influence of the corpus. Unless logarithms are used,
the forecast of a·y + b is a times the forecast of y, plus b.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import NamedTuple

import numpy as np
from scipy.signal import lfilter

from eigenecho.checks import check_floats
from eigenecho.forecasting.baselines import Baseline
from eigenecho.forecasting.signals import RemovedEffects, Signal, mean_step
from eigenecho.threads import one_blas_thread
from eigenecho.types import Array

FILE = Path(__file__).with_name("prior.npz")
"""The default prior, written by ``tools/make_prior.py``."""

TIME_CONSTANTS = (0.0, 0.7, 1.4, 2.8, 5.6, 11.0, 22.0, 1e6)
"""τ of the modes, in rows: from the last step to the mean of all steps."""

POWER = 8.0
"""Exponent of the mean errors in the weights of the forecasts."""

FIRST = 3
"""Minimum number of rows before a forecast whose error affects the weights."""

FEW_ERRORS = 12
"""Number of errors below which weights also depend on the distance from the last value."""

LOOKBACK = 250
"""Maximum number of last rows whose errors determine the weights. Readouts are adapted to twice as
many rows."""

SEASONS = 2
"""Minimum number of seasons that are required to estimate and remove a seasonal profile."""

ROUNDING = 1e-9
"""Mean errors below this value, in units of the series, are treated as equal."""

STEPS = 8
"""Maximum number of steps ahead for which errors are computed."""

PULL = 30.0
"""Ridge on the difference between the readouts of a series and of the corpus."""

NEGLIGIBLE, TINY = 1e-6, 1e-12
"""Weight below which readouts are ignored, and minimum weight of a simple method."""

READOUTS, PER_READOUT = 8, 20
"""Maximum number of readouts, and number of series in the corpus per readout."""

ROUNDS = 12
"""Number of iterations. Each one fits the readouts and then reassigns the series to them."""

RIDGE = 3.0
"""Ridge for readouts that are fitted to a corpus."""

ROBUST = 0.2
"""Lower bound of errors, relative to their median, when rows are weighted by inverse errors."""


@dataclass(frozen=True, eq=False)
class Prior:
    """Readouts that were trained on a corpus, (K · N, H) for values and (K · N, H) for logarithms.

    Steps beyond the last column use the weights of the last column. Without readouts (K = 0),
    series are forecast by simple methods only.
    """

    values: Array
    logarithms: Array

    def check(self) -> None:
        """Raise an error if loaded readouts do not have weights for all modes."""
        for name in ("values", "logarithms"):
            rows, columns = getattr(self, name).shape
            check_floats(getattr(self, name), name, rows // SIZE * SIZE, max(columns, 1))

    def readouts(self, logarithm: bool, horizon: int) -> Array:
        """Return the weights W (K, N, H) for the given horizon."""
        W = self.logarithms if logarithm else self.values
        return W[:, np.minimum(np.arange(horizon), W.shape[1] - 1)].reshape(-1, SIZE, horizon)


SIZE = len(TIME_CONSTANTS)
NO_PRIOR = Prior(np.zeros((0, 1)), np.zeros((0, 1)))


@cache
def default_prior() -> Prior:
    """Return the default prior, which was trained on synthetic series."""
    with np.load(FILE) as file:
        return Prior(file["values"].astype(float), file["logarithms"].astype(float))


def weighted_steps(z: Array) -> Array:
    """Return the modes x of a series (T,): weighted means of its steps up to each row, (T, N)."""
    steps, ones = np.diff(z), np.ones(len(z) - 1)
    rows = np.zeros((len(z), SIZE))
    for i, tau in enumerate(TIME_CONSTANTS):
        fade = [1.0, -np.exp(-1 / tau) if tau else 0.0]
        rows[1:, i] = lfilter([1.0], fade, steps) / lfilter([1.0], fade, ones)
    return rows


# Forecasts of a series --------------------------------------------------------------------------


class _View(NamedTuple):
    """Values or logarithms of a series, without its seasonal profile and known effects.

    Attributes
    ----------
    signal : Signal
    removed : RemovedEffects
    profile : array (m,)
        Seasonal profile; a single 0 if none is removed.
    z : array (T,)
    x : array (T, N)
    """

    signal: Signal
    removed: RemovedEffects
    profile: Array
    z: Array
    x: Array

    @classmethod
    def of(cls, signal: Signal, removed: RemovedEffects, rows: int, season: int) -> _View:
        """Return a view, whose seasonal profile is estimated from the first ``rows`` rows."""
        z = signal.without(removed)
        profile = seasonal_profile(z[:rows], season)
        z = z - profile[np.arange(len(z)) % season]
        return cls(signal, removed, profile, z, weighted_steps(z))

    def forecast(self, W: Array, origins: Array, steps: Array) -> Array:
        """Return forecasts (…, O, S) for the given steps ahead, using weights (…, N, S)."""
        rows = origins[:, None] + steps
        ahead = self.z[origins, None] + self.x[origins] @ W + self.profile[rows % len(self.profile)]
        if self.removed in self.signal.shifts:
            shift = self.signal.shifts[self.removed]
            ahead = ahead + shift[np.minimum(rows, len(shift) - 1)]
        with np.errstate(over="ignore", invalid="ignore"):
            return self.signal.from_logarithms(ahead) if self.removed.logarithm else ahead

    def corrected(self, W: Array, rows: int) -> Array:
        """Return the weights W (N, H), adapted to the first ``rows`` rows of the series."""
        t = np.arange(max(1, rows - 2 * LOOKBACK), rows - 1)
        unit = mean_step(self.z[:rows])
        if not len(t) or not unit:
            return W
        steps = np.arange(1, W.shape[1] + 1)
        x = self.x[t] / unit
        targets = (_ahead(self.signal, self.z, rows, t, steps) - self.z[t, None]) / unit
        there = ~np.isnan(targets)
        residuals = np.where(there, targets - x @ W, 0.0)
        squares = np.einsum("ti,tj,th->hij", x, x, there.astype(float), optimize=True)
        squares += PULL * np.sqrt(steps)[:, None, None] * np.eye(SIZE)
        return W + np.linalg.solve(squares, (x.T @ residuals).T[:, :, None])[:, :, 0].T


class Mixture(NamedTuple):
    """Forecasts of one series by readouts and simple methods, weighted by their past errors.

    Attributes
    ----------
    signal : Signal
    readouts : list of (view, W (N, H), weight)
    baselines : list of (Baseline, weight)
    horizon : int
    """

    signal: Signal
    readouts: list[tuple[_View, Array, float]]
    baselines: list[tuple[Baseline, float]]
    horizon: int

    @classmethod
    def of(
        cls, prior: Prior, signal: Signal, rows: int, horizon: int, season: int, scored: int
    ) -> Mixture:
        """Compute weights and adapt readouts, using the first ``rows`` rows of a signal.

        The weights depend on errors up to ``scored`` steps ahead, whatever the horizon is.
        """
        removed = [RemovedEffects(False), RemovedEffects(True)]
        removed += [effects for effects in signal.shifts if not effects.calendar]
        used = [effects for effects in removed if signal.has_logarithms or not effects.logarithm]
        seasons = {1, season} if rows >= SEASONS * season else {1}
        views = [_View.of(signal, effects, rows, m) for effects in used for m in sorted(seasons)]
        readouts = [prior.readouts(view.removed.logarithm, horizon) for view in views]
        baselines = [Baseline("level"), Baseline("drift"), Baseline("damped"), Baseline("mean")]
        if rows > season > 1:
            baselines.append(Baseline("season", season))
        if rows > 2 * season > 2:
            baselines.append(Baseline("growth", season))
        first = max(min(max(FIRST, season + 1), rows // 2), rows - LOOKBACK)
        origins = np.arange(first, rows)
        steps = np.unique(np.linspace(1, scored, STEPS).astype(int))
        forecasts = []
        for view in views:
            W = prior.readouts(view.removed.logarithm, scored)[:, :, steps - 1]
            forecasts.append(view.forecast(W, origins, steps))
        y = signal.values
        forecasts += [b.forecast(y, y, origins, scored)[None, :, steps - 1] for b in baselines]
        targets = _ahead(signal, y, rows, origins, steps)
        targets[-1] = y[rows - 1]
        errors = np.abs(np.concatenate(forecasts) - targets) / (signal.unit * np.sqrt(steps))
        weights = _weights(errors)
        parts = np.split(weights, np.cumsum([len(W) for W in readouts]))
        mixed = []
        for view, W, part in zip(views, readouts, parts, strict=False):
            if (total := float(part.sum())) > NEGLIGIBLE:
                mean = np.tensordot(part / total, W, 1)
                mixed.append((view, view.corrected(mean, rows), total))
        simple = np.maximum(parts[-1], TINY)  # simple methods never overflow
        return cls(signal, mixed, list(zip(baselines, simple.tolist(), strict=True)), horizon)

    def forecast(self, origins: Array) -> Array:
        """Return forecasts (O, H) from the origins, ignoring components that overflow."""
        y, steps = self.signal.values, np.arange(1, self.horizon + 1)
        forecasts = [(view.forecast(W, origins, steps), w) for view, W, w in self.readouts]
        forecasts += [(b.forecast(y, y, origins, self.horizon), w) for b, w in self.baselines]
        total, weights = np.zeros((2, len(origins), self.horizon))
        for values, weight in forecasts:
            finite = np.isfinite(values)
            total += weight * np.where(finite, values, 0.0)
            weights += weight * finite
        return total / weights


def _ahead(signal: Signal, z: Array, rows: int, origins: Array, steps: Array) -> Array:
    """Return the values (O, S) after the origins; NaN if missing or not in the first rows."""
    truth = np.append(np.where(signal.observed[:rows], z[:rows], np.nan), np.nan)
    return truth[np.minimum(origins[:, None] + steps, rows)]


def _weights(errors: Array) -> Array:
    """Return weights (K,) of forecasts with errors (K, O, S), in units of the series.

    At the last origin, ``errors`` contains distances from the last value instead.
    """
    there = ~np.isnan(errors[-1, :-1])  # simple methods do not overflow
    count = max(int(there.sum()), 1)
    losses = errors[:, :-1][:, there].sum(axis=1) / count
    if count < FEW_ERRORS:
        losses += errors[:, -1].mean(axis=1) * (1 / count**2 - 1 / FEW_ERRORS**2)
    losses = np.where(np.isfinite(losses), np.maximum(losses, ROUNDING), np.inf)
    weights = (losses / losses.min()) ** -POWER
    return weights / weights.sum()


def seasonal_profile(z: Array, season: int) -> Array:
    """Return the mean deviation from the trend at each row of a season (m,), shrunk towards 0.

    The trend is a centred moving average over a season. If v is the variance of the noise, v / n of
    the variance of the profile p from n seasons is due to noise, so p is multiplied by
    max(0, 1 − (v / n) / var p).
    """
    if season == 1:
        return np.zeros(1)
    half = season // 2
    window = np.full(2 * half + 1, 1.0 / season)
    if season % 2 == 0:
        window[[0, -1]] /= 2
    deviations = z[half : len(z) - half] - np.convolve(z - z[0], window, "valid") - z[0]
    places = (np.arange(len(deviations)) + half) % season
    counts = np.maximum(np.bincount(places, minlength=season), 1)
    profile = np.bincount(places, deviations, season) / counts
    profile -= profile.mean()
    noise = np.sum((deviations - profile[places]) ** 2) / max(len(deviations) - season, 1)
    size = np.sum(profile**2) / (season - 1)
    return profile * max(0.0, 1 - noise / counts.mean() / size) if size > 0 else profile


# Readouts of a corpus ---------------------------------------------------------------------------


@one_blas_thread()
def fit_prior(signals: Sequence[Signal], horizon: int, season: int = 1) -> Prior:
    """Fit a prior to a corpus of series, after removing their seasonal profiles."""

    def adjusted(logarithm: bool) -> list[Array]:
        used = [s for s in signals if s.has_logarithms or (not logarithm and not s.is_constant)]
        seasons = [season if len(s) >= SEASONS * season else 1 for s in used]
        pairs = zip(used, seasons, strict=True)
        views = [_View.of(s, RemovedEffects(logarithm), len(s), m) for s, m in pairs]
        # If a series repeats its season exactly, only rounding errors remain.
        return [v.z for v in views if mean_step(v.z) > ROUNDING * v.signal.scale(logarithm)]

    return Prior(*(_fit_readouts(adjusted(logarithm), horizon) for logarithm in (False, True)))


def _fit_readouts(corpus: Sequence[Array], horizon: int) -> Array:
    """Return readouts (K · N, H), each fitted to a cluster of similar series.

    Each series is assigned to the readout with the smallest error, and each readout minimises the
    absolute errors of its series, by iteratively reweighted least squares.
    """
    corpus = [z for z in corpus if len(z) > FIRST + horizon]
    count = min(READOUTS, -(-len(corpus) // PER_READOUT))
    W = np.zeros((count, SIZE, horizon))
    if not count:
        return W.reshape(0, horizon)
    steps = np.arange(1, horizon + 1)
    origins = [np.arange(FIRST, len(z) - horizon) for z in corpus]
    units = [mean_step(z) for z in corpus]
    each = list(zip(corpus, origins, units, strict=True))
    x = np.concatenate([weighted_steps(z)[t] / unit for z, t, unit in each])
    targets = [(z[t[:, None] + steps] - z[t, None]) / unit for z, t, unit in each]
    Y = np.concatenate(targets) / np.sqrt(steps)
    rows = np.array([len(t) for t in origins])
    series = np.repeat(np.arange(len(corpus)), rows)
    assigned = np.random.default_rng(0).integers(count, size=len(corpus))
    errors = np.ones((count, len(x)))
    for _ in range(ROUNDS):
        for k in range(count):
            here = np.flatnonzero((assigned == k)[series])
            if not len(here):
                continue
            # Rows before the first change of a series have no error, and may be the majority.
            middle = np.median(errors[k, here]) or np.mean(errors[k, here]) or 1.0
            importance = middle / np.maximum(errors[k, here], ROBUST * middle)
            weighted = x[here] * (PER_READOUT * importance / rows[series[here]])[:, None]
            squares = weighted.T @ x[here] + RIDGE * np.eye(SIZE)
            W[k] = np.linalg.solve(squares, weighted.T @ Y[here])
            errors[k] = np.abs(Y - x @ W[k]).mean(axis=1)
        assigned = np.argmin([np.bincount(series, e) / rows for e in errors], axis=0)
    return (W * np.sqrt(steps)).reshape(-1, horizon)
