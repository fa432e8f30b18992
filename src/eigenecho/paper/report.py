"""The report: a self-contained HTML file, a Markdown file, and a JSON file with all numbers."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

import numpy as np

import eigenecho
from eigenecho import pages
from eigenecho.paper.cell_store import CellStore
from eigenecho.paper.claims import VERDICTS, Claim, count_verdicts
from eigenecho.paper.experiment import Experiment, Results, Section, TextTable

NUMBER = re.compile(r"[-+−]?\d|–?$")
"""Pattern of entries in a column of numbers, which may be empty or a dash."""


@dataclass(frozen=True)
class FinishedExperiment:
    """A finished experiment, with its section, running time and machines."""

    experiment: Experiment
    section: Section
    cells: int
    seconds: float
    machines: Sequence[Mapping[str, str]]


def collect(experiments: Iterable[Experiment], store: CellStore) -> list[FinishedExperiment]:
    """Return the experiments whose cells are all stored."""
    parts = []
    for experiment in experiments:
        if not store.missing(experiment):
            stored = store.load(experiment)
            section = experiment.section(Results({key: s.cell for key, s in stored.items()}))
            seconds = sum(s.seconds for s in stored.values())
            machines = distinct(s.machine for s in stored.values())
            parts.append(FinishedExperiment(experiment, section, len(stored), seconds, machines))
    return parts


def distinct(machines: Iterable[Mapping[str, str]]) -> list[Mapping[str, str]]:
    """Return the distinct machines in alphabetical order."""
    by_text = {str(machine): machine for machine in machines}
    return [by_text[text] for text in sorted(by_text)]


def list_claims(parts: Iterable[FinishedExperiment]) -> list[tuple[FinishedExperiment, Claim]]:
    """Return all claims with the experiments that test them."""
    return [(part, claim) for part in parts for claim in part.section.claims]


def write(
    parts: Sequence[FinishedExperiment], out: Path, quick: bool, command: str, seconds: float
) -> Path:
    """Write report.html, report.md, results.json and figures/ to a folder.

    Return the path of the HTML file. Existing files are replaced only by complete files.
    ``seconds`` is the running time of the ``command``.
    """
    templates = pages.environment("eigenecho.paper")
    templates.filters.update(
        settings=_format_settings,
        numeric=_find_numeric_columns,
        cell=lambda text: str(text).replace("|", "\\|"),
        tally=count_verdicts,
    )
    machines = distinct(machine for part in parts for machine in part.machines)
    values = {
        "parts": parts,
        "claims": list_claims(parts),
        "verdicts": VERDICTS,
        "sources": _write_figures(parts, out),
        "quick": quick,
        "machines": machines,
        "command": command,
        "seconds": seconds,
    }
    for name in ("report.html", "report.md"):
        text = templates.get_template(f"{name}.jinja").render(values)
        pages.write_file(out / name, text.encode())
    numbers = {
        "eigenecho": eigenecho.__version__,
        "command": command,
        "quick": quick,
        "machines": machines,
        "claims": [
            {"experiment": part.experiment.name, **claim.to_json()}
            for part, claim in list_claims(parts)
        ],
        "experiments": {
            part.experiment.name: {
                "title": part.section.texts["title"],
                "configuration": asdict(part.experiment),
                "cells": part.cells,
                "core_seconds": part.seconds,
                "headline": part.section.headline,
                "numbers": part.section.numbers,
            }
            for part in parts
        },
    }
    # Convert arrays to lists, and NaN and infinity, which are not valid JSON, to null.
    plain = json.loads(
        json.dumps(numbers, default=lambda array: array.tolist()), parse_constant=lambda _: None
    )
    pages.write_file(out / "results.json", json.dumps(plain, indent=1).encode())
    return out / "report.html"


def _write_figures(parts: Sequence[FinishedExperiment], out: Path) -> dict[str, str]:
    """Write figures as SVG and PNG files, and return the image address of each figure by name."""
    sources = {}
    for figure in (figure for part in parts for figure in part.section.figures):
        svg, png = (pages.render_figure(figure.figure, kind) for kind in ("svg", "png"))
        pages.write_file(out / "figures" / f"{figure.name}.svg", svg)
        pages.write_file(out / "figures" / f"{figure.name}.png", png)
        sources[figure.name] = pages.image_source(svg, png)
    return sources


def _format_settings(experiment: Experiment) -> dict[str, str]:
    """Return the parameters of an experiment as text, without empty parameters."""
    return {
        name.replace("_", " "): ", ".join(f"{number:g}" for number in np.atleast_1d(value))
        for name, value in asdict(experiment).items()
        if value != ()
    }


def _find_numeric_columns(table: TextTable) -> list[bool]:
    """Return True for each column, except the first, that contains numbers."""
    columns = list(zip(*table.rows, strict=True))
    return [i > 0 and any(c) and all(map(NUMBER.match, c)) for i, c in enumerate(columns)]
