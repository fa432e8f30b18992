"""Readouts: statistics that merge, and ridge solutions from them."""

from eigenecho.readout.factorised import Factorised, factorise
from eigenecho.readout.gram import Gram
from eigenecho.readout.penalty import Penalty
from eigenecho.readout.solve import Solution, best_ridge, solve
from eigenecho.readout.triangle import Triangle

__all__ = [
    "Factorised",
    "Gram",
    "Penalty",
    "Solution",
    "Triangle",
    "best_ridge",
    "factorise",
    "solve",
]
