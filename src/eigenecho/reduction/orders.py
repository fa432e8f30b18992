"""The smallest order that will do, among many of which trying one takes some time."""

from __future__ import annotations

from collections.abc import Callable

BELOW = 1
"""Orders below the one found that are tried too: errors do not fall at every step."""


PARTS = 32
"""Steps in which all orders are gone through where none of a few does."""

SHARE = 8
"""The first step is this part of the order that it starts from."""


def smallest(does: Callable[[int], bool], first: int, most: int) -> int | None:
    """The smallest order in 1 … most that ``does``, looked for from ``first`` on; None for none.

    Steps away from the first double until one does and one does not; then they are halved.
    """
    low, high = _bracket(does, min(max(first, 1), most), most)
    if high is None:
        return None
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if does(middle) else (middle, high)
    for order in range(high - 2, max(high - 2 - BELOW, 0), -1):
        if does(order):
            high = order
    return high


def _bracket(does: Callable[[int], bool], first: int, most: int) -> tuple[int, int | None]:
    """An order that does not, or 0, and a larger one that does; None where none does."""
    step = max(1, first // SHARE)
    if does(first):
        high = first
        while high > 1 and does(max(high - step, 1)):
            high, step = max(high - step, 1), 2 * step
        return max(high - step, 0) if high > 1 else 0, high
    low = first
    while low < most:
        order = min(low + step, most)
        if does(order):
            return low, order
        low, step = order, 2 * step
    return _between(does, first, most)


def _between(does: Callable[[int], bool], first: int, most: int) -> tuple[int, int | None]:
    """The same where not even the largest does, since rounding spoils those near it."""
    step = max(1, (most - first) // PARTS)
    for order in range(first + step, most, step):
        if does(order):
            return order - step, order
    return most, None
