"""A backtest: forecasts as they would have been made as time went by, and what came."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

from eigenecho import plots
from eigenecho.errors import unknown_name
from eigenecho.forecasting.backtest_words import as_html, as_text
from eigenecho.forecasting.scores import OURS, scores
from eigenecho.types import Array

if TYPE_CHECKING:
    from matplotlib.figure import Figure

BESIDE = ("unique_id", "cutoff", "step", "ds", "y", "lower", "upper")
"""Columns of errors that are no method's."""


@dataclass(frozen=True, eq=False, repr=False)
class Backtest:
    """Forecasts of rows that came later, ours and naive ones.

    Attributes
    ----------
    errors : DataFrame
        A row for each series, origin and step: ``unique_id``; ``cutoff``, the last time that the
        forecast had seen; ``step``, 1 … H; ``ds``, the time; ``y``, what came, NaN where nothing
        was observed; ``forecast``, ours; a column for each naive forecast; ``lower``, ``upper``.
    series : DataFrame
        The rows that were tested on: ``unique_id``, ``ds``, ``y``.
    scale : array (rows of errors,)
        The mean change over a season in the rows before the origin, which ``mase`` divides by.
    interval : float
        The share of rows that bounds shall hold.
    season : int
        Of the naive forecasts and ``mase``, in rows; 1 for none.
    origins, planned : int
        Origins that were forecast from, and that were asked for: more where it was interrupted.

    See Also
    --------
    eigenecho.Forecaster : ``backtest`` makes one
    eigenecho.plots.backtest : draws it

    Examples
    --------
    >>> import eigenecho as ee
    >>> import numpy as np
    >>> y = np.sin(2 * np.pi * np.arange(96) / 12) + np.random.default_rng(0).normal(0, 0.1, 96)
    >>> tested = ee.Forecaster(horizon=6).fit(y).backtest(y, origins=2)
    >>> tested.origins, sorted(tested.errors["step"].unique().tolist())
    (2, [1, 2, 3, 4, 5, 6])
    """

    errors: Any
    series: Any
    scale: Array
    interval: float
    season: int
    origins: int
    planned: int

    @property
    def methods(self) -> list[str]:
        """Columns of ``errors`` that are forecasts, ours first."""
        return [name for name in self.errors.columns if name not in BESIDE]

    @property
    def ids(self) -> list[Hashable]:
        """The series, in the order of ``errors``."""
        return list(dict.fromkeys(self.errors["unique_id"]))

    @property
    def horizon(self) -> int:
        """H."""
        return int(self.errors["step"].max())

    @property
    def measure(self) -> str:
        """What methods are compared by: "mase", free of units, for several series; else "mae"."""
        known = self.summary["mase"].notna().all()
        return "mase" if known and len(self.ids) > 1 else "mae"

    @property
    def best_naive(self) -> str:
        """The naive forecast with the smallest errors."""
        return str(self.summary[self.measure].drop(OURS).fillna(float("inf")).idxmin())

    @cached_property
    def summary(self) -> Any:
        """A DataFrame with a row for each method: mae, rmse, mase, smape.

        For ours also coverage and interval_score, which is small for bounds that are narrow and
        hold.
        """
        return self._scores()

    @cached_property
    def by_series(self) -> Any:
        """The same for each series: rows by unique_id and method."""
        return self._scores("unique_id")

    @cached_property
    def by_step(self) -> Any:
        """The same for each step ahead: rows by step and method."""
        return self._scores("step")

    def plot(self, series: Sequence[Hashable] | None = None, *, width: float = 9.0) -> Figure:
        """The last forecasts over the series, and errors by step ahead.

        Parameters
        ----------
        series : list of unique_id, optional
            Which series to draw; the first four by default.
        width : float
            Of the figure, in inches.
        """
        known = self.ids
        wanted = known[: plots.MOST_SERIES] if series is None else list(series)
        for name in wanted:
            if name not in known:
                raise unknown_name("series", name, map(str, known))
        return plots.backtest(self, wanted, width=width)

    def __repr__(self) -> str:
        return as_text(self)

    def _repr_html_(self) -> str:
        return as_html(self)

    def _scores(self, by: str | None = None) -> Any:
        return scores(self.errors, self.methods, self.scale, self.interval, by)
