"""Pages that need no other file: templates, figures inside them, and files that appear whole."""

from __future__ import annotations

import base64
import io
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

import eigenecho
from eigenecho import files
from eigenecho.apps.shared.durations import human

if TYPE_CHECKING:
    from matplotlib.figure import Figure

LARGEST_SVG = 800_000
"""Bytes from which a figure goes into the page as pixels instead."""

PIXELS = 150
"""Per inch, of figures as PNG."""


@dataclass(frozen=True)
class MadeBy:
    """The command that made a page, and how long it ran."""

    command: str
    seconds: float


def environment(package: str, made_by: MadeBy) -> Any:
    """Templates of a package and those shared; what ends in html is escaped.

    All of them know ``made_by``, ``version``, ``date``, and the filter ``human`` for durations.
    """
    from jinja2 import ChoiceLoader, Environment, PackageLoader, StrictUndefined

    found = Environment(
        loader=ChoiceLoader([PackageLoader(package), PackageLoader("eigenecho.apps.shared")]),
        autoescape=lambda name: name is not None and "html" in name,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    date = datetime.now().astimezone().strftime("%Y-%m-%d %H:%M %Z")
    found.globals.update(made_by=made_by, version=eigenecho.__version__, date=date)
    found.filters["human"] = human
    return found


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
