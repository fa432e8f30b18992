"""Model reduction: Gramians, balanced truncation, and the modes of smaller systems."""

from eigenecho.reduction.balancing import BalancedSystem, Rows, balance, essential
from eigenecho.reduction.system import System, largest_gain
from eigenecho.reduction.truncation import TruncatedSystem, error_bound, smaller, smallest
