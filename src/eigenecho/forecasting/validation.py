"""Validation splits: training rows and forecast origins, and scores of candidates on them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property, reduce
from itertools import accumulate, pairwise
from typing import NamedTuple

import numpy as np

from eigenecho.forecasting.baselines import Baseline
from eigenecho.forecasting.candidates import RIDGES, Candidate, direct
from eigenecho.forecasting.prior import FIRST, Mixture, Prior
from eigenecho.forecasting.rows import Sums, ViewRows
from eigenecho.forecasting.signals import Signal
from eigenecho.forecasting.views import View
from eigenecho.threads import one_blas_thread
from eigenecho.types import Array

FOLDS = 2
"""Number of folds. Each fold contains more training rows than the previous one."""

ORIGINS = 150
"""Maximum number of forecast origins per series at which candidates are scored."""

BLOCKS = 8
"""Minimum number of horizons in the validation rows of a long series, so that they are typical."""

ENOUGH = 3000
"""Number of rows from which half of the rows are enough for training."""

LEAST = 10
"""Minimum number of training rows in addition to one horizon."""

DOUBT = 4.0
"""A candidate is kept if its error exceeds the smallest error by at most the fraction
DOUBT / n_blocks, where n_blocks is the number of horizons in the validation rows."""

LEAST_DOUBT, MOST_DOUBT = 0.05, 0.75
"""Bounds of this fraction. Several members are better than one, but poor members do not help."""


@dataclass(frozen=True, eq=False)
class Plan:
    """Validation split of one series.

    Attributes
    ----------
    horizon : int
    rows : int
        Total number of rows.
    kept : int
        Number of rows before the validation rows.
    stops : tuple of int
        Fold f is trained on the rows before ``stops[f]``, including their targets. All series of a
        panel have the same number of folds, but folds of short series may have no origins.
    origins : array (O,)
        Last rows before the forecasts, each followed by ``horizon`` rows.
    """

    horizon: int
    rows: int
    kept: int
    stops: tuple[int, ...]
    origins: Array

    @property
    def origins_by_fold(self) -> list[Array]:
        """Origins of each fold."""
        return np.split(self.origins, np.searchsorted(self.origins + 1, self.stops[1:]))

    @property
    def blocks(self) -> float:
        """Number of horizons in the validation rows."""
        return (self.rows - 1 - self.origins[0]) / self.horizon


def fewest(horizon: int) -> int:
    """Return the minimum number of rows that a validation split requires."""
    return 2 * horizon + LEAST


def plan(rows: int, horizon: int, validation: int | None = None) -> Plan | None:
    """Return the plan of a series with the given number of rows; None if it is too short.

    The validation rows are the last ``validation`` rows, by default a third of all rows or four
    horizons, whichever is more. In a long series, there are at least as many as in eight horizons
    or half of the rows, whichever is less.
    """
    most = rows - horizon - LEAST
    count = validation
    if count is None:
        count = min(max(4 * horizon, rows // 3), rows - max(2 * horizon, 2 * LEAST))
    count = min(max(count, horizon), most)
    if rows < fewest(horizon):
        return None
    extended = max(count, min(BLOCKS * horizon, rows // 2, most) if rows >= ENOUGH else 0)
    kept, first = rows - count, rows - extended
    edges = np.array([first, kept])
    if validation is None:
        edges = np.linspace(first, rows - horizon + 1, FOLDS + 1).astype(int)[:-1]
    origins = np.arange(first - 1, rows - horizon)
    if len(origins) > ORIGINS:
        origins = origins[np.linspace(0, len(origins) - 1, ORIGINS).astype(int)]
    return Plan(horizon, rows, kept, tuple(edges.tolist()), origins)


def past_plan(rows: int, horizon: int) -> Plan:
    """Return the plan of a short series, with almost all rows as origins.

    Some forecasts extend beyond the end of the series.
    """
    return Plan(horizon, rows, rows, (rows,), np.arange(FIRST, rows - 1))


class ScoredCandidate(NamedTuple):
    """Candidate with its validation forecasts (O, H) of each series, and their error."""

    candidate: Candidate
    forecasts: list[Array]
    error: float


@dataclass(frozen=True, eq=False)
class ValidationData:
    """Series with their validation splits.

    Attributes
    ----------
    signals : sequence of Signal
    plans : sequence of Plan
    numbers : sequence of int
        Index of each series in the panel.
    """

    signals: Sequence[Signal]
    plans: Sequence[Plan]
    numbers: Sequence[int]

    @cached_property
    def truths(self) -> list[Array]:
        """Values (O, H) after the origins of each series, with NaN for missing values."""
        steps, beyond = np.arange(1, self.horizon + 1), np.full(self.horizon, np.nan)
        values = [
            np.concatenate([np.where(s.observed, s.values, np.nan), beyond]) for s in self.signals
        ]
        return [v[p.origins[:, None] + steps] for v, p in zip(values, self.plans, strict=True)]

    @property
    def horizon(self) -> int:
        """Number of steps ahead H."""
        return self.plans[0].horizon

    @property
    def blocks(self) -> float:
        """Number of horizons in the validation rows of all series."""
        return sum(plan.blocks for plan in self.plans)

    @property
    def doubt(self) -> float:
        """Maximum fraction by which the error of a candidate may exceed the smallest error."""
        return min(max(DOUBT / self.blocks, LEAST_DOUBT), MOST_DOUBT)

    def error(self, forecasts: Sequence[Array]) -> float:
        """Return the mean absolute error in units of each series, averaged over all series."""
        means = []
        with np.errstate(over="ignore", invalid="ignore"):
            for forecast, truth, signal in zip(forecasts, self.truths, self.signals, strict=True):
                errors = np.abs(forecast - truth)[~np.isnan(truth)]
                if errors.size:
                    means.append(float(np.mean(errors)) / signal.unit)
        error = float(np.mean(means)) if means else np.inf
        return error if np.isfinite(error) else np.inf

    @one_blas_thread()
    def score(
        self, view: View, baselines: Sequence[Baseline], strategy: str
    ) -> list[ScoredCandidate]:
        """Train and score all candidates of a view, with the best ridge for direct readouts."""
        rows = [ViewRows.of(view, signal) for signal in self.signals]
        sums = self.sums(rows, baselines)
        # Series share weights unless the view trains each series on its own rows.
        copies = 1 if view.alone else len(rows)
        if not view.alone:
            sums = [merge_series(sums)]
        scored = []
        if strategy != "direct" and not view.alone:
            for kind in ("recursive", "drifting"):
                candidate = Candidate(view, baselines[0], kind)
                weights = [candidate.solve(s.of_baseline(0, self.horizon)) for s in sums[0]]
                forecasts = self.forecasts(rows, baselines[0], [weights] * copies)
                scored.append(ScoredCandidate(candidate, forecasts, self.error(forecasts)))
        if strategy == "recursive":
            return scored
        trained = [[direct(part) for part in folds] for folds in sums]
        for number, baseline in enumerate(baselines):
            columns = slice(number * self.horizon, (number + 1) * self.horizon)
            by_fold = [[weights[:, :, columns] for weights in folds] for folds in trained]
            by_ridge = self.forecasts(rows, baseline, by_fold * copies)
            errors = [self.error([f[i] for f in by_ridge]) for i in range(len(RIDGES))]
            best = int(np.argmin(errors))
            candidate = Candidate(view, baseline, "direct", RIDGES[best])
            forecasts = [f[best].copy() for f in by_ridge]
            scored.append(ScoredCandidate(candidate, forecasts, errors[best]))
        return scored

    def sums(self, rows: Sequence[ViewRows], baselines: Sequence[Baseline]) -> list[list[Sums]]:
        """Return the sums over the training rows of each fold, for each series."""
        sums = []
        for series, plan in zip(rows, self.plans, strict=True):
            unit = series.unit(plan.stops[0])
            parts = [
                series.sums(baselines, self.horizon, start, stop, unit)
                for start, stop in pairwise((0, *plan.stops))
            ]
            sums.append(list(accumulate(parts, Sums.merge)))
        return sums

    def forecasts(
        self,
        rows: Sequence[ViewRows],
        baseline: Baseline,
        weights: Sequence[Sequence[Array]],
    ) -> list[Array]:
        """Return forecasts (…, O, H) of each series, given weights (…, N', H) for each fold."""
        forecasts = []
        for series, plan, folds in zip(rows, self.plans, weights, strict=True):
            each = zip(folds, plan.origins_by_fold, strict=True)
            parts = [series.forecast(baseline, part, origins) for part, origins in each]
            forecasts.append(np.concatenate(parts, axis=-2))
        return forecasts

    def forecasts_of_prior(self, prior: Prior, season: int) -> list[Array]:
        """Return forecasts (O, H) of each series by the prior, adapted to the rows of each fold."""
        forecasts = []
        for signal, plan in zip(self.signals, self.plans, strict=True):
            parts = []
            for stop, origins in zip(plan.stops, plan.origins_by_fold, strict=True):
                mixture = Mixture.of(prior, signal, stop, self.horizon, season, self.horizon)
                parts.append(mixture.forecast(origins))
            forecasts.append(np.concatenate(parts))
        return forecasts


def merge_series(sums: Sequence[Sequence[Sums]]) -> list[Sums]:
    """Return the sums over all series, for each fold."""
    return [reduce(Sums.merge, parts) for parts in zip(*sums, strict=True)]
