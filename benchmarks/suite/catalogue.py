"""The list of all jobs: those of the suite, and scripts that test one claim each."""

from __future__ import annotations

import ast
import subprocess
import sys
from functools import partial
from pathlib import Path

from common import read_verdict
from suite.job import Job
from suite.jobs import accuracy, fit, predict, states
from suite.peers import PEERS, why_missing
from suite.record import Record

HERE = Path(__file__).resolve().parent.parent
APART = (
    "drawn_tables", "dysts_systems", "long_horizon", "on_a_gpu", "public_panels", "real_series",
    "which_spectrum",
)  # fmt: skip
"""Scripts that report results without testing a claim; some need packages, data or a GPU."""


def jobs() -> list[Job]:
    """Return the jobs of the suite in the order of the page, then the claims."""
    return [*states.JOBS, *fit.JOBS, *predict.JOBS, *accuracy.JOBS, *claims()]


def claims() -> list[Job]:
    """Return a job for each script that is named after its claim, with an underscore."""
    scripts = sorted(path for path in HERE.glob("*_*.py") if path.stem not in APART)
    return [Job(path.stem, headline(path), partial(run_claim, path)) for path in scripts]


def headline(path: Path) -> str:
    """Return the first line of a script's docstring."""
    return (ast.get_docstring(ast.parse(path.read_text())) or path.stem).splitlines()[0]


def run_claim(path: Path, record: Record) -> None:
    """Run a script and read its verdict. An exit code other than 0 is a failure."""
    if record.quick:
        record.skip("claim", "claims have no quick version")
        return
    imported = packages(path)
    missing = [why_missing(name) for name, package in PEERS.items() if package in imported]
    if any(missing):
        record.skip("claim", "; ".join(filter(None, missing)))
        return
    lines: list[str] = []
    with subprocess.Popen(
        [sys.executable, str(path)], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
    ) as process:
        assert process.stdout is not None
        for line in process.stdout:
            if line.strip():
                lines.append(line.rstrip())
                record.say(lines[-1])
    last = lines[-1] if lines else "no output"
    if process.returncode:
        print(*lines, sep="\n", file=sys.stderr)
        raise RuntimeError(f"exit code {process.returncode}: {last}")
    # Workers of a cluster may log to stderr after the verdict.
    verdicts = list(filter(None, map(read_verdict, lines)))
    if not verdicts:
        raise RuntimeError(f"the script ended without a verdict: {last}")
    holds, remark = verdicts[-1]
    record.lines["claim"] = {"holds": holds, "remark": remark, "output": lines}


def packages(path: Path) -> set[str]:
    """Return all packages that a script imports, also inside functions."""
    names = set()
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Import):
            names |= {alias.name.split(".")[0] for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module:
            names.add(node.module.split(".")[0])
    return names
