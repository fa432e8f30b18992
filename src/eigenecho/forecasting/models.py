"""Models of users, which are scored and averaged like the candidates of the forecaster."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Protocol

import numpy as np

from eigenecho.errors import Words, bad_argument
from eigenecho.forecasting.signals import Batch
from eigenecho.types import Array


class Model(Protocol):
    """Forecasting model, for ``Forecaster(models=[...])``.

    A ``Batch`` contains ``values`` (S, T) of S series of equal length without missing values, and a
    mask ``observed`` (S, T). Series are in the units of the caller; ``unit`` (S,) is the root mean
    square of their steps.
    """

    def fit(self, batches: Sequence[Batch], stops: Sequence[int]) -> Model:
        """Return the model, trained on the rows of each batch before its stop."""

    def forecast(self, batch: Batch, origins: Array, horizon: int) -> Array:
        """Return forecasts (S, O, H), each computed from the rows up to its origin."""


def check_models(models: Any) -> tuple[Model, ...]:
    """Return models as a tuple, or raise an error if one lacks ``fit`` or ``forecast``."""
    checked = () if models is None else tuple(models)
    for model in checked:
        if not all(callable(getattr(model, name, None)) for name in ("fit", "forecast")):
            raise bad_argument("models", model, "objects with the methods fit and forecast")
    return checked


def forecast_by(model: Model, batch: Batch, origins: Array, horizon: int) -> Array:
    """Return the forecasts (S, O, H) of a model, or raise an error if their shape is different."""
    forecasts = np.asarray(model.forecast(batch, origins, horizon), float)
    shape = len(batch), len(origins), horizon
    if forecasts.shape != shape:
        got = Words(f"{type(model).__name__}, whose forecasts have shape {forecasts.shape}")
        raise bad_argument("models", got, f"forecasts of shape {shape} (series, origins, horizon)")
    return forecasts
