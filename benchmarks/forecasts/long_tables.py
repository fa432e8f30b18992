"""Tables for long horizons, with the splits that the literature uses."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import numpy as np

MONTH = 30 * 24
"""Rows per month of hourly data in the ETT protocol."""


@dataclass(frozen=True)
class Table:
    """A table standardised by its training rows, and where its splits end.

    values  (rows, columns): columns standardised by the mean and std of the training rows
    train, validation, test   rows at which these splits end; the first starts at 0
    day     rows a day, or a week of days: the season of the naive forecast
    """

    name: str
    values: np.ndarray
    train: int
    validation: int
    test: int
    day: int


def cuts(name: str, rows: int) -> tuple[int, int, int]:
    """Return the ends of the splits: 12, 4 and 4 months for ETT, else 70%, 10% and 20%."""
    if name.startswith(("ETTh", "ETTm")):
        month = MONTH * (4 if name.startswith("ETTm") else 1)
        return 12 * month, 16 * month, 20 * month
    return int(0.7 * rows), rows - int(0.2 * rows), rows


def tables(folder: Path) -> list[Path]:
    """Return the CSV files of a folder, sorted by name."""
    return sorted(path for path in folder.iterdir() if path.name.endswith((".csv", ".csv.gz")))


def read(path: Path) -> Table:
    """Read a CSV file with a column ``date``, standardised by its training rows."""
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
    """Standardise columns by the mean and std of their first ``rows`` rows."""
    training = values[:rows]
    deviation = training.std(axis=0)
    return (values - training.mean(axis=0)) / np.where(deviation > 0, deviation, 1)


def seasonal_naive_errors(table: Table, horizon: int) -> tuple[float, float]:
    """Return the MSE and MAE of repeating the last day, over all origins of the test rows."""
    values, day = table.values, table.day
    square = absolute = 0.0
    count = 0
    for step in range(horizon):
        # Compare row `step` after an origin with the same time on the day before the origin.
        back = day * (step // day + 1)
        rows = slice(table.validation + step, table.test - horizon + step + 1)
        before = slice(rows.start - back, rows.stop - back)
        difference = values[rows] - values[before]
        square += float((difference**2).sum())
        absolute += float(np.abs(difference).sum())
        count += difference.size
    return square / count, absolute / count
