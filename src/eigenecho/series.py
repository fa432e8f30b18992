"""One series, a stack of equal ones, or a ragged list: the same thing inside."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import DTypeLike

from eigenecho.errors import bad_argument
from eigenecho.types import Array


@dataclass(frozen=True)
class Container:
    """How the caller held the series: ``single``, ``stack`` (3-D array) or ``list``.

    ``flat`` says that each series was 1-D, (T,), so that answers are too.
    """

    kind: str = "single"
    flat: bool = False

    def restore(self, arrays: Sequence[Array]) -> Any:
        """Arrays (T_i, D), one for each series, as the caller holds them."""
        if self.flat:
            arrays = [a[:, 0] for a in arrays]
        if self.kind == "single":
            return arrays[0]
        return np.stack(arrays) if self.kind == "stack" else list(arrays)


def unpack(X: Any) -> tuple[list[Any], Container]:
    """The series in ``X`` as they are, unchecked, and how they were held.

    A list or tuple of two-dimensional elements is several series; a nested list of numbers is
    one.
    """
    if isinstance(X, (list, tuple)) and len(X) and _ndim(X[0]) == 2:
        return list(X), Container("list")
    if _ndim(X) == 3:
        return list(np.asarray(X)), Container("stack")
    if _are_flat_series(X):
        raise ValueError(
            f"X is a list of 1-D arrays, the first of shape {np.shape(X[0])}: series are 2-D, "
            "(T, D). For several series of one column pass [x.reshape(-1, 1) for x in X]; for one "
            "series given row by row pass np.array(X)."
        )
    return [X], Container("single")


def _are_flat_series(X: Any) -> bool:
    """Whether a list could be read as one series of long rows, and hardly is meant so."""
    if not (isinstance(X, (list, tuple)) and len(X)):
        return False
    return all(getattr(x, "ndim", None) == 1 and len(x) > 1 for x in X)


def output_container(y: Any) -> Container:
    """How outputs that come without inputs are held; a nested list of numbers is one series."""
    if isinstance(y, (list, tuple)) and len(y):
        several = getattr(y[0], "ndim", 0) in (1, 2) or np.ndim(y[0]) == 2
        return Container("list" if several else "single")
    return Container("stack" if np.ndim(y) == 3 else "single")


def unpack_outputs(y: Any, name: str, like: Container) -> tuple[list[Any], Container]:
    """Outputs held as ``like``, each (T,) or (T, D): the series as columns (T, D)."""
    if like.kind == "single":
        items = [y]
    elif isinstance(y, (list, tuple)) or _ndim(y) >= 2:
        items = list(y)
    else:
        raise bad_argument(name, f"<shape {np.shape(y)}>", "several series, as X has")
    if any(_ndim(item) not in (1, 2) for item in items):
        raise bad_argument(name, "<series of other shapes>", "series (T,) or (T, D)")
    flat = all(_ndim(item) == 1 for item in items)
    columns = [np.asarray(item).reshape(-1, 1) if _ndim(item) == 1 else item for item in items]
    return columns, Container(like.kind, flat)


def as_series(
    X: Any, name: str, D: int | None = None, dtype: DTypeLike = np.float64
) -> tuple[list[Array], Container]:
    """``X`` as a list of finite contiguous arrays (T_i, D), with its container."""
    items, container = unpack(X)
    if not items:
        raise bad_argument(name, "<0 series>", "at least one series")
    return [as_rows(x, name, D, dtype) for x in items], container


def as_rows(x: Any, name: str, D: int | None = None, dtype: DTypeLike = np.float64) -> Array:
    """One finite series (T, D)."""
    x = np.asarray(x)
    if x.ndim == 1:
        raise bad_argument(
            name,
            f"<shape {x.shape}>",
            "a 2-D series (T, D)",
            f"Reshape your data: {name}.reshape(-1, 1) for one column, "
            f"{name}.reshape(1, -1) for one row.",
        )
    if x.ndim != 2:
        raise bad_argument(name, f"<shape {x.shape}>", "a 2-D series (T, D)")
    if x.dtype.kind not in "fiub":
        raise bad_argument(name, f"<dtype {x.dtype}>", "real numbers")
    if D is not None and x.shape[1] != D:
        raise bad_argument(name, f"<shape {x.shape}>", f"{D} columns")
    x = np.ascontiguousarray(x, dtype)
    if not np.all(np.isfinite(x)):
        raise bad_argument(name, "<NaN or Inf>", "finite numbers", "Fill or drop the gaps first.")
    return x


def shifted(y: Array, first: Array | float = 0.0) -> Array:
    """y(t−1) for t = 1 … T, given y(0)."""
    previous = np.empty_like(y)
    previous[:1] = first
    previous[1:] = y[:-1]
    return previous


def _ndim(x: Any) -> int:
    # np.ndim asks a container that is only convertible to an array for more than conversion.
    return int(x.ndim) if hasattr(x, "ndim") else np.asarray(x).ndim
