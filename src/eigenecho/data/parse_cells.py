"""Parsing of text columns as numbers and dates. Ambiguous cells raise an error."""

from __future__ import annotations

import re
import warnings
from collections.abc import Iterable
from itertools import islice
from typing import Any

import numpy as np

from eigenecho.checks import LARGEST_NUMBER
from eigenecho.data.read_file import FileFormat

MISSING = ("", "na", "n/a", "n.a.", "#n/a", "nan", "null", "none", r"\n", *"-–—?.", "--")
"""Cells, in lower case, that represent a missing value."""

CURRENCIES = "$€£¥₹₽₩₺₪₫₴₦"
MARKS = {".": r"\.", ",": ",", " ": "[ \u00a0\u2009\u202f]", "'": "['\u2019]"}
"""Regular expressions of decimal marks and thousands separators."""

CONVENTIONS = {
    "--decimal .": (".", ","), "--decimal ,": (",", "."),
    "--thousands ' '": (".", " "), "--decimal , --thousands ' '": (",", " "),
    '--thousands "\'"': (".", "'"), '--decimal , --thousands "\'"': (",", "'"),
}  # fmt: skip
"""Decimal marks and thousands separators that error messages suggest, by command-line option."""

DATES = (
    "%Y-%m-%d", "%d.%m.%Y", "%d/%m/%Y", "%m/%d/%Y", "%d-%m-%Y", "%m-%d-%Y",
    "%d.%m.%y", "%y.%m.%d", "%d/%m/%y", "%m/%d/%y", "%y/%m/%d", "%d-%m-%y", "%m-%d-%y", "%y-%m-%d",
    "%d %b %Y", "%d-%b-%Y", "%d/%b/%Y", "%d %b %y", "%d-%b-%y", "%d %B %Y", "%b %d, %Y",
    "%B %d, %Y", "%b %d %Y", "%B %d %Y", "%b %Y", "%B %Y", "%b-%Y", "%m/%Y", "%m.%Y", "%m-%Y",
)  # fmt: skip
TIMES = ("", " %H:%M", " %H:%M:%S", " %H:%M:%S.%f", " %I:%M %p", " %I:%M:%S %p", ", %H:%M")
DATE_FORMATS = [date + time for date in DATES for time in TIMES]
"""Formats that are tried if none is specified, in addition to ISO 8601."""

OFFSET = r"(?:Z|[-+]\d\d:?\d\d)"
"""Regular expression of offsets from UTC."""

TIME_NAMES = re.compile(
    r"(date|time|datetime|timestamp|year|month|week|day|t|step|index|period)s?|datum|zeit|jahr|monat"
    r"|woche|tag|ann[eé]e|mois|jour|fecha|a[nñ]o|mes|d[ií]a|data|mese|giorno"
)
"""Lower-case names of columns that are assumed to contain times even if they are not dates."""

MAY_BE_TIME = {
    "numbers": r"(19|20)\d\d(\d{3}|\.\d+)?|\d{6}|[34]\d{4}|1\d{9}(\d{3})?",
    "texts": r".*\d.*",
}
"""Patterns of cells that may be times, such as years, 2024031, 240131, spreadsheet dates, and Unix
times in seconds."""

SAMPLE = 20
"""Number of cells that are examined to detect columns of dates."""

SHOWN = 3
"""Maximum number of cells or rows that an error message lists."""


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
        texts = _texts(cells)
        values = _convert(texts, form)
        wrong = cells[values.isna() & texts.notna()]
        if len(wrong):
            readings = _readings(texts.dropna())
            if len(readings) != 1 or form.decimal or form.thousands:
                remedy = _remedy(texts.dropna(), readings)
                raise ValueError(
                    f"Column {name!r} has cells that are not numbers: {places(wrong)}. {remedy}"
                )
            values[texts.notna()] = next(iter(readings))
        else:
            _check_points(name, texts, form)
    large = cells[values.abs() > LARGEST_NUMBER]
    if len(large):
        limit = f"{LARGEST_NUMBER:g}"
        raise ValueError(f"Column {name!r} has absolute values above {limit}: {places(large)}.")
    return values


def _texts(cells: Any) -> Any:
    """Return cells as text without spaces at the ends and currency signs, or None if missing."""
    import pandas

    words = (str(cell).strip() for cell in cells.astype(object).where(cells.notna(), ""))
    texts = [None if word.lower() in MISSING else word.replace("\u2212", "-") for word in words]
    signs = sorted(set(CURRENCIES).intersection("".join(filter(None, texts))))
    series = pandas.Series(texts, cells.index, dtype=object)
    if len(signs) == 1:
        sign = re.escape(signs[0])
        pattern = rf"^([-+]?)\s*{sign}\s*([-+]?)|\s*{sign}$"
        series = series.str.replace(pattern, r"\1\2", regex=True)
    return series


