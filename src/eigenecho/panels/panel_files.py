"""Panels in files: the rows of all series after each other, and what holds them for the caller."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from typing import Any

import numpy as np

from eigenecho.checks import check_real
from eigenecho.errors import Shown, bad_argument
from eigenecho.panels.arrays import ArrayHolder
from eigenecho.panels.containers import unpack
from eigenecho.panels.numbers import LARGEST
from eigenecho.panels.panel import History, Panel
from eigenecho.storage import Tensors, Values, named, part, take
from eigenecho.types import Array


def pack_panel(panel: Panel) -> tuple[Tensors, Values]:
    """Arrays and plain values; columns that all series share are written once."""
    holder, histories = panel.container, panel.histories
    arrays, plain = holder.pack()
    tensors = named("holder", arrays)
    tensors["series.rows"] = np.array([len(history) for history in histories])
    tensors["series.values"] = np.concatenate([history.values for history in histories])
    beside = histories[:1] if holder.shared else histories
    for name in ("known", "past"):
        columns = [getattr(history, name) for history in beside]
        if columns[0] is not None:
            tensors[f"series.{name}"] = np.concatenate(columns)
    return tensors, {"holder": plain}


def unpack_panel(tensors: Tensors, values: Values) -> Panel:
    """What ``pack_panel`` took apart, if all of it fits together."""
    plain = values.pop("holder")
    if not isinstance(plain, dict):
        raise bad_argument("holder", plain, "values of a holder")
    holder: Any = unpack(part(tensors, "holder"), plain)
    is_array = isinstance(holder, ArrayHolder)
    count = holder.count if is_array else len(holder.labels)
    rows = _take_rows(tensors, count, holder.shared)  # so many there are, whatever is claimed
    names: list[Hashable] = list(range(count) if is_array else holder.labels)
    if is_array and holder.kind == "single":
        names = [None]
    beside = rows[:1] if holder.shared else rows
    columns = holder.columns
    known = _take_columns(tensors, "known", len(columns.known), beside, len(names))
    past = _take_columns(tensors, "past", len(columns.past), beside, len(names))
    series = _take_values(tensors, rows)
    histories = tuple(map(History, names, series, known, past))
    cycles = () if is_array else holder.clocks[0].cycles
    return Panel(histories, cycles, holder, columns.known_names, columns.past_names)


def take_floats(tensors: Tensors, name: str, *shape: int | None, missing: bool = False) -> Array:
    """Take float64 numbers of a shape, as large as may be, out of a file's; None for any length.

    Some may be ``missing``, as NaN.
    """
    array = _take_missing(tensors, name) if missing else take(tensors, name)
    fits = array.ndim == len(shape) and all(
        wanted in (None, length) for length, wanted in zip(array.shape, shape, strict=True)
    )
    if not fits or array.dtype != np.float64:
        got = Shown(f"{array.dtype} {array.shape}")
        raise bad_argument(name, got, f"float64 {tuple(shape)}".replace("None", "any"))
    check_size(array, name)
    return array


def check_size(array: Array, name: str) -> None:
    """Whether numbers are such as may be read from the caller; NaN are."""
    if (np.abs(array) > LARGEST).any():
        raise bad_argument(name, Shown("large numbers"), f"numbers up to {LARGEST:g}")


def _take_rows(tensors: Tensors, count: int, shared: bool) -> list[int]:
    """How many rows each series has."""
    rows = take(tensors, "series.rows")
    if rows.dtype != np.int64 or rows.shape != (count,) or (rows < 1).any():
        got = Shown(f"{rows.dtype} {rows.shape}")
        raise bad_argument("series.rows", got, f"the rows of {count} series")
    if shared and (rows != rows[0]).any():
        raise bad_argument("series.rows", rows, "as many rows in all series")
    found: list[int] = rows.tolist()
    return found


def _take_values(tensors: Tensors, rows: Sequence[int]) -> list[Array]:
    """Each series (T,), NaN where nothing was observed."""
    values = take_floats(tensors, "series.values", sum(rows), missing=True)
    found = np.split(values, np.cumsum(rows)[:-1])
    if any(np.isnan(one).all() for one in found):
        raise bad_argument("series.values", Shown("nothing but NaN"), "observations")
    return found


def _take_columns(
    tensors: Tensors, name: str, width: int, rows: Sequence[int], count: int
) -> list[Array | None]:
    """Columns (T, width) of each series; the same for all where they share their rows."""
    if not width:
        return [None] * count
    columns = take_floats(tensors, f"series.{name}", sum(rows), width, missing=name == "past")
    found: list[Array | None] = list(np.split(columns, np.cumsum(rows)[:-1]))
    return found if len(found) == count else found * count


def _take_missing(tensors: Tensors, name: str) -> Array:
    if name not in tensors:
        raise ValueError(f"it has no array {name!r}.")
    array = tensors.pop(name)
    check_real(array, name)
    return array
