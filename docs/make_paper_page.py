"""Write docs/paper.md from the stored results of ``eigenecho reproduce``: ``make paper-page``.

    python docs/make_paper_page.py results/reproduce

Each experiment is shown with the largest number of seeds whose cells are all stored, up to its own
number of seeds.
"""

from __future__ import annotations

import shutil
import sys
import tempfile
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from eigenecho.pages import format_duration
from eigenecho.paper import report
from eigenecho.paper.cell_store import CellStore
from eigenecho.paper.claims import count_verdicts
from eigenecho.paper.experiment import Experiment, listed
from eigenecho.paper.runner import find_experiments

HERE = Path(__file__).parent
PAGE, FOLDER = HERE / "paper.md", HERE / "paper"

HEAD = """# Reproducing the paper

This page shows every table and figure of *Fast Linear Reservoirs via Diagonalization*
(de Coudenhove, Bendi-Ouis, Strock, Hinaut, 2026), recomputed with eigenecho, and judges its claims
by printed rules. The verdicts on {count} claims of the paper are {verdicts}.

```console
$ eigenecho reproduce --quick   # smaller experiments, in less than a minute
$ eigenecho reproduce           # all experiments
```

Both commands store the result of each run, so that they can be interrupted and resumed, and write a
report like this page. The {cells} runs for this page took {seconds} on one core of a shared
machine. All numbers are in [results.json](paper/results.json), and all claims and rules in
`eigenecho/paper/templates/claims.toml`.

<!-- `make paper-page` writes this page from stored results; do not edit it by hand. -->
{fewer}
"""

FEWER = """
Some experiments are not complete. Run `eigenecho reproduce` again to continue them:

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
    claims = [claim for _, claim in report.list_claims(parts) if not claim.ours]
    head = HEAD.format(
        count=len(claims),
        verdicts=listed(f"{verdict} ({n})" for verdict, n in count_verdicts(claims).items()),
        cells=sum(part.cells for part in parts),
        seconds=format_duration(seconds),
        fewer=list_smaller([part.experiment for part in parts]),
    )
    body = text[text.index("## Claims and verdicts") :].replace("](figures/", "](paper/")
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
