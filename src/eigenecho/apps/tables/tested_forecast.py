"""The forecast of a table by ``ee.Forecaster``: tested on blocks held out, then made."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from eigenecho.apps.tables.table import TableError
from eigenecho.apps.tables.time_series import TableSeries
from eigenecho.estimators.forecaster import Forecaster
from eigenecho.forecasting.backtest import Backtest
from eigenecho.forecasting.baselines import naive, rivals
from eigenecho.forecasting.validation import fewest, plan
from eigenecho.forecasting.views import LONG

BLOCKS, BLOCKS_OF_LONG = 5, 3
"""Blocks of ``horizon`` rows that are held out, where a third of the rows allow it; each costs a
fit, which takes long where rows are many."""

LAST_YEAR = 9999
"""Of dates that can be written and drawn everywhere."""


@dataclass(frozen=True, eq=False)
class TestedForecast:
    """All that a forecast is made of: the forecaster is fitted on all rows.

    ``future`` has a DataFrame for each series: its times as the index, "forecast", "lower" and
    "upper" with an interval, and the naive forecasts by name, (H,).
    """

    series: TableSeries
    forecaster: Forecaster
    backtest: Backtest
    blocks: int
    future: Mapping[str, Any]
    interval: float | None


def forecast(
    series: TableSeries,
    forecaster: Forecaster,
    *,
    blocks: int | None = None,
    interval: float | None = None,
    progress: Callable[[str, int, int], None] | None = None,
) -> TestedForecast:
    """Forecast blocks at the end from the rows before each, then learn from all and go on.

    ``blocks`` are of as many rows as the forecaster's horizon; by default as many as fit into a
    third of the rows and leave enough before them to learn from, up to 5, or 3 of a long series.
    ``interval`` is the share of rows, in ]0, 1[, that bounds around forecasts shall hold.
    """
    tell = progress or (lambda *_: None)
    count = blocks_of(series.rows, forecaster.horizon, blocks)
    _check(series, forecaster)
    bounds = {} if interval is None else {"interval": interval}
    tell("testing", 0, count)
    tested = forecaster.backtest(
        series.y, series.X, count, progress=lambda *done: tell("testing", *done), **bounds
    )
    tell("forecasting", 0, 1)
    if tested.origins < count:  # it keeps what was finished, which is not what was asked for
        raise KeyboardInterrupt
    if interval is None:
        tested = replace(tested, errors=tested.errors.assign(lower=np.nan, upper=np.nan))
    made = forecaster.fit(series.y, series.X).predict(interval=interval)
    future = {name: _one(series, made, name) for name in series.names}
    if not all(np.isfinite(one).all().all() for one in future.values()):
        raise ArithmeticError("the forecast overflowed: look at the values of the table.")
    for name, one in future.items():
        for method, base in rivals(tested.season).items():
            one[method] = naive(base, series.values[name], forecaster.horizon)
    tell("forecasting", 1, 1)
    return TestedForecast(series, forecaster, tested, count, future, interval)


def blocks_of(rows: int, horizon: int, wanted: int | None = None) -> int:
    """Blocks to hold out of so many rows; an error where they are too few for the horizon."""
    if plan(rows - horizon, horizon) is None:
        fitting = [h for h in range(1, min(horizon, rows)) if plan(rows - h, h) is not None]
        if not fitting:
            raise TableError(f"{rows} rows are too few for a forecast that is tested.")
        raise TableError(
            f"--horizon {horizon} is too long for {rows} rows: one horizon is held out to test, "
            "one to choose by, and there must be as much again to learn from. Use --horizon "
            f"{fitting[-1]}, or a longer series."
        )
    # Origins lie in the second half of the rows, where blocks do not overlap.
    most = max(1, (rows - 1 - horizon - rows // 2) // horizon)
    if wanted is None:
        usual = BLOCKS if rows < LONG else BLOCKS_OF_LONG
        learnt = (rows - fewest(horizon)) // horizon
        return max(1, min(usual, rows // (3 * horizon), most, learnt))
    if wanted > most:
        raise TableError(
            f"--blocks {wanted} of {horizon} rows are too many for {rows} rows: they lie in the "
            f"second half of them. Use --blocks {most}, or a shorter --horizon."
        )
    return wanted


def _check(series: TableSeries, forecaster: Forecaster) -> None:
    """Seasons that rows can show, inputs for all rows ahead, and dates that exist."""
    horizon, columns, half = forecaster.horizon, series.columns, series.rows // 2
    for season in forecaster.seasons or ():
        if not 2 <= season <= half:
            raise TableError(
                f"--season {season:g} will not do: expected 2 to {half} rows, half of the "
                f"{series.rows} there are."
            )
    if columns.inputs and series.ahead < horizon:
        raise TableError(
            f"--inputs {','.join(columns.inputs)} must be known for the {horizon} rows ahead, "
            f"and the table knows {series.ahead}. Append rows with these columns and an "
            f"empty {columns.targets[0]!r}, or shorten --horizon."
        )
    for clock in dict.fromkeys(series.clocks.values()):
        if clock.is_dates and clock.ahead(horizon)[-1].year > LAST_YEAR:
            raise TableError(
                f"--horizon {horizon} goes from {clock.text(clock.times[-1:])[0]} beyond the year "
                f"{LAST_YEAR}. Use a shorter one, or count rows as steps with --time none."
            )


def _one(series: TableSeries, made: Any, name: str) -> Any:
    """The forecast of one series, at its own times."""
    columns = series.columns
    if columns.id is not None:
        found = made[made[columns.id] == name].drop(columns=[columns.id, columns.time])
    elif made.columns.nlevels > 1:
        found = made[name].copy()
    else:
        found = made[[name]].set_axis(["forecast"], axis=1)
    return found.set_axis(series.clocks[name].ahead(len(found)), axis=0)
