"""Tables in files, with errors that say where the trouble is."""

from __future__ import annotations

import csv
import gzip
import io
import os
import re
import zlib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np

from eigenecho.errors import unknown_name
from eigenecho.types import Array

PARQUET = (".parquet", ".pq")
SEPARATORS = (",", ";", "\t", "|")
MISSING = {"", "na", "n/a", "#n/a", "nan", "null", "none", "-", "?"}
"""Cells, in small letters, that say that there is nothing."""

THOUSANDS = re.compile(r"[-+]?\d{1,3}([,. ']\d{3})+([,.]\d+)?$")

SHOWN = 5
"""Rows that an error lists before it only counts."""


class TableError(ValueError):
    """A file that cannot be used as it is; the message says what to do."""


def listed(texts: Iterable[str], count: int, what: str = "") -> str:
    """The first few of ``count`` texts, and how many more there are; ``what`` they are."""
    more = f"; and {count - SHOWN} more{what}" if count > SHOWN else ""
    return "; ".join(islice(texts, SHOWN)) + more


@dataclass(frozen=True, eq=False)
class Table:
    """Columns of text or of numbers and dates, and where their rows stand in the file.

    ``first`` is the number of the first row as an editor shows it: 2 in a CSV file, below the
    header.
    """

    path: Path
    names: tuple[str, ...]
    columns: tuple[Any, ...]
    first: int
    decimal: str = "."
    lines: Array | None = None
    """The line that each row starts at, where cells of several lines push them down."""
    utc: tuple[str, ...] = ()
    """Columns that knew their place on Earth and were turned into UTC."""

    def __len__(self) -> int:
        return len(self.columns[0])

    def index(self, name: str, option: str) -> int:
        """Which column an option means."""
        if self.names.count(name) > 1:
            places = ", ".join(str(i + 1) for i, n in enumerate(self.names) if n == name)
            raise TableError(
                f"{option} {name!r}: {self.names.count(name)} columns of {self.path} have that "
                f"name (columns {places}). Rename them in the header."
            )
        if name not in self.names:
            raise TableError(str(unknown_name(option, name, self.names)))
        return self.names.index(name)

    def where(self, row: int) -> str:
        """A row in words."""
        place = row + self.first if self.lines is None else self.lines[row]
        return f"{'line' if self.first else 'row'} {place}"

    def is_text(self, column: int) -> bool:
        """Whether cells are text rather than numbers or dates."""
        return self.columns[column].dtype.kind not in "iufbM"

    def numbers(self, column: int) -> Array:
        """A column as numbers, NaN where a cell is empty; an error where it says something else."""
        if not self.is_text(column):
            typed = np.asarray(self.columns[column], np.float64)
            if np.isinf(typed).any():
                raise TableError(self._not_numbers(column, np.flatnonzero(np.isinf(typed))))
            return typed
        out = np.full(len(self), np.nan)
        bad = []
        for row, cell in enumerate(self.columns[column]):
            text = str(cell).strip()
            if text.lower() in MISSING:
                continue
            try:
                out[row] = _number(text, self.decimal)
            except ValueError:
                bad.append(row)
        if bad:
            raise TableError(self._not_numbers(column, bad))
        return out

    def quoted(self, column: int, rows: Sequence[int]) -> str:
        """What cells say, with their places."""
        cells = self.columns[column]
        said = (f"{self.where(row)} says {str(cells[row])!r}" for row in rows)
        return listed(said, len(rows))

    def _not_numbers(self, column: int, bad: Any) -> str:
        cells = self.columns[column]
        shown = self.quoted(column, bad)
        remedy = "Correct them, or leave the cells empty and use --gaps fill."
        other = "," if self.decimal == "." else "."
        texts = [str(cells[row]).strip() for row in bad]
        if all(THOUSANDS.match(text) for text in texts):
            remedy = "Remove the separators of thousands."
            if _all_numbers(texts, other):
                remedy += f" If they are decimal signs: --decimal '{other}'."
        elif _all_numbers(texts, other):
            remedy = f"For numbers with a decimal {_SIGNS[other]}: --decimal '{other}'."
        return f"column {self.names[column]!r} has cells that are not numbers: {shown}. {remedy}"


_SIGNS = {",": "comma", ".": "point"}


def _number(text: str, decimal: str) -> float:
    if decimal != ".":
        if "." in text:
            raise ValueError
        text = text.replace(decimal, ".")
    if "_" in text:  # Python's own spelling of numbers, not a table's
        raise ValueError
    value = float(text)
    if not np.isfinite(value):
        raise ValueError
    return value


def _all_numbers(cells: Sequence[Any], decimal: str) -> bool:
    try:
        for cell in cells:
            _number(str(cell).strip(), decimal)
    except ValueError:
        return False
    return True


def need_pandas() -> Any:
    """Pandas, or how to get it."""
    try:
        import pandas
    except ImportError:
        raise TableError("tables need pandas: pip install 'eigenecho[cli]'") from None
    return pandas


