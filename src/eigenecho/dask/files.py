"""Arrays in files, read by the workers that compute on them."""

from __future__ import annotations

from os import fspath
from pathlib import Path
from typing import Any

import dask.array as da
import numpy as np

from eigenecho.checks import check_count
from eigenecho.errors import Shown, bad_argument
from eigenecho.types import Array

BYTES = 1 << 25
"""Of a chunk, where nobody says how many rows it has."""


def from_npy(path: Any, rows: int | None = None, *, start: int = 0, stop: int | None = None) -> Any:
    """A ``.npy`` file as a dask array cut along time, by memory map.

    Only the header is read here: the workers map the file, which they must all see under the same
    path, and each reads the rows of its own chunks.

    Parameters
    ----------
    path : str or path
        Of an array (T,) or (T, D), as ``numpy.save`` writes it.
    rows : int, optional
        Of a chunk; 32 MiB by default.
    start, stop : int
        The rows of the file to take: ``from_npy(path, stop=-1)`` and ``from_npy(path, start=1)``
        are a series and the next step of it.
    """
    path = str(Path(fspath(path)).resolve())
    mapped = np.load(path, mmap_mode="r")
    if mapped.ndim not in (1, 2) or mapped.dtype.kind not in "fiub":
        got = Shown(f"{mapped.dtype} of shape {mapped.shape}")
        raise bad_argument("path", got, "an array (T,) or (T, D) of numbers")
    first, last, _ = slice(start, stop).indices(len(mapped))
    if rows is None:
        rows = max(1, BYTES // (mapped.dtype.itemsize * int(np.prod(mapped.shape[1:]))))
    check_count(rows, "rows", "a number of rows", 1)
    if last <= first:
        raise bad_argument("start, stop", (start, stop), f"rows within {len(mapped)}")
    edges = [*range(first, last, rows), last]
    sizes = tuple(int(n) for n in np.diff(edges))
    starts = da.from_array(np.array(edges[:-1]), chunks=1)
    return da.map_blocks(
        _rows, starts, path, last, rows, dtype=mapped.dtype, meta=np.empty((0,) * mapped.ndim),
        chunks=(sizes, *((n,) for n in mapped.shape[1:])),
        new_axis=list(range(1, mapped.ndim)) or None,
    )  # fmt: skip


def _rows(start: Array, path: str, last: int, rows: int) -> Array:
    first = int(start[0])
    return np.array(np.load(path, mmap_mode="r")[first : min(first + rows, last)])
