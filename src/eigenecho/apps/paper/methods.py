"""The paper's methods as parameters of ``LinearESN``."""

from __future__ import annotations

from functools import partial
from typing import Any

from eigenecho.spectra import noisy_golden

LITERAL = "Noisy Golden, literal"
"""The noise as the paper's algorithm writes it: σ itself, not relative to the spacing."""

METHODS: dict[str, dict[str, Any]] = {
    "Normal": {"spectrum": "matrix", "basis": "neuron"},
    "Diagonalized": {"spectrum": "matrix"},
    "Uniform": {"spectrum": "uniform"},
    "Golden": {"spectrum": "golden"},
    "Noisy Golden": {"spectrum": "noisy_golden"},
    "Sim": {"spectrum": "sim"},
    LITERAL: {"spectrum": partial(noisy_golden, absolute=True)},
}
