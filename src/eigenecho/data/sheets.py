"""Frames taken apart: rows that share their times, in order, and the columns of X beside them."""

from __future__ import annotations

import warnings
from collections.abc import Hashable
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from eigenecho.cells import says_number
from eigenecho.checks import check_pandas
from eigenecho.data.numbers import as_floats
from eigenecho.data.sheet_words import indexed, long_line, naming, with_times
from eigenecho.data.steps import is_date, is_period
from eigenecho.data.times import as_times, in_order, shown
from eigenecho.errors import ENCODE, Shown, bad_argument
from eigenecho.types import Array

TAKEN = ("forecast", "lower", "upper", "cutoff")
"""Columns that a long answer has beside ids and times."""
LOOKED_AT = 20
"""Cells by which it is seen whether a column is one of dates."""
KINDS = {"series": "a Series", "wide": "a wide DataFrame", "long": "a long DataFrame"}
"""How frames are held, in words."""


class LongNames(NamedTuple):
    """The columns of a long frame."""

    id: Hashable = "unique_id"
    time: Hashable = "ds"
    target: Hashable = "y"


@dataclass(frozen=True, eq=False)
class Sheet:
    """Rows in the order of time: times (n,), values (n, c), and what the columns are called."""

    times: Any
    values: Array
    labels: Any


def kind_of(y: Any, names: LongNames, name: str) -> str:
    """Whether a pandas object is a Series, a wide frame or a long one."""
    check_pandas(y, name)
    if y.ndim == 1:
        return "series"
    _check_names(names)
    found = [column in y.columns for column in names]
    if all(found):
        return "long"
    others = [column for column in y.columns if column not in names]
    apart = [one for one in names if one is not None and one in y.index.names]
    if apart and (found[0] or found[1]):
        raise bad_argument(
            name, Shown(f"a DataFrame with {apart[0]!r} as its index"),
            f"a long one with columns {', '.join(map(repr, names))}",
            f"{name}.reset_index() makes it a column.",
        )  # fmt: skip
    if found[1] and found[2] and not found[0]:
        several = f" Of several, {naming(['id'], others)}" if others else ""
        raise bad_argument(
            name, Shown(f"a DataFrame without a column {names.id!r}"),
            f"a long one with {', '.join(map(repr, names))}, or a single series",
            f"Of one series, {indexed(names.time, names.target, name)}.{several}",
        )  # fmt: skip
    if found[1] or found[0]:
        lacking = [one for one, there in zip(names._fields, found, strict=True) if not there]
        raise bad_argument(
            name, Shown(f"a DataFrame without a column {getattr(names, lacking[0])!r}"),
            f"a long one with {', '.join(map(repr, names))}, or a wide one, a column for each "
            "series and times as its index",
            naming(lacking, others),
        )  # fmt: skip
    return "wide"


def sheets(y: Any, kind: str, names: LongNames, name: str) -> tuple[Any, list[Sheet]]:
    """The labels of all series, and their rows: one sheet, or of a long frame one for each id."""
    if not len(y):
        raise bad_argument(name, Shown("0 rows"), "at least one row")
    if kind == "long":
        return _long(y, names, name)
    if kind == "series":
        labels, values = _label(y.name), as_floats(y, name)[:, None]
    else:
        _check_unique(y.columns, name)
        _check_no_times(y, name)
        _check_not_long(y, name)
        labels, values = y.columns, _matrix(y, y.columns, name)
    if not len(labels):
        raise bad_argument(name, Shown("0 columns"), "a column for each series")
    return labels, [_sheet(_times(y, names, kind, name), values, labels, name)]


def as_drivers(X: Any, names: LongNames, kind: str, name: str) -> tuple[Any, tuple[Any, ...]]:
    """X as a frame, and the columns in it that are not times and ids."""
    check_pandas(X, name)
    if not hasattr(X, "iloc"):
        raise bad_argument(
            name, Shown(type(X).__name__), "a DataFrame with the times of the series",
            f"pandas.DataFrame({name}, index=...) gives rows their times.",
        )  # fmt: skip
    if X.ndim == 1:
        X = X.to_frame("x0" if X.name is None else X.name)
    _check_unique(X.columns, name)
    if kind == "long" and names.time not in X.columns:
        raise bad_argument(name, Shown(f"no column {names.time!r}"), "a row for each time")
    beside = (names.id, names.time) if kind == "long" else ()
    labels = tuple(column for column in X.columns if column not in beside)
    if not labels:
        raise bad_argument(name, Shown("no columns"), "at least one column beside the times")
    return X, labels


def driver_sheets(
    X: Any, labels: tuple[Any, ...], names: LongNames, kind: str, name: str
) -> dict[Hashable, Sheet]:
    """Rows of X by the id that they belong to; None for rows that all series share."""
    _check_no_times(X[list(labels)], name)
    values = _matrix(X, labels, name, flags=True)
    times = _times(X, names, kind, name)
    if kind != "long" or names.id not in X.columns:
        return {None: _sheet(times, values, labels, name)}
    ids, parts = _by_id(X, names, name)
    return {
        label: _sheet(times[rows], values[rows], labels, name, label)
        for label, rows in zip(ids, parts, strict=True)
    }


