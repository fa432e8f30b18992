"""A series, forecasts of rows that are known by now, and of those to come."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from eigenecho.plots.banded import calendar
from eigenecho.plots.prediction import DASHES, LEGEND
from eigenecho.plots.style import BLACK, GREY, LINES

if TYPE_CHECKING:
    from matplotlib.axes import Axes


def forecast(
    ax: Axes,
    times: Any,
    values: Any,
    guesses: Mapping[str, tuple[Any, Any]],
    *,
    bands: Mapping[str, Sequence[Any]] | None = None,
    origins: Sequence[Any] = (),
    columns: int = 3,
    ticks: int = 8,
) -> None:
    """Draw a series in black and forecasts in colours, each ``(times, values)`` in blocks, by name.

    ``bands`` puts a shade around forecasts, by name: half widths in the same blocks as the values.
    Dotted lines mark the ``origins`` from which forecasts start. A legend has so many ``columns``,
    a calendar at most so many ``ticks``.
    """
    if len(values):
        ax.plot(times, values, color=BLACK, linewidth=1.1, label="data")
    for i, (name, (when, guess)) in enumerate(guesses.items()):
        look: dict[str, Any] = {
            "color": LINES[i % len(LINES)],
            "linestyle": "-" if i == 0 else DASHES[(i - 1) % len(DASHES)],
            "linewidth": 1.5 if i == 0 else 1.2,
            "zorder": 3 if i == 0 else 2.5,
        }
        for j, (x, y) in enumerate(zip(when, guess, strict=True)):
            ax.plot(x, y, label=name if j == 0 else "_" + name, **look)
    if bands:
        _shade(ax, guesses, bands)
    for origin in origins:
        ax.axvline(origin, color=GREY, linewidth=0.8, linestyle=(0, (1, 2)), zorder=1)
    ax.legend(loc="lower left", bbox_to_anchor=(0, 1), ncols=columns, borderaxespad=0.2, **LEGEND)
    calendar(ax, ticks)


def _shade(
    ax: Axes, guesses: Mapping[str, tuple[Any, Any]], bands: Mapping[str, Sequence[Any]]
) -> None:
    """Half widths around forecasts, cut where they would leave no room for the lines."""
    bottom, top = ax.get_ylim()
    least, most = bottom - (top - bottom), top + (top - bottom)
    for i, (name, (when, guess)) in enumerate(guesses.items()):
        for x, y, width in zip(when, guess, bands.get(name, ()), strict=False):
            lower, upper = np.maximum(y - width, least), np.minimum(y + width, most)
            ax.fill_between(x, lower, upper, color=LINES[i % len(LINES)], alpha=0.18, lw=0)
