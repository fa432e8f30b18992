"""The lines of Python that do what a command did, from the table on."""

from __future__ import annotations

from typing import Any

from eigenecho.apps.tables.table import GROUPED, Table
from eigenecho.apps.tables.table_files import PARQUET
from eigenecho.apps.tables.tested_forecast import TestedForecast
from eigenecho.apps.tables.time_series import TableSeries
from eigenecho.estimators.python_lines import made

UNUSUAL = {"na", "none", "-", "?"}
"""Cells that say that there is nothing, and that pandas reads as text."""


def python_lines(result: TestedForecast, table: Table, encoding: str = "") -> str:
    """Reading, fitting, forecasting and testing, for a script or a notebook."""
    series = result.series
    X = ", X" if series.X is not None else ""
    interval = "" if result.interval is None else f"interval={result.interval:g}"
    tested = f"y{X}, origins={result.blocks}" + (f", {interval}" if interval else "")
    lines = [
        "import eigenecho as ee",
        "import pandas as pd",
        "",
        *_reading(table, series, encoding),
        *_series(series),
        "",
        f"forecaster = {made(result.forecaster)}",
        f"print(forecaster.fit(y{X}).predict({interval}))",
        f"print(forecaster.backtest({tested}))",
    ]
    return "\n".join(lines)


def _reading(table: Table, series: TableSeries, encoding: str) -> list[str]:
    """The table, with times as times."""
    columns, path = series.columns, str(table.path)
    if table.path.suffix.lower() in PARQUET:
        as_text = "" if columns.id is None else f".astype({{{columns.id!r}: 'str'}})"
        lines = [f"table = pd.read_parquet({path!r}).reset_index(){as_text}"]
    else:
        options = _csv_options(table, series, encoding)
        said = "".join(f", {name}={value!r}" for name, value in options.items() if value)
        lines = [f"table = pd.read_csv({path!r}{said})"]
    time = f"table[{columns.time!r}]"
    if series.code not in ("", "{}"):
        lines.append(f"{time} = {series.code.format(time)}")
    if series.by_rows and series.code:
        lines.append(f"table = table.sort_values({columns.time!r})")
    if series.by_rows:
        counted = "range(1, len(table) + 1)"
        if columns.id is not None:
            counted = f"table.groupby({columns.id!r}).cumcount() + 1"
        lines.append(f"{time} = {counted}")
    return lines


def _csv_options(table: Table, series: TableSeries, encoding: str) -> dict[str, Any]:
    """Of read_csv, those that are not as usual."""
    columns = series.columns
    used = [table.names.index(name) for name in (*columns.targets, *columns.beside)]
    marks = {str(cell).strip() for i in used for cell in table.columns[i]}
    as_text = [] if columns.id is None else [columns.id]
    thousands = ""
    if table.decimal is not None and any(map(GROUPED[table.decimal].fullmatch, marks)):
        thousands = "," if table.decimal == "." else "."
        if "to_datetime" in series.code:  # pandas would take 31.12.2024 for a number
            as_text.append(str(columns.time))
    return {
        "sep": table.sep.replace(",", ""),
        "decimal": "," if table.decimal == "," else "",
        "thousands": thousands,
        "encoding": encoding,
        "na_values": sorted(mark for mark in marks if mark.lower() in UNUSUAL),
        "dtype": dict.fromkeys(as_text, "str"),
    }


def _series(series: TableSeries) -> list[str]:
    """Y and X, in the order of time where that matters."""
    columns, is_long = series.columns, series.columns.id is not None
    targets, inputs = list(columns.targets), list(columns.inputs)
    keys = [columns.id, columns.time] if is_long else []
    frame = "table" if is_long else f"table.set_index({columns.time!r})"
    if series.trimmed or series.filled or series.last is not None:
        frame += f".sort_values({columns.time!r})" if is_long else ".sort_index()"
    by_id = f".groupby({columns.id!r})" if is_long else ""
    lines = [f"y = {frame}[{[*keys, *targets]!r}]"]
    if series.trimmed and is_long:
        seen = f"y{by_id}[{targets[0]!r}]"
        lines.append(f"y = y[{seen}.ffill().notna() & {seen}.bfill().notna()]")
    elif series.trimmed:
        lines.append("y = y.loc[y.first_valid_index():y.last_valid_index()]")
    if series.last is not None:
        lines.append(f"y = y{by_id}.tail({series.last})")
    if series.X is not None:
        lines.append(f"X = {frame}[{[*keys, *columns.beside]!r}]")
    if series.filled:
        lines.append(f"X[{inputs!r}] = X{by_id}[{inputs!r}].ffill()")
    return lines
