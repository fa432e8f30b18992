"""The ensemble: a trimmed mean of the forecasts of its members."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial, reduce

import numpy as np

from eigenecho.clients import Mapped
from eigenecho.forecasting.candidates import Candidate, by_view
from eigenecho.forecasting.rows import Sums, ViewRows
from eigenecho.forecasting.signals import Signal, moving_series
from eigenecho.threads import mapped, one_blas_thread
from eigenecho.types import Array

Report = Callable[[int, int], object]

TRIMMED = 0.2
"""Share of members that is left out on either side."""


@dataclass(frozen=True, eq=False)
class Ensemble:
    """Trained candidates, whose forecasts are averaged without the extremes at each step."""

    members: tuple[Candidate, ...]

    @property
    def horizon(self) -> int:
        """Number of steps ahead H."""
        return self.members[0].weights.shape[1]

    @property
    def size(self) -> int:
        """Number of weights per step ahead, of all members and series."""
        return sum(len(member.weights) * (1 + len(member.own)) for member in self.members)

    def forecast(self, signal: Signal, origins: Array, series: int | None = None) -> Array:
        """Return values (O, H) after the origins, each from the rows up to its origin.

        Members that see logarithms are left out after values that are not positive.
        """
        forecasts: list[Array] = [np.zeros(0)] * len(self.members)
        for view, numbers in by_view(self.members).items():
            rows = ViewRows.of(view, signal)
            for number in numbers:
                forecasts[number] = self.members[number].forecast(rows, origins, series)
        mean = trimmed_mean(forecasts)
        after = ~np.logical_and.accumulate(signal.values > 0)[origins]
        logarithms = [member.view.logarithm for member in self.members]
        if after.any() and any(logarithms):
            others = [f[after] for f, log in zip(forecasts, logarithms, strict=True) if not log]
            last = np.repeat(signal.values[origins[after], None], self.horizon, axis=1)
            mean[after] = trimmed_mean(others) if others else last
        return mean

    def with_horizon(self, horizon: int) -> Ensemble:
        """Return the ensemble with another horizon; a longer one takes recursive members."""
        if horizon == self.horizon:
            return self
        return Ensemble(tuple(member.with_horizon(horizon) for member in self.members))


def trimmed_mean(forecasts: Sequence[Array]) -> Array:
    """Return the mean without the extremes; numbers that are not finite count as extremes."""
    ordered = np.sort(np.stack(forecasts), axis=0)  # NaN after all others
    cut = int(TRIMMED * len(ordered))
    inner = ordered[cut : len(ordered) - cut]
    finite = np.isfinite(inner)
    count = finite.sum(axis=0)
    with np.errstate(over="ignore"):
        total = np.where(finite, inner, 0.0).sum(axis=0)
    return np.where(count > 0, total / np.maximum(count, 1), np.nan)


@one_blas_thread()
def train(
    candidates: Sequence[Candidate],
    signals: Sequence[Signal],
    stops: Sequence[int],
    horizon: int,
    pull: float | None = None,
    report: Report | None = None,
    over: Mapped = mapped,
) -> Ensemble:
    """Train candidates on the rows of all series before their stops, one series at a time.

    Constant series are left out if others move, and get the shared weights. Candidates whose
    closed loop overflows are left out, so there may be no members. Views are trained in parallel,
    ``over`` threads or the workers of a cluster.
    """
    members: list[Candidate | None] = [None] * len(candidates)
    groups = by_view(candidates)
    train_view = partial(_train_view, signals, stops, horizon, pull)
    trained = over(train_view, [[candidates[i] for i in numbers] for numbers in groups.values()])
    for count, ((view, numbers), some) in enumerate(zip(groups.items(), trained, strict=True), 1):
        for number, member in zip(numbers, some, strict=True):
            if np.isfinite(member.weights).all():
                # A worker returns a copy of the view, but members share it.
                members[number] = replace(member, view=view)
        if report is not None:
            report(count, len(groups))
    return Ensemble(tuple(member for member in members if member is not None))


@one_blas_thread()
def _train_view(
    signals: Sequence[Signal],
    stops: Sequence[int],
    horizon: int,
    pull: float | None,
    candidates: Sequence[Candidate],
) -> list[Candidate]:
    """Train the candidates of one view."""
    view, baselines = candidates[0].view, list(dict.fromkeys(c.baseline for c in candidates))

    def sums(series: int) -> Sums:
        rows = ViewRows.of(view, signals[series])
        return rows.sums(baselines, horizon, 0, stops[series], rows.unit(stops[series]))

    def solve(total: Sums, shared: Sequence[Array] | None = None) -> list[Array]:
        """Return the weights of all candidates, pulled to the shared ones if these are given."""
        parts = [total.of_baseline(baselines.index(c.baseline), horizon) for c in candidates]
        if shared is None or pull is None:
            return [c.solve(part) for c, part in zip(candidates, parts, strict=True)]
        near = zip(candidates, parts, shared, strict=True)
        return [c.solve_near(part, weights, pull) for c, part, weights in near]

    numbers, own = moving_series(signals), {}
    if view.alone:
        own = {i: solve(sums(i)) for i in numbers}
        shared = [np.zeros_like(weights) for weights in own[numbers[0]]]
    else:
        shared = solve(reduce(Sums.merge, map(sums, numbers)))
        if pull is not None:
            own = {i: solve(sums(i), shared) for i in numbers}
    trained = []
    for place, (candidate, weights) in enumerate(zip(candidates, shared, strict=True)):
        each = [own[i][place] if i in own else weights for i in range(len(signals))]
        each = [one if np.isfinite(one).all() else weights for one in each]
        trained.append(replace(candidate, weights=weights, own=tuple(each) if own else ()))
    return trained