def _long(y: Any, names: LongNames, name: str) -> tuple[Any, list[Sheet]]:
    _check_unique(y.columns, name)
    other = [column for column in y.columns if column not in names]
    if other:
        raise bad_argument(
            name, Shown(f"a column {other[0]!r}"), f"no more than {', '.join(map(repr, names))}",
            f"Columns that help to forecast are X; drop others: {name}[{list(names)!r}].",
        )  # fmt: skip
    times = _times(y, names, "long", name)
    values = as_floats(y[names.target], name, names.target)[:, None]
    ids, parts = _by_id(y, names, name)
    return ids, [
        _sheet(times[rows], values[rows], [label], name, label)
        for label, rows in zip(ids, parts, strict=True)
    ]


def _times(frame: Any, names: LongNames, kind: str, name: str) -> Any:
    """The times of rows: a column of a long frame, the index of others."""
    if kind == "long":
        return as_times(_index(frame[names.time]), name, f"{name}[{names.time!r}]")
    return as_times(frame.index, name, f"{name}.index")


def _by_id(frame: Any, names: LongNames, name: str) -> tuple[Any, list[Array]]:
    """The ids, in order, and the rows of each."""
    import pandas

    codes, ids = pandas.factorize(frame[names.id], sort=True)
    if (codes < 0).any():
        got = Shown(f"no {names.id!r} in row {int(np.argmax(codes < 0))}")
        raise bad_argument(name, got, "an id for each row")
    order = np.argsort(codes, kind="stable")
    return _index(ids), np.split(order, np.flatnonzero(np.diff(codes[order])) + 1)


def _sheet(times: Any, values: Array, labels: Any, name: str, series: Any = None) -> Sheet:
    order = in_order(times, name, series)
    return Sheet(times[order], values[order], labels)


def _matrix(frame: Any, labels: Any, name: str, flags: bool = False) -> Array:
    """Columns of a frame, (n, c); ``flags`` are 0 and 1."""
    columns = [frame.iloc[:, frame.columns.get_loc(label)] for label in labels]
    values = [
        as_floats(column, name, label, flags=flags)
        for column, label in zip(columns, labels, strict=True)
    ]
    return np.stack(values, axis=1) if values else np.empty((len(frame), 0))


def _check_no_times(frame: Any, name: str) -> None:
    """Raise where times stand in a column, which the index has or should have."""
    is_timed = _are_times(frame.index)
    for number, label in enumerate(frame.columns):
        column = frame.iloc[:, number]
        if not _are_times(column) and (is_timed or not _says_dates(column)):
            continue
        raise bad_argument(
            name, Shown(f"a column of dates, {label!r}"),
            "numbers beside the dates of the index" if is_timed else "dates as the index",
            ENCODE if is_timed else with_times(frame, label, name),
        )  # fmt: skip


def _check_not_long(y: Any, name: str) -> None:
    """Raise where times of an index occur twice, beside a column that tells their rows apart."""
    if name != "y" or y.index.name is None or y.index.is_unique:
        return
    line = long_line(y, y.index.name)
    if line:
        twice = _times(y, LongNames(), "wide", name)[y.index.duplicated()]
        raise bad_argument(name, Shown(f"{shown(twice)} twice"), "each time once", line)


def _are_times(column: Any) -> bool:
    return is_date(column) or is_period(column)


def _says_dates(column: Any) -> bool:
    """Whether a column of text or objects says dates, the day or the month first."""
    import pandas

    if column.dtype.kind not in "OTU":
        return False
    some = column.dropna().iloc[:LOOKED_AT].astype(object)
    if not len(some) or any(map(_is_number, some)):
        return False
    for dayfirst in (False, True):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # about formats that it has to guess
            found = pandas.to_datetime(some, dayfirst=dayfirst, errors="coerce", utc=True)
        if found.notna().all():
            return True
    return False


def _is_number(value: Any) -> bool:
    """Whether a cell is a number, or says one: with a decimal comma, too, which is no date."""
    return says_number(value.replace(",", ".") if isinstance(value, str) else value)


def _check_names(names: LongNames) -> None:
    """Names of a long frame's columns: each once, and none that answers have."""
    for argument, label in names._asdict().items():
        if not isinstance(label, Hashable):
            raise bad_argument(argument, label, "the name of a column")
        if argument != "target" and label in TAKEN:
            raise bad_argument(
                argument, label, f"another name than {', '.join(TAKEN)}, which answers have",
                "Rename the column.",
            )  # fmt: skip
    if len(set(names)) < len(names) and names.time:
        raise bad_argument("time", names.time, "another column than id and target")


def _check_unique(columns: Any, name: str) -> None:
    if not columns.is_unique:
        twice = columns[columns.duplicated()][0]
        raise bad_argument(name, Shown(f"two columns {twice!r}"), "names that occur once")


def _index(labels: Any) -> Any:
    import pandas

    return pandas.Index(labels)


def _label(name: Any) -> Any:
    """An index that holds one label, which may be None or a tuple."""
    import pandas

    return pandas.Index([name], dtype=object, tupleize_cols=False)
