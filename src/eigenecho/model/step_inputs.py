"""What enters a model that runs one step at a time: checked rows, in buffers made once."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from eigenecho.checks import has_complex
from eigenecho.errors import Shown, bad_argument, not_finite, not_numbers, other_columns, place
from eigenecho.reservoir import Reservoir
from eigenecho.scaling import Scaling
from eigenecho.series import as_rows, column_labels
from eigenecho.threads import one_blas_thread
from eigenecho.types import Array

if TYPE_CHECKING:
    from eigenecho.model.model import LinearModel


class StepInputs:
    """The drive [u, 1, y(t−1)] of a model's next step, in the network's own units.

    ``drive`` (D,) has the parts that the reservoir has, ``before`` (D_out,) is y(t−1). Rows are
    taken without a look at NaN and Inf, which show in the output; ``check_finite`` then says
    whose they were. A row with labels must have those of ``feature_names`` or ``output_names``,
    where they are known.
    """

    def __init__(
        self,
        model: LinearModel,
        feature_names: Sequence[str] | None = None,
        output_names: Sequence[str] | None = None,
    ) -> None:
        reservoir = model.reservoir
        self.model = model
        self.feature_names = None if feature_names is None else list(map(str, feature_names))
        self.output_names = None if output_names is None else list(map(str, output_names))
        D_in, fixed = model.D_in, int(reservoir.bias is not None)
        if self.feature_names is not None and len(self.feature_names) != D_in:
            raise bad_argument("feature_names", self.feature_names, f"{D_in} names")
        if self.output_names is not None and len(self.output_names) != model.D_out:
            raise bad_argument("output_names", self.output_names, f"{model.D_out} names")
        buffer = np.ones(D_in + fixed + model.D_out, reservoir.dtype)
        self.drive = buffer[: len(reservoir.B)]
        # Where y(t−1) begins in the drive: at its end for a reservoir without W_fb.
        self.start = len(reservoir.B) - (0 if reservoir.W_fb is None else model.D_out)
        self.before = buffer[D_in + fixed :]
        self.before[:] = 0.0
        self._u = buffer[:D_in]
        # Read once: properties of a model are computed each time.
        self._closed = model.closed

    def take(self, u: Any, y_previous: Any, y: Array) -> None:
        """Fill the buffers: an input row, and ``y_previous`` or else ``y`` as y(t−1)."""
        model = self.model
        if u is not None or self._u.size:
            fill(self._u, as_row(u, self._u.size, "u", self.feature_names), model.inputs)
        if self._closed:
            if y_previous is not None:
                y = as_row(y_previous, self.before.size, "y_previous", self.output_names)
            fill(self.before, y, model.outputs)
        elif y_previous is not None:
            raise open_model(y_previous)

    def take_many(self, rows: Any, y_previous: Any, y: Array) -> tuple[Array, Array]:
        """The same for many steps: drives (T, D) and y(t−1) (T, D_out), of finite rows.

        Without ``y_previous`` a closed model has y(t−1) in the first row alone, and the rest to
        come.
        """
        model, dtype = self.model, self.before.dtype
        check_labels("rows", column_labels(rows), self.feature_names)
        u = as_rows(rows, "rows", model.D_in, dtype)
        before = np.zeros((len(u), model.D_out), dtype)
        if y_previous is not None:
            if not self._closed:
                raise open_model(Shown("array"))
            check_labels("y_previous", column_labels(y_previous), self.output_names)
            if np.ndim(y_previous) == 1 and model.D_out == 1:
                y_previous = np.reshape(y_previous, (-1, 1))
            given = as_rows(y_previous, "y_previous", model.D_out, dtype)
            if len(given) != len(u):
                raise bad_argument(
                    "y_previous", Shown(f"{len(given)} rows"), f"{len(u)}, as rows has"
                )
            before[:] = model.from_user(given)
        elif self._closed and len(u):
            fill(before[0], y, model.outputs)
        drive = np.ones((len(u), self.drive.size), dtype)
        drive[:, : model.D_in] = model.own_inputs(u)
        if self.start < drive.shape[1]:
            drive[:, self.start :] = before
        return drive, before

    def row(self, value: Any, name: str) -> Array:
        """A finite row of outputs, in the caller's units."""
        row = as_row(value, self.before.size, name, self.output_names)
        remedy = f"Nothing has moved. A row that has no {name} is step(u) without one."
        check_finite(name, row, self.before.dtype, remedy=remedy)
        return np.array(row, self.before.dtype).reshape(self.before.shape)

    def check_finite(self, u: Any, y_previous: Any) -> None:
        """Raise where a row that was taken is not finite."""
        if u is not None:
            row = as_row(u, self._u.size, "u", self.feature_names)
            check_finite("u", row, self.before.dtype, self.feature_names)
        if y_previous is not None:
            self.row(y_previous, "y_previous")


