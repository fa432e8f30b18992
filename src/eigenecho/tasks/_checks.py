"""What every task asks of its arguments: counts, real numbers, seeds."""

from __future__ import annotations

import math
import operator
from typing import Any

import numpy as np

from eigenecho.errors import bad_argument


def count(
    name: str, value: Any, *, least: int = 1, most: int | None = None, remedy: str = ""
) -> int:
    """`value` as an int with least <= value <= most; True and 3.0 are refused."""
    upper = "" if most is None else f" and at most {most}"
    expected = f"an integer of at least {least}{upper}"
    if isinstance(value, bool | np.bool_):
        raise bad_argument(name, value, expected, remedy)
    try:
        number = operator.index(value)
    except TypeError:
        raise bad_argument(name, value, expected, remedy) from None
    if number < least or (most is not None and number > most):
        raise bad_argument(name, value, expected, remedy)
    return number


def real(name: str, value: Any) -> float:
    """`value` as a finite float."""
    try:
        number = float(value)
    except (TypeError, ValueError):
        raise bad_argument(name, value, "a real number") from None
    if not math.isfinite(number):
        raise bad_argument(name, value, "a finite number")
    return number


def positive(name: str, value: Any) -> float:
    """`value` as a finite float above zero."""
    number = real(name, value)
    if number <= 0:
        raise bad_argument(name, value, "a number above 0")
    return number


def generator(seed: Any) -> np.random.Generator:
    """The stream of an int seed, or the Generator itself, which then moves on."""
    if isinstance(seed, np.random.Generator):
        return seed
    remedy = "A numpy.random.Generator will do as well."
    return np.random.default_rng(count("seed", seed, least=0, remedy=remedy))
