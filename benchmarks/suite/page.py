"""Write the benchmark page from stored results."""

from __future__ import annotations

import os
import statistics
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

from common import BUSY, number
from eigenecho.pages import format_duration
from suite import figures
from suite.job import Job, Requirement
from suite.results import Verdict, judge, judge_claim

Results = dict[str, dict[str, Any]]

INTRODUCTION = """\
This page compares the speed, memory use and accuracy of eigenecho with those of other libraries and
of simpler methods. All results were measured by `make bench`, for the same version of eigenecho and
on the machine listed at the [end of the page](#machine-and-versions). On other machines, the ratios
between times are similar, but the times differ. N is the number of units, T is the number of rows,
and D_in is the number of input columns.

Before anything is timed, the outputs of all methods are checked for agreement. Times are medians
over several rounds, in each of which all methods are timed in turn, after one warm-up run of each
method. A ratio is the median of the ratios of all rounds, followed by the smallest and the largest
of these ratios in parentheses. Every library may use all cores. Input arrays are already in memory;
the time of `transform` includes the allocation of its result.

<!-- `make bench` writes this page; do not edit it by hand. -->"""

CAPTIONS = {
    "benchmark-units": "Time per step against the number of units N, when the states are written "
    "to an existing array. The lines are power laws fitted for N ≥ 1000.",
    "benchmark-steps": "Time of training and time of prediction against the length of the series, "
    "for N = 1000 units.",
    "benchmark-bandwidth": "Rate at which states are written, relative to the rate at which the "
    "same array is filled with a constant on one thread.",
}


ABOUT_CLAIMS = """\
Each of the following scripts tests one claim. It stops with an error if an output is wrong."""

ABOUT_TIMES = """\
The relative time of a case is its time divided by the time of the first case of the table, as the
median of the ratios of all rounds. The other columns show the median, the smallest and the largest
time."""

ABOUT_CHECKS = """\
The table shows the largest difference between two results, relative to the largest value of the
second result. The benchmark stops with an error if the difference exceeds the tolerance."""


class MixedResults(Exception):
    """Raised if results come from different code, versions or machines."""


def check_one_environment(results: Results) -> None:
    """Raise MixedResults unless all results share the machine, versions and source."""
    seen: dict[str, list[str]] = {}
    for name, result in results.items():
        where = {"quick": result["quick"], **result["environment"]}
        seen.setdefault(repr(sorted(where.items())), []).append(name)
    if len(seen) > 1:
        fewest = min(seen.values(), key=len)
        raise MixedResults(
            "Stored results come from different code, versions or machines. Measure again: "
            + " ".join(fewest)
        )


def write(page: Path, jobs: Sequence[Job], results: Results, machine: dict[str, float]) -> None:
    """Write the page, and its figures to a folder next to it."""
    check_one_environment(results)
    pictures = figures.draw(figures.collect(results.values()), page.parent / "figures")
    suite = [job for job in jobs if job.requirements]
    claims = [job for job in jobs if not job.requirements]
    measured = [results[job.name] for job in suite if job.name in results]
    parts = [
        "# Speed, memory and accuracy", *warning(results), INTRODUCTION,
        "## Goals and results", lines_table(suite, results, accuracy=False),
        *(f"![{CAPTIONS[name]}]({os.path.relpath(path, page.parent)})\n\n*{CAPTIONS[name]}*"
          for name, path in pictures.items()),
        "## Accuracy", lines_table(suite, results, accuracy=True),
        "## Claims tested by separate scripts", ABOUT_CLAIMS, claims_table(claims, results),
        "## Times", ABOUT_TIMES, *times(suite, results),
        "## Agreement of the compared results", ABOUT_CHECKS, checks_table(measured),
        "## Machine and versions", machine_table(measured, machine),
        *notes(results),
    ]  # fmt: skip
    page.write_text("\n\n".join(part for part in parts if part) + "\n")


