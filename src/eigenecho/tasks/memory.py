"""Memory capacity: recall of the input k steps ago (section 5.2 of the paper)."""

from __future__ import annotations

import copy
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from eigenecho import metrics
from eigenecho.checks import as_array, check_count, check_number, generator
from eigenecho.errors import bad_argument
from eigenecho.types import Array, brief_repr


@dataclass(frozen=True, eq=False, repr=False)
class MemoryCapacity:
    """Memory capacity of a model for each delay.

        total = Σ_k MC_k

    Attributes
    ----------
    delays : int array (K,)
    capacity : array (K,)
        Capacities MC_k in [0, 1].
    total : float
        Sum of the capacities. For a linear reservoir of N units, it is at most N, apart from
        sampling errors.

    See Also
    --------
    eigenecho.tasks.memory_capacity : Measure the memory capacity of a model.

    Examples
    --------
    >>> import eigenecho as ee
    >>> esn = ee.LinearESN(20, spectrum="ring", sr=0.9, ridge=1e-12, seed=0)
    >>> memory = ee.tasks.memory_capacity(esn, steps=1000, warmup=100, seed=0)
    >>> memory.delays.shape, memory.capacity.shape
    ((40,), (40,))
    """

    delays: Array
    capacity: Array
    total: float

    def __repr__(self) -> str:
        return brief_repr(self)


def delayed_recall(
    steps: int,
    delays: int | Sequence[int] | Array,
    *,
    seed: int | np.random.Generator,
    low: float = -1.0,
    high: float = 1.0,
) -> tuple[Array, Array]:
    """Return white noise as input, and its past values as targets.

        u(t) ~ U(low, high),   targets[t, j] = u(t − delays[j]), and 0 where t < delays[j]

    Targets before the first row are 0, because a reservoir starts at the zero state.

    Parameters
    ----------
    steps : int
        Length of the series.
    delays : int or sequence of int
        Delays from 0 to ``steps`` − 1. An int K means the delays 1, ..., K.
    seed : int or Generator
    low, high : float
        Bounds of the input.

    Returns
    -------
    u : array (steps, 1)
    targets : array (steps, K)

    See Also
    --------
    eigenecho.tasks.memory_capacity : Score a model on this task.

    Examples
    --------
    >>> import eigenecho as ee
    >>> u, targets = ee.tasks.delayed_recall(5, delays=[0, 2], seed=0)
    >>> bool((targets[2:, 1] == u[:-2, 0]).all())
    True
    """
    steps = check_count(steps, "steps", least=1)
    lags = _check_delays(delays, steps)
    low, high = check_number(low, "low"), check_number(high, "high")
    if not low < high:
        raise bad_argument("low", low, f"a number below high={high}")
    u = generator(seed, needed=True).uniform(low, high, size=(steps, 1))
    targets = np.zeros((steps, len(lags)))
    for column, lag in enumerate(lags):
        targets[lag:, column] = u[: steps - lag, 0]
    return u, targets


def memory_capacity(
    model: Any,
    *,
    steps: int = 6000,
    warmup: int = 1000,
    delays: int | Sequence[int] | Array | None = None,
    seed: int | np.random.Generator,
) -> MemoryCapacity:
    """Measure the short-term memory of a model on test rows.

        MC_k = cov²(u(t − k), y_k(t)) / (σ²(u(t − k)) σ²(y_k(t)))

    A series is drawn by ``delayed_recall``. A copy of the model is fitted on the first half of the
    rows after the warmup, and evaluated on the second half. The predictions are computed for the
    whole series, so that the state at the first test row is correct. If a delay is not recalled at
    all, its capacity is about one divided by the number of test rows.

    Parameters
    ----------
    model : regressor
        Any object with methods ``fit(X, y)`` and ``predict(X)``. It is not modified.
    steps : int
        Length of the series.
    warmup : int
        Number of initial rows that are excluded from training. If the model has a parameter
        ``warmup`` that is 0, it is set to this value.
    delays : int or sequence of int, optional
        Delays to recall. An int K means the delays 1, ..., K. The default is twice the number of
        units.
    seed : int or Generator

    Returns
    -------
    MemoryCapacity

    See Also
    --------
    eigenecho.tasks.delayed_recall : Draw the series.
    eigenecho.metrics.memory_capacity : Compute capacities from predictions.

    Examples
    --------
    >>> import eigenecho as ee
    >>> esn = ee.LinearESN(20, spectrum="ring", sr=0.9, ridge=1e-12, seed=0)
    >>> memory = ee.tasks.memory_capacity(esn, steps=2000, warmup=100, seed=0)
    >>> bool(18 < memory.total <= 20)  # the maximum is 20
    True
    """
    steps = check_count(steps, "steps", least=4)
    warmup = check_count(warmup, "warmup", most=steps - 4)
    if delays is None:
        if not hasattr(model, "units"):
            raise bad_argument("delays", None, "an int or a list, because the model has no units")
        delays = 2 * check_count(model.units, "model.units", "a number of units", 1)
    u, targets = delayed_recall(steps, delays, seed=seed)
    split = warmup + (steps - warmup) // 2

    model = copy.deepcopy(model)
    parameters = model.get_params(deep=False) if hasattr(model, "get_params") else {}
    if parameters.get("warmup") == 0:
        model.set_params(warmup=warmup)
    model.fit(u[:split], targets[:split])
    # A regressor with a single output may return (steps,) for targets of shape (steps, 1).
    predictions = np.asarray(model.predict(u)).reshape(steps, -1)
    capacity = metrics.memory_capacity(targets[split:], predictions[split:])
    return MemoryCapacity(_check_delays(delays, steps), capacity, float(capacity.sum()))


def _check_delays(delays: Any, steps: int) -> Array:
    expected = f"an integer or a sequence of integers from 0 to {steps - 1}"
    lags = as_array(delays, "delays", expected)
    if lags.ndim == 0:
        number = check_count(lags.item(), "delays", "a number of delays", 1, steps - 1)
        return np.arange(1, number + 1, dtype=np.int64)
    is_list = lags.ndim == 1 and lags.size > 0 and lags.dtype.kind in "iu"
    if not is_list or not 0 <= lags.min() <= lags.max() < steps:
        raise bad_argument("delays", delays, expected)
    return lags.astype(np.int64)
