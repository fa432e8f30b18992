"""The report: a self-contained HTML file, a Markdown file, and the numbers as JSON."""

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
from eigenecho.apps.paper.experiment import encode
from eigenecho.apps.paper.runner import Job
from eigenecho.apps.paper.section import Claim, Section, TextTable
from eigenecho.apps.shared.pages import CommandRun, environment

VERDICTS = {"holds": "✓", "holds in part": "◐", "does not hold": "✗"}
"""Each verdict has a sign, so that readers need not distinguish colours."""

PIXELS_PER_INCH = {"least": 80, "most": 100}
"""Limits of the size of figures in CSS pixels per inch, so that their text stays readable."""

NUMBER = re.compile(r"[-+−]?\d")


class ReportError(RuntimeError):
    """A report that cannot be written. The message names the file."""


@dataclass(frozen=True)
class FinishedExperiment:
    """A finished experiment: its section, its cost, and the machines that computed it."""

    job: Job
    section: Section
    cells: int
    seconds: float
    machines: Sequence[Mapping[str, str]]


def collect(jobs: Iterable[Job], store: CellStore) -> list[FinishedExperiment]:
    """Return the experiments whose cells are all stored."""
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
        machines = store.machines(name, job.identity)
        parts.append(FinishedExperiment(job, section, len(keys), seconds, machines))
    return parts


def list_claims(
    parts: Iterable[FinishedExperiment],
) -> list[tuple[FinishedExperiment, Claim]]:
    """Return every claim with the experiment that tests it."""
    return [(part, claim) for part in parts for claim in part.section.claims]


def write(parts: Sequence[FinishedExperiment], out: Path, quick: bool, made_by: CommandRun) -> Path:
    """Write report.html, report.md, results.json and figures/ to a folder.

    Returns the path of the HTML file. Files are replaced when they are complete, so a full disk
    leaves the previous ones.
    """
    templates = environment(made_by, "eigenecho.apps.paper")
    templates.filters.update(
        settings=_format_settings,
        numeric=_find_numeric_columns,
        cell=lambda text: str(text).replace("|", "\\|"),
    )
    sources = _write_figures(parts, out)
    values = {
        "parts": parts,
        "claims": list_claims(parts),
        "verdicts": VERDICTS,
        "sources": sources,
        "pixels": PIXELS_PER_INCH,
        "quick": quick,
        "machines": _list_machines(parts),
    }
    for name in ("report.html", "report.md"):
        text = templates.get_template(f"{name}.jinja").render(values)
        _replace_file(out / name, text.encode())
    numbers = collect_numbers(parts, quick, made_by.command)
    _replace_file(out / "results.json", json.dumps(numbers, indent=1).encode())
    return out / "report.html"


def collect_numbers(
    parts: Sequence[FinishedExperiment], quick: bool, command: str
) -> dict[str, Any]:
    """Return all numbers, claims and versions for JSON."""
    return _to_json(
        {
            "eigenecho": eigenecho.__version__,
            "command": command,
            "quick": quick,
            "machines": _list_machines(parts),
            "claims": [
                {"experiment": part.job.experiment.name, **asdict(claim)}
                for part, claim in list_claims(parts)
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


def _write_figures(parts: Sequence[FinishedExperiment], out: Path) -> dict[str, str]:
    """Write figures as SVG and PNG; return the address of each, for the page, by name."""
    sources = {}
    for figure in (figure for part in parts for figure in part.section.figures):
        svg, png = (pages.rendered(figure.figure, kind) for kind in ("svg", "png"))
        _replace_file(out / "figures" / f"{figure.name}.svg", svg)
        _replace_file(out / "figures" / f"{figure.name}.png", png)
        sources[figure.name] = pages.source(svg, png)
    return sources


def _replace_file(path: Path, data: bytes) -> None:
    try:
        pages.write_whole(path, data)
    except OSError as error:
        raise ReportError(
            f"cannot write {path}: {error.strerror or error}. Correct this and run again: all that "
            "was computed is kept."
        ) from error


def _list_machines(parts: Sequence[FinishedExperiment]) -> list[dict[str, str]]:
    """Return each machine, with its versions, that computed some part of the report."""
    unique = {json.dumps(machine): dict(machine) for part in parts for machine in part.machines}
    return list(unique.values())


def _format_settings(config: Any) -> dict[str, str]:
    """Return the fields of a configuration as text, without empty ones."""
    return {
        name.replace("_", " "): ", ".join(f"{number:g}" for number in np.atleast_1d(value))
        for name, value in asdict(config).items()
        if value != ()
    }


def _find_numeric_columns(table: TextTable) -> list[bool]:
    """Return which columns hold numbers and are aligned to the right."""
    columns = zip(*table.rows, strict=True) if table.rows else [()] * len(table.columns)
    return [
        i > 0 and all(NUMBER.match(cell) or cell in ("", "–") for cell in column) and any(column)
        for i, column in enumerate(columns)
    ]


def _to_json(value: Any) -> Any:
    """Return numbers, text, lists and dicts only; NaN and infinity become None."""
    if isinstance(value, Mapping):
        return {str(key): _to_json(item) for key, item in value.items()}
    if isinstance(value, (np.ndarray, np.generic)):
        return _to_json(value.tolist())
    if isinstance(value, (list, tuple)):
        return [_to_json(item) for item in value]
    if isinstance(value, float) and not math.isfinite(value):
        return None
    return value
