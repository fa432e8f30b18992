"""A backtest: forecasts from past origins, compared with naive forecasts and the true values."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from functools import cached_property
from html import escape
from typing import TYPE_CHECKING, Any

import numpy as np

from eigenecho import plots
from eigenecho.checks import check_known
from eigenecho.data.clock import texts
from eigenecho.pages import aligned
from eigenecho.types import Array

if TYPE_CHECKING:
    from matplotlib.figure import Figure

OURS = "forecast"
"""Column of our own forecasts."""

MEASURES = ("mae", "rmse", "mase", "smape", "coverage", "interval_score")
"""Columns of a table of scores; all methods have the first four."""

NAMES = {"mae": "mean absolute error", "mase": "mean scaled error (mase)"}

BESIDE = ("unique_id", "cutoff", "step", "ds", "y", "lower", "upper")
"""Columns of errors that are not forecasts of a method."""


@dataclass(frozen=True, eq=False, repr=False)
class Backtest:
    """Forecasts from past origins, ours and naive ones.

    Attributes
    ----------
    errors : DataFrame
        A row for each series, origin and step: ``unique_id``; ``cutoff``, the time of the origin;
        ``step``, 1 … H; ``ds``, the time; ``y``, the true value, NaN where nothing was observed;
        ``forecast``, ours; a column for each naive forecast; ``lower``, ``upper``.
    series : DataFrame
        All rows: ``unique_id``, ``ds``, ``y``.
    scale : array (rows of errors,)
        Mean absolute change over a season in the rows before the origin, the unit of ``mase``.
    interval : float
        Nominal coverage of the prediction intervals.
    season : int
        Season of the naive forecasts and ``mase``, in rows; 1 for none.
    origins, planned : int
        Number of finished and of requested origins, which differ after an interruption.

    See Also
    --------
    eigenecho.Forecaster : ``backtest`` creates one
    eigenecho.plots.backtest : draws it

    Examples
    --------
    >>> import eigenecho as ee
    >>> import numpy as np
    >>> y = np.sin(2 * np.pi * np.arange(96) / 12) + np.random.default_rng(0).normal(0, 0.1, 96)
    >>> tested = ee.Forecaster(horizon=6).fit(y).backtest(y, origins=2)
    >>> tested.origins, sorted(tested.errors["step"].unique().tolist())
    (2, [1, 2, 3, 4, 5, 6])
    """

    errors: Any
    series: Any
    scale: Array
    interval: float
    season: int
    origins: int
    planned: int

    @property
    def methods(self) -> list[str]:
        """Columns of ``errors`` that are forecasts, ours first."""
        return [name for name in self.errors.columns if name not in BESIDE]

    @property
    def ids(self) -> list[Hashable]:
        """Ids of the series, in the order of ``errors``."""
        return list(dict.fromkeys(self.errors["unique_id"]))

    @property
    def horizon(self) -> int:
        """Number of steps ahead."""
        return int(self.errors["step"].max())

    @property
    def measure(self) -> str:
        """Measure that methods are compared by: "mase" for several series, else "mae"."""
        is_scaled = self.summary["mase"].notna().all()
        return "mase" if is_scaled and len(self.ids) > 1 else "mae"

    @property
    def best_naive(self) -> str:
        """Name of the naive forecast with the smallest error."""
        return str(self.summary[self.measure].drop(OURS).fillna(float("inf")).idxmin())

    @cached_property
    def summary(self) -> Any:
        """A DataFrame of mae, rmse, mase and smape, with a row for each method.

        Ours also has coverage and interval_score, which is small for narrow intervals that contain
        the true values.
        """
        return self._scores()

    @cached_property
    def by_series(self) -> Any:
        """Summary for each series: rows by unique_id and method."""
        return self._scores("unique_id")

    @cached_property
    def by_step(self) -> Any:
        """Summary for each step ahead: rows by step and method."""
        return self._scores("step")

    def _scores(self, by: str | None = None) -> Any:
        return scores(self.errors, self.methods, self.scale, self.interval, by)

    def plot(self, series: Sequence[Hashable] | None = None, *, width: float = 9.0) -> Figure:
        """Plot the last forecasts of series, and errors by step ahead.

        Parameters
        ----------
        series : list of unique_id, optional
            Series to plot; the first four by default.
        width : float
            Width of the figure, in inches.
        """
        shown = self.ids[: plots.MOST_SERIES] if series is None else list(series)
        for name in shown:
            if name not in self.ids:
                check_known(str(name), "series", [str(known) for known in self.ids])
        return plots.backtest(self, shown, width=width)

    def __repr__(self) -> str:
        table = _frame(self).to_string()
        return "\n".join([f"Backtest: {headline(self)}", "", table, "", *sentences(self)])

    def _repr_html_(self) -> str:
        notes = "".join(f"<p>{escape(sentence)}</p>" for sentence in sentences(self))
        table = _frame(self).to_html()
        return f"<div><p><b>Backtest</b>: {escape(headline(self))}</p>{table}{notes}</div>"


def scores(
    rows: Any, methods: Sequence[str], scale: Array, interval: float, by: str | None = None
) -> Any:
    """Return a DataFrame of measures with a row for each method, without unobserved rows.

        mae = mean |e|,   rmse = √ mean e²,   mase = mean |e| / scale,   e = y − forecast
        smape = 200 · mean |e| / (|y| + |forecast|)
        coverage = mean [lower ≤ y ≤ upper]
        interval_score = mean upper − lower + 2/α max(lower − y, y − upper, 0),  α = 1 − interval

    The interval score is Winkler's: the true quantiles have the smallest one.

    Parameters
    ----------
    rows : DataFrame (n rows) of y, one column for each method, lower and upper
    scale : array (n,)
        NaN where unknown.
    interval : float
        Nominal coverage.
    by : str, optional
        Column to group by: a row for each of its values and each method.
    """
    import pandas

    tables = {}
    for method in methods:
        bounds = (rows["lower"], rows["upper"]) if method == OURS else None
        terms = _terms(rows["y"], rows[method], scale, bounds, interval)
        means = terms.groupby(rows[by], sort=False).mean() if by else terms.mean().to_frame().T
        tables[method] = means.assign(rmse=np.sqrt(means["rmse"]))
    if by is None:
        index = pandas.Index(list(methods), name="method")
        return pandas.concat(list(tables.values())).set_axis(index)
    stacked = pandas.concat(tables, names=["method"]).swaplevel()
    keys = list(next(iter(tables.values())).index)
    order = pandas.MultiIndex.from_product([keys, list(methods)], names=[by, "method"])
    return stacked.reindex(order)


def _terms(y: Any, forecast: Any, scale: Array, bounds: Any, interval: float) -> Any:
    """Return the terms, row by row, whose means are the measures; NaN where y is unobserved."""
    import pandas

    size = (y - forecast).abs()
    total = y.abs() + forecast.abs()
    terms = {
        "mae": size,
        "rmse": size**2,
        "mase": size / scale,
        "smape": 200 * size / total.where(total != 0, 1.0),  # 0 if both are 0
        "coverage": np.nan,
        "interval_score": np.nan,
    }
    if bounds is not None:
        lower, upper = bounds
        missed = np.maximum(np.maximum(lower - y, y - upper), 0.0)
        terms["coverage"] = (missed == 0).astype(float).where(missed.notna())
        terms["interval_score"] = upper - lower + 2 / (1 - interval) * missed
    return pandas.DataFrame(terms, index=y.index)


def headline(tested: Backtest) -> str:
    """Return the number of origins, steps and series, and the time of the origins."""
    import pandas

    cutoffs = pandas.Index(tested.errors["cutoff"].sort_values())
    times = cutoffs.to_numpy() if cutoffs.dtype.kind in "iuf" else cutoffs
    first, last = texts(times[[0, -1]])
    text = f"{tested.origins} origins of {tested.horizon} steps from {first} to {last}"
    if len(tested.ids) > 1:
        text += f", {len(tested.ids)} series"
    if tested.origins < tested.planned:
        text += f"; interrupted: {tested.planned} were planned"
    return text


def table(tested: Backtest) -> tuple[list[str], list[list[str]]]:
    """Return columns and rows of a table of errors, best first, the lowest ones marked with ▸."""
    summary = tested.summary.sort_values(tested.measure, kind="stable")
    names = MEASURES[:4]
    columns = []
    for name in names:
        numbers = summary[name].to_numpy()
        lowest = numbers == np.min(numbers, where=~np.isnan(numbers), initial=np.inf)
        marked = zip(lowest, aligned(numbers), strict=True)
        columns.append([f"▸ {text}" if is_lowest else text for is_lowest, text in marked])
    rows = [list(row) for row in zip(summary.index, *columns, strict=True)]
    return ["", *names], rows


def sentences(tested: Backtest) -> list[str]:
    """Return a comparison with the best naive forecast, the coverage, and missing rows."""
    errors, rival = tested.errors, tested.best_naive
    ours, theirs = (float(tested.summary.loc[name, tested.measure]) for name in (OURS, rival))
    notes = []
    if theirs == 0:
        notes.append(f"The best naive forecast, “{rival}”, has no error.")
    elif not np.isnan([ours, theirs]).any():
        sizes = errors[[OURS, rival]].sub(errors["y"], axis=0).abs()
        means = sizes.groupby([errors["unique_id"], errors["cutoff"]], sort=False).mean().dropna()
        wins = int((means[OURS] < means[rival]).sum())
        notes.append(
            f"The {NAMES[tested.measure]} is {abs(1 - ours / theirs):.0%} "
            f"{'higher' if ours > theirs else 'lower'} than that of the best naive forecast, "
            f"“{rival}”; it is lower in {wins} of {len(means)} forecasts."
        )
    coverage, score = tested.summary.loc[OURS, ["coverage", "interval_score"]]
    if np.isnan(coverage):
        notes.append("There are no intervals: too few rows before the origins.")
    else:
        notes.append(
            f"{100 * tested.interval:.3g} % intervals contain {100 * coverage:.3g} % of rows "
            f"(interval score {score:.4g})."
        )
    missing = int(errors["y"].isna().sum())
    if missing:
        notes.append(f"{missing} of {len(errors)} rows were not observed and are not counted.")
    return notes


def _frame(tested: Backtest) -> Any:
    import pandas

    columns, rows = table(tested)
    return pandas.DataFrame([row[1:] for row in rows], [row[0] for row in rows], columns[1:])
