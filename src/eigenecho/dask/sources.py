"""What people hand over: series in dask arrays, delayed ones, and bags of them, as shards."""

from __future__ import annotations

import itertools
import uuid
from typing import Any

import dask.array as da
import numpy as np
from dask.bag import Bag
from dask.delayed import Delayed, delayed
from dask.optimization import cull
from distributed import Future

from eigenecho.dask.shards import Piece, Recipe, Shard
from eigenecho.errors import Shown, bad_argument
from eigenecho.series import Container

KINDS = "a dask array (T, D) cut along time, a list of them, or a list or a bag of delayed series"


def shards_of(X: Any, y: Any, *, targets: bool = True) -> tuple[list[Shard], Container]:
    """The shards of inputs and ``targets``, and how the caller holds them.

    Lengths of delayed series are not known before somebody has looked: their shards have no pieces.
    """
    if isinstance(X, Bag) or isinstance(y, Bag):
        return _bags(X, y), Container("list")
    kind, inputs = _listed(y if X is None else X, "y" if X is None else "X")
    if X is not None and all(isinstance(one, Delayed) for one in inputs):
        return _delayed(inputs, y), Container("list")
    if y is None and targets:
        raise ValueError(
            "fit requires y to be passed, but the target y is None. For next-step prediction: "
            "fit(esn, X[:-1], X[1:])."
        )
    outputs: list[Any] = [None] * len(inputs)
    if y is not None:
        outputs = [y] if kind == "single" else list(y)
    if X is None:
        inputs = [None] * len(outputs)
    if len(outputs) != len(inputs):
        raise bad_argument("y", Shown(f"{len(outputs)} series"), f"{len(inputs)}, as X has")
    each = [
        _cut(u, one, None if kind == "single" else i)
        for i, (u, one) in enumerate(zip(inputs, outputs, strict=True))
    ]
    flat = y is not None and all(one.ndim == 1 for one in outputs)
    return list(itertools.chain(*each)), Container(kind, flat)


def _listed(given: Any, name: str) -> tuple[str, list[Any]]:
    """How series are held, and a list of them."""
    if isinstance(given, da.Array) and given.ndim == 3:
        return "stack", list(given)
    if isinstance(given, (list, tuple)) and len(given):
        return "list", list(given)
    if isinstance(given, (da.Array, Delayed)):
        return ("list" if isinstance(given, Delayed) else "single"), [given]
    raise _no_source(name, given)


def _no_source(name: str, given: Any) -> ValueError:
    remedy = ""
    if isinstance(given, np.ndarray):
        remedy = f"dask.array.from_array({name}, chunks=(100_000, -1)), or fit on one machine."
    elif hasattr(given, "to_dask_array"):
        remedy = f"{name}.to_dask_array(lengths=True) is one."
    return bad_argument(name, Shown(type(given).__name__), KINDS, remedy)


def _checked(array: Any, name: str, series: int | None = None) -> Any:
    """A dask array whose chunks are known and cut along time alone."""
    of = "" if series is None else f" of series {series}"
    if not isinstance(array, da.Array):
        raise _no_source(name, array)
    if array.ndim not in (1, 2) or (name == "X" and array.ndim == 1):
        wanted = "a 2-D series (T, D)"
        remedy = f"{name}[:, None] for one column." if array.ndim == 1 else ""
        raise bad_argument(name, Shown(f"shape {array.shape}{of}"), wanted, remedy)
    if any(np.isnan(size) for sizes in array.chunks for size in sizes):
        raise bad_argument(
            name, Shown(f"chunks of unknown sizes{of}"), "chunks whose rows are counted",
            f"{name}.compute_chunk_sizes() counts them; of a frame, to_dask_array(lengths=True).",
        )  # fmt: skip
    if array.ndim == 2 and len(array.chunks[1]) > 1:
        raise bad_argument(
            name, Shown(f"{len(array.chunks[1])} chunks of columns{of}"), "chunks of whole rows",
            f"{name}.rechunk({{1: -1}}) joins them.",
        )  # fmt: skip
    return array


def _cut(u: Any, y: Any, number: int | None) -> list[Shard]:
    """The shards of one series, by the chunks of its inputs, or without them of its targets."""
    if u is not None:
        u = _checked(u, "X", number)
    if y is not None:
        y = _checked(y, "y", number)
    if u is not None and y is not None:
        if len(u) != len(y):
            which = "" if number is None else f" of series {number}"
            raise ValueError(
                f"X and y have inconsistent lengths{which}: X has {len(u)} rows and y has "
                f"{len(y)}. Each row of y is the target at the same row of X."
            )
        y = y.rechunk({0: u.chunks[0]})
    found: list[Shard] = []
    first = 0
    for pair, rows in zip(_pairs(u, y), (y if u is None else u).chunks[0], strict=True):
        if rows:
            piece = Piece(number or 0, first, int(rows))
            found.append(Shard(pair, (piece,), bool(found), (_width(u), _width(y))))
        first += int(rows)
    if not found:
        raise bad_argument("X", Shown("0 rows"), "at least one row in each series")
    return found


def _width(array: Any) -> int:
    """Return the number of columns that a Dask array declares; None has no columns."""
    if array is None:
        return 0
    return 1 if array.ndim == 1 else int(array.shape[1])


def _pairs(u: Any, y: Any) -> list[Any]:
    """The blocks of inputs and targets, two and two, as recipes for the tasks that work on them.

    What is in the memory of workers already is no recipe: tasks go where it is.
    """
    given: list[Any] = []
    held = False
    for array in (u, y):
        given += [None, None] if array is None else [array, "ij"[: array.ndim]]
        graph = {} if array is None else dict(array.__dask_graph__())
        held = held or any(isinstance(task, Future) for task in graph.values())
    pairs = da.blockwise(
        _pair, "ij", *given, new_axes={"j": 1}, dtype=object, align_arrays=False,
        meta=np.empty((0, 0), object), name=f"read-{uuid.uuid4().int}",
    )  # fmt: skip
    parts = list(np.ravel(pairs.to_delayed()))
    if held:
        return parts
    graph = dict(parts[0].__dask_graph__())
    return [Recipe(cull(graph, part.key)[0], part.key) for part in parts]


def _pair(u: Any, y: Any) -> tuple[Any, Any]:
    return u, y


def _delayed(inputs: list[Any], outputs: Any) -> list[Shard]:
    """Whole series, one in each shard."""
    outputs = list(outputs) if isinstance(outputs, (list, tuple)) else [outputs]
    if len(outputs) != len(inputs) or not all(isinstance(one, Delayed) for one in outputs):
        got = Shown(f"{len(outputs)} of {type(outputs[0]).__name__}")
        raise bad_argument("y", got, f"{len(inputs)} delayed series, as X has")
    return [Shard(delayed(_pair)(u, y)) for u, y in zip(inputs, outputs, strict=True)]


def _bags(X: Any, y: Any) -> list[Shard]:
    """Whole series, those of a partition in one shard; without y a bag is one of pairs."""
    if y is None:
        X, y = X.pluck(0), X.pluck(1)
    if not isinstance(X, Bag) or not isinstance(y, Bag) or X.npartitions != y.npartitions:
        got = Shown(f"{getattr(y, 'npartitions', type(y).__name__)} partitions")
        raise bad_argument("y", got, "a bag with the partitions of X, or a bag X of pairs (X, y)")
    pairs = zip(X.to_delayed(), y.to_delayed(), strict=True)
    return [Shard(delayed(_lists)(u, target)) for u, target in pairs]


def _lists(u: Any, y: Any) -> tuple[list[Any], list[Any]]:
    return list(u), list(y)
