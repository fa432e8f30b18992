"""Transitions from what others hold: eigenvalues or a matrix."""

from __future__ import annotations

from typing import Any

import numpy as np

from eigenecho.errors import Shown, bad_argument
from eigenecho.spectra import Spectrum
from eigenecho.transition.diagonal import Diagonal
from eigenecho.transition.matrix import Dense, Sparse
from eigenecho.transition.transition import Transition


def as_transition(given: Any) -> Transition:
    """Eigenvalues, a dense or scipy sparse matrix (N, N), or a transition, as it is."""
    if isinstance(given, Transition):
        return given
    if isinstance(given, Spectrum):
        return Diagonal(given)
    if hasattr(given, "tocsr"):
        return Sparse(given)
    if isinstance(given, np.ndarray):
        return Dense(given)
    wanted = "a Spectrum or a matrix (N, N), dense or sparse"
    raise bad_argument("transition", Shown(type(given).__name__), wanted)
