"""Histories as signals: gaps bridged, columns turned into features, all by one measure."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property

import numpy as np

from eigenecho.data.panel import Panel
from eigenecho.forecasting.effect import NEVER, KnownColumns
from eigenecho.forecasting.signal import Signal, bridged, seen, usual_step
from eigenecho.schema import NOT_STORED
from eigenecho.types import Array, PositiveArray, PositiveInt


@dataclass(frozen=True, eq=False)
class Measures:
    """What series and their columns are measured by: the rows of a fit.

    A series is measured by its own usual step, so that forecasts of a·y + b are a times those of
    y, plus b: of rows up to the present, of whichever series they are. Those that have not moved
    yet are taken to move as the series of that name did in the fit, or else as most of them.

    Attributes
    ----------
    season : int
        By which gaps are bridged.
    units : mapping
        The usual step of each series of the fit, by name; 0 where it never moved.
    known : KnownColumns or None
    past : array (P,)
        The usual step of columns that are known up to the present only.
    multivariate : bool
        Whether each series is shown the others as such columns: never where only one moves.
    """

    season: PositiveInt
    units: Mapping[Hashable, float] = field(default_factory=dict, metadata=NOT_STORED)
    known: KnownColumns | None = None
    past: PositiveArray = field(default_factory=lambda: np.zeros(0))
    multivariate: bool = False

    @classmethod
    def of(cls, panel: Panel, season: int, multivariate: bool) -> Measures:
        """Of the rows of a panel."""
        histories = panel.histories
        units = {one.name: usual_step(bridged(one.values, season).values) for one in histories}
        # Constant series say nothing of columns, unless there are no others.
        histories = tuple(one for one in histories if units[one.name] > 0) or histories
        known = [one.known for one in histories if one.known is not None and one.known.size]
        past = [one.past for one in histories if one.past is not None and one.past.size]
        return cls(
            season,
            units,
            KnownColumns.of(known) if known else None,
            _steps(past) if past else np.zeros(0),
            multivariate and sum(unit > 0 for unit in units.values()) > 1,
        )

    @property
    def has_past(self) -> bool:
        """Whether there are columns beside the series'."""
        return self.multivariate or self.past.size > 0

    @cached_property
    def usual(self) -> float:
        """The step of most series that move."""
        moving = [unit for unit in self.units.values() if unit > 0]
        return float(np.median(moving)) if moving else 0.0

    def signals(self, panel: Panel, ahead: Sequence[Array] = ()) -> list[Signal]:
        """The histories of a panel, with rows (H, k) that are known ``ahead``; by all rows."""
        plain = self.plain(panel, ahead)
        return [self.measured(panel, plain, i, len(one)) for i, one in enumerate(panel.histories)]

    def plain(self, panel: Panel, ahead: Sequence[Array] = ()) -> list[Signal]:
        """The same, not measured yet, and without what stands beside them."""
        found = []
        for i, history in enumerate(panel.histories):
            signal = bridged(history.values, self.season)
            if self.known is not None:
                assert history.known is not None
                columns = np.concatenate([history.known, *ahead[i : i + 1]])
                signal = replace(signal, known=self.known.features(columns)[signal.start :])
            found.append(signal)
        return found

    def measured(self, panel: Panel, plain: Sequence[Signal], series: int, stop: int) -> Signal:
        """One of them by the rows before ``stop``, in its unit; and what stands beside it."""
        found = self.in_unit(plain[series], panel.histories[series].name, stop)
        logarithms = seen(found, True)[: max(stop - found.start, 1)]
        growth = usual_step(logarithms) or found.unit / (abs(float(found.values[0])) or found.unit)
        found = replace(found, growth=growth)
        if not self.has_past:
            return found
        columns, past = [], panel.histories[series].past
        if past is not None and self.past.size:
            columns.append(_moved(past[found.start :]) / self.past)
        if self.multivariate:
            # Before its first observation a series is as its first value: it does not move. Of one
            # that never did nothing is known, whatever it does one day.
            for i, history in enumerate(panel.histories):
                if i != series:
                    other = self.in_unit(plain[i], history.name, stop)
                    whole = np.concatenate([np.full(other.start, other.values[0]), other.values])
                    columns.append(
                        whole[found.start :, None] / (NEVER if other.still else other.unit)
                    )
        beside = np.concatenate(columns, axis=1)
        return replace(found, past=beside - beside[:1])

    def in_unit(self, signal: Signal, name: Hashable, stop: int) -> Signal:
        """A signal with the unit that its rows before ``stop`` have, of the caller's."""
        return signal.with_unit(max(stop - signal.start, 0), self.units.get(name, self.usual))


def _moved(past: Array) -> Array:
    """Columns (T, p) from their first value on, as if they had not moved before it."""
    first = np.argmax(~np.isnan(past), axis=0)
    return np.nan_to_num(past - past[first, np.arange(past.shape[1])])


def _steps(past: Sequence[Array]) -> Array:
    """The root mean square step of each column, over all series; 1 where it never moves."""
    squares = np.concatenate([np.diff(one, axis=0) ** 2 for one in past])
    there = ~np.isnan(squares)
    total = np.where(there, squares, 0.0).sum(axis=0)
    size = np.sqrt(total / np.maximum(there.sum(axis=0), 1))
    return np.where(size > 0, size, 1.0)
