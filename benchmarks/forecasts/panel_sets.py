"""Sets of series with their test rows, read from simple files.

A folder may contain

- ``NAME.json`` or ``NAME.json.gz``: ``{PERIOD: {"train": [[…], …], "test": [[…], …]}, …}``. Every
  period is a set, and PERIOD is a key of ``PERIODS``. The horizon is the number of test rows.
- ``NAME.csv`` or ``NAME.csv.gz``: a column ``date`` and numeric columns, each of them a series. As
  in GIFT-Eval, windows of one horizon at the end of the table are forecast, each from all rows
  before it.

The series of each set have a random order, drawn by one generator per file with seed 7, set by set.
The first half of this order is used for design choices, the second one for reports.
"""

from __future__ import annotations

import gzip
import json
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from forecasts.long_tables import tables


@dataclass(frozen=True)
class Period:
    """Seasons in rows, of the models and of the scale of MASE, and the horizon of tables.

    M4 and GIFT-Eval scale the errors of daily and weekly series by steps of one row.
    """

    season: int
    scale: int
    horizon: int


PERIODS = {
    "YEARLY": Period(1, 1, 6),
    "QUARTERLY": Period(4, 4, 8),
    "MONTHLY": Period(12, 12, 12),
    "WEEKLY": Period(52, 1, 8),
    "DAILY": Period(7, 1, 30),
    "HOURLY": Period(24, 24, 48),
    "OTHER": Period(1, 1, 8),
}
"""Seasons as in M4 and horizons as in GIFT-Eval."""

HALVES = ("design", "report")
SEED = 7
TEST_SHARE, MOST_WINDOWS = 0.1, 20
"""Windows of a table cover this share of its rows, and are at most this many, as in GIFT-Eval."""


@dataclass(frozen=True, eq=False)
class Item:
    """One series to forecast: its name, training rows and test rows.

    Items of the same ``window`` form a panel, because they end at the same time.
    """

    name: str
    train: np.ndarray
    test: np.ndarray
    window: int = 0


@dataclass(frozen=True, eq=False)
class PanelSet:
    """Series of one period, and their names in random order."""

    name: str
    period: Period
    items: tuple[Item, ...]
    order: tuple[str, ...]

    @property
    def horizon(self) -> int:
        """The largest number of test rows."""
        return max(len(item.test) for item in self.items)

    @property
    def panels(self) -> list[list[Item]]:
        """The items of each window."""
        by_window = defaultdict(list)
        for item in self.items:
            by_window[item.window].append(item)
        return list(by_window.values())

    def sample(self, half: str | None = None, count: int | None = None) -> PanelSet:
        """Return a random half of the series, or ``count`` of them, always the same ones."""
        order = self.order
        if half is not None:
            middle = len(order) // 2
            order = order[:middle] if half == "design" else order[middle:]
        order = order[:count]
        items = tuple(item for item in self.items if item.name in order)
        return PanelSet(self.name, self.period, items, order)


def read_sets(folder: Path) -> list[PanelSet]:
    """Read all sets of a folder, sorted by the names of the files."""
    files = [path for path in folder.iterdir() if path.name.endswith((".json", ".json.gz"))]
    sets = [s for path in sorted(files) for s in read_competition(path)]
    return sets + [read_table(path) for path in tables(folder)]


def read_competition(path: Path) -> list[PanelSet]:
    """Read training and test rows by period."""
    opened = gzip.open if path.suffix == ".gz" else open
    with opened(path, "rt", encoding="utf-8") as file:
        by_period = json.load(file)
    name = path.name.split(".")[0]
    rng = np.random.default_rng(SEED)
    sets = []
    for key, parts in by_period.items():
        if key not in PERIODS:
            raise ValueError(f"{path.name}: got period {key!r}, expected one of {list(PERIODS)}")
        pairs = zip(parts["train"], parts["test"], strict=True)
        items = tuple(
            Item(str(i), np.array(train, float), np.array(test, float))
            for i, (train, test) in enumerate(pairs)
        )
        order = _random_order([item.name for item in items], rng)
        sets.append(PanelSet(f"{name} {key.lower()}", PERIODS[key], items, order))
    return sets


def read_table(path: Path) -> PanelSet:
    """Read a table, with one item for each column and window."""
    import pandas as pd

    frame = pd.read_csv(path, parse_dates=["date"])
    step = frame.pop("date").diff().median()
    days = {
        "HOURLY": 1 / 24,
        "DAILY": 1,
        "WEEKLY": 7,
        "MONTHLY": 30,
        "QUARTERLY": 91,
        "YEARLY": 365,
    }
    period = PERIODS[min(days, key=lambda key: abs(np.log(step / pd.Timedelta(days=days[key]))))]
    horizon, rows = period.horizon, len(frame)
    windows = min(max(1, int(np.ceil(TEST_SHARE * rows / horizon))), MOST_WINDOWS)
    values = frame.to_numpy(float)
    items = []
    for window in range(windows):
        origin = rows - (windows - window) * horizon
        for name, column in zip(frame.columns, values.T, strict=True):
            test = column[origin : origin + horizon]
            items.append(Item(str(name), column[:origin], test, window))
    order = _random_order([str(name) for name in frame.columns], np.random.default_rng(SEED))
    return PanelSet(path.name.split(".")[0], period, tuple(items), order)


def _random_order(names: Sequence[str], rng: np.random.Generator) -> tuple[str, ...]:
    return tuple(names[i] for i in rng.permutation(len(names)))
