"""The lines of Python that do what a command did."""

from __future__ import annotations

from typing import Any

from eigenecho.apps.tables.table import Table
from eigenecho.apps.tables.table_files import PARQUET
from eigenecho.apps.tables.tested_forecast import TestedForecast
from eigenecho.apps.tables.time_series import TableSeries

UNUSUAL = {"na", "none", "-", "?"}
"""Cells that say that there is nothing, and that pandas reads as text."""


def python_lines(result: TestedForecast, table: Table, encoding: str = "") -> str:
    """Reading, fitting, forecasting and testing, for a script or a notebook."""
    series = result.series
    interval = "" if result.interval is None else f"interval={result.interval:g}"
    X = ", X" if series.X is not None else ""
    tested = ", ".join([f"y{X}, origins={result.blocks}", *([interval] if interval else [])])
    lines = [
        "import eigenecho as ee",
        "import pandas as pd",
        "",
        *_reading(table, series, encoding),
        *_series(series),
        "",
        _forecaster(result.forecaster),
        f"print(forecaster.fit(y{X}).predict({interval}))",
        f"print(forecaster.backtest({tested}))",
    ]
    return "\n".join(lines)


def _reading(table: Table, series: TableSeries, encoding: str) -> list[str]:
    """The table with its times as times, in their order."""
    columns = series.columns
    if table.path.suffix.lower() in PARQUET:
        lines = [f"table = pd.read_parquet({str(table.path)!r}).reset_index()"]
        if columns.id is not None:
            lines.append(f"table[{columns.id!r}] = table[{columns.id!r}].astype(str)")
    else:
        options = _csv_options(table, series, encoding)
        said = "".join(f", {name}={value!r}" for name, value in options.items())
        lines = [f"table = pd.read_csv({str(table.path)!r}{said})"]
    if series.code not in ("", "{}"):
        time = f"table[{columns.time!r}]"
        lines.append(f"{time} = {series.code.format(time)}")
    if series.code and series.by_rows:
        lines.append(f"table = table.sort_values({columns.time!r})")
    return lines


def _csv_options(table: Table, series: TableSeries, encoding: str) -> dict[str, Any]:
    columns = series.columns
    used = [table.names.index(name) for name in (*columns.targets, *columns.beside)]
    marks = {str(cell).strip() for i in used for cell in table.columns[i]}
    options: dict[str, Any] = {
        "sep": table.sep if table.sep != "," else None,
        "decimal": table.decimal if table.decimal != "." else None,
        "encoding": encoding or None,
        "na_values": sorted(mark for mark in marks if mark.lower() in UNUSUAL) or None,
        "dtype": None if columns.id is None else {columns.id: str},
    }
    return {name: value for name, value in options.items() if value is not None}


def _series(series: TableSeries) -> list[str]:
    """y and X, and the rows of them that are learnt from."""
    columns, targets = series.columns, list(series.columns.targets)
    if columns.id is not None:
        return _long(series)
    by_rows = series.by_rows
    frame = "table.reset_index(drop=True)" if by_rows else f"table.set_index({columns.time!r})"
    lines = [f"y = {frame}[{targets!r}].dropna(how='all')"]
    if series.X is not None:
        known = list(columns.beside)
        lines.append(f"X = {frame}[{known!r}]")
    return lines


def _long(series: TableSeries) -> list[str]:
    columns = series.columns
    keys = [columns.id, columns.time]
    lines = []
    if series.by_rows:
        lines.append(f"table[{columns.time!r}] = table.groupby({columns.id!r}).cumcount() + 1")
    lines.append(f"y = table[{[*keys, columns.targets[0]]!r}].dropna()")
    if series.X is not None:
        lines.append(f"X = table[{[*keys, *columns.beside]!r}]")
    return lines


def _forecaster(forecaster: Any) -> str:
    """The call that makes one, with what is not as by default."""
    usual = type(forecaster)().get_params()
    given = {
        name: value
        for name, value in forecaster.get_params().items()
        if name not in ("horizon", "progress") and value != usual[name]
    }
    said = "".join(f", {name}={value!r}" for name, value in given.items())
    return f"forecaster = ee.Forecaster({forecaster.horizon}{said})"
