"""Where a network stands."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from eigenecho.arrays import to_host
from eigenecho.checks import check_finite
from eigenecho.errors import Shown, bad_argument
from eigenecho.types import Array

if TYPE_CHECKING:
    from eigenecho.model.model import LinearModel


class State(NamedTuple):
    """Where a network stands: reservoir state ``r`` (N,) and last output ``y`` (D_out,).

    See Also
    --------
    eigenecho.LinearESN : ``final_state_`` is where training ended

    Examples
    --------
    >>> import eigenecho as ee
    >>> series = ee.tasks.mso(3, steps=400)
    >>> esn = ee.LinearESN(50, warmup=50, ridge=1e-10, seed=0).fit(series[:-1], series[1:])
    >>> state = esn.final_state_
    >>> state.r.shape, state.y.shape
    ((50,), (1,))
    """

    r: Array
    y: Array


def as_state(model: LinearModel, given: Any, name: str = "initial_state") -> State:
    """A state (r, y) whose shapes fit the model."""
    try:
        r, y = map(np.asarray, to_host(given))
        if not {r.dtype.kind, y.dtype.kind} <= set("fiub"):
            raise TypeError("not real numbers")
    except (TypeError, ValueError):
        raise bad_argument(
            name, given, "a pair (r, y), as predict(return_state=True) returns"
        ) from None
    with np.errstate(over="ignore"):  # what leaves the range is not finite below
        r, y = (part.astype(model.reservoir.dtype, copy=False) for part in (r, y))
    if r.shape != (model.units,) or y.shape != (model.D_out,):
        wanted = f"(r, y) of shapes ({model.units},) and ({model.D_out},)"
        raise bad_argument(name, Shown(f"shapes {r.shape}, {y.shape}"), wanted)
    check_finite(np.concatenate([r, y]), name)
    return State(r, y)


def initial_states(model: LinearModel, given: Any, count: int, kind: str) -> list[State | None]:
    """One initial state for each series; None for zero."""
    if given is None:
        return [None] * count
    listed = [given] if kind == "single" else list(given)
    if len(listed) != count:
        got = Shown(f"{len(listed)} states")
        raise bad_argument("initial_state", got, f"one for each of {count} series")
    return [as_state(model, state) for state in listed]
