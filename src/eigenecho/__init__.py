"""Exact linear echo state networks in the eigenbasis, with O(N) operations per step.

    import eigenecho as ee

    esn = ee.LinearESN(units=100, spectrum="golden", sr=0.9, seed=0).fit(X, y)
    esn.predict(X)
    esn.forecast(200)

Public names are loaded when they are first used.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

__version__ = "0.3.0"

_MODULES = ("errors", "features", "metrics", "plots", "spectra", "tasks")
_NAMES = {
    "Basis": "eigenecho.basis",
    "DiagonalReservoir": "eigenecho.estimators",
    "Forecaster": "eigenecho.estimators",
    "LinearESN": "eigenecho.estimators",
    "LinearModel": "eigenecho.model",
    "ReservoirClassifier": "eigenecho.estimators",
    "ReservoirFeatures": "eigenecho.estimators",
    "Spectrum": "eigenecho.spectra",
    "State": "eigenecho.model",
    "delay_line": "eigenecho.transition",
    "diagonalize": "eigenecho.convert",
    "from_reservoirpy": "eigenecho.interop",
    "load": "eigenecho.files",
    "probe": "eigenecho.model.compare",
    "search": "eigenecho.grid_search",
}

__all__ = ["__version__", *_MODULES, *_NAMES]

if TYPE_CHECKING:
    from eigenecho import errors, features, metrics, plots, spectra, tasks
    from eigenecho.basis import Basis
    from eigenecho.convert import diagonalize
    from eigenecho.estimators import (
        DiagonalReservoir,
        Forecaster,
        LinearESN,
        ReservoirClassifier,
        ReservoirFeatures,
    )
    from eigenecho.files import load
    from eigenecho.grid_search import search
    from eigenecho.interop import from_reservoirpy
    from eigenecho.model import LinearModel, State
    from eigenecho.model.compare import probe
    from eigenecho.spectra import Spectrum
    from eigenecho.transition import delay_line


def __getattr__(name: str) -> Any:
    if name in _MODULES:
        return importlib.import_module(f"eigenecho.{name}")
    if name in _NAMES:
        # Store the name, so that the next access does not call this function.
        value = globals()[name] = getattr(importlib.import_module(_NAMES[name]), name)
        return value
    raise AttributeError(f"module 'eigenecho' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted(__all__)
