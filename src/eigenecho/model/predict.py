"""Running a model over series: outputs, states, and where it stands afterwards."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from eigenecho import kernels
from eigenecho.arrays import at, moved, namespace, on_device, to_host
from eigenecho.errors import Shown, UnstableWarning, bad_argument, warn
from eigenecho.model.loop import ClosedLoop, readout_head
from eigenecho.model.state import State, initial_states
from eigenecho.model.step_inputs import open_model
from eigenecho.progress import Progress, Report
from eigenecho.rows import SeriesRows, chunk_rows
from eigenecho.series import Container, as_rows, shifted, unpack_outputs
from eigenecho.threads import one_blas_thread
from eigenecho.types import Array

if TYPE_CHECKING:
    from eigenecho.model.model import LinearModel
    from eigenecho.training import Posterior


def predict_series(
    model: LinearModel,
    series: Sequence[Array],
    container: Container,
    y_previous: Any,
    initial_state: Any,
    return_state: bool,
    progress: Report | None = None,
) -> Any:
    """Outputs of checked series, held as ``container`` says; with the states at their ends."""
    starts = initial_states(model, initial_state, len(series), container.kind)
    if container.kind == "stack" and on_device(series[0]) and y_previous is None:
        return _together(model, container, series, starts, return_state)
    previous = previous_outputs(model, y_previous, series, container)
    told = Progress(progress, sum(map(len, series)))
    ran = [run(model, *given, told) for given in zip(series, previous, starts, strict=True)]
    outputs = container.restore([y for y, _ in ran])
    if not return_state:
        return outputs
    ends = [state for _, state in ran]
    return outputs, (ends[0] if container.kind == "single" else ends)


def _together(
    model: LinearModel,
    container: Container,
    series: Sequence[Array],
    starts: Sequence[State | None],
    return_state: bool,
) -> Any:
    """Outputs of a stack on a device, in one run."""
    begun = [model.zero_state() if start is None else start for start in starts]
    state = State(*(np.stack(parts) for parts in zip(*begun, strict=True)))
    (u,) = container.together(list(series))
    outputs, last = run(model, u, None, state)
    restored = container.restored([outputs])
    return (restored, list(map(State, last.r, last.y))) if return_state else restored


def deviations_of_series(
    posterior: Posterior,
    model: LinearModel,
    series: Sequence[Array],
    container: Container,
    y_previous: Any,
    initial_state: Any,
) -> Any:
    """How far the outputs of ``predict_series`` can be off, held in the same way."""
    if model.closed and y_previous is None:
        raise bad_argument(
            "return_std", True, "False for a network that runs on its own output",
            "Give y_previous; forecast(interval=...) carries errors round the loop.",
        )  # fmt: skip
    starts = initial_states(model, initial_state, len(series), container.kind)
    previous = previous_outputs(model, y_previous, series, container)
    each = zip(series, previous, starts, strict=True)
    return container.restore([deviations(model, posterior, *given) for given in each])


@one_blas_thread()
def run(
    model: LinearModel,
    u: Array,
    y_previous: Array | None = None,
    state: State | None = None,
    progress: Progress | None = None,
) -> tuple[Array, State]:
    """Outputs (T, D_out) for one series in the caller's units, and the state at its end."""
    start = model.zero_state() if state is None else state
    r = namespace(u).array(start.r, model.reservoir.dtype)
    u = model.own_inputs(u)
    if model.closed and y_previous is None:
        out = _run_closed(model, u, r, start.y, progress)
    else:
        out = _run_open(model, u, r, y_previous, progress)
    outputs = model.to_user(out)
    last = namespace(u).array(outputs[..., -1, :] if u.shape[-2] else start.y)
    return outputs, State(r, last)


def _run_closed(
    model: LinearModel, u: Array, r: Array, y: Array, progress: Progress | None
) -> Array:
    """On its own output, the last of which was ``y``; ``r`` moves on."""
    loop = ClosedLoop.of_output(model)
    y = np.array(model.from_user(np.asarray(y)), r.dtype)
    nothing = np.zeros((len(u), model.D_out), r.dtype)
    drive = np.ascontiguousarray(model.reservoir.drive(u, nothing)[:, : len(loop.B)])
    out = loop.run(drive, r, y, progress)
    check_finite(model, out, closed=True)
    warn_if_growing(out, max(np.abs(u).max(initial=0.0), np.abs(out[:10]).max(initial=0.0)))
    return out


