"""The pictures of a forecast, wide and for a phone."""

from __future__ import annotations

from collections.abc import Hashable
from typing import TYPE_CHECKING

from eigenecho.apps.tables.tested_forecast import TestedForecast
from eigenecho.plots.banded import calendar, drawable, forecast_line, observed, origin, shades
from eigenecho.plots.prediction import LEGEND
from eigenecho.plots.style import new_figure, tidy

if TYPE_CHECKING:
    from matplotlib.figure import Figure

WIDE, NARROW = 9.0, 4.3
"""Inches."""

BEFORE = 2
"""Horizons of the past that are shown before a forecast."""

MOST_ROWS = 5000
"""Rows of the past that are drawn, at most."""


def future(result: TestedForecast, name: Hashable, width: float) -> Figure:
    """The end of a series, and the forecast of what comes."""
    clock, values = result.series.clocks[name], result.series.values[name]
    shown = min(len(values), max(BEFORE * result.horizon, 60), MOST_ROWS)
    figure = new_figure(width, width * (0.36 if width == WIDE else 0.75))
    ax = figure.add_subplot()
    tidy(ax)
    ahead = result.future[name]
    times = drawable(ahead.index)
    observed(ax, drawable(clock.times[-shown:]), values[-shown:])
    forecast_line(ax, times, ahead["forecast"].to_numpy(), "forecast")
    origin(ax, drawable(clock.times[-1:])[0])
    if result.interval is not None:
        share = f"bounds for {100 * result.interval:.3g} %"
        bounds = (ahead[side].to_numpy() for side in ("lower", "upper"))
        shades(ax, [(times, *bounds)], share)
    ax.legend(loc="lower left", bbox_to_anchor=(0, 1), ncols=3, borderaxespad=0.2, **LEGEND)
    ax.set_ylabel(str(name), parse_math=False)  # a name may hold dollars
    if not clock.is_dates:
        ax.set_xlabel(clock.name, parse_math=False)
    ax.margins(x=0.01)
    calendar(ax, 9 if width == WIDE else 7)  # fewer than 7 do not suit every span
    return figure

