"""The structure of the package, in numbers: cycles, lazy imports, complexity, length, reach.

    python tools/structure.py [FOLDER …] [--lines]

Each FOLDER is a checkout; without one it is this. Several are shown side by side. ``--lines`` shows
lengths alone.
"""

from __future__ import annotations

import argparse
import ast
import os
import subprocess
import sys
from collections import defaultdict
from pathlib import Path

HERE = Path(__file__).parents[1]

APPLICATIONS = {"apps", "cli", "experiments", "__main__"}
"""Parts of the package that use it; all others are the core."""

FORMER = {"forecasting"}
"""The same before there was ``apps``; now it is of the core."""

OPTIONAL = {"interop"}
"""Parts that load other libraries, and so themselves, when they are first used."""

SINCE = {
    # forecasts of people's series
    "forecasting", "panels", "pages", "interop.sktime", "estimators.forecaster",
    "estimators.forecaster_parameters", "estimators.python_lines", "metrics.forecasts",
    "metrics.arrays:observed",
    "plots.backtest", "plots.banded", "plots.outlook", "progress:bar", "errors:out_of_range",
    "plots.forecast",  # what plots.outlook took the place of
    # targets that are missing
    "training.gaps", "training.problem:Problem.counts", "training.problem:Problem.parts",
    "training.problem:filled", "scaling:Spread._of_each", "estimators.score",
    "estimators.fitted:Fitted._parts", "estimators.parameters:_of_this_version",
    "estimators.validation:gaps_of", "estimators.validation:_check_observed",
    "grid_search.scores:_check_observed", "grid_search.scores:_by_parts",
    # spectra that join
    "spectra.joined", "spectra.joined_law", "spectra.spectrum:Spectrum.join",
    "spectra.spectrum:Spectrum.__add__", "spectra.spectrum:Spectrum.__radd__",
    "spectra.spectrum:_repeated",
    # ridges that the rows choose, and what training leaves open of the weights
    "readout.likelihood", "readout.left_out", "training.ridges", "training.posterior",
    "estimators.fitted:Fitted.posterior", "estimators.fitted:Fitted.need_posterior",
    "estimators.fitted:Fitted.log_density", "estimators.fitted:Fitted._in_units",
    "estimators.fitted:Fitted._told",
    "estimators.linear_esn:LinearESN.log_evidence_", "estimators.linear_esn:LinearESN.noise_",
    "training.evidence:Evidence.log_density",
    "model.predict:deviations", "model.predict:deviations_of_series", "model.intervals:of_weights",
    "model.intervals:_answered_rows", "model.intervals:_moved", "model.intervals:_growth",
    "model.forecast:Trajectory", "model.loop:ClosedLoop.states",
    "model.loop:ClosedLoop.response_states", "model.loop:readout_rows",
    # smaller networks, and spectra learnt from data
    "reduction", "model.reduce", "model.reduction", "model.plant", "model.weighting", "model.alike",
    "model.on_rows", "model.on_statistics", "model.learnt", "plots.reduction",
    "estimators.fitted:Fitted.reduced", "estimators.linear_esn:LinearESN.reduce",
    "estimators.linear_esn:LinearESN.certificate_", "model.model:LinearModel.reduce",
    # tensors, devices and all cores
    "tensors", "arrays", "kernels.tensors", "readout.cholesky", "readout.reflections",
    "grid_search.stacked", "grid_search.candidates:Stacked", "errors:two_devices",
    "errors:out_of_memory", "series:as_stack", "series:checked_stack",
    "series:Container.together", "series:Container.restored", "model.forecast:are_several",
    "model.forecast:forecast_several", "model.loop:ClosedLoop.maps", "model.loop:_transposed",
    "model.predict:_together", "model.model:LinearModel.to", "model.model:LinearModel._device",
    "estimators.linear_esn:LinearESN.to", "estimators.linear_esn:LinearESN._forecast_several",
    "estimators.validation:_check_features", "estimators.validation:_check_tensor_out",
    "readout.triangle:_annihilate_tensors", "readout.moments:products",
    "readout.gram:Gram.on_host", "readout.gram:Gram.where", "readout.triangle:Triangle.on_host",
    "readout.triangle:Triangle.where", "training.evidence:Evidence.on_host",
    "training.gather:rows_of", "model.stream:Stream._step_by_tensor", "scaling:Scaling._at",
}  # fmt: skip
"""What the core can do since it was put in layers: packages, modules, and definitions in modules.

Without these, lengths of the core before and after compare like with like.
"""

