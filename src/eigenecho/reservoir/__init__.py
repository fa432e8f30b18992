"""Reservoirs: a transition and its input maps, drawn or given."""

from eigenecho.reservoir.draw import Drawn, Recipe, draw
from eigenecho.reservoir.reservoir import Reservoir

__all__ = ["Drawn", "Recipe", "Reservoir", "draw"]
