"""Reading of CSV and Parquet files as frames of uninterpreted cells."""

from __future__ import annotations

import csv
import gzip
import io
import re
import zlib
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Any

from eigenecho.errors import counted

PARQUET = (".parquet", ".pq")
SEPARATORS = (",", ";", "\t", "|")
NEEDS_PYARROW = (
    "is a Parquet file, which requires pyarrow. Install it with: pip install 'eigenecho[parquet]'."
)

SAMPLE = 100
"""Number of lines that are examined to detect the separator."""

DATE = r"(\d{4}[-/.]\d{1,2}([-/.]\d{1,2})?|\d{1,2}[-/.]\d{1,2}[-/.]\d{2,4})([T ].*)?"
"""Regular expression of dates, which are not valid column names."""


@dataclass(frozen=True)
class FileFormat:
    """The format of a file, as specified by command-line options.

    Attributes
    ----------
    sep : str, optional
        The character between cells, or "tab".
    decimal : {".", ","}, optional
        The decimal mark. The other character may separate thousands, unless ``thousands`` is set.
    thousands : str, optional
        The character between groups of three digits. A space matches all kinds of spaces.
    skip_rows : int
        Number of lines before the header.
    encoding : str, optional
    date_format : str, optional
        The format of dates, such as "%d/%m/%Y".
    """

    sep: str | None = None
    decimal: str | None = None
    thousands: str | None = None
    skip_rows: int = 0
    encoding: str | None = None
    date_format: str | None = None

    def __post_init__(self) -> None:
        if self.decimal not in (None, ".", ","):
            raise ValueError(f"Invalid --decimal {self.decimal!r}: expected '.' or ','.")
        if self.thousands not in (None, *{".", ",", " ", "'"} - {self.decimal}):
            expected = "'.', ',', ' ' or an apostrophe, other than the decimal mark"
            raise ValueError(f"Invalid --thousands {self.thousands!r}: expected {expected}.")
        if self.sep is not None and len(self.sep) != 1 and self.sep != "tab":
            raise ValueError(f"Invalid --sep {self.sep!r}: expected one character, or 'tab'.")


def read_file(path: Path, form: FileFormat) -> Any:
    """Return the cells of a file as a DataFrame.

    The cells of CSV files are text, and the index contains line numbers and is named "line". The
    columns of Parquet files keep their types, and the index is named "row".
    """
    if not path.is_file():
        reason = "it is a folder" if path.is_dir() else "there is no such file"
        raise ValueError(f"Cannot read {path}: {reason}.")
    if path.suffix.lower() in PARQUET:
        return _read_parquet(path)
    lines = list(islice(io.StringIO(_decode(path, form), newline=""), form.skip_rows, None))
    sep = "\t" if form.sep == "tab" else form.sep or _find_separator(path, lines)
    rows, numbers = _split(path, lines, sep, form.skip_rows)
    if len(rows) < 2:
        raise ValueError(f"{path} contains no data. Expected a header and at least one row.")
    _check_widths(path, rows, numbers, sep)
    return _as_frame(path, rows, numbers)


def _decode(path: Path, form: FileFormat) -> str:
    try:
        data = path.read_bytes()
        data = gzip.decompress(data) if data[:2] == b"\x1f\x8b" else data
    except (OSError, EOFError, zlib.error) as error:
        raise ValueError(f"Cannot read {path}: {error}.") from None
    if data[:4] == b"PAR1":
        raise ValueError(f"{path} is a Parquet file. Change its extension to .parquet.")
    if data[:4] == b"PK\x03\x04":
        raise ValueError(f"{path} is a spreadsheet or archive. Save the table as CSV.")
    bom = "utf-16" if data[:2] in (b"\xff\xfe", b"\xfe\xff") else "utf-8-sig"
    try:
        text = data.decode(form.encoding or bom)
    except LookupError:
        raise ValueError(f"Unknown --encoding {form.encoding!r}. Try cp1252 or utf-16.") from None
    except UnicodeError as error:
        hint = "If the file was written by an older Windows program, use --encoding cp1252."
        raise ValueError(f"Cannot read {path}: {error}. {hint}") from None
    if "\0" in text:
        raise ValueError(f"{path} contains null characters. Try --encoding utf-16-le or utf-16-be.")
    return text.removeprefix("\ufeff")


