"""Tables read from files: CSV, also compressed, and Parquet."""

from __future__ import annotations

import csv
import difflib
import gzip
import io
import os
import zlib
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np

from eigenecho.apps.tables.table import SIGNS, Table, TableError, all_numbers, need_pandas

PARQUET = (".parquet", ".pq")
SEPARATORS = (",", ";", "\t", "|")
LOOKED_AT = 50
"""Lines by which the separator is found."""

NEEDS_PYARROW = (
    "is a Parquet file, which needs pyarrow: pip install 'eigenecho[parquet]'. CSV files need "
    "nothing more."
)


def read(
    path: Path, *, sep: str | None = None, decimal: str | None = None, encoding: str = ""
) -> Table:
    """Read a CSV file, also compressed with gzip, or a Parquet file.

    ``sep`` stands between cells; by default whichever of , ; tab | cuts the first lines alike.
    ``decimal`` is the decimal sign, a point by default, which see in ``Table``. The encoding is
    UTF-8 by default.
    """
    if decimal is not None and decimal not in SIGNS:
        raise TableError(f"--decimal {decimal!r} will not do: expected '.' or ','.")
    sep = {"tab": "\t", "\\t": "\t"}.get(sep or "", sep)
    if sep is not None and len(sep) != 1:
        raise TableError(f"--sep {sep!r} will not do: expected one character, or 'tab'.")
    if path.suffix.lower() in PARQUET:
        return _read_parquet(path)
    text = _text(path, encoding)
    if not text.strip():
        raise TableError(f"{path} is empty. Expected a header and rows of cells.")
    return _read_csv(path, text, sep or _separator(text), decimal)


def _read_csv(path: Path, text: str, sep: str, decimal: str | None) -> Table:
    cells = _cells(path, text, sep)
    header = tuple(name.strip() for name in cells.iloc[0])
    stop = len(cells)
    while stop > 1 and not "".join(cells.iloc[stop - 1]).strip():
        stop -= 1
    if stop == 1:
        raise TableError(f"{path} has a header and no rows.")
    if all_numbers(header, decimal):
        raise TableError(
            f"{path} has no header: its first line is {sep.join(header)[:60]!r}. "
            "Put the names of the columns there."
        )
    columns = tuple(cells[i].to_numpy(dtype=object)[1:stop] for i in cells.columns)
    return Table(path, header, columns, decimal, text, sep)


def _cells(path: Path, text: str, sep: str) -> Any:
    """All cells as text, the header in row 0, so that nothing is guessed and no row is lost."""
    pandas = need_pandas()
    try:
        cells = pandas.read_csv(
            io.StringIO(text), sep=sep, header=None, dtype=str, keep_default_na=False,
            na_filter=False, skip_blank_lines=False, index_col=False, low_memory=False,
        )  # fmt: skip
    except (pandas.errors.ParserError, pandas.errors.EmptyDataError) as error:
        _check_widths(path, text, sep)
        said = str(error).strip().rstrip(".")
        raise TableError(f"{path} is no CSV file: {said}.") from None
    # Rows that are too short have been filled up.
    if (cells.iloc[:, -1] == "").any():
        _check_widths(path, text, sep)
    return cells


def _check_widths(path: Path, text: str, sep: str) -> None:
    """Raise at the first row that has not as many cells as the header."""
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=sep)
    try:
        header, line = next(reader), reader.line_num + 1
        for cells in reader:
            if len(cells) != len(header) and cells:
                remedy = "Quote cells that contain the separator, or name another one with --sep."
                if sep == "," and len(cells) > len(header):
                    remedy += " Numbers with decimal commas need another separator or quotes."
                raise TableError(
                    f"{path}, line {line} has {len(cells)} cells where the header has "
                    f"{len(header)}: {sep.join(cells)[:60]!r}. {remedy}"
                )
            line = reader.line_num + 1
    except csv.Error as error:
        raise TableError(f"{path} is no CSV file: {error}.") from None


