"""Load the series of the catalogue from the files of installed packages."""

from __future__ import annotations

from importlib.util import find_spec
from pathlib import Path

import numpy as np

from forecasts.catalogue import UNROLLED, Entry
from forecasts.protocol import Series


def load(entry: Entry) -> Series:
    """Load one series; raise ``ValueError`` if the file differs from the catalogue."""
    import pandas as pd

    table = pd.read_csv(folder(entry.package) / entry.file)
    if entry.column == UNROLLED:
        values = table.iloc[:, 1:].to_numpy(float).ravel()
    else:
        values = table[entry.column].to_numpy(float)
    if len(values) != entry.rows:
        raise ValueError(
            f"{entry.name}: got {len(values)} rows from {entry.package}, expected {entry.rows}; "
            f"install the versions of the extra forecast-peers"
        )
    return Series(entry.name, np.asarray(values), entry.frequency)


def folder(package: str) -> Path:
    """Return the folder of an installed package without importing it."""
    spec = find_spec(package)
    if spec is None or not spec.submodule_search_locations:
        raise ModuleNotFoundError(
            f"{package} is not installed, and its data is forecast here; "
            f"run `make bench-forecast`, which installs it into .venv-peers"
        )
    return Path(next(iter(spec.submodule_search_locations)))
