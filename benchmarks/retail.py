"""Forecast a simulated panel of 300 daily series with discounts, late starts and gaps.

    retail.py                # prints the table
    retail.py --write        # updates docs/public-panels.md too
    retail.py --settings     # compares settings of LightGBM on another panel

The panel is that of the gallery example ``plot_retail.py``. Each method is refitted at three
origins and forecasts the next 28 days. eigenecho and LightGBM are given the planned discounts.

LightGBM forecasts recursively through mlforecast. Its features are lags, rolling means, the day of
the week and of the year, the discount and the shop. Its settings are the best of ``SETTINGS`` on a
panel with another seed; a second row shows it without transformations of the sales. Its intervals
are conformal. mlforecast and statsforecast do not accept gaps, which are filled by the last value
on the same day of the week; LightGBM is not trained on filled rows. Forecasts are stored in
``results/retail``, so an interrupted run can be resumed.

``make bench-retail`` installs the other libraries into ``.venv-peers`` and runs this script.
"""

# ruff: noqa: E402
from __future__ import annotations

import os

for variable in ("EIGENECHO", "OPENBLAS", "MKL", "OMP", "NUMBA"):  # read by libraries on import
    os.environ.setdefault(f"{variable}_NUM_THREADS", "1")

import argparse
import ast
import sys
import warnings
from collections.abc import Callable, Sequence
from functools import partial
from importlib.metadata import version
from pathlib import Path
from time import process_time
from typing import Any

import numpy as np
import pandas as pd

from common import machine, replace_part
from forecasts.store import slug
from suite.machine import source_digest

ROOT = Path(__file__).resolve().parent.parent
GALLERY = ROOT / "docs" / "gallery" / "plot_retail.py"
PAGE = ROOT / "docs" / "public-panels.md"

SEED, OTHER_SEED = 0, 1
HORIZON, ORIGINS, SEASON, PERCENT = 28, 3, 7, 90
WINDOWS = 4
"""Number of horizons before the origin that calibrate the intervals of LightGBM."""
NAMES = {"id_col": "shop", "time_col": "day", "target_col": "sales"}

SETTINGS = {
    f"{', '.join(transforms) or 'sales'}, {trees} trees": (transforms, trees)
    for transforms in ((), ("scaled",), ("logarithms",), ("logarithms", "scaled"))
    for trees in (200, 600)
}
"""Settings of LightGBM: transformations of the sales and the number of trees."""
BEST, PLAIN = "logarithms, scaled, 600 trees", "sales, 200 trees"

Simulator = Callable[..., tuple[pd.DataFrame, pd.DataFrame]]
"""Returns the table of sales and the table of planned discounts."""


