"""A table of all forecasts: of rows held out, with what came, and of those ahead."""

from __future__ import annotations

import io
from pathlib import Path
from typing import Any

import numpy as np

from eigenecho import pages
from eigenecho.apps.tables.named_clock import NamedClock
from eigenecho.apps.tables.table import need_pandas
from eigenecho.apps.tables.table_files import PARQUET
from eigenecho.apps.tables.tested_forecast import TestedForecast

SERIES = "series"
"""The column that tells targets apart where there is no id."""


def predictions(result: TestedForecast) -> Any:
    """A DataFrame: held-out rows with the truth, then the future; naive forecasts beside ours.

    Columns: the id where there are several series, time, part, steps_ahead, actual, forecast,
    lower, upper, and one for each naive forecast.
    """
    names, column = result.series.names, result.series.columns.id
    parts = [part for name in names for part in (_held_out(result, name), _ahead(result, name))]
    frame = need_pandas().concat(parts, ignore_index=True)
    bounds = [] if result.interval is None else ["lower", "upper"]
    methods = [name for name in result.backtest.methods if name != "forecast"]
    keys = [SERIES] if len(names) > 1 or column is not None else []
    found = [*keys, "time", "part", "steps_ahead", "actual", "forecast", *bounds, *methods]
    renamed = {name: name.replace(" ", "_") for name in methods}
    is_free = column not in (None, *found, *renamed.values())
    return frame[found].rename(columns=renamed | ({SERIES: column} if is_free else {}))


def write(result: TestedForecast, path: Path) -> None:
    """Write them as Parquet or, by any other ending, as CSV."""
    frame, file = predictions(result), io.BytesIO()
    if path.suffix.lower() in PARQUET:
        frame.to_parquet(file, index=False)
    else:
        times = need_pandas().Index(frame["time"])
        clock = NamedClock(times if times.dtype.kind == "M" else times.to_numpy(), 1)
        frame["time"] = clock.text(clock.times)
        frame.to_csv(file, index=False, float_format="%.10g", lineterminator="\n")
    pages.write_whole(path, file.getvalue())


def _held_out(result: TestedForecast, name: str) -> Any:
    rows = result.backtest.errors
    rows = rows[rows["unique_id"] == name].rename(columns={"step": "steps_ahead", "y": "actual"})
    times = rows["ds"].array
    if result.series.by_rows:
        times = result.series.clocks[name].times[rows["ds"].to_numpy() - 1]
    return rows.assign(**{SERIES: name, "time": times, "part": "held-out"})


def _ahead(result: TestedForecast, name: str) -> Any:
    future = result.future[name]
    steps = np.arange(1, len(future) + 1)
    known = {SERIES: name, "time": future.index, "part": "future", "steps_ahead": steps}
    return future.assign(**known, actual=np.nan)
