"""Helpers that write and read tables."""

from __future__ import annotations

from contextlib import contextmanager
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest

from eigenecho.apps.tables.table_files import read
from eigenecho.apps.tables.time_series import TableColumns, from_table
from eigenecho.forecasting import selection

pandas_3 = pytest.mark.skipif(
    int(pd.__version__.partition(".")[0]) < 3, reason="pandas 2 reads dates of 1677 to 2262 alone"
)

DAYS = pd.date_range("2023-01-30", periods=40, freq="D")
VALUES = np.round(10 + np.sin(np.arange(40.0)) + 0.1 * np.arange(40), 3)


def frame():
    return pd.DataFrame({"date": DAYS.strftime("%Y-%m-%d"), "sales": VALUES, "heat": VALUES[::-1]})


def saved(tmp_path, data, name="data.csv", **options):
    path = tmp_path / name
    if isinstance(data, bytes):
        path.write_bytes(data)
    else:
        data.to_csv(path, index=False, **options)
    return path


def one(series):
    """Return the only series of a table, and its times."""
    (name,) = series.names
    return SimpleNamespace(
        values=series.values[name], clock=series.clocks[name], X=series.X, notes=series.notes,
        by_rows=series.by_rows, y=series.y,
    )  # fmt: skip


def taken(path, target="sales", *, reading=None, gaps="error", last=None, **columns):
    return from_table(
        read(path, **(reading or {})), TableColumns((target,), **columns), gaps=gaps, last=last
    )


def loaded(tmp_path, data, target="sales", **options):
    return one(taken(saved(tmp_path, data), target, **options))


@contextmanager
def few_candidates():
    """Restrict model selection to few candidates."""
    spectra_of = selection.candidate_spectra

    def few(rows, seasons):
        result = spectra_of(rows, seasons)
        rings = [name for name in result if name.startswith("season")][:1]
        return {name: result[name] for name in ("short", *rings)}

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(selection, "candidate_spectra", few)
        yield
