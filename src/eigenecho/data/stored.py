"""Panels in files: the rows of all series, and the caller's format."""

from __future__ import annotations

import re
from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from eigenecho.checks import check_known
from eigenecho.data.clock import Clock, as_numbers, is_date, texts
from eigenecho.data.containers import PanelFormat
from eigenecho.data.panel import Columns, History, Panel
from eigenecho.data.read import ARRAYS, KINDS, LARGEST, LongNames
from eigenecho.errors import Words, bad_argument
from eigenecho.frames import FrameFormat
from eigenecho.schema import stands_for
from eigenecho.types import Array, GappyArray

TYPES = re.compile(
    r"object|str|string|category|bool|boolean|(u?int|U?Int|float|Float)(8|16|32|64)"
    r"|datetime64\[(s|ms|us|ns)(, [\w/+:-]+)?\]"
)
"""Types of an index that are stored; labels of others are loaded as objects."""
TIME_TYPES = re.compile(r"datetime64\[(s|ms|us|ns)(?:, (.+))?\]|period\[(.+)\]")
MONTHS = "months "
"""Prefix of a step of several months on the same day of the month, which has no name in pandas."""
YEARS = (1, 9000)
"""First and last year of dates in files, so that forecasts do not run out of dates."""


@dataclass(frozen=True)
class Labels:
    """The labels of an index, its type ("levels" for several levels), and the level names.

    Arrays have a tuple of numbers, of type "numbers".
    """

    items: tuple[Hashable, ...]
    levels: tuple[Hashable, ...]
    kind: str

    @classmethod
    def of(cls, index: Any) -> Labels:
        """Return the labels of a pandas index, or of a tuple."""
        if isinstance(index, tuple):
            return cls(index, (), "numbers")
        kind = str(index.dtype) if TYPES.fullmatch(str(index.dtype)) else "object"
        return cls(tuple(index), tuple(index.names), "levels" if index.nlevels > 1 else kind)

    def restored(self) -> Any:
        """Return an index of unique labels, or a tuple."""
        if self.kind == "numbers":
            return self.items
        import pandas

        if self.kind == "levels":
            index = pandas.MultiIndex.from_tuples(self.items, names=self.levels)
        elif TYPES.fullmatch(self.kind):
            name = self.levels[0]
            index = pandas.Index(list(self.items), dtype=self.kind, name=name, tupleize_cols=False)
        else:
            raise bad_argument("kind", self.kind, "a type of labels")
        if not len(index) or not index.is_unique or len(self.levels) != index.nlevels:
            raise bad_argument("labels", Words(f"{len(index)} labels"), "unique labels")
        return index


@dataclass(frozen=True, eq=False)
class Times:
    """The last time of each series as a number, the type of times, and the step.

    ``steps`` has one entry for all series, or one each.
    """

    last: Array
    dtype: str
    steps: tuple[Hashable, ...]

    @classmethod
    def of(cls, clocks: Sequence[Clock]) -> Times:
        """Return the times of clocks, if they can be restored."""
        dtype = str(clocks[0].times.dtype)
        last = np.array([as_numbers(clock.times)[-1] for clock in clocks])
        words = tuple(_to_word(clock.step) for clock in clocks)
        sample = dict(zip(words, clocks, strict=True))
        some = np.array([as_numbers(clock.times)[-1] for clock in sample.values()])
        try:
            again = cls(some, dtype, tuple(sample)).restored()
            is_same = all(map(_continue_alike, again, sample.values()))
        except (ArithmeticError, LookupError, OSError, TypeError, ValueError):
            is_same = False
        if not is_same:
            got = Words(f"times of type {dtype} in steps of {words[0]!r}")
            raise bad_argument("y", got, "steps and a time zone that a file can hold by name")
        return cls(last, dtype, words[:1] if len(sample) == 1 else words)

    def restored(self) -> tuple[Clock, ...]:
        """Return clocks that are able to continue."""
        last, words = self.last, self.steps
        if last.ndim != 1 or not len(last) or last.dtype not in (np.int64, np.float64):
            raise bad_argument("last", Words(f"{last.dtype} {last.shape}"), "a time per series")
        times = self._times()
        if len(words) not in (1, len(last)):
            raise bad_argument("steps", words, "a step for each series")
        steps = {word: _from_word(word, times) for word in dict.fromkeys(words)}
        clocks = tuple(
            Clock(times[i : i + 1], steps[words[i % len(words)]]) for i in range(len(last))
        )
        for clock in clocks:
            after = clock.ahead(2)
            if len(after) != 2 or not clock.times[0] < after[0] < after[1]:
                raise bad_argument("steps", clock.step, "a step forward")
        _ = clocks[0].cycles, clocks[0].words
        return clocks

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
            raise bad_argument("last", Words("times out of range"), f"dates in the years {YEARS}")
        return times if zone is None else times.tz_localize("UTC").tz_convert(zone)


