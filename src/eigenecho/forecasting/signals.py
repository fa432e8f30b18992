"""Signals: series with imputed values and a unit, and columns of X as features."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass, field, replace
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

NONE = np.zeros((0, 0))


def reach(
    values: Array, origins: Array, horizon: int, ranges: float = REACH
) -> tuple[Array, Array]:
    """Return bounds (O, H) for forecasts from the origins: the values so far, and some ranges more.

    From a fifth of the rows so far on, the bounds grow in proportion to the step, as a line does.
    """
    low, high = (f.accumulate(values)[origins][:, None] for f in (np.fmin, np.fmax))
    steps = np.arange(1, horizon + 1)
    beyond = ranges * (high - low) * np.maximum(1.0, 5 * steps / (origins[:, None] + 1))
    return low - beyond, high + beyond


class RemovedEffects(NamedTuple):
    """Effects that are removed from a series, or from its logarithms, before the filter."""

    logarithm: bool
    known: bool = False
    calendar: bool = False


@dataclass(frozen=True, eq=False)
class Signal:
    """One series with imputed values, starting at its first observation.

    Attributes
    ----------
    values, observed : arrays (T,)
        Values, and a mask that is False where a value was imputed.
    start : int
        Number of rows before the first observation.
    unit : float
        Root mean square of the steps, the unit of errors; 1 for a constant series.
    known : array (T + ahead, F)
        Features of the known columns, including the rows to forecast.
    past : array (T, P)
        Past columns, in units of their steps.
    shifts : mapping of RemovedEffects to arrays (T + H,)
        Effect of the known columns and the calendar on each row.
    is_constant : bool
        True if the series never changed. Other columns have no effect on such a series.
    growth : float
        Root mean square step of the logarithms.
    offset : float
        Number that is added before logarithms are taken: 0 for a positive series, and the smallest
        positive value of a series with zeros (1 for counts), or the unit if all values so far are
        0. NaN for a series with negative values, which has no logarithms.
    """

    values: Array
    observed: Array
    start: int = 0
    unit: float = 1.0
    known: Array = field(default_factory=lambda: NONE)
    past: Array = field(default_factory=lambda: NONE)
    shifts: Mapping[RemovedEffects, Array] = field(default_factory=dict)
    is_constant: bool = False
    growth: float = 1.0
    offset: float = 0.0

    def __len__(self) -> int:
        return len(self.values)

    @property
    def has_logarithms(self) -> bool:
        """True unless the series is constant or has negative values."""
        return not (np.isnan(self.offset) or self.is_constant)

    @cached_property
    def logarithms(self) -> Array:
        """Logarithms (T,) of values + offset, or the values if ``has_logarithms`` is False."""
        return logarithms(self.values + self.offset) if self.has_logarithms else self.values

    def without(self, removed: RemovedEffects) -> Array:
        """Return the values or logarithms (T,) without the removed effects."""
        z = self.logarithms if removed.logarithm else self.values
        return z - self.shifts[removed][: len(z)] if removed in self.shifts else z

    def scale(self, logarithm: bool) -> float:
        """Return the unit of the values, or 1 for logarithms, which have no unit."""
        return 1.0 if logarithm and self.has_logarithms else self.unit

    def from_logarithms(self, logarithms: Array) -> Array:
        """Convert logarithms to values, which are infinite where they overflow."""
        if not self.has_logarithms:
            return logarithms
        return np.exp(np.where(logarithms > LARGEST_LOGARITHM, np.inf, logarithms)) - self.offset

    def cut(self, start: int = 0, stop: int | None = None) -> Signal:
        """Return the rows from ``start`` to ``stop``, with all later rows of the known columns."""
        return replace(
            self,
            values=self.values[start:stop],
            observed=self.observed[start:stop],
            known=self.known[start:],
            past=self.past[start:stop],
            shifts={removed: shift[start:] for removed, shift in self.shifts.items()},
        )

    def with_unit(self, rows: int | None = None, default: float = 0.0) -> Signal:
        """Return the signal with the unit of its first ``rows`` rows, or a default unit.

        The default is used if these rows are constant. If the default is 0, the signal is marked as
        constant. The offset is computed from the same rows.
        """
        size = mean_step(self.values[:rows]) or default
        seen = self.values[:rows][self.observed[:rows]]
        lowest = seen.min(initial=np.inf)
        offset = np.nan if lowest < 0 else 0.0
        if lowest == 0:
            positive = seen[seen > 0]
            offset = float(positive.min()) if positive.size else size
        return replace(self, unit=size or 1.0, is_constant=not size, offset=offset)


def moving_series(signals: Sequence[Signal]) -> list[int]:
    """Return the indices of the series that are not constant, or all indices if there are none."""
    return [i for i, s in enumerate(signals) if not s.is_constant] or list(range(len(signals)))


def mean_step(values: Array) -> float:
    """Return the root mean square step of a series (T,), which is 0 for a constant series."""
    steps = np.diff(values)
    return float(np.sqrt(np.mean(steps**2))) if len(steps) else 0.0


def fill_gaps(values: Array, season: int = 1) -> Signal:
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
    return Signal(filled, observed, start)


def logarithms(values: Array) -> Array:
    """Return the logarithms of a series (T,).

    A value that is not positive is replaced by the last positive value before it or, at the start
    of the series, by the first positive value.
    """
    positive = values > 0
    last = np.maximum.accumulate(np.where(positive, np.arange(len(values)), 0))
    first = values[np.argmax(positive)] if positive.any() else 1.0
    return np.log(np.where(positive[last], values[last], first))


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
    numbers: dict[Hashable | None, int]
    units: Array
    known: KnownColumns
    past: Array
    multivariate: bool

    @classmethod
    def of(cls, panel: Panel, season: int, multivariate: bool) -> Measures:
        """Compute the units of the series and columns in a panel."""
        histories = panel.histories
        units = np.array([mean_step(fill_gaps(h.values, season).values) for h in histories])
        # Constant series are ignored, unless there are no others.
        histories = tuple(h for h, unit in zip(histories, units, strict=True) if unit) or histories
        return cls(
            season,
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

    def signals(self, panel: Panel) -> list[Signal]:
        """Return the series of a panel, each with a unit computed from all of its rows."""
        raw = self.unscaled(panel)
        return [self.scaled(panel, raw, i, len(h)) for i, h in enumerate(panel.histories)]

    def unscaled(self, panel: Panel, ahead: Sequence[Array] = ()) -> list[Signal]:
        """Return the signals without units and past columns.

        ``ahead`` contains the known columns of the rows after the end of each series, (H, k).
        """
        signals = []
        for i, history in enumerate(panel.histories):
            signal = fill_gaps(history.values, self.season)
            if history.known.size:
                columns = np.concatenate([history.known[: len(history)], *ahead[i : i + 1]])
                signal = replace(signal, known=self.known.features(columns)[signal.start :])
            signals.append(signal)
        return signals

    def scaled(self, panel: Panel, unscaled: Sequence[Signal], series: int, stop: int) -> Signal:
        """Return one signal with past columns and a unit, computed from rows before ``stop``."""
        signal = self.in_unit(unscaled[series], panel.histories[series].name, stop)
        step = mean_step(signal.logarithms[: max(stop - signal.start, 1)])
        growth = step or signal.unit / (abs(float(signal.values[0])) or signal.unit)
        signal = replace(signal, growth=growth)
        columns, past = [], panel.histories[series].past
        if self.past.size:
            columns.append(_since_first(past[signal.start :]) / self.past)
        if self.multivariate:
            # Before its first observation, a series is assumed to be constant. The effect of a
            # series that never changed cannot be estimated, so it is set to 0.
            for i, history in enumerate(panel.histories):
                if i != series:
                    other = self.in_unit(unscaled[i], history.name, stop)
                    rows = np.concatenate([np.full(other.start, other.values[0]), other.values])
                    scale = NEVER if other.is_constant else other.unit
                    columns.append(rows[signal.start :, None] / scale)
        if not columns:
            return signal
        beside = np.concatenate(columns, axis=1)
        return replace(signal, past=beside - beside[:1])

    def in_unit(self, signal: Signal, name: Hashable | None, stop: int) -> Signal:
        """Return a signal with a unit, computed from the rows before row ``stop`` of the panel."""
        number = self.numbers.get(name)
        default = self.median_unit if number is None else float(self.units[number])
        return signal.with_unit(max(stop - signal.start, 0), default)


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