INSIDE = {
    "training/gaps.py": {
        "estimators": 63, "grid_search": 9, "metrics": 43, "model": 10, "plots": 1, "spectra": 10,
        "training": 39, "__init__, progress, scaling, series": 23,
    },
    "training/ridges.py": {
        "estimators": 76, "grid_search": 9, "model": 37, "readout": 2, "training": 41,
    },
    "reduction": {
        "estimators": 12, "grid_search": 5, "model": 11, "plots": 9, "reservoir": 8, "spectra": 19,
    },
    "tensors.py": {
        "basis": 2, "estimators": 44, "grid_search": 2, "kernels": 39, "model": 38, "readout": 42,
        "reservoir": 13, "training": 40, "scaling, series": 31,
    },
    "grid_search/stacked.py": {
        "estimators": 7, "grid_search": 96, "model": 4, "readout": 28, "training": 46,
        "scaling": 3,
    },
}  # fmt: skip
"""Lines that the same abilities added to what was there before: parameters, branches, imports.

As git counts them, without the definitions above, where a checkout has the file: from the commit
before the first of them (a40b1eb) to that after the last (5783058), by the merge that brought each
of the others, and for searches on a device since c7b39c6.
"""

COMPLEX = {"core": 15, "applications": 20}
MANY = 8

JOBS = {
    "fit, short": "esn.fit(X[:1000], y[:1000])",
    "fit, long": "esn.fit(X, y)",
    "search, short": "ee.search(esn, grid, X[:1000], y[:1000])",
    "search, long": "ee.search(esn, grid, X, y)",
}
REACH = """
import sys, warnings
import numpy as np, eigenecho as ee
warnings.simplefilter("ignore")
rng = np.random.default_rng(0)
X = rng.uniform(-1, 1, (30_000, 1)); y = np.roll(X, 3)
grid = {{"sr": [0.5, 0.9], "ridge": [1e-6, 1e-2]}}
esn = ee.LinearESN(300, warmup=50, ridge=1e-4, seed=0)
def job():
    {job}
job()
files = set()
def look(frame, event, argument):
    name = frame.f_code.co_filename
    if "eigenecho" in name:
        files.add(name)
sys.setprofile(look)
job()
sys.setprofile(None)
print(len(files))
"""


def area(name: str) -> str:
    """The part of the package that a module belongs to; below ``apps``, the part of that."""
    parts = name.split(".")
    return ".".join(parts[:2]) if parts[0] == "apps" else parts[0]


def modules(root: Path) -> dict[str, ast.Module]:
    """The modules of the package, by their name within it."""
    found = {}
    for path in sorted(root.rglob("*.py")):
        name = ".".join(path.relative_to(root).with_suffix("").parts)
        found[name.removesuffix(".__init__")] = ast.parse(path.read_text())
    return found


def imported(tree: ast.AST) -> list[tuple[str, bool]]:
    """Modules of ours that are imported, and whether that happens inside a function."""

    def walk(node: ast.AST, lazy: bool) -> list[tuple[str, bool]]:
        names: list[tuple[str, bool]] = []
        for child in ast.iter_child_nodes(node):
            if isinstance(child, ast.If) and "TYPE_CHECKING" in ast.unparse(child.test):
                continue
            if isinstance(child, ast.ImportFrom) and (child.module or "").startswith("eigenecho"):
                module = (child.module or "").partition(".")[2]
                names += [(module or alias.name, lazy) for alias in child.names]
            inside = lazy or isinstance(child, ast.FunctionDef | ast.AsyncFunctionDef)
            names += walk(child, inside)
        return names

    return walk(tree, False)


def cycles(edges: dict[str, set[str]]) -> list[list[str]]:
    """Parts that reach themselves, as groups that reach each other."""

    def reached(start: str) -> set[str]:
        seen: set[str] = set()
        waiting = [start]
        while waiting:
            for other in edges[waiting.pop()] - seen:
                seen.add(other)
                waiting.append(other)
        return seen

    reach = {name: reached(name) for name in list(edges)}
    groups = {
        tuple(sorted(other for other in reach[name] if name in reach.get(other, ())))
        for name in reach
        if name in reach[name]
    }
    return [list(group) for group in sorted(groups)]


def complexities(trees: dict[str, ast.Module]) -> dict[str, int]:
    """Cyclomatic complexity of every function, what is inside it included.

    One, and one more for each branch, loop, handler, condition of a comprehension, assertion and
    operand of ``and`` and ``or`` after the first.
    """
    found = {}
    for module, tree in trees.items():
        for node in ast.walk(tree):
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
                found[f"{module}.{node.name}:{node.lineno}"] = 1 + sum(
                    map(_branches, ast.walk(node))
                )
    return found


def _branches(node: ast.AST) -> int:
    if isinstance(node, ast.BoolOp):
        return len(node.values) - 1
    if isinstance(node, ast.comprehension):
        return 1 + len(node.ifs)
    kinds = (ast.If, ast.IfExp, ast.For, ast.While, ast.ExceptHandler, ast.Assert, ast.match_case)
    return int(isinstance(node, kinds))


