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
from functools import cache, lru_cache
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.lib.stride_tricks import sliding_window_view
from scipy.signal import lfilter

from eigenecho.checks import check_floats
from eigenecho.forecasting.baselines import Baseline
from eigenecho.forecasting.signals import Batch, RemovedEffects, mean_step
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

LOOKBACK = 80
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
    """Return the modes x of series (S, T): weighted means of their steps so far, (S, T, N)."""
    rows = np.zeros((*z.shape, SIZE))
    steps, sums = np.diff(z), _sums_of_weights(z.shape[1] - 1)
    for i, tau in enumerate(TIME_CONSTANTS):
        rows[:, 1:, i] = lfilter([1.0], _fade(tau), steps) / sums[i] if steps.size else 0.0
    return rows


@lru_cache(32)
def _sums_of_weights(rows: int) -> Array:
    return np.array([lfilter([1.0], _fade(tau), np.ones(rows)) for tau in TIME_CONSTANTS])


def _fade(tau: float) -> list[float]:
    return [1.0, -np.exp(-1 / tau) if tau else 0.0]


# Forecasts of a batch ---------------------------------------------------------------------------


class _View(NamedTuple):
    """Values or logarithms of a batch, without seasonal profiles and known effects.

    Attributes
    ----------
    batch : Batch
    removed : RemovedEffects
    profile : array (S, m)
        Seasonal profiles; a single 0 if none are removed.
    z : array (S, T)
    x : array (S, T, N)
    """

    batch: Batch
    removed: RemovedEffects
    profile: Array
    z: Array
    x: Array

    @classmethod
    def of(cls, batch: Batch, removed: RemovedEffects, rows: int, season: int) -> _View:
        """Return a view, whose seasonal profiles are estimated from the first ``rows`` rows."""
        z = batch.without(removed)
        profile = seasonal_profile(z[:, :rows], season)
        z = z - profile[:, np.arange(batch.rows) % season]
        return cls(batch, removed, profile, z, weighted_steps(z))

    def forecast(self, W: Array, origins: Array, steps: Array) -> Array:
        """Return forecasts (…, S, O, K) of K steps, with weights (…, N, K) or (…, S, N, K)."""
        rows, ahead = origins[:, None] + steps, self.x[:, origins] @ W
        base = self.z[:, origins, None] + self.profile[:, rows % self.profile.shape[1]]
        if self.removed in self.batch.shifts:
            shift = self.batch.shifts[self.removed]
            base = base + shift[:, np.minimum(rows, shift.shape[1] - 1)]
        ahead += base
        if not self.removed.logarithm:
            return ahead
        with np.errstate(over="ignore", invalid="ignore"):
            return self.batch.from_logarithms(ahead)

    def corrected(self, W: Array, rows: int) -> Array:
        """Return the weights W (S, N, H), adapted to the first ``rows`` rows of each series."""
        first, steps = max(1, rows - 2 * LOOKBACK), np.arange(1, W.shape[2] + 1)
        unit = mean_step(self.z[:, :rows])[:, None, None]
        if first >= rows - 1:
            return W
        z, scale = self.z[:, first:rows] - self.z[:, first, None], np.where(unit > 0, unit, 1.0)
        x = self.x[:, first : rows - 1] / scale
        truth = np.zeros((len(z), z.shape[1] + len(steps)))
        there = np.zeros(truth.shape, bool)
        there[:, : z.shape[1]] = self.batch.observed[:, first:rows]
        truth[:, : z.shape[1]] = np.where(there[:, : z.shape[1]], z / scale[:, 0], 0.0)
        ahead, is_there = (
            np.ascontiguousarray(sliding_window_view(part[:, 1:-1], len(steps), axis=1))
            for part in (truth, there)
        )
        squares, cross = _sums_of_rows(x, z[:, :-1, None] / scale, is_there)
        penalty = PULL * np.sqrt(steps)[:, None, None] * np.eye(SIZE)
        products = (x.transpose(0, 2, 1) @ ahead).transpose(0, 2, 1) - cross
        residuals = products[..., None] - squares @ W.transpose(0, 2, 1)[..., None]
        change = np.linalg.solve(squares + penalty, residuals)[..., 0].transpose(0, 2, 1)
        return np.where(unit > 0, W + change, W)


