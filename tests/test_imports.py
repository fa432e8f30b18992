"""Importing does no work, names load lazily, and layers import only from lower layers."""

from __future__ import annotations

import ast
import graphlib
import json
import subprocess
import sys
from functools import cache
from pathlib import Path

import pytest

import eigenecho

ROOT = Path(eigenecho.__file__).parent
HEAVY = [
    "numba",
    "sklearn",
    "scipy",
    "matplotlib",
    "pandas",
    "polars",
    "pyarrow",
    "narwhals",
    "safetensors",
    "joblib",
    "reservoirpy",
    "sktime",
    "aeon",
    "torch",
    "triton",
    "dask",
    "distributed",
]
DRAWING = {"matplotlib", "typer", "rich", "jinja2"}
OTHERS = {"reservoirpy", "sktime", "aeon", "torch", "jax", "dask", "distributed"}
OPTIONAL = DRAWING | OTHERS | {"pandas", "polars", "pyarrow", "joblib", "threadpoolctl"}

LAYERS = [
    {"errors", "types"},
    {"arrays"},
    {"checks", "frames", "threads", "progress", "clients"},
    {"tables"},
    {"files", "series", "scaling"},
    {"spectra"},
    {"basis"},
    {"kernels"},
    {"features"},
    {"transition"},
    {"reservoir"},
    {"rows"},
    {"readout"},
    {"training"},
    {"reduction", "export"},
    {"model"},
    {"plots", "pages"},
    {"data"},
    {"forecasting", "classify"},
    {"convert"},
    {"estimators"},
    {"grid_search"},
    {"interop"},
    {"dask"},
    {"paper"},
    {"cli"},
    {"__main__"},
]
"""Layers from lowest to highest: a module may import from its own layer and from lower ones."""

APART = {
    "metrics": {"errors", "types", "checks", "tables"},
    "tasks": {"errors", "types", "checks", "metrics"},
}
"""Imports allowed in modules outside the layers, which all layers above the first may use."""

LEVEL = {name: level for level, names in enumerate(LAYERS) for name in names}

LATE = {"interop", "__main__"}
"""Parts that may import our modules in functions, to start fast or without optional packages."""


def fresh(code):
    """Run ``code`` in a new process, and return what it prints as JSON."""
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, timeout=300, check=False
    )
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


# New processes --------------------------------------------------------------------------------


def test_import_does_not_load_heavy_packages():
    loaded = fresh(
        "import eigenecho, json, sys\n"
        f"print(json.dumps([name for name in {HEAVY} if name in sys.modules]))"
    )
    assert loaded == []


def test_import_loads_no_submodule():
    loaded = fresh(
        "import eigenecho, json, sys\n"
        "print(json.dumps([name for name in sys.modules if name.startswith('eigenecho.')]))"
    )
    assert loaded == []


@pytest.mark.parametrize("name", ["Nothing", "dask", "__wrapped__"])
def test_unknown_names_raise_an_attribute_error(name):
    code = f"""import eigenecho, json
try:
    eigenecho.{name}
except AttributeError as error:
    print(json.dumps(str(error)))"""
    assert fresh(code) == f"module 'eigenecho' has no attribute {name!r}"


def test_import_changes_no_settings():
    changed = fresh(
        "import json, os, sys, threading, warnings, numpy as np\n"
        "def look():\n"
        "    state = np.random.get_state()\n"
        "    return [dict(os.environ), list(map(str, warnings.filters)), np.geterr(),\n"
        "            threading.active_count(), state[1].tolist(), state[2]]\n"
        "before = look()\n"
        "import eigenecho\n"
        "print(json.dumps([a != b for a, b in zip(before, look())]))"
    )
    assert not any(changed)


def test_spectra_load_neither_numba_nor_sklearn():
    loaded = fresh(
        "import eigenecho, json, sys\n"
        "eigenecho.spectra.golden(100, sr=0.9, seed=0)\n"
        "print(json.dumps([name for name in ('numba', 'sklearn', 'matplotlib', 'pandas')"
        " if name in sys.modules]))"
    )
    assert loaded == []


