"""Free runs: a model that predicts its own input, fed with what it predicts."""

from __future__ import annotations

from typing import Any

import numpy as np

from eigenecho import kernels
from eigenecho.blas import one_blas_thread
from eigenecho.errors import bad_argument
from eigenecho.model.model import Array, LinearModel, State
from eigenecho.model.run import as_state, check_finite, warn_if_growing
from eigenecho.model.scaling import Scaling
from eigenecho.series import as_rows

GROWTH = 1e3
"""Growth over the forecast, relative to what came before it, that is worth a warning."""


@one_blas_thread()
def forecast(
    model: LinearModel, horizon: int, context: Any, inputs: Any, state: State | None
) -> Array:
    """``LinearModel.forecast``: rows (horizon, D_out).

    At every step the last output is the input's first D_out columns and, where the model has
    them, y(t−1) of feedback and readout; the other input columns come from ``inputs``.
    """
    if isinstance(horizon, bool) or not isinstance(horizon, (int, np.integer)) or horizon < 1:
        raise bad_argument("horizon", horizon, "a number of steps, an int ≥ 1")
    known = _known_inputs(model, inputs, horizon)
    if context is not None and state is not None:
        raise bad_argument(
            "state", "<state>", "None with a context",
            "Both say where to go on from: give the one or the other.",
        )  # fmt: skip
    if context is not None:
        start, known = _after_context(model, context, known)
    elif state is not None:
        start = as_state(model, state, "state")
    else:
        raise bad_argument("context", None, "a series to go on from, or state=(r, y)")

    reservoir, D = model.reservoir, model.D_out
    F, constant = loop_weights(model)
    r = np.array(start.r, reservoir.dtype)
    y = np.array(model.from_user(start.y), reservoir.dtype)
    out = np.empty((horizon, D), reservoir.dtype)
    drive, B = known.astype(reservoir.dtype), np.ascontiguousarray(reservoir.W_in[D:])
    if np.any(constant):
        drive = np.concatenate([drive, np.ones((horizon, 1), drive.dtype)], axis=1)
        B = np.concatenate([B, constant[None]])
    kernels.closed_loop(reservoir.form, B, drive, F, model.readout, r, y, out)
    check_finite(model, out, "output", closed=True)
    outputs = model.to_user(out)
    seen = start.y if context is None else np.asarray(context)[:, : model.D_out]
    before = float(np.abs(seen).max(initial=0.0))
    warn_if_growing(outputs, max(before, float(np.abs(outputs[0]).max())), GROWTH)
    return outputs


def loop_weights(model: LinearModel) -> tuple[Array, Array]:
    """How an output drives the next step, in the network's own units: y F + constant.

        F = W_in + W_fb for the input columns that are the series itself

    Where inputs and outputs are standardised differently, an output has to be carried over:
    u = (y σ_y + μ_y − μ_u) / σ_u.
    """
    reservoir, D = model.reservoir, model.D_out
    F = np.zeros((D, model.units)) if reservoir.W_fb is None else reservoir.W_fb.astype(np.float64)
    constant = (
        np.zeros(model.units) if reservoir.bias is None else reservoir.bias.astype(np.float64)
    )
    if model.D_in:
        u = model.inputs or Scaling.identity(model.D_in)
        y = model.outputs or Scaling.identity(D)
        own = reservoir.W_in[:D].astype(np.float64) / u.scale[:D, None]
        F = F + y.scale[:, None] * own
        constant = constant + (y.mean - u.mean[:D]) @ own
    return (
        np.ascontiguousarray(F, reservoir.dtype),
        np.ascontiguousarray(constant, reservoir.dtype),
    )


@one_blas_thread()
def closed_loop_radius(model: LinearModel) -> float:
    """The radius of the network with its output fed back, which decides over growth.

    [r, y] ← [r, y] [[Λ, Λ W_r], [F, F W_r + W_y]]
    """
    _check_autonomous(model)
    W = model.reservoir.matrix
    W = W.toarray() if hasattr(W, "toarray") else W
    F, _ = loop_weights(model)
    W_r = model.readout.weights.T
    loop = np.block([[W, W @ W_r], [F, F @ W_r + model.readout.previous]])
    return float(np.abs(np.linalg.eigvals(loop)).max())


def _check_autonomous(model: LinearModel) -> None:
    D = model.D_out
    if model.D_in == 0 and not model.closed:
        raise ValueError("this model has no input and no feedback: there is nothing to forecast.")
    if 0 < model.D_in < D:
        raise ValueError(
            f"forecast needs a model trained to predict its own input: it has {model.D_in} input "
            f"columns and {D} outputs, and the first {D} input columns must be the series itself."
        )


def _known_inputs(model: LinearModel, inputs: Any, horizon: int) -> Array:
    _check_autonomous(model)
    columns = max(model.D_in - model.D_out, 0)
    if inputs is None:
        if columns:
            raise bad_argument(
                "inputs",
                None,
                f"the further input columns ahead, shape ({horizon}, {columns})",
                f"The model has {model.D_in} inputs and {model.D_out} outputs. A model that does "
                "not predict its own input is run with predict(X, initial_state=...).",
            )
        return np.empty((horizon, 0))
    rows = as_rows(inputs, "inputs", columns)
    if len(rows) != horizon:
        raise bad_argument("inputs", f"<{len(rows)} rows>", f"one row for each of {horizon} steps")
    if model.inputs is None:
        return rows
    D = model.D_out
    return Scaling(model.inputs.mean[D:], model.inputs.scale[D:]).forward(rows)


def _after_context(model: LinearModel, context: Any, known: Array) -> tuple[State, Array]:
    """The state before the last context row, and known inputs that start with that row's.

    The last row is both the next input and the last output, so that the first step of the
    loop consumes it: the forecast starts right after it.
    """
    D = model.D_out
    rows = as_rows(context, "context", max(model.D_in, D), model.reservoir.dtype)
    if len(rows) == 0:
        raise bad_argument("context", "<0 rows>", "at least one row")
    u = model.own_inputs(rows) if model.D_in else rows[:, :0]
    teacher = model.from_user(rows[:, :D])
    r = model.reservoir.zero_state()
    drive = model.reservoir.drive(u[:-1], teacher[:-1])
    weights = np.zeros((0, model.units), r.dtype)
    none = np.empty((len(drive), 0), r.dtype)
    kernels.scan_readout(model.reservoir.form, model.reservoir.B, drive, weights, r, none)
    check_finite(model, r[None], "states")
    ahead = np.concatenate([u[-1:, D:], known])[: len(known)]
    return State(r, rows[-1, :D]), ahead