@stands_for(PanelFormat)
@dataclass(frozen=True, eq=False)
class StoredFormat:
    """A ``PanelFormat``; times and rows ahead that all series share are stored once."""

    kind: str
    labels: Labels
    times: Times
    ahead: tuple[Array, ...]
    columns: Columns
    names: LongNames
    index_name: Hashable
    is_range: bool
    frame: FrameFormat | None

    @classmethod
    def of(cls, form: PanelFormat) -> StoredFormat:
        """Return the parts of a format."""
        own = slice(1 if form.shared else None)
        parts = vars(form) | {"labels": Labels.of(form.labels), "ahead": form.ahead[own]}
        return cls(times=Times.of(parts.pop("clocks")[own]), **parts)

    def restored(self) -> PanelFormat:
        """Return the format, if its parts are consistent."""
        check_known(self.kind, "kind", KINDS)
        labels, clocks, ahead = self.labels.restored(), self.times.restored(), self.ahead
        is_shared, is_array = self.kind not in ("list", "long"), self.kind in ARRAYS
        numbers = (None,) if self.kind == "single" else tuple(range(len(labels)))
        if is_array != isinstance(labels, tuple) or (is_array and labels != numbers):
            raise bad_argument("labels", labels, "labels of the series")
        if is_array and not (self.is_range and self.columns.numbered and self.frame is None):
            raise bad_argument("is_range", self.is_range, "rows of arrays")
        if self.is_range and type(clocks[0].step) is not int:
            raise bad_argument("is_range", True, "False, unless steps are integers")
        count = 1 if is_shared else len(labels)
        if not count or len(clocks) != count or len(ahead) != count:
            raise bad_argument("times", Words(f"{len(clocks)} times"), f"{count} times")
        for rows in ahead:
            check_floats(rows, "ahead", None, len(self.columns.known))
        if self.kind in ("series", "single") and len(labels) != 1:
            raise bad_argument("labels", len(labels), "one series")
        if is_shared:
            clocks, ahead = clocks * len(labels), ahead * len(labels)
        rest = self.columns, self.names, self.index_name, self.is_range, self.frame
        return PanelFormat(self.kind, labels, clocks, ahead, *rest)


@stands_for(Panel)
@dataclass(frozen=True, eq=False)
class StoredPanel:
    """A ``Panel``: values of each series, and columns of X, once if all series share them."""

    holder: PanelFormat
    series: tuple[GappyArray, ...]
    known: tuple[Array, ...]
    past: tuple[GappyArray, ...]

    @classmethod
    def of(cls, panel: Panel) -> StoredPanel:
        """Return the parts of a panel."""
        form = panel.container
        beside = panel.histories[:1] if form.shared else panel.histories
        known = tuple(history.known for history in beside if history.known is not None)
        past = tuple(history.past for history in beside if history.past is not None)
        return cls(form, tuple(history.values for history in panel.histories), known, past)

    def restored(self) -> Panel:
        """Return the panel, if its parts are consistent."""
        form, series = self.holder, self.series
        count, columns = len(form.labels), form.columns
        if len(series) != count or (form.shared and len({len(one) for one in series}) > 1):
            raise bad_argument("series", Words(f"{len(series)} series"), f"rows of {count}")
        for values in series:
            check_floats(values, "series", None)
            if np.isnan(values).all():
                raise bad_argument("series", Words("nothing but NaN"), "observations")
        if form.kind in ARRAYS and any(
            clock.times[-1] != len(values) - 1
            for clock, values in zip(form.clocks, series, strict=True)
        ):
            raise bad_argument("times", Words("other times"), "row numbers")
        known = self._columns("known", len(columns.known))
        past = self._columns("past", len(columns.past))
        histories = tuple(map(History, form.labels, series, known, past))
        names = columns.names(columns.known), columns.names(columns.past)
        return Panel(histories, form.clocks[0].cycles, form, *names)

    def _columns(self, name: str, width: int) -> Sequence[Array | None]:
        """Return columns (T, width) of each series, None if there are none."""
        columns, count = getattr(self, name), len(self.series)
        beside = self.series[:1] if self.holder.shared else self.series
        if len(columns) != len(beside) * bool(width):
            raise bad_argument(name, Words(f"{len(columns)} arrays"), f"{width} columns of X")
        for rows, values in zip(columns, beside, strict=False):
            check_floats(rows, name, len(values), width)
        if not width:
            return [None] * count
        return columns * count if self.holder.shared else columns


def check_floats(array: Array, name: str, *shape: int | None) -> None:
    """Raise unless an array is float64, has a shape (None for any length) and is not too large."""
    fits = array.ndim == len(shape) and all(
        wanted in (None, length) for length, wanted in zip(array.shape, shape, strict=True)
    )
    if not fits or array.dtype != np.float64:
        got = Words(f"{array.dtype} {array.shape}")
        raise bad_argument(name, got, f"float64 {tuple(shape)}".replace("None", "any"))
    if (np.abs(array) > LARGEST).any():
        raise bad_argument(name, Words("large numbers"), f"numbers up to {LARGEST:g}")


def _to_word(step: Any) -> Any:
    """Return a step as a number or text."""
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
            raise bad_argument("steps", word, "a positive number")
        return word
    import pandas

    if not isinstance(word, str):
        raise bad_argument("steps", word, "the name of an offset")
    if word.startswith(MONTHS):
        return pandas.DateOffset(months=int(word.removeprefix(MONTHS)))
    return pandas.tseries.frequencies.to_offset(word)


def _continue_alike(one: Clock, other: Clock) -> bool:
    """Return True if clocks continue with the same local times."""
    return bool(one.step == other.step and texts(one.times[-1:]) == texts(other.times[-1:]))
