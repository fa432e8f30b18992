"""Figures of spectra, predictions, forecasts and certificates.

They need matplotlib (``pip install 'eigenecho[cli]'``).

Every function draws on the axes that it is given, or on a new figure without a window: show it in
a notebook, or save it with ``ax.figure.savefig(…)``.
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
