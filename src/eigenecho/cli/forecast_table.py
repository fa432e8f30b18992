"""Backtest and forecast the series of a table, and write the forecasts and a report."""

from __future__ import annotations

import io
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from eigenecho import pages
from eigenecho.cli.verdict import MARGIN, MARKS, verdicts
from eigenecho.data.read_table import PARQUET, TableSeries
from eigenecho.errors import counted
from eigenecho.estimators.forecaster import Forecaster
from eigenecho.forecasting.backtest import Backtest, forecast_ahead
from eigenecho.forecasting.report import constructor_call, contents
from eigenecho.forecasting.validation import fewest
from eigenecho.forecasting.views import LONG

BLOCKS, BLOCKS_OF_LONG = 5, 3
"""Default number of test blocks, in general and for long series. Each block requires a fit."""


@dataclass(frozen=True, eq=False)
class TableForecast:
    """A fitted forecaster, its backtest and its forecast.

    ``future`` is a long frame with the columns unique_id, step, ds, forecast, lower and upper, and
    a column for each naive baseline.
    """

    series: TableSeries
    forecaster: Forecaster
    backtest: Backtest
    future: Any
    interval: float | None


def forecast_table(
    series: TableSeries,
    forecaster: Forecaster,
    *,
    blocks: int | None = None,
    interval: float | None = None,
    progress: Callable[[str, int, int], None] = lambda *_: None,
) -> TableForecast:
    """Backtest a forecaster on blocks at the end of a table, then fit it to all rows and predict.

    Each block has as many rows as the horizon. ``blocks_of`` returns the default number of blocks.
    """
    import pandas

    horizon, y, X, coverage = forecaster.horizon, series.y, series.X, interval or 0.9
    count = blocks_of(series.rows, horizon, blocks)
    if series.inputs and series.ahead < horizon:
        raise ValueError(
            f"--inputs {','.join(series.inputs)} requires {counted(horizon, 'future row')}, but "
            f"the table has {series.ahead}. Append rows in which these columns have values and "
            f"{series.targets[0]!r} is empty, or use a shorter --horizon."
        )
    progress("backtest", 0, count)
    backtest = forecaster.backtest(
        y, X, count, interval=coverage, progress=lambda *done: progress("backtest", *done)
    )
    progress("forecast", 0, 1)
    if backtest.origins < count:  # An interrupted backtest returns the finished origins.
        raise KeyboardInterrupt
    fitted = forecaster.fit(y, X).fitted_
    histories = fitted.panel.histories
    ahead = forecast_ahead(fitted, fitted.panel, range(len(histories)), backtest.season, coverage)
    steps = np.arange(1, horizon + 1)
    parts = [
        {"unique_id": h.name, "step": steps, "ds": h.clock.ahead(horizon), **forecast.forecasts}
        for h, forecast in zip(histories, ahead, strict=True)
    ]
    future = pandas.concat(map(pandas.DataFrame, parts), ignore_index=True)
    progress("forecast", 1, 1)
    return TableForecast(series, forecaster, backtest, future, interval)


def blocks_of(rows: int, horizon: int, requested: int | None = None) -> int:
    """Return the number of test blocks, or raise an error if there are too few rows.

    By default, the blocks contain at most a third of the rows and leave enough for training.
    """
    longest = (rows - fewest(0)) // 3  # The other rows must suffice for one test block and a fit.
    if horizon > longest:
        remedy = f" Use --horizon {longest} or a longer series." if longest > 0 else ""
        raise ValueError(
            f"There are too few rows ({rows}) to train, validate and test forecasts with "
            f"--horizon {horizon}.{remedy}"
        )
    # The forecast origins are in the second half of the rows, and blocks do not overlap.
    most = max(1, (rows - 1 - horizon - rows // 2) // horizon)
    if requested is None:
        usual = BLOCKS if rows < LONG else BLOCKS_OF_LONG
        return max(1, min(usual, rows // (3 * horizon), most, (rows - fewest(horizon)) // horizon))
    if requested > most:
        raise ValueError(
            f"Invalid --blocks {requested}: with {rows} rows, at most {counted(most, 'block')} of "
            f"{counted(horizon, 'row')} can be tested in the second half. Use --blocks {most} or a "
            "shorter --horizon."
        )
    return requested


def write_predictions(result: TableForecast, path: Path) -> None:
    """Write all forecasts to a Parquet file or, for other file extensions, a CSV file."""
    file, frame = io.BytesIO(), predictions(result)
    if path.suffix.lower() in PARQUET:
        frame.to_parquet(file, index=False)
    else:
        frame.to_csv(file, index=False, float_format="%.10g", lineterminator="\n")
    pages.write_file(path, file.getvalue())


def predictions(result: TableForecast) -> Any:
    """Return the forecasts of the test blocks, with actual values, and of future rows as a frame.

    The columns are the id if there are several series, time, part, steps_ahead, actual, forecast,
    lower, upper, and the naive baselines.
    """
    import pandas

    series, parts = result.series, {"held-out": result.backtest.errors, "future": result.future}
    rows = pandas.concat(parts, names=["part"]).reset_index("part")
    order = {history.name: i for i, history in enumerate(series.panel.histories)}
    rows = rows.iloc[np.argsort(rows["unique_id"].map(order), kind="stable")]
    bounds = [] if result.interval is None else ["lower", "upper"]
    _, *baselines = result.backtest.methods
    columns = ["ds", "part", "step", "y", "forecast", *bounds, *baselines]
    names = {"ds": "time", "step": "steps_ahead", "y": "actual"}
    names |= {name: name.replace(" ", "_") for name in baselines}
    if len(series.panel) > 1 or series.id:
        taken = ["", *(names.get(name, name) for name in columns)]
        names["unique_id"] = "series" if series.id in taken else series.id
        columns = ["unique_id", *columns]
    return rows[columns].rename(columns=names).reset_index(drop=True)


def write_page(result: TableForecast, out: Path, origin: dict[str, Any]) -> None:
    """Write an HTML report.

    ``origin`` contains further variables of the template: the names of the input and output files,
    the arguments of ``read_table``, the command line, and its running time in seconds.
    """
    fitted, series, horizon = result.forecaster.fitted_, result.series, result.forecaster.horizon
    means = result.future["forecast"].to_numpy().reshape(-1, horizon)
    values = contents(fitted, means, result.interval, result.backtest) | origin
    values |= {
        "constructor": constructor_call(result.forecaster),
        "notes": series.notes,
        "verdicts": verdicts(result.backtest),
        "marks": MARKS,
        "margin": f"{MARGIN:.0%}",
    }
    templates = pages.environment("eigenecho.cli", "eigenecho.forecasting")
    page = templates.get_template("forecast.html.jinja").render(values)
    pages.write_file(out, page.encode())
