"""One series as filters take it: without gaps, beside the columns that go with it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import NamedTuple

import numpy as np

from eigenecho.types import Array

NONE = np.zeros((0, 0))


class RemovedEffects(NamedTuple):
    """What is taken off a series, or its logarithms, before filters see it."""

    logarithm: bool
    known: bool = False
    calendar: bool = False


@dataclass(frozen=True, eq=False)
class Signal:
    """Values (T,) without gaps, from the first observation on, and which were observed.

    Attributes
    ----------
    values, observed : arrays (T,)
    start : int
        Rows of the caller's before the first observation.
    unit : float
        The usual size of a step, in which series are compared; 1 for a constant series.
    known : array (T + ahead, F)
        What is known ahead acts on the row that it stands at.
    past : array (T, P)
        What is known up to the present only, in usual steps.
    shifts : mapping of RemovedEffects to arrays (T + H,)
        By how much what is known moves each row.
    still : bool
        Whether it never moved: nothing moves it then.
    growth : float
        The usual size of a step of its logarithms.
    """

    values: Array
    observed: Array
    start: int = 0
    unit: float = 1.0
    known: Array = field(default_factory=lambda: NONE)
    past: Array = field(default_factory=lambda: NONE)
    shifts: Mapping[RemovedEffects, Array] = field(default_factory=dict)
    still: bool = False
    growth: float = 1.0

    @property
    def truth(self) -> Array:
        """Values, NaN where nothing was observed: nothing is learnt or measured there."""
        return np.where(self.observed, self.values, np.nan)

    def beside(self, logarithm: bool) -> Array:
        """What is known up to the present only, in units of the series or of its logarithms."""
        return self.past * (0.0 if self.still else self.step(logarithm))

    def step(self, logarithm: bool) -> float:
        """Return the usual size of a step, of the values or of their logarithms."""
        return self.growth if logarithm else self.unit

    def __len__(self) -> int:
        return len(self.values)

    def last(self, rows: int) -> Signal:
        """The last rows, with what is known after them."""
        cut = max(len(self) - rows, 0)
        return replace(
            self,
            values=self.values[cut:],
            observed=self.observed[cut:],
            known=self.known[cut:],
            past=self.past[cut:],
            shifts={moved: shift[cut:] for moved, shift in self.shifts.items()},
        )

    def first(self, rows: int) -> Signal:
        """The first rows, with all that is known after them."""
        return replace(
            self,
            values=self.values[:rows],
            observed=self.observed[:rows],
            past=self.past[:rows],
        )

    def with_unit(self, rows: int | None = None, otherwise: float = 0.0) -> Signal:
        """The signal with the unit of its first rows; another one where these do not move."""
        seen = self.values[:rows]
        size = usual_step(seen) or otherwise
        return replace(self, unit=size or 1.0, still=not size)


def moving(signals: Sequence[Signal]) -> list[int]:
    """Return the numbers of the series that are not constant, or of all series if none moves."""
    return [i for i, one in enumerate(signals) if not one.still] or list(range(len(signals)))


def usual_step(values: Array) -> float:
    """The root mean square of the steps of a series (T,); 0 where it does not move."""
    steps = np.diff(values)
    return float(np.sqrt(np.mean(steps**2))) if len(steps) else 0.0


def bridged(values: Array, season: int = 1) -> Signal:
    """A series (T,) with NaN where nothing was observed; no gap is bridged by a later row.

    A missing row goes on from the one before: by the step that was observed a season ago, else by
    the mean step of what was observed so far.
    """
    observed = ~np.isnan(values)
    start = int(np.argmax(observed)) if observed.any() else len(values)
    filled, observed = values[start:].copy(), observed[start:]
    last = np.maximum.accumulate(np.where(observed, np.arange(len(filled)), 0))
    for t in np.flatnonzero(~observed):
        before = t - season
        if season > 1 and before > 0 and observed[before] and observed[before - 1]:
            step = filled[before] - filled[before - 1]
        else:
            step = (filled[last[t]] - filled[0]) / max(last[t], 1)
        filled[t] = filled[t - 1] + step
    return Signal(filled, observed, start)


def seen(signal: Signal, logarithm: bool) -> Array:
    """Return values in their unit, or their logarithms.

    A value without a logarithm takes the last one before it, and at the start of a series the first
    one after it.
    """
    values = signal.values
    if not logarithm:
        return values / signal.unit
    has = values > 0
    last = np.maximum.accumulate(np.where(has, np.arange(len(values)), 0))
    first = values[np.argmax(has)] if has.any() else 1.0
    return np.log(np.where(has[last], values[last], first))
