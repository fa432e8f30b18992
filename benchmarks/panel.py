"""A ``Forecaster`` fits a thousand series of a thousand rows within 2 GiB.

The series are simulated with seasons, trends and noise. A new process fits them and forecasts 48
rows ahead, and its peak resident memory is measured. The error is compared with that of the
seasonal naive baseline (24 rows).
"""

from __future__ import annotations

import argparse
import json
import sys
from pathlib import Path
from time import perf_counter

import numpy as np

from common import at_most, machine, output_of, peak_memory, table, verdict
from forecasts.drawn import panel

DAY = 24


def main() -> int:
    """Run the benchmark."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--series", type=int, default=1000)
    parser.add_argument("--rows", type=int, default=1000)
    parser.add_argument("--horizon", type=int, default=48)
    parser.add_argument("--at-most", type=float, default=2048.0, help="goal in MiB")
    parser.add_argument("--forms", nargs="+", default=["table", "list"], choices=["table", "list"],
                        help="one array with a column per series, or a list of series")  # fmt: skip
    parser.add_argument("--alone", metavar="FORM", help="measure one form in this process")
    args = parser.parse_args()
    if args.alone:
        print(json.dumps(measure(args.series, args.rows, args.horizon, args.alone)))
        return 0
    print(machine("eigenecho", "numpy"))
    print(f"{args.series} series of {args.rows} rows, {args.horizon} ahead\n")
    rows = {form: in_fresh_process(args, form) for form in args.forms}
    table(
        ["", "fit s", "predict s", "peak MiB", "error / seasonal naive"],
        [[form, *(row[key] for key in ("fit", "predict", "peak", "error"))]
         for form, row in rows.items()],
    )  # fmt: skip
    peak = max(row["peak"] for row in rows.values())
    return verdict({at_most("memory of fit and predict", args.at_most, "MiB"): peak})


def in_fresh_process(args: argparse.Namespace, form: str) -> dict:
    """Run ``measure`` in a new process."""
    command = [sys.executable, str(Path(__file__).resolve()), "--alone", form]
    for name in ("series", "rows", "horizon"):
        command += [f"--{name}", str(getattr(args, name))]
    return json.loads(output_of(command).splitlines()[-1])


def measure(series: int, rows: int, horizon: int, form: str) -> dict:
    """Return the time, peak memory (MiB) and error of one fit and one forecast."""
    import eigenecho as ee

    values = panel(series, rows + horizon)
    training, truth = values[:rows], values[rows:]
    y = list(training.T.copy()) if form == "list" else training
    start = perf_counter()
    forecaster = ee.Forecaster(horizon, seed=0).fit(y)
    fitted = perf_counter()
    predicted = forecaster.predict()
    done = perf_counter()
    forecast = np.column_stack(predicted) if form == "list" else np.asarray(predicted)
    return {
        "fit": fitted - start,
        "predict": done - fitted,
        "peak": peak_memory(),
        "error": relative_error(training, truth, forecast),
    }


def relative_error(training: np.ndarray, truth: np.ndarray, forecast: np.ndarray) -> float:
    """Return the geometric mean over series of the error relative to seasonal naive."""
    naive = np.resize(training[-DAY:], truth.shape)
    ratios = np.abs(forecast - truth).mean(axis=0) / np.abs(naive - truth).mean(axis=0)
    return float(np.exp(np.log(ratios).mean()))


if __name__ == "__main__":
    sys.exit(main())