def _run_open(
    model: LinearModel, u: Array, r: Array, y_previous: Array | None, progress: Progress | None
) -> Array:
    """Without a loop, or on outputs that are given; ``r`` moves on."""
    reservoir, readout = model.reservoir, model.readout
    before = None if y_previous is None else model.from_user(y_previous)
    drive = reservoir.drive(u, before)
    out = namespace(u).empty((*u.shape[:-1], model.D_out), reservoir.dtype)
    kernels.outputs(reservoir.form, reservoir.B, drive, readout.weights, r, out, progress)
    out += at(readout.offset, out)
    if model.output_to_readout:
        out += before @ at(readout.previous, out)
    check_finite(model, out)
    return out


@one_blas_thread()
def deviations(
    model: LinearModel,
    posterior: Posterior,
    u: Array,
    y_previous: Array | None = None,
    state: State | None = None,
) -> Array:
    """How far outputs of one series can be off, as standard deviations (T, D_out).

    The noise of a step, and what training left open of the weights. For a model that is open, or
    kept so by ``y_previous``; rows are made in pieces, O(N'²) each.
    """
    reservoir, start = model.reservoir, model.zero_state() if state is None else state
    before = None if y_previous is None else model.from_user(y_previous)
    drive = reservoir.drive(model.own_inputs(u), before)
    xp = namespace(u)
    found = xp.empty((len(u), model.D_out), reservoir.dtype)
    scale = 1.0 if model.outputs is None else xp.asarray(model.outputs.scale)
    rows = SeriesRows(readout_head(model, before, len(u), u), [(reservoir, drive)], [start.r])
    for first, X in rows.chunks(0, len(u), chunk_rows(u, rows.size)):
        found[first : first + len(X)] = scale * xp.sqrt(posterior.variances(X))
    return found


@one_blas_thread()
def states(model: LinearModel, u: Array, out: Array | None = None) -> Array:
    """Reservoir states (T, N) in the basis at work, from zero and on the model's own output."""
    reservoir, before = model.reservoir, None
    if reservoir.W_fb is not None:
        # The output is found first, then what drives the reservoir with it.
        before = model.from_user(shifted(run(model, u)[0], model.zero_state().y))
    drive = reservoir.drive(model.own_inputs(u), before)
    return reservoir.states(drive, reservoir.zero_state(drive), out, Progress())


def previous_outputs(
    model: LinearModel, given: Any, series: Sequence[Array], container: Container
) -> list[Array | None]:
    """Teacher's y(t−1), one array for each series, where that is, (T,) read as (T, 1)."""
    lengths = [len(u) for u in series]
    if given is None:
        return [None] * len(lengths)
    if not model.closed:
        raise open_model(Shown("array"))
    items, _ = unpack_outputs(given, "y_previous", container)
    several = container.kind != "single"
    arrays = [
        as_rows(item, "y_previous", model.D_out, model.reservoir.dtype, i if several else None)
        for i, item in enumerate(items)
    ]
    if [len(a) for a in arrays] != lengths:
        got = Shown(f"lengths {[len(a) for a in arrays]}")
        raise bad_argument("y_previous", got, f"the lengths of X, {lengths}")
    return [moved([a], u)[0] for a, u in zip(arrays, series, strict=True)]


def warn_if_growing(outputs: Array, before: float, growth: float = 1e6) -> None:
    """Warn where a closed loop has grown beyond ``growth`` times what it started from."""
    xp = namespace(outputs)
    after = float(xp.max(xp.abs(outputs), initial=0.0))
    if after > growth * before:
        warn(
            f"the output grew to {after:.3g}, from {before:.3g}: the loop through the model's own "
            "output is unstable. A larger ridge, a smaller fb_scaling or a longer training series "
            "steadies it.",
            UnstableWarning,
        )


def check_finite(model: LinearModel, outputs: Array, *, closed: bool = False) -> None:
    """Raise where a run left the range of floating point."""
    if not namespace(outputs).all_finite(outputs):
        finite = to_host(namespace(outputs).isfinite(outputs))
        finite = finite.reshape(-1, *outputs.shape[-2:]).all(axis=0)
        step = int(np.argmin(finite.all(axis=1)))
        raise model.reservoir.overflowed("output", step, closed=closed)
