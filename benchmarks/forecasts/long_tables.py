"""Tables of long horizons: a date and numeric columns, cut as the literature cuts them."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import numpy as np

MONTH = 30 * 24
"""Rows of an hourly month, as ETT's months are counted."""


@dataclass(frozen=True)
class Table:
    """A table in units of its training rows, and where its parts end.

    values  (rows, columns): every column minus its mean, over its deviation, of the training rows
    train, validation, test   rows at which these parts end; the first begins at 0
    day     rows a day, or a week of days: the season of the naive forecast
    """

    name: str
    values: np.ndarray
    train: int
    validation: int
    test: int
    day: int


def cuts(name: str, rows: int) -> tuple[int, int, int]:
    """Where the parts end: 12, 4 and 4 months for ETT, else 70, 10 and 20 % of the rows."""
    if name.startswith(("ETTh", "ETTm")):
        month = MONTH * (4 if name.startswith("ETTm") else 1)
        return 12 * month, 16 * month, 20 * month
    return int(0.7 * rows), rows - int(0.2 * rows), rows


def tables(folder: Path) -> list[Path]:
    """The files of a folder, by name."""
    return sorted(path for path in folder.iterdir() if path.name.endswith((".csv", ".csv.gz")))


def read(path: Path) -> Table:
    """A table from a CSV file with a column ``date``, in the units of its training rows."""
    import pandas as pd

    name = path.name.split(".")[0]
    frame = pd.read_csv(path, parse_dates=["date"])
    values = frame.drop(columns="date").to_numpy(float)
    train, validation, test = cuts(name, len(values))
    if test > len(values):
        raise ValueError(f"{path.name}: got {len(values)} rows, expected at least {test}")
    step = frame["date"].diff().median()
    day = max(1, round(pd.Timedelta(days=1) / step))
    standardised = standardise(values, train)
    return Table(name, standardised, train, validation, test, day if day > 1 else 7)


def standardise(values: np.ndarray, rows: int) -> np.ndarray:
    """Columns minus the mean, over the deviation, of their first ``rows`` rows."""
    known = values[:rows]
    deviation = known.std(axis=0)
    return (values - known.mean(axis=0)) / np.where(deviation > 0, deviation, 1)


def seasonal_naive_errors(table: Table, horizon: int) -> tuple[float, float]:
    """MSE and MAE of the last day, again and again, at every origin of the test rows."""
    values, day = table.values, table.day
    square = absolute = 0.0
    count = 0
    for step in range(horizon):
        # Row `step` after an origin is compared with the row of the day before the origin.
        back = day * (step // day + 1)
        rows = slice(table.validation + step, table.test - horizon + step + 1)
        before = slice(rows.start - back, rows.stop - back)
        difference = values[rows] - values[before]
        square += float((difference**2).sum())
        absolute += float(np.abs(difference).sum())
        count += difference.size
    return square / count, absolute / count
