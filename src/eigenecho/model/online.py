"""Online runs: states of networks, and validation of the inputs of each step."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any, NoReturn, Self

import numpy as np

from eigenecho import files
from eigenecho.arrays import to_host
from eigenecho.checks import as_array, check_finite, check_not_masked, has_complex
from eigenecho.errors import Words, bad_argument, counted, not_finite, other_columns, place
from eigenecho.model.network import Network, State
from eigenecho.reservoir import Reservoir
from eigenecho.scaling import Scaling
from eigenecho.tables import column_labels
from eigenecho.threads import one_blas_thread
from eigenecho.types import Array


def as_state(model: Network, state: Any, name: str = "initial_state") -> State:
    """Return a pair (r, y) as a ``State``, or raise if it is not a state of the model."""
    expected = "a pair (r, y), as returned by predict(return_state=True)"
    try:
        r, y = to_host(state)
    except (TypeError, ValueError):
        raise bad_argument(name, state, expected) from None
    r, y = (as_array(part, name, expected) for part in (r, y))
    if not {r.dtype.kind, y.dtype.kind} <= set("fiub"):
        raise bad_argument(name, state, expected)
    with np.errstate(over="ignore"):  # infinite values are reported below
        r, y = (part.astype(model.reservoir.dtype, copy=False) for part in (r, y))
    if r.shape != (model.units,) or y.shape != (model.D_out,):
        expected = f"(r, y) with shapes ({model.units},) and ({model.D_out},)"
        raise bad_argument(name, Words(f"shapes {r.shape} and {y.shape}"), expected)
    check_finite(np.concatenate([r, y]), name)
    return State(r, y)


def initial_states(model: Network, states: Any, count: int, kind: str) -> list[State | None]:
    """Return the initial state of each series, or None if it is zero."""
    if states is None:
        return [None] * count
    states = [states] if kind == "single" else states
    is_one = isinstance(states, State)
    if is_one or not isinstance(states, Sequence) or len(states) != count:
        got = Words(counted(len(states), "state")) if isinstance(states, Sequence) else states
        got = Words("a single state") if is_one else got
        raise bad_argument("initial_state", got, "one state per series")
    return [as_state(model, state) for state in states]


class OnlineRun:
    """Base class of models that run step by step, with validated inputs in preallocated buffers.

    ``_drive`` (D,) contains the parts of [u, 1, y(t−1)] that the reservoir uses, and ``_before``
    (D_out,) is y(t−1), both in the units of the network. If rows have labels, these must equal
    ``feature_names`` or ``output_names``, unless the names are None.
    """

    def __init__(
        self,
        model: Network,
        state: State | None = None,
        feature_names: Sequence[str] | None = None,
        output_names: Sequence[str] | None = None,
    ) -> None:
        if not isinstance(model, Network):
            raise bad_argument("model", model, "a LinearModel")
        self._model = model
        self.feature_names = _checked_names(feature_names, "feature_names", model.D_in)
        self.output_names = _checked_names(output_names, "output_names", model.D_out)
        reservoir = model.reservoir
        self._start = model.D_in + (reservoir.bias is not None)
        buffer = np.ones(self._start + model.D_out, reservoir.dtype)
        self._drive, self._u = buffer[: len(reservoir.B)], buffer[: model.D_in]
        self._before = buffer[self._start :]
        self._before[:] = 0.0
        self._closed = model.closed  # the property is too slow for every step
        self.state = model.zero_state() if state is None else state

    @property
    def state(self) -> State:
        """Copy of the current state. Assign a state to this property to change it."""
        return State(self._r.copy(), self._y.copy())

    @state.setter
    def state(self, state: Any) -> None:
        r, y = as_state(self._model, state, "state")
        self._r, self._y = r.copy(), y.copy()

    def _parts(self) -> dict[str, Any]:
        """Return the constructor arguments for a copy of the object."""
        names = {"feature_names": self.feature_names, "output_names": self.output_names}
        return {"model": self._model, "state": self.state, **names}

    def copy(self) -> Self:
        """Return an independent copy, including the current state."""
        return type(self)(**self._parts())

    def save(self, path: Any) -> None:
        """Write the model and the state to a safetensors file, which ``eigenecho.load`` reads."""
        files.save(path, self)

    def export(self, path: Any) -> NoReturn:
        """Raise a TypeError, because only models can be exported."""
        kind = type(self).__name__
        raise TypeError(
            f"A {kind} cannot be exported. Export its network in its current state: "
            f"{kind.lower()}.model.export(path, state={kind.lower()}.state)."
        )

    def __reduce__(self) -> Any:
        return partial(type(self), **self._parts()), ()

    def _fill(self, u: Any, y_previous: Any) -> None:
        """Fill the buffers with an input row and y(t−1), by default the last output.

        NaN and infinity are not checked here, because they propagate to the output.
        """
        model = self._model
        if u is not None or self._u.size:
            row = _as_row(u, self._u.size, "u", self.feature_names)
            _standardize(self._u, row, model.inputs)
        if self._closed:
            y = self._y
            if y_previous is not None:
                y = _as_row(y_previous, self._before.size, "y_previous", self.output_names)
            _standardize(self._before, y, model.outputs)
        elif y_previous is not None:
            raise unused_outputs(y_previous)

    def _check_inputs(self, u: Any, y_previous: Any = None) -> None:
        """Raise if an input row or y(t−1) is not finite."""
        if u is not None:
            self._finite_row(u, "u", self._u.size, self.feature_names)
        if y_previous is not None:
            self._finite_row(y_previous, "y_previous", self._before.size, self.output_names)

    def _finite_row(
        self, value: Any, name: str, columns: int, names: Sequence[str] | None
    ) -> Array:
        """Return a row (columns,) in the dtype of the model, or raise if a number is not finite."""
        dtype = self._before.dtype
        row = np.atleast_1d(_as_row(value, columns, name, names)).astype(np.float64)
        finite = np.abs(row) <= np.finfo(dtype).max
        if not finite.all():
            column = int(np.argmin(finite))
            where = place(column=column if names is None else names[column])
            raise not_finite(name, float(row[column]), where, dtype, "The state is unchanged.")
        return row.astype(dtype)


def check_labels(name: str, labels: Sequence[Any] | None, known: Sequence[str] | None) -> None:
    """Raise if labels differ from the known ones. Labels that are not strings are ignored."""
    if labels is None or known is None or not all(isinstance(label, str) for label in labels):
        return
    if list(labels) != list(known):
        raise other_columns(name, list(labels), list(known))


def unused_outputs(y_previous: Any) -> ValueError:
    """Return the error for previous outputs that are passed to a model without feedback."""
    return bad_argument(
        "y_previous",
        y_previous,
        "None, because this model has neither feedback nor output_to_readout",
    )


def on_one_thread(reservoir: Reservoir, kernel: Callable[..., Any]) -> Callable[..., Any]:
    """Return a kernel, with BLAS limited to one thread if its steps call BLAS."""
    return one_blas_thread()(kernel) if reservoir.transition.steps_by_blas else kernel


def _checked_names(names: Sequence[str] | None, name: str, count: int) -> list[str] | None:
    if names is None:
        return None
    if len(names) != count:
        raise bad_argument(name, names, counted(count, "name"))
    return list(map(str, names))


def _as_row(value: Any, columns: int, name: str, names: Sequence[str] | None) -> Array:
    """Convert an array, list, pandas row, frame or mapping to an array (columns,) or ()."""
    check_not_masked(value, name)
    # Lists also have an attribute "index", which is a method.
    if not isinstance(value, (np.ndarray, list, tuple)):
        value = _without_labels(value, name, names)
    try:
        row = np.asarray(value)
    except ValueError:  # nested sequences of different lengths
        row = np.empty(0, object)
    if row.dtype.kind not in "fiub":
        raise bad_argument(name, value, counted(columns, "real number"))
    if row.shape != (columns,) and not (row.ndim == 0 and columns == 1):
        expected = f"one row with {counted(columns, 'number')}"
        raise bad_argument(name, Words(f"shape {row.shape}"), expected)
    return row


def _without_labels(value: Any, name: str, names: Sequence[str] | None) -> Any:
    """Check the labels of a pandas row, a frame of one row or a mapping; return its numbers."""
    labels = column_labels(value)
    if labels is not None:
        numbers = np.asarray(value)
        numbers = numbers[0] if numbers.shape[:1] == (1,) else numbers
    elif isinstance(value, Mapping) and names is not None:
        labels, numbers = list(value), np.array(list(value.values()), object)
    elif hasattr(value, "iloc"):
        labels, numbers = list(value.index), np.asarray(value)
    else:
        return value
    check_labels(name, labels, names)
    if numbers.dtype.kind != "O" or numbers.ndim != 1:
        return numbers
    try:
        if has_complex(numbers):
            raise TypeError("complex numbers")
        return numbers.astype(np.float64)
    except (TypeError, ValueError):
        raise bad_argument(name, numbers.tolist(), "real numbers") from None


def _standardize(buffer: Array, row: Array, scaling: Scaling | None) -> None:
    """Write a row into a buffer, standardised if there is a scaling."""
    if scaling is None:
        buffer[:] = row
    else:
        buffer[:] = scaling.forward(row.astype(buffer.dtype, copy=False))
