"""Parsing of text columns as numbers and dates. Ambiguous cells raise an error."""

from __future__ import annotations

import re
from collections.abc import Iterable
from itertools import islice
from typing import Any

import numpy as np

from eigenecho.checks import LARGEST_NUMBER
from eigenecho.data.read_file import FileFormat

MISSING = ("", "na", "n/a", "nan", "null", "none", "<na>")
"""Cells, in lower case, that represent a missing value."""

DATE = r"\d{4}[-/]\d\d?(?:[-/]\d\d?)?(?:[T ].*)?"
QUARTER = r"\d{4}-?Q[1-4]"
OFFSET = r".*:\d\d(?:\.\d+)?\s*(?:Z|[-+]\d\d:?\d\d)"
"""Regular expressions of ISO dates, quarters, and times with an offset from UTC."""

COUNT = r"-?(?:0|[1-9]\d*)(?:\.\d+)?"
COMPACT_DATE = r"(?:19|20)\d{4,6}|\d\d(?:0[1-9]|1[0-2])(?:0[1-9]|[12]\d|3[01])"
"""Regular expressions of numbers in time columns, and of those that may be dates, such as 202401,
20240131 and 240131."""

SHOWN = 3
"""Maximum number of cells or rows that an error message lists."""

NO_TIME = "none"
"""Value of ``time`` for tables without a time column, in which each row is one step."""

TIME_OPTIONS = (
    "Specify --date-format, such as %d/%m/%Y or %Y%m, another --time column, or --time none if "
    "each row is one step."
)


def listed(texts: Iterable[str], count: int) -> str:
    """Join the first ``SHOWN`` of ``count`` texts, and state how many were omitted."""
    more = f"; and {count - SHOWN} more" if count > SHOWN else ""
    return "; ".join(islice(texts, SHOWN)) + more


def places(cells: Any) -> str:
    """Return the line numbers and contents of cells for an error message."""
    row = cells.index.name
    texts = (f"{row} {line} contains {str(cell)!r}" for line, cell in cells.items())
    return listed(texts, len(cells))


def check_filled(cells: Any, wanted: str) -> None:
    """Raise an error if a cell of a column is empty."""
    empty = cells[cells.isna() | (cells.astype(str).str.strip() == "")]
    if len(empty):
        row = f"{empty.index.name} {empty.index[0]}"
        raise ValueError(f"Column {cells.name!r} is empty in {row}: each row must have {wanted}.")


def read_numbers(frame: Any, name: str, form: FileFormat) -> Any:
    """Convert a column to a Series of float64, with NaN for missing values."""
    cells = frame[name]
    if cells.dtype.kind in "iufb":
        values = cells.astype("Float64").astype(np.float64)
    else:
        texts = cells.astype(object).where(cells.notna(), "").astype(str).str.strip()
        texts = texts[~texts.str.lower().isin(MISSING)]
        values = _convert(texts, form).reindex(cells.index)
        wrong = texts[values[texts.index].isna()]
        if len(wrong):
            raise ValueError(
                f"Column {name!r} has cells that are not numbers: {places(wrong)}. Specify "
                "--decimal or --thousands if numbers have another format. Leave missing cells "
                "empty, and encode categories as numbers, such as 0 and 1."
            )
        _check_points(name, texts, form)
    large = cells[values.abs() > LARGEST_NUMBER]
    if len(large):
        limit = f"{LARGEST_NUMBER:g}"
        raise ValueError(f"Column {name!r} has absolute values above {limit}: {places(large)}.")
    return values


def _convert(texts: Any, form: FileFormat) -> Any:
    """Convert texts to numbers, with NaN for texts that are not numbers in the given format."""
    decimal = form.decimal or ("," if form.thousands == "." else ".")
    mark, whole = re.escape(decimal), r"\d+"
    if form.thousands is not None:
        whole = rf"(?:\d+|[1-9]\d{{0,2}}(?:{re.escape(form.thousands)}\d{{3}})+)"
    is_number = texts.str.fullmatch(rf"[-+]?(?:{whole}(?:{mark}\d*)?|{mark}\d+)(?:[eE][-+]?\d+)?")
    numbers = texts.where(is_number).str.replace(form.thousands or "", "", regex=False)
    return numbers.str.replace(decimal, ".", regex=False).astype(np.float64)