def as_row(
    value: Any, columns: int, name: str, feature_names: Sequence[str] | None = None
) -> Array:
    """Real numbers (columns,), or a single one, finite or not; also with labels around them."""
    # Lists have an index too, and it is a method.
    if not isinstance(value, (np.ndarray, list, tuple)):
        value = _without_labels(value, name, feature_names)
    try:
        row = np.asarray(value)
    except ValueError:  # of NumPy, about inhomogeneous shapes
        raise bad_argument(
            name, Shown(type(value).__name__), f"one row of {columns} numbers",
            "Of df.iterrows() that is the second: for _, row in df.iterrows().",
        ) from None  # fmt: skip
    if row.dtype.kind not in "fiub":
        raise bad_argument(name, value, f"{columns} real numbers")
    if row.shape != (columns,) and not (row.ndim == 0 and columns == 1):
        remedy = "run(rows) of a stream takes several." if row.ndim == 2 else ""
        raise bad_argument(
            name, Shown(f"shape {row.shape}"), f"one row of {columns} numbers", remedy
        )
    return row


def _without_labels(value: Any, name: str, known: Sequence[str] | None) -> Any:
    """The numbers of a pandas row, a frame of one row, or a mapping whose keys are ``known``."""
    if column_labels(value) is not None:
        labels = column_labels(value)
        numbers = np.asarray(value)
        numbers = numbers[0] if numbers.shape[:1] == (1,) else numbers
    elif isinstance(value, Mapping) and known is not None:
        labels, numbers = list(value), np.array(list(value.values()), object)
    elif hasattr(value, "iloc"):
        labels, numbers = list(value.index), np.asarray(value)
    else:
        return value
    check_labels(name, labels, known)
    if numbers.dtype.kind != "O" or numbers.ndim != 1:
        return numbers
    for label, number in zip(labels or (), numbers, strict=True):
        try:
            if has_complex(np.array([number], object)):
                raise ValueError("Complex data not supported")
            np.array([number], object).astype(np.float64)
        except (TypeError, ValueError) as cause:
            raise not_numbers(name, f"{number!r} {place(column=label)}", cause) from None
    return numbers.astype(np.float64)


def check_labels(name: str, labels: Sequence[Any] | None, known: Sequence[str] | None) -> None:
    """Raise where labels contradict the ``known`` ones; labels that are no strings are none."""
    if labels is None or known is None or not all(isinstance(label, str) for label in labels):
        return
    if list(labels) != list(known):
        raise other_columns(name, list(labels), list(known))


def open_model(got: Any) -> ValueError:
    """The error of outputs ``got`` for a model on which none come back."""
    return bad_argument(
        "y_previous", got, "None: this model has neither feedback nor output_to_readout"
    )


def fill(buffer: Array, row: Array, scaling: Scaling | None) -> None:
    """Write a row into a buffer, standardised where there is a scaling."""
    if scaling is None:
        buffer[:] = row
    else:
        buffer[:] = scaling.forward(row.astype(buffer.dtype, copy=False))


def check_finite(
    name: str,
    row: Array,
    dtype: Any,
    labels: Sequence[str] | None = None,
    remedy: str = "Nothing has moved.",
) -> None:
    """Raise where a row has NaN or Inf, or numbers that leave the range of ``dtype``."""
    numbers = np.atleast_1d(np.asarray(row, np.float64))
    fit = np.abs(numbers) <= np.finfo(dtype).max
    if not fit.all():
        column = int(np.argmin(fit))
        where = place(column=column if labels is None else labels[column])
        raise not_finite(name, float(numbers[column]), where, dtype, remedy)


def on_one_thread(reservoir: Reservoir, kernel: Callable[..., Any]) -> Callable[..., Any]:
    """The kernel with BLAS, which multiplies by matrices, on one thread; where it has to be."""
    return one_blas_thread()(kernel) if reservoir.transition.steps_by_blas else kernel
