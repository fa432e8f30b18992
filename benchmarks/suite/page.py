"""The page, made from stored results and nothing else."""

from __future__ import annotations

import os
import statistics
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

from common import BUSY, number
from eigenecho.apps.shared.pages import format_duration
from suite import figures
from suite.job import Job, Requirement
from suite.results import Verdict, judge, judge_claim

Results = dict[str, dict[str, Any]]

INTRODUCTION = """\
Made by `make bench` from one run on the machine below; do not edit by hand. Before anything is
timed the answers are compared. Times are medians of rounds in which all ways take turns, with the
first run of each left out; a ratio is the median of the ratios within each round. Every library
may use all cores. Memory that a caller hands over has been touched before; a fresh array that
`transform` allocates is part of its time. Ratios carry over to other machines, times do not."""

CAPTIONS = {
    "benchmark-units": "Time of one state step over the number of units, into an array that exists "
    "already. Lines are power laws fitted from N = 1000.",
    "benchmark-steps": "Training and inference over the length of the series, N = 1000.",
    "benchmark-bandwidth": "Speed at which states are written, over that of filling the same "
    "array with a constant on one thread.",
}


class MixedResults(Exception):
    """Results that were not measured with the same code on the same machine."""


def check_one_environment(results: Results) -> None:
    """One page is one machine, one set of versions, one state of the library."""
    seen: dict[str, list[str]] = {}
    for name, result in results.items():
        where = {"quick": result["quick"], **result["environment"]}
        seen.setdefault(repr(sorted(where.items())), []).append(name)
    if len(seen) > 1:
        fewest = min(seen.values(), key=len)
        raise MixedResults(
            "stored results come from different code, versions or machines. Measure again: "
            + " ".join(fewest)
        )


def write(page: Path, jobs: Sequence[Job], results: Results, machine: dict[str, float]) -> None:
    """Write the page, and its figures in a folder beside it."""
    check_one_environment(results)
    pictures = figures.draw(figures.collect(results.values()), page.parent / "figures")
    suite = [job for job in jobs if job.requirements]
    claims = [job for job in jobs if not job.requirements]
    measured = [results[job.name] for job in suite if job.name in results]
    parts = [
        "# Benchmarks", *warning(results), INTRODUCTION,
        "## Required and measured", lines_table(suite, results, accuracy=False),
        *(f"![{name}]({os.path.relpath(path, page.parent)})\n\n*{CAPTIONS[name]}*"
          for name, path in pictures.items()),
        "## Accuracy", lines_table(suite, results, accuracy=True),
        "## Claims with a script of their own", claims_table(claims, results),
        "## Times", *times(suite, results),
        "## Answers compared", checks_table(measured),
        "## Machine and versions", machine_table(measured, machine),
        *notes(results),
    ]  # fmt: skip
    page.write_text("\n\n".join(part for part in parts if part) + "\n")


def lines_table(jobs: Iterable[Job], results: Results, *, accuracy: bool) -> str:
    """What is required, what was measured, and whether that is enough."""
    rows = []
    for job in jobs:
        for requirement in job.requirements:
            if requirement.accuracy == accuracy:
                verdict = judge(requirement, results.get(job.name))
                rows.append(line(requirement, verdict, results.get(job.name)))
    return markdown(("job", "against", "required", "measured", "verdict"), rows)


def line(requirement: Requirement, verdict: Verdict, result: dict[str, Any] | None) -> list[str]:
    """A row; the smallest and the largest round behind the median."""
    required = f"{requirement.sense} {number(requirement.bound)} {requirement.unit}"
    measured = "–" if verdict.measured is None else f"**{number(verdict.measured)}**"
    rounds = result["lines"].get(requirement.key, {}).get("rounds") if result else None
    if rounds:
        measured += f" ({number(min(rounds))} to {number(max(rounds))})"
    word = f"{verdict.word}: {verdict.remark}" if verdict.remark else verdict.word
    return [requirement.what, requirement.against, required, measured, word]


def claims_table(claims: Iterable[Job], results: Results) -> str:
    """One row a script."""
    rows = []
    for job in claims:
        verdict = judge_claim(results.get(job.name))
        rows.append([f"`{job.name}.py`", job.title, verdict.word, verdict.remark or "–"])
    return markdown(("script", "claim", "verdict", "found"), rows)


def times(jobs: Iterable[Job], results: Results) -> list[str]:
    """A table for each group that was timed: ratio to the first row, then the time."""
    parts = []
    for job in jobs:
        for group in results.get(job.name, {}).get("groups", []):
            seconds = group["seconds"]
            first = next(iter(seconds.values()))
            rows = [
                [name, number(statistics.median(s / f for s, f in zip(each, first, strict=True))),
                 format_duration(statistics.median(each)),
                 f"{format_duration(min(each))} to {format_duration(max(each))}"]
                for name, each in seconds.items()
            ]  # fmt: skip
            title = f"**{group['title']}**, {len(first)} rounds"
            parts += [title, markdown(("", "times the first", "median", "range"), rows)]
    return parts


def checks_table(results: Iterable[dict[str, Any]]) -> str:
    """What was compared before timing, and how closely it agreed."""
    rows = [
        [check["what"], number(check["error"]), number(check["tolerance"])]
        for result in results
        for check in result["checks"]
    ]
    return markdown(("answers", "relative difference", "allowed"), rows)


def machine_table(results: Sequence[dict[str, Any]], machine: dict[str, float]) -> str:
    """The environment that all results share."""
    if not results:
        return ""
    found = results[0]["environment"]
    speeds = ", ".join(f"{speed:.1f} GB/s ({who})" for who, speed in machine.items())
    versions = dict(found["versions"])
    versions["eigenecho"] = f"{versions.get('eigenecho', '')} (source {found['source']})"
    busy = max(result["busy"] for result in results)
    rows = [
        ["processor", f"{found['cpu']}, {found['cores']} cores"],
        ["memory, filling an array", speeds],
        ["other processes meanwhile", f"at most {busy:.2f} cores busy"],
        ["system", f"{found['system']}, Python {found['python']}"],
        *([name, version] for name, version in versions.items()),
    ]
    return markdown(("", ""), rows)


def warning(results: Results) -> list[str]:
    """Said first: numbers that nobody should quote."""
    busy = [name for name, result in results.items() if result["busy"] > BUSY]
    quick = any(result["quick"] for result in results.values())
    parts = ["**Small sizes: these numbers only show that the jobs work.**"] if quick else []
    if busy:
        parts.append(f"**Other processes were busy during {', '.join(busy)}: measure again.**")
    return parts


def notes(results: Results) -> list[str]:
    """Remarks of the jobs, such as peers that are not installed."""
    found = [f"- {name}: {note}" for name, r in results.items() for note in r["notes"]]
    return ["## Notes", "\n".join(found)] if found else []


def markdown(headers: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """A table; pipes in cells are escaped."""
    cells = [[cell.replace("|", "\\|").replace("\n", " ") for cell in row] for row in rows]
    if not cells:
        return ""
    ruled = [list(headers), ["---"] * len(headers), *cells]
    return "\n".join(f"| {' | '.join(row)} |" for row in ruled)
