"""Storage of panels in files: the rows of all series, and the caller's format."""

from __future__ import annotations

import re
from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from eigenecho.checks import check_floats
from eigenecho.data.align import Columns, History
from eigenecho.data.clock import Clock, as_numbers, is_date, shown
from eigenecho.data.panel import Panel
from eigenecho.data.read import PanelFormat
from eigenecho.errors import Words, bad_argument, counted
from eigenecho.schema import stands_for
from eigenecho.types import Array, GappyArray

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


@stands_for(Panel)
@dataclass(frozen=True, eq=False)
class StoredPanel:
    """The stored form of a ``Panel``.

    Times and columns of X that are shared by all series are stored once. The labels of arrays are
    not stored.
    """

    labels: Labels | None
    columns: Columns
    form: PanelFormat
    times: Times
    series: tuple[GappyArray, ...]
    known: tuple[Array, ...]
    past: tuple[GappyArray, ...]

    @classmethod
    def of(cls, panel: Panel) -> StoredPanel:
        """Return the stored form of a panel."""
        histories, form = panel.histories, panel.form
        different = histories[:1] if form.shared else histories
        return cls(
            None if form.is_array else Labels.of(panel.labels),
            panel.columns,
            form,
            Times.of([history.clock for history in different]),
            tuple(history.values for history in histories),
            tuple(history.known for history in different),
            tuple(history.past for history in different),
        )

    def restored(self) -> Panel:
        """Return the panel, or raise an error if its parts are inconsistent."""
        form, columns, labels = self.form, self.columns, self._read_labels()
        for values in self.series:
            check_floats(values, "series", None)
            if np.isnan(values).all():
                raise bad_argument("series", Words("only NaN"), "at least one observation")
        lengths = [len(values) for values in self.series]
        if form.shared and len(set(lengths)) > 1:
            raise bad_argument("series", Words("series of different lengths"), "equal lengths")
        clocks = self._each("times", self.times.restored())
        if form.is_range and type(clocks[0].step) is not int:
            raise bad_argument("is_range", True, "False, because the step is not an integer")
        if form.is_array and [clock.times[-1] + 1 for clock in clocks] != lengths:
            raise bad_argument("times", Words("times that are not row numbers"), "row numbers")
        # Columns are contiguous in memory, because the rounding of sums depends on the order.
        known = self._each("known", tuple(map(np.asfortranarray, self.known)))
        past = self._each("past", tuple(map(np.asfortranarray, self.past)))
        for i, length in enumerate(lengths):
            check_floats(known[i], "known", None, len(columns.known))
            check_floats(past[i], "past", length, len(columns.past))
            if len(known[i]) < length:
                raise bad_argument("known", Words(f"{len(known[i])} rows"), f"at least {length}")
        histories = map(History, labels, self.series, clocks, known, past)
        return Panel(tuple(histories), labels, columns, form)

    def _read_labels(self) -> Any:
        """Return the labels of the series: stored labels, numbers for arrays, or (None,)."""
        form, count = self.form, len(self.series)
        if form.is_array != (self.labels is None):
            raise bad_argument("labels", self.labels, "labels for frames, and None for arrays")
        if form.is_array and not (form.is_range and form.frame is None):
            raise bad_argument("is_range", form.is_range, "True for arrays, without a frame")
        labels: Any = (None,) if form.kind == "single" else tuple(range(count))
        if self.labels is not None:
            labels = self.labels.restored()
        if len(labels) != count or not count or (form.kind == "series" and count > 1):
            got = Words(counted(len(labels), "label"))
            raise bad_argument("labels", got, f"one label for each of {count} series")
        return labels

    def _each(self, name: str, items: tuple[Any, ...]) -> tuple[Any, ...]:
        """Return one item per series, repeating the item if all series share it."""
        count = len(self.series)
        if len(items) != (1 if self.form.shared else count):
            raise bad_argument(name, Words(counted(len(items), "item")), "one item for each series")
        return items * count if self.form.shared else items


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
