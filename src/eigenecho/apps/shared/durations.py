"""Durations, and how many times longer one is, in words."""

from __future__ import annotations


def human(seconds: float) -> str:
    """Nanoseconds to minutes in the unit that fits, three digits at most."""
    if seconds >= 99.5:
        minutes, rest = divmod(round(seconds), 60)
        return f"{minutes} min {rest:02d} s"
    for unit, size in (("s", 1.0), ("ms", 1e-3), ("µs", 1e-6)):
        if seconds >= size:
            return f"{seconds / size:.3g} {unit}"
    return f"{seconds / 1e-9:.3g} ns"


def factor(ratio: float) -> str:
    """Three digits, written out: 8.05, 2930, 104000."""
    return f"{float(f'{ratio:.3g}'):.12g}"
