"""Smaller systems: Gramians, balancing, and modes of what is left. No time here."""

from eigenecho.reduction.balancing import EPS, Balanced, Rows, balance, essential
from eigenecho.reduction.orders import smallest
from eigenecho.reduction.system import System, largest_gain
from eigenecho.reduction.truncation import Smaller, promised, smaller
