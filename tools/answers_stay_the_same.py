"""Check that two commits give bit-identical results.

    python tools/answers_stay_the_same.py BEFORE [AFTER] [--only NAME …]
    python tools/answers_stay_the_same.py --store tests/answers.npz

BEFORE and AFTER are commits or folders with a checkout; AFTER is the working tree by default.
Cases run in turns with each commit, in separate processes that import only the package of that
commit. For each case the output is "equal", or the largest difference of any of its
arrays relative to that array's largest entry. ``--store`` stores some entries of every array, which
``tests/test_answers.py`` compares with, and their largest difference between the floating-point
kernels that this CPU supports, which shows how well each problem determines them.
"""

from __future__ import annotations

import argparse
import importlib.util
import os
import subprocess
import sys
import tempfile
import warnings
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np

from each_kernel import usable_kernels

ROOT = Path(__file__).parents[1]
KEPT = 24
"""Number of entries stored for each array, evenly spaced."""

SPREAD = 1e-11
"""Differences between kernels below this value are not stored, because tolerances are larger."""

AT_ONCE = 6
"""Number of cases per process, because starting one takes longer than most cases."""

Arrays = dict[str, Any]
CASES: dict[str, Callable[[], Arrays]] = {}


def case(**variants: Any) -> Callable[[Callable[..., Arrays]], Callable[..., Arrays]]:
    """Register a function as one case for each variant of its argument."""

    def register(function: Callable[..., Arrays]) -> Callable[..., Arrays]:
        for name, value in variants.items():
            CASES[f"{function.__name__} {name}"] = lambda value=value: function(value)
        return function

    return register


# Data ------------------------------------------------------------------------------------------


def noise(T: int, D: int = 1, seed: int = 0) -> Any:
    """Return white noise, shape (T, D)."""
    return np.random.default_rng(seed).uniform(-1, 1, (T, D))


def recall(T: int, D: int = 2) -> tuple[Any, Any]:
    """Return inputs and a noisy, delayed target."""
    u = noise(T, D)
    y = np.roll(u[:, :1], 3, axis=0) - 0.5 * np.roll(u[:, -1:], 7, axis=0)
    return u, np.concatenate([y, y**2], axis=1) + 0.01 * noise(T, 2, seed=1)


def sines(T: int) -> Any:
    """Return three superimposed sines, shape (T, 1)."""
    import eigenecho as ee

    return ee.tasks.mso(3, steps=T)


def matrix(kind: str, N: int = 60) -> Any:
    """Return a reservoir matrix of one kind."""
    rng = np.random.default_rng(3)
    W = rng.normal(size=(N, N)) / np.sqrt(N)
    if kind == "sparse":
        W *= rng.random((N, N)) < 3 / N
    elif kind == "triangular":
        W = np.triu(W)
    elif kind == "orthogonal":
        W = 0.95 * np.linalg.qr(W)[0]
    elif kind == "nilpotent":
        W = np.diag(np.full(N - 1, 0.9), 1)
    elif kind == "low rank":
        W = rng.normal(size=(N, 3)) @ rng.normal(size=(3, N)) / (3 * N)
    return W


def everything(esn: Any, X: Any) -> Arrays:
    """Return the attributes and predictions of a fitted estimator."""
    outputs = esn.predict(X)
    listed = outputs if isinstance(outputs, list) else []
    predictions = {f"predict {i}": y for i, y in enumerate(listed)}
    return {
        **(predictions or {"predict": outputs}),
        "W_out": esn.W_out_,
        "r": esn.final_state_.r,
        "y": esn.final_state_.y,
        "noise": esn.noise_covariance_,
        "values": esn.spectrum_.values,
        "ridge": esn.ridge_,
    }


# Cases -----------------------------------------------------------------------------------------


@case(
    golden={},
    float32={"dtype": "float32"},
    leaky={"lr": 0.3, "input_bias": True},
    ring={"spectrum": "ring", "sr": 1.0},
    dense={"spectrum": matrix("gaussian")},
    sparse={"spectrum": matrix("sparse")},
    wide={"inputs": 12},
)
def states(options: dict[str, Any]) -> Arrays:
    """Compute states."""
    import eigenecho as ee

    X = noise(3000, options.pop("inputs", 2))
    return {"states": ee.DiagonalReservoir(300, **{"seed": 0} | options).fit_transform(X)}


