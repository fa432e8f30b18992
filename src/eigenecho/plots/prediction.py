"""Predictions against the truth, over time."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike

from eigenecho.errors import Shown, bad_argument
from eigenecho.plots.style import BLACK, LINES, new_figure, tidy
from eigenecho.types import Array

if TYPE_CHECKING:
    from matplotlib.axes import Axes

LEGEND: dict[str, Any] = {"frameon": False, "fontsize": 9}
DASHES = ((0, (4, 2)), (0, (1, 1.5)), (0, (6, 2, 1, 2)), "-")


def prediction(
    y_true: ArrayLike,
    y_pred: ArrayLike | Mapping[str, ArrayLike],
    *,
    start: int = 0,
    ax: Axes | None = None,
    error_ax: Axes | None = None,
    legend: bool = True,
    title: str = "",
) -> Axes:
    """Truth and prediction over time, and the size of the error below.

    Parameters
    ----------
    y_true : array (T,) or (T, D)
    y_pred : array of the same shape, or several by name
        Names go into the legend.
    start : int
        Time of the first row.
    ax, error_ax : Axes, optional
        Where to draw the series and |y_true − y_pred|, on a logarithmic scale. Without ``ax`` both
        panels are made, in a new figure; with ``ax`` alone the errors are left out.
    legend : bool
        Put one above the series.
    title : str

    Returns
    -------
    Axes of the series

    See Also
    --------
    eigenecho.plots.backtest : of forecasts, with their bounds

    Examples
    --------
    >>> import eigenecho as ee
    >>> series = ee.tasks.mso(3, steps=400)
    >>> esn = ee.LinearESN(50, warmup=50, ridge=1e-10, seed=0).fit(series[:199], series[1:200])
    >>> ax = ee.plots.prediction(series[200:], {"free run": esn.forecast(200)}, start=200)
    """
    truth = _rows("y_true", y_true)
    named = y_pred if isinstance(y_pred, Mapping) else {"prediction": y_pred}
    guesses = {name: _rows("y_pred", guess, truth.shape) for name, guess in named.items()}
    if ax is None:
        figure = new_figure(7.0, 4.0)
        ax, error_ax = figure.subplots(2, 1, sharex=True, height_ratios=(2.2, 1))
        tidy(ax)
        tidy(error_ax)

    time = start + np.arange(len(truth))
    _lines(ax, time, truth, label="truth", color=BLACK, linewidth=1.6)
    for i, (name, guess) in enumerate(guesses.items()):
        look = {"color": LINES[i % len(LINES)], "linestyle": DASHES[i % len(DASHES)]}
        _lines(ax, time, guess, label=name, linewidth=1.6, **look)
        if error_ax is not None:
            # A logarithmic axis has no place for an exact hit: leave a gap.
            error = np.abs(truth - guess)
            error[error == 0] = np.nan
            # Thinner and thinner: equal errors lie on top of each other, and both are seen.
            width = 0.9 + 0.5 * (len(guesses) - 1 - i)
            _lines(error_ax, time, error, label=name, color=look["color"], linewidth=width)

    ax.set_ylabel("y(t)")
    if legend:
        # Above the panel, where no line can run through it.
        ax.legend(loc="lower right", bbox_to_anchor=(1, 1), ncols=1 + len(guesses), **LEGEND)
    if title:
        ax.set_title(title, fontsize=11, pad=26 if legend else 6)
    (error_ax or ax).set_xlabel("time step t")
    if error_ax is not None:
        error_ax.set_yscale("log")
        error_ax.set_ylabel("|error|")
    return ax


def _lines(ax: Axes, time: Array, rows: Array, *, label: str, **look: Any) -> None:
    for column in range(rows.shape[1]):
        ax.plot(time, rows[:, column], label=label if column == 0 else "_" + label, **look)


def _rows(name: str, value: ArrayLike, shape: tuple[int, ...] | None = None) -> Array:
    rows = np.array(value, dtype=np.float64)
    rows = rows[:, np.newaxis] if rows.ndim == 1 else rows
    if rows.ndim != 2 or rows.size == 0:
        raise bad_argument(name, Shown(f"shape {rows.shape}"), "one series, (T,) or (T, D)")
    if shape is not None and rows.shape != shape:
        raise bad_argument(name, Shown(f"shape {rows.shape}"), f"{shape}, the shape of y_true")
    return rows
