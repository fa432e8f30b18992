"""Reservoirs: a transition and its input maps, drawn or given."""

from eigenecho.reservoir.draw import Cache, Drawn, draw, per_feature
from eigenecho.reservoir.recipe import Recipe
from eigenecho.reservoir.reservoir import Reservoir