def test_low_layers_do_not_load_code_for_clusters():
    loaded = fresh(
        "import eigenecho.basis, json, sys\n"
        "print(json.dumps([name for name in sys.modules if name.startswith('eigenecho.')]))"
    )
    assert "eigenecho.arrays" in loaded
    assert not {"eigenecho.clients", "eigenecho.dask"} & set(loaded)


def test_training_needs_no_optional_package():
    loaded = fresh(
        "import sys\n"
        "class Absent:\n"
        "    def find_spec(self, name, path=None, target=None):\n"
        f"        if name.split('.')[0] in {sorted(OPTIONAL - {'joblib', 'threadpoolctl'})}:\n"
        "            raise ImportError(name)\n"
        "sys.meta_path.insert(0, Absent())\n"
        "import eigenecho as ee, json\n"
        "X = ee.tasks.mso(3, steps=101)\n"
        "esn = ee.LinearESN(10, seed=0).fit(X[:-1], X[1:])\n"
        "print(json.dumps(esn.forecast(5).shape))"
    )
    assert loaded == [5, 1]


def test_missing_library_is_named():
    libraries = ("reservoirpy", "sktime", "aeon")
    modules = {name: f"interop.{name}" for name in libraries} | {"dask": "dask"}
    process = fresh(
        "import importlib, json, sys\n"
        "said = {}\n"
        f"for library, module in {modules}.items():\n"
        "    sys.modules[library] = None\n"
        "    try:\n"
        "        importlib.import_module(f'eigenecho.{module}')\n"
        "    except ImportError as error:\n"
        "        said[library] = str(error)\n"
        "print(json.dumps(said))"
    )
    assert process.keys() == modules.keys()
    for library, words in process.items():
        assert words.endswith(f"pip install 'eigenecho[{library}]'.")


def test_every_public_name_loads_and_is_exported_by_a_star_import():
    listed, missing, starred = fresh(
        "import json\n"
        "from eigenecho import *\n"
        "import eigenecho\n"
        "missing = [n for n in dir(eigenecho) if getattr(eigenecho, n, None) is None]\n"
        "starred = [LinearESN.__name__, tasks.__name__, load.__name__]\n"
        "print(json.dumps([dir(eigenecho), missing, starred]))"
    )
    assert missing == []
    assert starred == ["LinearESN", "eigenecho.tasks", "load"]
    contract = ["LinearESN", "DiagonalReservoir", "Spectrum", "diagonalize", "load", "spectra",
                "tasks", "metrics", "errors", "plots", "__version__"]  # fmt: skip
    assert set(contract) <= set(listed)
    assert listed == sorted(eigenecho.__all__)


def test_unknown_name_raises_an_attribute_error():
    with pytest.raises(AttributeError, match="module 'eigenecho' has no attribute 'nothing'"):
        _ = eigenecho.nothing
    with pytest.raises(ImportError):
        exec("from eigenecho import nothing")


def test_lazy_names_agree_with_type_checking_imports():
    # Type checkers read the TYPE_CHECKING block, and imports the lazy table; they must agree.
    tree = ast.parse((ROOT / "__init__.py").read_text())
    block = next(node for node in tree.body if isinstance(node, ast.If))
    typed = {
        alias.name: node.module
        for node in block.body
        if isinstance(node, ast.ImportFrom)
        for alias in node.names
    }
    modules = dict.fromkeys(eigenecho._MODULES, "eigenecho")
    assert typed == {**eigenecho._NAMES, **modules}


# The layers -----------------------------------------------------------------------------------


def modules():
    return sorted(ROOT.rglob("*.py"))


def area(path):
    """Return the part of the package that a file belongs to: its first folder or its own name."""
    return path.relative_to(ROOT).with_suffix("").parts[0]


@cache
def parsed(path):
    return ast.parse(path.read_text())