def _convert(texts: Any, form: FileFormat) -> Any:
    """Convert texts to numbers, with NaN for texts that are not numbers in the given format."""
    decimal = form.decimal or ("," if form.thousands == "." else ".")
    other = {".": ",", ",": "."}[decimal] if form.decimal else None
    group, mark = MARKS.get(form.thousands or other or ""), MARKS[decimal]
    if group is not None:
        pattern = rf"[-+]?[1-9]\d{{0,2}}(?:{group}\d{{3}})+(?:{mark}\d*)?"
        is_grouped = texts.str.fullmatch(pattern, na=False)
        texts = texts.where(~is_grouped, texts.str.replace(group, "", regex=True))
    # Texts such as 01.2024 are months, not numbers.
    pattern = rf"(?!0\d\.\d{{4}}$)[-+]?(?:\d+(?:{mark}\d*)?|{mark}\d+)(?:[eE][-+]?\d+)?"
    is_number = re.compile(pattern).fullmatch
    return texts.map(
        lambda text: float(text.replace(decimal, ".")) if text and is_number(text) else np.nan
    ).astype(np.float64)


def _readings(texts: Any) -> dict[tuple[float, ...], str]:
    """Return the possible numerical values of all texts, and the options that select them."""
    readings: dict[tuple[float, ...], str] = {}
    for options, (decimal, thousands) in CONVENTIONS.items():
        values = _convert(texts, FileFormat(decimal=decimal, thousands=thousands))
        if values.notna().all():
            readings.setdefault(tuple(values), options)
    return readings


def _remedy(texts: Any, readings: dict[tuple[float, ...], str]) -> str:
    """Return advice on how to read texts as numbers."""
    if not readings:
        return "Correct these cells, or leave them empty and use --gaps fill."
    i = int(np.argmin(texts.str.fullmatch(r"[-+]?\d+")))
    choices = (f"{option} reads {texts.iloc[i]} as {v[i]:.15g}" for v, option in readings.items())
    return f"Use one of these options: {'; '.join(choices)}."


def _check_points(name: str, texts: Any, form: FileFormat) -> None:
    """Raise an error if points may be either decimal points or thousands separators.

    A column is unambiguous if it contains a number such as 0.5, 12.25 or 1234.
    """
    pointed = texts[texts.str.contains(".", regex=False, na=False)]
    is_decided = texts.str.fullmatch(r"[-+]?\d{4,}", na=False).any() or not len(pointed)
    if form.decimal or form.thousands or is_decided:
        return
    if _convert(pointed, FileFormat(decimal=",")).notna().all():
        raise ValueError(
            f"Column {name!r} is ambiguous, because its points may separate decimals or thousands: "
            f"{places(pointed)}. Use --decimal . for decimal points, or --decimal , for thousands."
        )


def find_times(frame: Any, used: list[str], id: str | None, form: FileFormat) -> str | None:
    """Return the name of the column of times, or None if there is no such column.

    Columns of dates are preferred to numerical columns whose names refer to times. Raise an error
    if there are neither, but some column may contain times, because the rows may be unordered.
    """
    dates, repeated, numbers, unclear = (list[str]() for _ in range(4))
    for name in frame.columns:
        if name in used or list(frame.columns).count(name) > 1:
            continue
        kind, is_time = _kind_of(frame[name], form), bool(TIME_NAMES.fullmatch(name.lower()))
        is_distinct = not frame[[name] if id is None else [id, name]].duplicated().any()
        if kind == "dates":
            (dates if is_distinct else repeated).append(name)
        elif kind == "numbers" and is_distinct and is_time:
            numbers.append(name)
        elif is_time or (kind == "texts" and is_distinct) or _may_be_times(frame[name], kind):
            unclear.append(name)
    ranked = [*dates, *repeated, *numbers]
    if unclear and not ranked:
        raise ValueError(
            "No column contains dates or unique times, but there may be times in "
            f"{unclear[0]!r}: {places(frame[unclear[0]].iloc[:1])}. Specify --date-format, the "
            "--time column, the --id column of several series, or --time none if each row is one "
            "step."
        )
    return ranked[0] if ranked else None


def _may_be_times(cells: Any, kind: str) -> bool:
    texts = _texts(cells).dropna().iloc[:SAMPLE]
    return len(texts) > 0 and texts.str.fullmatch(MAY_BE_TIME[kind]).all()


