"""Conversion of the inputs and outputs of networks to arrays, and back to the caller's format."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import DTypeLike

from eigenecho.arrays import is_on_device, namespace, to_host
from eigenecho.errors import Words, bad_argument, counted
from eigenecho.tables import Table, as_table, check_finite, ndim_of, unmasked
from eigenecho.types import Array


@dataclass(frozen=True)
class Container:
    """The caller's format: ``single``, ``stack`` (3-D array) or ``list``.

    With ``flat``, each series is 1-D, (T,), and so are results. ``whole`` is the array
    (series, T, D) of a checked stack.
    """

    kind: str = "single"
    flat: bool = False
    whole: Any = field(default=None, compare=False, repr=False)

    def together(self, series: list[Array]) -> list[Array]:
        """Return the series to run: a stack as one array (series, T, D)."""
        return series if self.whole is None else [self.whole]

    def restore(self, arrays: Sequence[Array]) -> Any:
        """Return arrays (T_i, D), or a stack from ``together``, in the caller's format."""
        if self.kind == "stack" and arrays[0].ndim < 3:
            arrays = [namespace(arrays[0]).stack(arrays)]
        if self.flat:
            arrays = [a[..., 0] for a in arrays]
        return list(arrays) if self.kind == "list" else arrays[0]


def container_kind(X: Any) -> str:
    """Return the format of ``X``: "single", "stack" (a 3-D array) or "list".

    A list or tuple of 2-D arrays contains several series. A nested list of numbers is one series.
    """
    if isinstance(X, (list, tuple)) and len(X):
        if ndim_of(X[0]) == 2:
            return "list"
        # A list of 1-D arrays may contain several series, or the rows of one series.
        if all(len(getattr(x, "shape", ())) == 1 and len(x) > 1 for x in X):
            got = Words(f"a list of 1-D arrays, the first of shape {np.shape(X[0])}")
            remedy = (
                "Use [x.reshape(-1, 1) for x in X] for several series with one column each, or "
                "np.array(X) for the rows of one series."
            )
            raise bad_argument("X", got, "2-D series (T, D)", remedy)
    return "stack" if ndim_of(X) == 3 else "single"


def unpack(X: Any) -> tuple[list[Any], Container]:
    """Return the series in ``X``, unchanged and unchecked, and their format."""
    kind = container_kind(X)
    if kind == "single":
        return [X], Container()
    if kind == "stack" and not is_on_device(X):
        X = unmasked(np.asanyarray(X))
    return list(X), Container(kind)


def output_container(y: Any) -> Container:
    """Return the format of outputs that have no inputs. A nested list of numbers is one series."""
    if isinstance(y, (list, tuple)) and len(y):
        several = getattr(y[0], "ndim", 0) in (1, 2) or np.ndim(y[0]) == 2
        return Container("list" if several else "single")
    return Container("stack" if np.ndim(y) == 3 else "single")


def unpack_outputs(y: Any, name: str, like: Container) -> tuple[list[Any], Container]:
    """Return outputs in the format ``like`` as arrays (T, D), and their own format.

    Outputs of each series have shape (T,) or (T, D).
    """
    if like.kind == "single":
        items = [y]
    elif isinstance(y, (list, tuple)) or ndim_of(y) >= 2:
        items = list(y)
    else:
        raise bad_argument(name, Words(f"shape {np.shape(y)}"), "several series, as in X")
    if any(ndim_of(item) not in (1, 2) for item in items):
        raise bad_argument(name, Words("series of other shapes"), "series of shape (T,) or (T, D)")
    flat = all(ndim_of(item) == 1 for item in items)
    columns = [_as_column(item) if ndim_of(item) == 1 else item for item in items]
    return columns, Container(like.kind, flat)


def _as_column(item: Any) -> Any:
    return item[:, None] if is_on_device(item) else np.asarray(unmasked(item)).reshape(-1, 1)


def as_series(
    X: Any, name: str, D: int | None = None, dtype: DTypeLike = np.float64
) -> tuple[list[Array], Container]:
    """Return the series in ``X`` as finite contiguous arrays (T_i, D), and their format."""
    if is_stack(X):
        return split_stack(as_stack(X, name, D, dtype))
    items, container = unpack(X)
    check_not_empty(items, name)
    several = container.kind != "single"
    series = [as_rows(x, name, D, dtype, i if several else None) for i, x in enumerate(items)]
    return series, container


def is_stack(X: Any) -> bool:
    """Return True if ``X`` is one array of numbers (series, T, D), so that it is not split."""
    if is_on_device(X):
        return bool(X.ndim == 3)
    is_array = isinstance(X, np.ndarray) and X.ndim == 3
    return is_array and X.dtype.kind in "fiub" and not np.ma.is_masked(X)


def as_stack(X: Any, name: str, D: int | None, dtype: DTypeLike, *, finite: bool = True) -> Array:
    """Return a stack as a contiguous array (series, T, D), after checking all series at once."""
    check_not_empty(range(len(X)), name)
    if D is not None and X.shape[-1] != D:
        raise bad_argument(name, Words(f"shape {tuple(X.shape)}"), counted(D, "column"))
    as_table(X[0], name, 0)
    xp = namespace(X)
    whole = xp.ascontiguousarray(X, dtype)
    if finite and not xp.all_finite(whole):
        i = int(to_host(xp.isfinite(whole).reshape(len(whole), -1).all(1)).argmin())
        check_finite(whole[i], Table(X[i]), name, i)
    return whole


def split_stack(stack: Array) -> tuple[list[Array], Container]:
    """Return the series of a checked stack, and their format."""
    return list(stack), Container("stack", whole=stack)


def check_not_empty(items: Sequence[Any], name: str) -> None:
    """Raise an error if there are no series."""
    if not items:
        raise bad_argument(name, Words("0 series"), "at least one series")


def as_rows(
    x: Any,
    name: str,
    D: int | None = None,
    dtype: DTypeLike = np.float64,
    series: int | None = None,
    *,
    gaps: bool = False,
) -> Array:
    """Return one finite series as a contiguous array (T, D). With ``gaps``, NaN is allowed.

    ``series`` is the number of the series in error messages.
    """
    table = as_table(x, name, series)
    if D is not None and table.values.shape[1] != D:
        raise bad_argument(name, Words(f"shape {tuple(table.values.shape)}"), counted(D, "column"))
    rows = table.as_rows(dtype)
    check_finite(rows, table, name, series, gaps=gaps)
    return rows


def shifted(y: Array, first: Array | float = 0.0) -> Array:
    """Return y(t−1) for t = 1 … T, where y(0) is ``first``."""
    previous = namespace(y).empty_like(y)
    previous[:1] = first
    previous[1:] = y[:-1]
    return previous
