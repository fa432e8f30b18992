"""Tables as tests write and read them."""

from __future__ import annotations

from contextlib import contextmanager

import numpy as np
import pandas as pd
import pytest

from eigenecho.data.read_table import read_table
from eigenecho.forecasting import selection

DAYS = pd.date_range("2023-01-30", periods=40, freq="D")
VALUES = np.round(10 + np.sin(np.arange(40.0)) + 0.1 * np.arange(40), 4)


def frame():
    return pd.DataFrame({"date": DAYS.strftime("%Y-%m-%d"), "sales": VALUES, "heat": VALUES[::-1]})


def saved(tmp_path, data, name="data.csv", **options):
    path = tmp_path / name
    if isinstance(data, bytes):
        path.write_bytes(data)
    else:
        data.to_csv(path, index=False, **options)
    return path


def loaded(tmp_path, data, target="sales", **options):
    return read_table(saved(tmp_path, data), target, **options)


@contextmanager
def few_candidates():
    """Reduce the candidates of forecasters, to save time."""
    spectra_of = selection.candidate_spectra

    def few(rows, seasons):
        found = spectra_of(rows, seasons)
        rings = [name for name in found if name.startswith("season")][:1]
        return {name: found[name] for name in ("short", *rings)}

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(selection, "candidate_spectra", few)
        yield
