"""A series and forecasts of it with their bounds, over dates or row numbers."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

import numpy as np

from eigenecho.plots.style import BLACK, GREY, VERMILLION

if TYPE_CHECKING:
    from matplotlib.axes import Axes

ROOM = 0.6
"""How far bounds may reach beyond the lines, in heights of these: wider ones leave the picture."""


DOTS = 3
"""Steps up to which a forecast is drawn as dots, too."""


def drawable(times: Any) -> Any:
    """Times as matplotlib takes them: dates as local clocks show them, periods by their start."""
    if hasattr(times, "to_timestamp"):
        times = times.to_timestamp()
    if getattr(times, "tz", None) is not None:
        times = times.tz_localize(None)
    return np.asarray(times)


def observed(ax: Axes, times: Any, values: Any, label: str = "data") -> None:
    """A series in black; observations that stand alone are dots."""
    ax.plot(times, values, color=BLACK, linewidth=1.1, label=label, zorder=2)
    there = np.concatenate([[False], ~np.isnan(values), [False]])
    alone = there[1:-1] & ~there[:-2] & ~there[2:]
    ax.plot(times[alone], values[alone], ".", color=BLACK, markersize=3, label="_alone", zorder=2)


def forecast_line(
    ax: Axes, times: Any, made: Any, label: str, color: str = VERMILLION, **look: Any
) -> None:
    """A forecast; of few steps, each has a dot."""
    marker = "o" if len(made) <= DOTS else ""
    style = {"color": color, "linewidth": 1.6, "zorder": 3, "marker": marker, "markersize": 3.5}
    ax.plot(times, made, label=label, **{**style, **look})


def shades(ax: Axes, blocks: Iterable[tuple[Any, Any, Any]], label: str) -> None:
    """Shades between bounds, (times, lower, upper) of each forecast; of one step, a bar.

    Drawn after the lines: bounds that would leave no room for these are cut.
    """
    bottom, top = ax.get_ylim()
    for i, (times, lower, upper) in enumerate(blocks):
        name = label if i == 0 else f"_{label}"
        if len(times) == 1:
            ax.vlines(times, lower, upper, color=VERMILLION, alpha=0.3, linewidth=4, label=name)
        else:
            look: dict[str, Any] = {"color": VERMILLION, "alpha": 0.16, "linewidth": 0}
            ax.fill_between(times, lower, upper, label=name, zorder=1, **look)
    low, high = ax.get_ylim()
    room = ROOM * (top - bottom)
    ax.set_ylim(max(low, bottom - room), min(high, top + room))


def origin(ax: Axes, time: Any) -> None:
    """A dotted line where a forecast was made."""
    ax.axvline(time, color=GREY, linewidth=0.8, linestyle=(0, (1, 2)), zorder=1)


def calendar(ax: Axes, ticks: int = 8) -> None:
    """Few and short labels, where x is dates."""
    if ax.xaxis.get_major_locator().__class__.__name__ != "AutoDateLocator":
        return
    from matplotlib.dates import AutoDateLocator, ConciseDateFormatter

    locator = AutoDateLocator(minticks=3, maxticks=ticks)
    ax.xaxis.set_major_locator(locator)
    ax.xaxis.set_major_formatter(ConciseDateFormatter(locator))
