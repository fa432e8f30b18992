"""Arrays that are compared: real, finite, of one shape."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from eigenecho.errors import bad_argument

SERIES = "a real array (T,), (T, D) or (series, T, D)"


def finite(
    name: str, value: Any, *, most: int = 3, expected: str = SERIES, gaps: bool = False
) -> NDArray[np.float64]:
    """A value as an array of 1 to ``most`` dimensions; NaN only where there may be ``gaps``."""
    try:
        array = value if np.ma.is_masked(value) else np.asarray(value)
        objects = array.flat if array.dtype == object else ()
        # NumPy only warns when it casts its own complex objects to floats.
        if np.iscomplexobj(array) or any(isinstance(x, np.complexfloating) for x in objects):
            raise TypeError
        # What lies under a mask is not data.
        array = np.ma.filled(array.astype(np.float64), np.nan)
    except (TypeError, ValueError):
        raise bad_argument(name, value, expected) from None
    if not 1 <= array.ndim <= most or array.size == 0:
        raise bad_argument(f"{name}.shape", array.shape, f"{expected}, not empty")
    bad = np.isinf(array) if gaps else ~np.isfinite(array)
    if bad.any():
        where = tuple(int(i) for i in np.argwhere(bad)[0])
        remedy = "are infinite." if gaps else "are NaN or infinite: leave those rows out of both."
        raise bad_argument(
            f"{name}[{', '.join(map(str, where))}]",
            float(array[where]),
            "a finite number",
            f"{np.count_nonzero(bad)} of {name} {remedy}",
        )
    return array


def observed(name: str, value: Any) -> NDArray[np.float64]:
    """An array with at least one number in it; NaN is an observation that is missing."""
    array = finite(name, value, gaps=True)
    if np.isnan(array).all():
        raise bad_argument(name, value, "at least one observation", "All of it is NaN.")
    return array


def check_shape(name: str, array: NDArray[np.float64], shape: tuple[int, ...], whose: str) -> None:
    """Raise where an array has not the shape of another."""
    if array.shape != shape:
        raise bad_argument(
            f"{name}.shape",
            array.shape,
            f"{shape}, {whose}",
            "Reshape one of them: nothing is broadcast here.",
        )
