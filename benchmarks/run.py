"""Run all benchmark jobs, store raw results, and write the page: ``make bench``.

Each job runs in its own process, so that its threads and memory do not affect the next one, and
writes a JSON file. The page is made from these files. A missed goal is reported but is not an
error. The exit code is 1 if a result is wrong or a job fails.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

from rich.console import Console
from rich.markup import escape
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn
from rich.table import Table

from suite import results as stored
from suite.catalogue import jobs as all_jobs
from suite.job import Job
from suite.machine import bandwidth
from suite.page import MixedResults, warning, write
from suite.record import Record

ROOT = Path(__file__).resolve().parent.parent
COLOURS = {"holds": "green", "MISSED": "yellow", "FAILED": "red", "skipped": "blue"}


def parse(words: Sequence[str] | None = None) -> argparse.Namespace:
    """Parse the command line."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--only", nargs="+", metavar="NAME", help="run only these jobs; see --list")
    parser.add_argument("--quick", action="store_true",
                        help="small sizes without verdicts; page in results/")  # fmt: skip
    parser.add_argument("--render", action="store_true", help="write the page from stored results")
    parser.add_argument("--list", action="store_true", help="list the jobs")
    parser.add_argument("--child", metavar="NAME", help=argparse.SUPPRESS)
    return parser.parse_args(words)


def main() -> int:
    """Run the suite and return the exit code."""
    args, console, jobs = parse(), Console(highlight=False), all_jobs()
    folder = ROOT / "results" / ("bench-quick" if args.quick else "bench")
    by_name = {job.name: job for job in jobs}
    if args.child:
        job = by_name[args.child]
        stored.measure(job, args.quick, folder / f"{job.name}.json", lambda s: print(s, flush=True))
        return 0
    if args.list:
        for job in jobs:
            console.print(f"[bold]{job.name}[/]  {escape(job.title)}", soft_wrap=True)
        return 0
    unknown = [name for name in args.only or () if name not in by_name]
    if unknown:
        console.print(f"[red]Unknown job {', '.join(unknown)}[/]. Known jobs: {', '.join(by_name)}")
        return 2
    chosen = [by_name[name] for name in args.only] if args.only else jobs
    folder.mkdir(parents=True, exist_ok=True)
    if not args.render:
        (folder / "machine").mkdir(exist_ok=True)
        (folder / "machine" / "bandwidth.json").write_text(json.dumps(bandwidth()))
        measure(console, chosen, folder, args.quick)
    code = report(console, chosen, folder)
    return render(console, jobs, folder, args.quick) or code


def measure(console: Console, jobs: list[Job], folder: Path, quick: bool) -> None:
    """Run jobs one after another and show their progress."""
    columns = (TextColumn("[bold]{task.description}"), BarColumn(), MofNCompleteColumn(),
               TimeElapsedColumn(), TextColumn("{task.fields[doing]}"))  # fmt: skip
    # Redraw rarely, because drawing takes time from the measured process.
    with Progress(*columns, console=console, refresh_per_second=2) as bars:
        bar = bars.add_task("", total=len(jobs), doing="")
        for job in jobs:
            bars.update(bar, description=job.name, doing="")
            path = folder / f"{job.name}.json"
            log = path.with_suffix(".log")
            path.unlink(missing_ok=True)
            command = [sys.executable, str(Path(__file__)), "--child", job.name]
            command += ["--quick"] * quick
            with (
                log.open("w") as errors,
                subprocess.Popen(
                    command, stdout=subprocess.PIPE, stderr=errors, text=True
                ) as child,
            ):
                assert child.stdout is not None
                for line in child.stdout:
                    bars.update(bar, doing=escape(line.strip()))
            if not path.exists():
                silent = f"the process exited with code {child.returncode}"
                stored.store(path, job, Record(quick, print), silent, 0.0)
            result = json.loads(path.read_text())
            console.print(outcome(job, result), soft_wrap=True)
            if result["failed"]:
                console.print(f"  {escape(result['failed'])}; see {log.relative_to(ROOT)}")
            bars.advance(bar)


def outcome(job: Job, result: dict) -> str:
    """Return one line about a finished job."""
    words = [f"[{COLOURS.get(v.word, 'default')}]{v.word}[/]" for v in stored.verdicts(job, result)]
    return f"{job.name} ({result['wall']:.0f} s): {', '.join(words)}"


def report(console: Console, jobs: list[Job], folder: Path) -> int:
    """Print the measured values and the goals. Return 1 if a job failed."""
    results = stored.load(folder, jobs)
    table = Table("measured", "goal", "job", "compared with", "verdict")
    words: Counter[str] = Counter()
    for job in jobs:
        verdicts = stored.verdicts(job, results.get(job.name))
        words.update(v.word for v in verdicts)
        for requirement, v in zip(job.requirements or (None,), verdicts, strict=True):
            word = f"[{COLOURS.get(v.word, 'default')}]{v.word}[/]"
            remark = f"{word}: {escape(v.remark)}" if v.remark else word
            if requirement is None:
                table.add_row("–", "–", escape(job.title), "–", remark)
                continue
            value = "–" if v.measured is None else requirement.text(v.measured)
            goal = requirement.required
            table.add_row(value, goal, escape(requirement.what), requirement.against, remark)
    console.print(table)
    counts = [f"{words[word]} {word.lower()}" for word in COLOURS]
    console.print(f"{', '.join(counts)}; only failed jobs are errors")
    for note in warning(results):
        console.print(f"[yellow]{note.strip('*')}[/]")
    return 1 if words["FAILED"] else 0


def render(console: Console, jobs: list[Job], folder: Path, quick: bool) -> int:
    """Write the page from stored results; it goes to docs if no job is missing."""
    results = stored.load(folder, jobs)
    speeds = folder / "machine" / "bandwidth.json"
    if not results or not speeds.exists():
        console.print("No results are stored: run without --render first.")
        return 1
    whole = not quick and len(results) == len(jobs)
    page = (ROOT / "docs" if whole else folder) / "benchmarks.md"
    try:
        write(page, jobs, results, json.loads(speeds.read_text()))
    except MixedResults as error:
        console.print(f"[yellow]The page was not written.[/] {escape(str(error))}")
        return 1
    console.print(f"page: {page.relative_to(ROOT)}; raw results: {folder.relative_to(ROOT)}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
