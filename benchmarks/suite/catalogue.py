"""All jobs: those of the suite, and the scripts that test one claim each."""

from __future__ import annotations

import ast
import subprocess
import sys
from functools import partial
from pathlib import Path

from suite.job import Job
from suite.jobs import accuracy, fit, predict, states
from suite.peers import PEERS, why_missing
from suite.record import Record

HERE = Path(__file__).resolve().parent.parent
APART = ("drawn_tables", "long_horizon", "on_a_gpu", "real_series", "which_spectrum")
"""Scripts that test no claim: they say what they find, and some need packages, data or a device."""


def jobs() -> list[Job]:
    """The suite's own, in the order of the page, then the claims."""
    return [*states.JOBS, *fit.JOBS, *predict.JOBS, *accuracy.JOBS, *claims()]


def claims() -> list[Job]:
    """Scripts beside the suite, named after their claim, with an underscore in it."""
    scripts = sorted(path for path in HERE.glob("*_*.py") if path.stem not in APART)
    return [Job(path.stem, headline(path), partial(run_claim, path)) for path in scripts]


def headline(path: Path) -> str:
    """The first line of a script's docstring."""
    return (ast.get_docstring(ast.parse(path.read_text())) or path.stem).splitlines()[0]


def run_claim(path: Path, record: Record) -> None:
    """Its exit code is the verdict, and its last line says which claim that is."""
    if record.quick:
        record.skip("claim", "claims have no quick form")
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
    record.lines["claim"] = {
        "holds": process.returncode == 0,
        "remark": lines[-1] if lines else f"no output, exit code {process.returncode}",
        "output": lines,
    }


def packages(path: Path) -> set[str]:
    """Every package that a script imports, wherever it does."""
    found = set()
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Import):
            found |= {alias.name.split(".")[0] for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module:
            found.add(node.module.split(".")[0])
    return found
