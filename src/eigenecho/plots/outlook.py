"""The end of a series, and the forecast of what comes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from eigenecho.plots.banded import calendar, drawable, forecast_line, observed, origin, shades
from eigenecho.plots.prediction import LEGEND
from eigenecho.plots.style import new_figure, tidy
from eigenecho.types import Array

if TYPE_CHECKING:
    from matplotlib.figure import Figure

NARROW = 6.0
"""Inches below which panels stand below each other."""


class Outlook(NamedTuple):
    """Times and values of the last rows of a series, and of a forecast with its bounds, if any."""

    name: str
    times: Any
    values: Array
    ahead: Any
    forecast: Array
    lower: Array | None = None
    upper: Array | None = None


def outlook(parts: Sequence[Outlook], interval: float, *, width: float = 9.0) -> Figure:
    """A panel for each of some series.

    Parameters
    ----------
    parts : list of Outlook
    interval : float
        The share of rows that bounds shall hold.
    width : float
        Inches.
    """
    columns = 1 if width < NARROW or len(parts) == 1 else 2
    rows = -(-len(parts) // columns)
    height = width * (0.7 if width < NARROW else 0.36) if len(parts) == 1 else 2.2
    figure = new_figure(width, height * rows + 0.3)
    axes = figure.subplots(rows, columns, squeeze=False)
    for ax in axes.flat[len(parts) :]:
        ax.set_axis_off()
    ticks = 10 if columns == 1 and width >= NARROW else 6
    for ax, part in zip(axes.flat, parts, strict=False):
        tidy(ax)
        times, ahead = drawable(part.times), drawable(part.ahead)
        observed(ax, times, part.values)
        forecast_line(ax, ahead, part.forecast, "forecast")
        origin(ax, times[-1])
        if part.lower is not None:
            label = f"bounds for {100 * interval:.3g} %"
            shades(ax, [(ahead, part.lower, part.upper)], label)
        ax.margins(x=0.01)
        calendar(ax, ticks)
        if len(parts) > 1:
            ax.set_title(part.name, fontsize=10, loc="left", parse_math=False)
        else:
            ax.set_ylabel(part.name, parse_math=False)
    lines, names = axes[0, 0].get_legend_handles_labels()
    figure.legend(lines, names, loc="outside upper left", ncols=3, **LEGEND)
    return figure
