"""The smallest order that will do, among many of which trying one takes some time."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from functools import cache

import numpy as np

from eigenecho.types import Array

BELOW = 1
"""Orders below the one found that are tried too: errors do not fall at every step."""

PARTS = 32
"""Steps in which all orders are gone through where none of a few does."""

TURN = 3
"""Every so many trials an interval is halved, whatever is expected."""


def smallest(error: Callable[[int], float], tol: float, expected: Array) -> int | None:
    """The smallest of the orders 1 … k whose error is at most ``tol``; None for none.

    ``expected`` (k + 1,) are errors of orders 0 … k as far as they are known before trying any.
    They fall as errors do, but may be off by a factor, the same for orders that are not far apart:
    so every trial says which order is next.
    """
    expected, error = np.minimum.accumulate(expected), cache(error)
    low, high, most = 0, 0, len(expected) - 1
    order = first = _crossing(expected, tol) or most
    up = down = 1
    for trial in itertools.count(1):
        found = error(order)
        low, high = (low, order) if found <= tol else (order, high)
        if low == most:
            low, high = _between(error, tol, first, most)
            if not high:
                return None
        if high and high - low == 1:
            break
        telling = expected[order] > 0 and np.isfinite(found)
        guess = _crossing(expected * (found / expected[order]), tol) if telling else None
        if not high:
            order, up = max(guess or 0, low + up), 2 * up
        elif not low:
            order, down = min(guess or high, high - down), 2 * down
        elif not guess or trial % TURN == 0:
            order = (low + high) // 2
        else:
            order = guess - (guess == high)
        order = min(max(order, low + 1), high - 1 if high else most)
    for order in range(high - 2, max(high - 2 - BELOW, 0), -1):
        if error(order) <= tol:
            high = order
    return high


def _crossing(errors: Array, tol: float) -> int | None:
    """The first order from 1 on whose error is at most ``tol``."""
    enough = errors[1:] <= tol
    return int(np.argmax(enough)) + 1 if enough.any() else None


def _between(error: Callable[[int], float], tol: float, first: int, most: int) -> tuple[int, int]:
    """An order that does not and one that does, where not even the largest does since rounding
    spoils those near it; (most, 0) for none.
    """
    step = max(1, (most - first) // PARTS)
    for order in range(first + step, most, step):
        if error(order) <= tol:
            return order - step, order
    return most, 0