def _split(
    path: Path, lines: Sequence[str], sep: str, skipped: int
) -> tuple[list[list[str]], list[int]]:
    """Return the cells of all rows, without empty lines, and the line number of each row."""
    rows: list[list[str]] = []
    numbers: list[int] = []
    reader, start = csv.reader(lines, delimiter=sep, strict=True), 0
    try:
        for row in reader:
            # In a table with only one column, an empty line is a missing value.
            if len(row) > 1 or "".join(row).strip() or (rows and len(rows[0]) == 1):
                rows.append(row or [""])
                numbers.append(skipped + start + 1)
            start = reader.line_num
    except csv.Error as error:
        raise ValueError(f"Cannot read {path} from line {skipped + start + 1}: {error}.") from None
    while rows and not "".join(rows[-1]).strip():
        rows.pop()
    return rows, numbers[: len(rows)]


def _find_separator(path: Path, lines: Sequence[str]) -> str:
    """Return the separator for which most rows have the same number of cells.

    Raise an error if several separators fit all rows.
    """
    shares = {}
    for sep in SEPARATORS:
        rows = list(filter(None, csv.reader(lines[:SAMPLE], delimiter=sep)))
        width, count = Counter(map(len, rows or [[]])).most_common(1)[0]
        if width > 1:
            shares[sep] = count / len(rows)
    if list(shares.values()).count(1.0) > 1:
        names = " or ".join(repr(sep) for sep, share in shares.items() if share == 1)
        names = names.replace("'\\t'", "'tab'")
        raise ValueError(f"The cells of {path} may be separated by {names}. Specify --sep.")
    return max(shares, key=lambda sep: shares[sep], default=",")


def _check_widths(path: Path, rows: list[list[str]], lines: list[int], sep: str) -> None:
    """Raise an error if a row has more or fewer cells than the header.

    An additional empty cell at the end of all rows is removed.
    """
    width = len(rows[0])
    if all(len(row) == width + 1 and not row[-1].strip() for row in rows[1:]):
        rows[1:] = [row[:-1] for row in rows[1:]]
    place = next((i for i, row in enumerate(rows) if len(row) != width), None)
    if place is None:
        return
    common = Counter(map(len, rows)).most_common(1)[0][0]
    start = lines[next(i for i, row in enumerate(rows) if len(row) == common)]
    remedy = f"If line {start} is the header, use --skip-rows {start - 1}."
    if start == lines[0]:
        remedy = "Put cells that contain the separator in quotes, or specify --sep."
    if sep == "," and len(rows[place]) > width:
        remedy += " Numbers with decimal commas require quotes or another separator."
    raise ValueError(
        f"Line {lines[place]} of {path} has {counted(len(rows[place]), 'cell')}, but the header on "
        f"line {lines[0]} has {width}: {sep.join(rows[place])[:60]!r}. {remedy}"
    )


def _as_frame(path: Path, rows: list[list[str]], lines: list[int]) -> Any:
    import pandas

    header = [name.strip() for name in rows[0]]
    is_date = any(re.fullmatch(DATE, name) for name in header)
    if is_date or all(re.fullmatch(r"[-+\d.,]*", name) for name in header):
        raise ValueError(
            f"{path} has no header: line {lines[0]} is {header}. Expected column names. Use "
            "--skip-rows if they are on a later line."
        )
    frame = pandas.DataFrame(rows[1:], pandas.Index(lines[1:], name="line"), dtype=object)
    frame = frame.loc[:, [bool(name) or (frame[i] != "").any() for i, name in enumerate(header)]]
    if not all(header[i] for i in frame.columns[1:]):  # pandas writes an index without a name
        raise ValueError(
            f"The header on line {lines[0]} of {path} does not name every non-empty column. "
            "Name each column, put numbers that contain the separator in quotes, or use --sep."
        )
    return frame.rename(columns=lambda i: header[i] or "column 1")


def _read_parquet(path: Path) -> Any:
    import pandas

    try:
        frame = pandas.read_parquet(path)
    except ImportError:
        raise ValueError(f"{path} {NEEDS_PYARROW}") from None
    except Exception as error:  # each engine raises its own errors
        raise ValueError(f"Cannot read {path} as a Parquet file: {error}.") from None
    if frame.index.nlevels > 1 or frame.index.name is not None or frame.index.dtype.kind == "M":
        frame = frame.reset_index(allow_duplicates=True)
    if not frame.size:
        raise ValueError(f"{path} contains no data.")

    return frame.set_axis(map(str, frame.columns), axis=1).reset_index(drop=True).rename_axis("row")
