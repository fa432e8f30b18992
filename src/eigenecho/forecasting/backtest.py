"""Backtests: forecasts from past origins, compared with naive forecasts and true values."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from html import escape
from itertools import chain
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from eigenecho import plots
from eigenecho.data.clock import joined, texts
from eigenecho.data.panel import Panel
from eigenecho.data.read_table import listed
from eigenecho.errors import counted, unknown_name, warn
from eigenecho.forecasting.baselines import naive, naive_error, naive_season, rivals
from eigenecho.forecasting.candidates import runner
from eigenecho.forecasting.fit import FittedForecaster, fit, warn_zero_width
from eigenecho.forecasting.seasons import find_periods, whole_periods
from eigenecho.forecasting.selection import ForecastConfig
from eigenecho.frames import import_pandas
from eigenecho.pages import format_numbers
from eigenecho.types import Array

if TYPE_CHECKING:
    from matplotlib.figure import Figure

OURS = "forecast"
"""Name of the column with the forecasts of the forecaster."""

MEASURES = ("mae", "rmse", "mase", "smape", "coverage", "interval_score")
"""Columns of a DataFrame of scores. Baselines have only the first four."""

NAMES = {"mae": "mean absolute error", "mase": "mean absolute scaled error (MASE)"}

BESIDE = ("unique_id", "cutoff", "step", "ds", "y", "lower", "upper")
"""Columns of ``errors`` that are not forecasts of a method."""


@dataclass(frozen=True, eq=False, repr=False)
class Backtest:
    """Forecasts from past origins by a forecaster and by naive baselines.

    Attributes
    ----------
    errors : DataFrame
        One row for each series, origin and step, with the columns ``unique_id``; ``cutoff``, the
        time of the origin; ``step``, from 1 to H; ``ds``, the time; ``y``, the true value, or NaN
        if it is missing; ``forecast``; one column for each naive forecast; and ``lower`` and
        ``upper``, the bounds of the prediction interval.
    series : DataFrame
        All rows of the data, with the columns ``unique_id``, ``ds`` and ``y``.
    scale : array (rows of errors,)
        Mean absolute change over a season in the rows before the origin, the unit of ``mase``.
    interval : float
        Nominal coverage of the prediction intervals.
    season : int
        Season, in rows, that naive forecasts and ``mase`` use; 1 if there is none.
    origins, planned : int
        Numbers of finished and of requested origins, which differ after an interruption.

    See Also
    --------
    eigenecho.Forecaster : Its method ``backtest`` returns a Backtest.
    eigenecho.plots.backtest : Draw the forecasts and errors.

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
        """Names of the methods, which are columns of ``errors``. The first is "forecast"."""
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
        """Measure by which methods are compared: "mase" for several series, otherwise "mae"."""
        is_scaled = self.summary["mase"].notna().all()
        return "mase" if is_scaled and len(self.ids) > 1 else "mae"

    @property
    def best_naive(self) -> str:
        """Name of the naive baseline with the smallest error."""
        return str(self.summary[self.measure].drop(OURS).fillna(float("inf")).idxmin())

    @cached_property
    def summary(self) -> Any:
        """DataFrame of mae, rmse, mase and smape, with one row for each method.

        The row of the forecaster also contains coverage and interval_score. The interval score is
        small for narrow intervals that contain the true values.
        """
        return self._scores()

    @cached_property
    def by_series(self) -> Any:
        """Summary for each series, indexed by unique_id and method."""
        return self._scores("unique_id")

    @cached_property
    def by_step(self) -> Any:
        """Summary for each step ahead, indexed by step and method."""
        return self._scores("step")

    def _scores(self, by: str | None = None) -> Any:
        return scores(self.errors, self.methods, self.scale, self.interval, by)

    def plot(self, series: Sequence[Hashable] | None = None, *, width: float = 9.0) -> Figure:
        """Plot the last forecasts of some series, and the errors by step ahead.

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
                raise unknown_name("series", name, map(str, self.ids))
        return plots.backtest(self, shown, width=width)

    def __repr__(self) -> str:
        errors = table(self).to_string()
        return "\n".join([f"Backtest: {headline(self)}", "", errors, "", *sentences(self)])

    def _repr_html_(self) -> str:
        notes = "".join(f"<p>{escape(sentence)}</p>" for sentence in sentences(self))
        errors = table(self).to_html()
        return f"<div><p><b>Backtest</b>: {escape(headline(self))}</p>{errors}{notes}</div>"


# Scores and text -------------------------------------------------------------------------------


def scores(
    rows: Any, methods: Sequence[str], scale: Array, interval: float, by: str | None = None
) -> Any:
    """Return a DataFrame of measures with one row for each method, ignoring missing values.

        mae = mean |e|,   rmse = √ mean e²,   mase = mean |e| / scale,   e = y − forecast
        smape = 200 · mean |e| / (|y| + |forecast|)
        coverage = mean [lower ≤ y ≤ upper]
        interval_score = mean [upper − lower + 2/α max(lower − y, y − upper, 0)],  α = 1 − interval

    The expectation of the interval score, or Winkler score, is smallest for the true quantiles.

    Parameters
    ----------
    rows : DataFrame (n rows)
        True values ``y``, one column for each method, ``lower`` and ``upper``.
    scale : array (n,)
        Unit of ``mase``; NaN if it is unknown.
    interval : float
        Nominal coverage.
    by : str, optional
        Column to group by. The result has one row for each group and method.
    """
    import pandas

    tables = {}
    for method in methods:
        terms = _terms(rows, method, scale, interval)
        means = terms.groupby(rows[by], sort=False).mean() if by else terms.mean().to_frame().T
        tables[method] = means.assign(rmse=np.sqrt(means["rmse"]))
    stacked = pandas.concat(tables, names=["method"])
    if by is None:
        return stacked.droplevel(1)
    keys = list(next(iter(tables.values())).index)
    order = pandas.MultiIndex.from_product([keys, list(methods)], names=[by, "method"])
    return stacked.swaplevel().reindex(order)


def _terms(rows: Any, method: str, scale: Array, interval: float) -> Any:
    """Return the terms of each row, whose means are the measures; NaN if ``y`` is missing."""
    import pandas

    y, forecast = rows["y"], rows[method]
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
    if method == OURS:
        lower, upper = rows["lower"], rows["upper"]
        missed = np.maximum(np.maximum(lower - y, y - upper), 0.0)
        terms["coverage"] = (missed == 0).astype(float).where(missed.notna())
        terms["interval_score"] = upper - lower + 2 / (1 - interval) * missed
    return pandas.DataFrame(terms, index=y.index)


def headline(tested: Backtest) -> str:
    """Return a description of the backtest: the times of the origins, and the number of steps."""
    import pandas

    cutoffs = pandas.Index(tested.errors["cutoff"].sort_values())
    first, last = texts(cutoffs[[0, -1]])
    text = f"{counted(tested.origins, 'origin')} from {first} to {last}, "
    text += f"{counted(tested.horizon, 'step')} each"
    if len(tested.ids) > 1:
        text += f", {len(tested.ids)} series"
    if tested.origins < tested.planned:
        text += f" (interrupted: {tested.planned} origins were planned)"
    return text


def table(tested: Backtest) -> Any:
    """Return a DataFrame of formatted errors, best method first, with ▸ before the lowest."""
    import pandas

    summary = tested.summary.sort_values(tested.measure, kind="stable")
    columns = {}
    for name in MEASURES[:4]:
        numbers = summary[name].to_numpy()
        lowest = numbers == np.min(numbers, where=~np.isnan(numbers), initial=np.inf)
        marked = zip(lowest, format_numbers(numbers), strict=True)
        columns[name] = [f"▸ {text}" if is_lowest else text for is_lowest, text in marked]
    return pandas.DataFrame(columns, list(summary.index))


def sentences(tested: Backtest) -> list[str]:
    """Return sentences about the best naive baseline, the coverage and missing values."""
    errors, rival = tested.errors, tested.best_naive
    ours, theirs = (float(tested.summary.loc[name, tested.measure]) for name in (OURS, rival))
    notes = []
    if theirs == 0:
        notes.append(f"The best naive baseline, “{rival}”, has no error.")
    elif not np.isnan([ours, theirs]).any():
        sizes = errors[[OURS, rival]].sub(errors["y"], axis=0).abs()
        means = sizes.groupby([errors["unique_id"], errors["cutoff"]], sort=False).mean().dropna()
        wins = int((means[OURS] < means[rival]).sum())
        notes.append(
            f"The {NAMES[tested.measure]} is {abs(1 - ours / theirs):.0%} "
            f"{'higher' if ours > theirs else 'lower'} than that of the best naive baseline, "
            f"“{rival}”. It is lower in {wins} of {len(means)} forecasts."
        )
    coverage, score = tested.summary.loc[OURS, ["coverage", "interval_score"]]
    notes.append(
        f"The {100 * tested.interval:.3g}% prediction intervals contain {100 * coverage:.3g}% "
        f"of the true values (interval score {score:.4g})."
    )
    missing = int(errors["y"].isna().sum())
    if missing:
        notes.append(f"{missing} of {len(errors)} true values are missing and were ignored.")
    return notes


# Running a backtest ---------------------------------------------------------------------------


class BacktestForecast(NamedTuple):
    """Forecasts (H,) of one series from one origin, by name, and the scale of their errors."""

    series: int
    origin: int
    forecasts: Mapping[str, Array]
    scale: float


def run_backtest(
    panel: Panel,
    rows: Array,
    config: ForecastConfig,
    *,
    interval: float = 0.9,
    report: Callable[[str, int, int], object] | None = None,
    finished: Callable[[int, int], object] | None = None,
) -> Backtest:
    """Fit and forecast the series of a panel at each of the origins (O, n).

    The origin −1 excludes a series. After an interruption, the result contains the finished
    origins, if any.
    """
    import_pandas("backtest")  # if it is missing, the error is raised before the first fit
    # The forecaster does not use this season, so it may depend on all rows up to the last origin.
    latest, _ = _up_to(panel, rows[-1])
    short = [repr(h.name) for h, own in zip(panel.histories, rows.T, strict=True) if own.max() < 0]
    if short:
        warn(
            "Series with too few rows for a forecast from any origin are left out of the backtest: "
            f"{listed(short, len(short))}.",
            UserWarning,
        )
    season = naive_season(latest, whole_periods(find_periods(latest, config.periods)))
    done: list[list[BacktestForecast]] = []
    untrained: list[FittedForecaster] = []
    try:
        for number, origins in enumerate(rows, 1):
            known, kept = _up_to(panel, origins)
            prefix = f"origin {number} of {len(rows)}, "
            fitted = fit(known, config, runner(report=report, prefix=prefix))
            untrained += [fitted] if fitted.is_untrained else []
            done.append(forecast_ahead(fitted, known, kept, season, interval))
            if finished is not None:
                finished(number, len(rows))
    except KeyboardInterrupt:
        if not done:
            raise
        count = f"{len(done)} of {len(rows)} origins"
        warn(f"The backtest was interrupted after {count}.", UserWarning)
    if untrained:
        untrained[0].warn_if_untrained(f" from {len(untrained)} of {len(done)} origins")
    trials = sorted(chain.from_iterable(done), key=lambda trial: trial[:2])
    flat = sum(np.array_equal(t.forecasts["lower"], t.forecasts["upper"]) for t in trials)
    warn_zero_width(flat, len(trials), "forecasts")
    scale = np.repeat([trial.scale for trial in trials], config.horizon)
    series = _series(panel)
    errors = _errors(series, panel, trials, config.horizon)
    return Backtest(errors, series, scale, interval, season, len(done), len(rows))


def _up_to(panel: Panel, origins: Array) -> tuple[Panel, list[int]]:
    """Return the panel up to the origins (n,), and the indices of the series with an origin."""
    kept = [i for i, origin in enumerate(origins) if origin >= 0]
    histories = tuple(panel.histories[i].until(int(origins[i]) + 1) for i in kept)
    return replace(panel, histories=histories), kept


def forecast_ahead(
    fitted: FittedForecaster, known: Panel, kept: Sequence[int], season: int, interval: float
) -> list[BacktestForecast]:
    """Return the forecasts after the end of each series, their bounds, and naive forecasts.

    ``kept`` contains the indices of these series.
    """
    horizon = fitted.config.horizon
    ahead = [history.ahead[:horizon] for history in known.histories]
    forecasts = fitted.forecast(known, horizon, ahead)
    levels = [0.5 - interval / 2, 0.5 + interval / 2]
    trials = []
    for place, (history, forecast) in enumerate(zip(known.histories, forecasts, strict=True)):
        bounds = fitted.quantiles(known, place, forecast, levels)
        named = {OURS: forecast}
        for name, baseline in rivals(season).items():
            named[name] = naive(baseline, history.values, horizon)
        named |= {"lower": bounds[:, 0], "upper": bounds[:, 1]}
        scale = naive_error(history.values, season)
        trials.append(BacktestForecast(kept[place], len(history) - 1, named, scale))
    return trials


def _series(panel: Panel) -> Any:
    """Return all rows of a panel as a DataFrame with the columns unique_id, ds and y.

    A series without a name has the id "y".
    """
    import pandas

    names = ["y" if history.name is None else history.name for history in panel.histories]
    counts = [len(history) for history in panel.histories]
    return pandas.DataFrame(
        {
            "unique_id": pandas.Index(names, tupleize_cols=False).repeat(counts),
            "ds": joined([history.times for history in panel.histories]),
            "y": np.concatenate([history.values for history in panel.histories]),
        }
    )


def _errors(series: Any, panel: Panel, trials: Sequence[BacktestForecast], horizon: int) -> Any:
    """Return a DataFrame with one row for each trial and step, given all rows of the panel."""
    starts = np.cumsum([0, *(len(history) for history in panel.histories)])
    origins = np.array([starts[trial.series] + trial.origin for trial in trials])
    steps = np.arange(1, horizon + 1)
    errors = series.iloc[(origins[:, None] + steps).ravel()].reset_index(drop=True)
    cutoffs = series["ds"].iloc[np.repeat(origins, horizon)].reset_index(drop=True)
    errors.insert(1, "cutoff", cutoffs)
    errors.insert(2, "step", np.tile(steps, len(trials)))
    for name in trials[0].forecasts:
        errors[name] = np.concatenate([trial.forecasts[name] for trial in trials])
    return errors
