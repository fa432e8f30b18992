"""Templates of pages, and files that appear whole."""

from __future__ import annotations

from datetime import datetime
from pathlib import Path
from typing import Any

import eigenecho
from eigenecho import storage


def environment(*packages: str, **known: Any) -> Any:
    """Templates of packages and those of all pages; what ends in html is escaped.

    All of them know ``version`` and ``date``, and what is passed as ``known``.
    """
    try:
        from jinja2 import ChoiceLoader, Environment, PackageLoader, StrictUndefined
    except ModuleNotFoundError as missing:
        raise ModuleNotFoundError(
            "pages need jinja2, which is not installed: pip install 'eigenecho[cli]'",
            name=missing.name,
        ) from missing

    found = Environment(
        loader=ChoiceLoader([PackageLoader(name) for name in (*packages, "eigenecho.pages")]),
        autoescape=lambda name: name is not None and "html" in name,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    date = datetime.now().astimezone().strftime("%Y-%m-%d %H:%M %Z")
    found.globals.update(version=eigenecho.__version__, date=date, **known)
    return found


def write_whole(path: Path, data: bytes) -> None:
    """Write a file whole, and the folders that it lies in."""
    path.parent.mkdir(parents=True, exist_ok=True)
    storage.write_whole(path, data)
