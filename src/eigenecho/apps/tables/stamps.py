"""Time stamps: which column of a table holds them, and the ways to read it."""

from __future__ import annotations

import re
import warnings
from collections.abc import Callable, Iterator, Sequence
from itertools import islice
from typing import Any, NamedTuple

import numpy as np

from eigenecho.apps.tables.table import MISSING, Table, TableError, all_numbers, need_pandas
from eigenecho.data.clock import with_room
from eigenecho.types import Array

NAMES = re.compile(r"^(date|time|datetime|timestamp|year|month|week|day|t|step|index|period)s?$")
"""Columns of numbers that count as time by their name, in small letters."""

CLOCK = re.compile(r"[T ]00:00(:00(\.0+)?)?\s*[-+]\d\d:?\d\d\s*$")
"""Midnight at some offset from UTC."""

OFFSET = re.compile(r":\d\d(\.\d+)?\s*(Z|[-+]\d\d:?\d\d)$")
HOURS = re.compile(r"\d{1,2}(:\d\d)+(\.\d+)?\s*([ap]\.?m\b\.?)?|\d{1,2}\s*[ap]m\b", re.IGNORECASE)
"""A time of day."""

YEAR = re.compile(r"\d{4}|([a-z]{3,}|\d+)\W+([a-z]{3,}|\d+)\W+\d", re.IGNORECASE)
"""What a date says at least, its hours aside: four digits, or a day, a month and a year."""

NONE = "none"
"""In the place of a column's name: there is no time, rows are steps."""

LOOKED_AT = 20
"""Cells by which it is seen whether a column is one of dates."""


class ParsedTimes(NamedTuple):
    """Times of all rows, and how Python reads them from a column ``{}`` of pandas."""

    times: Any
    code: str


def named(table: Table, column: str) -> tuple[str, list[ParsedTimes]]:
    """A column and the ways to read it as times."""
    return column, list(_readings(table, table.index(column, "--time"), strict=True))


def detected(
    table: Table, used: Sequence[str], groups: Sequence[Array], is_time: Callable[[Array], bool]
) -> tuple[str, list[ParsedTimes]] | None:
    """The column that reads as times and is not ``used`` otherwise: the first of the best kind.

    Dates that differ from row to row in each group, dates, numbers that have the name of a time
    and ``is_time`` agrees.
    """
    repeated, counts = [], []
    for index, name in enumerate(table.names):
        if name in used or table.names.count(name) > 1:
            continue
        readings = list(_readings(table, index, strict=False))
        if readings and readings[0].times.dtype.kind == "M":
            if any(all(one.times[rows].is_unique for rows in groups) for one in readings):
                return name, readings
            repeated.append((name, readings))
        elif readings and is_time(readings[0].times):
            counts.append((name, readings))
    return next(iter([*repeated, *counts]), None)


def in_utc(table: Table, name: str) -> tuple[str, ...]:
    """A note where times came with an offset from UTC."""
    cells = table.columns[table.names.index(name)]
    offset = name in table.utc or (OFFSET.search(str(cells[0])) and not _is_local_days(cells))
    return ("times are given in UTC",) if offset else ()


def _readings(table: Table, index: int, strict: bool) -> Iterator[ParsedTimes]:
    """Ways to read a column as times; none where it is no such thing, unless ``strict``."""
    pandas = need_pandas()
    cells, name = table.columns[index], table.names[index]
    if cells.dtype.kind == "M":
        code = "{}.dt.tz_convert('UTC').dt.tz_localize(None)" if name in table.utc else "{}"
        times = with_room(pandas.DatetimeIndex(cells))
        yield ParsedTimes(_complete(table, index, times), code)
        return
    said = [text for text in _sample(cells) if text.lower() not in MISSING]
    if not all_numbers(said, table.decimal):
        if strict or _mostly_dates(cells, pandas):
            yield from _dates(table, index, pandas)
    elif strict or NAMES.match(name.lower()):
        numbers = table.numbers(index)
        if strict or not np.isnan(numbers).any():
            yield _number_times(_complete(table, index, numbers), pandas)


def _mostly_dates(cells: Any, pandas: Any) -> bool:
    """Whether four in five of the first cells that say something read as dates."""
    sample = _sample(cells)
    dates = [text for text in sample if _is_dated(text) and _parsed([text], pandas) is not None]
    return bool(sample) and len(dates) >= 0.8 * len(sample)


def _sample(cells: Any) -> list[str]:
    """The first cells that say something."""
    said = (str(cell).strip() for cell in cells)
    return list(islice(filter(None, said), LOOKED_AT))


def _is_dated(text: str) -> bool:
    """Whether a text says a year: what does not would get that of today."""
    return bool(YEAR.search(HOURS.sub("", text)))


