"""Write docs/paper.md from what ``eigenecho reproduce`` stored: ``make paper-page``.

    python docs/make_paper_page.py results/reproduce

Each experiment is shown with as many seeds as are stored whole, at most its own number of them.
"""

from __future__ import annotations

import shutil
import sys
import tempfile
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

from eigenecho.apps.paper import reproduction_report
from eigenecho.apps.paper.cell_store import CellStore
from eigenecho.apps.paper.experiment import Experiment, encode
from eigenecho.apps.paper.reproduction_report import FinishedExperiment
from eigenecho.apps.paper.runner import Job, find_experiments
from eigenecho.apps.shared.pages import CommandRun, format_duration

HERE = Path(__file__).parent
PAGE, FOLDER = HERE / "paper.md", HERE / "paper"

HEAD = """# The paper, reproduced

*Fast Linear Reservoirs via Diagonalization* (de Coudenhove, Bendi-Ouis, Strock, Hinaut, 2026):
every table and figure, made anew with a verdict on each claim. A verdict is a rule that is written
down in the code of its experiment (`eigenecho/apps/paper`), and what was measured stands beside it,
whatever the verdict. Here they are {verdicts}.

`eigenecho reproduce` computes all of it ({cells} cells here, {seconds} of core time on a machine
that others used too) and writes this report beside its store; `eigenecho reproduce --quick` makes a
rough one in a minute or two. `make paper-page` made this page from that store; all numbers are in
[results.json](paper/results.json).
{fewer}
"""

FEWER = """
Stored so far with less than `eigenecho reproduce` asks for; the same command goes on:

{lines}
"""


def stored_whole(experiment: Experiment, store: CellStore) -> Job | None:
    """The experiment with the most seeds of which every cell is stored."""
    for seeds in range(experiment.config.seeds, 0, -1):
        job = Job(experiment, experiment.config.with_seeds(seeds))
        keys = {encode(key) for key in experiment.cells(job.config)}
        if keys <= store.keys(experiment.name, job.identity):
            return job
    return None


def fewer(jobs: Sequence[Job]) -> str:
    """What a reader should know of experiments that are not as large as the paper's."""
    lines = [
        f"- `{job.experiment.name}`: {job.config.seeds} of {job.experiment.config.seeds} seeds"
        for job in jobs
        if job.config.seeds < job.experiment.config.seeds
    ]
    names = {job.experiment.name for job in jobs}
    lines += [f"- `{e.name}`: not finished" for e in find_experiments(()) if e.name not in names]
    return FEWER.format(lines="\n".join(lines)) if lines else ""


def counted(parts: Sequence[FinishedExperiment]) -> str:
    """How many claims have each verdict."""
    found = Counter(claim.verdict for _, claim in reproduction_report.list_claims(parts))
    return ", ".join(f"{found[v]} × *{v}*" for v in reproduction_report.VERDICTS if found[v])


def write(parts: Sequence[FinishedExperiment], jobs: Sequence[Job]) -> None:
    """The page, its figures and its numbers."""
    seconds = sum(part.seconds for part in parts)
    with tempfile.TemporaryDirectory() as made:
        folder = Path(made)
        reproduction_report.write(parts, folder, False, CommandRun("eigenecho reproduce", seconds))
        text = (folder / "report.md").read_text(encoding="utf-8")
        shutil.rmtree(FOLDER, ignore_errors=True)
        FOLDER.mkdir()
        for picture in sorted((folder / "figures").glob("*.png")):
            shutil.copy(picture, FOLDER / picture.name)
        shutil.copy(folder / "results.json", FOLDER / "results.json")
    head = HEAD.format(
        verdicts=counted(parts),
        cells=sum(part.cells for part in parts),
        seconds=format_duration(seconds),
        fewer=fewer(jobs),
    )
    body = text[text.index("## The claims") :].replace("](figures/", "](paper/")
    PAGE.write_text(head + body, encoding="utf-8")


def main() -> None:
    """Read the store that is named."""
    store = CellStore(Path(sys.argv[1]) / "store.sqlite")
    jobs = [job for e in find_experiments(()) if (job := stored_whole(e, store))]
    parts = reproduction_report.collect(jobs, store)
    write(parts, jobs)
    sizes = sum(path.stat().st_size for path in FOLDER.iterdir())
    print(f"{PAGE}: {len(parts)} experiments, {sizes / 1e6:.1f} MB of figures and numbers")


if __name__ == "__main__":
    main()
