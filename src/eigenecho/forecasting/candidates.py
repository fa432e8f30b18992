"""Candidates: ways to forecast, each trained on earlier rows and judged by later ones."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import reduce
from typing import NamedTuple

import numpy as np

from eigenecho.forecasting.base import Base
from eigenecho.forecasting.multi_step_readout import RIDGES, direct, recursive
from eigenecho.forecasting.plan import Plan
from eigenecho.forecasting.rows import Rows
from eigenecho.forecasting.signal import Signal
from eigenecho.forecasting.sums import Sums
from eigenecho.forecasting.view import View
from eigenecho.types import Array

STRATEGIES = ("auto", "direct", "recursive")

KINDS = ("direct", "recursive", "drifting")
"""How the weights of a candidate are trained."""


@dataclass(frozen=True, eq=False)
class Candidate:
    """A way to forecast: base + x W.

    ``kind`` says how W is trained: "direct" for each step, "recursive" for the next one and run on
    its own forecasts, "drifting" the same with a constant.
    """

    view: View
    base: Base
    kind: str
    ridge: float | None = None

    def weights(self, sums: Sums, horizon: int) -> Array:
        """W (N', H), from sums for its base alone."""
        if self.kind == "direct":
            assert self.ridge is not None
            return direct(sums, (self.ridge,))[0]
        return recursive(sums, self.view.filter, horizon, self.kind == "drifting")

    def weights_of(self, parts: Sequence[Sums], horizon: int) -> Array:
        """W (N', H) of all parts together."""
        return self.weights(reduce(Sums.merge, parts), horizon)


class ScoredCandidate(NamedTuple):
    """A candidate, its forecasts (O, H) of each series and their error."""

    candidate: Candidate
    forecasts: list[Array]
    error: float


@dataclass(frozen=True, eq=False)
class ValidationData:
    """Series with plans, and what happened after their origins, (O, H) each.

    ``numbers`` are those of the series among all.
    """

    signals: Sequence[Signal]
    plans: Sequence[Plan]
    truths: Sequence[Array]
    numbers: Sequence[int]

    @classmethod
    def of(
        cls, signals: Sequence[Signal], plans: Sequence[Plan], numbers: Sequence[int]
    ) -> ValidationData:
        """With what the signals say of the rows that the plans name."""
        truths = [
            signal.truth[plan.origins[:, None] + np.arange(1, plan.horizon + 1)]
            for signal, plan in zip(signals, plans, strict=True)
        ]
        return cls(signals, plans, truths, numbers)

    @property
    def horizon(self) -> int:
        """H."""
        return self.plans[0].horizon

    @property
    def blocks(self) -> float:
        """Horizons that judge, side by side, of all series."""
        return sum(plan.blocks for plan in self.plans)

    def error(self, forecasts: Sequence[Array]) -> float:
        """The mean over series of the mean absolute error, in their units."""
        found = []
        with np.errstate(over="ignore", invalid="ignore"):
            for forecast, truth, signal in zip(forecasts, self.truths, self.signals, strict=True):
                errors = np.abs(forecast - truth)[~np.isnan(truth)]
                if errors.size:
                    found.append(float(np.mean(errors)) / signal.unit)
        error = float(np.mean(found)) if found else np.inf
        return error if np.isfinite(error) else np.inf

    def candidates(self, view: View, bases: Sequence[Base], strategy: str) -> list[ScoredCandidate]:
        """All candidates of a view, each direct one with the ridge that suits it best."""
        horizon = self.horizon
        rows = [Rows.of(view, signal) for signal in self.signals]
        each = [self.folds(one, i, bases) for i, one in enumerate(rows)]
        if view.alone:
            return [self._alone(view, base, rows, each, i) for i, base in enumerate(bases)]
        folds = [reduce(Sums.merge, parts) for parts in zip(*each, strict=True)]
        found = []
        if strategy != "direct":
            for kind in ("recursive", "drifting"):
                weights = [
                    recursive(sums, view.filter, horizon, kind == "drifting") for sums in folds
                ]
                made = self._forecasts(rows, bases[0], weights)
                found.append(
                    ScoredCandidate(Candidate(view, bases[0], kind), made, self.error(made))
                )
        if strategy == "recursive":
            return found
        trained = [direct(sums) for sums in folds]
        for block, base in enumerate(bases):
            columns = slice(block * horizon, (block + 1) * horizon)
            made = self._forecasts(rows, base, [weights[:, :, columns] for weights in trained])
            found.append(self._best_ridge(view, base, made))
        return found

    def _alone(
        self, view: View, base: Base, rows: Sequence[Rows], each: Sequence[list[Sums]], block: int
    ) -> ScoredCandidate:
        """Return the direct candidate of a base, trained on each series alone."""
        made = [
            by_fold(one, plan, base, [direct(part.of_base(block, self.horizon)) for part in folds])
            for one, plan, folds in zip(rows, self.plans, each, strict=True)
        ]
        return self._best_ridge(view, base, made)

    def _best_ridge(self, view: View, base: Base, made: Sequence[Array]) -> ScoredCandidate:
        """Return the direct candidate with the best ridge, by forecasts (R, O, H) of all series."""
        errors = [self.error([one[i] for one in made]) for i in range(len(RIDGES))]
        best = int(np.argmin(errors))
        candidate = Candidate(view, base, "direct", RIDGES[best])
        return ScoredCandidate(candidate, [one[best].copy() for one in made], errors[best])

    def folds(self, rows: Rows, series: int, bases: Sequence[Base]) -> list[Sums]:
        """Return the sums of one series that each fold is trained on."""
        found: list[Sums] = []
        stops = self.plans[series].stops
        unit = rows.unit(stops[0])
        for start, stop in zip((0, *stops), stops, strict=False):
            part = rows.sums(bases, self.horizon, start, stop, unit)
            found.append(found[-1].merge(part) if found else part)
        return found

    def _forecasts(self, rows: Sequence[Rows], base: Base, weights: Sequence[Array]) -> list[Array]:
        """(…, O, H) of each series, by the weights (…, N', H) of the fold that an origin is in."""
        found = []
        for one, plan in zip(rows, self.plans, strict=True):
            found.append(by_fold(one, plan, base, weights))
        return found


def by_fold(rows: Rows, plan: Plan, base: Base, weights: Sequence[Array]) -> Array:
    """Forecasts (…, O, H) after all origins, by the weights (…, N', H) of their folds."""
    parts = [
        rows.forecast(base, weights[fold], plan.origins[plan.fold(fold)])
        for fold in range(len(weights))
    ]
    return np.concatenate(parts, axis=-2)
