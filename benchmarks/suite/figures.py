"""Plot stored curves on log-log axes, with fitted slopes."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Any

import matplotlib as mpl
import numpy as np

from eigenecho.plots.style import BLUE, GREY, VERMILLION, new_figure, tidy
from suite.fits import slope

LOOKS = {
    "eigenecho": {"color": BLUE, "marker": "o"},
    "reservoirpy": {"color": VERMILLION, "marker": "s"},
    "filling": {"color": GREY, "marker": "^"},
}

FITTED_FROM = {"step": 1000}
"""Smallest size for fitting slopes; below it, overhead dominates."""

Curves = dict[str, dict[str, dict[int, float]]]


def collect(results: Iterable[dict[str, Any]]) -> Curves:
    """Return the points of all jobs, by figure and label."""
    curves: Curves = {}
    for result in results:
        for curve in result["curves"]:
            points = curves.setdefault(curve["figure"], {}).setdefault(curve["label"], {})
            points |= dict(zip(curve["x"], curve["y"], strict=True))
    return curves


def draw(curves: Curves, folder: Path, suffix: str = "svg") -> dict[str, Path]:
    """Write the figures that have points and return their paths by name."""
    panels = {
        "benchmark-units": [("step", "units N", "seconds per step")],
        "benchmark-steps": [
            ("fit", "steps T", "seconds to fit"), ("predict", "steps T", "seconds to predict"),
        ],
        "benchmark-bandwidth": [("bandwidth", "units N", "relative bandwidth")],
    }  # fmt: skip
    folder.mkdir(parents=True, exist_ok=True)
    paths = {}
    for name, wanted in panels.items():
        available = [panel for panel in wanted if panel[0] in curves]
        if not available:
            continue
        figure = new_figure(5.4 * len(available) + 0.4, 3.9)
        for ax, (key, x, y) in zip(figure.subplots(1, len(available), squeeze=False)[0], available,
                                   strict=True):  # fmt: skip
            tidy(ax)
            (_shares if key == "bandwidth" else _times)(ax, curves[key], FITTED_FROM.get(key, 0))
            ax.set_xlabel(x)
            ax.set_ylabel(y)
        paths[name] = folder / f"{name}.{suffix}"
        # A fixed salt and no date make the file reproducible.
        with mpl.rc_context({"svg.hashsalt": "eigenecho"}):
            metadata = {"Date": None} if suffix == "svg" else None
            figure.savefig(paths[name], facecolor="white", metadata=metadata, dpi=110)
    return paths


def _look(label: str) -> dict[str, str]:
    return next(look for start, look in LOOKS.items() if label.startswith(start))


def _times(ax: Any, curves: dict[str, dict[int, float]], fitted_from: int) -> None:
    for label, points in sorted(curves.items()):
        points = dict(sorted(points.items()))
        look = _look(label)
        upper = {x: y for x, y in points.items() if x >= fitted_from}
        upper = upper if len(upper) > 1 else points
        if len(upper) > 1:
            p, c = slope(upper)
            ends = np.array([min(upper), max(upper)])
            ax.plot(ends, c * ends**p, color=look["color"], linewidth=1.4)
            label = f"{label}: slope {p:.2f}"
        ax.plot(list(points), list(points.values()), linestyle="none", markersize=5.5, **look)
        ax.plot([], [], linewidth=1.4, markersize=5.5, label=label, **look)
    ax.set_xscale("log")
    ax.set_yscale("log")
    low, high = ax.get_ylim()
    ax.set_ylim(low, high * (high / low) ** 0.25)  # room for the legend
    ax.legend(loc="upper left", frameon=False, fontsize=9)


def _shares(ax: Any, curves: dict[str, dict[int, float]], _: int) -> None:
    for label, points in curves.items():
        xs = sorted(points)
        ax.plot(xs, [points[x] for x in xs], linewidth=1.4, markersize=5.5, label=label,
                **_look(label))  # fmt: skip
    ax.axhline(
        1.0, color=GREY, linewidth=1.0, linestyle="--", label="filling the array, one thread"
    )
    ax.axhline(1 / 2.5, color=GREY, linewidth=1.0, linestyle=":", label="goal at N = 1000")
    ax.set_xscale("log")
    ax.set_ylim(0, max(1.35, 1.3 * max(max(p.values()) for p in curves.values())))
    ax.legend(loc="upper left", frameon=False, fontsize=9)
