"""Divide the index of the gallery into sections, and its sidebar into groups.

sphinx-gallery makes sections of folders. Here, all scripts are in one folder, so that links to them
stay short, and the sections are listed below.
"""

from __future__ import annotations

import re

from sphinx.application import Sphinx

SECTIONS = {
    "Forecast": "co2 panel retail known_ahead gaps backtest coverage",
    "Classify": "gestures modes_of_a_decision",
    "Choose eigenvalues": "laws memory_of_spectra spectrum_by_hand learnt_spectrum leak",
    "Train": "ridge search mso_last_digits training_without_states narma",
    "Closed loops and chaos": "closed_loop mackey_glass lorenz",
    "Run, convert and scale": "stream drift reduction same_network conversion tensors dask",
}
"""Titles of the sections, and the names of their scripts without ``plot_``."""

OTHERS = "More"
"""Title of the section of scripts that are not listed."""

OPEN, CLOSE = ".. thumbnail-parent-div-open\n", ".. thumbnail-parent-div-close\n"
BEFORE = '.. raw:: html\n\n    <div class="sphx-glr-thumbnails">\n\n' + OPEN
AFTER = CLOSE + "\n.. raw:: html\n\n    </div>\n"
THUMBNAIL = '.. raw:: html\n\n    <div class="sphx-glr-thumbcontainer"'
NAME = re.compile(r":doc:`/examples/plot_(\w+)`")


def divide(app: Sphinx, docname: str, source: list[str]) -> None:
    """Rewrite the index that sphinx-gallery has written."""
    if docname != "examples/index":
        return
    head, rest = source[0].split(BEFORE)
    _, *parts = rest.split(CLOSE)[0].split(THUMBNAIL)
    thumbnails = {NAME.search(part)[1]: THUMBNAIL + part for part in parts}  # type: ignore[index]
    sections = {title: names.split() for title, names in SECTIONS.items()}
    listed = {name for names in sections.values() for name in names}
    sections[OTHERS] = [name for name in thumbnails if name not in listed]
    written = [head]
    for title, names in sections.items():
        shown = [name for name in names if name in thumbnails]
        if shown:
            entries = "\n".join(f"   /examples/plot_{name}" for name in shown)
            written += [
                f"{title}\n{'-' * len(title)}\n",
                BEFORE + "\n" + "".join(thumbnails[name] for name in shown) + AFTER,
                f".. toctree::\n   :hidden:\n   :caption: {title}\n\n{entries}\n",
            ]
    source[0] = "\n".join(written)


def setup(app: Sphinx) -> dict[str, bool]:
    """Register the extension."""
    app.connect("source-read", divide)
    return {"parallel_read_safe": True}