def _kind_of(cells: Any, form: FileFormat) -> str:
    """Return "dates", "numbers" or "texts", depending on what most of the first cells contain.

    Numbers such as 19870131 count as dates.
    """
    if cells.dtype.kind == "M" or str(cells.dtype).startswith("period"):
        return "dates"
    texts = _texts(cells.iloc[: 50 * SAMPLE]).dropna().iloc[:SAMPLE]
    if len(texts) and texts.str.fullmatch(r"(19|20)\d{6}").all():
        return "dates" if _parse(texts, "%Y%m%d").notna().all() else "numbers"
    if form.date_format is None and _convert(texts, form).notna().mean() > 0.5:
        return "numbers"
    shares = [_parse(texts, date).notna().mean() for date in _formats(texts, form)]
    return "dates" if max(shares, default=0) > 0.5 else "texts"


def read_times(frame: Any, name: str, form: FileFormat) -> tuple[Any, str]:
    """Return a column as numbers or dates without a time zone, and a note about the time zone."""
    cells = frame[name]
    check_filled(cells, "a time")
    if str(cells.dtype).startswith("period"):
        return cells.dt.to_timestamp(), ""
    if cells.dtype.kind == "M":
        return _without_zone(cells)
    if _kind_of(cells, form) == "numbers":
        values = read_numbers(frame, name, form)
        return values if (values % 1 != 0).any() else values.astype(np.int64), ""
    return _read_dates(name, cells.astype(str).str.strip(), form)


def _without_zone(cells: Any) -> tuple[Any, str]:
    """Convert dates to UTC, or to days if all are local midnights."""
    if cells.dt.tz is None:
        return cells, ""
    local = cells.dt.tz_localize(None)
    if (local == local.dt.normalize()).all():
        return local, ""
    return cells.dt.tz_convert("UTC").dt.tz_localize(None), "times are in UTC"


def _read_dates(name: str, texts: Any, form: FileFormat) -> tuple[Any, str]:
    has_offset = texts.str.fullmatch(rf".*:\d\d(?:\.\d+)?\s*{OFFSET}")
    if has_offset.any() and not has_offset.all():
        wrong = places(texts[~has_offset])
        raise ValueError(f"Column {name!r} contains times with and without an offset: {wrong}.")
    note = "times are in UTC" if has_offset.any() else ""
    if note and texts.str.contains(rf"[T ]00:00(?::00(?:\.0+)?)?\s*{OFFSET}$").all():
        # In UTC, the step between local days would change with daylight saving time.
        texts, note = texts.str[:10], ""
    readings = {date: _parse(texts, date) for date in _formats(texts.iloc[:1], form)}
    complete = {date: values for date, values in readings.items() if values.notna().all()}
    if not complete:
        wrong = min((texts[v.isna()] for v in readings.values()), key=len, default=texts)
        raise ValueError(
            f"Column {name!r} contains cells that are not dates, or dates in several formats: "
            f"{places(wrong)}. Expected dates such as 2024-12-31 or 2024-12-31 18:00. Specify "
            "another --date-format or --time column, or --time none if each row is one step."
        )
    first, *others = complete
    for other in others:
        if not complete[other].equals(complete[first]):
            example = places(texts[complete[other] != complete[first]].iloc[:1])
            choices = " or ".join(f"--date-format {date}" for date in (first, other))
            raise ValueError(f"Column {name!r} contains ambiguous dates: {example}. Use {choices}.")
    return complete[first], note


def _formats(texts: Any, form: FileFormat) -> list[str]:
    """Return the date formats that match at least one of the texts."""
    if form.date_format is not None:
        return [form.date_format]
    # Only formats with the same punctuation are tried, since each trial takes time.
    marks = {mark for text in texts.iloc[:1] for mark in text if not mark.isalnum()}
    formats = [date for date in DATE_FORMATS if set(re.sub("%.", "", date)) == marks]
    formats = ["ISO8601", "quarter", "week", *formats]
    return [date for date in formats if _parse(texts, date).notna().any()]


def _parse(texts: Any, date: str) -> Any:
    """Parse texts as dates, in UTC if they have an offset; return NaT for other texts."""
    import pandas

    if date == "quarter":  # such as 2024Q1
        months = texts.str.extract(r"^(\d{4})-?Q([1-4])$").astype(float)
        texts = (10000 * months[0] + 300 * months[1] - 199).astype("Int64").astype(str)
        date = "%Y%m%d"
    elif date == "week":  # such as 2024-W01, which begins on Monday
        texts = texts.str.replace(r"^(\d{4})-?(W\d\d)$", r"\1-\2-1", regex=True)
        date = "%G-W%V-%u"
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            dates = pandas.to_datetime(texts, format=date, errors="coerce", utc=True)
        except ValueError as error:
            raise ValueError(f"Invalid --date-format {date!r}: {error}.") from None

    return dates.dt.tz_localize(None)
