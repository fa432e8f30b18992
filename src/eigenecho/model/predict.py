"""Predictions: outputs and states of a model for given series."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from eigenecho.arrays import namespace, to_host, to_like
from eigenecho.checks import check_flag
from eigenecho.errors import UnstableWarning, Words, bad_argument, warn
from eigenecho.model.loop import ClosedLoop
from eigenecho.model.network import Network, State
from eigenecho.model.online import initial_states, unused_outputs
from eigenecho.model.posterior import Posterior
from eigenecho.progress import UNIT, Progress, Report
from eigenecho.rows import SeriesRows, chunk_rows
from eigenecho.series import Container, as_rows, shifted, unpack_outputs
from eigenecho.threads import one_blas_thread
from eigenecho.training.training_series import readout_head
from eigenecho.types import Array


def predict_series(
    model: Network,
    series: Sequence[Array],
    container: Container,
    y_previous: Any,
    initial_state: Any,
    return_state: bool,
    progress: Report | None = None,
    posterior: Posterior | None = None,
) -> Any:
    """Return the outputs of validated series, as an array or list like the input.

    With a ``posterior``, also return standard deviations, and with ``return_state``, the state at
    the end of each series.
    """
    if posterior is not None and model.closed and y_previous is None:
        expected = "False for a network with feedback, unless y_previous is passed"
        raise bad_argument("return_std", True, expected)
    return_state = check_flag(return_state, "return_state")
    starts = initial_states(model, initial_state, len(series), container.kind)
    previous = previous_outputs(model, y_previous, series, container)
    runs = list(zip(series, previous, starts, strict=True))
    counter = Progress(progress, sum(map(len, series)))
    outputs: Sequence[Array]
    ends: Sequence[State]
    if container.whole is not None and not model.closed and model.reservoir.features is None:
        out, last = run(model, container.whole, None, _as_stack(model, starts), counter)
        outputs, ends = [out], list(map(State, last.r, last.y)) if return_state else []
    else:
        outputs, ends = zip(*[run(model, *args, counter) for args in runs], strict=True)
    results = [container.restore(outputs)]
    if posterior is not None:
        results.append(container.restore([deviations(model, posterior, *args) for args in runs]))
    if return_state:
        results.append(ends[0] if container.kind == "single" else list(ends))
    return tuple(results) if len(results) > 1 else results[0]


def _as_stack(model: Network, starts: Sequence[State | None]) -> State:
    """Return the initial states of several series as one, (series, N) and (series, D_out)."""
    zero = model.zero_state()
    if all(start is None for start in starts):
        return State(*(np.tile(part, (len(starts), 1)) for part in zero))
    states = [zero if start is None else start for start in starts]
    return State(*(np.stack(parts) for parts in zip(*states, strict=True)))


@one_blas_thread()
def run(
    model: Network,
    u: Array,
    y_previous: Array | None = None,
    state: State | None = None,
    progress: Progress | None = None,
) -> tuple[Array, State]:
    """Return outputs (T, D_out) of one series in the caller's units, and the state at its end."""
    start = model.zero_state() if state is None else state
    r = namespace(u).asarray(start.r, model.reservoir.dtype)
    u = model.own_inputs(u)
    if model.closed and y_previous is None:
        out, r = _run_closed(model, u, r, start.y, progress)
    else:
        out, r = _run_open(model, u, r, y_previous, progress)
    outputs = model.to_user(out)
    last = namespace(u).array(outputs[..., -1, :] if u.shape[-2] else start.y)
    return outputs, State(r, last)


def _run_closed(
    model: Network, u: Array, r: Array, y: Array, progress: Progress | None
) -> tuple[Array, Array]:
    """Return outputs of the closed loop after the output ``y``, and the last state."""
    loop = ClosedLoop.of_output(model)
    y = np.array(model.from_user(np.asarray(y)), r.dtype)
    nothing = np.zeros((len(u), model.D_out), r.dtype)
    drive = np.ascontiguousarray(model.reservoir.drive(u, nothing)[:, : len(loop.B)])
    out, r = loop.run(drive, r, y, progress)
    check_finite(model, out, closed=True)
    warn_if_growing(out, max(np.abs(u).max(initial=0.0), np.abs(out[:10]).max(initial=0.0)))
    return out, r


