"""How many of N eigenvalues are real."""

from __future__ import annotations

import math


def real_count(n: int) -> int:
    """The expected number of real eigenvalues of a Gaussian matrix, at the parity of ``n``.

    ⌊√(2n/π)⌋, plus one where that leaves an odd number for the pairs
    """
    count = math.isqrt(int(2 * n / math.pi))
    return count + (n - count) % 2