def _dates(table: Table, index: int, pandas: Any) -> Iterator[ParsedTimes]:
    """A column of text as dates: the month first and, where that differs, the day first."""
    cells, code = table.columns[index], "pd.to_datetime({})"
    for text in _sample(cells):
        if not _is_dated(text) and _parsed([text], pandas) is not None:
            raise TableError(
                f"column {table.names[index]!r} holds times without a year, such as {text!r}. "
                "Write whole dates, or count rows as steps with --time none."
            )
    if _is_local_days(cells):
        cells, code = [CLOCK.sub("", str(cell)) for cell in cells], "pd.to_datetime({}.str[:10])"
    elif in_utc(table, table.names[index]):
        code = "pd.to_datetime({}, utc=True).dt.tz_localize(None)"
    codes = (code, code.replace("(", "(dayfirst=True, arg=", 1))
    whole = [ParsedTimes(_parsed(cells, pandas, "dayfirst" in one), one) for one in codes]
    read = [one for one in whole if one.times is not None]
    if not read:
        raise TableError(_not_dates(table, index, pandas))
    for one in read[: 1 if len(read) < 2 or read[0].times.equals(read[1].times) else 2]:
        yield one._replace(times=_complete(table, index, one.times))


def _number_times(numbers: Array, pandas: Any) -> ParsedTimes:
    """Numbers such as 1987, 1987.5 or 19870131."""
    whole = bool(np.all(numbers % 1 == 0))
    if whole and np.all((numbers >= 19000101) & (numbers <= 21001231)):
        text = pandas.Series(numbers.astype(np.int64).astype(str))
        dates = pandas.to_datetime(text, format="%Y%m%d", errors="coerce")
        if not dates.isna().any():
            code = "pd.to_datetime({}.astype(str), format='%Y%m%d')"
            return ParsedTimes(pandas.DatetimeIndex(dates), code)
    is_counted = whole and bool(np.all(np.abs(numbers) < 2**53))
    return ParsedTimes(numbers.astype(np.int64) if is_counted else numbers, "{}")


def _parsed(cells: Any, pandas: Any, dayfirst: bool = False) -> Any:
    """Text as dates, or None; offsets from UTC are undone."""
    texts = _texts(cells, pandas)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # about formats that it has to guess
        try:
            times = pandas.to_datetime(texts, dayfirst=dayfirst, utc=True)
        except (ValueError, TypeError, OverflowError):
            try:  # with and without hours in one column
                times = pandas.to_datetime(texts, format="ISO8601", utc=True)
            except (ValueError, TypeError, OverflowError):
                return None
    if times.isna().all():
        return None
    return with_room(pandas.DatetimeIndex(times).tz_localize(None))


def _texts(cells: Any, pandas: Any) -> Any:
    texts = pandas.Series(list(map(str, cells)), dtype=object)
    return texts.where(texts.str.strip() != "", None)


def _not_dates(table: Table, index: int, pandas: Any) -> str:
    cells = table.columns[index]
    bad = _misfits(cells, pandas)
    shown = table.quoted(index, bad) if len(bad) else f"{cells[0]!r} and others do not read alike"
    return (
        f"column {table.names[index]!r} does not read as dates: {shown}. "
        "Write them as 2024-12-31 or 2024-12-31 18:00, or name another column with --time."
    )


def _misfits(cells: Any, pandas: Any) -> Array:
    """Rows not in the form that most cells have: a form is read much faster than guessed."""
    guess = pandas.tseries.api.guess_datetime_format
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # about days that do come first
        forms = {guess(text, dayfirst=first) for text in _sample(cells) for first in (False, True)}
    texts = _texts(cells, pandas)
    fewest = np.flatnonzero(texts.notna())
    for form in sorted({*forms, "ISO8601"} - {None}):
        read = pandas.to_datetime(texts, format=form, errors="coerce", utc=True)
        bad = np.flatnonzero(read.isna() & texts.notna())
        fewest = min(fewest, bad, key=len)
    return fewest


def _complete(table: Table, index: int, times: Any) -> Any:
    """Times, or numbers, of which none is missing."""
    missing = np.asarray(times) != np.asarray(times)  # as NaN and NaT are
    if missing.any():
        raise TableError(
            f"column {table.names[index]!r} is empty at {table.where(int(np.argmax(missing)))}: "
            "every row needs a time."
        )
    return times


def _is_local_days(cells: Any) -> bool:
    """Whether texts are midnights with an offset from UTC: days of some place, summer or winter."""
    return bool(len(cells)) and all(CLOCK.search(str(cell).strip()) for cell in cells)
