"""Seasonal periods of series, and effects of the calendar and of columns known ahead."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from functools import reduce
from typing import NamedTuple

import numpy as np

from eigenecho.data.panel import Panel
from eigenecho.forecasting.candidates import solve_likeliest
from eigenecho.forecasting.signals import RemovedEffects, Signal, fill_gaps, moving_series
from eigenecho.forecasting.views import LONG, Filter, candidate_spectra
from eigenecho.readout import Gram
from eigenecho.types import Array

ROUNDS = 2
"""Number of times that one-step weights and effects are estimated in turn."""

OWN = 2
"""Number of periods to detect in a series besides those of the calendar, at most."""

USUAL, UNUSUAL = 0.95, 4.0
"""Quantile of step sizes that counts as usual, and multiple of it at which steps are clipped."""

IN_ROWS = "A week is 7 rows of days, a day 24 of hours, a year 12 of months or 4 of quarters"
"""Common periods, for error messages."""

HARMONICS = 10
"""Number of harmonics of a period, at most."""

SAMPLED = 20
"""Number of series of a panel in which periods are detected, at most."""

REPETITIONS = 3
"""Number of repetitions of a period that the median series must contain."""


class EffectWeights(NamedTuple):
    """Weights for one choice of what is removed.

    One-step weights (N,) of series without these effects, and weights (F,) of the known columns.
    """

    removed: RemovedEffects
    one_step: Array
    columns: Array


@dataclass(frozen=True, eq=False)
class Effects:
    """Effects of known columns and the calendar, for each choice of what is removed.

    A column has the same effect on all series, in their units. The calendar has an effect of its
    own on each series. Both are estimated by least squares on what a one-step forecast does not
    explain: with e its errors on the series, and on a column in place of the series,
    e(y) = e(column) v + white noise.

    Parameters
    ----------
    filter : Filter
        Filter of the one-step forecast.
    periods : tuple of float
        Periods of the calendar, in rows.
    weights : tuple of EffectWeights
    """

    filter: Filter
    periods: tuple[float, ...]
    weights: tuple[EffectWeights, ...]

    @property
    def removed(self) -> list[RemovedEffects]:
        """The choices of what is removed."""
        return [weights.removed for weights in self.weights]

    def apply(self, signal: Signal, rows: int, horizon: int) -> Signal:
        """Return a signal with its shifts, up to a horizon after its end.

        The effect of the calendar is estimated on the first ``rows``. A constant series has none.
        """
        shifts = {removed: np.zeros(len(signal) + horizon) for removed in self.removed}
        for removed, one_step, columns in () if signal.is_constant else self.weights:
            shift = shifts[removed]
            if removed.known:
                known = signal.known[: len(shift)] @ columns
                shift[: len(known)] += known  # rows after these are not asked for
            if removed.calendar:
                waves = calendar_columns(self.periods, len(shift))
                responses = _responses(self.filter, one_step, waves[:rows])
                z = _values(signal, removed.logarithm)[:rows] - shift[:rows]
                shift += waves @ _profile(self.filter, one_step, responses, z, signal.observed)
            if not removed.logarithm:
                shift *= signal.unit
        return replace(signal, shifts=shifts)


def learn_effects(
    signals: Sequence[Signal],
    stops: Sequence[int],
    periods: Sequence[float],
    logarithms: Sequence[bool],
) -> Effects:
    """Estimate the effects of columns and the calendar from the rows of series before their stops.

    Constant series are left out if others move.
    """
    moving = moving_series(signals)
    signals, stops = [signals[i] for i in moving], [stops[i] for i in moving]
    rows = int(np.median(stops))
    filter = Filter(0.0, candidate_spectra(min(rows, LONG - 1), ())["short"])
    has_known = signals[0].known.shape[1] > 0
    parts = [(True, False)] * has_known + [(False, True)] * bool(periods)
    if len(parts) == 2:
        parts.append((True, True))
    weights = []
    for logarithm in logarithms:
        series = [
            _Series(_values(signal, logarithm)[:stop], signal.known[:stop], signal.observed[:stop])
            for signal, stop in zip(signals, stops, strict=True)
        ]
        for known, calendar in parts:
            learned = _learn(series, filter, periods if calendar else (), known)
            weights.append(EffectWeights(RemovedEffects(logarithm, known, calendar), *learned))
    return Effects(filter, tuple(periods), tuple(weights))


class _Series(NamedTuple):
    """Values (T,) in units, features (T, F), and which values were observed."""

    z: Array
    known: Array
    observed: Array


def _values(signal: Signal, logarithm: bool) -> Array:
    return signal.logarithms if logarithm else signal.values / signal.unit


def _learn(
    series: Sequence[_Series], filter: Filter, periods: Sequence[float], known: bool
) -> tuple[Array, Array]:
    """Return one-step weights and weights of the columns, estimated in turn."""
    waves = calendar_columns(periods, max(len(s.z) for s in series))
    columns = np.zeros(0)
    by_columns = by_calendar = [np.zeros(len(s.z)) for s in series]
    for _ in range(ROUNDS):
        rest = [s.z - a - b for s, a, b in zip(series, by_columns, by_calendar, strict=True)]
        one_step = _one_step_weights(filter, rest, series)
        if known:
            rest = [s.z - b for s, b in zip(series, by_calendar, strict=True)]
            parts = (
                _regression(filter, one_step, _responses(filter, one_step, s.known), z, s.observed)
                for s, z in zip(series, rest, strict=True)
            )
            columns = _regress(parts, series[0].known.shape[1])
            by_columns = [s.known @ columns for s in series]
        if periods:
            responses = _responses(filter, one_step, waves)
            by_calendar = [
                waves[: len(s.z)] @ _profile(filter, one_step, responses, s.z - a, s.observed)
                for s, a in zip(series, by_columns, strict=True)
            ]
    return one_step, columns


def _one_step_weights(filter: Filter, rest: Sequence[Array], series: Sequence[_Series]) -> Array:
    """Return one-step weights (N,) of series without effects."""

    def parts() -> Iterable[_Regression]:
        for z, s in zip(rest, series, strict=True):
            level, rows = filter.run(z)
            targets = z[1:] - level[:-1]
            blocks = ((start, x[:, 1:]) for start, x in rows.blocks(0, len(targets)))
            yield _Regression(blocks, targets, s.observed[1:])

    return _regress(parts(), filter.size - 1)


def _profile(filter: Filter, one_step: Array, responses: Array, z: Array, observed: Array) -> Array:
    """Return the weights of calendar columns, whose responses start with the series."""
    part = _regression(filter, one_step, responses, z, observed)
    return _regress([part], responses.shape[1])


class _Regression(NamedTuple):
    """Blocks of rows with the number of their first row, targets (n,), and which are observed."""

    blocks: Iterable[tuple[int, Array]]
    targets: Array
    observed: Array


def _regression(
    filter: Filter, one_step: Array, responses: Array, z: Array, observed: Array
) -> _Regression:
    """Return the regression of one-step errors of a series on those of columns."""
    errors = _errors(filter, one_step, z)
    return _Regression([(0, responses[: len(errors)])], errors, observed[1 : len(z)])


def _regress(parts: Iterable[_Regression], size: int) -> Array:
    """Return the likeliest ridge regression of all parts on ``size`` columns."""
    grams, squares = [], 0.0
    for blocks, targets, observed in parts:
        gram = Gram.empty(size, 1)
        for start, x in blocks:
            rows = np.flatnonzero(observed[start : start + len(x)])
            gram = gram.absorb(x[rows], targets[start + rows, None])
        grams.append(gram)
        squares += float(np.sum(targets[observed] ** 2))
    return solve_likeliest(reduce(Gram.merge, grams), squares)


def _responses(filter: Filter, one_step: Array, columns: Array) -> Array:
    """Return the one-step errors (T − 1, F) of columns (T, F) in place of a series."""
    errors = [_errors(filter, one_step, column) for column in columns.T]
    return np.stack(errors, axis=1) if errors else np.zeros((len(columns) - 1, 0))


def _errors(filter: Filter, one_step: Array, z: Array) -> Array:
    """Return z(t+1) − ℓ(t) − r(t) w, (T − 1,)."""
    level, rows = filter.run(z)
    errors = z[1:] - level[:-1]
    for start, x in rows.blocks(0, len(errors)):
        errors[start : start + len(x)] -= x[:, 1:] @ one_step
    return errors


# Periods ------------------------------------------------------------------------------------------


def find_periods(panel: Panel, given: Sequence[float] = ()) -> tuple[float, ...]:
    """Return the given periods, or those that at least a third of the series show, sorted.

    Constant series do not count.
    """
    if given:
        return tuple(sorted({float(period) for period in given if period > 1}))
    moving = [h for h in panel.histories if np.nanmax(h.values) > np.nanmin(h.values)]
    if not moving:
        return ()
    places = np.linspace(0, len(moving) - 1, min(SAMPLED, len(moving))).astype(int)
    counts: Counter[float] = Counter()
    rows = []
    for i in places:
        values = fill_gaps(moving[i].values).values
        rows.append(len(values))
        if len(values) > 3:
            counts.update(set(series_periods(values, panel.cycles)))
    longest = np.median(rows) / REPETITIONS
    common = (p for p, count in counts.items() if 3 * count >= len(places) and p <= longest)
    return tuple(sorted(map(float, common)))


def whole_periods(periods: Sequence[float]) -> tuple[int, ...]:
    """Return the periods rounded to whole rows, sorted, without those of one row."""
    return tuple(sorted({round(period) for period in periods if round(period) > 1}))


def series_periods(values: Array, calendar: Sequence[float]) -> list[float]:
    """Return the calendar's periods and those detected in a series (T,).

    Only periods of which the series contains at least two count. If none is found, large steps are
    clipped and the search is repeated: a single outlier or level shift can hide a cycle.
    """
    return _periods(values, calendar) or _periods(clip_steps(values), calendar)


def _periods(values: Array, calendar: Sequence[float]) -> list[float]:
    T = len(values)
    periods = [period for period in calendar if 2 <= period <= T / 2]
    for _ in range(OWN):
        columns = np.column_stack([np.ones(T), np.arange(T) / T, harmonics(periods, T)])
        residuals = values - columns @ np.linalg.lstsq(columns, values, rcond=None)[0]
        period = detect_period(residuals) if residuals.std() > 0.01 * values.std() else None
        if period is None or any(_is_related(period, other) for other in periods):
            break
        periods.append(period)
    return periods


def detect_period(values: Array) -> int | None:
    """Return the lag of the highest significant peak of the autocorrelation, or None.

    Both the series and its steps are searched. Multiples of a period have peaks of about the same
    height; the first of them is returned.
    """
    T = len(values)
    lags = T // 3
    if lags < 3:
        return None
    least = max(0.2, 3 / np.sqrt(T))
    heights: dict[int, float] = {}
    for series in (values, np.diff(values)):
        rho = autocorrelation(series, lags)
        for k in range(2, lags):
            is_peak = rho[k] >= least and rho[k] >= rho[k - 1] and rho[k] > rho[k + 1]
            # The autocorrelation of a slow swing stays high; that of a cycle drops in between.
            if is_peak and rho[k] - rho[1:k].min() >= least:
                heights[k] = max(heights.get(k, 0.0), float(rho[k]))
    highest = max(heights.values(), default=0.0)
    return min((k for k, height in heights.items() if height >= 0.9 * highest), default=None)


def autocorrelation(values: Array, lags: int) -> Array:
    """Return ρ(0) … ρ(lags), computed by FFT."""
    x = values - values.mean()
    size = 1 << int(np.ceil(np.log2(2 * len(x))))
    power = np.abs(np.fft.rfft(x, size)) ** 2
    rho = np.fft.irfft(power, size)[: lags + 1]
    return rho / (rho[0] or 1.0)


def clip_steps(values: Array) -> Array:
    """Return a series whose steps are at most a few times as large as usual ones."""
    steps = np.diff(values)
    middle = np.median(steps)
    limit = UNUSUAL * np.quantile(np.abs(steps - middle), USUAL)
    if limit == 0:  # a series that rarely moves: its few steps are all there is to learn from
        return values
    steps = np.clip(steps, middle - limit, middle + limit)
    return values[0] + np.concatenate([[0.0], np.cumsum(steps)])


def _is_related(a: float, b: float) -> bool:
    """Return True if the ratio of the two periods is close to 1, 2 or 3."""
    ratio = max(a, b) / min(a, b)
    return ratio < 1.25 or (ratio < 3.5 and abs(ratio - round(ratio)) < 0.05 * ratio)


def harmonics(periods: Sequence[float], rows: int) -> Array:
    """Return sines and cosines of periods p at t = 0 … rows − 1, (rows, columns).

        sin 2πkt/p, cos 2πkt/p,   k = 1 … p/2

    A frequency that two periods share appears once.
    """
    time = np.arange(0, rows, dtype=np.float64)
    frequencies: list[float] = []
    for period in periods:
        for k in range(1, HARMONICS + 1):
            frequency = k / period
            if frequency < 0.5 and all(abs(frequency - f) > 1e-4 for f in frequencies):
                frequencies.append(frequency)
    columns = [wave(2 * np.pi * f * time) for f in frequencies for wave in (np.sin, np.cos)]
    return np.array(columns).T.reshape(rows, len(columns))


def calendar_columns(periods: Sequence[float], rows: int) -> Array:
    """Return harmonics and, if a period has it, the wave (−1)ᵗ: (rows, columns)."""
    columns = harmonics(periods, rows)
    if any(period % 2 == 0 and period <= 2 * HARMONICS for period in periods):
        columns = np.column_stack([columns, (-1.0) ** np.arange(rows)])
    return columns
