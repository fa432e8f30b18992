"""The forecaster that was chosen: the median of a few members, each a readout of a view."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import reduce

import numpy as np

from eigenecho.forecasting.candidates import Candidate, Judge, Judged
from eigenecho.forecasting.rows import Rows
from eigenecho.forecasting.signal import Signal
from eigenecho.forecasting.sums import Sums
from eigenecho.types import Array

DOUBT = 2.0
"""Errors of candidates may lie above the best one's by so much, over the root of the blocks of
rows that judge: what these cannot tell from the best belongs to the answer."""

MEMBERS = 30
"""At most."""


@dataclass(frozen=True, eq=False)
class Member:
    """A candidate with its weights (N', H)."""

    candidate: Candidate
    weights: Array

    def forecast(self, signal: Signal, origins: Array) -> Array:
        """Values (O, H) after the origins."""
        rows = Rows.of(self.candidate.view, signal)
        return rows.forecast(self.candidate.base, self.weights, origins)

    def lasting(self, horizon: int) -> Member:
        """The member with another horizon: a shorter one, or that of a longer loop."""
        if horizon <= self.weights.shape[1]:
            return Member(self.candidate, self.weights[:, :horizon])
        filter = self.candidate.view.filter
        weights = np.zeros((len(self.weights), horizon))
        weights[: filter.size] = filter.closed_loop(self.weights[: filter.size, 0], horizon)
        return Member(self.candidate, weights)


@dataclass(frozen=True, eq=False)
class Ensemble:
    """The median of its members' forecasts, step by step: no single one can spoil it."""

    members: tuple[Member, ...]

    def forecast(self, signal: Signal, origins: Array) -> Array:
        """Values (O, H) after the origins; each from the rows up to its own alone."""
        return middle([member.forecast(signal, origins) for member in self.members])

    def lasting(self, horizon: int) -> Ensemble:
        """With another horizon."""
        return Ensemble(tuple(member.lasting(horizon) for member in self.members))


def middle(forecasts: Sequence[Array]) -> Array:
    """The median of those that are numbers."""
    stacked = np.stack(forecasts)
    return np.median(np.where(np.isfinite(stacked), stacked, np.nan), axis=0)


def best(judge: Judge, found: Sequence[Judged]) -> list[Judged]:
    """Those that the rows which judge cannot tell from the best, best first."""
    ranked = sorted((one for one in found if np.isfinite(one.error)), key=lambda one: one.error)
    if not ranked:
        return []
    most = ranked[0].error * (1 + DOUBT / np.sqrt(judge.blocks))
    return [one for one in ranked if one.error <= most][:MEMBERS]


def train(
    chosen: Sequence[Candidate], signals: Sequence[Signal], stops: Sequence[int], horizon: int
) -> Ensemble:
    """Train candidates on the rows of all series before their stops."""
    members = []
    for candidate in chosen:
        parts = []
        for signal, stop in zip(signals, stops, strict=True):
            rows = Rows.of(candidate.view, signal)
            parts.append(rows.sums([candidate.base], horizon, 0, stop, rows.unit(stop)))
        members.append(Member(candidate, candidate.weights(reduce(Sums.merge, parts), horizon)))
    return Ensemble(tuple(members))
