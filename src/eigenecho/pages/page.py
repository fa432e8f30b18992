"""Templates of pages, aligned numbers in their tables, and complete files."""

from __future__ import annotations

from datetime import datetime
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

import eigenecho
from eigenecho import storage

SMALLEST, LARGEST = 1e-4, 1e7
"""Magnitudes between which numbers are written without an exponent."""


def environment(*packages: str, **values: Any) -> Any:
    """Return the templates of packages and of all pages; HTML templates are escaped.

    All templates have ``version``, ``date``, the given ``values``, and a filter ``human`` for
    durations.
    """
    try:
        from jinja2 import ChoiceLoader, Environment, PackageLoader, StrictUndefined
    except ModuleNotFoundError as missing:
        raise ModuleNotFoundError(
            "Pages need jinja2, which is not installed: pip install 'eigenecho[cli]'",
            name=missing.name,
        ) from missing

    templates = Environment(
        loader=ChoiceLoader([PackageLoader(name) for name in (*packages, "eigenecho.pages")]),
        autoescape=lambda name: name is not None and "html" in name,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    date = datetime.now().astimezone().strftime("%Y-%m-%d %H:%M %Z")
    templates.globals.update(version=eigenecho.__version__, date=date, **values)
    templates.filters["human"] = format_duration
    return templates


def write_whole(path: Path, data: bytes) -> None:
    """Create the folder of a file, and write the file so that it is never incomplete."""
    path.parent.mkdir(parents=True, exist_ok=True)
    storage.write_whole(path, data)


def aligned(values: ArrayLike, finest: float | None = None) -> list[str]:
    """Return numbers as text with the same number of decimals, and a dash for NaN.

    Parameters
    ----------
    values : array (n,)
    finest : float, optional
        Magnitude that gets three digits. By default, the smallest nonzero one of ``values``.
    """
    numbers = np.asarray(values, np.float64)
    sizes = np.abs(numbers[np.isfinite(numbers) & (numbers != 0)])
    largest = float(sizes.max(initial=0.0))
    finest = float(sizes.min(initial=largest or 1.0)) if finest is None else finest
    if largest >= LARGEST or finest < SMALLEST:
        return ["–" if np.isnan(x) else f"{x:.4g}" for x in numbers]
    decimals = int(np.clip(2 - np.floor(np.log10(finest)), 0, 6))
    return ["–" if np.isnan(x) else f"{x:,.{decimals}f}".replace(",", "\u202f") for x in numbers]


def format_duration(seconds: float) -> str:
    """Return a duration as text, from nanoseconds to minutes, with three digits at most."""
    if seconds >= 99.5:
        minutes, rest = divmod(round(seconds), 60)
        return f"{minutes} min {rest:02d} s"
    for unit, size in (("s", 1.0), ("ms", 1e-3), ("µs", 1e-6)):
        if seconds >= size:
            return f"{seconds / size:.3g} {unit}"
    return f"{seconds / 1e-9:.3g} ns"


def format_ratio(ratio: float) -> str:
    """Return a ratio with three digits and without an exponent: 8.05, 2930, 104000."""
    return f"{float(f'{ratio:.3g}'):.12g}"
