"""Series in pandas objects with every kind of index, and exogenous columns for them."""

from __future__ import annotations

import numpy as np
import pytest

pd = pytest.importorskip("pandas")

RNG = np.random.default_rng(0)
H = 5


def dates(freq, zone=None, periods=40):
    return pd.date_range("2024-03-01", periods=periods, freq=freq, tz=zone, name="when")


INDEXES = {
    "days": dates("D"),
    "days in Berlin": dates("D", "Europe/Berlin"),
    "hours": dates("h"),
    "hours in Berlin": pd.date_range(
        "2024-03-30 12:00", periods=40, freq="h", tz="Europe/Berlin", name="when"
    ),
    "quarter hours in New York": pd.date_range(
        "2024-11-02 18:00", periods=60, freq="15min", tz="America/New_York", name="when"
    ),
    "business days": dates("B"),
    "every second business day": dates("2B"),
    "weeks": dates("W-FRI", "UTC"),
    "month starts": dates("MS", "Europe/Berlin"),
    "month ends": dates("ME"),
    "quarters": dates("QS-FEB"),
    "years": dates("YE"),
    "seconds": dates("D").as_unit("s"),
    "periods of months": pd.period_range("2020-01", periods=40, freq="M", name="when"),
    "periods of quarters": pd.period_range("2020Q2", periods=40, freq="Q-NOV", name="when"),
    "periods of hours": pd.period_range("2020-01-01", periods=40, freq="h"),
    "range": pd.RangeIndex(40),
    "range by 10": pd.RangeIndex(5, 405, 10, name="row"),
    "numbers": pd.Index(np.arange(3, 123, 3), name="n"),
    "numbers from 1": pd.Index(np.arange(1, 41)),
    "years as numbers": pd.Index(1990 + 0.25 * np.arange(40)),
}


DAYS = INDEXES["days"]


def series(index, seed=0, name="load"):
    return pd.Series(np.random.default_rng(seed).normal(size=len(index)), index, name=name)


def wide(index):
    return pd.DataFrame(
        RNG.normal(size=(len(index), 3)), index, pd.Index(["a", "b", "c"], name="shop")
    )


def long(index):
    frame = wide(index).rename_axis("ds")
    return frame.reset_index().melt("ds", var_name="unique_id", value_name="y")


def naive(panel, h=H):
    return [np.arange(h) + 10.0 * i for i in range(len(panel))]


def drivers(index, columns=("u", "v")):
    values = np.arange(len(index) * len(columns), dtype=float).reshape(len(index), -1)
    return pd.DataFrame(values, index, list(columns))


def as_long(X, ids=("a", "b", "c")):
    frames = [X.rename_axis("ds").reset_index().assign(unique_id=name) for name in ids]
    return pd.concat(frames, ignore_index=True)