def parameters(trees: dict[str, ast.Module]) -> dict[str, int]:
    """Functions with many parameters, but for constructors, kernels and commands."""
    found = {}
    for module, tree in trees.items():
        if module.startswith("kernels") or module == "apps.cli.app":
            continue
        for node in ast.walk(tree):
            if isinstance(node, ast.FunctionDef) and node.name != "__init__":
                names = node.args.posonlyargs + node.args.args + node.args.kwonlyargs
                count = sum(name.arg not in ("self", "cls") for name in names)
                if count > MANY:
                    found[f"{module}.{node.name}"] = count
    return found


def lengths(root: Path, above: set[str]) -> dict[str, list[int]]:
    """Lines of each file of the core and of the applications, and of the core without ``SINCE``."""
    found: dict[str, list[int]] = {
        "core": [],
        "core without what came since": [],
        "applications": [],
    }
    for path in sorted(root.rglob("*.py")):
        text = path.read_text()
        module = ".".join(path.relative_to(root).with_suffix("").parts).removesuffix(".__init__")
        lines = len(text.splitlines())
        if module.split(".")[0] in above:
            found["applications"].append(lines)
            continue
        found["core"].append(lines)
        parts = module.split(".")
        if not {".".join(parts[:n]) for n in range(1, len(parts) + 1)} & SINCE:
            found["core without what came since"].append(lines - since(module, text))
    return found


def since(module: str, text: str) -> int:
    """Lines of those definitions of a module that are in ``SINCE``, blank ones before included."""
    lines, count = text.splitlines(), 0

    def look(tree: ast.AST, inside: str) -> None:
        nonlocal count
        for node in ast.iter_child_nodes(tree):
            if not isinstance(node, ast.FunctionDef | ast.ClassDef):
                continue
            if f"{module}:{inside}{node.name}" not in SINCE:
                look(node, f"{inside}{node.name}.")
                continue
            first = min(part.lineno for part in (node, *node.decorator_list))
            while not lines[first - 2]:
                first -= 1
            count += (node.end_lineno or first) - first + 1

    look(ast.parse(text), "")
    return count


def reach(folder: Path, job: str) -> int:
    """How many files of ours a call enters, once everything is loaded."""
    environment = {**os.environ, "PYTHONPATH": str(folder / "src")}
    code = REACH.format(job=job)
    done = subprocess.run(
        [sys.executable, "-c", code], env=environment, capture_output=True, text=True, check=True
    )
    return int(done.stdout)


def measure_lines(folder: Path) -> dict[str, str]:
    """Lengths of one checkout."""
    root = folder / "src" / "eigenecho"
    inside = sum(sum(lines.values()) for path, lines in INSIDE.items() if (root / path).exists())
    values = {}
    for part, lines in lengths(root, applications(root)).items():
        total = sum(lines) - (inside if "without" in part else 0)
        values[f"lines, {part}"] = f"{total} in {len(lines)} files, longest {max(lines)}"
    return values


def applications(root: Path) -> set[str]:
    """The parts of a checkout that use the package."""
    return APPLICATIONS | (set() if (root / "apps").is_dir() else FORMER)


def measure(folder: Path) -> dict[str, str]:
    """All numbers of one checkout."""
    root = folder / "src" / "eigenecho"
    trees = modules(root)
    above = applications(root)
    edges: dict[str, set[str]] = defaultdict(set)
    lazy = []
    for name, tree in trees.items():
        for other, inside in imported(tree):
            here, there = area(name), area(other)
            if here != there and name != "__init__" and other:
                edges[here].add(there)
            if inside and here.partition(".")[0] not in above | OPTIONAL:
                lazy.append(f"{name} → {other}")
    values: dict[str, str] = {}
    found = cycles(defaultdict(set, edges))
    values["package cycles"] = "; ".join(" ↔ ".join(group) for group in found) or "none"
    values["lazy imports of ours in the core"] = str(len(lazy))
    complexity = complexities(trees)
    for part, limit in COMPLEX.items():
        over = [
            f"{name} {value}"
            for name, value in complexity.items()
            if value > limit and (name.split(".")[0] in above) == (part == "applications")
        ]
        values[f"functions above complexity {limit}, {part}"] = _listed(over)
    many = [f"{name} {value}" for name, value in parameters(trees).items()]
    values[f"functions of more than {MANY} parameters"] = _listed(many)
    values |= measure_lines(folder)
    for name, job in JOBS.items():
        values[f"files of ours entered by {name}"] = str(reach(folder, job))
    return values


def _listed(names: list[str]) -> str:
    return f"{len(names)}" + (f": {', '.join(sorted(names))}" if names else "")


def main() -> None:
    """Print a line a number, a column a checkout."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folders", nargs="*", type=Path, default=[HERE])
    parser.add_argument("--lines", action="store_true", help="lengths alone")
    given = parser.parse_args()
    folders, ask = given.folders, measure_lines if given.lines else measure
    measured = [ask(folder.resolve()) for folder in folders]
    for name in measured[0]:
        print(name)
        for folder, values in zip(folders, measured, strict=True):
            print(f"    {folder.resolve().name:10} {values[name]}")


if __name__ == "__main__":
    main()
