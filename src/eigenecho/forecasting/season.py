"""Cycles: how long they are, and as columns that a network can be driven with."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from eigenecho.types import Array

OWN = 2
"""Cycles of a series' own that are looked for, beside the calendar's."""

USUAL, UNUSUAL = 0.95, 4.0
"""The share of steps that are as usual, and how many times as large as these one may be."""

IN_ROWS = "A week is 7 rows of days, a day 24 of hours, a year 12 of months or 4 of quarters"
"""What the usual cycles are, for those who name them."""

HARMONICS = 10
"""Sines and cosines to a cycle, at most."""


def autocorrelation(values: Array, lags: int) -> Array:
    """ρ(0) … ρ(lags), by FFT."""
    x = values - values.mean()
    size = 1 << int(np.ceil(np.log2(2 * len(x))))
    power = np.abs(np.fft.rfft(x, size)) ** 2
    rho = np.fft.irfft(power, size)[: lags + 1]
    return rho / (rho[0] or 1.0)


def detect(values: Array) -> int | None:
    """The lag at which a series resembles itself most, if that is more than chance.

    The highest peak of the autocorrelation, of the series or of its steps; of peaks about as high,
    multiples of a cycle, the first.
    """
    T = len(values)
    lags = T // 3
    if lags < 3:
        return None
    least = max(0.2, 3 / np.sqrt(T))
    heights: dict[int, float] = {}
    for series in (values, np.diff(values)):
        rho = autocorrelation(series, lags)
        for k in range(2, lags):
            peak = rho[k] >= least and rho[k] >= rho[k - 1] and rho[k] > rho[k + 1]
            # A slow swing keeps neighbours alike; a cycle has come down in between.
            if peak and rho[k] - rho[1:k].min() >= least:
                heights[k] = max(heights.get(k, 0.0), float(rho[k]))
    highest = max(heights.values(), default=0.0)
    return min((k for k, height in heights.items() if height >= 0.9 * highest), default=None)


def cycles(values: Array, calendar: Sequence[float], given: Sequence[float] = ()) -> list[float]:
    """Periods in steps: those given, or the calendar's and what the series shows beside them.

    Only those that the series has lived through twice. What unusual steps may hide is looked for
    without these, where nothing is found with them: of some series they are what comes again.
    """
    return _cycles(values, calendar, given) or _cycles(tamed(values), calendar, given)


def _cycles(values: Array, calendar: Sequence[float], given: Sequence[float]) -> list[float]:
    periods = [p for p in (given or calendar) if 2 <= p <= len(values) / 2]
    for _ in range(0 if given else OWN):
        rest = _without(values, periods)
        found = detect(rest) if rest.std() > 0.01 * values.std() else None
        if found is None or any(_related(found, known) for known in periods):
            break
        periods.append(found)
    return periods


def tamed(values: Array) -> Array:
    """A series whose steps are no larger than a few times the usual ones.

    One typing error or shift of the level would drown all that a series repeats otherwise.
    """
    steps = np.diff(values)
    middle = np.median(steps)
    limit = UNUSUAL * np.quantile(np.abs(steps - middle), USUAL)
    if limit == 0:  # it hardly ever moves: what it does then is all there is
        return values
    steps = np.clip(steps, middle - limit, middle + limit)
    return values[0] + np.concatenate([[0.0], np.cumsum(steps)])


def _without(values: Array, periods: Sequence[float]) -> Array:
    """What trend and cycles leave of a series, by least squares."""
    T = len(values)
    columns = np.column_stack([np.ones(T), np.arange(T) / T, harmonics(periods, 0, T)])
    return values - columns @ np.linalg.lstsq(columns, values, rcond=None)[0]


def _related(a: float, b: float) -> bool:
    """Whether one is nearly the other, or twice or thrice it."""
    ratio = max(a, b) / min(a, b)
    return ratio < 1.25 or (ratio < 3.5 and abs(ratio - round(ratio)) < 0.05 * ratio)


def harmonics(periods: Sequence[float], start: int, stop: int) -> Array:
    """Sines and cosines of cycles at times ``start`` to ``stop``, (stop − start, columns).

        sin 2πkt/p, cos 2πkt/p,   k = 1 … p/2

    A frequency that two cycles share appears once.
    """
    time = np.arange(start, stop, dtype=np.float64)
    frequencies: list[float] = []
    for period in periods:
        for k in range(1, HARMONICS + 1):
            frequency = k / period
            if frequency < 0.5 and all(abs(frequency - f) > 1e-4 for f in frequencies):
                frequencies.append(frequency)
    waves = [wave(2 * np.pi * f * time) for f in frequencies for wave in (np.sin, np.cos)]
    return np.array(waves).T.reshape(len(time), len(waves))


def waves(periods: Sequence[float], rows: int) -> Array:
    """The calendar as columns (rows, F): waves of cycles that a series lived through twice.

    As ``harmonics``, with the wave that changes its sign at every row, where a cycle has it.
    """
    columns = harmonics(periods, 0, rows)
    if any(
        period == round(period) and period % 2 == 0 and period <= 2 * HARMONICS
        for period in periods
    ):
        columns = np.column_stack([columns, (-1.0) ** np.arange(rows)])
    return columns
