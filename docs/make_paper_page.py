"""Write docs/paper.md from the stored results of ``eigenecho reproduce``: ``make paper-page``.

    python docs/make_paper_page.py results/reproduce

Each experiment is shown with the largest number of seeds whose cells are all stored, up to its own
number of seeds.
"""

from __future__ import annotations

import shutil
import sys
import tempfile
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from eigenecho.pages import format_duration
from eigenecho.paper import report
from eigenecho.paper.cell_store import CellStore
from eigenecho.paper.experiment import Experiment
from eigenecho.paper.runner import find_experiments

HERE = Path(__file__).parent
PAGE, FOLDER = HERE / "paper.md", HERE / "paper"

HEAD = """# The paper, reproduced

This page has every table and figure of *Fast Linear Reservoirs via Diagonalization*
(de Coudenhove, Bendi-Ouis, Strock, Hinaut, 2026), computed again, with a verdict on each claim.
A verdict follows from a rule in the code of its experiment (`eigenecho/paper`); the measured
result is shown beside it. The verdicts are {verdicts}.

`eigenecho reproduce` computes everything ({cells} cells here, {seconds} of core time on a shared
machine) and writes this report next to its store. `eigenecho reproduce --quick` runs smaller
experiments in a minute or two. `make paper-page` writes this page from the store. All numbers are
in [results.json](paper/results.json).
{fewer}
"""

FEWER = """
Some experiments have fewer results than `eigenecho reproduce` computes. The same command continues:

{lines}
"""


def largest_stored(experiment: Experiment, store: CellStore) -> Experiment | None:
    """Return the experiment with the largest number of seeds whose cells are all stored."""
    for seeds in range(experiment.seeds, 0, -1):
        smaller = replace(experiment, seeds=seeds)
        if not store.missing(smaller):
            return smaller
    return None


def list_smaller(stored: Sequence[Experiment]) -> str:
    """Return a note on experiments that are smaller than the paper's, or an empty string."""
    seeds = {experiment.name: experiment.seeds for experiment in stored}
    lines = []
    for experiment in find_experiments():
        if experiment.name not in seeds:
            lines.append(f"- `{experiment.name}`: not finished")
        elif seeds[experiment.name] < experiment.seeds:
            lines.append(
                f"- `{experiment.name}`: {seeds[experiment.name]} of {experiment.seeds} seeds"
            )
    return FEWER.format(lines="\n".join(lines)) if lines else ""


def write(parts: Sequence[report.FinishedExperiment]) -> None:
    """Write the page, its figures and its numbers."""
    seconds = sum(part.seconds for part in parts)
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        report.write(parts, folder, False, "eigenecho reproduce", seconds)
        text = (folder / "report.md").read_text(encoding="utf-8")
        shutil.rmtree(FOLDER, ignore_errors=True)
        FOLDER.mkdir()
        for figure in sorted((folder / "figures").glob("*.png")):
            shutil.copy(figure, FOLDER / figure.name)
        shutil.copy(folder / "results.json", FOLDER / "results.json")
    counts = Counter(claim.verdict for _, claim in report.list_claims(parts))
    head = HEAD.format(
        verdicts=", ".join(f"{counts[v]} × *{v}*" for v in report.VERDICTS if counts[v]),
        cells=sum(part.cells for part in parts),
        seconds=format_duration(seconds),
        fewer=list_smaller([part.experiment for part in parts]),
    )
    body = text[text.index("## The claims") :].replace("](figures/", "](paper/")
    PAGE.write_text(head + body, encoding="utf-8")


def main() -> None:
    """Write the page from the store in the named folder."""
    store = CellStore(Path(sys.argv[1]) / "cells")
    stored = [largest_stored(experiment, store) for experiment in find_experiments()]
    parts = report.collect([experiment for experiment in stored if experiment], store)
    write(parts)
    size = sum(path.stat().st_size for path in FOLDER.iterdir())
    print(f"{PAGE}: {len(parts)} experiments, {size / 1e6:.1f} MB of figures and numbers")


if __name__ == "__main__":
    main()
