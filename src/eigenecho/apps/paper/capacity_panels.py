"""Capacity curves in panels, one for each reservoir size."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from eigenecho.plots.style import new_figure, tidy
from eigenecho.types import Array

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure


def capacity_panels(sizes: Sequence[int]) -> tuple[Figure, dict[int, Axes]]:
    """A figure, and its panels by size: two to a row, on one scale."""
    rows = (len(sizes) + 1) // 2
    figure = new_figure(9.6, 3.4 * rows + 0.4)
    axes: Any = figure.subplots(rows, 2, squeeze=False, sharey=True)
    for ax in axes.flat[len(sizes) :]:
        ax.set_visible(False)
    panels = dict(zip(sizes, axes.flat, strict=False))
    for ax in panels.values():
        tidy(ax)
        ax.set_ylabel("memory capacity MC_k")
    return figure, panels


def draw_capacity(ax: Axes, x: Any, over_seeds: Array, color: str, **look: Any) -> None:
    """The mean of capacities (seeds, x), shaded ± one deviation."""
    mean, spread = over_seeds.mean(axis=0), over_seeds.std(axis=0)
    ax.plot(x, mean, color=color, **look)
    low, high = np.clip([mean - spread, mean + spread], 0, 1)
    ax.fill_between(x, low, high, color=color, alpha=0.15, lw=0)
