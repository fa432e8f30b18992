"""Importing does no work, names load lazily, and the layers import downwards only."""

from __future__ import annotations

import ast
import graphlib
import json
import re
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
    "torch",
    "triton",
    "dask",
    "distributed",
]
DRAWING = {"matplotlib", "typer", "rich", "jinja2"}
OTHERS = {"reservoirpy", "sktime", "torch", "jax", "dask", "distributed"}
OPTIONAL = DRAWING | OTHERS | {"pandas", "polars", "pyarrow", "joblib", "threadpoolctl"}

LAYERS = [
    {"errors", "types"},
    {"checks", "frames", "keywords", "threads", "progress", "clients", "tensors", "arrays"},
    {"schema", "storage", "series", "scaling"},
    {"spectra"},
    {"basis"},
    {"kernels"},
    {"transition"},
    {"reservoir"},
    {"rows"},
    {"readout"},
    {"training"},
    {"reduction"},
    {"model"},
    {"plots", "pages"},
    {"data"},
    {"forecasting"},
    {"convert"},
    {"estimators"},
    {"grid_search"},
    {"interop"},
    {"dask"},
    {"apps.shared"},
    {"apps.paper", "apps.tables"},
    {"apps.cli"},
    {"__main__"},
]
"""From the lowest to the highest: a module may import from its own layer and from those below.

Applications of one layer do not know of each other.
"""

APART = {
    "metrics": {"errors", "types", "checks"},
    "tasks": {"errors", "types", "checks", "metrics"},
}
"""What the modules outside the layers may import; these, any layer above the first may use."""

LEVEL = {name: level for level, names in enumerate(LAYERS) for name in names}

LATE = {"interop", "apps.cli"}
"""What may import ours inside a function, to start fast or without a package that is missing."""


def fresh(code):
    """What ``code`` prints as JSON in a process of its own."""
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, timeout=300, check=False
    )
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


# A fresh process ------------------------------------------------------------------------------


def test_import_leaves_the_heavy_packages_unloaded():
    loaded = fresh(
        "import eigenecho, json, sys\n"
        f"print(json.dumps([name for name in {HEAVY} if name in sys.modules]))"
    )
    assert loaded == []


def test_import_loads_no_other_module_of_ours():
    loaded = fresh(
        "import eigenecho, json, sys\n"
        "print(json.dumps([name for name in sys.modules if name.startswith('eigenecho.')]))"
    )
    assert loaded == []


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("ESN", "has no attribute 'ESN'. It is LinearESN here."),
        ("Reservoir", "It is DiagonalReservoir here."),
        ("Ridge", "It is LinearESN(ridge=...) here."),
        ("GridSearchCV", "It is search here."),
        ("save", "It is LinearESN.save and Forecaster.save here."),
        ("load_model", "It is load here."),
        ("linearesn", "Did you mean 'LinearESN'?"),
        ("Forcaster", "Did you mean 'Forecaster'?"),
        ("nothing_of_ours", "has no attribute 'nothing_of_ours'."),
        ("__wrapped__", "has no attribute '__wrapped__'"),
    ],
)
def test_a_name_that_is_none_of_ours(name, said):
    with pytest.raises(AttributeError) as caught:
        getattr(eigenecho, name)
    assert str(caught.value).endswith(said)


def test_names_from_elsewhere_lead_to_ours():
    for name, ours in eigenecho.errors.NAMES_ELSEWHERE.items():
        assert name not in eigenecho.__all__
        assert re.match(r"\w+", ours).group() in eigenecho.__all__


@pytest.mark.parametrize("name", eigenecho.errors.APART)
def test_modules_that_are_loaded_by_their_own_names(name):
    assert fresh(
        "import eigenecho, json\n"
        f"try:\n    eigenecho.{name}\nexcept AttributeError as error:\n"
        "    print(json.dumps(str(error)))"
    ).endswith(f"Load it by import eigenecho.{name}.")


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


def test_spectra_need_neither_numba_nor_sklearn():
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
    assert "eigenecho.tensors" in loaded
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


