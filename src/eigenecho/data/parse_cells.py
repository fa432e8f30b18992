"""Parse columns of text as numbers and dates. Ambiguous cells raise an error."""

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
"""Cells, in lower case, that stand for a missing value."""

CURRENCIES = "$€£¥₹₽₩₺₪₫₴₦"
MARKS = {".": r"\.", ",": ",", " ": "[ \u00a0\u2009\u202f]", "'": "['\u2019]"}
"""Regular expressions of decimal marks and thousands separators."""

CONVENTIONS = {
    "--decimal .": (".", ","), "--decimal ,": (",", "."),
    "--thousands ' '": (".", " "), "--decimal , --thousands ' '": (",", " "),
    '--thousands "\'"': (".", "'"), '--decimal , --thousands "\'"': (",", "'"),
}  # fmt: skip
"""Decimal marks and thousands separators to suggest, by the options that select them."""

DATES = (
    "%Y-%m-%d", "%d.%m.%Y", "%d/%m/%Y", "%m/%d/%Y", "%d-%m-%Y", "%m-%d-%Y",
    "%d.%m.%y", "%y.%m.%d", "%d/%m/%y", "%m/%d/%y", "%y/%m/%d", "%d-%m-%y", "%m-%d-%y", "%y-%m-%d",
    "%d %b %Y", "%d-%b-%Y", "%d/%b/%Y", "%d %b %y", "%d-%b-%y", "%d %B %Y", "%b %d, %Y",
    "%B %d, %Y", "%b %d %Y", "%B %d %Y", "%b %Y", "%B %Y", "%b-%Y", "%m/%Y", "%m.%Y", "%m-%Y",
)  # fmt: skip
TIMES = ("", " %H:%M", " %H:%M:%S", " %H:%M:%S.%f", " %I:%M %p", " %I:%M:%S %p", ", %H:%M")
DATE_FORMATS = [date + time for date in DATES for time in TIMES]
"""Formats that are tried if none is given, besides ISO 8601."""

OFFSET = r"(?:Z|[-+]\d\d:?\d\d)"
"""Offsets from UTC."""

TIME_NAMES = re.compile(
    r"(date|time|datetime|timestamp|year|month|week|day|t|step|index|period)s?|datum|zeit|jahr|monat"
    r"|woche|tag|ann[eé]e|mois|jour|fecha|a[nñ]o|mes|d[ií]a|data|mese|giorno"
)
"""Names, in lower case, by which columns are recognised as times if they are not dates."""

MAY_BE_TIME = {
    "numbers": r"(19|20)\d\d(\d{3}|\.\d+)?|\d{6}|[34]\d{4}|1\d{9}(\d{3})?",
    "texts": r".*\d.*",
}
"""Cells of columns that may be times: years, 2024031, 240131, days of a spreadsheet, seconds."""

SAMPLE = 20
"""Number of cells from which columns of dates are recognised."""

SHOWN = 3
"""Number of places that an error message lists."""


def listed(texts: Iterable[str], count: int) -> str:
    """Return the first of ``count`` texts, and the number of further ones."""
    more = f"; and {count - SHOWN} more" if count > SHOWN else ""
    return "; ".join(islice(texts, SHOWN)) + more


def places(cells: Any) -> str:
    """Return the lines of cells and their contents, for an error message."""
    row = cells.index.name
    texts = (f"{row} {line} contains {str(cell)!r}" for line, cell in cells.items())
    return listed(texts, len(cells))


def check_filled(cells: Any, wanted: str) -> None:
    """Raise an error if a cell of a column is empty."""
    empty = cells[cells.isna() | (cells.astype(str).str.strip() == "")]
    if len(empty):
        row = f"{empty.index.name} {empty.index[0]}"
        raise ValueError(f"column {cells.name!r} is empty at {row}: every row needs {wanted}.")


def read_numbers(frame: Any, name: str, form: FileFormat) -> Any:
    """Return a column as a Series of float64, NaN where a value is missing."""
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
                    f"column {name!r} has cells that are not numbers: {places(wrong)}. {remedy}"
                )
            values[texts.notna()] = next(iter(readings))
        else:
            _check_points(name, texts, form)
    large = cells[values.abs() > LARGEST_NUMBER]
    if len(large):
        raise ValueError(f"column {name!r} has numbers above {LARGEST_NUMBER:g}: {places(large)}.")
    return values


def _texts(cells: Any) -> Any:
    """Return cells as text without surrounding spaces and currency signs, None where missing."""
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
    """Return texts as numbers, NaN for texts that are not numbers in the given format."""
    decimal = form.decimal or ("," if form.thousands == "." else ".")
    other = {".": ",", ",": "."}[decimal] if form.decimal else None
    group, mark = MARKS.get(form.thousands or other or ""), MARKS[decimal]
    if group is not None:
        pattern = rf"[-+]?[1-9]\d{{0,2}}(?:{group}\d{{3}})+(?:{mark}\d*)?"
        is_grouped = texts.str.fullmatch(pattern, na=False)
        texts = texts.where(~is_grouped, texts.str.replace(group, "", regex=True))
    # Two digits that start with 0, a point and four digits are a month, such as 01.2024.
    pattern = rf"(?!0\d\.\d{{4}}$)[-+]?(?:\d+(?:{mark}\d*)?|{mark}\d+)(?:[eE][-+]?\d+)?"
    is_number = re.compile(pattern).fullmatch
    return texts.map(
        lambda text: float(text.replace(decimal, ".")) if text and is_number(text) else np.nan
    ).astype(np.float64)


