"""Tables: columns by name, numbers in them, and where rows stand in their file."""

from __future__ import annotations

import csv
import io
import math
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np

from eigenecho.errors import unknown_name
from eigenecho.types import Array

MISSING = {"", "na", "n/a", "#n/a", "nan", "null", "none", "-", "?"}
"""Cells, in small letters, that say that there is nothing."""

THOUSANDS = re.compile(r"[-+]?\d{1,3}([,. ']\d{3})+([,.]\d+)?$")
SIGNS = {",": "comma", ".": "point"}
GROUPED = {
    ".": re.compile(r"[-+]?[1-9]\d{0,2}(,\d{3})+(\.\d*)?"),
    ",": re.compile(r"[-+]?[1-9]\d{0,2}(\.\d{3})+(,\d*)?"),
}
"""Numbers with separators of thousands, by their decimal sign."""

DOTTED_DATE = re.compile(r"\d{1,2}\.\d{1,2}\.\d{2,4}\b.*")
DECIMAL_COMMA = re.compile(r"[-+]?\d*,(\d{1,2}|\d{4,})|[-+]?\d{1,3}(\.\d{3})+,\d*")
"""Cells that only countries with decimal commas write: 31.12.2024; 12,5 and 1.061,50."""

LARGEST = 1e150
"""Numbers beyond which squares leave the range of floating point."""

SHOWN = 5
"""Rows that an error lists before it only counts."""


class TableError(ValueError):
    """A file that cannot be used as it is; the message says what to do."""


def listed(texts: Iterable[str], count: int, what: str = "") -> str:
    """The first few of ``count`` texts, and how many more there are; ``what`` they are."""
    more = f"; and {count - SHOWN} more{what}" if count > SHOWN else ""
    return "; ".join(islice(texts, SHOWN)) + more


def counted(number: int, what: str) -> str:
    """A number of things, in words."""
    return f"{number} {what}{'s' * (number != 1)}"


@dataclass(frozen=True, eq=False)
class Table:
    """Columns of text, or of numbers and dates, (rows,) each.

    ``text`` is that of a CSV file, in which rows have lines, and ``sep`` stands between its cells;
    ``utc`` are columns that knew their place on Earth and were turned into UTC. ``decimal`` is the
    decimal sign, and the other sign then separates thousands; None is a point, without separators.
    """

    path: Path
    names: tuple[str, ...]
    columns: tuple[Any, ...]
    decimal: str | None = None
    text: str = ""
    sep: str = ","
    utc: tuple[str, ...] = ()

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

    def chosen(self, text: str, option: str) -> tuple[str, ...]:
        """Columns that an option names, with commas between them: "a,b"."""
        # A name may hold a comma itself.
        names = [text] if text in self.names else [name.strip() for name in text.split(",")]
        found = tuple(name for name in names if name)
        for name in found:
            self.index(name, option)
        return found

    def where(self, row: int) -> str:
        """A row in words, as an editor numbers it."""
        return f"line {self._lines[row]}" if self.text else f"row {row}"

    def numbers(self, column: int) -> Array:
        """A column as numbers, NaN where a cell is empty; an error where it says something else."""
        cells = self.columns[column]
        if cells.dtype.kind in "iufbM":
            found = np.asarray(cells, np.float64)
        else:
            found = self._read_numbers(column, [str(cell).strip() for cell in cells])
        if np.isinf(found).any():
            raise TableError(self._not_numbers(column, np.flatnonzero(np.isinf(found))))
        large = np.flatnonzero(np.abs(found) > LARGEST)
        if large.size:
            raise TableError(
                f"column {self.names[column]!r} has numbers whose squares are beyond floating "
                f"point: {self.quoted(column, large)}. Divide it by a power of ten."
            )
        return found

    def quoted(self, column: int, rows: Any) -> str:
        """What cells say, with their places."""
        cells = self.columns[column]
        said = (f"{self.where(row)} says {str(cells[row])!r}" for row in rows)
        return listed(said, len(rows))

    @cached_property
    def _lines(self) -> Array:
        """The line that each row starts at: cells of several lines push them down."""
        reader = csv.reader(io.StringIO(self.text, newline=""), delimiter=self.sep)
        ends = [reader.line_num for _ in reader]
        return np.array(ends[:-1]) + 1

    def _read_numbers(self, column: int, texts: Sequence[str]) -> Array:
        found = np.full(len(texts), np.nan)
        there = [row for row, text in enumerate(texts) if text.lower() not in MISSING]
        try:
            found[there] = [number(texts[row], self.decimal) for row in there]
        except ValueError:
            bad = [row for row in there if not all_numbers([texts[row]], self.decimal)]
            raise TableError(self._not_numbers(column, bad)) from None
        if self.decimal is None and self._may_have_decimal_commas:
            self._check_points(column, [row for row in there if "." in texts[row]])
        return found

    def _check_points(self, column: int, rows: Sequence[int]) -> None:
        """Raise where every point of a column, in these rows, may separate thousands."""
        cells = self.columns[column]
        if rows and all(GROUPED[","].fullmatch(str(cells[row]).strip()) for row in rows):
            raise TableError(
                f"column {self.names[column]!r} has numbers whose point may be a decimal point or "
                f"separate thousands: {self.quoted(column, rows)}. Say which: --decimal '.' for a "
                "decimal point, --decimal ',' for thousands."
            )

    @cached_property
    def _may_have_decimal_commas(self) -> bool:
        """Return True unless commas between cells, and nothing in them, speak for points."""
        if self.text and (self.sep != "," or len(self.columns) == 1):
            return True
        columns = [cells for cells in self.columns if cells.dtype.kind == "O"]
        texts = (str(cell).strip() for cells in columns for cell in cells)
        return any(DOTTED_DATE.fullmatch(text) or DECIMAL_COMMA.fullmatch(text) for text in texts)

    def _not_numbers(self, column: int, bad: Any) -> str:
        cells = self.columns[column]
        shown = self.quoted(column, bad)
        remedy = "Correct them, or leave the cells empty and use --gaps fill."
        texts = [str(cells[row]).strip() for row in bad]
        fits = [sign for sign in SIGNS if all_numbers(texts, sign)]
        if len(fits) == 2:
            remedy = "If commas separate thousands: --decimal '.'; if decimals: --decimal ','."
        elif fits:
            remedy = f"For numbers with a decimal {SIGNS[fits[0]]}: --decimal '{fits[0]}'."
        elif all(THOUSANDS.match(text) for text in texts):
            remedy = "Remove the separators of thousands."
        return f"column {self.names[column]!r} has cells that are not numbers: {shown}. {remedy}"


def number(text: str, decimal: str | None = None) -> float:
    """Read a finite number, as tables write it; anything else is a ``ValueError``.

    The sign that is not ``decimal`` may separate thousands; without ``decimal`` nothing may.
    """
    if decimal is not None and GROUPED[decimal].fullmatch(text):
        text = text.replace("," if decimal == "." else ".", "")
    # Underscores are Python's own spelling of numbers, not a table's.
    if "_" in text or (decimal == "," and "." in text):
        raise ValueError
    value = float(text.replace(decimal or ".", "."))
    if not math.isfinite(value):
        raise ValueError
    return value


def all_numbers(cells: Sequence[Any], decimal: str | None) -> bool:
    """Whether each cell is a number."""
    try:
        return all(math.isfinite(number(str(cell).strip(), decimal)) for cell in cells)
    except ValueError:
        return False


def need_pandas() -> Any:
    """Pandas, or how to get it."""
    try:
        import pandas
    except ImportError:
        raise TableError("tables need pandas: pip install 'eigenecho[cli]'") from None
    return pandas
