"""Time stamps: which column of a table holds them, and the ways to read it."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np

from eigenecho.apps.tables.table import Table, TableError, need_pandas
from eigenecho.types import Array

NAMES = re.compile(r"^(date|time|datetime|timestamp|year|month|week|day|t|step|index|period)s?$")
"""Columns of numbers that count as time by their name, in small letters."""


CLOCK = re.compile(r"[T ]00:00(:00(\.0+)?)?\s*[-+]\d\d:?\d\d\s*$")
"""Midnight at some offset from UTC."""

NONE = "none"
"""In the place of a column's name: there is no time, rows are steps."""


def named(table: Table, column: str) -> tuple[str, list[Any]]:
    """A column and the ways to read it as times."""
    index = table.index(column, "--time")
    readings = list(_readings(table, index, strict=True))
    return column, readings


def detected(
    table: Table, used: Sequence[str], is_time: Callable[[Array], bool]
) -> tuple[str, list[Any]] | None:
    """The column that reads as times and is not ``used`` otherwise: the first of the best kind.

    Dates that differ from row to row, dates, numbers that have the name of a time and
    ``is_time`` agrees.
    """
    repeated: list[tuple[str, list[Any]]] = []
    counts: list[tuple[str, list[Any]]] = []
    for index, name in enumerate(table.names):
        if name in used or table.names.count(name) > 1:
            continue
        readings = list(_readings(table, index, strict=False))
        if readings and readings[0].dtype.kind == "M":
            if any(times.is_unique for times in readings):
                return name, readings
            repeated.append((name, readings))
        elif readings and is_time(readings[0]):
            counts.append((name, readings))
    return next(iter([*repeated, *counts]), None)


def _readings(table: Table, index: int, strict: bool) -> Iterator[Any]:
    """Ways to read a column as times; none where it is no such thing, unless ``strict``."""
    pandas = need_pandas()
    cells, name = table.columns[index], table.names[index]
    if cells.dtype.kind == "M":
        yield _complete(table, index, pandas.DatetimeIndex(cells))
        return
    numeric = _as_numbers(table, index)
    if numeric is None:
        if strict or _mostly_dates(cells, pandas):
            yield from _dates(table, index, pandas)
    elif strict or (NAMES.match(name.lower()) and not np.isnan(numeric).any()):
        yield _number_times(_complete(table, index, numeric), pandas)


def _mostly_dates(cells: Any, pandas: Any) -> bool:
    """Whether four in five of the first cells that say something read as dates."""
    sample = [cell for cell in cells if str(cell).strip()][:20]
    dates = [cell for cell in sample if _parsed([cell], pandas) is not None]
    return bool(sample) and len(dates) >= 0.8 * len(sample)


def _dates(table: Table, index: int, pandas: Any) -> Iterator[Any]:
    """A column of text as dates: the month first and, where that differs, the day first."""
    cells = table.columns[index]
    if is_local_days(cells):
        cells = [CLOCK.sub("", str(cell)) for cell in cells]
    whole = [_parsed(cells, pandas, dayfirst) for dayfirst in (False, True)]
    read = [times for times in whole if times is not None]
    if not read:
        raise TableError(_not_dates(table, index, pandas))
    for i, times in enumerate(read):
        if i == 0 or not times.equals(read[0]):
            yield _complete(table, index, times)


def _as_numbers(table: Table, index: int) -> Array | None:
    try:
        return table.numbers(index)
    except TableError:
        return None


def _number_times(numbers: Array, pandas: Any) -> Any:
    """Numbers such as 1987, 1987.5 or 19870131."""
    if np.all((numbers >= 19000101) & (numbers <= 21001231) & (numbers % 1 == 0)):
        text = pandas.Series(numbers.astype(np.int64).astype(str))
        dates = pandas.to_datetime(text, format="%Y%m%d", errors="coerce")
        if not dates.isna().any():
            return pandas.DatetimeIndex(dates)
    return numbers


def _parsed(cells: Any, pandas: Any, dayfirst: bool = False) -> Any:
    """Text as dates, or None; offsets from UTC are undone."""
    import warnings

    series = pandas.Series(list(map(str, cells)), dtype=object)
    series = series.where(series.str.strip() != "", None)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # about formats that it has to guess
        try:
            times = pandas.to_datetime(series, dayfirst=dayfirst, utc=True)
        except (ValueError, TypeError, OverflowError):
            try:  # with and without hours in one column
                times = pandas.to_datetime(series, format="ISO8601", utc=True)
            except (ValueError, TypeError, OverflowError):
                return None
    if times.isna().all():
        return None
    return pandas.DatetimeIndex(times).tz_localize(None)


def _not_dates(table: Table, index: int, pandas: Any) -> str:
    cells = table.columns[index]
    bad = [row for row, cell in enumerate(cells) if _parsed([cell], pandas) is None]
    shown = table.quoted(index, bad) if bad else f"{cells[0]!r} and others do not read alike"
    return (
        f"column {table.names[index]!r} does not read as dates: {shown}. "
        "Write them as 2024-12-31 or 2024-12-31 18:00, or name another column with --time."
    )


def _complete(table: Table, index: int, times: Any) -> Any:
    """Times, or numbers, of which none is missing."""
    missing = np.asarray(times) != np.asarray(times)  # as NaN and NaT are
    if missing.any():
        raise TableError(
            f"column {table.names[index]!r} is empty at {table.where(int(np.argmax(missing)))}: "
            "every row needs a time."
        )
    return times


def is_local_days(cells: Any) -> bool:
    """Whether texts are midnights with an offset from UTC: days of some place, summer or winter."""
    return bool(len(cells)) and all(CLOCK.search(str(cell).strip()) for cell in cells)


def in_utc(table: Table, name: str) -> tuple[str, ...]:
    """A note where times came with an offset from UTC."""
    index = table.names.index(name)
    cells = table.columns[index]
    offset = name in table.utc or (
        isinstance(cells[0], str)
        and re.search(r":\d\d(\.\d+)?\s*(Z|[-+]\d\d:?\d\d)$", cells[0])
        and not is_local_days(cells)
    )
    return ("times are given in UTC",) if offset else ()
