"""Colours, line styles and empty figures for all plots."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal

from eigenecho.errors import missing_package

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

# The palette of Okabe and Ito: distinct with any colour vision, and in greyscale.
BLACK = "#000000"
BLUE = "#0072B2"
ORANGE = "#E69F00"
GREEN = "#009E73"
VERMILLION = "#D55E00"
PURPLE = "#CC79A7"
GREY = "#8A8A8A"

LINES = (VERMILLION, BLUE, GREEN, ORANGE, PURPLE, GREY)
"""Colours of the lines in a comparison, in order. The true series is black."""

DASHES: tuple[Any, ...] = ((0, (4, 2)), (0, (1, 1.5)), (0, (6, 2, 1, 2)), "-")
"""Styles of the lines in a comparison, in order."""

LEGEND: dict[str, Any] = {"frameon": False, "fontsize": 9}


def new_figure(
    width: float, height: float, layout: Literal["constrained", "compressed"] = "constrained"
) -> Figure:
    """Return an empty figure that has no window.

    Parameters
    ----------
    width, height : float
        Size in inches.
    layout : {"constrained", "compressed"}
        Use "compressed" for panels with a fixed aspect ratio.
    """
    try:
        from matplotlib.figure import Figure
    except ModuleNotFoundError as error:
        raise missing_package("A plot", "matplotlib", "cli") from error
    return Figure(figsize=(width, height), layout=layout)


def panel_grid(
    count: int, columns: int, width: float, height: float, *, square: bool = False, **options: Any
) -> tuple[Figure, list[Any]]:
    """Return a figure with a grid of empty panels, and the list of panels, row by row.

    Parameters
    ----------
    count, columns : int
        Total number of panels, and number of panels per row.
    width, height : float
        Size of one panel in inches.
    square : bool
        Draw frames and place the panels close together, for axes with equal scales.
    **options
        Further arguments of ``Figure.subplots``.
    """
    rows = -(-count // columns)
    layout: Literal["constrained", "compressed"] = "compressed" if square else "constrained"
    figure = new_figure(width * columns, height * rows + 0.3, layout)
    axes = [*figure.subplots(rows, columns, squeeze=False, **options).flat]
    for unused in axes[count:]:
        unused.remove()
    for ax in axes[:count]:
        tidy(ax, frame=square)
    return figure, axes[:count]


def tidy(ax: Axes, *, frame: bool = False) -> None:
    """Draw thin grey axes; omit the top and right lines unless ``frame`` is True."""
    for side, spine in ax.spines.items():
        spine.set_visible(frame or side in ("left", "bottom"))
        spine.set_color(GREY)
        spine.set_linewidth(0.8)
    ax.tick_params(color=GREY, width=0.8, labelsize=9)


def legend_above(figure: Figure, ax: Axes) -> None:
    """Draw a legend for the lines of ``ax`` above all panels of a figure."""
    lines, names = ax.get_legend_handles_labels()
    figure.legend(lines, names, loc="outside upper center", ncols=len(names), frameon=False)
