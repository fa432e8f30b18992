"""Measure the accuracy of forecasts on folders of real series and on simulated panels.

    python benchmarks/accuracy.py FOLDER --label before
    python benchmarks/accuracy.py FOLDER --label after --against before

Forecasts are made from several origins at the end of each series, from the rows before them. They
are stored in ``results/accuracy/LABEL``, one file per panel, so an interrupted run can be resumed,
and a label identifies a version of the code. Other methods (``--methods``) have their own labels.

A folder may contain

- ``NAME.json[.gz]``, ``{SERIES: {"kind", "y", "seasons", "horizon", "known"}, …}``: each series is
  forecast alone. ``known`` maps names to columns that are known ahead.
- ``NAME.json[.gz]``, ``{PERIOD: {"train": [[…], …], "test": [[…], …]}, …}``: the series of a
  period are forecast as one panel.
- ``NAME.csv[.gz]``, a column of dates and a column per series: one panel.

A third of the series, selected by a hash of their names, is held back. It is used only with
``--held-back``, for reports. Errors are divided by those of the seasonal naive forecast from the
same origins. The table contains the geometric mean over series, and the bounds of its 90% interval
from 1000 bootstrap samples of the series.
"""

from __future__ import annotations

import argparse
import csv
import gzip
import hashlib
import json
import sys
import time
import warnings
from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from datetime import datetime
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from common import table
from forecasts.methods import COVERAGE, METHODS, PEERS
from forecasts.panel_sets import PERIODS
from forecasts.protocol import fill_gaps
from forecasts.simulated import SIMULATIONS, Arrays, Panel

STORE = Path(__file__).resolve().parent.parent / "results" / "accuracy"
MOST_ROWS = 9000
"""Maximum number of rows of a series; earlier rows are not used."""
HELD_BACK = 3
"""One in this many series is held back."""
SEEDS = {False: range(3), True: range(100, 105)}
"""Seeds of the simulations, for design choices and held back."""


# Panels ------------------------------------------------------------------------------------------


def is_held_back(name: str) -> bool:
    """Return True if a series is kept for reports."""
    return int(hashlib.sha256(name.encode()).hexdigest(), 16) % HELD_BACK == 0


def read_panels(folder: Path, held_back: bool) -> Iterator[Panel]:
    """Read the panels of a folder, with the held back series or all others."""

    def is_used(name: str) -> bool:
        return is_held_back(name) == held_back

    for path in sorted(folder.iterdir()):
        name, *kind = path.name.split(".")
        if kind[:1] not in (["json"], ["csv"]):
            continue
        opened = gzip.open if path.suffix == ".gz" else open
        with opened(path, "rt", encoding="utf-8") as file:
            data = json.load(file) if kind[0] == "json" else list(csv.reader(file))
        if kind[0] == "csv":
            yield from _of_table(name, data, is_used)
            continue
        for key, entry in data.items():
            if "train" in entry:
                yield _of_competition(f"{name} {key.lower()}", key, entry, is_used)
            elif is_used(key):
                y = np.array(entry["y"], float)[-MOST_ROWS:]
                known = np.array([*entry.get("known", {}).values()], float).T[-MOST_ROWS:]
                seasons = tuple(entry["seasons"])
                columns = [known] if known.size else None
                group, horizon = f"real {entry['kind']}", entry["horizon"]
                yield Panel(f"{name} {key}", group, horizon, seasons, [y], columns, origins=2)


def _of_competition(name: str, period: str, entry: Any, is_used: Callable[[str], bool]) -> Panel:
    pairs = zip(entry["train"], entry["test"], strict=True)
    y = [np.array(a + b, float) for i, (a, b) in enumerate(pairs) if is_used(f"{name} {i}")]
    season, horizon = PERIODS[period].season, len(entry["test"][0])
    return Panel(name, name, horizon, (season,) * (season > 1), y, origins=1)


def _of_table(name: str, rows: list[list[str]], is_used: Callable[[str], bool]) -> Iterator[Panel]:
    (head, *rows), dates = rows, [datetime.fromisoformat(_iso(row[0])) for row in rows[1:3]]
    is_hourly = (dates[1] - dates[0]).total_seconds() < 86400
    values = np.array([[float(cell) for cell in row[1:]] for row in rows])[-MOST_ROWS:]
    used = [j for j, column in enumerate(head[1:]) if is_used(f"{name} {column}")]
    horizon, seasons = (48, (24, 168)) if is_hourly else (14, (7,))
    if used:
        y = [values[:, j] for j in used]
        yield Panel(name, name, horizon, seasons, y, origins=4)