@case(
    auto={},
    qr={"solver": "qr"},
    normal={"solver": "normal"},
    identity={"penalty": "identity", "solver": "normal"},
    ridges={"ridge": [1e-6, 1e-3, 1.0]},
    ridges_normal={"ridge": [1e-6, 1e-3, 1.0], "solver": "normal"},
    feedback={"feedback": True, "fb_scaling": 0.1},
    feedback_normal={"feedback": True, "fb_scaling": 0.1, "solver": "normal"},
    previous={"output_to_readout": True, "solver": "normal"},
    free_bias={"penalize_bias": False},
    no_bias={"fit_bias": False},
    standardised={"standardize": True},
    standardized_normal={"standardize": True, "solver": "normal"},
    float32={"dtype": "float32"},
    float32_normal={"dtype": "float32", "solver": "normal"},
    neuron={"basis": "neuron"},
    eet={"spectrum": "matrix"},
    sparse={"spectrum": "matrix", "rc_connectivity": 0.05},
    unsettled={"spectrum": "ring", "sr": 1.0, "solver": "normal", "ridge": 1e-4},
    large={"units": 800, "solver": "auto", "ridge": 1e-5},
)
def fit(options: dict[str, Any]) -> Arrays:
    """Fit and predict."""
    import eigenecho as ee

    X, y = recall(4000)
    esn = ee.LinearESN(**{"units": 150, "ridge": 1e-6, "warmup": 50, "seed": 1} | options)
    return everything(esn.fit(X, y), X)


@case(
    ragged=[700, 300, 1100],
    ragged_normal=[700, 1300, 1100],
)
def several(lengths: list[int]) -> Arrays:
    """Fit several series."""
    import eigenecho as ee

    parts = [recall(T) for T in lengths]
    X, y = [u for u, _ in parts], [v[:, 0] for _, v in parts]
    solver = "normal" if min(lengths) > 500 else "qr"
    esn = ee.LinearESN(80, solver=solver, warmup=30, ridge=1e-6, sr=0.8, seed=2)
    return everything(esn.fit(X, y), X)


@case(
    plain={},
    feedback={"feedback": True, "fb_scaling": 0.3},
    previous={"output_to_readout": True},
    standardised={"standardize": True, "input_bias": True},
    float32={"dtype": "float32", "ridge": 1e-3},
    neuron={"basis": "neuron", "spectrum": "matrix"},
)
def forecast(options: dict[str, Any]) -> Arrays:
    """Forecast from the end of training and from a context, with an interval."""
    import eigenecho as ee

    series = sines(1500) + 0.02 * noise(1500) + 1
    esn = ee.LinearESN(**{"units": 60, "ridge": 1e-2, "warmup": 100, "seed": 3} | options)
    esn.fit(series[:-1], series[1:])
    bounds = esn.forecast(100, context=series[:700], interval=0.9)
    return {
        "free": esn.forecast(200),
        **bounds._asdict(),
        "radius": esn.closed_loop_radius_,
    }


@case(known={})
def forecast_with_inputs(_: dict[str, Any]) -> Arrays:
    """Forecast with inputs known in advance."""
    import eigenecho as ee

    series = np.concatenate([sines(1200), noise(1200, 2)], axis=1)
    esn = ee.LinearESN(60, warmup=100, ridge=1e-4, seed=0).fit(series[:-1], series[1:, :1])
    ahead = noise(50, 2, seed=5)
    return {
        "end": esn.forecast(50, inputs=ahead),
        "context": esn.forecast(50, context=series[:600], inputs=ahead),
    }


@case(
    golden={},
    feedback={"feedback": True, "output_to_readout": True, "fb_scaling": 0.2},
    sparse={"spectrum": matrix("sparse")},
)
def stream(options: dict[str, Any]) -> Arrays:
    """Run a stream and a learner."""
    import eigenecho as ee

    X, y = recall(600)
    esn = ee.LinearESN(**{"units": 40, "ridge": 1e-3, "seed": 0} | options).fit(X, y)
    running = esn.stream()
    learner = esn.learner(forgetting=0.99)
    return {
        "outputs": np.stack([running.step(u) for u in X[:200]]),
        "learnt": np.stack([learner.step(u, v) for u, v in zip(X[:200], y[:200], strict=True)]),
        "W_out": learner.model.W_out,
    }


