"""The forecasting methods: other libraries, naive baselines and eigenecho.

A method takes (values, horizon, season) and returns a ``Prediction``. The models of statsforecast
use their defaults and the season of the catalogue, with two exceptions. For seasons above 12,
AutoARIMA approximates the likelihood during its search. For seasons above 24, where AutoARIMA takes
hours and AutoETS supports no seasons, both are applied after MSTL.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from forecasts import lag_ridge

COVERAGE = 0.9


@dataclass(frozen=True)
class Prediction:
    """A forecast, with its intervals and its expected error.

    mean, lower, upper   (H,); bounds of the 90% interval or None
    claimed              the mean absolute error expected by the method, or None
    """

    mean: np.ndarray
    lower: np.ndarray | None = None
    upper: np.ndarray | None = None
    claimed: float | None = None


Method = Callable[[np.ndarray, int, int], Prediction]


def naive(values: np.ndarray, horizon: int, season: int) -> Prediction:
    """Repeat the last value."""
    return Prediction(np.full(horizon, values[-1]))


def drift(values: np.ndarray, horizon: int, season: int) -> Prediction:
    """Extrapolate the line through the first and the last value."""
    slope = (values[-1] - values[0]) / (len(values) - 1)
    return Prediction(values[-1] + slope * np.arange(1, horizon + 1))


def seasonal_naive(values: np.ndarray, horizon: int, season: int) -> Prediction:
    """Repeat the last season."""
    return Prediction(np.resize(values[-season:], horizon))


def lagged(values: np.ndarray, horizon: int, season: int) -> Prediction:
    """Forecast by ridge regression on lags."""
    return Prediction(lag_ridge.fit(values, horizon, season).forecast(values))


def theta_model(season: int) -> Any:
    """Return AutoTheta, which removes seasons by itself."""
    from statsforecast.models import AutoTheta

    return AutoTheta(season_length=season)


def ets_model(season: int) -> Any:
    """Return AutoETS, after MSTL for seasons above 24."""
    from statsforecast.models import MSTL, AutoETS

    if season > 24:
        trend = AutoETS(season_length=1, model="ZZN")
        return MSTL(season_length=season, trend_forecaster=trend)
    return AutoETS(season_length=season)


def arima_model(season: int) -> Any:
    """Return AutoARIMA, after MSTL for seasons above 24."""
    from statsforecast.models import MSTL, AutoARIMA

    if season > 24:
        return MSTL(season_length=season, trend_forecaster=AutoARIMA(season_length=1))
    return AutoARIMA(season_length=season, approximation=season > 12)


def of_statsforecast(model: Callable[[int], Any]) -> Method:
    """Return the method that forecasts by a model of statsforecast."""

    def forecast(values: np.ndarray, horizon: int, season: int) -> Prediction:
        percent = round(100 * COVERAGE)
        result = model(season).fit(values).predict(h=horizon, level=[percent])
        return Prediction(result["mean"], result[f"lo-{percent}"], result[f"hi-{percent}"])

    return forecast


def eigenecho(values: np.ndarray, horizon: int, season: int) -> Prediction:
    """Forecast by ``Forecaster``, given only the horizon."""
    return _ours(values, horizon)


def eigenecho_told(values: np.ndarray, horizon: int, season: int) -> Prediction:
    """Forecast by ``Forecaster``, given the season."""
    return _ours(values, horizon, [season] if season > 1 else None)


def _ours(values: np.ndarray, horizon: int, seasons: list[int] | None = None) -> Prediction:
    import eigenecho as ee

    forecaster = ee.Forecaster(horizon, seasons=seasons, seed=0).fit(values)
    forecast = forecaster.predict(interval=COVERAGE)
    return Prediction(
        np.asarray(forecast.mean),
        np.asarray(forecast.lower),
        np.asarray(forecast.upper),
        float(forecaster.expected_error_),
    )


OURS, TOLD = "eigenecho", "eigenecho, given the season"
SIMPLE = ("naive", "drift", "seasonal naive")
METHODS: dict[str, Method] = {
    "naive": naive,
    "drift": drift,
    "seasonal naive": seasonal_naive,
    "lag ridge": lagged,
    "AutoTheta": of_statsforecast(theta_model),
    "AutoETS": of_statsforecast(ets_model),
    "AutoARIMA": of_statsforecast(arima_model),
    OURS: eigenecho,
    TOLD: eigenecho_told,
}
"""All methods by name, fast ones first."""
PEERS = tuple(name for name in METHODS if name not in (OURS, TOLD))
