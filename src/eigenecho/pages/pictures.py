"""Figures inside pages, for wide and narrow ones."""

from __future__ import annotations

import base64
import io
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from matplotlib.figure import Figure

LARGEST_SVG = 800_000
"""Bytes from which a figure goes into the page as pixels instead."""

PIXELS = 150
"""Per inch, of figures as PNG."""

WIDE, NARROW = 9.0, 4.3
"""Inches of a figure on a screen and on a phone."""

CSS_PIXELS = 100
"""Per inch of a figure, at most."""


@dataclass(frozen=True)
class Picture:
    """A figure, for two widths of a page."""

    wide: str
    narrow: str
    width: int
    caption: str


def picture(draw: Callable[[float], Figure], caption: str) -> Picture:
    """What ``draw`` draws for a width in inches; one for both where it is small."""
    wide = draw(WIDE)
    width = wide.get_figwidth()
    narrow = draw(NARROW) if width > NARROW else wide
    return Picture(_inline(wide), _inline(narrow), round(width * CSS_PIXELS), caption)


def rendered(figure: Figure, kind: str) -> bytes:
    """A figure as the bytes of a file, "svg" or "png"."""
    from matplotlib import rc_context

    # The same figure gives the same file: no date, and no random names in it.
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
    """A figure as the address of an image: sharp at any size, unless that takes too many bytes."""
    kind, data = ("svg+xml", svg) if len(svg) <= LARGEST_SVG else ("png", png)
    return f"data:image/{kind};base64,{base64.b64encode(data).decode()}"


def _inline(figure: Figure) -> str:
    svg = rendered(figure, "svg")
    return source(svg, rendered(figure, "png") if len(svg) > LARGEST_SVG else b"")
