"""Readouts: statistics that merge, and ridge solutions from them."""

from eigenecho.readout.gram import Gram
from eigenecho.readout.penalty import Penalty
from eigenecho.readout.solve import Factorised, Solution, best_ridge, factorise, solve
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
