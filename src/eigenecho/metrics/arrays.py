"""Checks of the arrays that metrics compare: real, finite, and of one shape."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from eigenecho.checks import has_complex
from eigenecho.errors import bad_argument

SERIES = "a real array (T,), (T, D) or (series, T, D)"


def finite(
    name: str, value: Any, *, most: int = 3, expected: str = SERIES, gaps: bool = False
) -> NDArray[np.float64]:
    """Return a value as an array of 1 to ``most`` dimensions; only ``gaps`` allows NaN."""
    try:
        array = value if np.ma.is_masked(value) else np.asarray(value)
        if has_complex(array):
            raise TypeError
        # Values under a mask are missing.
        array = np.ma.filled(array.astype(np.float64), np.nan)
    except (TypeError, ValueError):
        raise bad_argument(name, value, expected) from None
    if not 1 <= array.ndim <= most or array.size == 0:
        raise bad_argument(f"{name}.shape", array.shape, f"{expected}, not empty")
    invalid = np.isinf(array) if gaps else ~np.isfinite(array)
    if invalid.any():
        index = tuple(int(i) for i in np.argwhere(invalid)[0])
        problem = "infinite" if gaps else "NaN or infinite. Leave those rows out of both arrays"
        raise bad_argument(
            f"{name}[{', '.join(map(str, index))}]",
            float(array[index]),
            "a finite number",
            f"{np.count_nonzero(invalid)} values of {name} are {problem}.",
        )
    return array


def observed(name: str, value: Any) -> NDArray[np.float64]:
    """Return an array with at least one number; NaN is a missing observation."""
    array = finite(name, value, gaps=True)
    if np.isnan(array).all():
        raise bad_argument(name, value, "at least one observation", "All values are NaN.")
    return array


def check_shape(name: str, array: NDArray[np.float64], shape: tuple[int, ...], whose: str) -> None:
    """Raise ValueError unless an array has the given shape; ``whose`` describes the shape."""
    if array.shape != shape:
        raise bad_argument(
            f"{name}.shape",
            array.shape,
            f"{shape}, {whose}",
            "Reshape one of the arrays: metrics do not broadcast.",
        )
