"""Reading of CSV and Parquet files as frames for ``Forecaster``. Ambiguous cells raise an error."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np

from eigenecho.checks import LARGEST_NUMBER, check_known
from eigenecho.data.panel import Panel, read
from eigenecho.data.read import in_series
from eigenecho.errors import counted, unknown_name

GAPS = ("error", "fill")
LAST = 20_000
"""Default maximum number of rows per series, which is about two years of hourly data."""

PARQUET = (".parquet", ".pq")
NEEDS_PYARROW = (
    "is a Parquet file, which requires pyarrow. Install it with: pip install 'eigenecho[parquet]'."
)

MISSING = ("", "na", "n/a", "nan", "null", "none", "<na>")
"""Cells, in lower case, that represent a missing value."""

DATE = r"\d{4}[-/]\d\d?(?:[-/]\d\d?)?(?:[T ].*)?"
QUARTER = r"\d{4}-?Q[1-4]"
OFFSET = r".*:\d\d(?:\.\d+)?\s*(?:Z|[-+]\d\d:?\d\d)"
MIDNIGHT = r"[T ]00:00(?::00(?:\.0+)?)?\s*(?:Z|[-+][\d:]+)$"
"""Regular expressions of ISO dates, quarters, times with an offset from UTC, and local midnight."""

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


@dataclass(frozen=True)
class FileFormat:
    """The format of a file, as specified by command-line options.

    Attributes
    ----------
    sep : str
        The character between cells, or "tab".
    decimal : {".", ","}, optional
        The decimal mark, by default a point.
    thousands : str, optional
        The character between groups of three digits. By default, there is none.
    skip_rows : int
        Number of lines before the header.
    encoding : str
    date_format : str, optional
        The format of dates, such as "%d/%m/%Y". By default ISO 8601.
    """

    sep: str = ","
    decimal: str | None = None
    thousands: str | None = None
    skip_rows: int = 0
    encoding: str = "utf-8-sig"
    date_format: str | None = None

    def __post_init__(self) -> None:
        if self.decimal not in (None, ".", ","):
            raise ValueError(f"Invalid --decimal {self.decimal!r}: expected '.' or ','.")
        mark = self.thousands
        if mark is not None and (len(mark) != 1 or mark == self.decimal or mark.isalnum()):
            expected = "one character that is no letter, no digit and not the decimal mark"
            raise ValueError(f"Invalid --thousands {mark!r}: expected {expected}.")
        if len(self.sep) != 1 and self.sep != "tab":
            raise ValueError(f"Invalid --sep {self.sep!r}: expected one character, or 'tab'.")


@dataclass(frozen=True, eq=False)
class TableSeries:
    """The series of a table, as input for ``Forecaster``.

    Attributes
    ----------
    y, X : DataFrame
        Long frames if there is an id column, and wide frames with the times as index otherwise. X
        is None if there are no exogenous variables.
    targets, inputs, past : tuple of str
        Names of the targets, the known columns and the past columns.
    id, time : str
        Names of the columns of ids and times, or "" and "row" if there are no such columns.
    panel : Panel
        The series on a grid of regular times.
    notes : list of str
        Notes on how the table was read.
    """

    y: Any
    X: Any
    targets: tuple[str, ...]
    inputs: tuple[str, ...]
    past: tuple[str, ...]
    id: str
    time: str
    panel: Panel
    notes: list[str]

    @property
    def rows(self) -> int:
        """Number of rows of the longest series."""
        return max(map(len, self.panel.histories))

    @property
    def ahead(self) -> int:
        """Minimum number of rows of the inputs after the end of a series."""
        return min(len(history.ahead) for history in self.panel.histories)


def read_table(
    path: Any,
    target: str,
    *,
    inputs: str = "",
    past: str = "",
    id: str = "",
    time: str = "",
    gaps: str = "error",
    last: int = LAST,
    **form: Any,
) -> TableSeries:
    """Return the series of a CSV or Parquet file.

    Parameters
    ----------
    path : str or Path
    target, inputs, past : str
        Column names, separated by commas.
    id, time : str, optional
        Column names. By default, there is no id column, and the time column is the only column of
        dates. Use "none" if there is no time column.
    gaps : {"error", "fill"}
        Raise an error for missing rows and cells, or treat them as missing values.
    last : int
        Maximum number of rows per series. Earlier rows are not used.
    **form
        Fields of ``FileFormat``: sep, decimal, thousands, skip_rows, encoding, date_format.
    """
    check_known(gaps, "--gaps", GAPS)
    file = FileFormat(**form)
    frame = _read_file(Path(path), file)
    targets = _choose(frame, target, "--target")
    known, observed = _choose(frame, inputs, "--inputs"), _choose(frame, past, "--past")
    used = [*targets, *known, *observed, *_choose(frame, id, "--id")]
    if not targets:
        raise ValueError("Invalid --target: expected the name of a column.")
    time, notes = time or _find_time(frame, used, file), []
    if time == NO_TIME and time not in frame.columns:
        time = ""
        notes.append("no time column: each row is one step")
    _check_columns([*used, *_choose(frame, time, "--time")], bool(id) and len(targets) > 1)
    columns, key = (*targets, *known, *observed), time or "row"
    rows = frame[[]].assign(**{name: _read_numbers(frame, name, file) for name in columns})
    ids = _read_ids(frame, id)
    rows.insert(0, key, rows.groupby(ids).cumcount() + 1)
    if time:
        rows[key], note = _read_times(frame, time, file)
        notes += [note] * bool(note)
    order = rows.assign(**{"\0": ids}).sort_values(["\0", key], kind="stable").index
    rows, ids = rows.loc[order], ids.loc[order]
    targets = _leave_out(rows, ids, targets, notes)
    inside, kept = _select(rows[list(targets)].notna().any(axis=1), ids, last, notes)
    rows, ids, inside = (part[kept] for part in (rows, ids, inside))
    filled = rows[list(columns)].groupby(ids).ffill()
    if gaps == "fill":
        rows[list(known)] = rows[list(known)].where(~inside, filled[list(known)])
    for name in (*targets, *observed) if gaps == "error" else ():
        _check_cells(rows[rows[name].isna() & filled[name].notna() & inside], name, key, ids)
    if id:
        rows.insert(0, id, ids)
    lead, table = [id, key] if id else [], rows if id else rows.set_index(key)
    y = table.loc[inside.to_numpy(), [*lead, *targets]]
    X = table[[*lead, *known, *observed]] if known or observed else None
    names = dict.fromkeys(("id", "time", "target"), "")
    names = {"id": id, "time": key, "target": targets[0]} if id else names
    try:
        panel = read(y, X, past=observed, **names)
    except ValueError as error:
        raise ValueError(
            f"{error} Specify --id if there are several series. {TIME_OPTIONS}"
        ) from None
    if gaps == "error":
        _check_steps(panel, inside.groupby(ids).sum(), key)
    return TableSeries(y, X, targets, known, observed, id, key, panel, notes)


def _check_columns(names: list[str], are_several: bool) -> None:
    twice = [name for name, count in Counter(names).items() if count > 1]
    if twice or are_several:
        problem = f"{twice[0]!r} is listed twice" if twice else "--id requires a single --target"
        raise ValueError(f"Invalid columns: {problem}.")


def _leave_out(rows: Any, ids: Any, targets: tuple[str, ...], notes: list[str]) -> tuple[str, ...]:
    """Return the targets with values, and note the names of targets or series without any."""
    is_observed = rows[list(targets)].notna()
    kept = tuple(name for name in targets if is_observed[name].any())
    empty = [*(name for name in targets if name not in kept)]
    empty += sorted(set(ids) - set(ids[is_observed.any(axis=1)]))
    if not kept or rows[list(kept)].nunique().max() < 2:
        raise ValueError(f"Column {targets[0]!r} is constant, or contains no numbers.")
    if empty:
        notes.append(f"series without values are left out: {listed(map(repr, empty), len(empty))}")
    return kept


def _select(is_observed: Any, ids: Any, last: int, notes: list[str]) -> tuple[Any, Any]:
    """Return a mask of the last ``last`` rows with targets, and one that includes future rows."""
    started = is_observed.groupby(ids).cummax()
    is_past = started & is_observed[::-1].groupby(ids).cummax()[::-1]
    recent = is_past[::-1].groupby(ids).cumsum()[::-1] <= last
    late, cut = (started & ~is_past).sum(), (started & ~recent).sum()
    notes += [f"the forecast starts before {counted(late, 'row')} without a target"] * bool(late)
    notes += [f"only the last {last} rows are used (change this with --last)"] * bool(cut)
    return is_past & recent, started & recent


def _choose(frame: Any, text: str, option: str) -> tuple[str, ...]:
    """Return the names of the columns in the value of an option, which are separated by commas."""
    # A name may contain a comma itself.
    names = [text] if text in frame.columns else [name.strip() for name in text.split(",")]
    for name in filter(None, names):
        if name not in frame.columns:
            hint = "Use --skip-rows if the header is not the first line, or --sep."
            raise ValueError(f"{unknown_name(option, name, list(frame.columns))} {hint}")
    return tuple(filter(None, names))


def _check_cells(empty: Any, name: str, key: str, ids: Any) -> None:
    """Raise an error if there are rows in which a column is empty."""
    if len(empty):
        lines = (f"{empty.index.name} {line} ({as_text(t)})" for line, t in empty[key].items())
        where = listed(lines, len(empty)) + in_series(ids[empty.index[0]] or None)
        remedy = "Use --gaps fill to treat empty cells as missing values."
        raise ValueError(f"Column {name!r} is empty in {where}. {remedy}")


def _check_steps(panel: Panel, counts: Any, key: str) -> None:
    """Raise an error if rows are missing on the grid of a series, given the numbers of rows."""
    for history in panel.histories:
        size = counts[history.name if panel.form.kind == "long" else ""]
        if len(history) > size:
            first = as_text(history.times[np.isnan(history.values)][0])
            name = history.name if panel.form.kind == "long" else None
            raise ValueError(
                f"Column {key!r} has steps of {panel.step}, but {counted(len(history), 'step')} "
                f"between its first and last time, and {counted(size, 'row')}: there is no row at "
                f"{first}{in_series(name)}. Use --gaps fill to treat missing rows as missing "
                f"values. {TIME_OPTIONS}"
            )


def as_text(time: Any) -> str:
    """Return a number or date as text, without the time of day if it is midnight."""
    return str(time).removesuffix(" 00:00:00")


def listed(texts: Iterable[str], count: int) -> str:
    """Join the first ``SHOWN`` of ``count`` texts, and state how many were omitted."""
    more = f"; and {count - SHOWN} more" if count > SHOWN else ""
    return "; ".join(islice(texts, SHOWN)) + more


# Files --------------------------------------------------------------------------------------------


def _read_file(path: Path, form: FileFormat) -> Any:
    """Return the cells of a file as a DataFrame.

    The cells of CSV files are text, and the index contains line numbers and is named "line". The
    columns of Parquet files keep their types, and the index is named "row".
    """
    try:
        is_parquet = path.suffix.lower() in PARQUET
        frame = _read_parquet(path) if is_parquet else _read_csv(path, form)
    except ImportError:
        raise
    except (LookupError, UnicodeError) as error:
        remedy = "Specify --encoding, such as cp1252 or utf-16."
        raise ValueError(f"Cannot read {path}: {error}. {remedy}") from None
    except Exception as error:  # each engine raises its own errors
        remedy = "Specify --sep or --skip-rows if cells or the header are elsewhere."
        reason = " ".join(str(error).rpartition("C error: ")[2].split()).rstrip(".")
        raise ValueError(f"Cannot read {path}: {reason}. {remedy}") from None
    if not frame.size:
        raise ValueError(f"{path} contains no data. Expected a header and at least one row.")
    twice = frame.columns[frame.columns.duplicated()]
    if len(twice):
        raise ValueError(f"Several columns of {path} are named {twice[0]!r}. Rename them.")
    return frame


def _read_csv(path: Path, form: FileFormat) -> Any:
    import pandas

    cells = pandas.read_csv(
        path,
        sep="\t" if form.sep == "tab" else form.sep,
        encoding=form.encoding,
        skiprows=form.skip_rows,
        header=None,  # pandas would rename columns, and take the first one as the index
        dtype=str,
        na_filter=False,
        skip_blank_lines=False,
    )
    cells.index = pandas.RangeIndex(
        form.skip_rows + 1, form.skip_rows + 1 + len(cells), name="line"
    )
    cells = cells.apply(lambda column: column.str.strip())
    if cells.shape[1] > 1:
        cells = cells[(cells != "").any(axis=1)]
    header = [name or f"column {i}" for i, name in enumerate(cells.iloc[0], 1)]
    return cells.iloc[1:].set_axis(header, axis=1)


def _read_parquet(path: Path) -> Any:
    import pandas

    try:
        frame = pandas.read_parquet(path)
    except ImportError:
        raise ImportError(f"{path} {NEEDS_PYARROW}") from None
    if frame.index.nlevels > 1 or frame.index.name is not None or frame.index.dtype.kind == "M":
        frame = frame.reset_index(allow_duplicates=True)
    return frame.set_axis(map(str, frame.columns), axis=1).reset_index(drop=True).rename_axis("row")


# Cells --------------------------------------------------------------------------------------------


def _places(cells: Any) -> str:
    """Return the line numbers and contents of cells for an error message."""
    row = cells.index.name
    texts = (f"{row} {line} contains {str(cell)!r}" for line, cell in cells.items())
    return listed(texts, len(cells))


def _check_filled(cells: Any, wanted: str) -> Any:
    """Return the cells of a column as text, or raise an error if one is empty."""
    texts = cells.astype(object).where(cells.notna(), "").astype(str)
    if (texts == "").any():
        row = f"{cells.index.name} {texts.index[texts == ''][0]}"
        raise ValueError(f"Column {cells.name!r} is empty in {row}: each row must have {wanted}.")
    return texts


def _read_ids(frame: Any, id: str) -> Any:
    """Return the ids as text, or as empty text if there is no id column."""
    import pandas

    if not id:
        return pandas.Series("", frame.index)
    # Integers in Parquet files may be stored as floats.
    return _check_filled(frame[id], "an id").str.replace(r"(?<=\d)\.0$", "", regex=True)


def _read_numbers(frame: Any, name: str, form: FileFormat) -> Any:
    """Convert a column to a Series of float64, with NaN for missing values."""
    cells = frame[name]
    if cells.dtype.kind in "iufb":
        values = cells.astype("Float64").astype(np.float64)
    else:
        texts = cells.astype(object).where(cells.notna(), "").astype(str)
        texts = texts[~texts.str.lower().isin(MISSING)]
        values = _convert(texts, form).reindex(cells.index)
        wrong = texts[values[texts.index].isna()]
        if len(wrong):
            raise ValueError(
                f"Column {name!r} has cells that are not numbers: {_places(wrong)}. Specify "
                "--decimal or --thousands if numbers have another format. Leave missing cells "
                "empty, and encode categories as numbers, such as 0 and 1."
            )
        if not (form.decimal or form.thousands):
            _check_points(name, texts)
    large = cells[values.abs() > LARGEST_NUMBER]
    if len(large):
        limit = f"{LARGEST_NUMBER:g}"
        raise ValueError(f"Column {name!r} has absolute values above {limit}: {_places(large)}.")
    return values


def _convert(texts: Any, form: FileFormat) -> Any:
    """Convert texts to numbers, with NaN for texts that are not numbers in the given format.

    pandas would remove separators of thousands anywhere in a number.
    """
    decimal = form.decimal or ("," if form.thousands == "." else ".")
    mark, whole = re.escape(decimal), r"\d+"
    if form.thousands is not None:
        whole = rf"(?:\d+|[1-9]\d{{0,2}}(?:{re.escape(form.thousands)}\d{{3}})+)"
    is_number = texts.str.fullmatch(rf"[-+]?(?:{whole}(?:{mark}\d*)?|{mark}\d+)(?:[eE][-+]?\d+)?")
    numbers = texts.where(is_number).str.replace(form.thousands or "", "", regex=False)
    return numbers.str.replace(decimal, ".", regex=False).astype(np.float64)


def _check_points(name: str, texts: Any) -> None:
    """Raise an error if points may be either decimal points or thousands separators.

    A column is unambiguous if it contains a number such as 0.5, 12.25 or 1234.
    """
    pointed = texts[texts.str.contains(".", regex=False)]
    grouped = pointed.str.fullmatch(r"[-+]?[1-9]\d{0,2}(?:\.\d{3})+")
    if len(pointed) and grouped.all() and not texts.str.fullmatch(r"[-+]?\d{4,}").any():
        raise ValueError(
            f"Column {name!r} is ambiguous, because its points may separate decimals or thousands: "
            f"{_places(pointed)}. Use --decimal . or --thousands ."
        )


def _find_time(frame: Any, used: list[str], form: FileFormat) -> str:
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
        shown = listed(texts, len(others))
        raise ValueError(f"No column contains dates such as 2024-12-31: {shown}. {TIME_OPTIONS}")
    return dates[0] if dates else NO_TIME


def _is_date(cells: Any, form: FileFormat) -> bool:
    """Return True if the first cell that is not empty is a date."""
    if cells.dtype.kind == "M" or str(cells.dtype).startswith("period"):
        return True
    texts = cells.astype(str)
    first = texts[texts != ""].iloc[:1]
    if form.date_format is None:
        first = first[first.str.fullmatch(f"{DATE}|{QUARTER}")]
    return bool(_parse(first, form).notna().any())


def _read_times(frame: Any, name: str, form: FileFormat) -> tuple[Any, str]:
    """Return a column as numbers or dates without a time zone, and a note about the time zone."""
    cells = frame[name]
    if str(cells.dtype).startswith("period"):
        return cells.dt.to_timestamp(), ""
    texts = _check_filled(cells, "a time")
    if cells.dtype.kind == "M" and cells.dt.tz is None:
        return cells, ""
    if form.date_format is None and texts.str.fullmatch(COUNT).all():
        if texts.str.fullmatch(COMPACT_DATE).all():
            example = _places(texts.iloc[:1])
            raise ValueError(f"Column {name!r} may contain dates: {example}. {TIME_OPTIONS}")
        values = texts.astype(np.float64)
        return values if (values % 1 != 0).any() else values.astype(np.int64), ""
    has_offset = texts.str.fullmatch(OFFSET)
    if has_offset.any() and not has_offset.all():
        wrong = _places(texts[~has_offset])
        raise ValueError(f"Column {name!r} contains times with and without an offset: {wrong}.")
    note = "times are in UTC" if has_offset.any() else ""
    if note and texts.str.contains(MIDNIGHT).all():
        # In UTC, the step between local days would change with daylight saving time.
        texts, note = texts.str[:10], ""
    dates = _parse(texts, form)
    wrong = texts[dates.isna()]
    if len(wrong):
        raise ValueError(
            f"Column {name!r} has cells that are not dates such as 2024-12-31 or 2024-12-31 18:00: "
            f"{_places(wrong)}. {TIME_OPTIONS}"
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
