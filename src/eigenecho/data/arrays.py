"""Series held as arrays: one (T,), columns (T, D), or a list of (T_i,)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from eigenecho.checks import as_array, check_count, check_pandas
from eigenecho.data.columns import Columns, check_known, choose, split, unwanted
from eigenecho.data.numbers import as_floats, check_observed
from eigenecho.data.panel import History, Panel
from eigenecho.errors import Shown, bad_argument
from eigenecho.types import Array, Forecast

KINDS = {"single": "an array (T,)", "columns": "an array (T, D)", "list": "a list of arrays (T,)"}
"""How arrays are held, in words."""
WANTED = "a series (T,), columns (T, D), or a list of arrays (T,)"


@dataclass(frozen=True)
class ArrayHolder:
    """How arrays were held, how many series they are, and the columns of X."""

    kind: str
    count: int
    columns: Columns

    @property
    def shared(self) -> bool:
        """Whether all series have the same rows."""
        return self.kind != "list"

    def read_context(
        self, y: Any, X: Any = None, *, name: str = "context", X_name: str = "context_X"
    ) -> Panel:
        """Other series, held alike and with the same columns of X."""
        return self._panel(y, X, name, X_name)

    def follow(self, panel: Panel, y_new: Any, X_new: Any = None) -> Panel:
        """The panel with rows that follow; of a list, an empty array for a series without any."""
        more = self._panel(y_new, X_new, "y_new", "X_new", whole=False)
        if len(more) != len(panel):
            raise bad_argument("y_new", Shown(f"{len(more)} series"), f"{len(panel)}, as before")
        pairs = zip(panel.histories, more.histories, strict=True)
        joined = tuple(before.then(after) for before, after in pairs)
        return Panel(joined, (), more.container, panel.known_names, panel.past_names)

    def future(self, panel: Panel, X: Any, horizon: int) -> list[Array]:
        """Columns that are known ahead, (horizon, k) after the end of each series."""
        wanted = len(self.columns.known)
        if not wanted:
            if X is not None:
                raise unwanted("X", self.columns)
            return [np.empty((horizon, 0))] * len(panel)
        if X is None:
            raise bad_argument(
                "X", None, f"{horizon} rows of {_listed(self.columns)} for each series",
                "The fit had columns that are known ahead: say what they will be.",
            )  # fmt: skip
        known = Columns(self.columns.known, (), True)
        rows = [
            _rows(x, "X", horizon, known, i if self.kind == "list" else None)
            for i, x in enumerate(_shares(self.kind, X, "X", len(panel)))
        ]
        for i, one in enumerate(rows):
            check_known(one, known, "X", _row, i if self.kind == "list" else None)
        return rows if self.kind == "list" else rows * len(panel)

    def forecast(
        self,
        panel: Panel,
        horizon: int,
        mean: Sequence[Array] | None,
        lower: Sequence[Array] | None = None,
        upper: Sequence[Array] | None = None,
        quantiles: Sequence[Array] | None = None,
        levels: Sequence[float] | None = None,
    ) -> Any:
        """(H,), (H, D) or a list of (H,); ``Forecast`` of them with bounds.

        Quantiles have a last axis of their own, and stand alone: (H, Q), (H, D, Q).
        """
        if quantiles is not None:
            return self._held(quantiles)
        if lower is None or upper is None:
            return self._held(mean)
        if self.kind == "list":
            return list(map(Forecast, mean or (), lower, upper))
        return Forecast(self._held(mean), self._held(lower), self._held(upper))

    def rolling(self, panel: Panel, origins: Sequence[Array], values: Sequence[Array]) -> Any:
        """(O, H), (O, H, D) or a list of (O, H)."""
        return np.stack(values, axis=-1) if self.kind == "columns" else self._held(values)

    def row_of(self, panel: Panel, series: int, origin: Any) -> int | None:
        """None: rows of arrays have no times."""
        return None

    def times(self, panel: Panel, series: int) -> Any:
        """Row numbers."""
        return np.arange(len(panel.histories[series]))

    def times_ahead(self, panel: Panel, series: int, horizon: int) -> Any:
        """The row numbers that follow."""
        rows = len(panel.histories[series])
        return np.arange(rows, rows + horizon)

    @property
    def step(self) -> str:
        """Rows of arrays are steps."""
        return "1 row"

    def check(self) -> None:
        """Raise where a file does not hold the kind, the series or the columns of arrays."""
        if self.kind not in KINDS:
            raise bad_argument("kind", self.kind, f"one of {', '.join(KINDS)}")
        check_count(self.count, "count", "a number of series", 1)
        if self.kind == "single" and self.count != 1:
            raise bad_argument("count", self.count, "1 series")
        labels = self.columns.labels
        is_numbers = all(type(label) is int for label in labels)
        if not (self.columns.numbered and is_numbers) or labels != tuple(range(len(labels))):
            raise bad_argument("columns", self.columns, "numbers of columns, in order")

    def _held(self, answers: Any) -> Any:
        if self.kind == "single":
            return answers[0]
        return np.stack(answers, axis=1) if self.kind == "columns" else list(answers)

    def _panel(self, y: Any, X: Any, name: str, X_name: str, whole: bool = True) -> Panel:
        kind, items = unpacked(y, name)
        if kind != self.kind:
            raise bad_argument(name, Shown(KINDS[kind]), f"{KINDS[self.kind]}, as in fit")
        return _panel(self, items, X, name, X_name, whole)


def read_arrays(y: Any, X: Any = None, *, past: Any = (), name: str = "y") -> Panel:
    """Series held as arrays; columns of X (T, k) are numbers, of which ``past`` names some."""
    kind, items = unpacked(y, name)
    columns = choose(range(_width(X, kind)), past, numbered=True)
    return _panel(ArrayHolder(kind, 0, columns), items, X, name, "X", True)


def unpacked(y: Any, name: str) -> tuple[str, list[Any]]:
    """How arrays are held, and the columns (T,) in them."""
    check_pandas(y, name)
    if hasattr(y, "toarray"):
        raise bad_argument(name, Shown(type(y).__name__), "a dense array", f"{name}.toarray().")
    if isinstance(y, (list, tuple)) and any(_is_series(one) for one in y):
        return "list", _listed_series(y, name)
    if hasattr(y, "iloc"):
        raise bad_argument(
            name, Shown(f"a {type(y).__name__}"), f"{WANTED}, as in fit", f"{name}.to_numpy()."
        )
    array = _plain(y) if hasattr(y, "ndim") else as_array(y, name, WANTED)
    if array.ndim not in (1, 2):
        got = type(y).__name__ if not array.ndim else f"shape {array.shape}"
        raise bad_argument(name, Shown(got), WANTED)
    if 0 in array.shape:
        raise bad_argument(name, Shown(f"shape {array.shape}"), "at least one row and column")
    return ("single", [array]) if array.ndim == 1 else ("columns", list(array.T))


def _plain(y: Any) -> Any:
    """An array, masked or not: of a matrix every column would be a matrix again."""
    return y if isinstance(y, np.ma.MaskedArray) else np.asarray(y)


def _is_series(one: Any) -> bool:
    return hasattr(one, "__len__") and not isinstance(one, (str, bytes))


def _listed_series(y: Sequence[Any], name: str) -> list[Any]:
    for i, one in enumerate(y):
        check_pandas(one, f"{name}[{i}]")
        if hasattr(one, "iloc"):
            raise bad_argument(
                name, Shown(f"a list with a {type(one).__name__}"), WANTED,
                f"pandas.concat({name}, axis=1) is a frame with a column for each series.",
            )  # fmt: skip
        if isinstance(one, (list, tuple)):
            raise bad_argument(
                name, Shown(f"a list of {type(one).__name__}s"), WANTED,
                f"np.array({name}) for rows of columns (T, D), [np.array(s) for s in {name}] for "
                "a list of series.",
            )  # fmt: skip
        if np.ndim(one) != 1:
            got = Shown(f"shape {np.shape(one)} in series {i}")
            raise bad_argument(name, got, "a list of arrays (T,)")
    return [_plain(one) for one in y]


def _panel(
    holder: ArrayHolder, items: list[Any], X: Any, name: str, X_name: str, whole: bool
) -> Panel:
    several = holder.kind != "single"
    histories = []
    values = [_values(item, name, holder.kind, i, whole) for i, item in enumerate(items)]
    drivers = _drivers(holder, X, X_name, values, whole)
    for i, (one, (known, past)) in enumerate(zip(values, drivers, strict=True)):
        histories.append(History(i if several else None, one, known, past))
    columns = holder.columns
    holder = ArrayHolder(holder.kind, len(items), columns)
    return Panel(tuple(histories), (), holder, columns.known_names, columns.past_names)


def _values(item: Any, name: str, kind: str, i: int, whole: bool) -> Array:
    label, series = (i if kind == "columns" else None), (i if kind == "list" else None)
    values = as_floats(item, name, label, series)
    if whole and not len(values):
        raise bad_argument(name, Shown(f"0 rows in series {i}"), "at least one row in each")
    if whole:
        check_observed(values, name, None if kind == "single" else i)
    return values


def _drivers(
    holder: ArrayHolder, X: Any, name: str, values: list[Array], whole: bool
) -> list[tuple[Array | None, Array | None]]:
    """Columns known ahead, and up to the present, of each series."""
    columns = holder.columns
    if not columns.labels:
        if X is not None:
            raise unwanted(name, columns)
        return [(None, None)] * len(values)
    if X is None:
        raise bad_argument(name, None, f"the columns of X that fit had: {_listed(columns, True)}")
    found = []
    for i, x in enumerate(_shares(holder.kind, X, name, len(values))):
        series = i if holder.kind == "list" else None
        rows = _rows(x, name, len(values[i]), columns, series)
        found.append(split(rows, columns, name, _row, series, whole))
    return found if holder.kind == "list" else found * len(values)


def _shares(kind: str, X: Any, name: str, count: int) -> list[Any]:
    """X of each series of a list, or the one that all columns share."""
    if kind != "list":
        return [X]
    if not isinstance(X, (list, tuple)) or len(X) != count:
        got = f"{len(X)} arrays" if isinstance(X, (list, tuple)) else type(X).__name__
        raise bad_argument(name, Shown(got), f"a list of {count} arrays (T, k), one a series")
    return list(X)


def _rows(x: Any, name: str, rows: int, columns: Columns, series: int | None) -> Array:
    """Rows (T, c) of one X, 1-D where it is one column."""
    which = "" if series is None else f" of series {series}"
    if hasattr(x, "iloc"):
        raise bad_argument(
            name, Shown(f"a {type(x).__name__}{which}"), "an array, as the series are",
            f"{name}.to_numpy(), or a Series or DataFrame for both.",
        )  # fmt: skip
    table = _table(x, name)
    wanted = (rows, len(columns.labels))
    if table.ndim != 2 or table.shape != wanted:
        raise bad_argument(
            name, Shown(f"shape {np.shape(x)}{which}"), f"{rows} rows of {_listed(columns, True)}",
            "Columns act at their own row: one row of X for each row of the series.",
        )  # fmt: skip
    found = [as_floats(table[:, j], name, j, series, flags=True) for j in range(wanted[1])]
    return np.stack(found, axis=1)


def _table(x: Any, name: str) -> Any:
    check_pandas(x, name)
    table = _plain(x) if hasattr(x, "ndim") else as_array(x, name, "an array (T, k)")
    return table.reshape(-1, 1) if table.ndim == 1 else table


def _width(X: Any, kind: str) -> int:
    """The number of columns of X, whatever else is wrong with it."""
    if X is None or (kind == "list" and not (isinstance(X, (list, tuple)) and len(X))):
        return 0 if X is None else 1
    shape = _table(X[0] if kind == "list" else X, "X").shape
    if len(shape) != 2 or not shape[1]:
        raise bad_argument("X", Shown(f"shape {shape}"), "an array (T, k) with at least one column")
    return int(shape[1])


def _listed(columns: Columns, all_of_them: bool = False) -> str:
    names = columns.known_names
    if all_of_them:
        names = Columns(columns.labels, (), columns.numbered).known_names
    return f"{len(names)} column{'s' * (len(names) != 1)} ({', '.join(names)})"


def _row(row: int) -> str:
    return f"row {row}"
