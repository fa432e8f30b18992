"""The last forecasts of a backtest over the series, and errors by step ahead."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from itertools import cycle
from typing import TYPE_CHECKING, Any

from eigenecho.plots.banded import DOTS, calendar, drawable, forecast_line, observed, origin, shades
from eigenecho.plots.prediction import DASHES, LEGEND
from eigenecho.plots.style import BLUE, GREEN, GREY, ORANGE, PURPLE, VERMILLION, new_figure, tidy

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from eigenecho.forecasting.backtest import Backtest

MOST_SERIES = 4
"""Series that are drawn unless others are asked for."""

FORECASTS, ROWS = 4, 24
"""Forecasts of a series that are drawn, the last ones that do not overlap; more where these
would be fewer rows."""

BEFORE = 2
"""Horizons of the past that are drawn before the first of them."""

MARKED = 24
"""Steps up to which errors have a dot each."""

NARROW = 6.0
"""Inches below which panels stand below each other."""

OURS = "forecast"
LABELS = {"mae": "mean absolute error", "mase": "mean scaled error"}
NAIVE = (BLUE, GREEN, ORANGE, PURPLE, GREY)


def backtest(tested: Backtest, series: Sequence[Hashable], *, width: float = 9.0) -> Figure:
    """The last forecasts over some series, a panel each, and errors by step ahead below.

    Parameters
    ----------
    tested : Backtest
    series : list of unique_id
    width : float
        Inches.

    See Also
    --------
    eigenecho.Forecaster : ``backtest`` makes one; its ``plot`` draws it

    Examples
    --------
    >>> import eigenecho as ee
    >>> import numpy as np
    >>> y = np.sin(2 * np.pi * np.arange(96) / 12)
    >>> tested = ee.Forecaster(horizon=6).fit(y).backtest(y, origins=2)
    >>> figure = ee.plots.backtest(tested, tested.ids)
    """
    columns = 1 if width < NARROW or len(series) == 1 else 2
    rows = -(-len(series) // columns)
    height = 3.0 if rows == 1 else 2.2
    figure = new_figure(width, height * rows + 2.7)
    grid = figure.add_gridspec(rows + 1, columns, height_ratios=[height] * rows + [2.3])
    panels = [figure.add_subplot(grid[i // columns, i % columns]) for i in range(len(series))]
    for ax, name in zip(panels, series, strict=True):
        _forecasts(ax, tested, name, ticks=6 if columns > 1 or width < NARROW else 10)
        if len(series) > 1:
            ax.set_title(str(name), fontsize=10, loc="left", parse_math=False)
    below = figure.add_subplot(grid[rows, :])
    tidy(below)
    if tested.horizon > 1:
        _by_step(below, tested, legend_columns=2 if width < NARROW else 5)
    else:
        _bars(below, tested)
    lines, names = panels[0].get_legend_handles_labels()
    figure.legend(
        lines, names, loc="outside upper left", ncols=2 if width < NARROW else 4, **LEGEND
    )
    return figure


def _forecasts(ax: Axes, tested: Backtest, name: Hashable, ticks: int) -> None:
    """A series from before the forecasts that are drawn to the end of the last."""
    tidy(ax)
    rows = tested.series[tested.series["unique_id"] == name]
    errors = tested.errors[tested.errors["unique_id"] == name]
    horizon, rival = tested.horizon, tested.best_naive
    blocks = [errors.iloc[i : i + horizon] for i in range(0, len(errors), horizon)]
    place = {time: i for i, time in enumerate(rows["ds"])}
    chosen = _apart(blocks, [place[block["cutoff"].iloc[0]] for block in blocks], horizon)
    before = max(BEFORE * horizon, ROWS // 2)
    first = max(place[chosen[0]["cutoff"].iloc[0]] + 1 - before, 0)
    last = place[chosen[-1]["ds"].iloc[-1]] + 1
    observed(ax, _times(rows["ds"])[first:last], rows["y"].to_numpy()[first:last])
    for i, block in enumerate(chosen):
        when, label = _times(block["ds"]), "" if i == 0 else "_"
        look = {"linewidth": 1.1, "linestyle": DASHES[0], "zorder": 2.5, "markersize": 2.5}
        forecast_line(ax, when, block[OURS].to_numpy(), f"{label}forecast")
        forecast_line(ax, when, block[rival].to_numpy(), f"{label}{rival}", NAIVE[0], **look)
        if horizon > DOTS:
            origin(ax, _times(block["cutoff"])[0])
    if not errors["lower"].isna().all():
        share = f"bounds for {100 * tested.interval:.3g} %"
        shades(ax, [(_times(b["ds"]), b["lower"], b["upper"]) for b in chosen], share)
    ax.margins(x=0.01)
    calendar(ax, ticks)


def _apart(blocks: Sequence[Any], cutoffs: Sequence[int], horizon: int) -> list[Any]:
    """The last few forecasts that do not overlap, in order."""
    chosen: list[int] = []
    most = max(FORECASTS, ROWS // horizon)
    for i in reversed(range(len(blocks))):
        if len(chosen) < most and (not chosen or cutoffs[chosen[-1]] - cutoffs[i] >= horizon):
            chosen.append(i)
    return [blocks[i] for i in reversed(chosen)]


def _looks(tested: Backtest) -> dict[str, tuple[str, Any]]:
    """Colour and dashes of each method; the best naive one looks as it does over the series."""
    naive = sorted(tested.methods[1:], key=lambda name: name != tested.best_naive)
    looks = zip(naive, cycle(NAIVE), cycle(DASHES))
    return {OURS: (VERMILLION, "-"), **{name: (color, dashes) for name, color, dashes in looks}}


def _by_step(ax: Axes, tested: Backtest, legend_columns: int) -> None:
    """Errors by step ahead, of all methods."""
    errors = tested.by_step[tested.measure].unstack("method")
    marker = "o" if tested.horizon <= MARKED else ""
    for name, (color, dashes) in _looks(tested).items():
        size, dot, order = (1.9, 3.5, 4) if name == OURS else (1.2, 2.5, 3)
        look: dict[str, Any] = {"linewidth": size, "markersize": dot, "zorder": order}
        values = errors[name].to_numpy()
        ax.plot(
            errors.index, values, color=color, linestyle=dashes, marker=marker, label=name, **look
        )
    ax.set_ylim(bottom=0)
    ax.margins(x=0.02)
    ax.set_xlabel("steps ahead")
    ax.set_ylabel(LABELS[tested.measure])
    ax.locator_params(axis="x", integer=True)
    place: dict[str, Any] = {"loc": "lower left", "bbox_to_anchor": (0, 1), "borderaxespad": 0.2}
    ax.legend(ncols=legend_columns, columnspacing=1.4, **place, **LEGEND)


def _bars(ax: Axes, tested: Backtest) -> None:
    """Errors of the one step there is, of all methods."""
    looks = _looks(tested)
    values = [float(tested.summary.loc[name, tested.measure]) for name in looks]
    bars = ax.barh(list(looks), values, color=[color for color, _ in looks.values()], height=0.6)
    ax.bar_label(bars, [f"{value:.3g}" for value in values], fontsize=9, padding=3)
    ax.invert_yaxis()
    ax.margins(x=0.08)
    ax.set_xlabel(LABELS[tested.measure])


def _times(column: Any) -> Any:
    import pandas

    return drawable(pandas.Index(column))
