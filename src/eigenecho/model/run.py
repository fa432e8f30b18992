"""Running a model over series: outputs, states, and where it stands afterwards."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from typing import Any

import numpy as np

from eigenecho import kernels
from eigenecho.blas import one_blas_thread
from eigenecho.errors import UnstableWarning, bad_argument, overflowed
from eigenecho.model import convolution
from eigenecho.model.model import Array, LinearModel, State
from eigenecho.progress import Progress, Report
from eigenecho.series import Container, as_rows, as_series, shifted, unpack_outputs


def predict(
    model: LinearModel,
    X: Any,
    y_previous: Any,
    initial_state: Any,
    return_state: bool,
    progress: Report | None = None,
) -> Any:
    """``LinearModel.predict``."""
    series, container = as_series(X, "X", model.D_in, model.reservoir.dtype)
    return predict_series(
        model, series, container, y_previous, initial_state, return_state, progress
    )


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
    previous = previous_outputs(model, y_previous, [len(u) for u in series], container)
    told = Progress(progress, sum(map(len, series)))
    ran = [run(model, *given, told) for given in zip(series, previous, starts, strict=True)]
    outputs = container.restore([y for y, _ in ran])
    if not return_state:
        return outputs
    ends = [state for _, state in ran]
    return outputs, (ends[0] if container.kind == "single" else ends)


@one_blas_thread()
def run(
    model: LinearModel,
    u: Array,
    y_previous: Array | None = None,
    state: State | None = None,
    progress: Progress | None = None,
) -> tuple[Array, State]:
    """Outputs (T, D_out) for one series in the caller's units, and the state at its end."""
    progress = progress or Progress()
    reservoir, readout = model.reservoir, model.readout
    start = model.zero_state() if state is None else state
    r = np.array(start.r, reservoir.dtype)
    y = np.array(model.from_user(np.asarray(start.y)), reservoir.dtype)
    u = model.own_inputs(u)
    out = np.empty((len(u), model.D_out), reservoir.dtype)
    if model.closed and y_previous is None:
        W_fb = reservoir.W_fb
        feedback = np.zeros((model.D_out, model.units), r.dtype) if W_fb is None else W_fb
        open_rows = len(reservoir.B) - (0 if W_fb is None else len(W_fb))
        drive = reservoir.drive(u, np.zeros_like(out))[:, :open_rows]
        drive, B = np.ascontiguousarray(drive), reservoir.B[:open_rows]
        for rows in progress.pieces(len(drive)):
            kernels.closed_loop(reservoir.form, B, drive[rows], feedback, readout, r, y, out[rows])
    else:
        before = None if y_previous is None else model.from_user(y_previous)
        drive = reservoir.drive(u, before)
        arguments = reservoir.form, reservoir.B
        if by_convolution(model, drive):
            convolution.convolve_readout(*arguments, drive, readout.weights, r, out, progress)
        else:
            for rows in progress.pieces(len(drive)):
                kernels.scan_readout(*arguments, drive[rows], readout.weights, r, out[rows])
        out += readout.offset
        if model.output_to_readout:
            assert before is not None
            out += before @ readout.previous
    closed = model.closed and y_previous is None
    check_finite(model, out, "output", closed=closed)
    if closed:
        warn_if_growing(out, max(np.abs(u).max(initial=0.0), np.abs(out[:10]).max(initial=0.0)))
    outputs = model.to_user(out)
    last = outputs[-1].copy() if len(outputs) else np.asarray(start.y)
    return outputs, State(r, last)


def by_convolution(model: LinearModel, drive: Array) -> bool:
    """Whether an open run under this drive is a convolution, rather than a scan."""
    pays = convolution.pays(model.reservoir.form, len(drive), drive.shape[1], model.D_out)
    return pays and convolution.is_even(drive)


