"""Print the size and structure of the package in numbers.

    python tools/structure.py [FOLDER …]

Each FOLDER is a checkout; the default is this one. Several are shown side by side.
"""

from __future__ import annotations

import argparse
import ast
import io
import os
import subprocess
import sys
import tokenize
from collections import Counter, defaultdict
from pathlib import Path

SHORT = 40
"""Total lines below which a file counts as short."""

JOBS = {
    "LinearESN.fit": "ee.LinearESN(100, seed=0).fit(X[:2000], y[:2000])",
    "Forecaster": "ee.Forecaster(12).fit(y[:300, 0]).predict(interval=0.9)",
    "eigenecho forecast": "app('forecast x.csv --target=value --horizon=12'.split(), "
    "standalone_mode=False)",
}
REACH = """
import os, sys, tempfile, threading, warnings
import numpy as np, eigenecho as ee
warnings.simplefilter("ignore")
os.chdir(tempfile.mkdtemp())
from eigenecho.cli.app import app
X = np.random.default_rng(0).uniform(-1, 1, (2000, 1)); y = np.roll(X, 3)
days = np.datetime64("2024-01-01") + np.arange(300)
lines = [f"{{day}},{{value:.6f}}" for day, value in zip(days, 10 + y[:300, 0])]
open("x.csv", "w").write("\\n".join(["date,value", *lines]))
files = set()
def enter(frame, event, argument):
    if frame.f_code.co_filename.startswith(ee.__path__[0]):
        files.add(frame.f_code.co_filename)
threading.setprofile(enter); sys.setprofile(enter)
{job}
sys.setprofile(None)
print(len(files), file=sys.stderr)
"""


def code_lines(text: str) -> int:
    """Count lines that hold code: not blank, not a comment, not a docstring."""
    skipped = {
        line
        for node in ast.walk(ast.parse(text))
        if isinstance(node, ast.Expr)
        and isinstance(node.value, ast.Constant)
        and isinstance(node.value.value, str)
        for line in range(node.lineno, (node.end_lineno or node.lineno) + 1)
    }
    ignored = {tokenize.COMMENT, tokenize.NL, tokenize.NEWLINE, tokenize.INDENT, tokenize.DEDENT}
    lines: set[int] = set()
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        if token.type not in ignored and token.type != tokenize.ENDMARKER:
            lines.update(range(token.start[0], token.end[0] + 1))
    return len(lines - skipped)


def imported_parts(tree: ast.AST) -> set[str]:
    """Return the parts of the package that a module imports, also inside functions."""
    parts = set()
    for node in ast.iter_child_nodes(tree):
        if isinstance(node, ast.If) and "TYPE_CHECKING" in ast.unparse(node.test):
            continue
        if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("eigenecho"):
            below = (node.module or "").partition(".")[2]
            parts |= {below or alias.name for alias in node.names}
        parts |= imported_parts(node)
    return parts


def package_of(module: str) -> str:
    """Return the top-level part of the package."""
    return module.split(".")[0]


def cycles(edges: dict[str, set[str]]) -> list[tuple[str, ...]]:
    """Return the groups of packages that import each other, directly or not."""

    def reached_from(start: str) -> set[str]:
        seen: set[str] = set()
        waiting = [start]
        while waiting:
            new = edges.get(waiting.pop(), set()) - seen
            seen |= new
            waiting += new
        return seen

    reach = {name: reached_from(name) for name in edges}
    return sorted(
        {
            tuple(sorted(other for other in reach[name] if name in reach.get(other, ())))
            for name in reach
            if name in reach[name]
        }
    )


def count_files_entered(folder: Path, job: str) -> str:
    """Run a job and count the files of ours that it enters."""
    environment = {**os.environ, "PYTHONPATH": str(folder / "src")}
    command = [sys.executable, "-c", REACH.format(job=job)]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    return done.stderr.split()[-1] if done.returncode == 0 else done.stderr[-300:]


def measure(folder: Path) -> dict[str, str]:
    """Return all numbers of one checkout."""
    root = folder / "src" / "eigenecho"
    texts = {path.relative_to(root): path.read_text() for path in sorted(root.rglob("*.py"))}
    classes: Counter[str] = Counter()
    edges: dict[str, set[str]] = defaultdict(set)
    for path, text in texts.items():
        tree = ast.parse(text)
        classes.update(node.name for node in ast.walk(tree) if isinstance(node, ast.ClassDef))
        package = package_of(".".join(path.with_suffix("").parts))
        if package != "__init__":
            edges[package] |= {package_of(name) for name in imported_parts(tree)} - {package}
    repeated = sorted(name for name, count in classes.items() if count > 1)
    short = sum(len(text.splitlines()) < SHORT for text in texts.values())
    values = {
        "code lines": str(sum(map(code_lines, texts.values()))),
        "files": str(len(texts)),
        f"files under {SHORT} lines": str(short),
        "class names used more than once": f"{len(repeated)}: {', '.join(repeated)}",
        "package cycles": "; ".join(map(" ↔ ".join, cycles(dict(edges)))) or "none",
    }
    return values | {
        f"files entered, {name}": count_files_entered(folder, job) for name, job in JOBS.items()
    }


def main() -> None:
    """Print one line per number, with one column per checkout."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folders", nargs="*", type=Path, default=[Path(__file__).parents[1]])
    measured = [measure(folder.resolve()) for folder in parser.parse_args().folders]
    for name in measured[0]:
        print(f"{name:34}", "  |  ".join(values[name] for values in measured))


if __name__ == "__main__":
    main()
