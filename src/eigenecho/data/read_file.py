"""Reading of CSV and Parquet files as frames of uninterpreted cells."""

from __future__ import annotations

import csv
import gzip
import zlib
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


@dataclass(frozen=True)
class FileFormat:
    """The format of a file, as specified by command-line options.

    Attributes
    ----------
    sep : str, optional
        The character between cells, or "tab". By default, the one that the header contains.
    decimal : {".", ","}, optional
        The decimal mark, by default a point.
    thousands : str, optional
        The character between groups of three digits. By default, there is none.
    skip_rows : int
        Number of lines before the header.
    encoding : str, optional
        By default UTF-8.
    date_format : str, optional
        The format of dates, such as "%d/%m/%Y". By default ISO 8601.
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
        thousands = self.thousands
        if thousands is not None and (
            len(thousands) != 1 or thousands == self.decimal or thousands.isalnum()
        ):
            expected = "one character that is no letter, no digit and not the decimal mark"
            raise ValueError(f"Invalid --thousands {thousands!r}: expected {expected}.")
        if self.sep is not None and len(self.sep) != 1 and self.sep != "tab":
            raise ValueError(f"Invalid --sep {self.sep!r}: expected one character, or 'tab'.")


def read_file(path: Path, form: FileFormat) -> Any:
    """Return the cells of a file as a DataFrame.

    The cells of CSV files are text, and the index contains line numbers and is named "line". The
    columns of Parquet files keep their types, and the index is named "row".
    """
    frame = _read_parquet(path) if path.suffix.lower() in PARQUET else _read_csv(path, form)
    if not frame.size:
        raise ValueError(f"{path} contains no data. Expected a header and at least one row.")
    twice = frame.columns[frame.columns.duplicated()]
    if len(twice):
        raise ValueError(f"Several columns of {path} are named {twice[0]!r}. Rename them.")
    return frame


def _read_csv(path: Path, form: FileFormat) -> Any:
    import pandas

    rows: list[list[str]] = []
    numbers: list[int] = []
    try:
        opened = gzip.open if path.suffix.lower() == ".gz" else open
        with opened(path, "rt", encoding=form.encoding or "utf-8-sig", newline="") as file:
            lines = list(islice(file, form.skip_rows, None))
        if any("\0" in line for line in lines):
            raise UnicodeError("it contains zero bytes")
        sep = "\t" if form.sep == "tab" else form.sep or _find_separator(path, lines)
        reader = csv.reader(lines, delimiter=sep, strict=True)
        for row in reader:
            # In a table with only one column, an empty line is a missing value.
            if "".join(row).strip() or (rows and len(rows[0]) == 1):
                rows.append(row or [""])
                numbers.append(form.skip_rows + reader.line_num)
    except (LookupError, UnicodeError, csv.Error) as error:
        remedy = "Expected a CSV file in UTF-8. Specify --encoding, such as cp1252 or utf-16."
        raise ValueError(f"Cannot read {path}: {error}. {remedy}") from None
    except (OSError, EOFError, zlib.error) as error:
        raise ValueError(f"Cannot read {path}: {error}.") from None
    for row, number in zip(rows, numbers, strict=True):
        if len(row) != len(rows[0]):
            raise ValueError(
                f"Line {number} of {path} has {counted(len(row), 'cell')}, but the header on line "
                f"{numbers[0]} has {len(rows[0])}: {sep.join(row)[:60]!r}. Specify --skip-rows if "
                "the header is on another line, or --sep, or put cells that contain the separator "
                "in quotes."
            )
    header = [name.strip() or f"column {i}" for i, name in enumerate(rows[0] if rows else [], 1)]
    index = pandas.Index(numbers[1:], name="line")
    return pandas.DataFrame(rows[1:], index, header, dtype=object)


def _find_separator(path: Path, lines: list[str]) -> str:
    """Return the only separator in the header, or a comma if there is none."""
    header = [next(filter(str.strip, lines), "")]
    found = [sep for sep in SEPARATORS if len(next(csv.reader(header, delimiter=sep))) > 1]
    if len(found) > 1:
        names = " and ".join(map(repr, found)).replace("'\\t'", "'tab'")
        raise ValueError(f"The header of {path} contains {names}. Specify --sep.")
    return found[0] if found else ","


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
    return frame.set_axis(map(str, frame.columns), axis=1).reset_index(drop=True).rename_axis("row")
