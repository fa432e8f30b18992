"""Validation of the arrays that are passed to metrics."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from eigenecho.checks import check_shape
from eigenecho.errors import Words, bad_argument
from eigenecho.tables import as_floats


def as_finite(name: str, value: Any, *, gaps: bool = False) -> NDArray[np.float64]:
    """Convert a value to a finite float64 array. With ``gaps``, NaN is allowed."""
    array = as_floats(value, name, "an array of real numbers")
    if array.ndim == 0 or array.size == 0:
        raise bad_argument(name, Words(f"shape {array.shape}"), "an array with at least one row")
    if np.isinf(array).any() or (not gaps and np.isnan(array).any()):
        got = "infinity" if gaps else "NaN or infinity"
        raise bad_argument(name, Words(got), "finite numbers", "Drop these rows from all arrays.")
    return array


def as_observed(name: str, value: Any) -> NDArray[np.float64]:
    """Convert observations to an array of up to three axes; NaN is a missing observation."""
    array = as_finite(name, value, gaps=True)
    if array.ndim > 3 or np.isnan(array).all():
        expected = "an array (T,), (T, D) or (series, T, D) with at least one observation"
        raise bad_argument(name, value, expected)
    return array


def as_shape(name: str, value: Any, shape: tuple[int, ...], whose: str) -> NDArray[np.float64]:
    """Convert a value to a finite array of the given shape, without broadcasting."""
    array = as_finite(name, value)
    check_shape(array, name, shape, f", as in {whose}")
    return array
