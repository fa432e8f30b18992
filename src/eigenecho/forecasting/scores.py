"""Measures of forecasts, by method, from a table of forecasts and what came."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from eigenecho.types import Array

MEASURES = ("mae", "rmse", "mase", "smape", "coverage", "interval_score")
"""Columns of a table of scores."""

OURS = "forecast"
"""The column of our own forecasts."""


def scores(
    rows: Any, methods: Sequence[str], scale: Array, interval: float, by: str | None = None
) -> Any:
    """A DataFrame of measures, a row for each method; rows without a truth count in none.

        mae = mean |e|,   rmse = √ mean e²,   mase = mean |e| / scale,   e = y − forecast
        smape = 200 · mean |e| / (|y| + |forecast|)
        coverage = mean [lower ≤ y ≤ upper]
        interval_score = mean upper − lower + 2/α max(lower − y, y − upper, 0),  α = 1 − interval

    The last is Winkler's: the true quantiles have the smallest.

    Parameters
    ----------
    rows : DataFrame (n rows) of y, one column for each method, lower and upper
    scale : array (n,)
        NaN where nothing is known of it.
    interval : float
        The share of rows that bounds shall hold.
    by : str, optional
        A column: a row for each of its values and each method.
    """
    import pandas

    tables = {}
    for method in methods:
        bounds = (rows["lower"], rows["upper"]) if method == OURS else None
        terms = _terms(rows["y"], rows[method], scale, bounds, interval)
        found = terms.groupby(rows[by], sort=False).mean() if by else terms.mean().to_frame().T
        tables[method] = found.assign(rmse=np.sqrt(found["rmse"]))
    if by is None:
        index = pandas.Index(list(methods), name="method")
        return pandas.concat(list(tables.values())).set_axis(index)
    stacked = pandas.concat(tables, names=["method"]).swaplevel()
    keys = list(next(iter(tables.values())).index)
    order = pandas.MultiIndex.from_product([keys, list(methods)], names=[by, "method"])
    return stacked.reindex(order)


def _terms(y: Any, made: Any, scale: Array, bounds: Any, interval: float) -> Any:
    """What the measures are means of, row by row; NaN where there is no truth."""
    import pandas

    size = (y - made).abs()
    total = y.abs() + made.abs()
    terms = {
        "mae": size,
        "rmse": size**2,
        "mase": size / scale,
        # Where both are 0 there is no error.
        "smape": 200 * size / total.where(total != 0, 1.0),
        "coverage": np.nan,
        "interval_score": np.nan,
    }
    if bounds is not None:
        lower, upper = bounds
        missed = np.maximum(np.maximum(lower - y, y - upper), 0.0)
        there = missed.notna()
        terms["coverage"] = (missed == 0).astype(float).where(there)
        terms["interval_score"] = upper - lower + 2 / (1 - interval) * missed
    return pandas.DataFrame(terms, index=y.index)