def imports(tree, everywhere=True, types=False):
    """Return the dotted names that are imported, at module level or ``everywhere``.

    With ``types``, names that only annotations use, under ``TYPE_CHECKING``, are included.
    """

    def walk(node):
        for child in ast.iter_child_nodes(node):
            if isinstance(child, ast.If) and "TYPE_CHECKING" in ast.unparse(child.test):
                if not types:
                    continue
                yield from walk(child)
            elif isinstance(child, ast.Import):
                yield from (alias.name for alias in child.names)
            elif isinstance(child, ast.ImportFrom):
                assert child.level == 0, "relative import"
                yield from (f"{child.module}.{alias.name}" for alias in child.names)
            elif everywhere or not isinstance(child, ast.FunctionDef | ast.AsyncFunctionDef):
                yield from walk(child)

    return list(walk(tree))


def ours(names):
    """Return the parts of eigenecho among imported names."""
    return {name.split(".")[1] for name in names if name.startswith("eigenecho.")}


def late_imports(tree):
    """Return our names that are imported inside functions."""
    late = imports(tree)
    for name in imports(tree, everywhere=False):
        late.remove(name)
    return [name for name in late if name.startswith("eigenecho.")]


def upward(here, used):
    """Return the parts in ``used`` that the part ``here`` must not import."""
    if here in APART:
        return used - APART[here] - {here}
    free = {here, *(APART if LEVEL[here] > 0 else ())}
    return {name for name in used - free if LEVEL.get(name, 99) > LEVEL[here]}


def test_layers_import_only_from_lower_layers():
    for path in modules():
        here = area(path)
        used = ours(imports(parsed(path), types=not here.endswith("__init__")))
        if here.endswith("__init__"):
            assert not used
            continue
        assert here in LEVEL or here in APART, f"{here} has no place among the layers"
        bad = upward(here, used)
        assert not bad, f"{path} imports {sorted(bad)}, which lie above it"


def test_own_modules_are_imported_at_the_top():
    """An import inside a function hides a cycle or a misplaced dependency."""
    for path in modules():
        assert area(path) in LATE or not late_imports(parsed(path)), path


def module_of(name):
    """Return the module that contains, or is, an imported name of ours."""
    parts = name.split(".")
    while len(parts) > 1:
        path = ROOT.joinpath(*parts[1:])
        if path.is_dir() or path.with_suffix(".py").is_file():
            break
        parts.pop()
    return ".".join(parts)


def circle(graph):
    """Return a cycle in the graph {node: dependencies}, or None."""
    try:
        graphlib.TopologicalSorter(graph).prepare()
    except graphlib.CycleError as error:
        return error.args[1]
    return None


def test_packages_have_no_import_cycle():
    graph = {}
    for path in modules():
        here = area(path)
        if here.endswith("__init__"):
            continue
        graph.setdefault(here, set()).update(ours(imports(parsed(path), types=True)) - {here})
    assert circle(graph) is None


def test_modules_have_no_import_cycle():
    """Modules of a package import each other directly, not through the package's ``__init__``."""
    graph = {}
    for path in modules():
        here = module_of(".".join(("eigenecho", *path.relative_to(ROOT).with_suffix("").parts)))
        here = here.removesuffix(".__init__")
        used = imports(parsed(path), types=here != "eigenecho")
        graph[here] = {module_of(name) for name in used if name.startswith("eigenecho.")}
    assert len(graph) == len(modules())
    assert circle(graph) is None


def test_optional_packages_are_imported_only_in_high_layers():
    for path in modules():
        here, tree = area(path), parsed(path)
        level = LEVEL.get(here, 0)
        used = {name.split(".")[0] for name in imports(tree)}
        if here not in ("plots", "pages", "paper", "cli", "progress", "__main__"):
            assert not used & DRAWING, path
        if level < LEVEL["interop"] and path.parent != ROOT / "kernels" / "tensors":
            at_module_level = {name.split(".")[0] for name in imports(tree, everywhere=False)}
            assert not at_module_level & OPTIONAL, path


def test_kernels_of_tensors_are_not_imported_directly():
    for path in modules():
        if path.parent != ROOT / "kernels" / "tensors":
            used = imports(parsed(path))
            assert not any(name.startswith("eigenecho.kernels.tensors") for name in used)


