"""Self-contained pages: templates, embedded figures, and numbers and durations as text."""

from __future__ import annotations

import base64
import io
from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike

import eigenecho
from eigenecho import storage

if TYPE_CHECKING:
    from matplotlib.figure import Figure

SMALLEST_DECIMAL = 1e-4
"""Magnitude below which numbers are written with an exponent: they would need many zeros."""

LARGEST_DECIMAL = 1e7
"""Magnitude from which numbers are written with an exponent: they would fill a column."""

LARGEST_SVG = 800_000
"""Size of an SVG image, in bytes, above which a figure is embedded as PNG to keep pages small."""

PNG_PIXELS = 150
"""Resolution of PNG images in pixels per inch, above ``CSS_PIXELS`` for sharper screens."""

WIDE = 9.0
"""Width of a figure on a screen, in inches."""

NARROW = 4.3
"""Width of a figure on a phone, in inches."""

CSS_PIXELS = 100
"""Maximum displayed size of a figure, in CSS pixels per inch."""


def environment(*packages: str) -> Any:
    """Return the templates of packages and of all pages; HTML templates are escaped.

    All templates have ``version``, ``date``, and a filter ``human`` for durations.
    """
    try:
        from jinja2 import ChoiceLoader, Environment, PackageLoader, StrictUndefined
    except ModuleNotFoundError as missing:
        raise ModuleNotFoundError(
            "Pages need jinja2, which is not installed: pip install 'eigenecho[cli]'",
            name=missing.name,
        ) from missing

    templates = Environment(
        loader=ChoiceLoader([PackageLoader(name) for name in (*packages, "eigenecho")]),
        autoescape=lambda name: name is not None and "html" in name,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    date = datetime.now().astimezone().strftime("%Y-%m-%d %H:%M %Z")
    templates.globals.update(version=eigenecho.__version__, date=date)
    templates.filters["human"] = format_duration
    return templates


def write_file(path: Path, data: bytes) -> None:
    """Create the folder of a file, then write the file atomically."""
    path.parent.mkdir(parents=True, exist_ok=True)
    storage.write_whole({path: data})


def format_numbers(values: ArrayLike, finest: float | None = None) -> list[str]:
    """Return numbers as text with the same number of decimals, and a dash for NaN.

    Parameters
    ----------
    values : array (n,)
    finest : float, optional
        Magnitude that gets three digits. By default, the smallest nonzero value.
    """
    numbers = np.asarray(values, np.float64)
    sizes = np.abs(numbers[np.isfinite(numbers) & (numbers != 0)])
    largest = float(sizes.max(initial=0.0))
    finest = float(sizes.min(initial=largest or 1.0)) if finest is None else finest
    form = ".4g"
    if largest < LARGEST_DECIMAL and finest >= SMALLEST_DECIMAL:
        form = f",.{int(np.clip(2 - np.floor(np.log10(finest)), 0, 6))}f"
    return ["–" if np.isnan(x) else f"{x:{form}}".replace(",", "\u202f") for x in numbers]


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


@dataclass(frozen=True)
class Picture:
    """A figure for two widths of a page, as addresses of images."""

    wide: str
    narrow: str
    width: int
    caption: str


def picture(draw: Callable[[float], Figure], caption: str) -> Picture:
    """Return the figures drawn for both widths in inches, or a single one if it is small."""
    wide = draw(WIDE)
    width = wide.get_figwidth()
    narrow = draw(NARROW) if width > NARROW else wide
    return Picture(_inline(wide), _inline(narrow), round(width * CSS_PIXELS), caption)


def render_figure(figure: Figure, kind: str) -> bytes:
    """Return a figure as the bytes of an "svg" or "png" file."""
    from matplotlib import rc_context

    file = io.BytesIO()
    # Without a date and random names, the same figure gives the same file.
    with rc_context({"svg.hashsalt": "eigenecho"}):
        figure.savefig(
            file,
            format=kind,
            dpi=PNG_PIXELS,
            metadata={"Date": None} if kind == "svg" else None,
            bbox_inches="tight",
            pad_inches=0.08,
            facecolor="white",
        )
    return file.getvalue()


def image_source(svg: bytes, png: bytes) -> str:
    """Return a figure as a data URI: the SVG, or the PNG if the SVG is too large."""
    kind, data = ("svg+xml", svg) if len(svg) <= LARGEST_SVG else ("png", png)
    return f"data:image/{kind};base64,{base64.b64encode(data).decode()}"


def _inline(figure: Figure) -> str:
    svg = render_figure(figure, "svg")
    return image_source(svg, render_figure(figure, "png") if len(svg) > LARGEST_SVG else b"")