def lines_table(jobs: Iterable[Job], results: Results, *, accuracy: bool) -> str:
    """Return a table of goals, measured values and verdicts."""
    rows = []
    for job in jobs:
        for requirement in job.requirements:
            if requirement.accuracy == accuracy:
                verdict = judge(requirement, results.get(job.name))
                rows.append(line(requirement, verdict, results.get(job.name)))
    return markdown(("benchmark", "compared with", "goal", "measured", "verdict"), rows)


def line(requirement: Requirement, verdict: Verdict, result: dict[str, Any] | None) -> list[str]:
    """Return a row: the median, with the smallest and the largest round."""
    measured = "–" if verdict.measured is None else f"**{requirement.text(verdict.measured)}**"
    rounds = result["lines"].get(requirement.key, {}).get("rounds") if result else None
    if rounds:
        measured += f" ({number(min(rounds))} to {number(max(rounds))})"
    word = f"{verdict.word}: {verdict.remark}" if verdict.remark else verdict.word
    return [requirement.what, requirement.against, requirement.required, measured, word]


def claims_table(claims: Iterable[Job], results: Results) -> str:
    """Return a table with one row per script."""
    rows = []
    for job in claims:
        verdict = judge_claim(results.get(job.name))
        rows.append([f"`{job.name}.py`", job.title, verdict.word, verdict.remark or "–"])
    return markdown(("script", "claim", "verdict", "result"), rows)


def times(jobs: Iterable[Job], results: Results) -> list[str]:
    """Return a table for each timed group: the ratio to the first row, and the time."""
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
            parts += [title, markdown(("case", "relative time", "median", "range"), rows)]
    return parts


def checks_table(results: Iterable[dict[str, Any]]) -> str:
    """Return a table of the comparisons made before timing."""
    rows = [
        [check["what"], number(check["error"]), number(check["tolerance"])]
        for result in results
        for check in result["checks"]
    ]
    return markdown(("compared results", "relative difference", "tolerance"), rows)


def machine_table(results: Sequence[dict[str, Any]], machine: dict[str, float]) -> str:
    """Return a table of the machine and the versions."""
    if not results:
        return ""
    environment = results[0]["environment"]
    speeds = ", ".join(f"{speed:.1f} GB/s ({who})" for who, speed in machine.items())
    versions = dict(environment["versions"])
    versions["eigenecho"] = f"{versions.get('eigenecho', '')} (source {environment['source']})"
    busy = max(result["busy"] for result in results)
    rows = [
        ["processor", f"{environment['cpu']}, {environment['cores']} cores"],
        ["memory bandwidth (filling an array)", speeds],
        ["load of other processes", f"at most {busy:.2f} cores"],
        ["system", f"{environment['system']}, Python {environment['python']}"],
        *([name, version] for name, version in versions.items()),
    ]
    return markdown(("", ""), rows)


def warning(results: Results) -> list[str]:
    """Return warnings for the top of the page if the numbers are not reliable."""
    busy = [name for name, result in results.items() if result["busy"] > BUSY]
    quick = any(result["quick"] for result in results.values())
    parts = ["**These results use small sizes and only show that the jobs run.**"] if quick else []
    if busy:
        parts.append(f"**Other processes were running during {', '.join(busy)}: measure again.**")
    return parts


def notes(results: Results) -> list[str]:
    """Return the notes of the jobs, such as libraries that are not installed."""
    lines = [f"- {name}: {note}" for name, r in results.items() for note in r["notes"]]
    return ["## Notes", "\n".join(lines)] if lines else []


def markdown(headers: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """Return a Markdown table; pipes in cells are escaped."""
    cells = [[cell.replace("|", "\\|").replace("\n", " ") for cell in row] for row in rows]
    if not cells:
        return ""
    ruled = [list(headers), ["---"] * len(headers), *cells]
    return "\n".join(f"| {' | '.join(row)} |" for row in ruled)
