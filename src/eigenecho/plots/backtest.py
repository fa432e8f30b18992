"""Figures of backtests: the last forecasts, and the errors by step ahead."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from itertools import chain, cycle
from typing import TYPE_CHECKING, Any

from eigenecho.plots import outlook
from eigenecho.plots.style import DASHES, LEGEND, LINES, new_figure, tidy

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

MOST_SERIES = 4
"""Number of series that are drawn by default."""

FORECASTS, ROWS = 4, 24
"""Smallest number of forecasts, and of forecast rows, that are drawn per series."""

BEFORE = 2
"""Number of rows drawn before the first forecast, in horizons."""

MARKED = 24
"""Longest horizon for which the error of each step has a marker."""

OURS = "forecast"
LABELS = {"mae": "mean absolute error", "mase": "mean absolute scaled error"}


def backtest(tested: Any, series: Sequence[Hashable], *, width: float = 9.0) -> Figure:
    """Draw the last forecasts of some series and, below, the errors by step ahead.

    Parameters
    ----------
    tested : Backtest
    series : list of unique_id
        Series to draw, each in its own panel.
    width : float
        Width of the figure in inches.

    Returns
    -------
    Figure

    See Also
    --------
    eigenecho.Forecaster : Its method ``backtest`` returns a Backtest with a method ``plot``.

    Examples
    --------
    >>> import eigenecho as ee
    >>> import numpy as np
    >>> y = np.sin(2 * np.pi * np.arange(96) / 12)
    >>> tested = ee.Forecaster(horizon=6).fit(y).backtest(y, origins=2)
    >>> figure = ee.plots.backtest(tested, tested.ids)
    """
    is_narrow = width < outlook.NARROW
    columns = 1 if is_narrow or len(series) == 1 else 2
    rows = -(-len(series) // columns)
    height = 3.0 if rows == 1 else 2.2
    figure = new_figure(width, height * rows + 2.7)
    grid = figure.add_gridspec(rows + 1, columns, height_ratios=[height] * rows + [2.3])
    panels = [figure.add_subplot(grid[i // columns, i % columns]) for i in range(len(series))]
    for ax, name in zip(panels, series, strict=True):
        _draw_series(ax, tested, name, ticks=6 if columns > 1 or is_narrow else 10)
        if len(series) > 1:
            ax.set_title(str(name), fontsize=10, loc="left", parse_math=False)
    below = figure.add_subplot(grid[rows, :])
    tidy(below)
    if tested.horizon > 1:
        _draw_errors_by_step(below, tested, legend_columns=2 if is_narrow else 6)
    else:
        _draw_error_bars(below, tested)
    lines, names = panels[0].get_legend_handles_labels()
    figure.legend(lines, names, loc="outside upper left", ncols=2 if is_narrow else 4, **LEGEND)
    return figure


def _draw_series(ax: Axes, tested: Any, name: Hashable, ticks: int) -> None:
    """Draw a series with its last forecasts and some rows before them."""
    tidy(ax)
    rows = tested.series[tested.series["unique_id"] == name]
    errors = tested.errors[tested.errors["unique_id"] == name]
    horizon, baseline = tested.horizon, tested.best_naive
    row_of_time = {time: i for i, time in enumerate(rows["ds"])}
    blocks = [errors.iloc[i : i + horizon] for i in range(0, len(errors), horizon)]
    cutoffs = [row_of_time[block["cutoff"].iloc[0]] for block in blocks]
    chosen = _select_disjoint(cutoffs, horizon)
    first = max(cutoffs[chosen[0]] + 1 - max(BEFORE * horizon, ROWS // 2), 0)
    last = row_of_time[blocks[chosen[-1]]["ds"].iloc[-1]] + 1
    times = outlook.to_plot_times(rows["ds"])
    outlook.draw_observed(ax, times[first:last], rows["y"].to_numpy()[first:last])
    style: dict[str, Any] = {"color": LINES[1], "linewidth": 1.1, "linestyle": DASHES[0]}
    style |= {"zorder": 2.5, "markersize": 2.5}
    intervals, hidden = [], ""
    for block in (blocks[i] for i in chosen):
        times = outlook.to_plot_times(block["ds"])
        outlook.draw_forecast(ax, times, block[OURS].to_numpy(), f"{hidden}forecast")
        outlook.draw_forecast(ax, times, block[baseline].to_numpy(), hidden + baseline, **style)
        if horizon > outlook.DOTS:
            outlook.draw_origin(ax, outlook.to_plot_times(block["cutoff"])[0])
        intervals.append((times, block["lower"], block["upper"]))
        hidden = "_"  # Only the first forecast appears in the legend.
    if not errors["lower"].isna().all():
        outlook.draw_intervals(ax, intervals, tested.interval)
    outlook.format_dates(ax, ticks)


def _select_disjoint(cutoffs: Sequence[int], horizon: int) -> list[int]:
    """Return the positions of the last forecasts that do not overlap, in order."""
    chosen: list[int] = []
    for i in reversed(range(len(cutoffs))):
        if not chosen or cutoffs[chosen[-1]] - cutoffs[i] >= horizon:
            chosen.append(i)
    return chosen[: max(FORECASTS, ROWS // horizon)][::-1]


def _method_styles(tested: Any) -> dict[str, tuple[str, Any]]:
    """Return the colour and line style of each method; the best baseline as in the panels."""
    baselines = sorted(tested.methods[1:], key=lambda name: name != tested.best_naive)
    styles = zip(cycle(LINES), chain(["-"], cycle(DASHES)))
    return dict(zip([OURS, *baselines], styles, strict=False))


def _draw_errors_by_step(ax: Axes, tested: Any, legend_columns: int) -> None:
    errors = tested.by_step[tested.measure].unstack("method")
    marker = "o" if tested.horizon <= MARKED else ""
    for name, (color, dashes) in _method_styles(tested).items():
        width, size, order = (1.9, 3.5, 4) if name == OURS else (1.2, 2.5, 3)
        style: dict[str, Any] = {"linewidth": width, "markersize": size, "zorder": order}
        style |= {"color": color, "linestyle": dashes, "marker": marker}
        ax.plot(errors.index, errors[name].to_numpy(), label=name, **style)
    ax.set_ylim(bottom=0)
    ax.margins(x=0.02)
    ax.set_xlabel("steps ahead")
    ax.set_ylabel(LABELS[tested.measure])
    ax.locator_params(axis="x", integer=True)
    place: dict[str, Any] = {"loc": "lower left", "bbox_to_anchor": (0, 1), "borderaxespad": 0.2}
    ax.legend(ncols=legend_columns, columnspacing=1.4, **place, **LEGEND)


def _draw_error_bars(ax: Axes, tested: Any) -> None:
    """Draw the error of each method as a bar, for a horizon of one step."""
    styles = _method_styles(tested)
    values = [float(tested.summary.loc[name, tested.measure]) for name in styles]
    bars = ax.barh(list(styles), values, color=[color for color, _ in styles.values()], height=0.6)
    ax.bar_label(bars, [f"{value:.3g}" for value in values], fontsize=9, padding=3)
    ax.invert_yaxis()
    ax.margins(x=0.08)
    ax.set_xlabel(LABELS[tested.measure])