@case(qr="qr", normal="normal")
def partial_fit(solver: str) -> Arrays:
    """Fit with ``partial_fit``."""
    import eigenecho as ee

    X, y = recall(3000)
    esn = ee.LinearESN(80, solver=solver, ridge=1e-2, warmup=20, seed=0).fit(X[:2000], y[:2000])
    esn.partial_fit(X[2000:], y[2000:], initial_state=esn.final_state_)
    return everything(esn, X)


@case(
    laws={"spectrum": ["golden", "ring", "sim"], "sr": [0.5, 0.9], "ridge": [1e-6, 1e-2]},
    scalings={"lr": [0.3, 1.0], "input_scaling": [0.1, 1.0], "ridge": [1e-8, 1e-4, 1.0]},
    matrix={"spectrum": ["matrix"], "sr": [0.5, 0.9], "rc_connectivity": [0.1, 1.0]},
    feedback={"feedback": [True], "fb_scaling": [0.1, 0.5], "output_to_readout": [False, True]},
    standardised={"standardize": [True, False], "penalize_bias": [True, False], "sr": [0.9]},
)
def search(grid: dict[str, Any]) -> Arrays:
    """Run a grid search with refit."""
    import eigenecho as ee

    X, y = recall(1500)
    searched = ee.search(ee.LinearESN(60, warmup=50, ridge=1e-5), grid, X, y, seeds=[0, 1])
    return {"errors": searched.errors} | everything(searched.best_estimator, X)


@case(lagged={"sr": [0.7, 0.9], "ridge": [1e-4, 1e-2], "input_scaling": [0.5, 1.0]})
def long_search(grid: dict[str, Any]) -> Arrays:
    """Run a search that trains from autocorrelations."""
    import eigenecho as ee

    X, y = recall(40_000)
    searched = ee.search(ee.LinearESN(250, warmup=50), grid, X, y, seeds=[0])
    return {"errors": searched.errors} | everything(searched.best_estimator, X)


@case(
    gaussian="gaussian",
    sparse="sparse",
    triangular="triangular",
    orthogonal="orthogonal",
    nilpotent="nilpotent",
    low_rank="low rank",
)
def conversion(kind: str) -> Arrays:
    """Convert a network."""
    import eigenecho as ee

    W, rng = matrix(kind), np.random.default_rng(4)
    W_in, W_fb = rng.normal(size=(2, 60)), 0.1 * rng.normal(size=(1, 60))
    W_out = rng.normal(size=(64, 1)) / 60
    model = ee.diagonalize(
        W, W_in, W_out, W_fb, lr=0.7, bias=rng.normal(size=60),
        output_to_readout=True, input_to_readout=True,
    )  # fmt: skip
    u, before = ee.probe(model, 500)
    return {
        "outputs": model.predict(u, y_previous=before),
        "values": model.spectrum.values,
        "closed": model.predict(u[:50]),
    }


def sales(T: int, series: int = 1, seed: int = 0) -> Any:
    """Return weekly series (T, series) with a trend, all positive."""
    rng, t = np.random.default_rng(seed), np.arange(T)[:, None]
    phases, sizes = rng.uniform(0, 7, series), rng.uniform(5, 20, series)
    waves = np.sin(2 * np.pi * (t + phases) / 7)
    return 100 + 0.05 * t + sizes * waves + rng.normal(size=(T, series)).cumsum(axis=0)


@case(
    single={},
    direct={"strategy": "direct"},
    recursive={"strategy": "recursive"},
    panel={"series": 6},
    own={"series": 6, "sharing": "own"},
    multivariate={"series": 3, "multivariate": True},
    gaps={"gaps": True},
    columns={"columns": 2},
    long={"rows": 8000},
)
def forecaster(options: dict[str, Any]) -> Arrays:
    """Forecast series with intervals, after many origins, and after an update."""
    import eigenecho as ee

    options = dict(options)
    y = sales(options.pop("rows", 260), options.pop("series", 1))
    y = y[:, 0] if y.shape[1] == 1 else y
    if options.pop("gaps", False):
        y[[20, 21, 100, 180]] = np.nan
    columns = options.pop("columns", 0)
    X = noise(len(y) + 14, columns, seed=7) if columns else None
    if X is not None:
        y = y + 3 * X[: len(y), 0]
    model = ee.Forecaster(14, **options).fit(y[:-20], None if X is None else X[: len(y) - 20])
    ahead = None if X is None else X[len(y) - 20 : len(y) - 6]
    forecast = model.predict(X=ahead, interval=0.9)
    beside = {} if X is None else {"X": X[: len(y)]}
    rolling = model.rolling(y, [len(y) - 40, len(y) - 15], **beside)
    model.update(y[-20:], *(() if X is None else (X[len(y) - 20 : len(y)],)))
    ahead = None if X is None else X[len(y) :]
    return {**forecast._asdict(), "rolling": rolling, "updated": model.predict(X=ahead)}


