"""Colours, and figures that belong to no window."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

# Okabe and Ito's palette: told apart with any colour vision, and in grey.
BLACK = "#000000"
BLUE = "#0072B2"
ORANGE = "#E69F00"
GREEN = "#009E73"
VERMILLION = "#D55E00"
PURPLE = "#CC79A7"
GREY = "#8A8A8A"

LINES = (VERMILLION, BLUE, GREEN, ORANGE)
"""Colours of compared lines, in order; the truth is black."""


def new_figure(
    width: float, height: float, layout: Literal["constrained", "compressed"] = "constrained"
) -> Figure:
    """An empty figure of that many inches; ``layout="compressed"`` for panels of fixed aspect."""
    try:
        from matplotlib.figure import Figure
    except ModuleNotFoundError as missing:
        raise ModuleNotFoundError(
            "plots need matplotlib, which is not installed: pip install 'eigenecho[cli]'",
            name=missing.name,
        ) from missing
    return Figure(figsize=(width, height), layout=layout)


def tidy(ax: Axes, *, frame: bool = False) -> None:
    """Quieter axes: thin grey lines, and no frame above and at the right unless ``frame``."""
    for side, spine in ax.spines.items():
        spine.set_visible(frame or side in ("left", "bottom"))
        spine.set_color(GREY)
        spine.set_linewidth(0.8)
    ax.tick_params(color=GREY, width=0.8, labelsize=9)


def legend_above(figure: Figure, ax: Axes) -> None:
    """One legend for all panels of a figure, of the lines in ``ax``."""
    lines, names = ax.get_legend_handles_labels()
    figure.legend(lines, names, loc="outside upper center", ncols=len(names), frameon=False)
