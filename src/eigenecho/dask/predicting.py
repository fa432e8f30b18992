"""Predictions on a cluster: lazy arrays and frames."""

from __future__ import annotations

import operator
from dataclasses import replace
from typing import Any

import dask.array as da
import numpy as np
from sklearn.utils.validation import check_is_fitted

from eigenecho.dask.carry import carry_states, final_state
from eigenecho.dask.cluster import Cluster
from eigenecho.dask.panels import predict_panel
from eigenecho.dask.shards import Shard, split_series
from eigenecho.errors import Words, bad_argument
from eigenecho.estimators import Forecaster, LinearESN
from eigenecho.model import LinearModel, State
from eigenecho.model.predict import run
from eigenecho.threads import one_blas_thread
from eigenecho.types import Array


def predict(
    model: Any, X: Any = None, *, y_previous: Any = None, horizon: int | None = None
) -> Any:
    """Return the outputs of a network, or forecasts, as a lazy dask array or frame.

    Parameters
    ----------
    model : LinearESN, LinearModel or Forecaster
        A fitted estimator or a model.
    X : dask array (T, D_in), or a list of them
        Inputs of a network, chunked along time. States are carried from chunk to chunk.
    X : long frame of dask.dataframe, or a list of delayed pandas frames
        Series to forecast with a forecaster (its ``context``). By default, the fitted series.
    y_previous : dask array (T, D_out), optional
        For networks with feedback: row t contains y(t−1). By default, such networks use their own
        outputs, and chunks are computed sequentially.
    horizon : int, optional
        Horizon of a forecaster, as in ``Forecaster.predict``.

    Returns
    -------
    dask array, list of them, or dask frame
        Arrays have the same chunks as X.
    """
    if isinstance(model, (Forecaster, LinearESN)):
        check_is_fitted(model)
    if isinstance(model, Forecaster):
        return predict_panel(model, X, horizon)
    network, flat = model, False
    if isinstance(model, LinearESN):
        network, flat = model.model_, np.ndim(model.intercept_) == 0
    if not isinstance(network, LinearModel):
        raise bad_argument("model", model, "a fitted LinearESN, a LinearModel or a Forecaster")
    if y_previous is not None and not network.closed:
        raise bad_argument("y_previous", y_previous, "None, because the network has no feedback")
    outputs = _predict_network(network, X, y_previous, flat)
    given = y_previous if X is None else X
    if isinstance(given, (list, tuple)):
        return outputs
    return da.stack(outputs) if given.ndim == 3 else outputs[0]


def _predict_network(model: LinearModel, X: Any, y_previous: Any, flat: bool) -> list[Any]:
    """Return the outputs of each series as a lazy array."""
    shards = split_series(X, y_previous, "y_previous")
    columns = model.D_in, 0 if y_previous is None else model.D_out
    for shard in shards:
        if shard.columns is None:
            raise bad_argument("X", Words("a list of delayed series"), "dask arrays")
        if shard.columns != columns:
            message = "X and y_previous have {} and {} columns, but the network expects {} and {}."
            raise ValueError(message.format(*shard.columns, *columns))
    cluster, reservoir = Cluster(None), model.reservoir
    network = cluster.value("network", replace(model, basis=None, certificate=None))
    closed = model.closed and y_previous is None

    def end_state(i: int, start: Any) -> Any:
        return cluster.task("carry", _end_state, network, shards[i], start)

    starts = [None] * len(shards) if closed else carry_states(cluster, reservoir, shards, end_state)
    blocks: dict[int, list[Any]] = {}
    state = None
    for shard, start in zip(shards, starts, strict=True):
        if closed and shard.continues:
            start = state
        results = cluster.task("predict", _run, network, shard, start, flat)
        state = cluster.task("state", operator.getitem, results, 1)
        outputs = cluster.task("outputs", operator.getitem, results, 0)
        shape = (shard.count,) if flat else (shard.count, model.D_out)
        block = da.from_delayed(outputs, shape, reservoir.dtype)
        blocks.setdefault(shard.series, []).append(block)
    return [da.concatenate(series) for series in blocks.values()]


# On workers --------------------------------------------------------------------------------------


def _read(network: LinearModel, shard: Shard) -> tuple[Array, Array | None]:
    u, previous = shard.as_tables(shard.load(), network.reservoir.dtype, "y_previous")
    shard.check_finite(u, "X")
    if previous is not None:
        shard.check_finite(previous, "y_previous")
    return u, previous


def _run(network: LinearModel, shard: Shard, start: Any, flat: bool) -> tuple[Array, State]:
    """Return the outputs and the final state of a shard; ``start`` is None for a zero state."""
    u, previous = _read(network, shard)
    if start is not None and not isinstance(start, State):
        start = State(start, network.zero_state().y)
    outputs, last = run(network, u, previous, start)
    return (outputs[:, 0] if flat else outputs), last


@one_blas_thread()
def _end_state(network: LinearModel, shard: Shard, start: Array | None) -> Array:
    u, previous = _read(network, shard)
    forced = None if previous is None else network.from_user(previous)
    drive = network.reservoir.drive(network.own_inputs(u), forced)
    return final_state(network.reservoir, drive, start)
