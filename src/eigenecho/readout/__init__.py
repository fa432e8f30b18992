"""Readouts: statistics that merge, and ridge solutions from them."""

from eigenecho.readout.factorised import Factorised, factorise
from eigenecho.readout.gram import Gram
from eigenecho.readout.lags import Lags
from eigenecho.readout.moments import Moments, resonant
from eigenecho.readout.normal import Normal
from eigenecho.readout.penalty import Penalty
from eigenecho.readout.remainder import Remainder
from eigenecho.readout.solve import best_ridge, lowest, solve
from eigenecho.readout.triangle import Triangle

__all__ = [
    "Factorised",
    "Gram",
    "Lags",
    "Moments",
    "Normal",
    "Penalty",
    "Remainder",
    "Triangle",
    "best_ridge",
    "factorise",
    "lowest",
    "resonant",
    "solve",
]
