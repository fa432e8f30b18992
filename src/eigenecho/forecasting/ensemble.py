"""The forecaster that was chosen: what most of its members agree on, each a readout of a view."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial, reduce

import numpy as np

from eigenecho.clients import Mapped
from eigenecho.forecasting.candidates import Candidate, ScoredCandidate, ValidationData
from eigenecho.forecasting.rows import Rows
from eigenecho.forecasting.sharing import pulled
from eigenecho.forecasting.signal import Signal, moving
from eigenecho.forecasting.sums import Sums
from eigenecho.forecasting.view import View
from eigenecho.threads import mapped, one_blas_thread
from eigenecho.types import Array

Report = Callable[[int, int], object]

DOUBT = 4.0
"""Errors of candidates may lie above the best one's by this share, over the number of blocks of
rows that judge: what these cannot tell from the best belongs to the answer."""

LEAST_DOUBT, MOST_DOUBT = 0.05, 0.75
"""The same share where there are many blocks, as a few members are better than one; and where there
are hardly any, as what is far worse is worse."""

FEWEST, MOST = 5, 60
"""Views that members may always have, and members there may be at all."""

WORK = 3e8
"""States that training all members on all rows may take, beyond the fewest views."""

TRIMMED = 0.2
"""Share of members that is left out on either side."""


@dataclass(frozen=True, eq=False)
class Member:
    """A candidate with its weights (N', H), and those of series that have their own."""

    candidate: Candidate
    weights: Array
    own: tuple[Array, ...] = ()

    def forecast(self, rows: Rows, origins: Array, series: int | None = None) -> Array:
        """Values (O, H) after the origins; of a ``series`` that was trained on, or another."""
        weights = self.weights if series is None or not self.own else self.own[series]
        return rows.forecast(self.candidate.base, weights, origins)

    def lasting(self, horizon: int) -> Member:
        """The member with another horizon: a shorter one, or that of a longer loop."""
        own = tuple(self._lasting(weights, horizon) for weights in self.own)
        return Member(self.candidate, self._lasting(self.weights, horizon), own)

    def _lasting(self, weights: Array, horizon: int) -> Array:
        if horizon <= weights.shape[1]:
            return weights[:, :horizon]
        filter = self.candidate.view.filter
        longer = np.zeros((len(weights), horizon))
        longer[: filter.size] = filter.closed_loop(weights[: filter.size, 0], horizon)
        return longer


@dataclass(frozen=True, eq=False)
class Ensemble:
    """The mean of its members' forecasts without the outer ones, at each step: none spoils it."""

    members: tuple[Member, ...]

    @property
    def horizon(self) -> int:
        """H."""
        return self.members[0].weights.shape[1]

    @property
    def size(self) -> int:
        """Weights of a step ahead, of all members and all series that have their own."""
        return sum(len(one.weights) * (1 + len(one.own)) for one in self.members)

    def forecast(self, signal: Signal, origins: Array, series: int | None = None) -> Array:
        """Values (O, H) after the origins; each from the rows up to its own alone.

        After values that have no logarithm, members that see these are left out.
        """
        made: list[Array] = [np.zeros(0)] * len(self.members)
        for view, numbers in by_view([member.candidate for member in self.members]).items():
            rows = Rows.of(view, signal)
            for number in numbers:
                made[number] = self.members[number].forecast(rows, origins, series)
        found = middle(made)
        without = ~np.logical_and.accumulate(signal.values > 0)[origins]
        logarithms = [member.candidate.view.logarithm for member in self.members]
        if without.any() and any(logarithms):
            others = [one[without] for one, log in zip(made, logarithms, strict=True) if not log]
            last = np.repeat(signal.values[origins[without], None], self.horizon, axis=1)
            found[without] = middle(others) if others else last
        return found

    def lasting(self, horizon: int) -> Ensemble:
        """With another horizon."""
        if horizon == self.horizon:
            return self
        return Ensemble(tuple(member.lasting(horizon) for member in self.members))


def middle(forecasts: Sequence[Array]) -> Array:
    """The mean of those between the outer ones; what is not finite lies outermost."""
    ordered = np.sort(np.stack(forecasts), axis=0)  # NaN after all others
    cut = int(TRIMMED * len(ordered))
    inner = ordered[cut : len(ordered) - cut]
    there = np.isfinite(inner)
    count = there.sum(axis=0)
    with np.errstate(over="ignore"):
        total = np.where(there, inner, 0.0).sum(axis=0)
    return np.where(count > 0, total / np.maximum(count, 1), np.nan)


def best(
    judge: ValidationData, found: Sequence[ScoredCandidate], rows: int
) -> list[ScoredCandidate]:
    """Those that the rows which judge cannot tell from the best, best first.

    ``rows`` is how many there are to train on, of all series.
    """
    ranked = sorted((one for one in found if np.isfinite(one.error)), key=lambda one: one.error)
    if not ranked:
        return []
    doubt = min(max(DOUBT / judge.blocks, LEAST_DOUBT), MOST_DOUBT)
    most = ranked[0].error * (1 + doubt)
    alike = [one for one in ranked if one.error <= most]
    size = max(one.candidate.view.filter.size for one in ranked)
    affordable = max(FEWEST, int(WORK / (rows * float(size))))
    # Members of one view share its sums, which are the work.
    views = list(dict.fromkeys(one.candidate.view for one in alike))[:affordable]
    return [one for one in alike if one.candidate.view in views][:MOST]


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

    Constant series are left out if others move: they have the weights of all.

    Those whose loops run out of the range of numbers are left out: there may be none left. Views
    are trained side by side, ``over`` threads or the workers of a cluster.
    """
    found: list[Member | None] = [None] * len(candidates)
    groups = by_view(candidates)
    known = partial(_members, signals, stops, horizon, pull)
    trained = over(known, [[candidates[i] for i in numbers] for numbers in groups.values()])
    for count, (numbers, some) in enumerate(zip(groups.values(), trained, strict=True), 1):
        for number, one in zip(numbers, some, strict=True):
            if np.isfinite(one.weights).all():
                found[number] = replace(one, candidate=candidates[number])
        if report is not None:
            report(count, len(groups))
    return Ensemble(tuple(one for one in found if one is not None))


@one_blas_thread()
def _members(
    signals: Sequence[Signal],
    stops: Sequence[int],
    horizon: int,
    pull: float | None,
    some: Sequence[Candidate],
) -> list[Member]:
    """Candidates of one view, trained."""
    view, bases = some[0].view, list(dict.fromkeys(candidate.base for candidate in some))

    def sums(i: int) -> Sums:
        rows = Rows.of(view, signals[i])
        return rows.sums(bases, horizon, 0, stops[i], rows.unit(stops[i]))

    places = [bases.index(candidate.base) for candidate in some]

    def trained(part: Sums, shared: Sequence[Array] = ()) -> list[Array]:
        """Return the weights of all candidates, pulled to the shared ones where there are any."""
        parts = [part.of_base(place, horizon) for place in places]
        if not shared:
            return [one.weights(alone, horizon) for one, alone in zip(some, parts, strict=True)]
        assert pull is not None
        return [pulled(*one, pull) for one in zip(some, parts, shared, strict=True)]

    numbers, own = moving(signals), {}
    if view.alone:
        own = {i: trained(sums(i)) for i in numbers}
        weights = [np.zeros_like(one) for one in own[numbers[0]]]
    else:
        weights = trained(reduce(Sums.merge, map(sums, numbers)))
        if pull is not None:
            own = {i: trained(sums(i), weights) for i in numbers}
    found = []
    for member, (candidate, shared) in enumerate(zip(some, weights, strict=True)):
        each = [own[i][member] if i in own else shared for i in range(len(signals))]
        each = [one if np.isfinite(one).all() else shared for one in each]
        found.append(Member(candidate, shared, tuple(each) if own else ()))
    return found


def by_view(candidates: Sequence[Candidate]) -> dict[View, list[int]]:
    """The numbers of candidates that share a view, and so its rows and their sums."""
    found: dict[View, list[int]] = {}
    for number, candidate in enumerate(candidates):
        found.setdefault(candidate.view, []).append(number)
    return found
