"""Outputs on a cluster: lazy arrays and frames, computed where the rows are."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any

import dask.array as da
import numpy as np
from dask.delayed import Delayed
from sklearn.utils.validation import check_is_fitted

from eigenecho.dask.carry import faded, halo
from eigenecho.dask.cluster import Cluster
from eigenecho.dask.panels import predict_panel
from eigenecho.dask.shards import Pair, Shard, check_declared, made, tables
from eigenecho.dask.sources import shards_of
from eigenecho.dask.tails import Tails
from eigenecho.errors import bad_argument, not_finite
from eigenecho.estimators import Forecaster, LinearESN
from eigenecho.kernels.forms import DiagonalForm
from eigenecho.model import LinearModel, State
from eigenecho.model.predict import run
from eigenecho.threads import one_blas_thread
from eigenecho.types import Array


def predict(
    model: Any, X: Any = None, *, y_previous: Any = None, horizon: int | None = None
) -> Any:
    """Outputs of a network, or forecasts, as a lazy dask array or frame.

    Parameters
    ----------
    model : LinearESN, LinearModel or Forecaster
        Fitted, on a cluster or not.
    X : dask array (T, D_in), or a list of them
        For a network; cut along time. No state is lost at a cut: rows before it are run through
        where the network has settled by then, and elsewhere states are carried.
    X : long frame of dask.dataframe
        For a forecaster: series to go on from, as its ``context``. By default those of the fit.
    y_previous : dask array (T, D_out), optional
        Row t holds y(t−1), for networks with feedback; they run on their own output without it,
        one chunk after another.
    horizon : int, optional
        For a forecaster, as in its ``predict``.

    Returns
    -------
    dask array, list of them, or dask frame
        With the chunks of X. Nothing is computed before somebody asks for it.
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
        raise bad_argument("y_previous", y_previous, "None for a network without feedback")
    shards, container = shards_of(X, y_previous, targets=False)
    arrays = _outputs(network, shards, closed=network.closed and y_previous is None, flat=flat)
    outputs = [
        da.concatenate([one for _, one in group])
        for _, group in itertools.groupby(arrays, key=lambda one: one[0])
    ]
    if container.kind == "single":
        return outputs[0]
    return da.stack(outputs) if container.kind == "stack" else outputs


def _outputs(
    model: LinearModel, shards: Sequence[Shard], *, closed: bool, flat: bool
) -> Iterator[tuple[int, Any]]:
    """The number of its series and a lazy array, for each shard."""
    tasks, rows = Cluster(None), 0 if closed else halo(model.reservoir, shards)
    network = tasks.value("network", replace(model, basis=None, certificate=None))
    tails = Tails(tasks, shards)
    states = _states(tasks, network, model, shards) if rows is None else None
    state = None
    for i, shard in enumerate(shards):
        piece = shard.pieces[0]
        skip = min(rows or 0, piece.first) if shard.continues else 0
        if states is not None:
            state = states[i]
        elif not shard.continues:
            state = None
        given = network, tails.before(i, skip), shard.rows, state
        both = tasks.task("predict", _run, *given, skip, (i, piece.first, piece.rows), flat)
        state = tasks.task("state", _second, both) if closed else None
        found = tasks.task("outputs", _first, both)
        shape = (piece.rows,) if flat else (piece.rows, model.D_out)
        yield piece.series, da.from_delayed(found, shape, model.reservoir.dtype)


def _states(
    tasks: Cluster, network: Delayed, model: LinearModel, shards: Sequence[Shard]
) -> list[Any]:
    """The state that each shard begins in, None for zero."""
    beside = isinstance(model.reservoir.form, DiagonalForm)
    found: list[Any] = []
    end: Any = None
    for shard in shards:
        start = end if shard.continues else None
        found.append(start)
        begin = None if beside else start
        end = tasks.task("carry", _end, network, shard.rows, begin)
        if beside and start is not None:
            end = tasks.task("add", _added, network, end, start, shard.count)
    return found


def _read(network: LinearModel, pair: Pair) -> tuple[Array, Array | None]:
    (inputs, previous), dtype = made(pair), network.reservoir.dtype
    before = None if previous is None else tables(previous, "y_previous", dtype)[0]
    if before is not None and before.shape[1] != network.D_out:
        got = f"{before.shape[1]} columns"
        raise bad_argument("y_previous", got, f"{network.D_out}, as in fit")
    if inputs is None:
        assert before is not None
        return before[:, :0], before
    u = tables(inputs, "X", dtype)[0]
    if u.shape[1] != network.D_in:
        raise bad_argument("X", f"{u.shape[1]} columns", f"{network.D_in}, as in fit")
    return u, before


def _run(
    network: LinearModel,
    before: list[Any],
    rows: Pair,
    state: Any,
    skip: int,
    place: tuple[int, int, int],
    flat: bool,
) -> tuple[Array, State]:
    """Outputs of a shard and the state at its end, from a state or rows before it."""
    u, forced = _read(network, rows)
    shard, _, count = place
    check_declared(u, "X", shard, (count, network.D_in))
    if forced is not None:
        check_declared(forced, "y_previous", shard, (count, network.D_out))
    if before:
        early = [_read(network, one) for one in before]
        u = np.concatenate([*(x for x, _ in early), u])
        if forced is not None:
            forced = np.concatenate([*(y for _, y in early if y is not None), forced])
    _check_finite(u, "X", skip, place)
    if forced is not None:
        _check_finite(forced, "y_previous", skip, place)
    start = state
    if state is not None and not isinstance(state, State):
        start = State(state, network.zero_state().y)
    outputs, last = run(network, u, forced, start)
    outputs = outputs[skip:]
    return (outputs[:, 0] if flat else outputs), last


@one_blas_thread()
def _end(network: LinearModel, rows: Pair, state: Array | None) -> Array:
    u, forced = _read(network, rows)
    reservoir = network.reservoir
    own = None if forced is None else network.from_user(forced)
    drive = reservoir.drive(network.own_inputs(u), own)
    r = reservoir.zero_state() if state is None else np.array(state)
    return reservoir.last_state(drive, r)


def _added(network: LinearModel, end: Array, start: Array, rows: int) -> Array:
    return end + faded(network.reservoir, start, rows)


def _first(both: tuple[Any, Any]) -> Any:
    return both[0]


def _second(both: tuple[Any, Any]) -> Any:
    return both[1]


def _check_finite(rows: Array, name: str, skip: int, place: tuple[int, int, int]) -> None:
    """Raise where rows, the first ``skip`` of which lie before the shard, are not finite."""
    finite = np.isfinite(rows)
    if finite.all():
        return
    (shard, first, _), value = place, rows[~finite][0]
    row, column = (int(i) for i in np.unravel_index(int(np.argmin(finite)), rows.shape))
    at = f"row {row - skip} of shard {shard}" if row >= skip else f"before shard {shard}"
    where = f"in row {first - skip + row} ({at}), column {column}"
    raise not_finite(name, float(value), where, rows.dtype)
