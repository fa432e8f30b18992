"""Check the error guarantees of model reduction, and measure its size, time and memory.

    reduction.py --hourly ETTh1.csv.gz              # all parts; "hourly" needs this table
    reduction.py --only bounds time --write         # some parts, written to docs/reduction.md

``bounds``: tasks × laws × units × tolerances. Compares the error on new inputs with the white
bound, and the error on new rows with the tolerance. ``hourly``: test errors of real columns one
step ahead, and the time of a long forecast. ``time``: time of ``reduce`` relative to one
``scipy.linalg.eigh``, and its peak memory. ``learnt``: spectra learned from data compared with laws
of the same size, all tuned in the same way. Results are stored in ``results/reduction``;
``--write`` makes the tables of the page from them.
"""

from __future__ import annotations

import argparse
import json
import statistics
import sys
import tracemalloc
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from time import process_time
from typing import Any

import numpy as np

import eigenecho as ee
from common import machine, replace_part

ROOT = Path(__file__).resolve().parent.parent
PAGE = ROOT / "docs" / "reduction.md"
TOLERANCES = (1e-2, 1e-4, 1e-6, 1e-9)
LAWS = ("golden", "ring", "log_ring", "uniform")
RADII = (0.5, 0.8, 0.9, 0.95, 0.99)
RIDGES = tuple(10.0**k for k in range(-12, 5, 2))
COLUMNS = ("HUFL", "HULL", "MUFL", "MULL", "LUFL", "LULL")
TIE = 1e-10
"""Errors below this fraction of the standard deviation count as ties."""

ROUNDS = 5
Rows = tuple[np.ndarray, np.ndarray]


# Tasks --------------------------------------------------------------------------------------------


def hourly(path: Path, column: str) -> np.ndarray:
    """Read one column of a CSV file with a header, shape (T, 1)."""
    import pandas as pd

    return pd.read_csv(path)[[column]].to_numpy(float)


