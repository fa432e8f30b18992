"""Candidates: models of a view and a baseline, and their readouts for all steps ahead."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

import numpy as np
from scipy.linalg import cho_factor, cho_solve

from eigenecho.forecasting.baselines import Baseline
from eigenecho.forecasting.rows import Sums, ViewRows, expected
from eigenecho.forecasting.views import Filter, View
from eigenecho.readout import Gram, Likelihood, Penalty
from eigenecho.types import Array

STRATEGIES = ("auto", "direct", "recursive")

KINDS = ("direct", "recursive", "drifting")
"""Kinds of readouts."""

RIDGES = tuple(10.0 ** (k / 2) for k in range(-2, 11))
"""Ridges to choose from. Series are in units of their steps, so the entries of rows are about 1."""

TIED = 1e-6
"""Difference of log densities below which ridges are equally likely: it may be rounding."""

PULLS = (3000.0, 300.0, 30.0)
"""Ridges on the difference between the weights of one series and those of all series."""


@dataclass(frozen=True, eq=False)
class Candidate:
    """A model: baseline + x W, where x are the rows of a view.

    Attributes
    ----------
    view : View
    baseline : Baseline
    kind : {"direct", "recursive", "drifting"}
        "direct" trains a readout for each step ahead. "recursive" trains one for the next step and
        applies it to its own forecasts; "drifting" does so with a constant.
    ridge : float or None
        Ridge of a direct readout. The others select theirs by likelihood.
    weights : array (N', H)
        W; empty before training.
    own : tuple of arrays (N', H)
        Weights of each series, if series have their own.
    """

    view: View
    baseline: Baseline
    kind: str
    ridge: float | None = None
    weights: Array = field(default_factory=lambda: np.zeros((0, 0)))
    own: tuple[Array, ...] = ()

    def solve(self, sums: Sums) -> Array:
        """Return W (N', H) from the sums of its baseline."""
        if self.kind == "direct":
            assert self.ridge is not None
            return direct(sums, (self.ridge,))[0]
        return recursive(sums, self.view.filter, self.kind == "drifting")

    def solve_near(self, sums: Sums, shared: Array, pull: float) -> Array:
        """Return W (N', H) of one series, pulled to the weights of all series.

        argmin_W ‖Y − X W‖² + pull ‖W − W_shared‖²
        """
        if self.kind == "direct":
            return _solve_near(expected(sums.ahead, sums.ahead_seen), shared, pull)
        filter = self.view.filter
        one_step = shared[: filter.size, :1]
        if sums.following_seen[0]:
            following = expected(sums.following, sums.following_seen)
            one_step = _solve_near(following, one_step, pull)
        return _close_loop(filter, one_step[:, 0], *shared.shape)

    def forecast(self, rows: ViewRows, origins: Array, series: int | None = None) -> Array:
        """Return values (O, H) after the origins; ``series`` is its number in the fit, if any."""
        weights = self.weights if series is None or not self.own else self.own[series]
        return rows.forecast(self.baseline, weights, origins)

    def with_horizon(self, horizon: int) -> Candidate:
        """Return the candidate with a shorter horizon or, if it is recursive, a longer one."""

        def change(weights: Array) -> Array:
            if horizon <= weights.shape[1]:
                return weights[:, :horizon]
            filter = self.view.filter
            return _close_loop(filter, weights[: filter.size, 0], len(weights), horizon)

        return replace(self, weights=change(self.weights), own=tuple(map(change, self.own)))


def by_view(candidates: Sequence[Candidate]) -> dict[View, list[int]]:
    """Return the numbers of the candidates of each view, which share its rows and sums."""
    groups: dict[View, list[int]] = {}
    for number, candidate in enumerate(candidates):
        groups.setdefault(candidate.view, []).append(number)
    return groups


def direct(sums: Sums, ridges: Sequence[float] = RIDGES) -> Array:
    """Return weights (R, N', B·H) for each ridge, with a readout for each step and baseline."""
    gram = expected(sums.ahead, sums.ahead_seen)
    factorised = _without_constant(gram).factorise(Penalty(len(gram.XtX) - 1))
    weights = np.zeros((len(ridges), *gram.XtY.shape))
    for i, ridge in enumerate(ridges):
        weights[i, 1:] = factorised.weights(ridge)
    return weights


def recursive(sums: Sums, filter: Filter, drifts: bool) -> Array:
    """Return weights (N', H) of a one-step readout that is applied to its own forecasts.

    Its ridge is the likeliest. ``drifts`` adds an unpenalised constant. Past columns are not used,
    since they are not forecast.
    """
    seen = float(sums.following_seen[0])
    one_step = np.zeros(filter.size)
    if seen:
        following = expected(sums.following, sums.following_seen)
        squares = sums.squares * following.rows / seen
        # The constant of a series that never moved is 0.
        drifts = drifts and bool(following.XtX[0, 0] > 0)
        used = following if drifts else _without_constant(following)
        one_step[0 if drifts else 1 :] = solve_likeliest(used, squares, drifts)
    return _close_loop(filter, one_step, *sums.ahead.XtY.shape)


def solve_likeliest(gram: Gram, squares: float, free: bool = False) -> Array:
    """Return weights (N',) for the ridge with the largest marginal likelihood of the targets.

    ``squares`` is yᵀy. A ``free`` first column is not penalised. Of equally likely ridges, as all
    are for a single row, the largest is selected.
    """
    factorised = gram.factorise(Penalty(len(gram.XtX), int(free)))
    likelihood = Likelihood.of_sums(factorised, gram.XtX, gram.XtY, gram.rows, np.array([squares]))
    densities = likelihood(RIDGES)
    best = int(np.flatnonzero(~(densities < densities.max() - TIED))[-1])
    return factorised.weights(RIDGES[best])[:, 0]


def _close_loop(filter: Filter, one_step: Array, size: int, horizon: int) -> Array:
    """Return weights (size, H) of a closed loop; those of past columns are 0."""
    weights = np.zeros((size, horizon))
    weights[: filter.size] = filter.closed_loop(one_step, horizon)
    return weights


def _without_constant(gram: Gram) -> Gram:
    return Gram(gram.XtX[1:, 1:], gram.XtY[1:], gram.rows)


def _solve_near(gram: Gram, shared: Array, pull: float) -> Array:
    """Return weights near the shared ones; the constant, which is mostly noise, stays the same."""
    G = gram.XtX[1:, 1:]
    residual = gram.XtY[1:] - gram.XtX[1:] @ shared
    factor = cho_factor(G + pull * np.eye(len(G)))
    return np.concatenate([shared[:1], shared[1:] + cho_solve(factor, residual)])
