"""Readouts of all steps ahead, from sums: trained for each step, or for the next and run on."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from eigenecho.forecasting.filter import Filter
from eigenecho.forecasting.sums import Sums, expected
from eigenecho.readout import Gram, Likelihood, Penalty
from eigenecho.types import Array

RIDGES = tuple(10.0 ** (k / 2) for k in range(-2, 11))
"""To choose from. Series are in units of their steps, so that a row counts about 1."""

TIED = 1e-6
"""Log densities that differ by less are equal: rounding must not choose a ridge."""


def direct(sums: Sums, ridges: Sequence[float] = RIDGES) -> Array:
    """Weights (R, N', B·H) for every ridge: a readout of its own for each step and base."""
    gram = expected(sums.ahead, sums.ahead_seen)
    factorised = _without_constant(gram).factorise(Penalty(len(gram.XtX) - 1))
    weights = np.zeros((len(ridges), *gram.XtY.shape))
    for i, ridge in enumerate(ridges):
        weights[i, 1:] = factorised.weights(ridge)
    return weights


def recursive(sums: Sums, filter: Filter, horizon: int, drifts: bool) -> Array:
    """Weights (N', H) of the readout of the next value, run on its own forecasts.

    The ridge is the one under which the next values are likeliest. With ``drifts`` the constant
    is used, unpenalised. Columns beside the series' own are not, as nobody forecasts them.
    """
    seen = float(sums.following_seen[0])
    one = np.zeros(filter.size)
    if seen:
        following = expected(sums.following, sums.following_seen)
        squares = sums.squares * following.rows / seen
        # A series that never moved has no constant either.
        drifts = drifts and bool(following.XtX[0, 0] > 0)
        used = following if drifts else _without_constant(following)
        one[0 if drifts else 1 :] = likeliest(used, squares, drifts)
    weights = np.zeros((len(sums.ahead.XtX), horizon))
    weights[: filter.size] = filter.closed_loop(one, horizon)
    return weights


def likeliest(gram: Gram, squares: float, free: bool = False) -> Array:
    """Weights of the ridge with the largest marginal likelihood, as ``readout.Likelihood`` has it.

    ``squares`` is yᵀy. A ``free`` first column is not penalised: it takes its share off first. Of
    ridges that are equally likely, as all are given a single row, the largest is taken.
    """
    factorised = gram.factorise(Penalty(len(gram.XtX), int(free)))
    likelihood = Likelihood.of_sums(factorised, gram.XtX, gram.XtY, gram.rows, np.array([squares]))
    densities = likelihood(RIDGES)
    best = int(np.flatnonzero(~(densities < densities.max() - TIED))[-1])
    return factorised.weights(RIDGES[best])[:, 0]


def _without_constant(gram: Gram) -> Gram:
    return Gram(gram.XtX[1:, 1:], gram.XtY[1:], gram.rows)