def read(path: Path, *, sep: str | None = None, decimal: str = ".", encoding: str = "") -> Table:
    """Read a CSV file, also compressed with gzip, or a Parquet file.

    Parameters
    ----------
    path : Path
    sep : str, optional
        Between cells; by default whichever of , ; tab | stands most often in the header.
    decimal : {".", ","}
    encoding : str
        UTF-8 by default.
    """
    if decimal not in _SIGNS:
        raise TableError(f"--decimal {decimal!r} will not do: expected '.' or ','.")
    if sep is not None:
        sep = {"tab": "\t", "\\t": "\t"}.get(sep, sep)
        if len(sep) != 1:
            raise TableError(f"--sep {sep!r} will not do: expected one character, or 'tab'.")
    if path.suffix.lower() in PARQUET:
        return _read_parquet(path)
    text = _text(path, encoding)
    if not text.strip():
        raise TableError(f"{path} is empty. Expected a header and rows of cells.")
    sep = sep or _separator(text)
    try:
        rows, lines = _rows(csv.reader(io.StringIO(text, newline=""), delimiter=sep))
    except csv.Error as error:
        raise TableError(f"{path} is no CSV file: {error}.") from None
    header = [name.strip() for name in rows[0]]
    body = rows[1:]
    while body and not any(cell.strip() for cell in body[-1]):
        body.pop()
    if not body:
        raise TableError(f"{path} has a header and no rows.")
    _check_widths(path, header, body, sep, lines)
    if _all_numbers(header, decimal):
        raise TableError(
            f"{path} has no header: its first line is {sep.join(header)[:60]!r}. "
            "Put the names of the columns there."
        )
    cells = [row or [""] * len(header) for row in body]
    columns = tuple(np.array(column, dtype=object) for column in zip(*cells, strict=True))
    return Table(path, tuple(header), columns, first=2, decimal=decimal, lines=lines)


def _rows(reader: Any) -> tuple[list[list[str]], Array]:
    """All rows, and the lines at which those below the header start."""
    rows, ends = [], []
    for row in reader:
        rows.append(row)
        ends.append(reader.line_num)
    return rows, np.array(ends[:-1]) + 1


def _check_widths(
    path: Path, header: list[str], body: list[list[str]], sep: str, lines: Array
) -> None:
    for row, cells in enumerate(body):
        if len(cells) != len(header) and cells:
            remedy = "Quote cells that contain the separator, or name another one with --sep."
            if sep == "," and len(cells) > len(header):
                remedy += " Numbers with decimal commas need another separator or quotes."
            raise TableError(
                f"{path}, line {lines[row]} has {len(cells)} cells where the header has "
                f"{len(header)}: {sep.join(cells)[:60]!r}. {remedy}"
            )


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
    import difflib

    try:
        names = os.listdir(path.parent)
    except OSError:
        return ""
    nearest = difflib.get_close_matches(path.name, names, n=1)
    return f" Did you mean {str(path.parent / nearest[0])!r}?" if nearest else ""


def _separator(text: str) -> str:
    header = text.splitlines()[0]
    return max(SEPARATORS, key=header.count)


def _read_parquet(path: Path) -> Table:
    pandas = need_pandas()
    if not path.is_file():
        raise TableError(f"cannot read {path}: no such file.{_beside(path)}")
    try:
        frame = pandas.read_parquet(path)
    except ImportError:
        raise TableError(
            f"{path} is a Parquet file, which needs pyarrow: pip install 'eigenecho[parquet]'. "
            "CSV files need nothing more."
        ) from None
    except Exception as error:  # every engine has errors of its own
        said = str(error).rstrip(".")
        raise TableError(f"cannot read {path} as Parquet: {said}.") from None
    if frame.index.name is not None or frame.index.dtype.kind == "M":
        frame = frame.reset_index()
    if frame.shape[0] == 0 or frame.shape[1] == 0:
        raise TableError(f"{path} has no rows.")
    columns, utc = [], []
    for i, name in enumerate(map(str, frame.columns)):
        column = frame.iloc[:, i]
        local = _local(column, pandas)
        columns.append(_typed(column if local is None else local, pandas))
        if local is None and getattr(column.dtype, "tz", None) is not None:
            utc.append(name)
    names = tuple(map(str, frame.columns))
    return Table(path, names, tuple(columns), first=0, utc=tuple(utc))


def _local(column: Any, pandas: Any) -> Any:
    """Midnights of some place as days, whose step summer time would break; else None."""
    if not isinstance(column.dtype, pandas.DatetimeTZDtype):
        return None
    local = column.dt.tz_localize(None)
    return local if bool((local == local.dt.normalize()).all()) else None


def _typed(column: Any, pandas: Any) -> Any:
    """A column of a frame as numbers, dates or text."""
    if pandas.api.types.is_bool_dtype(column) or pandas.api.types.is_numeric_dtype(column):
        return column.to_numpy(dtype=np.float64, na_value=np.nan)
    if pandas.api.types.is_datetime64_any_dtype(column):
        if column.dt.tz is not None:
            column = column.dt.tz_convert("UTC").dt.tz_localize(None)
        return column.to_numpy()
    return column.astype(object).where(column.notna(), "").map(str).to_numpy(dtype=object)