def _text(path: Path, encoding: str) -> str:
    if path.is_dir():
        raise TableError(f"{path} is a folder. Expected a CSV or Parquet file.")
    try:
        data = path.read_bytes()
    except OSError as error:
        raise TableError(f"cannot read {path}: {error.strerror or error}.{_beside(path)}") from None
    if data[:2] == b"\x1f\x8b":
        try:
            data = gzip.decompress(data)
        except (OSError, EOFError, zlib.error) as error:
            raise TableError(f"{path} is a damaged gzip file: {error}.") from None
    if data[:4] == b"PAR1":
        raise TableError(f"{path} is a Parquet file. Name it {path.stem}.parquet.")
    if data[:2] == b"PK":
        raise TableError(f"{path} is a zip archive or a spreadsheet. Save it as CSV.")
    if not encoding:
        encoding = "utf-16" if data[:2] in (b"\xff\xfe", b"\xfe\xff") else "utf-8-sig"
    try:
        return data.decode(encoding)
    except LookupError:
        raise TableError(f"--encoding {encoding!r} is not known. Try cp1252 or utf-16.") from None
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        raise TableError(
            f"{path}, line {line} is not {encoding.removesuffix('-sig').upper()} "
            f"(byte 0x{data[error.start]:02x}). Older Windows files need --encoding cp1252."
        ) from None


def _beside(path: Path) -> str:
    """The nearest file name in the folder, as a hint."""
    try:
        names = os.listdir(path.parent)
    except OSError:
        return ""
    nearest = difflib.get_close_matches(path.name, names, n=1)
    return f" Did you mean {str(path.parent / nearest[0])!r}?" if nearest else ""


def _separator(text: str) -> str:
    """What cuts most lines into as many cells as the header has: names may hold the others."""

    def fit(sep: str) -> tuple[float, int]:
        reader = csv.reader(io.StringIO(text, newline=""), delimiter=sep)
        try:
            widths = [len(cells) for cells in islice(reader, LOOKED_AT) if cells]
        except csv.Error:
            return -1.0, 0
        if not widths or widths[0] == 1:
            return -1.0, 0
        return widths.count(widths[0]) / len(widths), widths[0]

    return max(SEPARATORS, key=fit)


def _read_parquet(path: Path) -> Table:
    pandas = need_pandas()
    if not path.is_file():
        raise TableError(f"cannot read {path}: no such file.{_beside(path)}")
    try:
        frame = pandas.read_parquet(path)
    except ImportError:
        raise TableError(f"{path} {NEEDS_PYARROW}") from None
    except Exception as error:  # every engine has errors of its own
        said = str(error).rstrip(".")
        raise TableError(f"cannot read {path} as Parquet: {said}.") from None
    index = frame.index
    if index.nlevels > 1 or index.name is not None or index.dtype.kind == "M":
        frame = frame.reset_index(allow_duplicates=True)
    if frame.shape[0] == 0 or frame.shape[1] == 0:
        raise TableError(f"{path} has no rows.")
    columns, utc = [], []
    for i, name in enumerate(map(str, frame.columns)):
        column = frame.iloc[:, i]
        local = _local(column, pandas)
        columns.append(_typed(column if local is None else local, pandas))
        if local is None and getattr(column.dtype, "tz", None) is not None:
            utc.append(name)
    return Table(path, tuple(map(str, frame.columns)), tuple(columns), utc=tuple(utc))


def _local(column: Any, pandas: Any) -> Any:
    """Midnights of some place as days, whose step summer time would break; else None."""
    if not isinstance(column.dtype, pandas.DatetimeTZDtype):
        return None
    local = column.dt.tz_localize(None)
    return local if bool((local == local.dt.normalize()).all()) else None


def _typed(column: Any, pandas: Any) -> Any:
    """A column of a frame as numbers, dates or text."""
    if isinstance(column.dtype, pandas.PeriodDtype):
        column = column.dt.to_timestamp()
    if pandas.api.types.is_bool_dtype(column) or pandas.api.types.is_numeric_dtype(column):
        return column.to_numpy(dtype=np.float64, na_value=np.nan)
    if pandas.api.types.is_datetime64_any_dtype(column):
        if column.dt.tz is not None:
            column = column.dt.tz_convert("UTC").dt.tz_localize(None)
        return column.to_numpy()
    return column.astype(object).where(column.notna(), "").map(str).to_numpy(dtype=object)
