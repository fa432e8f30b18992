"""Print the size and structure of the package, its tests and its docs in numbers.

    python tools/structure.py [FOLDER …]

Each FOLDER is a checkout; the default is this one. Several are shown side by side.

Code lines are lines that are not blank, a comment or a docstring. A cycle is a group of packages,
or of modules, that import each other, directly or not; "with types", imports that only type
checkers see are counted too.
"""

from __future__ import annotations

import argparse
import ast
import io
import os
import re
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


def imported_names(tree: ast.AST, with_types: bool) -> set[str]:
    """Return the parts of the package that a module imports, also inside functions."""
    names = set()
    for node in ast.iter_child_nodes(tree):
        if isinstance(node, ast.If) and "TYPE_CHECKING" in ast.unparse(node.test):
            if not with_types:
                continue
        elif isinstance(node, ast.ImportFrom) and (node.module or "").split(".")[0] == "eigenecho":
            below = (node.module or "").partition(".")[2]
            names |= {f"{below}.{alias.name}".strip(".") for alias in node.names}
        names |= imported_names(node, with_types)
    return names


def import_graph(trees: dict[str, ast.AST], with_types: bool) -> dict[str, set[str]]:
    """Return the modules that each module imports; a package is the module of its __init__."""

    def module_of(name: str) -> str:
        return name if name in trees else name.rpartition(".")[0]

    return {
        module: {module_of(name) for name in imported_names(tree, with_types)} - {module, ""}
        for module, tree in trees.items()
    }


def packages_of(edges: dict[str, set[str]]) -> dict[str, set[str]]:
    """Return the top-level parts of the package that each of them imports."""
    graph: dict[str, set[str]] = defaultdict(set)
    for module, others in edges.items():
        package = module.split(".")[0]
        graph[package] |= {other.split(".")[0] for other in others} - {package}
    return dict(graph)


def cycles(edges: dict[str, set[str]]) -> list[tuple[str, ...]]:
    """Return the groups of names that import each other, directly or not."""

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


def describe_cycles(edges: dict[str, set[str]]) -> str:
    """Return the groups of packages that import each other."""
    return "; ".join(map(" ↔ ".join, cycles(edges))) or "none"


def describe_sizes(edges: dict[str, set[str]]) -> str:
    """Return the number of modules in each cycle, the largest first."""
    return ", ".join(map(str, sorted(map(len, cycles(edges)), reverse=True))) or "none"


def count_template_lines(root: Path) -> int:
    """Count the lines of templates that are not blank."""
    texts = (path.read_text() for path in root.rglob("templates/*") if path.is_file())
    return sum(bool(line.strip()) for text in texts for line in text.splitlines())


def measure_source(root: Path) -> dict[str, str]:
    """Return the numbers of a package."""
    texts = {path.relative_to(root): path.read_text() for path in sorted(root.rglob("*.py"))}
    trees: dict[str, ast.AST] = {}
    classes: Counter[str] = Counter()
    rooms: Counter[str] = Counter()
    for path, text in texts.items():
        tree = ast.parse(text)
        trees[".".join(path.with_suffix("").parts).removesuffix(".__init__")] = tree
        classes.update(node.name for node in ast.walk(tree) if isinstance(node, ast.ClassDef))
        rooms[path.parts[0].removesuffix(".py")] += code_lines(text)
    del trees["__init__"]
    at_run_time, with_types = import_graph(trees, False), import_graph(trees, True)
    repeated = sorted(name for name, count in classes.items() if count > 1)
    short = sum(len(text.splitlines()) < SHORT for text in texts.values())
    modules = sum(path.parent == Path() and path.stem != "__init__" for path in texts)
    return {
        "code lines": str(rooms.total()),
        "template lines": str(count_template_lines(root)),
        "files": str(len(texts)),
        f"files under {SHORT} lines": str(short),
        "modules at the top level": str(modules),
        "class names used more than once": f"{len(repeated)}: {', '.join(repeated)}",
        "package cycles": describe_cycles(packages_of(at_run_time)),
        "package cycles with types": describe_cycles(packages_of(with_types)),
        "module cycles, sizes": describe_sizes(at_run_time),
        "module cycles with types, sizes": describe_sizes(with_types),
    } | {f"code lines, {name}": str(lines) for name, lines in rooms.most_common()}


def measure_tests(root: Path) -> dict[str, str]:
    """Return the numbers of a folder of tests."""
    texts = [path.read_text() for path in root.rglob("*.py")]
    imports = re.compile(r"from (eigenecho\.[\w.]+) import")
    internal = {name for text in texts for name in imports.findall(text)}
    return {
        "code lines, tests": str(sum(map(code_lines, texts))),
        "internal modules imported by tests": str(len(internal)),
    }


def measure(folder: Path) -> dict[str, str]:
    """Return all numbers of one checkout."""
    words = sum(len(path.read_text().split()) for path in (folder / "docs").rglob("*.md"))
    return (
        measure_source(folder / "src" / "eigenecho")
        | measure_tests(folder / "tests")
        | {"words of docs": str(words)}
        | {f"files entered, {name}": count_files_entered(folder, job) for name, job in JOBS.items()}
    )


def main() -> None:
    """Print one line per number, with one column per checkout."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folders", nargs="*", type=Path, default=[Path(__file__).parents[1]])
    measured = [measure(folder.resolve()) for folder in parser.parse_args().folders]
    for name in dict.fromkeys(name for values in measured for name in values):
        print(f"{name:36}", "  |  ".join(values.get(name, "-") for values in measured))


if __name__ == "__main__":
    main()
