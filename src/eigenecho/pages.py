"""Self-contained HTML pages: templates, embedded figures, and formatted numbers."""

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
from eigenecho import files
from eigenecho.errors import missing_package

if TYPE_CHECKING:
    from matplotlib.figure import Figure

SMALLEST_DECIMAL = 1e-4
"""Magnitude below which numbers are written with an exponent, to avoid many zeros."""

LARGEST_DECIMAL = 1e7
"""Magnitude from which numbers are written with an exponent, to keep columns narrow."""

LARGEST_SVG = 800_000
"""Largest SVG image to embed, in bytes. Larger figures are embedded as PNG to keep pages small."""

PNG_PIXELS = 150
"""Resolution of PNG images in pixels per inch, above ``CSS_PIXELS`` for sharper screens."""

WIDE = 9.0
"""Width of a figure on a wide screen, in inches."""

NARROW = 4.3
"""Width of a figure on a phone, in inches."""

CSS_PIXELS = 100
"""Maximum displayed size of a figure, in CSS pixels per inch."""


def environment(*packages: str) -> Any:
    """Return the jinja2 environment with the templates of some packages and the shared templates.

    It provides the variables ``version`` and ``date``, and the filter ``human`` for durations.
    """
    try:
        from jinja2 import ChoiceLoader, Environment, PackageLoader, StrictUndefined
    except ModuleNotFoundError as error:
        raise missing_package("A report", "jinja2", "cli") from error

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
    """Create the folder of a file if necessary, and write the file atomically."""
    path.parent.mkdir(parents=True, exist_ok=True)
    files.write_whole({path: data})


def format_numbers(values: ArrayLike, finest: float | None = None) -> list[str]:
    """Format numbers with a common number of decimals, and NaN as a dash.

    Parameters
    ----------
    values : array (n,)
    finest : float, optional
        Magnitude that is shown with three digits. By default, the smallest nonzero magnitude.
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
    """Format a duration in minutes and seconds, or in s, ms, µs or ns with three digits."""
    if seconds >= 99.5:
        minutes, rest = divmod(round(seconds), 60)
        return f"{minutes} min {rest:02d} s"
    for unit, size in (("s", 1.0), ("ms", 1e-3), ("µs", 1e-6)):
        if seconds >= size:
            return f"{seconds / size:.3g} {unit}"
    return f"{seconds / 1e-9:.3g} ns"


def format_ratio(ratio: float) -> str:
    """Format a ratio with three digits and without an exponent: 8.05, 2930, 104000."""
    return f"{float(f'{ratio:.3g}'):.12g}"


@dataclass(frozen=True)
class Picture:
    """A figure as image addresses for a wide and a narrow page."""

    wide: str
    narrow: str
    width: int
    caption: str


def picture(draw: Callable[[float], Figure], caption: str) -> Picture:
    """Draw a figure for wide and narrow pages; a figure that fits both is drawn only once."""
    wide = draw(WIDE)
    width = wide.get_figwidth()
    narrow = draw(NARROW) if width > NARROW else wide
    return Picture(_inline(wide), _inline(narrow), round(width * CSS_PIXELS), caption)


def render_figure(figure: Figure, kind: str) -> bytes:
    """Return a figure as the bytes of an "svg" or "png" file."""
    from matplotlib import rc_context

    file = io.BytesIO()
    # Without a date and random names, equal figures give equal files.
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
