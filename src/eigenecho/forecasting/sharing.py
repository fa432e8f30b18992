"""How series of a panel share weights: all have the same, or their own, or their own near those."""

from __future__ import annotations

import numpy as np
from scipy.linalg import cho_factor, cho_solve

from eigenecho.forecasting.candidates import Candidate
from eigenecho.forecasting.sums import Sums, expected
from eigenecho.readout import Gram
from eigenecho.types import Array

PULLS = (3000.0, 300.0, 30.0)
"""How hard a series is held to the weights of all, as a ridge."""


def pulled(candidate: Candidate, sums: Sums, shared: Array, pull: float) -> Array:
    """Weights (N', H) of one series, pulled to those of all by a ridge on the difference.

    argmin_W ‖Y − X W‖² + κ ‖W − W_shared‖²
    """
    horizon = shared.shape[1]
    if candidate.kind == "direct":
        return _near(expected(sums.ahead, sums.ahead_seen), shared, pull)
    filter = candidate.view.filter
    one = shared[: filter.size, :1]
    weights = np.zeros_like(shared)
    if sums.following_seen[0]:
        one = _near(expected(sums.following, sums.following_seen), one, pull)
    weights[: filter.size] = filter.closed_loop(one[:, 0], horizon)
    return weights


def _near(gram: Gram, shared: Array, pull: float) -> Array:
    """The constant, which few series can tell from chance, stays as it is."""
    G = gram.XtX[1:, 1:]
    left = gram.XtY[1:] - gram.XtX[1:] @ shared
    factor = cho_factor(G + pull * np.eye(len(G)))
    return np.concatenate([shared[:1], shared[1:] + cho_solve(factor, left)])
