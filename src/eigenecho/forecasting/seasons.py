"""Detection of the seasonal periods of series."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

import numpy as np

from eigenecho.data.panel import Panel
from eigenecho.forecasting.signals import fill_gaps
from eigenecho.types import Array

OWN = 2
"""Maximum number of periods to detect in a series, in addition to the periods of the calendar."""

USUAL, UNUSUAL = 0.95, 4.0
"""Quantile of the step sizes, and multiple of this quantile at which steps are clipped."""

IN_ROWS = "A week has 7 daily rows, a day 24 hourly rows, a year 12 monthly or 4 quarterly rows"
"""Common periods, for error messages."""

HARMONICS = 10
"""Maximum number of harmonics of a period."""

SAMPLED = 20
"""Maximum number of series of a panel in which periods are detected."""

REPETITIONS = 3
"""Number of repetitions of a period that the median series must contain."""


def find_periods(panel: Panel, given: Sequence[float] = ()) -> tuple[float, ...]:
    """Return the given periods or, by default, the periods of at least a third of the series.

    The periods are sorted. Constant series are ignored.
    """
    if given:
        return tuple(sorted({float(period) for period in given if period > 1}))
    moving = [h for h in panel.histories if np.nanmax(h.values) > np.nanmin(h.values)]
    if not moving:
        return ()
    places = np.linspace(0, len(moving) - 1, min(SAMPLED, len(moving))).astype(int)
    counts: Counter[float] = Counter()
    rows = []
    for i in places:
        values = fill_gaps(moving[i].values).values
        rows.append(len(values))
        if len(values) > 3:
            counts.update(set(series_periods(values, panel.cycles)))
    longest = np.median(rows) / REPETITIONS
    common = (p for p, count in counts.items() if 3 * count >= len(places) and p <= longest)
    return tuple(sorted(map(float, common)))


def whole_periods(periods: Sequence[float]) -> tuple[int, ...]:
    """Return the periods rounded to whole rows, sorted, without periods of one row."""
    return tuple(sorted({round(period) for period in periods if round(period) > 1}))


def series_periods(values: Array, calendar: Sequence[float]) -> list[float]:
    """Return the periods of the calendar and the periods detected in a series (T,).

    The series must contain a period at least twice. If none is found, large steps are clipped and
    the search is repeated, because a single outlier or level shift can hide a cycle.
    """
    return _periods(values, calendar) or _periods(clip_steps(values), calendar)


def _periods(values: Array, calendar: Sequence[float]) -> list[float]:
    T = len(values)
    periods = [period for period in calendar if 2 <= period <= T / 2]
    for _ in range(OWN):
        columns = np.column_stack([np.ones(T), np.arange(T) / T, harmonics(periods, T)])
        residuals = values - columns @ np.linalg.lstsq(columns, values, rcond=None)[0]
        period = detect_period(residuals) if residuals.std() > 0.01 * values.std() else None
        if period is None or any(_is_related(period, other) for other in periods):
            break
        periods.append(period)
    return periods


def detect_period(values: Array) -> int | None:
    """Return the lag of the highest significant peak of the autocorrelation, or None.

    Both the series and its steps are searched. Multiples of a period have peaks of about the same
    height, so the smallest lag with nearly the largest height is returned.
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
            is_peak = rho[k] >= least and rho[k] >= rho[k - 1] and rho[k] > rho[k + 1]
            # The autocorrelation of a slow swing stays high, but a cycle has lower values between.
            if is_peak and rho[k] - rho[1:k].min() >= least:
                heights[k] = max(heights.get(k, 0.0), float(rho[k]))
    highest = max(heights.values(), default=0.0)
    return min((k for k, height in heights.items() if height >= 0.9 * highest), default=None)


def autocorrelation(values: Array, lags: int) -> Array:
    """Return ρ(0) … ρ(lags), computed by FFT."""
    x = values - values.mean()
    size = 1 << int(np.ceil(np.log2(2 * len(x))))
    power = np.abs(np.fft.rfft(x, size)) ** 2
    rho = np.fft.irfft(power, size)[: lags + 1]
    return rho / (rho[0] or 1.0)


def clip_steps(values: Array) -> Array:
    """Return a series (T,) with its unusually large steps clipped."""
    steps = np.diff(values)
    middle = np.median(steps)
    limit = UNUSUAL * np.quantile(np.abs(steps - middle), USUAL)
    if limit == 0:  # a series that rarely changes, whose few steps are informative
        return values
    steps = np.clip(steps, middle - limit, middle + limit)
    return values[0] + np.concatenate([[0.0], np.cumsum(steps)])


def _is_related(a: float, b: float) -> bool:
    """Return True if the ratio of the two periods is close to 1, 2 or 3."""
    ratio = max(a, b) / min(a, b)
    return ratio < 1.25 or (ratio < 3.5 and abs(ratio - round(ratio)) < 0.05 * ratio)


def harmonics(periods: Sequence[float], rows: int) -> Array:
    """Return sines and cosines of periods p at t = 0 … rows − 1, (rows, columns).

        sin 2πkt/p, cos 2πkt/p,   k = 1 … p/2

    A frequency that two periods share is included once.
    """
    frequencies: list[float] = []
    for frequency in (k / period for period in periods for k in range(1, HARMONICS + 1)):
        if frequency < 0.5 and (np.abs(np.array(frequencies) - frequency) > 1e-4).all():
            frequencies.append(frequency)
    angles = 2 * np.pi * np.arange(rows, dtype=float)[:, None] * frequencies
    return np.stack([np.sin(angles), np.cos(angles)], axis=2).reshape(rows, 2 * len(frequencies))


def calendar_columns(periods: Sequence[float], rows: int) -> Array:
    """Return the harmonics and, for short even periods, the wave (−1)ᵗ, (rows, columns)."""
    columns = harmonics(periods, rows)
    if any(period % 2 == 0 and period <= 2 * HARMONICS for period in periods):
        columns = np.column_stack([columns, (-1.0) ** np.arange(rows)])
    return columns