@pytest.mark.parametrize(
    "path", [p for p in modules() if area(p) in APART], ids=lambda p: str(p.relative_to(ROOT))
)
def test_tasks_and_metrics_use_only_numpy_and_scipy(path):
    used = {name.split(".")[0] for name in imports(parsed(path))}
    assert used - set(sys.stdlib_module_names) <= {"numpy", "scipy", "eigenecho"}


def test_package_init_imports_nothing():
    tree = ast.parse((ROOT / "__init__.py").read_text())
    assert {name.split(".")[0] for name in imports(tree)} <= set(sys.stdlib_module_names)


@pytest.mark.parametrize(
    "path",
    [p for p in modules() if p.name == "__init__.py" and p.parent != ROOT],
    ids=lambda p: p.parent.name,
)
def test_packages_only_re_export_names(path):
    kinds = (ast.Import, ast.ImportFrom, ast.Assign, ast.Expr, ast.FunctionDef, ast.If)
    tree = parsed(path)
    assert all(isinstance(node, kinds) for node in tree.body)
    functions = [node.name for node in tree.body if isinstance(node, ast.FunctionDef)]
    assert set(functions) <= {"__getattr__", "__dir__"}


def test_imports_are_found():
    tree = ast.parse(
        "import numpy as np\n"
        "from eigenecho import estimators\n"
        "from eigenecho.model import predict\n"
        "if TYPE_CHECKING:\n    from eigenecho.grid_search import grid\n"
        "def f():\n    import matplotlib.pyplot\n"
        "class A:\n    import rich\n"
    )
    assert imports(tree) == [
        "numpy", "eigenecho.estimators", "eigenecho.model.predict", "matplotlib.pyplot", "rich",
    ]  # fmt: skip
    assert imports(tree, everywhere=False) == [
        "numpy", "eigenecho.estimators", "eigenecho.model.predict", "rich",
    ]  # fmt: skip
    assert upward("model", ours(imports(tree))) == {"estimators"}
    assert upward("estimators", {"model", "grid_search", "metrics"}) == {"grid_search"}
    assert upward("errors", {"metrics"}) == {"metrics"}
    assert ours(["eigenecho.paper.mso", "eigenecho.cli"]) == {"paper", "cli"}
    assert upward("model", {"paper"}) == {"paper"}
    assert upward("paper", {"paper", "plots", "metrics", "cli"}) == {"cli"}
    assert upward("metrics", {"spectra", "errors"}) == {"spectra"}


def test_late_imports_and_cycles_are_found():
    tree = ast.parse(
        "from eigenecho import series\n"
        "def f():\n    from eigenecho.model import Stream\n    import scipy\n"
        "class A:\n    def g(self):\n        from eigenecho import series\n"
    )
    assert late_imports(tree) == ["eigenecho.model.Stream", "eigenecho.series"]
    assert module_of("eigenecho.model.Stream") == "eigenecho.model"
    assert module_of("eigenecho.model.stream.Stream") == "eigenecho.model.stream"
    assert module_of("eigenecho.kernels.compiled.steps.step") == "eigenecho.kernels.compiled.steps"
    assert circle({"a": {"b"}, "b": {"c"}, "c": set()}) is None
    assert set(circle({"a": {"b"}, "b": {"c"}, "c": {"a"}})) == {"a", "b", "c"}


def test_running_a_saved_model_needs_neither_scikit_learn_nor_pandas(tmp_path):
    series = eigenecho.tasks.mso(2, steps=60)
    esn = eigenecho.LinearESN(5, ridge=1e-3, seed=0).fit(series[:-1], series[1:])
    for saved in (esn.model_, esn.stream()):
        saved.save(tmp_path / "file")
        code = (
            "import json, sys, eigenecho\n"
            f"thing = eigenecho.load({str(tmp_path / 'file')!r})\n"
            "stream = thing if hasattr(thing, 'step') else thing.stream()\n"
            "stream.step([0.5])\n"
            "print(json.dumps(sorted({'sklearn', 'pandas', 'narwhals'} & set(sys.modules))))"
        )
        assert fresh(code) == []
