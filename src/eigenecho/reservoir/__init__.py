"""Reservoirs: a transition and its input maps, drawn or given."""

from eigenecho.reservoir.choose import FORMS, Choice, choose
from eigenecho.reservoir.draw import Drawn, draw
from eigenecho.reservoir.recipe import Recipe
from eigenecho.reservoir.reservoir import Reservoir

__all__ = ["FORMS", "Choice", "Drawn", "Recipe", "Reservoir", "choose", "draw"]