def main(words: Sequence[str] | None = None) -> int:
    """Run the benchmark."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--methods", nargs="+", choices=METHODS, default=list(METHODS))
    parser.add_argument("--series", type=int, default=300, metavar="N", help="number of series")
    parser.add_argument("--settings", action="store_true", help="compare settings of LightGBM")
    parser.add_argument("--write", action="store_true", help="update docs/public-panels.md")
    parser.add_argument("--results", type=Path, default=ROOT / "results" / "retail",
                        help="folder of stored forecasts")  # fmt: skip
    args = parser.parse_args(words)
    if args.settings:
        sales, plan = load_simulator()(OTHER_SEED, series=args.series)
        for name in SETTINGS:
            scores = [evaluate(gradient_boosting(*split, name), *split) for split in
                      splits(sales, plan)]  # fmt: skip
            print(f"{name}: MASE {np.mean([score['MASE'] for score in scores]):.3f}", flush=True)
        return 0
    lines = table(args)
    print(*lines, sep="\n")
    if args.write:
        text = replace_part(PAGE.read_text(encoding="utf-8"), "retail", lines)
        PAGE.write_text(text, encoding="utf-8")
    return 0


def load_simulator() -> Simulator:
    """Return the function ``simulate`` of the gallery example, without running the example."""
    tree = ast.parse(GALLERY.read_text(encoding="utf-8"))
    parts = (ast.Import, ast.ImportFrom, ast.FunctionDef)
    tree.body = [node for node in tree.body if isinstance(node, parts)]
    names: dict[str, Any] = {}
    exec(compile(tree, GALLERY, "exec"), names)
    return names["simulate"]


Split = tuple[pd.DataFrame, pd.DataFrame, pd.DataFrame]
"""Sales before an origin, discounts until the end of the horizon, and sales after the origin."""


def splits(sales: pd.DataFrame, plan: pd.DataFrame) -> list[Split]:
    """Return the tables of each origin; the last horizon ends with the last day."""
    days = np.sort(plan["day"].unique())
    result = []
    for origin in range(len(days) - ORIGINS * HORIZON, len(days), HORIZON):
        first, last = days[origin], days[origin + HORIZON - 1]
        future = sales[(sales["day"] >= first) & (sales["day"] <= last)]
        result.append((sales[sales["day"] < first], plan[plan["day"] <= last], future))
    return result


# Methods: each returns the columns shop, day, forecast, lower and upper.


def eigenecho(past: pd.DataFrame, plan: pd.DataFrame, future: pd.DataFrame) -> pd.DataFrame:
    """Forecast by ``Forecaster``, which accepts gaps and late starts."""
    import eigenecho as ee

    forecaster = ee.Forecaster(HORIZON, id="shop", time="day", target="sales").fit(past, plan)
    return forecaster.predict(X=plan, interval=PERCENT / 100)


def gradient_boosting(
    past: pd.DataFrame, plan: pd.DataFrame, future: pd.DataFrame, setting: str = BEST
) -> pd.DataFrame:
    """Forecast by LightGBM through mlforecast."""
    from lightgbm import LGBMRegressor
    from mlforecast import MLForecast
    from mlforecast.lag_transforms import RollingMean
    from mlforecast.target_transforms import GlobalSklearnTransformer, LocalStandardScaler
    from mlforecast.utils import PredictionIntervals
    from sklearn.preprocessing import FunctionTransformer

    logarithms = GlobalSklearnTransformer(FunctionTransformer(np.log1p, np.expm1))
    kinds = {"logarithms": logarithms, "scaled": LocalStandardScaler()}
    transforms, trees = SETTINGS[setting]
    model = LGBMRegressor(
        n_estimators=trees, learning_rate=0.05, random_state=0, num_threads=1, verbosity=-1
    )
    week, month = (RollingMean(rows, min_samples=1) for rows in (7, 28))
    forecaster = MLForecast(
        {"forecast": model},
        freq="D",
        lags=[1, 2, 3, 7, 14, 21, 28],
        lag_transforms={1: [week, month], 7: [month]},
        date_features=["dayofweek", "dayofyear"],
        target_transforms=[kinds[name] for name in transforms],
    )
    rows = filled(past).merge(plan, on=["shop", "day"])
    rows["number"] = rows["shop"].astype("category")
    forecaster.fit(
        rows,
        **NAMES,
        static_features=["number"],
        weight_col="weight",
        prediction_intervals=PredictionIntervals(n_windows=WINDOWS, h=HORIZON),
    )
    ahead = plan[plan["day"] > past["day"].max()]
    return _renamed(forecaster.predict(HORIZON, X_df=ahead, level=[PERCENT]), "forecast")


def exponential_smoothing(
    past: pd.DataFrame, plan: pd.DataFrame, future: pd.DataFrame
) -> pd.DataFrame:
    """Forecast by AutoETS, without the discounts."""
    from statsforecast.models import AutoETS

    return _by_statsforecast(AutoETS(season_length=SEASON, alias="forecast"), past)


def seasonal_naive(past: pd.DataFrame, plan: pd.DataFrame, future: pd.DataFrame) -> pd.DataFrame:
    """Repeat the last week."""
    from statsforecast.models import SeasonalNaive

    return _by_statsforecast(SeasonalNaive(season_length=SEASON, alias="forecast"), past)


METHODS: dict[str, Callable[..., pd.DataFrame]] = {
    "eigenecho": eigenecho,
    "LightGBM": gradient_boosting,
    "LightGBM, untransformed sales": partial(gradient_boosting, setting=PLAIN),
    "AutoETS": exponential_smoothing,
    "seasonal naive": seasonal_naive,
}
PACKAGES = {
    "LightGBM": ("mlforecast", "lightgbm"),
    "LightGBM, untransformed sales": ("mlforecast", "lightgbm"),
    "AutoETS": ("statsforecast",),
    "seasonal naive": ("statsforecast",),
}


def _by_statsforecast(model: Any, past: pd.DataFrame) -> pd.DataFrame:
    from statsforecast import StatsForecast

    rows = filled(past).drop(columns="weight")
    made = StatsForecast([model], freq="D").forecast(HORIZON, rows, **NAMES, level=[PERCENT])
    return _renamed(made, "forecast")


def _renamed(made: pd.DataFrame, name: str) -> pd.DataFrame:
    return made.rename(columns={f"{name}-lo-{PERCENT}": "lower", f"{name}-hi-{PERCENT}": "upper"})


def filled(past: pd.DataFrame) -> pd.DataFrame:
    """Fill gaps by the last value on the same day of the week, or else by the next value.

    These rows have a weight of 0.
    """
    weekdays = past.groupby([past["shop"], past["day"].dt.day_of_week])["sales"]
    values = weekdays.ffill().groupby(past["shop"]).bfill()  # a gap in the first week
    return past.assign(sales=values, weight=past["sales"].notna().astype(float))


# Scores


def table(args: argparse.Namespace) -> list[str]:
    """Make the forecasts that are not stored yet and return the lines of the table."""
    sales, plan = load_simulator()(SEED, series=args.series)
    packages = {name for method in args.methods for name in PACKAGES.get(method, ())}
    lines = [
        f"| {args.series} series, {ORIGINS} origins | MASE | coverage of {PERCENT}% intervals "
        "| mean width of intervals | CPU seconds per origin |",
        "|---|---:|---:|---:|---:|",
    ]
    for method in args.methods:
        scores = [evaluate(run(method, split, args), *split) for split in splits(sales, plan)]
        score = {name: float(np.mean([s[name] for s in scores])) for name in scores[0]}
        label = f"**{method}**" if method == "eigenecho" else method
        lines.append(f"| {label} | {score['MASE']:.3f} | {score['coverage']:.1%} "
                     f"| {score['width']:.2f} | {score['seconds']:.2g} |")  # fmt: skip
    return [*lines, "", f"Measured on {machine('eigenecho', *sorted(packages))}."]


def run(method: str, split: Split, args: argparse.Namespace) -> pd.DataFrame:
    """Return stored forecasts, or make and store them with their time."""
    *_, future = split
    packages = PACKAGES.get(method)
    made_by = "-".join(map(version, packages)) if packages else source_digest()
    day = f"{future['day'].min():%Y-%m-%d}"
    path = args.results / f"{slug(method)}-{args.series}-{day}-{made_by}.csv"
    if path.exists():
        return pd.read_csv(path, parse_dates=["day"])
    print(f"{method}: {day}", file=sys.stderr, flush=True)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        METHODS[method](*(part[part["shop"] < "shop 003"] for part in split))  # compiles
        start = process_time()
        forecasts = METHODS[method](*split)
        forecasts["seconds"] = process_time() - start
    path.parent.mkdir(parents=True, exist_ok=True)
    forecasts.to_csv(path, index=False)
    return forecasts


def evaluate(
    forecasts: pd.DataFrame, past: pd.DataFrame, plan: pd.DataFrame, future: pd.DataFrame
) -> dict[str, float]:
    """Return the MASE and the coverage, width and time of forecasts.

    Errors and widths of a series are divided by its mean step from week to week before the origin,
    and averaged over series. Days without sales to compare with are left out.
    """
    steps = past.pivot(index="day", columns="shop", values="sales").diff(SEASON).abs().mean()
    rows = future.dropna(subset="sales").merge(forecasts, on=["shop", "day"], validate="1:1")
    if len(rows) < future["sales"].count():
        raise ValueError("some days have no forecast")
    rows["error"] = (rows["sales"] - rows["forecast"]).abs()
    rows["width"] = rows["upper"] - rows["lower"]
    relative = rows.groupby("shop")[["error", "width"]].mean().div(steps, axis=0).mean()
    covered = rows["sales"].between(rows["lower"], rows["upper"])
    return {
        "MASE": float(relative["error"]),
        "coverage": float(covered.mean()),
        "width": float(relative["width"]),
        "seconds": float(forecasts.get("seconds", pd.Series([np.nan])).mean()),
    }


if __name__ == "__main__":
    sys.exit(main())
