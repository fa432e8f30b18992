"""Reservoirs: a transition and its input maps, drawn or given."""

from eigenecho.reservoir.draw import Cache, Drawn, Recipe, draw, per_feature
from eigenecho.reservoir.reservoir import Reservoir