def _iso(date: str) -> str:
    day, _, clock = date.replace("/", "-").partition(" ")
    year, month, number = day.split("-")
    hour = (clock or "0:00").split(":")[0]
    return f"{year}-{int(month):02}-{int(number):02}T{int(hour):02}:00"


# Methods -----------------------------------------------------------------------------------------


class Forecasts(NamedTuple):
    """Forecasts of a panel from one origin, (H,) for each series.

    mean, lower, upper   forecasts, and the bounds of their 90% intervals or None
    without              forecasts for the known columns without events, or None
    """

    mean: Arrays
    lower: Arrays | None = None
    upper: Arrays | None = None
    without: Arrays | None = None


Array = np.ndarray
Method = Callable[[Panel, Sequence[int]], Forecasts]
NAIVE = "seasonal naive"


def forecaster(panel: Panel, cuts: Sequence[int]) -> Forecasts:
    """Forecast all series of a panel by one ``Forecaster``, given the seasons."""
    import eigenecho as ee

    y = [values[:n] for values, n in zip(panel.y, cuts, strict=True)]
    X, ahead, without = None, None, None
    if panel.known is not None:
        X, ahead = _split(panel.known, cuts, panel.horizon)
    fitted = ee.Forecaster(panel.horizon, seasons=panel.seasons or None).fit(y, X)
    result = fitted.predict(X=ahead, interval=COVERAGE)
    if panel.without is not None:
        without = fitted.predict(X=_split(panel.without, cuts, panel.horizon)[1])
    mean, lower, upper = map(list, zip(*result, strict=True))
    return Forecasts(mean, lower, upper, without)


def _split(columns: Arrays, cuts: Sequence[int], horizon: int) -> tuple[Arrays, Arrays]:
    pairs = list(zip(columns, cuts, strict=True))
    return [X[:n] for X, n in pairs], [X[n : n + horizon] for X, n in pairs]


