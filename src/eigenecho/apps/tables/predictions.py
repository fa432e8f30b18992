"""A table of all forecasts: of rows held out, with what came, and of those ahead."""

from __future__ import annotations

import io
from collections.abc import Hashable
from pathlib import Path
from typing import Any

import numpy as np

from eigenecho.apps.shared import pages
from eigenecho.apps.tables.table import need_pandas
from eigenecho.apps.tables.table_files import PARQUET
from eigenecho.apps.tables.tested_forecast import TestedForecast
from eigenecho.forecasting.clock import Clock

SERIES = "series"
"""The column that tells targets apart where there is no id."""


def predictions(result: TestedForecast) -> Any:
    """A DataFrame: held-out rows with the truth, then the future; naive forecasts beside ours.

    Columns: the id where there are several series, time, part, steps_ahead, actual, forecast,
    lower, upper, and one for each naive forecast.
    """
    pandas = need_pandas()
    frame = pandas.concat(
        [part for name in result.series.names for part in (_held_out(result, name), _ahead(result, name))],
        ignore_index=True,
    )  # fmt: skip
    if len(result.series.names) == 1 and result.series.columns.id is None:
        return frame.drop(columns=SERIES)
    return frame.rename(columns={SERIES: result.series.columns.id or SERIES})


def write(result: TestedForecast, path: Path) -> None:
    """Write them as Parquet or, by any other ending, as CSV."""
    frame, file = predictions(result), io.BytesIO()
    if path.suffix.lower() in PARQUET:
        frame.to_parquet(file, index=False)
    else:
        times = need_pandas().Index(frame["time"])
        clock = Clock("", times if times.dtype.kind == "M" else times.to_numpy(), 1)
        frame["time"] = clock.text(clock.times)
        frame.to_csv(file, index=False, float_format="%.10g", lineterminator="\n")
    pages.write_whole(path, file.getvalue())


def _held_out(result: TestedForecast, name: Hashable) -> Any:
    rows = result.backtest.errors
    rows = rows[rows["unique_id"] == name]
    times = rows["ds"]
    if result.series.by_rows:
        times = result.series.clocks[name].times[rows["ds"].to_numpy() - 1]
    return _table(result, name, "held-out", times, rows["step"].to_numpy(), rows["y"], rows)


def _ahead(result: TestedForecast, name: Hashable) -> Any:
    future = result.future[name]
    steps = np.arange(1, len(future) + 1)
    return _table(result, name, "future", future.index, steps, np.nan, future)


def _table(
    result: TestedForecast, name: Hashable, part: str, times: Any, steps: Any, actual: Any,
    made: Any,
) -> Any:  # fmt: skip
    """Rows of one part of one series."""
    bounds = [] if result.interval is None else ["lower", "upper"]
    columns = {
        SERIES: name,
        "time": np.asarray(times),
        "part": part,
        "steps_ahead": steps,
        "actual": np.asarray(actual) if np.ndim(actual) else actual,
    }
    for method in ("forecast", *bounds):
        columns[method] = made[method].to_numpy()
    for method in result.backtest.methods[1:]:
        label = result.called(method).replace(",", "").replace(" ", "_")
        columns[label] = made[method].to_numpy()
    return need_pandas().DataFrame(columns)