@case(
    tol={"tol": 0.01},
    units={"units": 20},
    data={"tol": 0.02, "with_data": True},
    float32={"units": 20, "dtype": "float32", "with_data": True},
)
def reduction(options: dict[str, Any]) -> Arrays:
    """Reduce a trained network."""
    import eigenecho as ee

    X, y = recall(3000)
    options = dict(options)
    esn = ee.LinearESN(80, ridge=1e-2, seed=0, dtype=options.pop("dtype", "float64")).fit(X, y)
    data = X if options.pop("with_data", False) else None
    small = esn.reduce(data=data, **options)
    return {"outputs": small.predict(X), "units": small.units}


@case(qr="qr", normal="normal")
def learner(solver: str) -> Arrays:
    """Learn row by row after a fit."""
    import eigenecho as ee

    X, y = recall(2500)
    esn = ee.LinearESN(60, solver=solver, ridge=1e-2, seed=0).fit(X[:2000], y[:2000])
    learner = esn.learner(forgetting=0.995)
    rows = zip(X[2000:], y[2000:], strict=True)
    return {"outputs": np.stack([learner.step(u, v) for u, v in rows])}


@case(auto={"ridge": "auto"}, auto_normal={"ridge": "auto", "solver": "normal"},
      missing={"missing": "skip"}, missing_ridges={"missing": "skip", "ridge": [1e-6, 1e-2]},
      missing_auto={"missing": "skip", "ridge": "auto"})  # fmt: skip
def ridge(options: dict[str, Any]) -> Arrays:
    """Select a ridge, with and without missing targets."""
    import eigenecho as ee

    X, y = recall(2500)
    if options.get("missing"):
        y[100:150] = y[400:420] = np.nan
    esn = ee.LinearESN(**{"units": 100, "warmup": 50, "seed": 1, "ridge": 1e-4} | options)
    esn.fit(X, y)
    return everything(esn, X) | {"std": esn.predict(X, return_std=True)[1]}


if importlib.util.find_spec("distributed"):

    @case(qr="qr", normal="normal")
    def cluster(solver: str) -> Arrays:
        """Fit and predict on a cluster of one process."""
        import dask.array as da
        from distributed import Client

        import eigenecho as ee
        from eigenecho.dask import fit, predict

        X, y = recall(6000)
        with Client(processes=False, n_workers=1, threads_per_worker=1, dashboard_address=None):
            U, Y = (da.from_array(part, chunks=(1500, -1)) for part in (X, y))
            esn = fit(ee.LinearESN(80, solver=solver, ridge=1e-4, warmup=20, seed=0), U, Y)
            return everything(esn, X) | {"there": predict(esn, U).compute()}


# Comparing -------------------------------------------------------------------------------------


def run_cases(folder: Path, names: list[str]) -> None:
    """Run cases with the package on the path and store their arrays."""
    warnings.simplefilter("ignore")
    for name in names:
        arrays = {key: np.asarray(value) for key, value in CASES[name]().items()}
        np.savez(folder / f"{name}.npz", **arrays)


def sample_entries(value: Any) -> Any:
    """Return a few entries of an array, and its largest."""
    flat = np.asarray(value).ravel()
    spread = np.linspace(0, flat.size - 1, min(KEPT, flat.size)).astype(int)
    return np.append(flat[spread], np.abs(flat).max(initial=0.0))


