"""Forecasts of all real series in statsmodels and sktime, against what people use.

The series are listed in ``forecasts/catalogue.py``, horizons and seasons follow from the
frequency, and everything that ``Forecaster`` chooses it chooses on the rows before an origin.
Forecasts are stored one by one: a run that was interrupted goes on, and peers run once.
``make bench-forecast`` installs the peers into ``.venv-peers`` and runs this.
"""

from __future__ import annotations

import sys
from pathlib import Path

from forecasts.catalogue import CATALOGUE
from forecasts.command import main
from forecasts.loading import load

ROOT = Path(__file__).resolve().parent.parent


if __name__ == "__main__":
    sys.exit(
        main(
            "Forecasts of real series",
            lambda: [load(entry) for entry in CATALOGUE],
            ROOT / "results" / "forecasts",
            ROOT / "docs" / "forecast-benchmark.md",
        )
    )
