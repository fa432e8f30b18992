"""Compare forecasts 96 to 720 rows ahead with published results, by their protocol.

``long_horizon.py FOLDER`` reads every table in a folder (``.csv`` or ``.csv.gz`` with a column
``date`` and numeric columns). ETTh tables have 8640 training, 2880 validation and 2880 test rows,
ETTm tables four times as many, and others are split into 70%, 10% and 20%. Columns are standardised
by their training rows. Forecasts start from every origin whose H targets are in the test rows.
Errors are averaged over origins, steps and columns.

``chosen`` is trained on the training rows, with the parameters that are best on the validation
rows, as in published results. ``refitted`` uses the same parameters and is trained on both. Each
fit of eigenecho runs in a new process to measure its memory.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
from pathlib import Path
from time import perf_counter

import numpy as np

from common import machine, memory_in_use, peak_memory, table
from forecasts import shared_ridge
from forecasts.long_tables import Table, read, seasonal_naive_errors, tables

HORIZONS = (96, 192, 336, 720)
BATCH = 256
"""Origins per batch; all of them at once would not fit in memory."""

PUBLISHED = {
    "ETTh1": {
        "published: PatchTST": (0.370, 0.413, 0.422, 0.447),
        "published: SearchCast": (0.369, 0.400, 0.423, 0.430),
        "published: DLinear": (0.375, 0.405, 0.439, 0.472),
    }
}
"""Published MSE at the horizons above."""

ROOT = Path(__file__).resolve().parent.parent


def main() -> int:
    """Run the benchmark."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder", type=Path, help="folder with the tables")
    parser.add_argument("--only", nargs="+", metavar="PART", help="files whose name contains PART")
    parser.add_argument("--horizons", nargs="+", type=int, default=HORIZONS)
    parser.add_argument("--peers-only", action="store_true", help="run only the baselines")
    parser.add_argument("--out", type=Path, default=ROOT / "results" / "long_horizon.json")
    parser.add_argument("--alone", nargs=2, metavar=("FILE", "REFIT"), help=argparse.SUPPRESS)
    args = parser.parse_args()
    if args.alone:
        name, refit = args.alone
        print(json.dumps(ours(read(args.folder / name), args.horizons[0], refit == "refitted")))
        return 0
    files = [path for path in tables(args.folder) if _wanted(path.name, args.only)]
    if not files:
        print(f"No tables in {args.folder}: expected files that end in .csv or .csv.gz.")
        return 2
    print(machine("numpy", "eigenecho"))
    by_table = {}
    for path in files:
        rows = compare(path, args.horizons, not args.peers_only)
        by_table[path.name.split(".")[0]] = rows
        show(path.name.split(".")[0], rows, args.horizons)
        args.out.parent.mkdir(parents=True, exist_ok=True)
        args.out.write_text(json.dumps(by_table, indent=1))
    return 0


def _wanted(name: str, parts: list[str] | None) -> bool:
    return not parts or any(part in name for part in parts)


def compare(path: Path, horizons: list[int], with_ours: bool) -> dict[str, dict[int, dict]]:
    """Return errors, times and memory by method and horizon."""
    data = read(path)
    by_method: dict[str, dict[int, dict]] = {}
    for horizon in horizons:
        results = dict(zip(("ridge, chosen", "ridge, refitted"), ridge(data, horizon), strict=True))
        mse, mae = seasonal_naive_errors(data, horizon)
        results["seasonal naive"] = {"mse": mse, "mae": mae}
        for refit in ("chosen", "refitted") if with_ours else ():
            results[f"eigenecho, {refit}"] = in_fresh_process(path, horizon, refit)
        for method, result in results.items():
            by_method.setdefault(method, {})[horizon] = result
            print(f"{data.name} {horizon} {method}: {_words(result)}", flush=True)
    return by_method


def _words(result: dict) -> str:
    return ", ".join(f"{name} {value:.4g}" for name, value in result.items())