def store_answers(path: Path) -> None:
    """Store some entries of every array, and the largest difference between kernels."""
    answers = {}
    with tempfile.TemporaryDirectory() as store:
        folders = []
        for kernels in usable_kernels():
            folders.append(Path(store) / kernels.name)
            folders[-1].mkdir()
            run(ROOT, folders[-1], list(CASES), kernels.environment)
        for name in CASES:
            first, *others = [np.load(folder / f"{name}.npz") for folder in folders]
            for key in first:
                answers[f"{name}/{key}"] = sample_entries(first[key])
                spread = max((difference(first[key], other[key]) for other in others), default=0.0)
                if spread > SPREAD:
                    answers[f"{name}/{key}/spread"] = np.array(spread)
    np.savez_compressed(path, **answers)


def difference(a: Any, b: Any) -> float:
    """Return the largest difference of two arrays relative to the largest entry of the first."""
    size = np.abs(a[np.isfinite(a)]).max(initial=0.0) or 1.0
    return float(np.abs(a - b).max(initial=0.0) / size) if a.shape == b.shape else np.inf


def compare(before: Path, after: Path, name: str) -> str:
    """Return "equal", or the array that differs most and its difference."""
    with np.load(before / f"{name}.npz") as old, np.load(after / f"{name}.npz") as new:
        if set(old) != set(new):
            return f"other results: {sorted(set(old) ^ set(new))}"
        worst, where = 0.0, ""
        for key in old:
            a, b = old[key], new[key]
            if a.shape != b.shape or a.dtype != b.dtype:
                return f"{key}: {a.dtype} {a.shape} became {b.dtype} {b.shape}"
            if a.tobytes() == b.tobytes() or np.array_equal(a, b, equal_nan=True):
                continue
            distance = difference(a, b)
            if not distance <= worst:
                worst, where = distance, key
        return f"{worst:.1e} ({where})" if where else "equal"


@contextmanager
def checkout(what: str) -> Iterator[Path]:
    """Yield a folder with the checkout of a commit, or the folder itself."""
    if Path(what).is_dir():
        yield Path(what).resolve()
        return
    with tempfile.TemporaryDirectory() as folder:
        tree = Path(folder) / "tree"
        git = ["git", "-C", str(ROOT), "worktree"]
        subprocess.run([*git, "add", "--quiet", "--detach", str(tree), what], check=True)
        try:
            yield tree
        finally:
            subprocess.run([*git, "remove", "--force", str(tree)], check=True)


def run(
    tree: Path, folder: Path, names: list[str], environment: Mapping[str, str] = os.environ
) -> None:
    """Run cases in a process that imports the package of one checkout."""
    environment = {**environment, "PYTHONPATH": str(tree / "src")}
    command = [sys.executable, __file__, "--emit", str(folder), "--only", *names]
    subprocess.run(command, env=environment, check=True)


def main() -> None:
    """Print one line per case; exit with 1 if a difference is above 1e-12."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("before", nargs="?")
    parser.add_argument("after", nargs="?", default=str(ROOT))
    parser.add_argument("--only", nargs="+", default=[], metavar="NAME")
    parser.add_argument("--store", type=Path, metavar="FILE")
    parser.add_argument("--emit", type=Path, help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.emit:
        run_cases(arguments.emit, arguments.only)
        return
    if arguments.store:
        store_answers(arguments.store)
        return
    if arguments.before is None:
        parser.error("BEFORE is missing: pass the commit to compare with")
    names = [n for n in CASES if not arguments.only or any(part in n for part in arguments.only)]
    verdicts = {}
    with (
        tempfile.TemporaryDirectory() as store,
        checkout(arguments.before) as old,
        checkout(arguments.after) as new,
    ):
        folders = [Path(store) / side for side in ("before", "after")]
        for folder in folders:
            folder.mkdir()
        for start in range(0, len(names), AT_ONCE):
            group = names[start : start + AT_ONCE]
            for tree, folder in zip((old, new), folders, strict=True):
                run(tree, folder, group)
            for name in group:
                verdicts[name] = compare(*folders, name)
                print(f"{name:32} {verdicts[name]}", flush=True)
    equal = sum(verdict == "equal" for verdict in verdicts.values())
    print(f"{equal} of {len(verdicts)} cases are equal to the last bit")
    sys.exit(any(_is_large(verdict) for verdict in verdicts.values()))


def _is_large(verdict: str) -> bool:
    if verdict == "equal":
        return False
    try:
        return not float(verdict.split()[0]) <= 1e-12
    except ValueError:
        return True


if __name__ == "__main__":
    main()
