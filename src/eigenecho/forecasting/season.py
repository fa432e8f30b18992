"""Cycles: how long they are, and as columns that a network can be driven with."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from eigenecho.types import Array

PEAKS = 3
"""Cycles that are looked for in the autocorrelation."""

HARMONICS = 10
"""Sines and cosines to a cycle, at most."""


def autocorrelation(values: Array, lags: int) -> Array:
    """ρ(0) … ρ(lags), by FFT."""
    x = values - values.mean()
    size = 1 << int(np.ceil(np.log2(2 * len(x))))
    power = np.abs(np.fft.rfft(x, size)) ** 2
    rho = np.fft.irfft(power, size)[: lags + 1]
    return rho / (rho[0] or 1.0)


def detect(values: Array) -> list[int]:
    """Lags at which a series resembles itself most, without its trend; best first.

    Peaks of the autocorrelation of the detrended series and of its steps that are higher than
    chance; of a cycle and its multiples only the highest.
    """
    T = len(values)
    lags = T // 3
    if lags < 3:
        return []
    time = np.arange(T)
    detrended = values - np.polyval(np.polyfit(time, values, 1), time)
    least = max(0.2, 3 / np.sqrt(T))
    heights: dict[int, float] = {}
    for series in (detrended, np.diff(values)):
        rho = autocorrelation(series, lags)
        for k in range(2, lags):
            peak = rho[k] >= least and rho[k] >= rho[k - 1] and rho[k] > rho[k + 1]
            # A slow swing keeps neighbours alike; a cycle has come down in between.
            if peak and rho[k] - rho[1:k].min() >= least:
                heights[k] = max(heights.get(k, 0.0), float(rho[k]))
    found: list[int] = []
    for k in sorted(heights, key=lambda k: -heights[k]):
        if not any(_related(k, other) for other in found):
            found.append(k)
    return found[:PEAKS]


def _related(a: float, b: float) -> bool:
    """Whether one is nearly the other, or a multiple of it."""
    ratio = max(a, b) / min(a, b)
    return ratio < 1.25 or abs(ratio - round(ratio)) < 0.05 * ratio


def cycles(values: Array, calendar: Sequence[float], given: Sequence[float] = ()) -> list[float]:
    """Periods in steps: those given, or the calendar's and what the series itself shows.

    Only those that the series has lived through twice.
    """
    periods = list(given) or list(calendar)
    if not given:
        # The multiples of a calendar cycle are peaks too, and so are its neighbours.
        periods += [p for p in detect(values) if not any(_related(p, q) for q in calendar)]
    return [p for p in periods if 2 <= p <= len(values) / 2]


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