def _check_points(name: str, texts: Any, form: FileFormat) -> None:
    """Raise an error if points may be either decimal points or thousands separators.

    A column is unambiguous if it contains a number such as 0.5, 12.25 or 1234.
    """
    if form.decimal or form.thousands:
        return
    pointed = texts[texts.str.contains(".", regex=False)]
    grouped = pointed.str.fullmatch(r"[-+]?[1-9]\d{0,2}(?:\.\d{3})+")
    if len(pointed) and grouped.all() and not texts.str.fullmatch(r"[-+]?\d{4,}").any():
        raise ValueError(
            f"Column {name!r} is ambiguous, because its points may separate decimals or thousands: "
            f"{places(pointed)}. Use --decimal . or --thousands ."
        )


def find_time(frame: Any, used: list[str], form: FileFormat) -> str:
    """Return the name of the only column whose first cell is a date.

    Return ``NO_TIME`` if all columns are used for other purposes.
    """
    others = [name for name in frame.columns if name not in used]
    dates = [name for name in others if _is_date(frame[name], form)]
    if len(dates) > 1:
        names = " and ".join(map(repr, dates))
        raise ValueError(f"The columns {names} contain dates. Specify --time.")
    if others and not dates:
        texts = (f"{name!r} contains {str(frame[name].iloc[0])!r}" for name in others)
        row = f"{frame.index.name} {frame.index[0]}"
        raise ValueError(
            f"No column contains dates such as 2024-12-31: in {row}, "
            f"{listed(texts, len(others))}. {TIME_OPTIONS}"
        )
    return dates[0] if dates else NO_TIME


def _is_date(cells: Any, form: FileFormat) -> bool:
    """Return True if the first cell that is not empty is a date."""
    if cells.dtype.kind == "M" or str(cells.dtype).startswith("period"):
        return True
    texts = cells.astype(str).str.strip()
    first = texts[texts != ""].iloc[:1]
    if form.date_format is None:
        first = first[first.str.fullmatch(f"{DATE}|{QUARTER}")]
    return bool(_parse(first, form).notna().any())


def read_times(frame: Any, name: str, form: FileFormat) -> tuple[Any, str]:
    """Return a column as numbers or dates without a time zone, and a note about the time zone."""
    cells = frame[name]
    check_filled(cells, "a time")
    if str(cells.dtype).startswith("period"):
        return cells.dt.to_timestamp(), ""
    if cells.dtype.kind == "M":
        return _without_zone(cells)
    texts = cells.astype(str).str.strip()
    if form.date_format is None and texts.str.fullmatch(COUNT).all():
        if texts.str.fullmatch(COMPACT_DATE).all():
            example = places(texts.iloc[:1])
            raise ValueError(f"Column {name!r} may contain dates: {example}. {TIME_OPTIONS}")
        values = texts.astype(np.float64)
        return values if (values % 1 != 0).any() else values.astype(np.int64), ""
    return _read_dates(name, texts, form)


def _without_zone(cells: Any) -> tuple[Any, str]:
    """Convert dates to UTC, or to days if all are local midnights."""
    if cells.dt.tz is None:
        return cells, ""
    local = cells.dt.tz_localize(None)
    if (local == local.dt.normalize()).all():
        return local, ""
    return cells.dt.tz_convert("UTC").dt.tz_localize(None), "times are in UTC"


def _read_dates(name: str, texts: Any, form: FileFormat) -> tuple[Any, str]:
    has_offset = texts.str.fullmatch(OFFSET)
    if has_offset.any() and not has_offset.all():
        wrong = places(texts[~has_offset])
        raise ValueError(f"Column {name!r} contains times with and without an offset: {wrong}.")
    note = "times are in UTC" if has_offset.any() else ""
    if note and texts.str.contains(r"[T ]00:00(?::00(?:\.0+)?)?\s*(?:Z|[-+][\d:]+)$").all():
        # In UTC, the step between local days would change with daylight saving time.
        texts, note = texts.str[:10], ""
    dates = _parse(texts, form)
    wrong = texts[dates.isna()]
    if len(wrong):
        raise ValueError(
            f"Column {name!r} has cells that are not dates such as 2024-12-31 or 2024-12-31 18:00: "
            f"{places(wrong)}. {TIME_OPTIONS}"
        )
    return dates, note


def _parse(texts: Any, form: FileFormat) -> Any:
    """Parse texts as dates, in UTC if they have an offset; return NaT for other texts."""
    import pandas

    if form.date_format is None and texts.str.fullmatch(QUARTER).all():
        quarters = pandas.PeriodIndex(texts, freq="Q").to_timestamp()
        return pandas.Series(quarters, texts.index)
    try:
        dates = pandas.to_datetime(
            texts, format=form.date_format or "ISO8601", errors="coerce", utc=True
        )
    except ValueError as error:
        raise ValueError(f"Invalid --date-format {form.date_format!r}: {error}.") from None
    return dates.dt.tz_localize(None)