@one_blas_thread()
def states(
    model: LinearModel,
    u: Array,
    y_previous: Array | None = None,
    state: State | None = None,
    out: Array | None = None,
    progress: Report | None = None,
) -> Array:
    """Reservoir states (T, N) in the basis at work, under the same rules as ``run``."""
    reservoir = model.reservoir
    start = model.zero_state() if state is None else state
    if reservoir.W_fb is not None and y_previous is None:
        # The loop is closed on the model's own output: find that first, then drive with it.
        y_previous = shifted(run(model, u, None, start)[0], start.y)
    before = None if y_previous is None else model.from_user(y_previous)
    drive = reservoir.drive(model.own_inputs(u), before)
    fresh = out is None
    if out is None:
        out = np.empty((len(drive), model.units), reservoir.dtype)
    r = np.array(start.r, reservoir.dtype)
    for rows in Progress(progress, len(drive)).pieces(len(drive)):
        reservoir.scan(drive[rows], r, out[rows], fresh=fresh)
    if (bad := reservoir.first_overflow(out)) is not None:
        raise overflowed("states", _known_radius(model), bad)
    return out


def initial_states(model: LinearModel, given: Any, count: int, kind: str) -> list[State | None]:
    """One initial state for each series; None for zero."""
    if given is None:
        return [None] * count
    listed = [given] if kind == "single" else list(given)
    if len(listed) != count:
        raise bad_argument(
            "initial_state", f"{len(listed)} states", f"one for each of {count} series"
        )
    return [as_state(model, state) for state in listed]


def as_state(model: LinearModel, given: Any, name: str = "initial_state") -> State:
    """A state (r, y) whose shapes fit the model."""
    try:
        r, y = map(np.asarray, given)
        if not {r.dtype.kind, y.dtype.kind} <= set("fiub"):
            raise TypeError("not real numbers")
    except (TypeError, ValueError):
        raise bad_argument(
            name, given, "a pair (r, y), as predict(return_state=True) returns"
        ) from None
    with np.errstate(over="ignore"):  # what leaves the range is not finite below
        r, y = (part.astype(model.reservoir.dtype, copy=False) for part in (r, y))
    if r.shape != (model.units,) or y.shape != (model.D_out,):
        raise bad_argument(
            name,
            f"<shapes {r.shape}, {y.shape}>",
            f"(r, y) of shapes ({model.units},) and ({model.D_out},)",
        )
    if not (np.all(np.isfinite(r)) and np.all(np.isfinite(y))):
        raise bad_argument(name, "<NaN or Inf>", "finite numbers")
    return State(r, y)


def previous_outputs(
    model: LinearModel, given: Any, lengths: list[int], container: Container
) -> list[Array | None]:
    """Teacher's y(t−1), one array for each series, (T,) read as (T, 1)."""
    if given is None:
        return [None] * len(lengths)
    if not model.closed:
        raise bad_argument(
            "y_previous", "<array>", "None: this model has neither feedback nor output_to_readout"
        )
    items, _ = unpack_outputs(given, "y_previous", container)
    check = "y_previous", model.D_out, model.reservoir.dtype
    several = container.kind != "single"
    arrays = [as_rows(x, *check, i if several else None) for i, x in enumerate(items)]
    if [len(a) for a in arrays] != lengths:
        raise bad_argument(
            "y_previous", f"<lengths {[len(a) for a in arrays]}>", f"the lengths of X, {lengths}"
        )
    return list(arrays)


def warn_if_growing(outputs: Array, before: float, growth: float = 1e6) -> None:
    """Warn where a closed loop has grown beyond ``growth`` times what it started from."""
    after = float(np.abs(outputs).max(initial=0.0))
    if after > growth * before:
        warnings.warn(
            f"the output grew to {after:.3g}, from {before:.3g}: the loop through the model's own "
            "output is unstable. A larger ridge, a smaller fb_scaling or a longer training series "
            "steadies it.",
            UnstableWarning,
            stacklevel=4,
        )


def check_finite(model: LinearModel, values: Array, what: str, *, closed: bool = False) -> None:
    """Raise where a run left the range of floating point."""
    if np.all(np.isfinite(values)):
        return
    step = None
    if what == "output":
        step = int(np.argmin(np.isfinite(values).all(axis=1)))
    raise overflowed(what, _known_radius(model), step, closed=closed)


def _known_radius(model: LinearModel) -> float | None:
    """The effective radius where it costs nothing."""
    return model.effective_radius if isinstance(model.reservoir.form, kernels.Diagonal) else None
