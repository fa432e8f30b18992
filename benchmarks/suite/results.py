"""Raw results, one JSON file per job, and verdicts."""

from __future__ import annotations

import json
import traceback
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path
from time import perf_counter
from typing import Any

from common import WrongAnswer
from suite.job import Job, Requirement
from suite.machine import environment
from suite.record import Record

FORMAT = 2
"""Version of the file format; files of other versions are ignored."""


def measure(job: Job, quick: bool, path: Path, say: Callable[[str], None]) -> None:
    """Run a job in this process and store its results and errors."""
    record = Record(quick, say)
    start = perf_counter()
    failed = None
    try:
        job.run(record)
    except WrongAnswer as error:
        failed = f"wrong result: {error}"
    except Exception as error:
        traceback.print_exc()
        failed = f"{type(error).__name__}: {error}"
    store(path, job, record, failed, perf_counter() - start)


def store(path: Path, job: Job, record: Record, failed: str | None, wall: float) -> None:
    """Write the results of a job, its error if it failed, and the environment."""
    content = record.to_json() | {
        "format": FORMAT,
        "job": job.name,
        "failed": failed,
        "wall": wall,
        "environment": environment(),
    }
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(content, indent=1))


def load(folder: Path, jobs: Iterable[Job]) -> dict[str, dict[str, Any]]:
    """Return the stored results of the jobs, by name."""
    paths = {job.name: folder / f"{job.name}.json" for job in jobs}
    stored = {n: json.loads(path.read_text()) for n, path in paths.items() if path.exists()}
    return {name: result for name, result in stored.items() if result.get("format") == FORMAT}


@dataclass(frozen=True)
class Verdict:
    """The verdict on a requirement: holds, MISSED, FAILED, skipped or not measured.

    Only FAILED, a wrong result or a crash, makes a run fail.
    """

    word: str
    measured: float | None = None
    remark: str = ""


def judge(requirement: Requirement, result: dict[str, Any] | None) -> Verdict:
    """Compare a stored value with its goal."""
    if result is None:
        return Verdict("not measured")
    line = result["lines"].get(requirement.key)
    if result["failed"] or line is None:  # a job that failed has no valid values
        return Verdict("FAILED", remark=result["failed"] or "the job returned no value")
    if "skipped" in line:
        return Verdict("skipped", remark=line["skipped"])
    value = line["measured"]
    if result["quick"]:
        return Verdict("not judged: quick sizes", value, line["remark"])
    return Verdict("holds" if requirement.holds(value) else "MISSED", value, line["remark"])


def judge_claim(result: dict[str, Any] | None) -> Verdict:
    """Return the verdict of a script that tests a claim."""
    if result is None:
        return Verdict("not measured")
    line = result["lines"].get("claim")
    if result["failed"] or line is None:
        return Verdict("FAILED", remark=result["failed"] or "the script printed no verdict")
    if "skipped" in line:
        return Verdict("skipped", remark=line["skipped"])
    return Verdict("holds" if line["holds"] else "MISSED", remark=line["remark"])


def verdicts(job: Job, result: dict[str, Any] | None) -> list[Verdict]:
    """Return one verdict per requirement, or that of the script for a claim."""
    if not job.requirements:
        return [judge_claim(result)]
    return [judge(requirement, result) for requirement in job.requirements]
