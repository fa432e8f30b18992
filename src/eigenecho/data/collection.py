"""Reading of labelled series for classification from arrays, lists and frames."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass
from itertools import accumulate
from typing import Any

import numpy as np

from eigenecho.arrays import find_device
from eigenecho.checks import as_array, check_known
from eigenecho.data.read import LongNames, PanelFormat, read_X
from eigenecho.errors import Words, bad_argument, counted, not_finite, object_of, place
from eigenecho.frames import FrameFormat, to_pandas
from eigenecho.series import check_not_empty
from eigenecho.tables import MISSING, as_table, column_labels
from eigenecho.types import Array

LAYOUTS = ("channels_last", "channels_first")
FORMATS = (
    "an array (series, T) or (series, T, D), a list of arrays (T,) or (T, D), or a long DataFrame"
)
SHORTEST = 2
"""Minimum number of rows in a series, so that it has at least one increment."""


@dataclass(frozen=True, eq=False)
class Collection:
    """Series of different lengths that have the same channels.

    Attributes
    ----------
    rows : array (n, D)
        The rows of all series. Series i is ``rows[starts[i] : starts[i + 1]]``.
    starts : array (series + 1,) of int
        First row of each series, and the total number of rows.
    channels : tuple of str, optional
        Column names of a frame.
    ids : pandas Index, optional
        Sorted ids of the series in a long frame.
    format : FrameFormat, optional
        The library of a long frame, or None for pandas.
    """

    rows: Array
    starts: Array
    channels: tuple[str, ...] | None = None
    ids: Any = None
    format: FrameFormat | None = None

    def __len__(self) -> int:
        return len(self.starts) - 1

    def __getitem__(self, part: slice) -> Collection:
        """Return consecutive series as views."""
        first, last, _ = part.indices(len(self))
        starts = self.starts[first : last + 1]
        return Collection(self.rows[starts[0] : starts[-1]], starts - starts[0], self.channels)

    @property
    def lengths(self) -> Array:
        """Number of steps of each series."""
        return np.diff(self.starts)

    def restore(self, values: Array, names: Any) -> Any:
        """Return values (series,) or (series, c) in the caller's format.

        If X is a long pandas frame, the result is a Series or a frame with the ids as index and
        ``names`` as column names. Frames of other libraries have the ids in their first column.
        """
        if self.ids is None:
            return values
        import pandas

        if values.ndim == 1 and self.format is None:
            return pandas.Series(values, index=self.ids, name=names[0])
        frame = pandas.DataFrame(values, index=self.ids, columns=list(names))
        if self.format is None:
            return frame
        if str(self.ids.name) in map(str, names):
            expected = f"a name that differs from the columns of results: {', '.join(names)}"
            raise bad_argument("id", self.ids.name, expected, "Rename the column of X.")
        return self.format.write(frame.rename(columns=str), self.ids.name, ())


def check_options(layout: Any, id: Any, time: Any) -> None:
    """Raise an error for an unknown layout, or if ``id`` or ``time`` is not a column name."""
    check_known(layout, "layout", LAYOUTS)
    for name, column in {"id": id, "time": time}.items():
        if not isinstance(column, Hashable):
            raise bad_argument(name, column, "a column name")


def read_collection(X: Any, layout: str, id: Hashable, time: Hashable) -> Collection:
    """Read series from arrays, lists or a long frame with the columns ``id`` and ``time``."""
    check_options(layout, id, time)
    _refuse_tensors(X, "X")
    if isinstance(X, np.ndarray) and X.dtype.kind == "O" and X.ndim == 1:
        X = X.tolist()
    levels = getattr(getattr(X, "index", None), "names", ())
    if {id, time} & {*(column_labels(X) or ())} or {id, time} <= {*levels}:
        X, native = to_pandas(X, "X")
        series = _read_long(X, FrameFormat.of(native, id, time), id, time)
    elif isinstance(X, (list, tuple)) and all(
        hasattr(x, "__len__") and not isinstance(x, str) for x in X
    ):
        check_not_empty(X, "X")
        series = _read_list(X, layout)
    else:
        series = _read_array(X, layout)
    _check(series)
    return series


def _refuse_tensors(value: Any, name: str) -> None:
    """Raise an error for tensors on a device and for Dask collections."""
    if find_device({name: value}) is not None:
        remedy = f"Classifiers run on the CPU: pass {name}.cpu().numpy()."
        raise bad_argument(name, Words("a tensor"), "a NumPy array or a DataFrame", remedy)


def _read_long(X: Any, format: FrameFormat | None, id: Hashable, time: Hashable) -> Collection:
    check_not_empty(range(len(X)), "X")
    for name, column in {"id": id, "time": time}.items():
        if column not in X.columns:
            got, expected = Words(f"no column {column!r}"), "a long frame with this column"
            remedy = f"Set {name}= to its name, or use X.reset_index() if it is in the index."
            if name == "time":
                remedy += f" For a frame with a series in each row, use X.set_index({id!r})."
            raise bad_argument("X", got, expected, remedy)
    import pandas

    tables = read_X(X, PanelFormat("long", LongNames(id, time)), "X", ())
    ids = pandas.Index(list(tables), name=id, tupleize_cols=False)
    parts = [table.values for table in tables.values()]
    channels = tuple(str(label) for label in next(iter(tables.values())).labels)
    return _joined(parts, channels, ids, format)


def _read_list(X: Sequence[Any], layout: str) -> Collection:
    parts: list[Array] = []
    channels: tuple[str, ...] = ()
    for i, x in enumerate(X):
        item = x if hasattr(x, "shape") else as_array(x, f"X[{i}]", "a series (T,) or (T, D)")
        is_flat = len(item.shape) == 1
        item = np.asanyarray(item).reshape(-1, 1) if is_flat else item
        part = as_table(item, "X", i).as_rows(np.float64)
        parts.append(part.T if layout == "channels_first" and not is_flat else part)
        if parts[-1].shape[1] != parts[0].shape[1]:
            got = Words(f"{counted(parts[-1].shape[1], 'channel')} in series {i}")
            expected = f"{counted(parts[0].shape[1], 'channel')}, as in series 0"
            remedy = "If the arrays have shape (D, T), use layout='channels_first'."
            raise bad_argument("X", got, expected, remedy)
        names = tuple(map(str, column_labels(item) or ())) if layout == "channels_last" else ()
        channels = channels or names
        if names not in ((), channels):
            got = Words(f"columns {names} in series {i}")
            raise bad_argument("X", got, f"columns {channels}, as in the previous series")
    return _joined(parts, channels or None)


def _read_array(X: Any, layout: str) -> Collection:
    table = X if hasattr(X, "shape") else as_array(X, "X", FORMATS)
    shape = tuple(table.shape)
    if len(shape) not in (2, 3):
        got = X if isinstance(X, (str, int, float)) else Words(object_of(X))
        remedy = "Reshape your data: X.reshape(1, -1) is a single series." * (len(shape) == 1)
        raise bad_argument("X", Words(f"shape {shape}") if shape else got, FORMATS, remedy)
    if len(shape) == 3:
        table = np.asanyarray(table).reshape(shape[0], shape[1] * shape[2])
    stack = as_table(table, "X").as_rows(np.float64).reshape((*shape, 1)[:3])
    if len(shape) == 3 and layout == "channels_first":
        stack = stack.transpose(0, 2, 1)
    n, T, D = stack.shape
    if T < SHORTEST:  # in the words of scikit-learn
        raise ValueError(
            f"X has {T} feature(s) (shape={shape}) while a minimum of {SHORTEST} is required: "
            f"each series must have at least {SHORTEST} rows. If X has shape (series, D, T), use "
            "layout='channels_first'."
        )
    return Collection(np.ascontiguousarray(stack).reshape(n * T, D), np.arange(n + 1) * T)


def _joined(parts: Sequence[Array], *details: Any) -> Collection:
    starts = np.array([0, *accumulate(map(len, parts))])
    return Collection(np.ascontiguousarray(np.concatenate(parts)), starts, *details)


def _check(series: Collection) -> None:
    """Raise an error if there are no series or channels, or a series is short or not finite."""
    check_not_empty(range(len(series)), "X")
    if not series.rows.shape[1]:
        raise bad_argument("X", Words("0 channels"), "at least one channel")
    short = series.lengths < SHORTEST
    if short.any():
        i = int(np.argmax(short))
        got = Words(f"{counted(series.lengths[i], 'row')} in series {_label(series, i)}")
        raise bad_argument("X", got, f"at least {SHORTEST} rows in each series")
    finite = np.isfinite(series.rows)
    if not finite.all():
        row, channel = np.unravel_index(int(np.argmin(finite)), finite.shape)
        i = int(np.searchsorted(series.starts, row, side="right")) - 1
        names = series.channels or (range(series.rows.shape[1]) if len(finite[0]) > 1 else (None,))
        where = place(int(row - series.starts[i]), names[int(channel)], _label(series, i))
        raise not_finite("X", float(series.rows[row, channel]), where, series.rows.dtype)


def _label(series: Collection, i: int) -> Any:
    return i if series.ids is None else repr(series.ids[i])


# Labels -------------------------------------------------------------------------------------------


def read_labels(y: Any, series: Collection) -> Array:
    """Return the labels (n,) of the series, matched by id if X is a long frame."""
    _refuse_tensors(y, "y")
    if series.ids is not None:
        return _as_labels(_labels_by_id(y, series.ids), series)
    labels = _as_labels(y, series)
    if labels.shape[:1] != (len(series),):
        got = Words(counted(len(labels), "label") if labels.ndim else object_of(y))
        expected = f"{counted(len(series), 'label')}, one for each series"
        remedy = "To match labels by id, pass X as a long frame and set id= and time=."
        raise bad_argument("y", got, expected, remedy)
    return labels


def _labels_by_id(y: Any, ids: Any) -> list[Any]:
    if hasattr(y, "iloc") and y.ndim == 1:
        if not y.index.is_unique:
            raise bad_argument("y", Words("a duplicate id"), "one label for each id")
        y = dict(zip(y.index, y.tolist(), strict=True))
    if not isinstance(y, Mapping):
        wanted = "a pandas Series with the ids as index, or a dict from ids to labels"
        remedy = "For a polars frame, pass dict(zip(ids, labels))."
        raise bad_argument("y", Words(object_of(y)), wanted, remedy)
    missing = [id for id in ids if id not in y]
    if missing:
        got = Words(f"no label for series {missing[0]!r}")
        raise bad_argument("y", got, "a label for each series in X")
    return [y[id] for id in ids]


def _as_labels(y: Any, series: Collection) -> Array:
    """Return labels as an array of text, numbers, Booleans or dates without missing values."""
    y = y.tolist() if np.ma.is_masked(y) else y
    labels = np.asarray(y, object if isinstance(y, (list, tuple)) else None)
    values = list(labels.ravel())
    missing = [
        bool(type(value).__name__ in MISSING or value != value or value in (np.inf, -np.inf))
        for value in values
    ]
    if any(missing):
        i = missing.index(True)
        got = Words(f"{values[i]} for series {_label(series, i)}")
        raise bad_argument("y", got, "a label for each series", "Drop the unlabelled series.")
    if len({isinstance(value, str) for value in values}) > 1:
        raise bad_argument("y", Words("both text and numbers"), "labels of a single type")

    plain = np.array(values)
    # Text loses trailing NUL characters, and large integers beside floats lose digits.
    is_lossy = plain.ndim == 1 and plain.dtype.kind in "Uf"
    if is_lossy and len(set(plain.tolist())) < len(set(values)):
        got = Words(f"different labels that are equal in an array of dtype {plain.dtype}")
        raise bad_argument("y", got, "labels that differ", "Rename the labels.")
    return plain.reshape(labels.shape) if plain.size == labels.size else labels