def tasks(seed: int, path: Path | None, steps: int = 4000) -> dict[str, Rows]:
    """Return the inputs and targets of each task, by name."""
    tasks_by_name: dict[str, Rows] = {}
    for k in (5, 12):
        u = ee.tasks.mso(k, steps=steps // 2 + 1)
        tasks_by_name[f"MSO{k}"] = u[:-1], u[1:]
    u = ee.tasks.mackey_glass(steps + 84, seed=seed)
    tasks_by_name["Mackey–Glass 1"] = u[:-1], u[1:]
    tasks_by_name["Mackey–Glass 84"] = u[:-84], u[84:]
    tasks_by_name["NARMA10"] = ee.tasks.narma(10, steps, seed=seed)
    tasks_by_name["recall 20"] = ee.tasks.delayed_recall(steps, [20], seed=seed)
    if path is not None:
        u = hourly(path, "OT")[: steps * 3 // 2]
        tasks_by_name["hourly OT"] = u[:-1], u[1:]
    return tasks_by_name


def rms(x: np.ndarray) -> float:
    """Return the root mean square."""
    return float(np.sqrt(np.mean(x**2)))


# Bounds -------------------------------------------------------------------------------------------


def new_inputs(model: ee.LinearModel, X: np.ndarray) -> Iterator[np.ndarray]:
    """Yield inputs not used for the reduction: noise, sines of several frequencies, new rows."""
    rng, t = np.random.default_rng(12345), np.arange(3000)[:, None]
    own = model.inputs
    for u in (rng.normal(size=(3000, 1)), *(np.sin(w * t) for w in (1e-3, 0.3, 1.1, 3.1))):
        yield u if own is None else own.backward(u)
    yield X


def bound_used(model: ee.LinearModel, small: ee.LinearModel, X: np.ndarray) -> float:
    """Return the largest error on new inputs, relative to the bound."""
    certificate, worst = small.certificate, 0.0
    scale = 1.0 if model.outputs is None else model.outputs.scale
    for u in new_inputs(model, X):
        error = np.linalg.norm((model.predict(u) - small.predict(u)) / scale)
        size = np.linalg.norm(model.own_inputs(u))
        worst = max(worst, float(error / (certificate.bound * certificate.gain * size)))
    return worst


def bounds(path: Path | None, units: tuple[int, ...] = (100, 300, 1000)) -> list[dict[str, Any]]:
    """Measure every task, law, size and tolerance."""
    rows = []
    for name, (X, y) in tasks(0, path).items():
        cut = len(X) // 2
        for law in LAWS:
            for N in units:
                noisy = name in ("NARMA10", "hourly OT", "Mackey–Glass 84")
                esn = ee.LinearESN(
                    N, spectrum=law, sr=0.95, ridge=1e-2 if noisy else 1e-8, standardize=True,
                    warmup=100, seed=0,
                ).fit(X[:cut], y[:cut])  # fmt: skip
                for tol in TOLERANCES:
                    row = {"task": name, "law": law, "units": N, "tol": tol}
                    rows.append(row | _promises(esn, tol, X, y, cut))
                    print(json.dumps(rows[-1], ensure_ascii=False), flush=True)
    return rows


def _promises(esn: ee.LinearESN, tol: float, X: np.ndarray, y: np.ndarray, cut: int) -> Any:
    model, numbers = esn.model_, {}
    small = model.reduce(tol=tol)
    numbers["white"], numbers["bound used"] = small.units, bound_used(model, small, X[cut:])
    try:
        small = model.reduce(tol=tol, data=(X[:cut], y[:cut]))
    except ValueError as error:
        return numbers | {"refused": str(error)}
    off = rms(model.predict(X[cut:]) - small.predict(X[cut:])) / float(y[:cut].std())
    return numbers | {"data": small.units, "promise used": off / tol}


def show_bounds(cases: list[dict[str, Any]]) -> list[str]:
    """Return a table of the modes kept (white / data) for every tolerance."""
    lines = [
        "| task | law | N | " + " | ".join(f"{tol:g}" for tol in TOLERANCES) + " |",
        "|---|---|---|" + "---|" * len(TOLERANCES),
    ]
    keys = dict.fromkeys((row["task"], row["law"], row["units"]) for row in cases)
    for task, law, N in keys:
        rows = {r["tol"]: r for r in cases if (r["task"], r["law"], r["units"]) == (task, law, N)}
        cells = [f"{rows[tol]['white']} / {rows[tol].get('data', '–')}" for tol in TOLERANCES]
        lines.append(f"| {task} | {law} | {N} | " + " | ".join(cells) + " |")
    white = max(row["bound used"] for row in cases)
    data = sorted((row["promise used"] for row in cases if "promise used" in row), reverse=True)
    text = (
        f"With white weighting, the largest error on new inputs in these {len(cases)} cases was "
        f"{white:.2f} times the bound. With weighting by the training rows, the errors on the "
        f"following rows had a median of {statistics.median(data):.2f} times `tol` and a maximum "
        f"of {data[0]:.2f} times `tol`; they exceeded `tol` in {sum(x > 1 for x in data)} cases."
    )
    refused = sum("refused" in row for row in cases)
    if refused:
        text += f" In {refused} cases, `tol` was below the resolution of the rows."
    return [*lines, "", text]


# Hourly -------------------------------------------------------------------------------------------


def hourly_part(path: Path | None) -> list[dict[str, Any]]:
    """Reduce networks of real columns on the training rows: N = 1000, sr 0.99, ridge 10."""
    if path is None:
        raise SystemExit("The part 'hourly' needs a table: pass --hourly TABLE.")
    cases = [("OT", "golden", penalty) for penalty in ("identity", "neuron")]
    cases += [("OT", "ring", "identity")] + [(name, "golden", "identity") for name in COLUMNS]
    return [_hourly(path, *case) for case in cases]


def _hourly(path: Path, column: str, law: str, penalty: str, cut: int = 11520) -> dict[str, Any]:
    u = hourly(path, column)
    X, y = u[:-1], u[1:]
    esn = ee.LinearESN(
        1000, spectrum=law, sr=0.99, ridge=10, standardize=True, penalty=penalty, warmup=100, seed=0
    ).fit(X[:cut], y[:cut])
    small = esn.reduce(tol=1e-3, data=(X[:cut], y[:cut]))
    errors = [rms(network.predict(X)[cut:] - y[cut:]) for network in (esn, small)]
    ways = [lambda network=network: network.forecast(10_000) for network in (esn, small)]
    rounds = [[_processor(way) for way in ways] for _ in range(20 * ROUNDS)]
    seconds = np.min(rounds, axis=0)
    certificate = small.certificate_
    row = {
        "column": column, "law": law, "penalty": penalty, "units": small.units,
        "from statistics": esn.reduce(tol=1e-3).units, "before": errors[0], "after": errors[1],
        "faster": float(seconds[0] / seconds[1]), "held out": certificate.held_out_error,
        "loop": [certificate.radius_before, certificate.radius_after],
    }  # fmt: skip
    print(json.dumps(row), flush=True)
    return row


def _processor(call: Callable[[], Any]) -> float:
    """Return the CPU time in seconds, which depends less on other processes than wall time."""
    start = process_time()
    call()
    return process_time() - start


def show_hourly(rows: list[dict[str, Any]]) -> list[str]:
    """Return a table with one line per column."""
    lines = [
        "| column | law | penalty | modes | modes, from statistics | test RMSE before | test RMSE "
        "after | closed-loop radius before | closed-loop radius after | speed-up of "
        "`forecast(10_000)` |",
        "|---|---|---|---|---|---|---|---|---|---|",
    ]
    for row in rows:
        loops = " | ".join(
            "unknown" if radius is None else f"{radius:.6f}" for radius in row["loop"]
        )
        lines.append(
            f"| {row['column']} | {row['law']} | {row['penalty']} | {row['units']} | "
            f"{row['from statistics']} | {row['before']:.5g} | {row['after']:.5g} | {loops} | "
            f"{row['faster']:.1f}× |"
        )
    first = rows[0]
    same = f"{first['before']:.3g}" == f"{first['after']:.3g}"
    slowest = min(row["faster"] for row in rows)
    lines += [
        "",
        f"For {first['column']} with the {first['law']} spectrum and "
        f'`penalty="{first["penalty"]}"`, {first["units"]} of 1000 modes are enough, and the test '
        f"error is {'un' if same else ''}changed to three digits. Forecasts of 10 000 steps are at "
        f"least {slowest:.1f} times faster than before the reduction.",
    ]
    return lines


# Time ---------------------------------------------------------------------------------------------


def time_part(path: Path | None) -> list[dict[str, Any]]:
    """Measure the time of ``reduce`` relative to eigh at N = 1000, and its memory at N = 5000."""
    from scipy.linalg import eigh
    from threadpoolctl import threadpool_limits

    X, y = tasks(0, None)["Mackey–Glass 1"]
    A = np.random.default_rng(0).normal(size=(1000, 1000))
    A = A @ A.T

    def plain() -> Any:
        with threadpool_limits(1):
            return eigh(A)

    rows = []
    for law in LAWS:
        esn = ee.LinearESN(1000, spectrum=law, sr=0.95, standardize=True, warmup=100, seed=0)
        esn.fit(X, y)
        ways: dict[str, Callable[[], Any]] = {
            "eigh": plain,
            "white": lambda esn=esn: esn.model_.reduce(tol=1e-6),
            "statistics": lambda esn=esn: esn.reduce(tol=1e-6),
            "rows": lambda esn=esn: esn.model_.reduce(tol=1e-6, data=(X, y)),
        }
        for call in ways.values():
            call()
        rounds = [[_processor(call) for call in ways.values()] for _ in range(2 * ROUNDS)]
        seconds = dict(zip(ways, np.min(rounds, axis=0).tolist(), strict=True))
        rows.append({"law": law} | {way: seconds[way] / seconds["eigh"] for way in ways})
        rows[-1]["eigh"] = seconds["eigh"]
        print(json.dumps(rows[-1]), flush=True)
    rows.append(_memory(X, y))
    print(json.dumps(rows[-1]), flush=True)
    return rows


def _memory(X: np.ndarray, y: np.ndarray) -> dict[str, Any]:
    """Return the peak memory of ``reduce`` at N = 5000, relative to 4 N² doubles."""
    N = 5000
    drawn = ee.LinearESN(N, sr=0.95, penalty="identity", solver="normal", standardize=True, seed=0)
    model = drawn.fit(X, y).model_
    tracemalloc.start()
    model.reduce(tol=1e-6)
    most = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    return {"law": "golden, N = 5000", "memory": most / (4 * N * N * 8)}


def show_time(rows: list[dict[str, Any]]) -> list[str]:
    """Return a table of time ratios by law."""
    lines = ["| law | white | statistics | 4000 rows |", "|---|---|---|---|"]
    *laws, memory = rows
    for row in laws:
        ways = (f"{row[way]:.1f}" for way in ("white", "statistics", "rows"))
        lines.append(f"| {row['law']} | " + " | ".join(ways) + " |")
    lines += [
        "",
        "Each number is the CPU time of `reduce(tol=1e-6)` for N = 1000, divided by the CPU time "
        f"of `scipy.linalg.eigh` for an N×N matrix ({laws[0]['eigh']:.2f} s on one "
        "thread; fastest of 10 runs). For N = 5000, the peak memory use of `reduce` is "
        f"{memory['memory']:.2f} times the size of 4 N² doubles.",
    ]
    return lines


# Learned spectra ---------------------------------------------------------------------------------


def learnt_part(path: Path | None, seeds: int = 5) -> list[dict[str, Any]]:
    """Compare test errors of learned spectra and laws, tuned over the same radii and ridges."""
    rows = []
    for units in (30, 100):
        for seed in range(seeds):
            for name, (X, y) in tasks(seed, path).items():
                row = {"task": name, "units": units, "seed": seed} | _tuned(X, y, units, seed)
                rows.append(row)
                print(json.dumps(row, ensure_ascii=False), flush=True)
    return rows


def _tuned(X: np.ndarray, y: np.ndarray, units: int, seed: int) -> dict[str, float]:
    cut, errors = int(0.7 * len(X)), {}
    esn = ee.LinearESN(units, standardize=True, penalty="identity", warmup=100, seed=seed)
    for law in (*LAWS, "data"):
        grid = {"spectrum": [law], "sr": RADII, "ridge": RIDGES}
        best = ee.search(esn, grid, X[:cut], y[:cut]).best_estimator
        errors[law] = rms(best.predict(X)[cut:] - y[cut:]) / float(y.std())
    return errors


def show_learnt(cases: list[dict[str, Any]]) -> list[str]:
    """Return a table of medians over seeds, with the ratio to the best law."""
    lines = [
        "| task | units | " + " | ".join(LAWS) + " | from data | ratio to the best law |",
        "|---|---|" + "---|" * (len(LAWS) + 2),
    ]
    for task, units in dict.fromkeys((row["task"], row["units"]) for row in cases):
        rows = [r for r in cases if (r["task"], r["units"]) == (task, units)]
        medians = {law: statistics.median(r[law] for r in rows) for law in (*LAWS, "data")}
        best = min(medians[law] for law in LAWS)
        tie = max(best, medians["data"]) < TIE
        cells = " | ".join(f"{medians[law]:.3g}" for law in (*LAWS, "data"))
        share = "tie" if tie else f"{medians['data'] / best:.3g}"
        lines.append(f"| {task} | {units} | {cells} | {share} |")
    return lines


# The page -----------------------------------------------------------------------------------------

PARTS = {
    "bounds": (bounds, show_bounds),
    "hourly": (hourly_part, show_hourly),
    "time": (time_part, show_time),
    "learnt": (learnt_part, show_learnt),
}


def main() -> int:
    """Run the benchmark."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--only", nargs="+", choices=PARTS, default=list(PARTS))
    parser.add_argument("--hourly", type=Path, help="CSV file such as ETTh1.csv, with a column OT")
    parser.add_argument("--results", type=Path, default=ROOT / "results" / "reduction")
    parser.add_argument("--stored", action="store_true", help="use stored results")
    parser.add_argument(
        "--write", action="store_true", help="write the tables to docs/reduction.md"
    )
    args = parser.parse_args()
    warnings.simplefilter("ignore")
    print(machine("numpy", "scipy"))
    args.results.mkdir(parents=True, exist_ok=True)
    for name in args.only:
        run, show = PARTS[name]
        path = args.results / f"{name}.json"
        if not args.stored:
            path.write_text(json.dumps(run(args.hourly), ensure_ascii=False))
        lines = show(json.loads(path.read_text()))
        print("\n".join(lines))
        if args.write:
            PAGE.write_text(replace_part(PAGE.read_text(), name, lines))
    return 0


if __name__ == "__main__":
    sys.exit(main())
