"""Effects of the calendar and of known columns, which are removed before the filter."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np

from eigenecho.forecasting.candidates import solve_likeliest
from eigenecho.forecasting.seasons import calendar_columns
from eigenecho.forecasting.signals import Batch, RemovedEffects
from eigenecho.forecasting.views import LONG, Filter, candidate_spectra
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

    def apply(self, batch: Batch, rows: int, horizon: int) -> Batch:
        """Return a batch with its shifts, which extend to one horizon after its end.

        The effect of the calendar is estimated from the first ``rows`` rows. Constant series have
        no effects.
        """
        end = batch.rows + horizon
        shifts = {}
        for removed, one_step, columns in self.weights:
            shift = np.zeros((len(batch), end))
            if removed.known:
                known = batch.known[:, :end] @ columns
                shift[:, : known.shape[1]] += known  # later rows are not needed
            if removed.calendar:
                z = _values(batch, removed.logarithm)[:, :rows] - shift[:, :rows]
                profiles = self._profiles(removed, one_step, z, batch.observed[:, :rows])
                shift += profiles @ calendar_columns(self.periods, end).T
            scale = np.where(batch.is_constant, 0.0, batch.scale(removed.logarithm))
            shifts[removed] = shift * scale[:, None]
        return replace(batch, shifts=shifts)

    @cached_property
    def _calendars(self) -> dict[tuple[RemovedEffects, int], Array]:
        """One-step errors of the calendar columns by number of rows."""
        return {}

    def _profiles(
        self, removed: RemovedEffects, one_step: Array, z: Array, observed: Array
    ) -> Array:
        key = removed, z.shape[1]
        if key not in self._calendars:
            self._calendars[key] = _responses(self.filter, one_step, self.periods, z.shape[1])
        return _profiles(self.filter, one_step, self._calendars[key], z, observed)


def learn_effects(
    batches: Sequence[Batch],
    stops: Sequence[int],
    periods: Sequence[float],
    logarithms: Sequence[bool],
) -> Effects:
    """Estimate the effects of columns and the calendar from rows of each batch before its stop.

    Constant series are excluded, unless all series are constant.
    """
    parts = [(b.only(~b.is_constant), n) for b, n in zip(batches, stops, strict=True)]
    parts = [p for p in parts if len(p[0])] or list(zip(batches, stops, strict=True))
    rows = int(np.median(np.repeat([n for _, n in parts], [len(b) for b, _ in parts])))
    filter = Filter(candidate_spectra(min(rows, LONG - 1), ())["short"])
    has_known = parts[0][0].known.shape[2] > 0
    kinds = [(True, False)] * has_known + [(False, True)] * bool(periods)
    if len(kinds) == 2:
        kinds.append((True, True))
    weights = []
    for logarithm in logarithms:
        series = (
            [
                _Series(_values(b, logarithm)[:, :n], b.known[:, :n], b.observed[:, :n])
                for b, n in parts
            ]
            if kinds
            else []
        )
        for known, calendar in kinds:
            learned = _learn(series, filter, periods if calendar else (), known)
            weights.append(EffectWeights(RemovedEffects(logarithm, known, calendar), *learned))
    return Effects(filter, tuple(periods), tuple(weights))


class _Series(NamedTuple):
    """Values (S, T) in units of the series, features (S, T, F), and a mask of observed values."""

    z: Array
    known: Array
    observed: Array


def _values(batch: Batch, logarithm: bool) -> Array:
    """Return values or logarithms (S, T) in the units of the series."""
    values = batch.logarithms if logarithm else batch.values
    return values / batch.scale(logarithm)[:, None]


def _learn(
    series: Sequence[_Series], filter: Filter, periods: Sequence[float], known: bool
) -> tuple[Array, Array]:
    """Return the one-step weights and the weights of the columns, estimated alternately."""
    columns = np.zeros(0)
    by_columns = by_calendar = [np.zeros(s.z.shape) for s in series]
    for _ in range(ROUNDS):
        rest = [s.z - a - b for s, a, b in zip(series, by_columns, by_calendar, strict=True)]
        targets = zip(rest, series, strict=True)
        one_step = _pooled(_one_step_sums(filter, z, s.observed) for z, s in targets)
        if known:
            rest = [s.z - b for s, b in zip(series, by_calendar, strict=True)]
            columns = _pooled(
                _sums(
                    _columns_errors(filter, one_step, s.known),
                    *_targets(filter, one_step, z, s.observed),
                )
                for z, s in zip(rest, series, strict=True)
            )
            by_columns = [s.known @ columns for s in series]
        if periods:
            by_calendar = []
            for s, a in zip(series, by_columns, strict=True):
                responses = _responses(filter, one_step, periods, s.z.shape[1])
                profiles = _profiles(filter, one_step, responses, s.z - a, s.observed)
                by_calendar.append(profiles @ calendar_columns(periods, s.z.shape[1]).T)
    return one_step, columns


_Sums = tuple[Array, Array, Array, Array]
"""XᵀX (S, F, F) or (1, F, F), Xᵀy (S, F), yᵀy (S,), and the number of observed targets (S,)."""


def _sums(X: Array, y: Array, observed: Array) -> _Sums:
    """Return the sums over rows X (S, n, F) or (1, n, F) with observed targets y (S, n)."""
    y, Xt = np.where(observed, y, 0.0), X.transpose(0, 2, 1)
    XtX = Xt @ X if observed.all() else (Xt * observed[:, None]) @ X
    Xty = (Xt @ y[:, :, None])[:, :, 0]
    return XtX, Xty, np.sum(y**2, axis=1), np.count_nonzero(observed, axis=1)


def _pooled(parts: Iterable[_Sums]) -> Array:
    """Return the weights (F,) of a regression over all series, with the likeliest ridge."""
    total: Any = 0.0, 0.0, 0.0, 0.0
    for XtX, Xty, squares, rows in parts:
        XtX = XtX * (len(Xty) / len(XtX))  # one matrix stands for all series
        new = (x.sum(axis=0, keepdims=True) for x in (XtX, Xty, squares, rows))
        total = tuple(a + b for a, b in zip(total, new, strict=True))
    return solve_likeliest(*total)[0]


def _one_step_sums(filter: Filter, z: Array, observed: Array) -> _Sums:
    """Return the sums over the states of series (S, T) with the following values as targets."""
    rows, targets = filter.run(z), np.diff(z)
    nothing = np.zeros((len(z), 0, filter.size - 1))
    parts: Any = _sums(nothing, targets[:, :0], observed[:, :0])
    for start, x in rows.blocks(0, targets.shape[1]):
        block = slice(start, start + x.shape[1])
        new = _sums(x[:, :, 1:], targets[:, block], observed[:, 1:][:, block])
        parts = tuple(a + b for a, b in zip(parts, new, strict=True))
    return parts


def _profiles(
    filter: Filter, one_step: Array, responses: Array, z: Array, observed: Array
) -> Array:
    """Return the weights (S, F) of the calendar columns, given their one-step errors (n, F)."""
    return solve_likeliest(*_sums(responses[None], *_targets(filter, one_step, z, observed)))


def _targets(filter: Filter, one_step: Array, z: Array, observed: Array) -> tuple[Array, Array]:
    """Return the one-step errors of series (S, T) as targets, and a mask of observed targets."""
    return _errors(filter, one_step, z), observed[:, 1:]


def _responses(filter: Filter, one_step: Array, periods: Sequence[float], rows: int) -> Array:
    """Return the one-step errors (rows − 1, F) of calendar columns, forecast like a series."""
    return _errors(filter, one_step, calendar_columns(periods, rows).T).T


def _columns_errors(filter: Filter, one_step: Array, known: Array) -> Array:
    """Return the one-step errors (S, T − 1, F) of columns (S, T, F), or once if all are equal."""
    if (known == known[:1]).all():
        known = known[:1]
    series = known.transpose(0, 2, 1).reshape(-1, known.shape[1])
    errors = _errors(filter, one_step, series)
    return errors.reshape(len(known), known.shape[2], -1).transpose(0, 2, 1)


def _errors(filter: Filter, one_step: Array, z: Array) -> Array:
    """Return the one-step errors z(t+1) − z(t) − r(t) w of series (S, T), (S, T − 1)."""
    rows, errors = filter.run(z), np.diff(z)
    for start, x in rows.blocks(0, errors.shape[1]):
        errors[:, start : start + x.shape[1]] -= x[:, :, 1:] @ one_step
    return errors
