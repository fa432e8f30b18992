"""The forecasting methods: other libraries, naive baselines and eigenecho.

A method takes (values, horizon, season) and returns a ``Prediction``. The models of statsforecast
use their defaults and the season of the catalogue, with two exceptions. For seasons above 12,
AutoARIMA approximates the likelihood during its search. For seasons above 24, where AutoARIMA takes
hours and AutoETS supports no seasons, both are applied after MSTL.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

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


def auto_theta(values: np.ndarray, horizon: int, season: int) -> Prediction:
    """Forecast by AutoTheta, which removes seasons by itself."""
    from statsforecast.models import AutoTheta

    return _statsforecast(AutoTheta(season_length=season), values, horizon)


def auto_ets(values: np.ndarray, horizon: int, season: int) -> Prediction:
    """Forecast by AutoETS, after MSTL for seasons above 24."""
    from statsforecast.models import MSTL, AutoETS

    if season > 24:
        trend = AutoETS(season_length=1, model="ZZN")
        return _statsforecast(MSTL(season_length=season, trend_forecaster=trend), values, horizon)
    return _statsforecast(AutoETS(season_length=season), values, horizon)


def auto_arima(values: np.ndarray, horizon: int, season: int) -> Prediction:
    """Forecast by AutoARIMA, after MSTL for seasons above 24."""
    from statsforecast.models import MSTL, AutoARIMA

    if season > 24:
        trend = AutoARIMA(season_length=1)
        return _statsforecast(MSTL(season_length=season, trend_forecaster=trend), values, horizon)
    model = AutoARIMA(season_length=season, approximation=season > 12)
    return _statsforecast(model, values, horizon)


def _statsforecast(model, values: np.ndarray, horizon: int) -> Prediction:
    percent = round(100 * COVERAGE)
    forecast = model.fit(values).predict(h=horizon, level=[percent])
    return Prediction(forecast["mean"], forecast[f"lo-{percent}"], forecast[f"hi-{percent}"])


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
    "AutoTheta": auto_theta,
    "AutoETS": auto_ets,
    "AutoARIMA": auto_arima,
    OURS: eigenecho,
    TOLD: eigenecho_told,
}
"""All methods by name, fast ones first."""
PEERS = tuple(name for name in METHODS if name not in (OURS, TOLD))