def _readings(texts: Any) -> dict[tuple[float, ...], str]:
    """Return the possible numeric values of texts, with the options that select them."""
    readings: dict[tuple[float, ...], str] = {}
    for options, (decimal, thousands) in CONVENTIONS.items():
        values = _convert(texts, FileFormat(decimal=decimal, thousands=thousands))
        if values.notna().all():
            readings.setdefault(tuple(values), options)
    return readings


def _remedy(texts: Any, readings: dict[tuple[float, ...], str]) -> str:
    """Return the options that read all texts as numbers, with the numbers that they give."""
    if not readings:
        return "Correct them, or empty the cells and use --gaps fill."
    i = int(np.argmin(texts.str.fullmatch(r"[-+]?\d+")))
    choices = (f"{option} reads {texts.iloc[i]} as {v[i]:.15g}" for v, option in readings.items())
    return f"Use an option: {'; '.join(choices)}."


def _check_points(name: str, texts: Any, form: FileFormat) -> None:
    """Raise an error if all points of a column may be decimal points or thousands separators.

    One number such as 0.5, 12.25 or 1234 resolves the ambiguity.
    """
    pointed = texts[texts.str.contains(".", regex=False, na=False)]
    is_decided = texts.str.fullmatch(r"[-+]?\d{4,}", na=False).any() or not len(pointed)
    if form.decimal or form.thousands or is_decided:
        return
    if _convert(pointed, FileFormat(decimal=",")).notna().all():
        raise ValueError(
            f"column {name!r} is ambiguous: points may be decimal points or separate thousands: "
            f"{places(pointed)}. Use --decimal . for decimal points, --decimal , for thousands."
        )


def find_times(frame: Any, used: list[str], id: str | None, form: FileFormat) -> str | None:
    """Return the column of times, None if there is none.

    Columns of dates come first, then numeric columns with the name of a time. Raise an error if
    there is neither but a column may contain times, since rows could be in the wrong order.
    """
    columns: dict[str, list[str]] = {"dates": [], "repeated": [], "numbers": [], "unclear": []}
    for name in frame.columns:
        if name in used or list(frame.columns).count(name) > 1:
            continue
        kind, is_time = _kind_of(frame[name], form), bool(TIME_NAMES.fullmatch(name.lower()))
        is_distinct = not frame[[name] if id is None else [id, name]].duplicated().any()
        if kind == "dates":
            columns[kind if is_distinct else "repeated"].append(name)
        elif kind == "numbers" and is_distinct and is_time:
            columns[kind].append(name)
        elif is_time or (kind == "texts" and is_distinct) or _may_be_times(frame[name], kind):
            columns["unclear"].append(name)
    unclear = columns.pop("unclear")
    ranked = [name for names in columns.values() for name in names]
    if unclear and not ranked:
        raise ValueError(
            f"no column has dates or unique times, but {unclear[0]!r} may contain times: "
            f"{places(frame[unclear[0]].iloc[:1])}. Give their --date-format, the --time column, "
            "the --id of several series, or --time none if each row is one step."
        )
    return ranked[0] if ranked else None


def _may_be_times(cells: Any, kind: str) -> bool:
    texts = _texts(cells).dropna().iloc[:SAMPLE]
    return len(texts) > 0 and texts.str.fullmatch(MAY_BE_TIME[kind]).all()


def _kind_of(cells: Any, form: FileFormat) -> str:
    """Return "dates", "numbers" or "texts": the kind of most of the first cells.

    Numbers such as 19870131 are dates.
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
    """Return a column as dates without a time zone, or as numbers, and a note about time zones."""
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
    """Return dates in UTC; local midnights become days, whose step is regular all year."""
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
        raise ValueError(f"column {name!r} has times with and without an offset: {wrong}.")
    note = "times are in UTC" if has_offset.any() else ""
    if note and texts.str.contains(rf"[T ]00:00(?::00(?:\.0+)?)?\s*{OFFSET}$").all():
        # Local days: in UTC, their step would change with summer time.
        texts, note = texts.str[:10], ""
    readings = {date: _parse(texts, date) for date in _formats(texts.iloc[:1], form)}
    complete = {date: values for date, values in readings.items() if values.notna().all()}
    if not complete:
        wrong = min((texts[v.isna()] for v in readings.values()), key=len, default=texts)
        raise ValueError(
            f"column {name!r} has cells that are not dates, or not in one format: {places(wrong)}. "
            "Expected 2024-12-31 or 2024-12-31 18:00. Give another --date-format or --time column, "
            "or --time none if each row is one step."
        )
    first, *others = complete
    for other in others:
        if not complete[other].equals(complete[first]):
            example = places(texts[complete[other] != complete[first]].iloc[:1])
            choices = " or ".join(f"--date-format {date}" for date in (first, other))
            raise ValueError(f"column {name!r} is ambiguous: {example}. Use {choices}.")
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
    """Return texts as dates, in UTC if they have an offset, and NaT where they do not fit."""
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