def ridge_on_inputs(panel: Panel, cuts: Sequence[int]) -> Forecasts:
    """Forecast each series by a ridge regression on its lags and on the known columns ahead."""
    forecasts = []
    for i, n in enumerate(cuts):
        lags = max(1, min(max(panel.seasons, default=12), n // 4, 200))
        columns = [None if X is None else X[i] for X in (panel.known, panel.without)]
        forecasts.append(_forecast_by_ridge(panel.y[i][:n], columns, lags, panel.horizon))
    mean, without = map(list, zip(*forecasts, strict=True))
    return Forecasts(mean, without=None if panel.without is None else without)


def _forecast_by_ridge(
    values: Array, columns: Sequence[Array | None], lags: int, horizon: int
) -> list[Array | None]:
    """Return forecasts (H,) with the columns of the fit, which are the first, and with others."""
    y, steps = fill_gaps(values), np.arange(1, horizon + 1)

    def inputs(X: Array | None, t: Array) -> Array:
        past = y[t[:, None] - np.arange(lags)] - y[t, None]
        if X is None:
            return past
        ahead = X[len(values) - len(y) + t[:, None] + steps]
        return np.hstack([past, ahead.reshape(len(t), -1)])

    t, last = np.arange(lags - 1, len(y) - horizon), np.array([len(y) - 1])
    predict = _ridge(inputs(columns[0], t), y[t[:, None] + steps] - y[t, None])
    first = y[-1] + predict(inputs(columns[0], last))[0]
    return [
        first,
        *(None if X is None else y[-1] + predict(inputs(X, last))[0] for X in columns[1:]),
    ]


def _ridge(X: Array, Y: Array) -> Callable[[Array], Array]:
    """Fit a ridge regression, with the penalty that is best on the last fifth of the rows."""
    mean, scale, middle = X.mean(axis=0), X.std(axis=0) + 1e-9, max(1, int(0.8 * len(X)))

    def fit(rows: int, ridge: float) -> Callable[[Array], Array]:
        x, centre = (X[:rows] - mean) / scale, Y[:rows].mean(axis=0)
        W = np.linalg.solve(x.T @ x + ridge * np.eye(x.shape[1]), x.T @ (Y[:rows] - centre))
        return lambda new: (new - mean) / scale @ W + centre

    def error(ridge: float) -> float:
        return float(np.abs(fit(middle, ridge)(X[middle:]) - Y[middle:]).sum())

    return fit(len(X), min((1.0, 10.0, 100.0, 1000.0, 1e4), key=error))


def of_one_series(method: Callable[[Array, int, int], Any]) -> Method:
    """Return a method that forecasts the series of a panel one by one."""

    def forecast(panel: Panel, cuts: Sequence[int]) -> Forecasts:
        results = []
        for values, n in zip(panel.y, cuts, strict=True):
            y = fill_gaps(values[:n])
            seasons = [season for season in panel.seasons if 3 * season <= n]
            results.append(method(y, panel.horizon, min(seasons, default=1)))
        columns = ([getattr(r, name) for r in results] for name in ("mean", "lower", "upper"))
        mean, lower, upper = ([*c] if c[0] is not None else None for c in columns)
        return Forecasts(mean, lower, upper)

    return forecast


def all_methods() -> dict[str, Method]:
    """Return the methods by name; all but the first three are of other libraries or simple."""
    peers = {name: of_one_series(METHODS[name]) for name in PEERS}
    return {"eigenecho": forecaster, "ridge on inputs": ridge_on_inputs, **peers}


# Running and storing -----------------------------------------------------------------------------


def cuts_of(panel: Panel) -> list[list[int]]:
    """Return the number of rows of each series before each origin, the last origin first.

    The origins are one horizon apart. Every series keeps at least two horizons and eight rows.
    """
    shortest = min(len(values) for values in panel.y)
    most = (shortest - max(2 * panel.horizon, 8)) // panel.horizon
    counts = range(1, max(1, min(panel.origins, most)) + 1)
    return [[len(values) - k * panel.horizon for values in panel.y] for k in counts]


def run(panel: Panel, method: Method, path: Path) -> None:
    """Forecast a panel from all of its origins, and store the results unless the file exists."""
    if path.exists():
        return
    stored, seconds = defaultdict(list), 0.0
    for cuts in cuts_of(panel):
        began = time.process_time()
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            forecasts = method(panel, cuts)
        seconds += time.process_time() - began
        for name, results in forecasts._asdict().items():
            if results is not None:
                stored[name].append(np.array(results, float))
    path.parent.mkdir(parents=True, exist_ok=True)
    half = path.with_suffix(".half")
    with half.open("wb") as file:
        np.savez(file, seconds=seconds, **{name: np.array(x) for name, x in stored.items()})
    half.replace(path)


# Scores ------------------------------------------------------------------------------------------


def score(panel: Panel, path: Path) -> list[dict[str, float]]:
    """Return the scores of each series, averaged over all origins.

    Scores with the suffix " of naive" are of the seasonal naive forecast. The ``effect`` is the
    estimated effect of the events divided by the true one, by regression.
    """
    with np.load(path) as file:
        stored = dict(file)
    scores, every = [], cuts_of(panel)
    for i, values in enumerate(panel.y):
        rows = np.array([np.arange(cuts[i], cuts[i] + panel.horizon) for cuts in every])
        truth = (values if panel.truth is None else panel.truth[i])[rows]
        errors = np.abs(stored["mean"][:, i] - truth)
        naive = METHODS[NAIVE]
        season = next((m for m in panel.seasons if 3 * m <= every[-1][i]), 1)
        rough = [naive(fill_gaps(values[: c[i]]), panel.horizon, season).mean for c in every]
        unit = float(np.nanmean(np.abs(np.array(rough) - truth))) or np.nan
        events = np.zeros(rows.shape, bool) if panel.events is None else panel.events[i][rows]
        one = {
            "mase": float(np.nanmean(errors)) / unit,
            "seconds": stored["seconds"] / len(panel.y),
        }
        if events.any():
            one["on events"] = float(np.nanmean(errors[events])) / unit
        if "lower" in stored:
            low, high = stored["lower"][:, i], stored["upper"][:, i]
            missed = np.maximum(np.maximum(low - truth, truth - high), 0.0)
            inside = np.where(np.isnan(truth), np.nan, missed == 0)
            one["coverage"] = float(np.nanmean(inside))
            one["interval"] = float(np.nanmean(high - low + 2 / (1 - COVERAGE) * missed)) / unit
            if events.any():
                one["covered events"] = float(np.nanmean(inside[events]))
        if "without" in stored and panel.effect is not None:
            effect = panel.effect[i][rows]
            one["estimated"] = float(np.sum((stored["mean"] - stored["without"])[:, i] * effect))
            one["true"] = float(np.sum(effect**2))
        scores.append(one)
    return scores


MEASURES = ("mase", "on events", "effect", "interval", "coverage", "covered events", "seconds")
LOGARITHMIC = ("mase", "on events", "interval")
"""Measures that are combined by the geometric mean."""
DRAWS = 1000


def combine(scores: Sequence[dict[str, float]], measure: str) -> Array:
    """Return the mean of a measure over all series, and over bootstrap samples, (1 + DRAWS,)."""
    keys = ("estimated", "true") if measure == "effect" else (measure,)
    values = np.array([[s[k] for k in keys] for s in scores if keys[0] in s])
    values = values[np.isfinite(values).all(axis=1)] if values.size else values
    if not values.size:
        return np.full(1 + DRAWS, np.nan)
    picks = np.random.default_rng(0).integers(len(values), size=(DRAWS, len(values)))
    picks = np.concatenate([np.arange(len(values))[None], picks])
    if measure == "effect":
        estimated, true = values[picks].sum(axis=1).T
        return estimated / np.where(true > 0, true, np.nan)
    if measure in LOGARITHMIC:
        return np.exp(np.log(np.maximum(values[:, 0], 1e-6))[picks].mean(axis=1))
    return values[picks, 0].mean(axis=1)


def rows_of(scores: Any, labels: Sequence[str], against: str | None) -> Iterator[list[Any]]:
    """Yield the rows of the table: scores[label][group] are the scores of each series."""
    for group in scores[labels[0]]:
        for label in labels:
            own = scores[label][group]
            cells = [_cell(combine(own, m), m in ("mase", "effect")) for m in MEASURES]
            if against is not None:
                ratios = [
                    {"mase": a["mase"] / b["mase"]}
                    for a, b in zip(own, scores[against][group], strict=True)
                ]
                cells.append(_cell(combine(ratios, "mase"), True) if label != against else "")
            yield [group, label, len(own), *cells]


def _cell(values: Array, has_bounds: bool) -> str:
    if np.isnan(values[0]):
        return ""
    low, high = np.nanquantile(values, [0.05, 0.95])
    return f"{values[0]:.3f}" + f" [{low:.3f}, {high:.3f}]" * has_bounds


def main() -> int:
    """Run the methods on all panels and print the table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folders", type=Path, nargs="*", help="folders of real series")
    parser.add_argument("--methods", nargs="+", default=["eigenecho"], choices=all_methods())
    parser.add_argument("--label", default="eigenecho", help="label of eigenecho in this version")
    parser.add_argument("--against", nargs="*", default=[], help="stored labels to compare with")
    parser.add_argument("--only", help="use only panels whose name contains this text")
    parser.add_argument("--held-back", action="store_true", help="use the series held back")
    args = parser.parse_args()
    panels = [panel for folder in args.folders for panel in read_panels(folder, args.held_back)]
    panels += [make(seed) for seed in SEEDS[args.held_back] for make in SIMULATIONS]
    panels = [panel for panel in panels if args.only is None or args.only in panel.name]
    labels = {args.label if name == "eigenecho" else name: name for name in args.methods}
    scores = {name: defaultdict(list) for name in (*labels, *args.against)}
    for count, panel in enumerate(panels, 1):
        print(f"\r{count} of {len(panels)}: {panel.name:40}", end="", file=sys.stderr)
        for label, by_group in scores.items():
            path = STORE / label.replace(" ", "-") / f"{panel.name.replace(' ', '-')}.npz"
            if label in labels:
                run(panel, all_methods()[labels[label]], path)
            by_group[panel.group] += score(panel, path)
    print(file=sys.stderr)
    heads = ["group", "method", "series", *MEASURES]
    against = args.against[0] if args.against else None
    table(
        [*heads, f"mase / {against}"] if against else heads, rows_of(scores, list(scores), against)
    )
    return 0


if __name__ == "__main__":
    sys.exit(main())
