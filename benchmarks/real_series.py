"""Compare forecasts of all real series in statsmodels and sktime with other libraries.

The series are listed in ``forecasts/catalogue.py``. Horizons and seasons follow from the frequency,
and ``Forecaster`` selects its models on the rows before each origin. Every forecast is stored, so
an interrupted run can be resumed and the other libraries run only once. ``make bench-forecast``
installs them into ``.venv-peers`` and runs this script.
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
            "Forecast accuracy on real series",
            lambda: [load(entry) for entry in CATALOGUE],
            ROOT / "results" / "forecasts",
            ROOT / "docs" / "forecast-benchmark.md",
        )
    )
