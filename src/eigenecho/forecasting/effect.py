"""What columns that are known ahead do to a series, at their own row and after it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import reduce

import numpy as np
from scipy.signal import lfilter

from eigenecho.forecasting.filter import Filter
from eigenecho.forecasting.leads import likeliest
from eigenecho.forecasting.signal import Signal
from eigenecho.forecasting.view import View
from eigenecho.readout import Gram
from eigenecho.types import Array

FADES = (0.0, 2.0, 8.0)
"""Rows over which what a column did is felt: at once, and in running means of so many."""

ROUNDS = 3
"""Of taking the effect off, and learning anew what is left foresees of itself."""


@dataclass(frozen=True, eq=False)
class KnownColumns:
    """Columns (T, k) that are known ahead, as features: standardised, and their running means."""

    mean: Array
    scale: Array

    @classmethod
    def of(cls, known: Sequence[Array]) -> KnownColumns:
        """Of the columns of all series."""
        rows = np.concatenate(known)
        deviation = rows.std(axis=0)
        return cls(rows.mean(axis=0), np.where(deviation > 0, deviation, 1.0))

    def features(self, known: Array) -> Array:
        """(T, F), each row from the rows up to it."""
        x = (known - self.mean) / self.scale
        found = []
        for fade in FADES:
            a = np.exp(-1 / fade) if fade else 0.0
            found.append(lfilter([1 - a], [1, -a], x, axis=0) if len(x) else x)
        return np.concatenate(found, axis=1)


def effect(
    signals: Sequence[Signal], stops: Sequence[int], filter: Filter, logarithm: bool
) -> Array:
    """Weights (F,) of what is known, by least squares on what series do not foresee themselves.

    With e the one-step errors of a forecast without these columns, and its answer to a column in
    place of the series likewise, e(y) = e(known) v + noise, which is white. What v explains is
    then taken off, the forecast is learnt anew, and so on.
    """
    view = View("", filter, logarithm)
    weights = np.zeros(signals[0].known.shape[1])
    for _ in range(ROUNDS):
        foresees = _foresight(view, signals, stops, weights)
        parts, squares = [], 0.0
        for signal, stop in zip(signals, stops, strict=True):
            unit = 1.0 if logarithm else signal.unit
            z = view.seen(signal.values[:stop]) / unit
            e = _unforeseen(filter, foresees, z)
            there = signal.observed[1:stop]
            columns = signal.known[:stop].T
            E = np.stack([_unforeseen(filter, foresees, c) for c in columns], axis=1)
            parts.append(Gram.empty(len(weights), 1).absorb(E[there], e[there, None]))
            squares += float(np.sum(e[there] ** 2))
        weights = likeliest(reduce(Gram.merge, parts), squares)
    return weights


def _foresight(
    view: View, signals: Sequence[Signal], stops: Sequence[int], weights: Array
) -> Array:
    """One-step weights (N,) of series without what is known."""
    parts, squares = [], 0.0
    for signal, stop in zip(signals, stops, strict=True):
        unit = 1.0 if view.logarithm else signal.unit
        z = view.seen(signal.values[:stop]) / unit - signal.known[:stop] @ weights
        level, rows = view.filter.run(z)
        targets = z[1:] - level[:-1]
        there = signal.observed[1:stop]
        x = rows[:-1, 1:]
        parts.append(Gram.empty(x.shape[1], 1).absorb(x[there], targets[there, None]))
        squares += float(np.sum(targets[there] ** 2))
    return likeliest(reduce(Gram.merge, parts), squares)


def _unforeseen(filter: Filter, weights: Array, z: Array) -> Array:
    """z(t+1) − ℓ(t) − r(t) w, (T − 1,)."""
    level, rows = filter.run(z)
    return z[1:] - level[:-1] - rows[:-1, 1:] @ weights
