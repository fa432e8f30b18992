"""Transitions: the forms of the matrix W that multiplies the states, and their selection."""

from eigenecho.transition.choice import FORMS, WELL_CONDITIONED, Choice, choose_form
from eigenecho.transition.delays import DelayLine, delay_line
from eigenecho.transition.diagonal import Diagonal
from eigenecho.transition.matrix import Dense, Sparse, as_transition, check_indices, compact
from eigenecho.transition.transition import Transition
