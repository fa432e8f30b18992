"""The forecast of a column: chosen, tested against naive forecasts, and made."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from eigenecho.apps.shared.bars import OnProgress
from eigenecho.apps.tables import candidates, naive
from eigenecho.apps.tables.backtest import OURS, Backtest, compared, rows_after
from eigenecho.apps.tables.bands import Bands
from eigenecho.apps.tables.candidates import Candidate, Fitted, Network
from eigenecho.apps.tables.split import Split, split
from eigenecho.apps.tables.table import TableError
from eigenecho.apps.tables.time_series import TimeSeries
from eigenecho.forecasting.season import cycles
from eigenecho.model.intervals import check_coverage
from eigenecho.threads import one_blas_thread
from eigenecho.types import Array


@dataclass(frozen=True, eq=False)
class TableForecast:
    """All that a forecast is made of."""

    series: TimeSeries
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
    series: TimeSeries,
    horizon: int,
    network: Network,
    *,
    blocks: int | None = None,
    season: float | None = None,
    interval: float | None = None,
    progress: OnProgress | None = None,
) -> TableForecast:
    """Choose a network on earlier rows, test it on later ones, refit it on all and run ahead.

    Parameters
    ----------
    series : TimeSeries
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
    _check(series, parts)
    first, last = parts.test[0], len(series)
    periods = _periods(series, parts, season)
    repeated = naive.best_season(series.observed, series.values, periods, parts.validation, horizon)
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
    backtest = compared(series, parts, np.array(guesses), repeated)
    tell("forecasting", 0, 1)
    # By identity: candidates of one error are equal.
    after = ranked[next(i for i, one in enumerate(ranked) if one is chosen) :]
    fitted = candidates.first_steady(after, network, series, last, horizon)
    future = fitted.forecast(horizon)
    bands = None
    if interval is not None:
        bands = Bands.of(
            interval, backtest.errors(OURS), np.array(deviations), fitted.deviations(horizon)
        )
    tell("forecasting", 1, 1)
    return TableForecast(
        series=series,
        split=parts,
        network=network,
        periods=tuple(periods),
        season=repeated,
        chosen=chosen,
        tried=len(ranked),
        backtest=backtest,
        fitted=fitted,
        future=future,
        steady=candidates.is_steady(fitted, horizon),
        bands=bands,
    )


def _check(series: TimeSeries, parts: Split) -> None:
    """There must be something to learn, and to choose by, and inputs for all rows ahead."""
    horizon, learnt = parts.horizon, parts.validation[0]
    if series.input_names and len(series.inputs) < len(series) + horizon:
        raise TableError(
            f"--inputs {','.join(series.input_names)} must be known for the {horizon} rows ahead, "
            f"and the table knows {len(series.inputs) - len(series)}. Append rows with these "
            f"columns and an empty {series.name!r}, or shorten --horizon."
        )
    if np.ptp(series.values[:learnt]) == 0:
        raise TableError(
            f"column {series.name!r} is constant, {series.values[0]:g}, over the rows to learn "
            f"from (the first {learnt}). Leave those rows out."
        )
    if np.isnan(rows_after(series.observed, parts.validation, horizon)).all():
        raise TableError(
            f"column {series.name!r} is empty from row {learnt + 1} to {parts.test[0]}, all "
            "rows to choose a network by. Leave out rows beyond the gap, or change --horizon."
        )


def _periods(series: TimeSeries, parts: Split, season: float | None) -> list[float]:
    """The cycles that networks may be shown, decided with the rows before all origins."""
    learnt = series.values[: parts.validation[0]]
    if season is None:
        return cycles(learnt, series.clock.cycles)
    periods = cycles(learnt, (), (season,))
    if not periods:
        raise TableError(
            f"--season {season:g} will not do: expected 2 to {len(learnt) // 2} rows, half "
            f"of the {len(learnt)} to learn from."
        )
    return periods
