"""Histories as signals: gaps bridged, columns turned into features, all by one measure."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from eigenecho.forecasting.effect import KnownColumns
from eigenecho.forecasting.signal import Signal, bridged
from eigenecho.panels.panel import History, Panel
from eigenecho.types import Array


@dataclass(frozen=True, eq=False)
class Measures:
    """What series and their columns are measured by; nothing of it changes after a fit.

    Attributes
    ----------
    season : int
        By which gaps are bridged.
    units : mapping
        The usual step of each series, by name.
    known : KnownColumns or None
    past : array (P,)
        The usual step of columns that are known up to the present only.
    multivariate : bool
        Whether each series is shown the others as such columns.
    """

    season: int
    units: Mapping[Hashable, float] = field(default_factory=dict)
    known: KnownColumns | None = None
    past: Array = field(default_factory=lambda: np.zeros(0))
    multivariate: bool = False

    @classmethod
    def of(cls, panel: Panel, season: int, multivariate: bool) -> Measures:
        """Of the rows of a panel."""
        histories = panel.histories
        signals = [bridged(one.values, season).with_unit() for one in histories]
        known = [one.known for one in histories if one.known is not None and one.known.size]
        past = [one.past for one in histories if one.past is not None and one.past.size]
        return cls(
            season,
            {one.name: signal.unit for one, signal in zip(histories, signals, strict=True)},
            KnownColumns.of(known) if known else None,
            _steps(past) if past else np.zeros(0),
            multivariate,
        )

    @property
    def has_past(self) -> bool:
        """Whether there are columns beside the series'."""
        return self.multivariate or self.past.size > 0

    def signals(
        self, panel: Panel, ahead: Sequence[Array] = (), rows: Sequence[int] | None = None
    ) -> list[Signal]:
        """The histories of a panel, with rows (H, k) that are known ``ahead``.

        A series that has no unit yet has that of its first ``rows``.
        """
        found = []
        for i, history in enumerate(panel.histories):
            signal = bridged(history.values, self.season)
            unit = self.units.get(history.name)
            known = None if rows is None else max(int(rows[i]) + 1 - signal.start, 0)
            signal = signal.with_unit(known) if unit is None else replace(signal, unit=unit)
            if self.known is not None:
                assert history.known is not None
                columns = np.concatenate([history.known, *ahead[i : i + 1]])
                signal = replace(signal, known=self.known.features(columns)[signal.start :])
            found.append(signal)
        if self.has_past:
            found = [self._beside(i, panel.histories, found) for i in range(len(found))]
        return found

    def _beside(
        self, series: int, histories: Sequence[History], signals: Sequence[Signal]
    ) -> Signal:
        """A signal with what stands beside it, in its own units."""
        signal, history, columns = signals[series], histories[series], []
        if history.past is not None and self.past.size:
            columns.append(history.past[signal.start :] / self.past)
        if self.multivariate:
            # Before its first observation a series is as its first value: it does not move.
            for other in (*signals[:series], *signals[series + 1 :]):
                whole = np.concatenate([np.full(other.start, other.values[0]), other.values])
                columns.append(whole[signal.start :, None] / other.unit)
        beside = np.concatenate(columns, axis=1)
        return replace(signal, past=(beside - beside[:1]) * signal.unit)


def _steps(past: Sequence[Array]) -> Array:
    """The root mean square step of each column, over all series; 1 where it never moves."""
    squares = np.concatenate([np.diff(one, axis=0) ** 2 for one in past])
    size = np.sqrt(squares.mean(axis=0)) if len(squares) else np.zeros(past[0].shape[1])
    return np.where(size > 0, size, 1.0)
