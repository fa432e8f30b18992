"""The forecast of a table by ``ee.Forecaster``: tested on blocks held out, then made."""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from eigenecho.apps.tables.table import TableError
from eigenecho.apps.tables.time_series import TableSeries
from eigenecho.estimators.forecaster import Forecaster
from eigenecho.forecasting.backtest import Backtest
from eigenecho.forecasting.banks import LONG
from eigenecho.forecasting.plan import plan
from eigenecho.forecasting.rivals import naive, rivals

BLOCKS, BLOCKS_OF_LONG = 5, 3
"""Blocks of ``horizon`` rows that are held out, where a third of the rows allow it; each costs a
fit, which takes long where rows are many."""

INTERVAL = 0.9
"""Of bounds that are tested though nobody asked for any."""

LAST_YEAR = 9999
"""Of dates that can be written and drawn everywhere."""


@dataclass(frozen=True, eq=False)
class TestedForecast:
    """All that a forecast is made of.

    Attributes
    ----------
    series : TableSeries
    forecaster : Forecaster
        Fitted on all rows.
    backtest : Backtest
    blocks : int
        Held out at the end.
    future : mapping of DataFrame
        Of each series: its times, "forecast", "lower" and "upper" with an interval, and the naive
        forecasts by name, (H,).
    interval : float or None
    """

    series: TableSeries
    forecaster: Forecaster
    backtest: Backtest
    blocks: int
    future: Mapping[Hashable, Any]
    interval: float | None

    @property
    def horizon(self) -> int:
        """H."""
        return int(self.forecaster.horizon)

    def called(self, method: str) -> str:
        """A method by its name in tables: ours, and naive ones with their season."""
        is_seasonal = method.startswith("seasonal")
        return f"{method}, {self.backtest.season}" if is_seasonal else method


def forecast(
    series: TableSeries,
    forecaster: Forecaster,
    *,
    blocks: int | None = None,
    interval: float | None = None,
) -> TestedForecast:
    """Forecast blocks at the end from the rows before each, then learn from all and go on.

    Parameters
    ----------
    series : TableSeries
    forecaster : Forecaster
        With the horizon and all else that is wanted.
    blocks : int, optional
        Blocks of ``horizon`` rows; by default as many as fit into a third of the rows, up to 5,
        or 3 of a long series.
    interval : float, optional
        The share of rows, in ]0, 1[, that bounds around forecasts shall hold.
    """
    horizon = forecaster.horizon
    _check(series, forecaster)
    count = blocks_of(series.rows, horizon, blocks)
    tested = forecaster.backtest(
        series.y, series.X, origins=count, interval=interval or INTERVAL
    )
    made = forecaster.fit(series.y, series.X).predict(interval=interval)
    future = {name: _one(series, made, name) for name in series.names}
    if not all(np.isfinite(one).all().all() for one in future.values()):
        raise ArithmeticError("the forecast overflowed: look at the values of the table.")
    for name, one in future.items():
        for method, base in rivals(tested.season).items():
            one[method] = naive(base, series.values[name], horizon)
    return TestedForecast(series, forecaster, tested, count, future, interval)


def blocks_of(rows: int, horizon: int, wanted: int | None = None) -> int:
    """Blocks to hold out of so many rows; an error where they are too few for the horizon."""
    if plan(rows - horizon, horizon) is None:
        fitting = [h for h in range(1, horizon) if plan(rows - h, h) is not None]
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
        return max(1, min(usual, rows // (3 * horizon), most))
    if wanted > most:
        raise TableError(
            f"--blocks {wanted} of {horizon} rows are too many for {rows} rows: they lie in the "
            f"second half of them. Use --blocks {most}, or a shorter --horizon."
        )
    return wanted


def _check(series: TableSeries, forecaster: Forecaster) -> None:
    """Seasons that rows can show, inputs for all rows ahead, and dates that exist."""
    horizon, columns = forecaster.horizon, series.columns
    for season in forecaster.seasons or ():
        if not 2 <= season <= series.rows // 2:
            raise TableError(
                f"--season {season:g} will not do: expected 2 to {series.rows // 2} rows, half of "
                f"the {series.rows} there are."
            )
    if columns.inputs and series.ahead < horizon:
        raise TableError(
            f"--inputs {','.join(columns.inputs)} must be known for the {horizon} rows ahead, "
            f"and the table knows {max(series.ahead, 0)}. Append rows with these columns and an "
            f"empty {columns.targets[0]!r}, or shorten --horizon."
        )
    for clock in dict.fromkeys(series.clocks.values()):
        if clock.is_dates and _year(clock, horizon) > LAST_YEAR:
            last = clock.text(clock.times[-1:])[0]
            raise TableError(
                f"--horizon {horizon} goes from {last} beyond the year {LAST_YEAR}. Use a shorter "
                "one, or count rows as steps with --time none."
            )


def _year(clock: Any, horizon: int) -> int:
    try:
        return int(clock.ahead(horizon)[-1].year)
    except (ValueError, OverflowError):  # beyond what pandas can count
        return LAST_YEAR + 1


def _one(series: TableSeries, made: Any, name: Hashable) -> Any:
    """The forecast of one series, at its own times."""
    columns = series.columns
    if columns.id is None:
        found = made[name] if made.columns.nlevels > 1 else made[[name]].set_axis(["forecast"], axis=1)
        found = found.copy()
    else:
        found = made[made[columns.id] == name].drop(columns=[columns.id, columns.time])
    return found.set_axis(series.clocks[name].ahead(len(found)), axis=0)
