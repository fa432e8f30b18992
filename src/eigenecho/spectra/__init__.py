"""Eigenvalues of reservoirs and the laws that place or draw them.

``from_data`` is defined in a higher layer, because it trains networks. It is loaded on first use.
"""

from __future__ import annotations

import importlib
from typing import Any

from eigenecho.spectra.golden import golden, noisy_golden
from eigenecho.spectra.laws import LAWS, JoinedLaw, joined, law
from eigenecho.spectra.memory import memory_curve
from eigenecho.spectra.random import from_matrix, random_matrix, sim, uniform
from eigenecho.spectra.ring import log_ring, ring, time_constants
from eigenecho.spectra.spectrum import Spectrum

from_values = Spectrum.from_values

__all__ = [
    "LAWS",
    "JoinedLaw",
    "Spectrum",
    "from_data",
    "from_matrix",
    "from_values",
    "golden",
    "joined",
    "law",
    "log_ring",
    "memory_curve",
    "noisy_golden",
    "random_matrix",
    "ring",
    "sim",
    "time_constants",
    "uniform",
]


def __getattr__(name: str) -> Any:
    if name == "from_data":
        function = globals()[name] = importlib.import_module("eigenecho.model.from_data").from_data
        return function
    raise AttributeError(f"module 'eigenecho.spectra' has no attribute {name!r}")
