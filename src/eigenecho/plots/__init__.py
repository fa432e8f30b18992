"""Figures of spectra, predictions, forecasts and certificates.

They require matplotlib (``pip install 'eigenecho[cli]'``).

Functions draw on given axes, or on a new figure without a window, which can be displayed in a
notebook or saved with ``ax.figure.savefig(…)``.
"""

from eigenecho.plots.backtest import MOST_SERIES, backtest
from eigenecho.plots.certificate import certificate, reduction
from eigenecho.plots.prediction import prediction
from eigenecho.plots.spectrum import spectra_gallery, spectrum

__all__ = [
    "MOST_SERIES",
    "backtest",
    "certificate",
    "prediction",
    "reduction",
    "spectra_gallery",
    "spectrum",
]