def test_a_library_that_is_missing_is_asked_for_by_name():
    modules = {"reservoirpy": "interop.reservoirpy", "sktime": "interop.sktime", "dask": "dask"}
    said = fresh(
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
    assert said.keys() == modules.keys()
    for library, words in said.items():
        assert words.endswith(f"pip install 'eigenecho[{library}]'")


def test_every_public_name_loads_and_a_star_brings_them():
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


def test_an_unknown_name_is_an_attribute_error():
    with pytest.raises(AttributeError, match="module 'eigenecho' has no attribute 'nothing'"):
        _ = eigenecho.nothing
    with pytest.raises(ImportError):
        exec("from eigenecho import nothing")


def test_names_come_from_where_types_say():
    # Type checkers read the TYPE_CHECKING block, people the lazy table: they must agree.
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
    """The part of the package that a file belongs to: its first folder, or its own name."""
    return part(path.relative_to(ROOT).with_suffix("").parts)


def part(names):
    """The first of the names below eigenecho; of applications, the first two."""
    return ".".join(names[: 2 if names[0] == "apps" else 1])


@cache
def parsed(path):
    return ast.parse(path.read_text())


def imports(tree, everywhere=True):
    """Dotted names that are imported, at module level or ``everywhere``.

    Annotations are free to look upwards: what stands under ``TYPE_CHECKING`` is left out.
    """

    def walk(node):
        for child in ast.iter_child_nodes(node):
            if isinstance(child, ast.If) and "TYPE_CHECKING" in ast.unparse(child.test):
                continue
            if isinstance(child, ast.Import):
                yield from (alias.name for alias in child.names)
            elif isinstance(child, ast.ImportFrom):
                assert child.level == 0, "relative import"
                yield from (f"{child.module}.{alias.name}" for alias in child.names)
            elif everywhere or not isinstance(child, ast.FunctionDef | ast.AsyncFunctionDef):
                yield from walk(child)

    return list(walk(tree))


def ours(names):
    """The parts of eigenecho among imported names."""
    return {part(name.split(".")[1:]) for name in names if name.startswith("eigenecho.")}


def late_imports(tree):
    """Names of ours that are imported inside functions."""
    late = imports(tree)
    for name in imports(tree, everywhere=False):
        late.remove(name)
    return [name for name in late if name.startswith("eigenecho.")]


def upward(here, used):
    """Which of the parts ``used`` the part ``here`` must not import."""
    if here in APART:
        return used - APART[here] - {here}
    free = {here, *(APART if LEVEL[here] > 0 else ())}
    level = LEVEL[here] - here.startswith("apps.")
    return {name for name in used - free if LEVEL.get(name, 99) > level}


def test_imports_point_downwards():
    for path in modules():
        here, used = area(path), ours(imports(parsed(path)))
        if here.endswith("__init__"):
            assert not used
            continue
        assert here in LEVEL or here in APART, f"{here} has no place among the layers"
        bad = upward(here, used)
        assert not bad, f"{path} imports {sorted(bad)}, which lie above it"


def test_ours_are_imported_at_the_top():
    """An import inside a function hides a circle, or a dependency that belongs elsewhere."""
    for path in modules():
        assert area(path) in LATE or not late_imports(parsed(path)), path


def module_of(name):
    """The module that an imported name of ours is, or is found in."""
    parts = name.split(".")
    while len(parts) > 1:
        path = ROOT.joinpath(*parts[1:])
        if path.is_dir() or path.with_suffix(".py").is_file():
            break
        parts.pop()
    return ".".join(parts)


def circle(graph):
    """A circle in {node: those it needs}, or None."""
    try:
        graphlib.TopologicalSorter(graph).prepare()
    except graphlib.CycleError as error:
        return error.args[1]
    return None


def test_packages_form_no_circle():
    graph = {}
    for path in modules():
        here = area(path)
        graph.setdefault(here, set()).update(ours(imports(parsed(path))) - {here})
    assert circle(graph) is None


def test_modules_form_no_circle():
    """Within a package they import from each other, not from the package that gathers them."""
    graph = {}
    for path in modules():
        here = module_of(".".join(("eigenecho", *path.relative_to(ROOT).with_suffix("").parts)))
        here = here.removesuffix(".__init__")
        used = imports(parsed(path), everywhere=False)
        graph[here] = {module_of(name) for name in used if name.startswith("eigenecho.")}
    assert len(graph) == len(modules())
    assert circle(graph) is None


def test_optional_packages_stay_above():
    for path in modules():
        here, tree = area(path), parsed(path)
        level = LEVEL.get(here, 0)
        used = {name.split(".")[0] for name in imports(tree)}
        if here not in ("plots", "pages") and not here.startswith(("apps.", "__main__")):
            assert not used & DRAWING, path
        if level < LEVEL["interop"] and path.parent != ROOT / "kernels" / "tensors":
            at_module_level = {name.split(".")[0] for name in imports(tree, everywhere=False)}
            assert not at_module_level & OPTIONAL, path


def test_kernels_of_tensors_are_loaded_by_their_name():
    for path in modules():
        if path.parent != ROOT / "kernels" / "tensors":
            used = imports(parsed(path))
            assert not any(name.startswith("eigenecho.kernels.tensors") for name in used)


@pytest.mark.parametrize(
    "path", [p for p in modules() if area(p) in APART], ids=lambda p: str(p.relative_to(ROOT))
)
def test_tasks_and_metrics_use_numpy_and_scipy_alone(path):
    used = {name.split(".")[0] for name in imports(parsed(path))}
    assert used - set(sys.stdlib_module_names) <= {"numpy", "scipy", "eigenecho"}


def test_the_package_itself_imports_nothing():
    tree = ast.parse((ROOT / "__init__.py").read_text())
    assert {name.split(".")[0] for name in imports(tree)} <= set(sys.stdlib_module_names)


@pytest.mark.parametrize(
    "path",
    [p for p in modules() if p.name == "__init__.py" and p.parent != ROOT],
    ids=lambda p: p.parent.name,
)
def test_packages_only_gather_names(path):
    kinds = (ast.Import, ast.ImportFrom, ast.Assign, ast.Expr, ast.FunctionDef, ast.If)
    tree = parsed(path)
    assert all(isinstance(node, kinds) for node in tree.body)
    functions = [node.name for node in tree.body if isinstance(node, ast.FunctionDef)]
    assert set(functions) <= {"__getattr__", "__dir__"}


def test_the_reader_of_imports_sees_them():
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
    assert ours(["eigenecho.apps.paper.mso", "eigenecho.apps.cli"]) == {"apps.paper", "apps.cli"}
    assert upward("model", {"apps.shared"}) == {"apps.shared"}
    assert upward("apps.shared", {"apps.shared", "plots", "metrics", "apps.tables"}) == {
        "apps.tables"
    }
    assert upward("apps.paper", {"apps.paper", "apps.shared", "apps.tables", "apps.cli"}) == {
        "apps.tables", "apps.cli"
    }  # fmt: skip
    assert upward("metrics", {"spectra", "errors"}) == {"spectra"}


def test_the_reader_of_imports_sees_late_ones_and_circles():
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
