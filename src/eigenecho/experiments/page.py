"""Pages that need no other file: templates, figures inside them, and files that appear whole."""

from __future__ import annotations

import base64
import io
from pathlib import Path
from typing import TYPE_CHECKING, Any

from eigenecho import files

if TYPE_CHECKING:
    from matplotlib.figure import Figure

LARGEST_SVG = 800_000
"""Bytes from which a figure goes into the page as pixels instead."""

PIXELS = 150
"""Per inch, of figures as PNG."""


def environment(*packages: str) -> Any:
    """Templates of these packages, looked for in that order; what ends in html is escaped."""
    from jinja2 import ChoiceLoader, Environment, PackageLoader, StrictUndefined

    return Environment(
        loader=ChoiceLoader([PackageLoader(package) for package in packages]),
        autoescape=lambda name: name is not None and "html" in name,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )


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


def write_whole(path: Path, data: bytes) -> None:
    """Write a file whole, and the folders that it lies in."""
    path.parent.mkdir(parents=True, exist_ok=True)
    files.write_whole(path, data)
