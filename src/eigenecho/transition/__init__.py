"""Transitions: what a step multiplies the states by, and the choice among the forms of a W."""

from eigenecho.transition.cascade import Cascade, cascade_decomposition
from eigenecho.transition.choice import FORMS, WELL_CONDITIONED, Choice, choose_form
from eigenecho.transition.diagonal import Diagonal
from eigenecho.transition.matrix import Dense, Sparse, as_transition, check_indices, compact
from eigenecho.transition.transition import Transition
