"""The pictures of a forecast, wide and for a phone."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from eigenecho import plots
from eigenecho.apps.tables.backtest import OURS
from eigenecho.apps.tables.table_forecast import TableForecast
from eigenecho.apps.tables.verdict import verdicts
from eigenecho.pages import NARROW, WIDE
from eigenecho.plots.forecast import forecast as draw_forecast
from eigenecho.plots.style import new_figure, tidy

if TYPE_CHECKING:
    from matplotlib.figure import Figure

BEFORE = 2.0
"""Horizons of the past that are shown before a forecast."""


def future(result: TableForecast, width: float) -> Figure:
    """The end of the series, and the forecast of what comes."""
    series, h = result.series, result.split.horizon
    first = len(series) - min(len(series), max(int(BEFORE * h), 60))
    bands = {} if result.bands is None else {OURS: [result.bands.future]}
    guesses = {OURS: ([series.clock.ahead(h)], [result.future])}
    return _drawn(result, width, first, guesses, bands)


def held_out(result: TableForecast, width: float) -> Figure:
    """The last held-out block: truth, our forecast and the best naive one."""
    split, backtest = result.split, result.backtest
    start = split.test[-1]
    first = max(0, start - max(split.horizon // 2, 20))
    rival = verdicts(backtest)[0].rival
    times = result.series.clock.times[start:]
    bands = {} if result.bands is None else {OURS: [result.bands.held_out[-1]]}
    guesses = {name: ([times], [backtest.guesses[name][-1]]) for name in (OURS, rival)}
    return _drawn(result, width, first, guesses, bands)


def whole(result: TableForecast, width: float) -> Figure:
    """The whole series, with the forecasts of the held-out blocks and of the future."""
    clock, split = result.series.clock, result.split
    blocks = [clock.times[o : o + split.horizon] for o in split.test]
    guesses = {
        "held-out forecasts": (blocks, result.backtest.guesses[OURS]),
        "future": ([clock.ahead(split.horizon)], [result.future]),
    }
    return _drawn(result, width, 0, guesses, {})


def by_lead(result: TableForecast, width: float) -> Figure:
    """Mean absolute error by the number of steps ahead, smoothed over neighbours."""
    backtest, h = result.backtest, result.split.horizon
    span = max(1, h // 20)
    window = np.ones(span) / span
    steps = np.convolve(np.arange(1, h + 1), window, "valid")
    figure, ax = _axes(width)
    lines = {}
    for name in (OURS, *(v.rival for v in verdicts(backtest))):
        errors = backtest.errors(name)
        seen = ~np.isnan(errors)
        sums = np.convolve(np.where(seen, errors, 0.0).sum(axis=0), window, "valid")
        counts = np.convolve(seen.sum(axis=0), window, "valid")
        with np.errstate(invalid="ignore"):  # no line where nothing was observed
            lines[name] = ([steps], [np.where(counts > 0.5 / span, sums / counts, np.nan)])
    draw_forecast(ax, [], [], lines, columns=2 if width < WIDE else 4)
    ax.set_ylim(bottom=0)
    ax.set_xlabel("steps ahead")
    ax.set_ylabel("mean absolute error")
    return figure


def spectrum(result: TableForecast, _: float) -> Figure:
    """Eigenvalues by readout weight; square, and so the same for any page."""
    figure = new_figure(NARROW, NARROW * 1.08)
    ax = figure.add_subplot()
    tidy(ax, frame=True)
    # Hundreds of modes of nearly equal weight would hide each other.
    size = float(np.clip(15000 / result.network.units, 20, 260))
    plots.spectrum(result.fitted.esn, weights=True, ax=ax, size=size)
    return figure


def _drawn(
    result: TableForecast,
    width: float,
    first: int,
    guesses: Mapping[str, tuple[Sequence[Any], Any]],
    bands: Mapping[str, Sequence[Any]],
) -> Figure:
    """The series from a ``first`` row on, and forecasts; where those of the first name start."""
    series = result.series
    figure, ax = _axes(width)
    as_arrays = {n: ([np.asarray(when) for when in g[0]], g[1]) for n, g in guesses.items()}
    draw_forecast(
        ax,
        np.asarray(series.clock.times[first:]),
        series.observed[first:],
        as_arrays,
        bands=bands,
        origins=[when[0] for when in next(iter(as_arrays.values()))[0]],
        columns=3 if width == WIDE else 2,
        ticks=9 if width == WIDE else 7,  # fewer than 7 do not suit every span
    )
    ax.set_ylabel(series.name, parse_math=False)  # a name may hold dollars
    if not series.clock.is_dates:
        ax.set_xlabel(series.clock.name, parse_math=False)
    ax.margins(x=0.01)
    return figure


def _axes(width: float) -> tuple[Figure, Any]:
    figure = new_figure(width, width * (0.36 if width == WIDE else 0.75))
    ax = figure.add_subplot()
    tidy(ax)
    return figure, ax
