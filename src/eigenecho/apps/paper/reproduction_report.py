"""The report: one HTML file that needs nothing else, the same as Markdown, and the numbers."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np

import eigenecho
from eigenecho import pages
from eigenecho.apps.paper.cell_store import CellStore
from eigenecho.apps.paper.experiment import Claim, Section, TextTable, encode
from eigenecho.apps.paper.runner import Job
from eigenecho.apps.shared.pages import MadeBy, environment

VERDICTS = {"holds": "✓", "holds in part": "◐", "does not hold": "✗"}
"""With a sign each, so that nobody has to tell colours apart."""

LEAST, MOST = 80, 100
"""CSS pixels per inch of a figure: its text is too small to read below, needlessly large above."""

NUMBER = re.compile(r"[-+−]?\d")


class ReportError(RuntimeError):
    """A report that cannot be written; the message names the file."""


@dataclass(frozen=True)
class Part:
    """One finished experiment: what it shows, and what it took."""

    job: Job
    section: Section
    cells: int
    seconds: float
    machines: Sequence[Mapping[str, str]]


@dataclass(frozen=True)
class ReportPicture:
    """A figure as the report shows it."""

    name: str
    caption: str
    source: str
    width: float
    """In inches."""


def collect(jobs: Iterable[Job], store: CellStore) -> list[Part]:
    """Those experiments of which every cell is stored."""
    parts = []
    for job in jobs:
        name = job.experiment.name
        keys = job.experiment.cells(job.config)
        if {encode(key) for key in keys} - store.keys(name, job.identity):
            continue
        loaded = store.load(name, job.identity)
        cells = {key: loaded[encode(key)] for key in keys}
        section = job.experiment.section(job.config, {key: r for key, (r, _) in cells.items()})
        seconds = sum(s for _, s in cells.values())
        parts.append(Part(job, section, len(keys), seconds, store.machines(name, job.identity)))
    return parts


def claims(parts: Iterable[Part]) -> list[tuple[Part, Claim]]:
    """Every claim with the experiment that tests it."""
    return [(part, claim) for part in parts for claim in part.section.claims]


def write(parts: Sequence[Part], out: Path, quick: bool, made_by: MadeBy) -> Path:
    """Write report.html, report.md, results.json and figures/ to a folder; the HTML's path.

    A file takes its place when it is complete, so that a full disk leaves the one before.
    """
    pictures = {part.job.experiment.name: _pictures(part.section, out) for part in parts}
    templates = environment(made_by, "eigenecho.apps.paper")
    templates.filters.update(
        settings=_settings,
        aligned=_aligned,
        cell=lambda text: str(text).replace("|", "\\|"),
    )
    given = {
        "parts": parts,
        "claims": claims(parts),
        "verdicts": VERDICTS,
        "pictures": pictures,
        "pixels": {"least": LEAST, "most": MOST},
        "quick": quick,
        "machines": _machines(parts),
    }
    for name in ("report.html", "report.md"):
        text = templates.get_template(f"{name}.jinja").render(given)
        _replace(out / name, text.encode())
    found = results(parts, quick, made_by.command)
    _replace(out / "results.json", json.dumps(found, indent=1).encode())
    return out / "report.html"


def results(parts: Sequence[Part], quick: bool, command: str) -> dict[str, Any]:
    """All numbers, claims and versions, as JSON takes them."""
    return _plain(
        {
            "eigenecho": eigenecho.__version__,
            "command": command,
            "quick": quick,
            "machines": _machines(parts),
            "claims": [
                {"experiment": part.job.experiment.name, **asdict(claim)}
                for part, claim in claims(parts)
            ],
            "experiments": {
                part.job.experiment.name: {
                    "title": part.job.experiment.title,
                    "paper": part.job.experiment.paper,
                    "configuration": asdict(part.job.config),
                    "cells": part.cells,
                    "core_seconds": part.seconds,
                    "headline": part.section.headline,
                    "numbers": part.section.numbers,
                }
                for part in parts
            },
        }
    )


def _pictures(section: Section, out: Path) -> list[ReportPicture]:
    pictures = []
    for name, figure in section.figures.items():
        svg, png = pages.rendered(figure, "svg"), pages.rendered(figure, "png")
        _replace(out / "figures" / f"{name}.svg", svg)
        _replace(out / "figures" / f"{name}.png", png)
        caption = section.captions.get(name, name)
        pictures.append(ReportPicture(name, caption, pages.source(svg, png), figure.get_figwidth()))
    return pictures


def _replace(path: Path, data: bytes) -> None:
    try:
        pages.write_whole(path, data)
    except OSError as error:
        raise ReportError(
            f"cannot write {path}: {error.strerror or error}. Mend that and start again: all that "
            "was computed is kept."
        ) from error


def _machines(parts: Sequence[Part]) -> list[dict[str, str]]:
    """Each machine, with its versions, that something in the report was computed on."""
    unique = {json.dumps(machine): dict(machine) for part in parts for machine in part.machines}
    return list(unique.values())


def _settings(config: Any) -> dict[str, str]:
    """The fields of a configuration as text, but for those that hold nothing."""
    return {
        name.replace("_", " "): ", ".join(f"{v:g}" for v in value)
        if isinstance(value, tuple)
        else f"{value:g}"
        if isinstance(value, float)
        else str(value)
        for name, value in asdict(config).items()
        if value != ()
    }


def _aligned(table: TextTable) -> list[bool]:
    """Which columns hold numbers, and stand to the right."""
    columns = zip(*table.rows, strict=True) if table.rows else [()] * len(table.columns)
    return [
        i > 0 and all(NUMBER.match(cell) or cell in ("", "–") for cell in column) and any(column)
        for i, column in enumerate(columns)
    ]


def _plain(value: Any) -> Any:
    """Numbers, text, lists and dicts only; what JSON has no word for is null."""
    if isinstance(value, Mapping):
        return {str(key): _plain(item) for key, item in value.items()}
    if isinstance(value, (np.ndarray, np.generic)):
        return _plain(value.tolist())
    if isinstance(value, (list, tuple)):
        return [_plain(item) for item in value]
    if isinstance(value, float) and not math.isfinite(value):
        return None
    return value
