"""Figures of series with their forecasts and prediction intervals."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from eigenecho.plots.style import BLACK, GREY, LEGEND, VERMILLION, panel_grid
from eigenecho.types import Array

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

NARROW = 6.0
"""Width in inches below which a figure has a single column of panels."""

ROOM = 0.6
"""Largest distance of an interval bound from the lines, relative to the height of the lines. Wider
intervals are cut off, so that the lines remain readable."""

DOTS = 3
"""Largest number of steps for which each step of a forecast has a marker."""


class Outlook(NamedTuple):
    """The last rows of a series, and its forecast.

    Attributes
    ----------
    name : str
    times, values : arrays (T,)
        The observed rows.
    ahead, forecast : arrays (H,)
        Times and values of the forecast.
    bounds : mapping of float to array (H, 2)
        Lower and upper bounds of prediction intervals, by their coverage.
    """

    name: str
    times: Any
    values: Array
    ahead: Any
    forecast: Array
    bounds: Mapping[float, Array] = MappingProxyType({})


def outlook(parts: Sequence[Outlook], *, width: float = 9.0) -> Figure:
    """Draw each series and its forecast in a panel.

    Parameters
    ----------
    parts : list of Outlook
    width : float
        Width of the figure in inches.

    Returns
    -------
    Figure
    """
    columns = 1 if width < NARROW or len(parts) == 1 else 2
    height = width * (0.7 if width < NARROW else 0.36) if len(parts) == 1 else 2.2
    figure, axes = panel_grid(len(parts), columns, width / columns, height)
    ticks = 10 if columns == 1 and width >= NARROW else 6
    for ax, part in zip(axes, parts, strict=True):
        times, ahead = to_plot_times(part.times), to_plot_times(part.ahead)
        draw_observed(ax, times, part.values)
        draw_forecast(ax, ahead, part.forecast, "forecast")
        draw_origin(ax, times[-1])
        # The widest interval is drawn first; narrower intervals lie inside it and are darker.
        for number, level in enumerate(sorted(part.bounds, reverse=True)):
            draw_intervals(ax, [(ahead, *part.bounds[level].T)], level, 0.16 + 0.12 * number)
        format_dates(ax, ticks)
        if len(parts) > 1:
            ax.set_title(part.name, fontsize=10, loc="left", parse_math=False)
        else:
            ax.set_ylabel(part.name, parse_math=False)
    lines, names = axes[0].get_legend_handles_labels()
    ncols = 3 if width < NARROW else len(names)
    figure.legend(lines, names, loc="outside upper left", ncols=ncols, **LEGEND)
    return figure


def to_plot_times(times: Any) -> Any:
    """Convert times for matplotlib: to local time, and periods to their start."""
    if isinstance(times, np.ndarray):
        return times
    import pandas

    index = pandas.Index(times)
    if hasattr(index, "to_timestamp"):
        index = index.to_timestamp()
    return np.asarray(index if getattr(index, "tz", None) is None else index.tz_localize(None))


def draw_observed(ax: Axes, times: Any, values: Any) -> None:
    """Draw a series in black, with a dot for each observation between missing values."""
    ax.plot(times, values, color=BLACK, linewidth=1.1, label="observed", zorder=2)
    present = np.concatenate([[False], ~np.isnan(values), [False]])
    alone = present[1:-1] & ~present[:-2] & ~present[2:]
    ax.plot(times[alone], values[alone], ".", color=BLACK, markersize=3, label="_alone", zorder=2)


def draw_forecast(
    ax: Axes, times: Any, values: Any, label: str, color: str = VERMILLION, **style: Any
) -> None:
    """Draw a forecast as a line, with markers if it has few steps."""
    marker = "o" if len(values) <= DOTS else ""
    default: dict[str, Any] = {"linewidth": 1.6, "zorder": 3, "marker": marker, "markersize": 3.5}
    ax.plot(times, values, label=label, color=color, **(default | style))


def draw_intervals(
    ax: Axes, blocks: Iterable[tuple[Any, Any, Any]], interval: float, alpha: float = 0.16
) -> None:
    """Draw prediction intervals (times, lower, upper) as areas, or as bars for one step.

    All lines must be drawn first. Intervals that are much wider than the lines are cut off, unless
    the lines are constant.
    """
    bottom, top = ax.get_ylim()
    room = ROOM * (top - bottom) if ax.dataLim.height else np.inf
    label = f"{100 * interval:.3g}% interval"
    for times, lower, upper in blocks:
        if len(times) == 1:
            style: dict[str, Any] = {"color": VERMILLION, "alpha": 2 * alpha, "linewidth": 4}
            ax.vlines(times, lower, upper, label=label, **style)
        else:
            style = {"color": VERMILLION, "alpha": alpha, "linewidth": 0}
            ax.fill_between(times, lower, upper, label=label, zorder=1, **style)
        label = "_more"
    low, high = ax.get_ylim()
    ax.set_ylim(max(low, bottom - room), min(high, top + room))


def draw_origin(ax: Axes, time: Any) -> None:
    """Draw a dotted vertical line at a forecast origin."""
    ax.axvline(time, color=GREY, linewidth=0.8, linestyle=(0, (1, 2)), zorder=1)


def format_dates(ax: Axes, ticks: int) -> None:
    """Reduce the margins of the time axis, and use few and short labels for dates."""
    ax.margins(x=0.01)
    if ax.xaxis.get_major_locator().__class__.__name__ != "AutoDateLocator":
        return
    from matplotlib.dates import AutoDateLocator, ConciseDateFormatter

    locator = AutoDateLocator(minticks=3, maxticks=ticks)
    ax.xaxis.set_major_locator(locator)
    ax.xaxis.set_major_formatter(ConciseDateFormatter(locator))
