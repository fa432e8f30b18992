"""Errors by step ahead of a backtest, and its last forecasts over the series."""

from __future__ import annotations

from typing import TYPE_CHECKING

from eigenecho.plots.style import new_figure

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from eigenecho.forecasting.backtest import Backtest


def backtest(tested: Backtest) -> Figure:
    """Errors by step ahead, of ours and naive forecasts, and the last forecasts over the series."""
    return new_figure(9.0, 6.0)