def ridge(data: Table, horizon: int) -> list[dict]:
    """Fit a ridge regression on the last 336 values minus their mean: chosen and refitted."""
    start = perf_counter()
    train = shared_ridge.gather(data.values, 0, data.train, horizon)
    validation = shared_ridge.gather(data.values, data.train, data.validation, horizon)
    alpha = shared_ridge.chosen_ridge(train, validation)
    fits = [(shared_ridge.solution(train, alpha), perf_counter() - start)]
    # Windows that end after the training rows; together with the training windows, all of them.
    rest = shared_ridge.gather(data.values, data.train - horizon + 1, data.validation, horizon)
    fits.append((shared_ridge.solution(train + rest, alpha), perf_counter() - start))
    results = []
    for weights, seconds in fits:
        mse, mae = shared_ridge.errors_within(data.values, data.validation, data.test, weights)
        results.append({"mse": mse, "mae": mae, "ridge": alpha, "seconds": seconds})
    return results


def in_fresh_process(path: Path, horizon: int, refit: str) -> dict:
    """Run ``ours`` in a new process."""
    command = [sys.executable, str(Path(__file__).resolve()), str(path.parent)]
    command += ["--horizons", str(horizon), "--alone", path.name, refit]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        sys.exit(f"{path.name}, {horizon} ahead, {refit}: failed\n{done.stderr}")
    return json.loads(done.stdout.splitlines()[-1])


def ours(data: Table, horizon: int, refit: bool) -> dict:
    """Return the errors of ``Forecaster``, and the time and extra memory (MiB) of its fit."""
    import eigenecho as ee

    training = data.values[: data.validation]
    choose_on = data.validation - data.train
    ee.LinearESN(units=8, seed=0).fit(training[:200, :1], training[:200, :1])  # compiles
    before, start = memory_in_use(), perf_counter()
    forecaster = ee.Forecaster(horizon, validation=choose_on, refit=refit, seed=0).fit(training)
    fitted = perf_counter() - start
    extra = peak_memory() - before
    mse, mae = rolling_errors(forecaster, data, horizon)
    return {"mse": mse, "mae": mae, "seconds": fitted, "MiB": extra}


def rolling_errors(forecaster, data: Table, horizon: int) -> tuple[float, float]:
    """Return the MSE and MAE over all origins of the test rows, in batches.

    The data passed to the forecaster end at the last origin of the batch.
    """
    origins = np.arange(data.validation - 1, data.test - horizon)
    square = absolute = 0.0
    count = 0
    for start in range(0, len(origins), BATCH):
        part = origins[start : start + BATCH]
        forecasts = forecaster.rolling(data.values[: part[-1] + 1], part)
        truth = np.stack([data.values[row + 1 : row + 1 + horizon] for row in part])
        difference = forecasts - truth
        square += float((difference**2).sum())
        absolute += float(np.abs(difference).sum())
        count += difference.size
    return square / count, absolute / count


def show(name: str, results: dict[str, dict[int, dict]], horizons: list[int]) -> None:
    """Print a table of MSE / MAE, and one of the time and memory of fits."""
    print(f"\n{name}, MSE / MAE")
    lines = [
        [method, *(f"{by[h]['mse']:.3f} / {by[h]['mae']:.3f}" for h in horizons)]
        for method, by in results.items()
    ]
    for method, values in PUBLISHED.get(name, {}).items():
        by_horizon = dict(zip(HORIZONS, values, strict=True))
        cells = (f"{by_horizon[h]:.3f}" if h in by_horizon else "" for h in horizons)
        lines.append([method, *cells])
    table(["", *map(str, horizons)], lines)
    timed = {m: by for m, by in results.items() if "seconds" in by[horizons[0]]}
    table(
        ["seconds per fit (MiB)", *map(str, horizons)],
        [[method, *(_cost(by[h]) for h in horizons)] for method, by in timed.items()],
    )


def _cost(result: dict) -> str:
    memory = f" ({result['MiB']:.0f})" if "MiB" in result else ""
    return f"{result['seconds']:.2f}{memory}"


if __name__ == "__main__":
    sys.exit(main())
