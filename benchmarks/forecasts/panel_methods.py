"""The methods of ``public_panels.py``: each returns a forecast and its quantiles.

Methods of a single series take (values, horizon, season). ``Forecaster`` also takes a list of
series. Models of statsforecast use at most the last ``TRAINING_ROWS`` rows, and gaps are filled by
the previous value for all methods but ``Forecaster``.
"""

from __future__ import annotations

import inspect
import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache, partial
from importlib.metadata import version
from importlib.util import find_spec
from time import process_time
from typing import Any

import numpy as np

from forecasts import methods
from forecasts.panel_scores import LEVELS
from forecasts.protocol import TRAINING_ROWS, fill_gaps
from suite.machine import source_digest


@dataclass(frozen=True)
class QuantileForecast:
    """A forecast (H,), its quantiles (H, 9), its CPU time, and the error if it is a fallback."""

    mean: np.ndarray
    quantiles: np.ndarray
    seconds: float = 0.0
    failed: str | None = None


def with_normal_errors(
    name: str, values: np.ndarray, horizon: int, season: int
) -> QuantileForecast:
    """Return a naive forecast, with the quantiles of normal errors as large as past ones."""
    mean = methods.METHODS[name](values, horizon, season).mean
    steps = np.arange(1, horizon + 1)
    lag = season if name == "seasonal naive" and len(values) > season else 1
    errors = values[lag:] - values[:-lag]
    variance = 1 + (steps - 1) // lag
    if name == "drift":
        errors = errors - errors.mean() if len(errors) else errors
        variance = steps * (1 + steps / max(1, len(values) - 1))
    deviation = np.sqrt(np.mean(errors**2)) if len(errors) else 0.0
    quantiles = mean[:, None] + np.outer(deviation * np.sqrt(variance), _normal_quantiles())
    return QuantileForecast(mean, quantiles)


@cache
def _normal_quantiles() -> np.ndarray:
    from scipy.stats import norm

    return norm.ppf(LEVELS)


def of_statsforecast(
    model: Callable[[int], Any], values: np.ndarray, horizon: int, season: int
) -> QuantileForecast:
    """Return the forecast of a model, with quantiles from its symmetric intervals."""
    percent = [20, 40, 60, 80]
    fitted = model(season).fit(values[-TRAINING_ROWS:])
    result = fitted.predict(h=horizon, level=percent)
    lower = [result[f"lo-{level}"] for level in reversed(percent)]
    upper = [result[f"hi-{level}"] for level in percent]
    return QuantileForecast(result["mean"], np.stack([*lower, result["mean"], *upper], axis=1))


SINGLE: dict[str, Callable[[np.ndarray, int, int], QuantileForecast]] = {
    "naive": partial(with_normal_errors, "naive"),
    "drift": partial(with_normal_errors, "drift"),
    "seasonal naive": partial(with_normal_errors, "seasonal naive"),
    "AutoTheta": partial(of_statsforecast, methods.theta_model),
    "AutoETS": partial(of_statsforecast, methods.ets_model),
    "AutoARIMA": partial(of_statsforecast, methods.arima_model),
}
"""Methods that forecast one series at a time."""
OURS: dict[str, dict[str, Any]] = {
    "alone": {},
    "panel": {},
    "alone, no prior": {"prior": None},
    "panel, no prior": {"prior": None},
}
"""Variants of ``Forecaster`` and their arguments."""
METHODS = (*SINGLE, *OURS)


def available(name: str) -> bool:
    """Return False if a method needs a missing package, or an unknown argument of Forecaster."""
    if name in OURS:
        from eigenecho import Forecaster

        return set(OURS[name]) <= set(inspect.signature(Forecaster).parameters)
    return not name.startswith("Auto") or find_spec("statsforecast") is not None


def identity(name: str) -> str:
    """Return what forecasts of a method depend on besides the data."""
    if name in OURS:
        return source_digest()
    return f"statsforecast {version('statsforecast')}" if name.startswith("Auto") else "1"


def forecast(
    name: str, series: Sequence[np.ndarray], horizon: int, season: int
) -> list[QuantileForecast]:
    """Forecast a single series, or several series as one panel; measure the CPU time per series."""
    start = process_time()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        if name in OURS:
            forecasts = _ours(name, series, horizon, season)
        else:
            forecasts = [_single(name, fill_gaps(values), horizon, season) for values in series]
    seconds = (process_time() - start) / len(series)
    return [QuantileForecast(f.mean, f.quantiles, seconds, f.failed) for f in forecasts]


def _single(name: str, values: np.ndarray, horizon: int, season: int) -> QuantileForecast:
    """Forecast one series. If a model fails, seasonal naive replaces it."""
    try:
        result = SINGLE[name](values, horizon, season)
        if not (np.isfinite(result.mean).all() and np.isfinite(result.quantiles).all()):
            raise ValueError("the forecast is not finite")
    except ImportError:
        raise  # a missing package is not a failure of the method
    except Exception as error:
        fallback = SINGLE["seasonal naive"](values, horizon, season)
        failed = f"{type(error).__name__}: {error}"
        return QuantileForecast(fallback.mean, fallback.quantiles, failed=failed)
    return result


def _ours(
    name: str, series: Sequence[np.ndarray], horizon: int, season: int
) -> list[QuantileForecast]:
    import eigenecho as ee

    seasons = [season] if season > 1 else []
    forecaster = ee.Forecaster(horizon, seasons=seasons, **OURS[name]).fit(list(series))
    means = forecaster.predict()
    failed = None
    try:
        quantiles = forecaster.predict(quantiles=LEVELS)
    except ValueError as error:  # too few rows for intervals
        quantiles = [np.repeat(mean[:, None], len(LEVELS), axis=1) for mean in means]
        failed = str(error)
    return [
        QuantileForecast(mean, band, failed=failed)
        for mean, band in zip(means, quantiles, strict=True)
    ]
