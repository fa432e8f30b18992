"""Forecasts: a model that predicts its own input is run on its own outputs."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from eigenecho.arrays import namespace, to_common_device, to_host, to_like
from eigenecho.checks import check_count, check_flag, check_memory
from eigenecho.errors import UnstableWarning, Words, bad_argument, counted, warn
from eigenecho.model.loop import ClosedLoop
from eigenecho.model.network import Network, State
from eigenecho.model.online import as_state
from eigenecho.model.predict import check_finite, warn_if_growing
from eigenecho.scaling import FAR, Scaling
from eigenecho.series import as_rows, as_series, as_stack, container_kind, is_stack
from eigenecho.threads import one_blas_thread
from eigenecho.types import Array

GROWTH = 1e3
"""Largest ratio of a forecast to the known values without a warning."""


class Trajectory(NamedTuple):
    """A forecast: outputs (horizon, D_out) in the caller's units, and the run that computed them.

    The ``loop`` was run with a ``drive`` (horizon, D) from the state ``start``.
    """

    outputs: Array
    loop: ClosedLoop
    drive: Array
    start: State


@one_blas_thread()
def forecast(
    model: Network,
    horizon: int,
    context: Any,
    inputs: Any,
    state: State | None,
    clip: bool = False,
) -> Trajectory:
    """Compute the forecast that ``LinearModel.forecast`` returns.

    At every step the last output is the first D_out columns of the input and, if the model has
    feedback, y(t−1). The other input columns come from ``inputs``.
    """
    horizon = _check_horizon(model, horizon)
    check_clip(model, clip)
    known = _known_inputs(model, inputs, horizon)
    if context is not None and state is not None:
        raise bad_argument("state", Words("both a context and a state"), "only one of them")
    if context is not None:
        start, known = _after_context(model, context, known)
    elif state is not None:
        start = as_state(model, state, "state")
    else:
        raise bad_argument("context", None, "a series", "Pass a context or state=(r, y).")

    loop = ClosedLoop.of_forecast(model)
    drive = loop.constant_drive(known)
    out = run_forecast(model, loop, drive, start.r, model.from_user(start.y), clip)
    if model.output_range is not None:
        _warn_if_diverged(out)
        return Trajectory(model.to_user(out), loop, drive, start)
    known = start.y if context is None else np.asarray(context)[:, : model.D_out]
    return Trajectory(_checked_outputs(model, out, [known]), loop, drive, start)


def bounds_of(model: Network, clip: bool) -> tuple[Array, Array] | None:
    """Return the bounds of the outputs of a network with features, in its own units."""
    if model.output_range is None:
        return None
    low, high, clip_low, clip_high = np.asarray(model.output_range, np.float64)
    return (clip_low, clip_high) if clip else (low, high)


def run_forecast(
    model: Network, loop: ClosedLoop, drive: Array, r: Array, y: Array, clip: bool = False
) -> Array:
    """Return the outputs (T, D_out) of a loop from a state, all in the network's own units.

    With features, all outputs from the first one that is out of range are NaN.
    """
    bounds = bounds_of(model, clip)
    r, y = (np.asarray(part, model.reservoir.dtype) for part in (r, y))
    return loop.run(drive, r, y, bounds=bounds, clip=clip)[0]


def _check_horizon(model: Network, horizon: Any) -> int:
    """Return a number of steps ≥ 1, or raise."""
    horizon = check_count(horizon, "horizon", "a number of steps", 1)
    check_memory(8.0 * horizon * model.D_out, "horizon", horizon)
    return horizon


def several_contexts() -> ValueError:
    """Return the error for several contexts with inputs or a state."""
    expected = "a single series, because inputs or a state are used"
    return bad_argument("context", Words("several series"), expected)


def check_clip(model: Network, clip: Any) -> None:
    """Raise unless ``clip`` is a bool, and False for a network without features."""
    clip = check_flag(clip, "clip")
    if clip and model.output_range is None:
        raise bad_argument("clip", clip, "False, because the network has no features")


def _warn_if_diverged(out: Array) -> None:
    """Warn if a forecast is NaN from some step on."""
    diverged = np.isnan(out).any(axis=1)
    if diverged.any():
        warn(
            f"The forecast diverged at step {int(np.argmax(diverged))}: it was more than {FAR:g} "
            "standard deviations from the mean of the training targets. It is NaN from this step "
            "on. Use clip=True, ridge='loop', a larger ridge, bounded features or more rows.",
            UnstableWarning,
        )


def are_several(context: Any) -> bool:
    """Return True if a context is a stack or a list of series."""
    return container_kind(context) != "single"


@one_blas_thread()
def forecast_several(
    model: Network,
    horizon: int,
    contexts: Any,
    inputs: Any,
    state: State | None,
    clip: bool = False,
) -> Any:
    """Return forecasts of several series, for modes as the product of states with the H-step map.

    The last row of a context is both the next input and the last output, so the reservoir is in the
    first state of the loop after this row.
    """
    horizon = _check_horizon(model, horizon)
    check_autonomous(model)
    if inputs is not None or state is not None or model.D_in > model.D_out:
        raise several_contexts()
    check_clip(model, clip)
    D, reservoir = model.D_out, model.reservoir
    if reservoir.features is not None or not model.is_diagonal:
        series, container = as_series(to_host(contexts), "context", D, reservoir.dtype)
        runs = [forecast(model, horizon, rows, None, None, clip).outputs for rows in series]
        return container.restore(runs)
    kind = container_kind(contexts)
    if is_stack(contexts):  # thousands of series are not split
        together = [as_stack(contexts, "context", D, reservoir.dtype)]
    else:
        together = to_common_device(as_series(contexts, "context", D, reservoir.dtype)[0])
    if not all(rows.shape[-2] for rows in together):
        raise bad_argument("context", Words("0 rows"), "at least one row in each series")
    ends = []
    for rows in together:
        u = model.own_inputs(rows) if model.D_in else rows[..., :0]
        teacher = model.from_user(rows)
        ends.append((teacher[..., -1, :], reservoir.last_state(reservoir.drive(u, teacher))))
    xp = namespace(together[0])
    y, r = (xp.stack(part) if part[0].ndim == 1 else part[0] for part in zip(*ends, strict=True))
    if not bool(xp.isfinite(r).all()):
        raise reservoir.overflowed("states")
    z = to_like(model.readout.offset, y) + y @ to_like(model.readout.previous, y)
    pieces = [
        (to_like(c, r) + z @ to_like(P, r) + r @ to_like(g, r)).reshape(len(r), -1, D)
        for c, P, g in ClosedLoop.of_forecast(model).maps(horizon)
    ]
    out = xp.concatenate(pieces, axis=1, dtype=reservoir.dtype)
    outputs = _checked_outputs(model, out, together)
    return outputs if kind == "stack" else list(outputs)


def _checked_outputs(model: Network, out: Array, known: Sequence[Array]) -> Array:
    """Return forecasts (…, horizon, D_out) in the caller's units.

    Raise if they overflow, and warn if they grow far beyond the ``known`` values.
    """
    check_finite(model, out, closed=True)
    outputs, xp = model.to_user(out), namespace(out)
    before = max(float(xp.abs(rows).max()) for rows in (*known, outputs[..., 0, :]))
    warn_if_growing(outputs, before, GROWTH)
    return outputs


def closed_loop_radius(model: Network) -> float:
    """Return the spectral radius of the network with its output fed back as its input."""
    model.need_states("The closed-loop radius")
    check_autonomous(model)
    return ClosedLoop.of_forecast(model).radius()


def check_autonomous(model: Network) -> None:
    """Raise if a model cannot run on its own outputs."""
    D = model.D_out
    if model.D_in == 0 and not model.closed:
        raise ValueError("This model has no input and no feedback, so it cannot forecast.")
    if 0 < model.D_in < D:
        raise ValueError(
            f"Forecasting requires a model that predicts its own input: the first {D} input "
            f"columns must be the {D} outputs, but this model has only D_in={model.D_in}."
        )


def _known_inputs(model: Network, inputs: Any, horizon: int) -> Array:
    check_autonomous(model)
    columns = max(model.D_in - model.D_out, 0)
    if inputs is None:
        if columns:
            expected = f"the future values of the other inputs, with shape ({horizon}, {columns})"
            raise bad_argument("inputs", None, expected)
        return np.empty((horizon, 0))
    rows = as_rows(inputs, "inputs", columns)
    if len(rows) != horizon:
        raise bad_argument(
            "inputs", Words(counted(len(rows), "row")), f"{counted(horizon, 'row')}, one per step"
        )
    if model.inputs is None:
        return rows
    D = model.D_out
    return Scaling(model.inputs.mean[D:], model.inputs.scale[D:]).forward(rows)


def _after_context(model: Network, context: Any, known: Array) -> tuple[State, Array]:
    """Return the state before the last context row, and known inputs starting with that row.

    The last row is both the next input and the last output, so it is used in the first step of the
    loop, and the forecast starts right after it.
    """
    D = model.D_out
    rows = as_rows(context, "context", max(model.D_in, D), model.reservoir.dtype)
    if len(rows) == 0:
        raise bad_argument("context", Words("0 rows"), "at least one row")
    u = model.own_inputs(rows) if model.D_in else rows[:, :0]
    teacher = model.from_user(rows[:, :D])
    reservoir = model.reservoir
    r = reservoir.last_state(reservoir.drive(u[:-1], teacher[:-1]))
    if not np.all(np.isfinite(r)):
        raise reservoir.overflowed("states")
    ahead = np.concatenate([u[-1:, D:], known])[: len(known)]
    return State(r, rows[-1, :D]), ahead