class Mixture(NamedTuple):
    """Forecasts of a batch by readouts and simple methods, weighted by their past errors.

    Attributes
    ----------
    batch : Batch
    readouts : list of (view, W (S, N, H), weights (S,))
    baselines : list of (Baseline, weights (S,))
    horizon : int
    """

    batch: Batch
    readouts: list[tuple[_View, Array, Array]]
    baselines: list[tuple[Baseline, Array]]
    horizon: int

    @classmethod
    def of(
        cls, prior: Prior, batch: Batch, rows: int, horizon: int, season: int, scored: int
    ) -> Mixture:
        """Compute weights and adapt readouts, using the first ``rows`` rows of a batch.

        The weights depend on errors up to ``scored`` steps ahead, whatever the horizon is.
        """
        removed = [RemovedEffects(False), RemovedEffects(True)]
        removed += [effects for effects in batch.shifts if not effects.calendar]
        has = batch.has_logarithms
        used = [effects for effects in removed if has.any() or not effects.logarithm]
        seasons = {1, season} if rows >= SEASONS * season else {1}
        views = [_View.of(batch, effects, rows, m) for effects in used for m in sorted(seasons)]
        baselines = [Baseline("level"), Baseline("drift"), Baseline("damped"), Baseline("mean")]
        if rows > season > 1:
            baselines.append(Baseline("season", season))
        if rows > 2 * season > 2:
            baselines.append(Baseline("growth", season))
        first = max(min(max(FIRST, season + 1), rows // 2), rows - LOOKBACK)
        origins, y = np.arange(first, rows), batch.values
        steps = np.unique(np.linspace(1, scored, STEPS).astype(int))
        targets = _ahead(batch, y, rows, origins, steps)
        targets[:, -1] = y[:, rows - 1, None]
        unit = batch.unit[:, None, None] * np.sqrt(steps)
        losses = []
        for view in views:
            W = prior.readouts(view.removed.logarithm, scored)[:, None, :, steps - 1]
            loss = _losses(view.forecast(W, origins, steps), targets, unit)
            losses.append(np.where(has | (not view.removed.logarithm), loss, np.inf))
        for b in baselines:
            forecast = b.forecast(y, origins, scored)[:, :, steps - 1][None]
            losses.append(_losses(forecast, targets, unit))
        parts = np.split(_weights(np.concatenate(losses)), np.cumsum(list(map(len, losses))))
        mixed = []
        for view, part in zip(views, parts, strict=False):
            total = part.sum(axis=0)
            if (total > NEGLIGIBLE).any():
                readouts = prior.readouts(view.removed.logarithm, horizon)
                mean = np.tensordot((part / np.where(total > 0, total, 1.0)).T, readouts, 1)
                total = np.where(total > NEGLIGIBLE, total, 0.0)
                mixed.append((view, view.corrected(mean, rows), total))
        simple = (np.maximum(part[0], TINY) for part in parts[len(views) : -1])
        return cls(batch, mixed, list(zip(baselines, simple, strict=True)), horizon)

    def forecast(self, origins: Array) -> Array:
        """Return forecasts (S, O, H) from the origins, ignoring components that overflow."""
        y, steps = self.batch.values, np.arange(1, self.horizon + 1)
        forecasts = [(view.forecast(W, origins, steps), w) for view, W, w in self.readouts]
        forecasts += [(b.forecast(y, origins, self.horizon), w) for b, w in self.baselines]
        total, weights = np.zeros((2, len(y), len(origins), self.horizon))
        for values, weight in forecasts:
            finite = np.isfinite(values)
            total += weight[:, None, None] * np.where(finite, values, 0.0)
            weights += weight[:, None, None] * finite
        return total / weights


def _sums_of_rows(x: Array, level: Array, there: Array) -> tuple[Array, Array]:
    """Return Σ xᵀx (S, H, N, N) and Σ x level (S, H, N) over rows whose targets are observed."""
    columns = np.concatenate([x, level], axis=2)
    pairs = (x[:, :, :, None] * columns[:, :, None]).reshape(*x.shape[:2], -1)
    sums = there.transpose(0, 2, 1).astype(float) @ pairs
    sums = sums.reshape(len(x), -1, SIZE, SIZE + 1)
    return sums[..., :SIZE], sums[..., SIZE]


def _ahead(batch: Batch, z: Array, rows: int, origins: Array, steps: Array) -> Array:
    """Return the values (S, O, K) after the origins; NaN if missing or not in the first rows."""
    truth = np.full((len(z), rows + 1), np.nan)
    truth[:, :rows] = np.where(batch.observed[:, :rows], z[:, :rows], np.nan)
    return truth[:, np.minimum(origins[:, None] + steps, rows)]


def _losses(forecasts: Array, targets: Array, unit: Array) -> Array:
    """Return the losses (K, S) of forecasts (K, S, O, …), which are overwritten.

    The last target is the last value. If there are few targets, the distance from the last value is
    added to the mean error.
    """
    there = ~np.isnan(targets)
    count = np.maximum(there[:, :-1].sum(axis=(1, 2)), 1)
    with np.errstate(over="ignore", invalid="ignore"):
        forecasts -= np.where(there, targets, 0.0)
        errors = np.abs(forecasts, out=forecasts)
        weights = there[:, :-1] / unit / count[:, None, None]
        losses = np.einsum("ksoh,soh->ks", errors[:, :, :-1], weights)
        distances = (errors[:, :, -1] / unit[:, 0]).mean(axis=2)
    few = np.maximum(1 / count**2 - 1 / FEW_ERRORS**2, 0.0)
    return losses + np.where(few > 0, distances, 0.0) * few


def _weights(losses: Array) -> Array:
    """Return weights (K, S) of forecasts with losses (K, S), in units of the series."""
    losses = np.where(np.isfinite(losses), np.maximum(losses, ROUNDING), np.inf)
    weights = (losses / losses.min(axis=0)) ** -POWER
    return weights / weights.sum(axis=0)


def seasonal_profile(z: Array, season: int) -> Array:
    """Return the mean deviations from the trend in a season (S, m), shrunk towards 0.

    The trend is a centred moving average over a season. If v is the variance of the noise, v / n of
    the variance of the profile p from n seasons is due to noise, so p is multiplied by
    max(0, 1 − (v / n) / var p).
    """
    if season == 1:
        return np.zeros((len(z), 1))
    half, rows = season // 2, z.shape[1]
    window = np.full(2 * half + 1, 1.0 / season)
    if season % 2 == 0:
        window[[0, -1]] /= 2
    first = z[:, :1]
    trend = lfilter(window, [1.0], z - first)[:, 2 * half :] + first
    deviations = z[:, half : rows - half] - trend
    places = (np.arange(rows - 2 * half) + half) % season
    is_at = (places[:, None] == np.arange(season)).astype(float)
    counts = np.maximum(is_at.sum(axis=0), 1)
    profile = deviations @ is_at / counts
    profile -= profile.mean(axis=1, keepdims=True)
    noise = np.sum((deviations - profile[:, places]) ** 2, axis=1) / max(len(places) - season, 1)
    size = np.sum(profile**2, axis=1) / (season - 1)
    share = 1 - noise / counts.mean() / np.where(size > 0, size, np.inf)
    return profile * np.maximum(share, 0.0)[:, None]


# Readouts of a corpus ---------------------------------------------------------------------------


@one_blas_thread()
def fit_prior(batches: Sequence[Batch], horizon: int, season: int = 1) -> Prior:
    """Fit a prior to a corpus of series, after removing their seasonal profiles."""

    def adjusted(logarithm: bool) -> list[Array]:
        corpus: list[tuple[int, Array]] = []
        for batch in batches:
            used = batch.has_logarithms if logarithm else ~batch.is_constant
            if used.any():
                season_of_batch = season if batch.rows >= SEASONS * season else 1
                part = batch.only(used)
                z = _View.of(part, RemovedEffects(logarithm), batch.rows, season_of_batch).z
                # If a series repeats its season exactly, only rounding errors remain.
                here = np.flatnonzero(mean_step(z) > ROUNDING * part.scale(logarithm))
                corpus += zip(part.numbers[here].tolist(), z[here], strict=True)
        return [z for _, z in sorted(corpus, key=lambda pair: pair[0])]

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
    x = np.concatenate([weighted_steps(z[None])[0, t] / unit for z, t, unit in each])
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
