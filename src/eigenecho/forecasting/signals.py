"""Signals: series with imputed values and a unit, and columns of X as features."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from functools import cached_property
from typing import NamedTuple

import numpy as np
from scipy.signal import lfilter

from eigenecho.data.panel import Panel
from eigenecho.types import Array

FADES = (0.0, 2.0, 8.0)
"""Time constants, in rows, of running means of a known column; 0 stands for the column itself."""

ROUNDING, NEVER = 1e-12, 1e300
"""Relative deviation below which a column counts as constant, and the scale of such a column."""

LARGEST_PERIOD = 2**31
"""Largest period, in rows, that is accepted from a file."""

LARGEST_LOGARITHM = 700.0
"""Logarithm above which a forecast overflows."""

PERSISTENCE = 0.7
"""Factor by which the deviation from the previous season decays per missing row."""

REACH, REACH_OF_BOUNDS = 3.0, 10.0
"""Distance of forecasts and of bounds from the values so far, in ranges of these values."""

MOST_SERIES, BATCH = 256, 1 << 15
"""Maximum number of series, and of values, in a batch. Its states should stay in cache."""


def reach(
    values: Array, origins: Array, horizon: int, ranges: float = REACH
) -> tuple[Array, Array]:
    """Return bounds (…, O, H) for forecasts of series (…, T): values so far, and some ranges more.

    From a fifth of the rows so far on, the bounds grow in proportion to the step, as a line does.
    """
    low, high = (f.accumulate(values, axis=-1)[..., origins, None] for f in (np.fmin, np.fmax))
    steps = np.arange(1, horizon + 1)
    beyond = ranges * (high - low) * np.maximum(1.0, 5 * steps / (origins[:, None] + 1))
    return low - beyond, high + beyond


class RemovedEffects(NamedTuple):
    """Effects that are removed from a series, or from its logarithms, before the filter."""

    logarithm: bool
    known: bool = False
    calendar: bool = False


class Filled(NamedTuple):
    """One series without missing values, starting at its first observation.

    Attributes
    ----------
    values, observed : arrays (T,)
        Values, and a mask that is False where a value was imputed.
    start : int
        Number of rows before the first observation.
    """

    values: Array
    observed: Array
    start: int


class FilterInput(NamedTuple):
    """Values or logarithms of a batch without the removed effects, the input of filters.

    Attributes
    ----------
    values, truth : arrays (S, T)
        ``truth`` has NaN in place of imputed values.
    steps, sizes : arrays (S, T)
        Steps y(t) − y(t−1), and the root mean square step up to each row.
    """

    values: Array
    truth: Array
    steps: Array
    sizes: Array


@dataclass(frozen=True, eq=False)
class Batch:
    """Series of equal length with imputed values, each starting at its first observation.

    Attributes
    ----------
    numbers : array (S,)
        Indices of the series in the panel.
    values, observed : arrays (S, T)
        Values, and a mask that is False where a value was imputed.
    unit : array (S,)
        Root mean square of the steps, the unit of errors; 1 for a constant series.
    known : array (S, T + ahead, F)
        Features of the known columns, including the rows to forecast.
    past : array (S, T, P)
        Past columns, in units of their steps.
    shifts : mapping of RemovedEffects to arrays (S, T + H)
        Effect of the known columns and the calendar on each row.
    is_constant : array (S,)
        True if the series never changed. Other columns have no effect on such a series.
    growth : array (S,)
        Root mean square step of the logarithms.
    offset : array (S,)
        Number that is added before logarithms are taken: 0 for a positive series, and the smallest
        positive value of a series with zeros (1 for counts), or the unit if all values so far are
        0. NaN for a series with negative values, which has no logarithms.
    """

    numbers: Array
    values: Array
    observed: Array
    unit: Array
    growth: Array
    offset: Array
    is_constant: Array
    known: Array
    past: Array
    shifts: Mapping[RemovedEffects, Array] = field(default_factory=dict)

    def __len__(self) -> int:
        """Return the number of series."""
        return len(self.values)

    @property
    def rows(self) -> int:
        """Number of rows T."""
        return self.values.shape[1]

    @property
    def has_logarithms(self) -> Array:
        """True for series that are not constant and have no negative values, (S,)."""
        return ~(np.isnan(self.offset) | self.is_constant)

    @cached_property
    def logarithms(self) -> Array:
        """Logarithms (S, T) of values + offset, or the values of series without logarithms."""
        has = self.has_logarithms
        if not has.any():
            return self.values
        shifted = np.where(has[:, None], self.values + np.nan_to_num(self.offset)[:, None], 1.0)
        return np.where(has[:, None], logarithms(shifted), self.values)

    def without(self, removed: RemovedEffects) -> Array:
        """Return the values or logarithms (S, T) without the removed effects."""
        z = self.logarithms if removed.logarithm else self.values
        return z - self.shifts[removed][:, : self.rows] if removed in self.shifts else z

    def input(self, removed: RemovedEffects) -> FilterInput:
        """Return the input of filters, which is computed once."""
        if removed not in self._inputs:
            z = self.without(removed)
            truth = z if self.observed.all() else np.where(self.observed, z, np.nan)
            self._inputs[removed] = FilterInput(z, truth, steps(z), steps_so_far(z))
        return self._inputs[removed]

    @cached_property
    def baselines(self) -> dict[Hashable, Array]:
        """Baselines (S, O, H) that several members correct, by their arguments."""
        return {}

    @cached_property
    def _inputs(self) -> dict[RemovedEffects, FilterInput]:
        return {}

    def scale(self, logarithm: bool) -> Array:
        """Return the units (S,) of the values, or 1 for logarithms, which have no unit."""
        return np.where(self.has_logarithms, 1.0, self.unit) if logarithm else self.unit

    def from_logarithms(self, logarithms: Array) -> Array:
        """Convert logarithms (…, S, O, H) to values, which are infinite where they overflow."""
        has = self.has_logarithms[:, None, None]
        if not has.any():
            return logarithms
        values = np.exp(logarithms)
        if not np.max(logarithms, initial=0.0) <= LARGEST_LOGARITHM:
            values[logarithms > LARGEST_LOGARITHM] = np.inf
        values -= np.nan_to_num(self.offset)[:, None, None]
        return values if has.all() else np.where(has, values, logarithms)

    def cut(self, start: int = 0, stop: int | None = None) -> Batch:
        """Return the rows from ``start`` to ``stop``, with all later rows of the known columns."""
        return replace(
            self,
            values=self.values[:, start:stop],
            observed=self.observed[:, start:stop],
            known=self.known[:, start:],
            past=self.past[:, start:stop],
            shifts={removed: shift[:, start:] for removed, shift in self.shifts.items()},
        )

    def only(self, places: Array) -> Batch:
        """Return some of the series."""
        parts = {f.name: getattr(self, f.name) for f in fields(self) if f.name != "shifts"}
        shifts = {removed: shift[places] for removed, shift in self.shifts.items()}
        return Batch(**{name: part[places] for name, part in parts.items()}, shifts=shifts)


def moving(batches: Sequence[Batch]) -> list[Batch]:
    """Return the series that are not constant, or all series if there are no others."""
    found = [batch.only(~batch.is_constant) for batch in batches if not batch.is_constant.all()]
    return found or list(batches)


def steps(y: Array) -> Array:
    """Return the steps y(t) − y(t−1) of series (S, T), with 0 in the first row."""
    return np.diff(y, prepend=y[:, :1])


def steps_so_far(y: Array) -> Array:
    """Return the root mean square step up to each row (S, T), which is 0 in the first row."""
    return np.sqrt(np.cumsum(steps(y) ** 2, axis=1) / np.maximum(np.arange(y.shape[1]), 1))


def mean_step(values: Array) -> Array:
    """Return the root mean square step of series (…, T), which is 0 for a constant series."""
    steps = np.diff(values)
    return np.sqrt(np.mean(steps**2, axis=-1)) if steps.shape[-1] else np.zeros(steps.shape[:-1])


def fill_gaps(values: Array, season: int = 1) -> Filled:
    """Impute missing values (NaN) of a series (T,) from earlier rows only.

    Let g be the mean step so far. In missing rows, the deviation from the expected growth over a
    season, d(t) = y(t) − y(t − season) − season · g, decays: d(t) = PERSISTENCE · d(t − 1). In the
    first season, a missing value is the previous value plus g.
    """
    observed = ~np.isnan(values)
    start = int(np.argmax(observed)) if observed.any() else len(values)
    filled, observed = values[start:].copy(), observed[start:]
    last = np.maximum.accumulate(np.where(observed, np.arange(len(filled)), 0))
    for t in np.flatnonzero(~observed):
        growth = (filled[last[t]] - filled[0]) / max(last[t], 1)
        before = t - season
        if season > 1 and before > 0:
            expected = filled[before - 1 : before + 1] + season * growth
            filled[t] = expected[1] + PERSISTENCE * (filled[t - 1] - expected[0])
        else:
            filled[t] = filled[t - 1] + growth
    return Filled(filled, observed, start)


def logarithms(values: Array) -> Array:
    """Return the logarithms of series (S, T).

    A value that is not positive is replaced by the last positive value before it or, at the start
    of the series, by the first positive value. Without positive values, it is replaced by 1.
    """
    positive = values > 0
    if positive.all():
        return np.log(values)
    last = np.maximum.accumulate(np.where(positive, np.arange(values.shape[1]), 0), axis=1)
    first = np.take_along_axis(values, positive.argmax(axis=1)[:, None], axis=1)
    first = np.where(first > 0, first, 1.0)
    carried = np.take_along_axis(values, last, axis=1)
    return np.log(np.where(carried > 0, carried, first))


@dataclass(frozen=True, eq=False)
class KnownColumns:
    """Mean and scale (k,) of the known columns, for their standardisation."""

    mean: Array
    scale: Array

    @classmethod
    def of(cls, known: Sequence[Array]) -> KnownColumns:
        """Compute the mean and scale of each column over all series."""
        rows = np.concatenate(known)
        deviation, size = rows.std(axis=0), np.abs(rows).max(axis=0)
        # The effect of a column that never changed cannot be estimated, so it is set to 0.
        return cls(rows.mean(axis=0), np.where(deviation > ROUNDING * size, deviation, NEVER))

    def features(self, known: Array) -> Array:
        """Return the standardised columns and their running means over earlier rows, (T, F)."""
        x = (known - self.mean) / self.scale
        parts = []
        for fade in FADES:
            a = np.exp(-1 / fade) if fade else 0.0
            parts.append(lfilter([1 - a], [1, -a], x, axis=0) if len(x) else x)
        return np.concatenate(parts, axis=1)


@dataclass(frozen=True, eq=False)
class Measures:
    """Units of series and columns, computed from the rows of a fit.

    The unit of a series is its root mean square step, so the forecast of a·y + b is a times the
    forecast of y, plus b. A series that has not changed yet gets the unit of the series with the
    same name in the fit or, if there is none, the median unit.

    Attributes
    ----------
    season : int
        Season that is used to impute missing values.
    filled : list of Filled
        Series of the fit, with imputed values.
    numbers : dict of Hashable or None
        Index of each series in the fit, by name.
    units : array (S,)
        Root mean square step of each series; 0 for a constant series.
    known : KnownColumns
    past : array (P,)
        Root mean square step of each past column.
    multivariate : bool
        True if the other series are past columns of each series. At least two series must change.
    """

    season: int
    filled: list[Filled]
    numbers: dict[Hashable | None, int]
    units: Array
    known: KnownColumns
    past: Array
    multivariate: bool

    @classmethod
    def of(cls, panel: Panel, season: int, multivariate: bool) -> Measures:
        """Compute the units of the series and columns in a panel."""
        histories = panel.histories
        filled = [fill_gaps(h.values, season) for h in histories]
        units = np.array([float(mean_step(f.values)) for f in filled])
        # Constant series are ignored, unless there are no others.
        histories = tuple(h for h, unit in zip(histories, units, strict=True) if unit) or histories
        return cls(
            season,
            filled,
            {history.name: i for i, history in enumerate(panel.histories)},
            units,
            KnownColumns.of([history.known[: len(history)] for history in histories]),
            _column_steps([history.past for history in histories]),
            multivariate and bool(np.count_nonzero(units) > 1),
        )

    @cached_property
    def median_unit(self) -> float:
        """Median unit of the series that are not constant; 0 if all are constant."""
        return float(np.median(self.units[self.units > 0])) if self.units.any() else 0.0

    def default_units(self, panel: Panel, series: Sequence[int]) -> Array:
        """Return the units of series that have not changed yet."""
        numbers = [self.numbers.get(panel.histories[i].name) for i in series]
        return np.array([self.median_unit if n is None else self.units[n] for n in numbers])

    def fill(self, panel: Panel) -> list[Filled]:
        """Return the series of a panel with imputed values."""
        return [fill_gaps(history.values, self.season) for history in panel.histories]

    def batches(self, panel: Panel, filled: Sequence[Filled]) -> list[Batch]:
        """Return the series of a panel in batches, with units computed from all of their rows."""
        lengths = [len(series.values) for series in filled]
        groups = grouped(lengths, lengths)
        return [self.batch(panel, filled, group, lengths[group[0]]) for group in groups]

    def batch(
        self,
        panel: Panel,
        filled: Sequence[Filled],
        series: Sequence[int],
        rows: int,
        ahead: Sequence[Array] = (),
    ) -> Batch:
        """Return series of equal length as one batch, with units from their first ``rows`` rows.

        ``ahead`` contains the known columns of the rows after the end of each series, (H, k).
        """
        values = np.stack([filled[i].values for i in series])
        observed = np.stack([filled[i].observed for i in series])
        numbers, T = np.array(series), values.shape[1]
        unit, offset, is_constant = units_of(
            values[:, :rows], observed[:, :rows], self.default_units(panel, series)
        )
        known, past = np.zeros((len(series), T, 0)), np.zeros((len(series), T, 0))
        if self.known.mean.size:
            known = np.stack([self._known(panel, filled, i, ahead) for i in series])
        batch = Batch(numbers, values, observed, unit, unit, offset, is_constant, known, past)
        start = np.abs(values[:, 0])
        step = mean_step(batch.logarithms[:, : max(rows, 1)])
        with np.errstate(over="ignore"):
            growth = np.where(step > 0, step, unit / np.where(start > 0, start, unit))
        if self.past.size or self.multivariate:
            past = np.stack([self._past(panel, filled, i, rows) for i in series])
        return replace(batch, growth=growth, past=past)

    def _known(
        self, panel: Panel, filled: Sequence[Filled], series: int, ahead: Sequence[Array]
    ) -> Array:
        history = panel.histories[series]
        columns = np.concatenate([history.known[: len(history)], *ahead[series : series + 1]])
        return self.known.features(columns)[filled[series].start :]

    def _past(self, panel: Panel, filled: Sequence[Filled], series: int, rows: int) -> Array:
        """Return past columns, and other series of a multivariate forecaster, from 0 on, (T, P)."""
        start, columns = filled[series].start, []
        if self.past.size:
            columns.append(_since_first(panel.histories[series].past[start:]) / self.past)
        if self.multivariate:
            # Before its first observation, a series is assumed to be constant. The effect of a
            # series that never changed cannot be estimated, so it is set to 0.
            defaults = self.default_units(panel, range(len(panel)))
            for i, (other, default) in enumerate(zip(filled, defaults, strict=True)):
                if i != series:
                    padded = np.concatenate([np.full(other.start, other.values[0]), other.values])
                    unit = mean_step(other.values[: max(start + rows - other.start, 0)]) or default
                    columns.append(padded[start:, None] / (unit or NEVER))
        beside = np.concatenate(columns, axis=1)
        return beside - beside[:1]


def units_of(values: Array, observed: Array, default: Array) -> tuple[Array, Array, Array]:
    """Return the units and offsets of series (S, T), and a mask of constant series, (S,).

    The default unit is used for constant series. If it is 0, the series are marked as constant.
    """
    size = mean_step(values)
    size = np.where(size > 0, size, default)
    lowest = np.min(values, axis=1, where=observed, initial=np.inf)
    positive = np.min(values, axis=1, where=observed & (values > 0), initial=np.inf)
    smallest = np.where(np.isfinite(positive), positive, size)
    offset = np.select([lowest < 0, lowest == 0], [np.nan, smallest], 0.0)
    return np.where(size > 0, size, 1.0), offset, size == 0


def grouped(keys: Sequence[Hashable], rows: Sequence[int]) -> list[list[int]]:
    """Return groups of series with equal keys, of which each has limited size in memory."""
    groups: dict[Hashable, list[list[int]]] = {}
    for number, (key, length) in enumerate(zip(keys, rows, strict=True)):
        parts = groups.setdefault(key, [[]])
        if len(parts[-1]) >= max(1, min(MOST_SERIES, BATCH // max(length, 1))):
            parts.append([])
        parts[-1].append(number)
    return [part for parts in groups.values() for part in parts]


def _since_first(past: Array) -> Array:
    """Return columns (T, p) minus their first observed values, with 0 for missing values."""
    first = np.argmax(~np.isnan(past), axis=0)
    return np.nan_to_num(past - past[first, np.arange(past.shape[1])])


def _column_steps(past: Sequence[Array]) -> Array:
    """Return the root mean square step of each column over all series; 1 for constant columns."""
    squares = np.concatenate([np.diff(columns, axis=0) ** 2 for columns in past])
    counts = np.count_nonzero(~np.isnan(squares), axis=0)
    size = np.sqrt(np.nansum(squares, axis=0) / np.maximum(counts, 1))
    return np.where(size > 0, size, 1.0)
