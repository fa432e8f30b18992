"""Figures embedded in pages, for wide and narrow screens."""

from __future__ import annotations

import base64
import io
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from matplotlib.figure import Figure

LARGEST_SVG = 800_000
"""Largest SVG in bytes; larger figures are embedded as PNG."""

PIXELS = 150
"""Resolution of PNG files in pixels per inch."""

WIDE, NARROW = 9.0, 4.3
"""Width of a figure in inches, on a screen and on a phone."""

CSS_PIXELS = 100
"""Largest size of a figure in CSS pixels per inch."""


@dataclass(frozen=True)
class Picture:
    """A figure for two widths of a page, as addresses of images."""

    wide: str
    narrow: str
    width: int
    caption: str


def picture(draw: Callable[[float], Figure], caption: str) -> Picture:
    """Return the figures that ``draw`` makes for both widths in inches; one if it is small."""
    wide = draw(WIDE)
    width = wide.get_figwidth()
    narrow = draw(NARROW) if width > NARROW else wide
    return Picture(_inline(wide), _inline(narrow), round(width * CSS_PIXELS), caption)


def rendered(figure: Figure, kind: str) -> bytes:
    """Return a figure as the bytes of an "svg" or "png" file."""
    from matplotlib import rc_context

    # Without a date and random names, the same figure gives the same file.
    metadata = {"Date": None} if kind == "svg" else None
    file = io.BytesIO()
    with rc_context({"svg.hashsalt": "eigenecho"}):
        figure.savefig(
            file,
            format=kind,
            dpi=PIXELS,
            metadata=metadata,
            bbox_inches="tight",
            pad_inches=0.08,
            facecolor="white",
        )
    return file.getvalue()


def source(svg: bytes, png: bytes) -> str:
    """Return a figure as the address of an image: the SVG, or the PNG if the SVG is too large."""
    kind, data = ("svg+xml", svg) if len(svg) <= LARGEST_SVG else ("png", png)
    return f"data:image/{kind};base64,{base64.b64encode(data).decode()}"


def _inline(figure: Figure) -> str:
    svg = rendered(figure, "svg")
    return source(svg, rendered(figure, "png") if len(svg) > LARGEST_SVG else b"")
