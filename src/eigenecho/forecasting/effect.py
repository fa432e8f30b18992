"""What is known to move a series: columns given ahead, and the calendar, at their own rows."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import reduce
from typing import NamedTuple

import numpy as np
from scipy.signal import lfilter

from eigenecho.forecasting.filter import Filter
from eigenecho.forecasting.multi_step_readout import likeliest
from eigenecho.forecasting.season import waves
from eigenecho.forecasting.signal import RemovedEffects, Signal, seen
from eigenecho.readout import Gram
from eigenecho.types import Array, PositiveArray

FADES = (0.0, 2.0, 8.0)
"""Rows over which what a column did is felt: at once, and in running means of so many."""

ROUNDING, NEVER = 1e-12, 1e300
"""Deviations below this share of a column are rounding; and a scale on which nothing moves."""

ROUNDS = 2
"""Of taking off what is known to move a series, and learning anew what the rest foresees."""


@dataclass(frozen=True, eq=False)
class KnownColumns:
    """Columns (T, k) that are known ahead, as features: standardised, and their running means."""

    mean: Array
    scale: PositiveArray

    @classmethod
    def of(cls, known: Sequence[Array]) -> KnownColumns:
        """Of the columns of all series."""
        rows = np.concatenate(known)
        deviation, size = rows.std(axis=0), np.abs(rows).max(axis=0)
        # Of a column that never moved nothing is known, whatever it does one day.
        return cls(rows.mean(axis=0), np.where(deviation > ROUNDING * size, deviation, NEVER))

    def features(self, known: Array) -> Array:
        """(T, F), each row from the rows up to it."""
        x = (known - self.mean) / self.scale
        found = []
        for fade in FADES:
            a = np.exp(-1 / fade) if fade else 0.0
            found.append(lfilter([1 - a], [1, -a], x, axis=0) if len(x) else x)
        return np.concatenate(found, axis=1)


class EffectWeights(NamedTuple):
    """One-step weights (N,) of what is left of series, and weights (F,) of columns."""

    foresight: Array
    columns: Array


@dataclass(frozen=True, eq=False)
class Effects:
    """What columns and the calendar do to series, by what of them is taken off.

    A column does the same to all series, in their units; the calendar what it did to this one so
    far. Both are found by least squares on what series do not foresee themselves: with e the
    one-step errors of a forecast without them, and its answer to a column in place of the series
    likewise, e(y) = e(column) v + noise, which is white.

    Parameters
    ----------
    filter : Filter
        Of the forecast without.
    periods : tuple of float
        Cycles of the calendar, in rows.
    learnt : mapping of RemovedEffects to Learnt
    """

    filter: Filter
    periods: tuple[float, ...]
    learnt: Mapping[RemovedEffects, EffectWeights]

    def applied(self, signal: Signal, rows: int, horizon: int) -> Signal:
        """A signal with all that moves it, up to a horizon after its end.

        Its calendar is that of its first ``rows``. One that never moved is not moved.
        """
        shifts = {}
        if signal.still:
            still = np.zeros(len(signal) + horizon)
            return replace(signal, shifts=dict.fromkeys(self.learnt, still))
        for moved, (foresight, columns) in self.learnt.items():
            shift = np.zeros(len(signal) + horizon)
            if moved.known:
                known = signal.known[: len(shift)] @ columns
                shift[: len(known)] += known  # what lies beyond is not asked for
            if moved.calendar:
                wave = waves(self.periods, len(shift))
                answers = _answers(self.filter, foresight, wave[:rows])
                z = seen(signal, moved.logarithm)[:rows] - shift[:rows]
                shift += wave @ _profile(self.filter, foresight, answers, z, signal.observed)
            shifts[moved] = shift if moved.logarithm else shift * signal.unit
        return replace(signal, shifts=shifts)


def learn(
    signals: Sequence[Signal],
    stops: Sequence[int],
    filter: Filter,
    periods: Sequence[float],
    logarithms: Sequence[bool],
) -> Effects:
    """What the rows of series before their stops say of columns and of the calendar."""
    has_known = signals[0].known.shape[1] > 0
    parts = [(True, False)] * has_known + [(False, True)] * bool(periods)
    if len(parts) == 2:
        parts.append((True, True))
    learnt = {}
    for logarithm in logarithms:
        series = [
            _Series(seen(signal, logarithm)[:stop], signal.known[:stop], signal.observed[:stop])
            for signal, stop in zip(signals, stops, strict=True)
        ]
        for known, calendar in parts:
            cycles = tuple(periods) if calendar else ()
            learnt[RemovedEffects(logarithm, known, calendar)] = _learn(
                series, filter, cycles, known
            )
    return Effects(filter, tuple(periods), learnt)


class _Series(NamedTuple):
    """Values (T,) in units, columns (T, F), and which values were observed."""

    z: Array
    known: Array
    observed: Array


def _learn(
    series: Sequence[_Series], filter: Filter, periods: Sequence[float], known: bool
) -> EffectWeights:
    longest = max(len(one.z) for one in series)
    wave = waves(periods, longest)
    columns = np.zeros(series[0].known.shape[1] if known else 0)
    profiles = [np.zeros(wave.shape[1])] * len(series)
    foresight = np.zeros(filter.size - 1)
    for _ in range(ROUNDS):
        rest = [
            one.z - _sum(one.known, columns) - wave[: len(one.z)] @ profile
            for one, profile in zip(series, profiles, strict=True)
        ]
        foresight = _foresight(filter, rest, series)
        if known:
            rest = [
                one.z - wave[: len(one.z)] @ profile
                for one, profile in zip(series, profiles, strict=True)
            ]
            columns = _columns(filter, foresight, rest, series)
        if periods:
            answers = _answers(filter, foresight, wave)
            profiles = [
                _profile(filter, foresight, answers, one.z - _sum(one.known, columns), one.observed)
                for one in series
            ]
    return EffectWeights(foresight, columns)


def _sum(known: Array, columns: Array) -> Array | float:
    return known @ columns if columns.size else 0.0


def _foresight(filter: Filter, rest: Sequence[Array], series: Sequence[_Series]) -> Array:
    """One-step weights (N,) of what is left of series."""
    parts, squares = [], 0.0
    for z, one in zip(rest, series, strict=True):
        level, trail = filter.run(z)
        targets, there = z[1:] - level[:-1], one.observed[1:]
        gram = Gram.empty(trail.width - 1, 1)
        for start, x in trail.pieces(0, len(targets)):
            rows = start + np.flatnonzero(there[start : start + len(x)])
            gram = gram.absorb(x[rows - start, 1:], targets[rows, None])
        parts.append(gram)
        squares += float(np.sum(targets[there] ** 2))
    return likeliest(reduce(Gram.merge, parts), squares)


def _columns(
    filter: Filter, foresight: Array, rest: Sequence[Array], series: Sequence[_Series]
) -> Array:
    """Weights (F,) of columns that move all series."""
    parts, squares = [], 0.0
    for z, one in zip(rest, series, strict=True):
        errors, there = _unforeseen(filter, foresight, z), one.observed[1:]
        answers = _answers(filter, foresight, one.known)
        empty = Gram.empty(answers.shape[1], 1)
        parts.append(empty.absorb(answers[there], errors[there, None]))
        squares += float(np.sum(errors[there] ** 2))
    return likeliest(reduce(Gram.merge, parts), squares)


def _profile(filter: Filter, foresight: Array, answers: Array, z: Array, observed: Array) -> Array:
    """Weights of the calendar's columns, whose ``answers`` begin where the series does."""
    if len(z) < 2:
        return np.zeros(answers.shape[1])
    errors, there = _unforeseen(filter, foresight, z), observed[1 : len(z)]
    gram = Gram.empty(answers.shape[1], 1)
    gram = gram.absorb(answers[: len(errors)][there], errors[there, None])
    return likeliest(gram, float(np.sum(errors[there] ** 2)))


def _answers(filter: Filter, foresight: Array, columns: Array) -> Array:
    """What a forecast does not foresee of columns (T, F) in place of the series, (T − 1, F)."""
    found = [_unforeseen(filter, foresight, column) for column in columns.T]
    return np.stack(found, axis=1) if found else np.zeros((len(columns) - 1, 0))


def _unforeseen(filter: Filter, foresight: Array, z: Array) -> Array:
    """z(t+1) − ℓ(t) − r(t) w, (T − 1,)."""
    level, trail = filter.run(z)
    found = z[1:] - level[:-1]
    for start, x in trail.pieces(0, len(found)):
        found[start : start + len(x)] -= x[:, 1:] @ foresight
    return found
