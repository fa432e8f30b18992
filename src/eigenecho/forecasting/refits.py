"""Refitting as time goes by: at each origin all is chosen and trained from the rows up to it."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np

from eigenecho.data.clock import joined
from eigenecho.data.panel import Panel
from eigenecho.errors import warn
from eigenecho.forecasting.backtest import Backtest
from eigenecho.forecasting.fallback import warn_of_origins, warn_without_width
from eigenecho.forecasting.fitted import FittedForecaster, Report
from eigenecho.forecasting.rivals import Rival, naive, naive_error, naive_season, rivals
from eigenecho.forecasting.scores import OURS
from eigenecho.forecasting.seasons import periods_of, whole
from eigenecho.types import Array

Refit = Callable[[Panel, Report | None], FittedForecaster]


class BacktestForecast(NamedTuple):
    """Forecasts of a series after one of its rows, (H,) by name, and the scale of their errors."""

    series: int
    origin: int
    made: Mapping[str, Array]
    scale: float


def refitted(
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
    """Forecasts after rows (O, n) of the series of a panel; −1 leaves a series out of an origin.

    Interrupted, it keeps what is finished; with nothing finished the interruption goes on.
    """
    _need_pandas()
    # Nothing of ours is chosen by it: rivals may have the season that the last origin knows of.
    latest, _ = _known(panel, rows[-1])
    season = naive_season(latest, whole(periods_of(latest, seasons)))
    done: list[list[BacktestForecast]] = []
    naive_fits: list[FittedForecaster] = []
    try:
        for number, origins in enumerate(rows, 1):
            watch = _staged(report, f"origin {number} of {len(rows)},")
            known, kept = _known(panel, origins)
            fitted = refit(known, watch)
            naive_fits += [fitted] if fitted.is_naive else []
            ahead = _ahead(panel, origins, kept, horizon)
            made = _forecasts(fitted, known, ahead, horizon, interval)
            bases = rivals(season)
            done.append(
                [
                    BacktestForecast(
                        i, int(origins[i]), *_with_naive(one, history.values, bases, season)
                    )
                    for i, history, one in zip(kept, known.histories, made, strict=True)
                ]
            )
            if finished is not None:
                finished(len(done), len(rows))
    except KeyboardInterrupt:
        if not done:
            raise
        words = f"{len(done)} of {len(rows)} origins are finished, and kept"
        warn(f"the backtest was interrupted: {words}.", UserWarning)
    warn_of_origins(naive_fits, len(done))
    trials = sorted((one for some in done for one in some), key=lambda one: one[:2])
    flat = sum(np.array_equal(one.made["lower"], one.made["upper"]) for one in trials)
    warn_without_width(flat, len(trials), "forecasts")
    scale = np.repeat([one.scale for one in trials], horizon)
    errors = _errors(panel, trials, horizon)
    return Backtest(errors, _series(panel), scale, interval, season, len(done), len(rows))


def _need_pandas() -> None:
    """What comes back is a DataFrame: that is known before the work, not after it."""
    try:
        import pandas  # noqa: F401
    except ModuleNotFoundError as missing:
        raise ModuleNotFoundError(
            "a backtest needs pandas, which is not installed: pip install 'eigenecho[cli]'",
            name=missing.name,
        ) from missing


def _known(panel: Panel, origins: Array) -> tuple[Panel, list[int]]:
    """The rows up to and with the origins (n,), and the series that these are of."""
    kept = [i for i, origin in enumerate(origins) if origin >= 0]
    histories = tuple(panel.histories[i].until(int(origins[i]) + 1) for i in kept)
    return replace(panel, histories=histories), kept


def _ahead(panel: Panel, origins: Array, kept: Sequence[int], horizon: int) -> list[Array]:
    """Columns that are known ahead, (H, k) after the origins; none where there are no such."""
    found = []
    for i in kept:
        columns, first = panel.histories[i].known, int(origins[i]) + 1
        if columns is not None:
            found.append(columns[first : first + horizon])
    return found


def _forecasts(
    fitted: FittedForecaster, known: Panel, ahead: Sequence[Array], horizon: int, interval: float
) -> list[dict[str, Array]]:
    """Our forecast and its bounds, (H,) after the end of each series."""
    last = [np.array([len(history) - 1]) for history in known.histories]
    levels = [0.5 - interval / 2, 0.5 + interval / 2]
    found = []
    for i, made in enumerate(fitted.forecasts(known, last, horizon, ahead)):
        bounds = fitted.quantiles(known, i, made[0], levels)
        lower, upper = np.full((2, horizon), np.nan) if bounds is None else bounds.T
        found.append({OURS: made[0], "lower": lower, "upper": upper})
    return found


def _with_naive(
    made: Mapping[str, Array], values: Array, bases: Mapping[str, Rival], season: int
) -> tuple[dict[str, Array], float]:
    """Naive forecasts beside ours, and the scale of errors."""
    horizon = len(made[OURS])
    beside = {name: naive(base, values, horizon) for name, base in bases.items()}
    return {OURS: made[OURS], **beside, **made}, naive_error(values, season)


def _errors(panel: Panel, trials: Sequence[BacktestForecast], horizon: int) -> Any:
    """A row for each trial and step."""
    import pandas

    steps = np.arange(1, horizon + 1)
    times = [panel.container.times(panel, i) for i in range(len(panel))]
    columns: dict[str, Any] = {
        "unique_id": _names(panel).repeat(_counts(panel, trials, horizon)),
        "cutoff": joined([times[one.series][[one.origin]].repeat(horizon) for one in trials]),
        "step": np.tile(steps, len(trials)),
        "ds": joined([times[one.series][one.origin + steps] for one in trials]),
        "y": np.concatenate([panel.histories[i].values[o + steps] for i, o, *_ in trials]),
    }
    for name in trials[0].made:
        columns[name] = np.concatenate([one.made[name] for one in trials])
    return pandas.DataFrame(columns)


def _series(panel: Panel) -> Any:
    """All rows of a panel: unique_id, ds, y."""
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
    """What series are called; "y" one that has no name."""
    import pandas

    names = ["y" if history.name is None else history.name for history in panel.histories]
    return pandas.Index(names, tupleize_cols=False)


def _counts(panel: Panel, trials: Sequence[BacktestForecast], horizon: int) -> Array:
    """Rows of errors of each series."""
    found = np.bincount([one.series for one in trials], minlength=len(panel)) * horizon
    return np.asarray(found)


def _staged(report: Report | None, prefix: str) -> Report | None:
    """A report with words in front of its stage."""
    if report is None:
        return None
    return lambda stage, done, total: report(f"{prefix} {stage}", done, total)
