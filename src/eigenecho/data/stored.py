"""Labels and times of series in files."""

from __future__ import annotations

import re
from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from eigenecho.data.clock import Clock, as_numbers, is_date, shown
from eigenecho.errors import Words, bad_argument
from eigenecho.types import Array

TYPES = re.compile(
    r"object|str|string|category|bool|boolean|(u?int|U?Int|float|Float)(8|16|32|64)"
    r"|datetime64\[(s|ms|us|ns)(, [\w/+:-]+)?\]"
)
"""Types of an index that are stored. Labels of other types are loaded as objects."""
TIME_TYPES = re.compile(r"datetime64\[(s|ms|us|ns)(?:, (.+))?\]|period\[(.+)\]")
MONTHS = "months "
"""Prefix of steps to the same day of a later month, which have no alias in pandas."""
YEARS = (1, 9000)
"""First and last year of dates in files. Later dates are left for forecasts."""


@dataclass(frozen=True)
class Labels:
    """The labels of an index, the names of its levels, and its type.

    The type of a MultiIndex is "levels".
    """

    items: tuple[Hashable, ...]
    levels: tuple[Hashable, ...]
    kind: str

    @classmethod
    def of(cls, index: Any) -> Labels:
        """Return the labels of a pandas index."""
        kind = str(index.dtype) if TYPES.fullmatch(str(index.dtype)) else "object"
        return cls(tuple(index), tuple(index.names), "levels" if index.nlevels > 1 else kind)

    def restored(self) -> Any:
        """Return a pandas index, or raise an error if its labels are not unique."""
        import pandas

        if self.kind == "levels":
            index = pandas.MultiIndex.from_tuples(self.items, names=self.levels)
        elif TYPES.fullmatch(self.kind):
            name = self.levels[0]
            index = pandas.Index(list(self.items), dtype=self.kind, name=name, tupleize_cols=False)
        else:
            raise bad_argument("kind", self.kind, "the type of a pandas index")
        if not len(index) or not index.is_unique or len(self.levels) != index.nlevels:
            raise bad_argument("labels", Words("inconsistent labels"), "unique labels with names")
        return index


@dataclass(frozen=True, eq=False)
class Times:
    """The last time of each series as a number, the type of the times, and the steps."""

    last: Array
    dtype: str
    steps: tuple[Hashable, ...]

    @classmethod
    def of(cls, clocks: Sequence[Clock]) -> Times:
        """Return the times of clocks, or raise an error if they cannot be restored."""
        dtype = str(clocks[0].times.dtype)
        last = np.array([as_numbers(clock.times)[-1] for clock in clocks])
        times = cls(last, dtype, tuple(_to_word(clock.step) for clock in clocks))
        try:
            is_same = _ends(times.restored()) == _ends(clocks)
        except (ArithmeticError, LookupError, OSError, TypeError, ValueError):
            is_same = False
        if not is_same:
            got = Words(f"times of type {dtype} with a step of {times.steps[0]!r}")
            raise bad_argument("y", got, "a step and a time zone that can be stored by name")
        return times

    def restored(self) -> tuple[Clock, ...]:
        """Return the clock of each series; series with equal clocks share one object."""
        if not self.steps or self.last.shape != (len(self.steps),):
            got = Words(f"shape {self.last.shape}")
            raise bad_argument("last", got, f"the last times of {len(self.steps)} series")
        times, keys = self._times(), list(zip(self.last.tolist(), self.steps, strict=True))
        clocks: dict[Any, Clock] = {}
        for i, key in enumerate(keys):
            if key not in clocks:
                clock = Clock(times[i : i + 1], _from_word(self.steps[i], times))
                after = clock.ahead(2)
                if len(after) != 2 or not clock.times[0] < after[0] < after[1]:
                    raise bad_argument("steps", clock.step, "a positive step")
                _ = clock.cycles, clock.words  # raise an error if they are undefined
                clocks[key] = clock
        return tuple(clocks[key] for key in keys)

    def _times(self) -> Any:
        last, types = self.last, TIME_TYPES.fullmatch(self.dtype)
        if self.dtype in ("int64", "float64") and last.dtype == self.dtype:
            return last
        if types is None or last.dtype != np.int64:
            raise bad_argument("dtype", self.dtype, "dates, periods or numbers")
        import pandas

        unit, zone, frequency = types.groups()
        if frequency is not None:
            times = pandas.PeriodIndex.from_ordinals(last, freq=frequency)
        else:
            times = pandas.DatetimeIndex(last.view(f"M8[{unit}]"))
        if times.isna().any() or not ((times.year >= YEARS[0]) & (times.year <= YEARS[1])).all():
            expected = f"dates in the years {YEARS[0]} to {YEARS[1]}"
            raise bad_argument("last", Words("dates that are out of range"), expected)
        return times if zone is None else times.tz_localize("UTC").tz_convert(zone)


def _to_word(step: Any) -> Any:
    """Return a step as a number or as text."""
    months = getattr(step, "kwds", {}).get("months")
    if months is not None and type(step).__name__ == "DateOffset":
        return f"{MONTHS}{months}"
    if hasattr(step, "freqstr"):
        return step.freqstr
    return step.item() if isinstance(step, np.generic) else step


def _from_word(word: Any, times: Any) -> Any:
    if not is_date(times):
        is_number = type(word) in (int, float) and 0 < word < 2**53
        if not is_number or (type(word) is float and times.dtype != np.float64):
            raise bad_argument("steps", word, "a positive number of the type of the times")
        return word
    import pandas

    if not isinstance(word, str):
        raise bad_argument("steps", word, "the alias of a pandas offset")
    if word.startswith(MONTHS):
        return pandas.DateOffset(months=int(word.removeprefix(MONTHS)))
    return pandas.tseries.frequencies.to_offset(word)


def _ends(clocks: Sequence[Clock]) -> list[tuple[Any, str]]:
    """Return the step and the last time of each clock."""
    ends = {clock: (clock.step, shown(clock.times[-1:])) for clock in dict.fromkeys(clocks)}
    return [ends[clock] for clock in clocks]
