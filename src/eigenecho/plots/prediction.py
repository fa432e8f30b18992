"""Figures of predictions and the true series."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike

from eigenecho.errors import Words, bad_argument
from eigenecho.plots.style import BLACK, DASHES, LEGEND, LINES, panel_grid
from eigenecho.types import Array

if TYPE_CHECKING:
    from matplotlib.axes import Axes


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
    """Draw the true series, predictions and, below, the absolute errors over time.

    Parameters
    ----------
    y_true : array (T,) or (T, D)
    y_pred : array of the same shape, or dict of such arrays
        The keys of a dict are the labels of the legend.
    start : int
        Time of the first row.
    ax, error_ax : Axes, optional
        Axes of the series, and of |y_true − y_pred| on a logarithmic scale. By default, a new
        figure contains both. If only ``ax`` is given, the errors are not drawn.
    legend : bool
        Draw a legend above the series.
    title : str

    Returns
    -------
    Axes
        The axes of the series.

    See Also
    --------
    eigenecho.plots.backtest : Draw forecasts and their intervals.

    Examples
    --------
    >>> import eigenecho as ee
    >>> series = ee.tasks.mso(3, steps=400)
    >>> esn = ee.LinearESN(50, warmup=50, ridge=1e-10, seed=0).fit(series[:199], series[1:200])
    >>> ax = ee.plots.prediction(series[200:], {"free run": esn.forecast(200)}, start=200)
    """
    truth = _as_rows("y_true", y_true)
    named = y_pred if isinstance(y_pred, Mapping) else {"prediction": y_pred}
    predictions = {name: _as_rows("y_pred", rows, truth.shape) for name, rows in named.items()}
    if ax is None:
        _, (ax, error_ax) = panel_grid(2, 1, 7.0, 1.85, sharex=True, height_ratios=(2.2, 1))
    assert ax is not None

    time = start + np.arange(len(truth))
    _draw_columns(ax, time, truth, label="truth", color=BLACK, linewidth=1.6)
    for i, (name, rows) in enumerate(predictions.items()):
        color, dashes = LINES[i % len(LINES)], DASHES[i % len(DASHES)]
        _draw_columns(ax, time, rows, label=name, linewidth=1.6, color=color, linestyle=dashes)
        if error_ax is not None:
            # A logarithmic axis cannot show an error of zero, so it is omitted.
            error = np.abs(truth - rows)
            error[error == 0] = np.nan
            # Each line is thinner than the previous one, so that equal errors remain visible.
            width = 0.9 + 0.5 * (len(predictions) - 1 - i)
            _draw_columns(error_ax, time, error, label=name, color=color, linewidth=width)

    ax.set_ylabel("y(t)")
    if legend:
        # The legend is above the panel, so that it does not hide lines.
        ax.legend(loc="lower right", bbox_to_anchor=(1, 1), ncols=1 + len(predictions), **LEGEND)
    if title:
        ax.set_title(title, fontsize=11, pad=26 if legend else 6)
    (error_ax or ax).set_xlabel("time step t")
    if error_ax is not None:
        error_ax.set(yscale="log", ylabel="|error|")
    return ax


def _draw_columns(ax: Axes, time: Array, rows: Array, *, label: str, **style: Any) -> None:
    for column in rows.T:
        ax.plot(time, column, label=label, **style)
        label = "_more"  # The legend has one entry for all columns.


def _as_rows(name: str, value: ArrayLike, shape: tuple[int, ...] | None = None) -> Array:
    rows = np.array(value, dtype=np.float64)
    rows = rows[:, np.newaxis] if rows.ndim == 1 else rows
    if rows.ndim != 2 or rows.size == 0:
        raise bad_argument(name, Words(f"shape {rows.shape}"), "shape (T,) or (T, D)")
    if shape is not None and rows.shape != shape:
        raise bad_argument(name, Words(f"shape {rows.shape}"), f"the shape of y_true, {shape}")
    return rows
