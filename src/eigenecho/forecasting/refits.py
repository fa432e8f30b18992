"""Backtests: at each origin, candidates are selected and trained on the rows up to it."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np

from eigenecho.data.clock import joined
from eigenecho.data.panel import Panel
from eigenecho.errors import FewRowsWarning, warn
from eigenecho.forecasting.backtest import OURS, Backtest
from eigenecho.forecasting.baselines import naive, naive_error, naive_season, rivals
from eigenecho.forecasting.fitted import FittedForecaster, Report, warn_zero_width
from eigenecho.forecasting.seasons import find_periods, whole_periods
from eigenecho.types import Array

Refit = Callable[[Panel, Report | None], FittedForecaster]


class BacktestForecast(NamedTuple):
    """Forecasts (H,) of a series from one origin by name, and the scale of their errors."""

    series: int
    origin: int
    forecasts: Mapping[str, Array]
    scale: float


def backtest(
    panel: Panel,
    rows: Array,
    horizon: int,
    refit: Refit,
    *,
    seasons: Sequence[float] = (),
    interval: float = 0.9,
    report: Report | None = None,
    finished: Callable[[int, int], object] | None = None,
) -> Backtest:
    """Forecast after rows (O, n) of the series of a panel; −1 leaves a series out of an origin.

    After an interruption it returns the finished origins, if there are any.
    """
    _check_pandas()
    # Our forecasts do not depend on this season, so it may use the rows up to the last origin.
    latest, _ = _up_to(panel, rows[-1])
    season = naive_season(latest, whole_periods(find_periods(latest, seasons)))
    done: list[list[BacktestForecast]] = []
    without: list[FittedForecaster] = []
    try:
        for number, origins in enumerate(rows, 1):
            known, kept = _up_to(panel, origins)
            fitted = refit(known, _staged(report, f"origin {number} of {len(rows)},"))
            without += [fitted] if fitted.is_naive else []
            made = _forecasts(fitted, panel, known, origins[kept], kept, interval)
            trials = []
            for i, history, ours in zip(kept, known.histories, made, strict=True):
                named = {
                    name: naive(base, history.values, horizon)
                    for name, base in rivals(season).items()
                }
                forecasts = {OURS: ours[OURS], **named, **ours}
                scale = naive_error(history.values, season)
                trials.append(BacktestForecast(i, int(origins[i]), forecasts, scale))
            done.append(trials)
            if finished is not None:
                finished(number, len(rows))
    except KeyboardInterrupt:
        if not done:
            raise
        finished_origins = f"{len(done)} of {len(rows)} origins are finished"
        warn(f"the backtest was interrupted: {finished_origins}.", UserWarning)
    if without:
        warn(
            f"forecasts from {len(without)} of {len(done)} origins are the last value, without "
            f"intervals. At the first of them, {without[0].reason[0]}. Use fewer, later origins.",
            FewRowsWarning,
        )
    trials = sorted((trial for some in done for trial in some), key=lambda trial: trial[:2])
    flat = sum(np.array_equal(t.forecasts["lower"], t.forecasts["upper"]) for t in trials)
    warn_zero_width(flat, len(trials), "forecasts")
    scales = np.repeat([trial.scale for trial in trials], horizon)
    errors = _errors(panel, trials, horizon)
    return Backtest(errors, _series(panel), scales, interval, season, len(done), len(rows))


def _check_pandas() -> None:
    """Raise an error before the work if pandas, which the result needs, is missing."""
    try:
        import pandas  # noqa: F401
    except ModuleNotFoundError as missing:
        raise ModuleNotFoundError(
            "a backtest needs pandas, which is not installed: pip install 'eigenecho[cli]'",
            name=missing.name,
        ) from missing


def _up_to(panel: Panel, origins: Array) -> tuple[Panel, list[int]]:
    """Return the rows up to the origins (n,), and the numbers of the series that have one."""
    kept = [i for i, origin in enumerate(origins) if origin >= 0]
    histories = tuple(panel.histories[i].until(int(origins[i]) + 1) for i in kept)
    return replace(panel, histories=histories), kept


def _forecasts(
    fitted: FittedForecaster,
    panel: Panel,
    known: Panel,
    origins: Array,
    kept: Sequence[int],
    interval: float,
) -> list[dict[str, Array]]:
    """Return our forecast and its bounds, (H,) after the origin of each series."""
    horizon = fitted.config.horizon
    ahead = [
        columns[origin + 1 : origin + 1 + horizon]
        for i, origin in zip(kept, origins, strict=True)
        if (columns := panel.histories[i].known) is not None
    ]
    last = [np.array([len(history) - 1]) for history in known.histories]
    levels = [0.5 - interval / 2, 0.5 + interval / 2]
    made = []
    for i, (forecast,) in enumerate(fitted.forecasts(known, last, horizon, ahead)):
        bounds = fitted.quantiles(known, i, forecast, levels)
        lower, upper = np.full((2, horizon), np.nan) if bounds is None else bounds.T
        made.append({OURS: forecast, "lower": lower, "upper": upper})
    return made


def _errors(panel: Panel, trials: Sequence[BacktestForecast], horizon: int) -> Any:
    """Return a DataFrame with a row for each trial and step."""
    import pandas

    steps = np.arange(1, horizon + 1)
    times = [panel.container.times(panel, i) for i in range(len(panel))]
    counts = np.bincount([trial.series for trial in trials], minlength=len(panel)) * horizon
    columns: dict[str, Any] = {
        "unique_id": _names(panel).repeat(counts),
        "cutoff": joined([times[t.series][[t.origin]].repeat(horizon) for t in trials]),
        "step": np.tile(steps, len(trials)),
        "ds": joined([times[t.series][t.origin + steps] for t in trials]),
        "y": np.concatenate([panel.histories[t.series].values[t.origin + steps] for t in trials]),
    }
    for name in trials[0].forecasts:
        columns[name] = np.concatenate([trial.forecasts[name] for trial in trials])
    return pandas.DataFrame(columns)


def _series(panel: Panel) -> Any:
    """Return a DataFrame of all rows of a panel: unique_id, ds, y."""
    import pandas

    counts = [len(history) for history in panel.histories]
    return pandas.DataFrame(
        {
            "unique_id": _names(panel).repeat(counts),
            "ds": joined([panel.container.times(panel, i) for i in range(len(panel))]),
            "y": np.concatenate([history.values for history in panel.histories]),
        }
    )


def _names(panel: Panel) -> Any:
    """Return the ids of the series; "y" for a series without a name."""
    import pandas

    names = ["y" if history.name is None else history.name for history in panel.histories]
    return pandas.Index(names, tupleize_cols=False)


def _staged(report: Report | None, prefix: str) -> Report | None:
    """Return a report with a prefix before its stage."""
    if report is None:
        return None
    return lambda stage, done, total: report(f"{prefix} {stage}", done, total)
