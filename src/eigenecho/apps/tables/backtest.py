"""The forecast of a column: chosen, tested against naive forecasts, and made."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from eigenecho.apps.shared.bars import OnProgress
from eigenecho.apps.tables import candidates, naive
from eigenecho.apps.tables.bands import Bands
from eigenecho.apps.tables.candidates import Candidate, Fitted, Network
from eigenecho.apps.tables.season import cycles
from eigenecho.apps.tables.split import Split, split
from eigenecho.apps.tables.table import TableError
from eigenecho.apps.tables.time_series import Series
from eigenecho.blas import one_blas_thread
from eigenecho.model.intervals import check_coverage
from eigenecho.types import Array

OURS = "eigenecho"

ROUNDING = 4 * float(np.finfo(np.float64).eps)
"""Of the largest value."""


@dataclass(frozen=True, eq=False)
class Backtest:
    """Forecasts of the held-out blocks, (blocks, horizon) by name, ours first."""

    truth: Array
    """NaN where rows were filled: nothing is measured there."""
    guesses: dict[str, Array]
    scale: float
    """Mean size of a step, over a season where there is one: what MASE is relative to."""

    def mae(self, name: str) -> float:
        """Mean absolute error."""
        return float(np.nanmean(self.errors(name)))

    def rmse(self, name: str) -> float:
        """Root mean square error."""
        return float(np.sqrt(np.nanmean(self.errors(name) ** 2)))

    def mase(self, name: str) -> float:
        """Mean absolute error, scaled; NaN where rows before repeat each other exactly."""
        return self.mae(name) / self.scale if self.scale > self.rounding else float("nan")

    @property
    def rounding(self) -> float:
        """Below this an error is that of arithmetic, not of a forecast."""
        return ROUNDING * float(np.nanmax(np.abs(self.truth)))

    def block_errors(self, name: str) -> Array:
        """Mean absolute error of each block; NaN for one without a row to measure at."""
        return _means(self.errors(name))

    def errors(self, name: str) -> Array:
        """Absolute errors, (blocks, horizon); NaN where the truth is, never by a guess."""
        errors = np.abs(self.guesses[name] - self.truth)
        return np.where(np.isnan(errors) & ~np.isnan(self.truth), np.inf, errors)

    @property
    def measured(self) -> int:
        """Held-out rows that were observed."""
        return int(np.count_nonzero(~np.isnan(self.truth)))


@dataclass(frozen=True, eq=False)
class Result:
    """All that a forecast is made of."""

    series: Series
    split: Split
    network: Network
    periods: tuple[float, ...]
    season: int | None
    chosen: Candidate
    tried: int
    backtest: Backtest
    fitted: Fitted
    """On all rows."""
    future: Array
    """(horizon,)"""
    steady: bool
    bands: Bands | None = None

    @property
    def replaced(self) -> bool:
        """Whether the forecast is by another network than the one that was tested."""
        return self.fitted.candidate is not self.chosen


@one_blas_thread()
def forecast(
    series: Series,
    horizon: int,
    network: Network,
    *,
    blocks: int | None = None,
    season: float | None = None,
    interval: float | None = None,
    progress: OnProgress | None = None,
) -> Result:
    """Choose a network on earlier rows, test it on later ones, refit it on all and run ahead.

    Parameters
    ----------
    series : Series
    horizon : int
        Steps ahead.
    network : Network
    blocks : int, optional
        Held-out blocks of ``horizon`` rows; see ``split``.
    season : float, optional
        The period of the season in rows; by default the calendar's and the series' own.
    interval : float, optional
        The share of rows, in ]0, 1[, that bounds around forecasts shall hold.
    progress : callable (stage, done, total), optional
    """
    if interval is not None:
        check_coverage(interval)
    tell = progress or (lambda *_: None)
    parts = split(len(series), horizon, blocks)
    values, first = series.values, parts.test[0]
    if series.input_names and len(series.inputs) < len(series) + horizon:
        raise TableError(
            f"--inputs {','.join(series.input_names)} must be known for the {horizon} rows ahead, "
            f"and the table knows {len(series.inputs) - len(series)}. Append rows with these "
            f"columns and an empty {series.name!r}, or shorten --horizon."
        )
    learnt = values[:first]  # nothing is decided with later rows
    if np.ptp(learnt[: parts.validation[0]]) == 0:
        raise TableError(
            f"column {series.name!r} is constant, {learnt[0]:g}, over the rows to learn from "
            f"(the first {parts.validation[0]}). Leave those rows out."
        )
    if np.isnan(_blocks(series.observed, parts.validation, horizon)).all():
        raise TableError(
            f"column {series.name!r} is empty from row {parts.validation[0] + 1} to {first}, all "
            "rows to choose a network by. Leave out rows beyond the gap, or change --horizon."
        )
    given = () if season is None else (season,)
    periods = cycles(learnt[: parts.validation[0]], series.clock.cycles, given)
    if given and not periods:
        raise TableError(
            f"--season {season:g} will not do: expected 2 to {parts.validation[0] // 2} rows, half "
            f"of the {parts.validation[0]} to learn from."
        )
    repeated = naive.best_season(series.observed, values, periods, parts.validation, horizon)
    ranked = candidates.rank(
        series,
        network,
        candidates.views(periods),
        parts.validation,
        horizon,
        lambda done, total: tell("choosing", done, total),
    )
    if not np.isfinite(ranked[0].error):
        raise ArithmeticError("every network overflowed on this series: look at its values.")
    tell("testing", 0, len(parts.test))
    start = candidates.first_steady(ranked, network, series, first, horizon)
    chosen = start.candidate
    guesses, deviations = [], []
    for done, origin in enumerate(parts.test):
        fitted = start if origin == first else candidates.fit(chosen, network, series, origin)
        guesses.append(fitted.forecast(horizon))
        if interval is not None:
            deviations.append(fitted.deviations(horizon))
        tell("testing", done + 1, len(parts.test))
    backtest = _compared(series, parts, np.array(guesses), repeated)
    tell("forecasting", 0, 1)
    # By identity: candidates of one error are equal.
    after = ranked[next(i for i, one in enumerate(ranked) if one is chosen) :]
    fitted = candidates.first_steady(after, network, series, len(series), horizon)
    future = fitted.forecast(horizon)
    bands = None
    if interval is not None:
        bands = Bands.of(
            interval, backtest.errors(OURS), np.array(deviations), fitted.deviations(horizon)
        )
    tell("forecasting", 1, 1)
    return Result(
        series,
        parts,
        network,
        tuple(periods),
        repeated,
        chosen,
        len(ranked),
        backtest,
        fitted,
        future,
        candidates.is_steady(fitted, horizon),
        bands,
    )


def _compared(series: Series, parts: Split, ours: Array, season: int | None) -> Backtest:
    values, h = series.values, parts.horizon
    guesses: dict[str, Array] = {OURS: ours}
    for name, ahead in naive.forecasts(season).items():
        guesses[name] = np.array([ahead(values[:o], h) for o in parts.test])
    learnt, lag = series.observed[: parts.test[0]], season or 1
    steps = np.abs(learnt[lag:] - learnt[:-lag])
    scale = float(np.nanmean(steps)) if not np.isnan(steps).all() else float("nan")
    return Backtest(_blocks(series.observed, parts.test, h), guesses, scale)


def _blocks(values: Array, origins: Sequence[int], horizon: int) -> Array:
    return np.array([values[o : o + horizon] for o in origins])


def _means(errors: Array) -> Array:
    """The mean of each row of what there is."""
    seen = ~np.isnan(errors)
    sums, counts = np.where(seen, errors, 0.0).sum(axis=1), seen.sum(axis=1)
    return np.where(counts > 0, sums / np.maximum(counts, 1), np.nan)
