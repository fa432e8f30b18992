"""Panels with a known truth, for properties that few real series have.

Each simulation returns a ``Panel`` whose ``events`` mark the rows with a promotion, a holiday or
heating and cooling, and whose ``effect`` is the expected change of y by its known columns, compared
with ``without``, the same columns without events.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from forecasts.drawn import autoregressive

Arrays = list[np.ndarray]

ORIGINS = 3
"""Number of origins of a simulated panel, one horizon apart."""


@dataclass(frozen=True, eq=False)
class Panel:
    """Series that end at the same time, with optional known columns.

    y                (T_i,) for each series; NaN is a missing observation
    known, without   (T_i, k) columns known ahead, and the same columns without events
    events           (T_i,) True on event days
    effect           (T_i,) expected change of y by its known columns, compared with ``without``
    truth            (T_i,) values that forecasts are compared with, if they differ from y
    """

    name: str
    group: str
    horizon: int
    seasons: tuple[int, ...]
    y: Arrays
    known: Arrays | None = None
    without: Arrays | None = None
    events: Arrays | None = None
    effect: Arrays | None = None
    truth: Arrays | None = None
    origins: int = ORIGINS


def promotions(seed: int, shops: int = 15, rows: int = 284) -> Panel:
    """Simulate daily sales, with promotions of +40, −20 or 0 in different shops."""
    rng = np.random.default_rng(seed)
    t, y, known, effect = np.arange(rows), [], [], []
    for size in rng.choice([40.0, -20.0, 0.0], shops):
        promotion = (rng.random(rows) < 0.12).astype(float)
        noise = 2 * autoregressive(rows, 0.7, rng) + 1.5 * rng.standard_normal(rows)
        week = 8 * np.sin(2 * np.pi * t / 7 + 0.3 * rng.standard_normal())
        y.append(100 + 10 * rng.standard_normal() + week + noise + size * promotion)
        known.append(promotion[:, None])
        effect.append(size * promotion)
    without = [0 * X for X in known]
    events = [X[:, 0] > 0 for X in known]
    return Panel(f"promotions {seed}", "promotions", 28, (7,), y, known, without, events, effect)


def retail(seed: int, items: int = 40, rows: int = 442) -> Panel:
    """Simulate counts with promotions, closed Sundays and late starts."""
    rng = np.random.default_rng(seed)
    week, t = np.array([0.8, 0.75, 0.9, 1.0, 1.3, 1.6, 0.0]), np.arange(rows)
    y, known, effect = [], [], []
    for _ in range(items):
        start = 0 if rng.random() < 0.5 else rows - 42 - int(rng.integers(60, rows - 42))
        promotion, day = np.zeros(rows), int(rng.integers(25))
        while day < rows:
            promotion[day : day + 6] = 1
            day += 6 + int(rng.integers(14, 50))
        lift, level = max(rng.normal(0.7, 0.35), 0.0), np.cumsum(0.02 * rng.standard_normal(rows))
        year = 0.15 * np.sin(2 * np.pi * t / 365)
        mean = np.exp(rng.normal(2.7, 0.9) + level + year) * week[t % 7]
        sales = rng.poisson(mean * np.exp(lift * promotion) * rng.gamma(8, 1 / 8, rows))
        y.append(sales[start:].astype(float))
        known.append(promotion[start:, None])
        effect.append((mean * (np.exp(lift * promotion) - 1))[start:])
    without, events = [0 * X for X in known], [X[:, 0] > 0 for X in known]
    return Panel(f"retail {seed}", "retail", 14, (7,), y, known, without, events, effect)


def load(seed: int, days: int = 250) -> Panel:
    """Simulate an hourly load with holidays, heating below 15° and cooling above 20°."""
    rng = np.random.default_rng(seed)
    t = np.arange(24 * days)
    hour, day = t % 24, t // 24
    weather = np.interp(t / 24, np.arange(days), 3 * autoregressive(days, 0.8, rng))
    year, noon = np.sin(2 * np.pi * (day - 110) / 365), np.sin(2 * np.pi * (hour - 9) / 24)
    temperature = 13 + 9 * year + 4 * noon + weather
    evening = np.exp(-(((hour - 19) / 2.5) ** 2))
    work = 60 + 25 * np.exp(-(((hour - 9) / 2.5) ** 2)) + 30 * evening
    rest = 60 + 12 * np.exp(-(((hour - 11) / 3) ** 2)) + 24 * evening
    dates = np.concatenate([np.linspace(3, days - 20, 10), days - np.array([2, 5, 8])])
    holiday = np.isin(day, dates.astype(int))
    weekday = np.where(day % 7 >= 5, rest, work)
    heat = 1.6 * np.maximum(0, 15 - temperature) + 2.5 * np.maximum(0, temperature - 20)
    noise = 6 * autoregressive(len(t), 0.93, rng) + rng.standard_normal(len(t))
    effect = np.where(holiday, rest - 8 - weekday, 0.0)
    known = np.column_stack([temperature, holiday])
    without = np.column_stack([temperature, 0 * holiday])
    y = weekday + effect + heat + noise
    columns = [known], [without], [holiday], [effect]
    return Panel(f"load {seed}", "load", 24, (24, 168), [y], *columns, origins=8)


def closed_days(seed: int, shops: int = 10, rows: int = 240) -> Panel:
    """Simulate daily counts of shops that are closed on Sundays."""
    rng = np.random.default_rng(seed)
    is_open = np.arange(rows) % 7 != 6
    y = [rng.poisson(rng.uniform(5, 60) * is_open).astype(float) for _ in range(shops)]
    return Panel(f"closed days {seed}", "closed days", 14, (7,), y)


def dropouts(seed: int, series: int = 10, rows: int = 200) -> Panel:
    """Simulate series whose last row before each origin is 0 by mistake."""
    rng = np.random.default_rng(seed)
    truth = [20 + 2 * autoregressive(rows, 0.8, rng) for _ in range(series)]
    y = [values.copy() for values in truth]
    for values in y:
        values[rows - 12 * np.arange(1, ORIGINS + 1) - 1] = 0.0
    return Panel(f"dropouts {seed}", "dropouts", 12, (), y, truth=truth)


def damped_trends(seed: int, series: int = 20, rows: int = 41) -> Panel:
    """Simulate short series whose growth slows down."""
    rng, y = np.random.default_rng(seed), []
    for _ in range(series):
        damping, t = rng.uniform(0.85, 0.97), np.arange(rows)
        trend = rng.uniform(2, 8) * (1 - damping**t) / (1 - damping)
        y.append(50 + trend + np.cumsum(rng.standard_normal(rows)) + rng.standard_normal(rows))
    return Panel(f"damped trends {seed}", "damped trends", 6, (), y)


def counts(seed: int, series: int = 20, rows: int = 120) -> Panel:
    """Simulate small monthly counts with a season, many of them 0."""
    rng, y = np.random.default_rng(seed), []
    for _ in range(series):
        season = np.exp(0.5 * np.sin(2 * np.pi * (np.arange(rows) / 12 + rng.random())))
        y.append(rng.poisson(rng.uniform(0.3, 4) * season).astype(float))
    return Panel(f"counts {seed}", "counts", 12, (12,), y)


def late_starts(seed: int, series: int = 12, rows: int = 150) -> Panel:
    """Simulate weekly cycles of which half start only 30 to 60 rows before the end."""
    rng, y = np.random.default_rng(seed), []
    for i in range(series):
        week = rng.uniform(1, 4) * np.sin(2 * np.pi * (np.arange(rows) / 7 + rng.random()))
        values = rng.uniform(10, 30) + week + autoregressive(rows, 0.5, rng)
        y.append(values[-int(rng.integers(58, 80)) :] if i % 2 else values)
    return Panel(f"late starts {seed}", "late starts", 14, (7,), y)


SIMULATIONS: tuple[Callable[[int], Panel], ...] = (
    promotions,
    retail,
    load,
    closed_days,
    dropouts,
    damped_trends,
    counts,
    late_starts,
)