def _run_open(
    model: Network, u: Array, r: Array, y_previous: Array | None, progress: Progress | None
) -> tuple[Array, Array]:
    """Return outputs without a loop, or for given previous outputs, and the last state."""
    reservoir, readout = model.reservoir, model.readout
    before = None if y_previous is None else model.from_user(y_previous)
    drive = reservoir.drive(u, before)
    out = namespace(u).empty((*u.shape[:-1], model.D_out), reservoir.dtype)
    if reservoir.features is not None:
        rows, W_out = _rows(model, u, before, r), np.asarray(model.W_out, np.float64)
        states = [r]
        for piece in (progress or Progress()).pieces(len(u)):
            # The chunk size divides the piece size, so that sums do not depend on the pieces.
            for first, X in rows.chunks(piece.start, piece.stop, UNIT // 16, states):
                out[first : first + len(X)] = X @ W_out
        check_finite(model, out)
        return out, states[0]
    last = reservoir.read_out(readout.weights, drive, r, out, progress)
    out += to_like(readout.offset, out)
    if model.output_to_readout:
        out += before @ to_like(readout.previous, out)
    check_finite(model, out)
    return out, last


def _rows(model: Network, u: Array, before: Array | None, start: Array) -> SeriesRows:
    """Return the rows of the readout for inputs and previous outputs in the network's units."""
    drive = model.reservoir.drive(u, before)
    head = readout_head(u, model.readout_bias, before if model.output_to_readout else None)
    return SeriesRows(head, [(model.reservoir, drive)], [start])


@one_blas_thread()
def deviations(
    model: Network,
    posterior: Posterior,
    u: Array,
    y_previous: Array | None = None,
    state: State | None = None,
) -> Array:
    """Return the standard deviations (T, D_out) of the outputs of one series.

    They include the one-step noise and the uncertainty of the weights. A model with feedback needs
    ``y_previous``. Rows are computed in chunks and cost O(N'²) each.
    """
    reservoir, start = model.reservoir, model.zero_state() if state is None else state
    before = None if y_previous is None else model.from_user(y_previous)
    xp = namespace(u)
    result = xp.empty((len(u), model.D_out), reservoir.dtype)
    scale = 1.0 if model.outputs is None else xp.asarray(model.outputs.scale)
    rows = _rows(model, model.own_inputs(u), before, start.r)
    for first, X in rows.chunks(0, len(u), chunk_rows(u, rows.size)):
        result[first : first + len(X)] = scale * xp.sqrt(posterior.variances(X))
    return result


@one_blas_thread()
def states(model: Network, u: Array, out: Array | None = None) -> Array:
    """Compute reservoir states (T, N) from a zero state, with the outputs fed back.

    For a delay line, these are the states at its taps.
    """
    reservoir, before = model.reservoir, None
    if reservoir.W_fb is not None:
        # The outputs come first, because they drive the reservoir.
        before = model.from_user(shifted(run(model, u)[0], model.zero_state().y))
    drive = reservoir.drive(model.own_inputs(u), before)
    return reservoir.states(drive, out, Progress())


def previous_outputs(
    model: Network, y_previous: Any, series: Sequence[Array], container: Container
) -> list[Array] | list[None]:
    """Return the previous outputs (T, D_out) of each series on its device, or None for each."""
    if y_previous is None:
        return [None] * len(series)
    if not model.closed:
        raise unused_outputs(Words("an array"))
    items, _ = unpack_outputs(y_previous, "y_previous", container)
    several = container.kind != "single"
    arrays = [
        as_rows(item, "y_previous", model.D_out, model.reservoir.dtype, i if several else None)
        for i, item in enumerate(items)
    ]
    lengths, expected = ([len(rows) for rows in part] for part in (arrays, series))
    if lengths != expected:
        got = Words(f"lengths {lengths}")
        raise bad_argument("y_previous", got, f"lengths {expected}, equal to those of the inputs")
    return [namespace(u).asarray(a) for a, u in zip(arrays, series, strict=True)]


def warn_if_growing(outputs: Array, before: float, growth: float = 1e6) -> None:
    """Warn if a closed loop has grown by more than a factor of ``growth``."""
    xp = namespace(outputs)
    after = float(xp.max(xp.abs(outputs), initial=0.0))
    if after > growth * before:
        warn(
            f"The output grew from {before:.3g} to {after:.3g}: the closed loop is unstable. Use "
            "a larger ridge, a smaller fb_scaling or a longer training series.",
            UnstableWarning,
        )


def check_finite(model: Network, outputs: Array, *, closed: bool = False) -> None:
    """Raise if outputs overflowed."""
    if not namespace(outputs).all_finite(outputs):
        finite = to_host(namespace(outputs).isfinite(outputs))
        finite = finite.reshape(-1, *outputs.shape[-2:]).all(axis=0)
        step = int(np.argmin(finite.all(axis=1)))
        raise model.reservoir.overflowed("output", step, closed=closed)
