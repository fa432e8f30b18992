"""Effects of the calendar and of known columns, which are removed before the filter."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from functools import reduce
from typing import NamedTuple

import numpy as np

from eigenecho.forecasting.candidates import solve_likeliest
from eigenecho.forecasting.seasons import calendar_columns
from eigenecho.forecasting.signals import RemovedEffects, Signal, moving_series
from eigenecho.forecasting.views import LONG, Filter, candidate_spectra
from eigenecho.readout import Gram
from eigenecho.types import Array

ROUNDS = 2
"""Number of iterations. Each one estimates the one-step weights, and then the effects."""


class EffectWeights(NamedTuple):
    """Weights for one set of removed effects.

    ``one_step`` (N,) contains the one-step weights of series without these effects, and ``columns``
    (F,) contains the weights of the known columns.
    """

    removed: RemovedEffects
    one_step: Array
    columns: Array


@dataclass(frozen=True, eq=False)
class Effects:
    """Effects of known columns and the calendar, for several sets of removed effects.

    A column has the same effect on all series, in their units. The calendar has a separate effect
    on each series. Both are estimated by a regression of one-step errors,

        e(y) = e(column) v + white noise

    where e(y) are the errors of a series, and e(column) are the errors of a column that is forecast
    by the same filter and weights.

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
        """Sets of removed effects, in the order of the weights."""
        return [weights.removed for weights in self.weights]

    def apply(self, signal: Signal, rows: int, horizon: int) -> Signal:
        """Return a signal with its shifts, which extend to one horizon after its end.

        The effect of the calendar is estimated from the first ``rows`` rows. A constant series has
        no effects.
        """
        shifts = {removed: np.zeros(len(signal) + horizon) for removed in self.removed}
        for removed, one_step, columns in () if signal.is_constant else self.weights:
            shift = shifts[removed]
            if removed.known:
                known = signal.known[: len(shift)] @ columns
                shift[: len(known)] += known  # later rows are not needed
            if removed.calendar:
                waves = calendar_columns(self.periods, len(shift))
                responses = _responses(self.filter, one_step, waves[:rows])
                z = _values(signal, removed.logarithm)[:rows] - shift[:rows]
                shift += waves @ _profile(self.filter, one_step, responses, z, signal.observed)
            shift *= signal.scale(removed.logarithm)
        return replace(signal, shifts=shifts)


def learn_effects(
    signals: Sequence[Signal],
    stops: Sequence[int],
    periods: Sequence[float],
    logarithms: Sequence[bool],
) -> Effects:
    """Estimate the effects of columns and the calendar from rows of each series before its stop.

    Constant series are excluded, unless all series are constant.
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
    """Values (T,) in the unit of the series, features (T, F), and a mask of observed values."""

    z: Array
    known: Array
    observed: Array


def _values(signal: Signal, logarithm: bool) -> Array:
    """Return values or logarithms in the unit of the series."""
    values = signal.logarithms if logarithm else signal.values
    return values / signal.scale(logarithm)


def _learn(
    series: Sequence[_Series], filter: Filter, periods: Sequence[float], known: bool
) -> tuple[Array, Array]:
    """Return the one-step weights and the weights of the columns, estimated alternately."""
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
    """Return the one-step weights (N,) for series from which the effects were removed."""

    def parts() -> Iterable[_Regression]:
        for z, s in zip(rest, series, strict=True):
            level, rows = filter.run(z)
            targets = z[1:] - level[:-1]
            blocks = ((start, x[:, 1:]) for start, x in rows.blocks(0, len(targets)))
            yield blocks, targets, s.observed[1:]

    return _regress(parts(), filter.size - 1)


def _profile(filter: Filter, one_step: Array, responses: Array, z: Array, observed: Array) -> Array:
    """Return the weights of the calendar columns, given their one-step errors ``responses``."""
    part = _regression(filter, one_step, responses, z, observed)
    return _regress([part], responses.shape[1])


_Regression = tuple[Iterable[tuple[int, Array]], Array, Array]
"""Blocks of rows with their first row number, targets (n,), and a mask of observed targets."""


def _regression(
    filter: Filter, one_step: Array, responses: Array, z: Array, observed: Array
) -> _Regression:
    """Return the regression of the one-step errors of a series on the errors of columns."""
    errors = _errors(filter, one_step, z)
    return [(0, responses[: len(errors)])], errors, observed[1 : len(z)]


def _regress(parts: Iterable[_Regression], size: int) -> Array:
    """Return the weights of a regression on ``size`` columns with the likeliest ridge."""
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
    """Return the one-step errors (T − 1, F) of columns (T, F) that are forecast like a series."""
    errors = [_errors(filter, one_step, column) for column in columns.T]
    return np.stack(errors, axis=1) if errors else np.zeros((len(columns) - 1, 0))


def _errors(filter: Filter, one_step: Array, z: Array) -> Array:
    """Return the one-step errors z(t+1) − ℓ(t) − r(t) w, (T − 1,)."""
    level, rows = filter.run(z)
    errors = z[1:] - level[:-1]
    for start, x in rows.blocks(0, len(errors)):
        errors[start : start + len(x)] -= x[:, 1:] @ one_step
    return errors
