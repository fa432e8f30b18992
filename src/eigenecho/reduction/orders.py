"""Search for the smallest order whose error is small enough, with few trials."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from functools import cache

import numpy as np

from eigenecho.types import Array

BELOW = 1
"""Orders below the result that are tried as well: errors do not decrease at every step."""

PARTS = 32
"""Number of orders that are tried if the search fails."""

TURN = 3
"""Number of trials after which the interval is halved, whatever the expected errors."""


def smallest(error: Callable[[int], float], tol: float, expected: Array) -> int | None:
    """Return the smallest of the orders 1 … k whose error is at most ``tol``; None if none is.

    ``expected`` (k + 1,) are estimated errors of orders 0 … k. They decrease as errors do, but may
    be off by a factor that is similar for neighbouring orders, so each trial determines the next.
    """
    expected, error = np.minimum.accumulate(expected), cache(error)
    low, high, most = 0, 0, len(expected) - 1
    order = first = _crossing(expected, tol) or most
    up = down = 1
    for trial in itertools.count(1):
        size = error(order)
        low, high = (low, order) if size <= tol else (order, high)
        if low == most:
            low, high = _between(error, tol, first, most)
            if not high:
                return None
        if high and high - low == 1:
            break
        usable = expected[order] > 0 and np.isfinite(size)
        guess = _crossing(expected * (size / expected[order]), tol) if usable else None
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
    """Return the first order from 1 on whose error is at most ``tol``; None if there is none."""
    enough = errors[1:] <= tol
    return int(np.argmax(enough)) + 1 if enough.any() else None


def _between(error: Callable[[int], float], tol: float, first: int, most: int) -> tuple[int, int]:
    """Return an order that fails and the next tried one that does not; (most, 0) if all fail.

    For the case that the largest orders fail because of rounding.
    """
    step = max(1, (most - first) // PARTS)
    for order in range(first + step, most, step):
        if error(order) <= tol:
            return order - step, order
    return most, 0
