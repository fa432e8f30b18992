"""Make the forecasts of all series and methods that are not stored yet."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from time import process_time

import numpy as np

from forecasts.methods import METHODS, OURS, TOLD, seasonal_naive
from forecasts.protocol import Series
from forecasts.store import Store, StoredForecast
from suite.machine import source_digest


@dataclass(frozen=True)
class Task:
    """One forecast to make: the method, the series and the number of rows before the origin."""

    method: str
    series: Series
    origin: int


def tasks(series: Sequence[Series], methods: Sequence[str]) -> list[Task]:
    """Return all forecasts to make, method by method."""
    return [
        Task(method, entry, origin)
        for method in methods
        for entry in series
        for origin in entry.origins
    ]


def make(
    wanted: Sequence[Task], store: Store, announce: Callable[[Task], None] = lambda task: None
) -> None:
    """Make the forecasts that are not stored; call ``announce`` before each one."""
    for task in wanted:
        announce(task)
        training = task.series.training(task.origin)
        if store.get(variant(task.method), task.series.name, task.origin, training) is None:
            forecast = attempt(task, training)
            store.put(variant(task.method), task.series.name, task.origin, training, forecast)


def attempt(task: Task, training: np.ndarray) -> StoredForecast:
    """Make one forecast.

    If another method fails, seasonal naive replaces it and the failure is recorded. Errors of
    eigenecho are raised.
    """
    horizon, season = task.series.horizon, task.series.season
    start = process_time()
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            prediction = METHODS[task.method](training.copy(), horizon, season)
        if prediction.mean.shape != (horizon,) or not np.isfinite(prediction.mean).all():
            raise ValueError(f"not {horizon} finite numbers: {prediction.mean}")
    except ImportError:
        raise  # a missing package is not a failure of the method
    except Exception as error:
        if task.method in (OURS, TOLD):
            raise RuntimeError(f"{task.series.name}, origin {task.origin}: {error}") from error
        stands_in = seasonal_naive(training, horizon, season)
        return StoredForecast(stands_in, process_time() - start, f"{type(error).__name__}: {error}")
    return StoredForecast(prediction, process_time() - start)


def variant(method: str) -> str:
    """Return the name that forecasts are stored under; for eigenecho it depends on the source."""
    return f"{method}-{_source()}" if method in (OURS, TOLD) else method


@cache
def _source() -> str:
    return source_digest()


def stored(
    series: Series, method: str, store: Store
) -> Iterator[tuple[int, StoredForecast | None]]:
    """Yield each origin of a series with its stored forecast."""
    name = variant(method)
    for origin in series.origins:
        yield origin, store.get(name, series.name, origin, series.training(origin))
