"""What enters a model that runs one step at a time: checked rows, in buffers made once."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from eigenecho import kernels
from eigenecho.blas import one_blas_thread
from eigenecho.errors import bad_argument
from eigenecho.model.model import Array, LinearModel
from eigenecho.model.scaling import Scaling


class Ports:
    """The drive [u, 1, y(t−1)] of a model's next step, in the network's own units.

    ``drive`` (D,) has the parts that the reservoir has, ``before`` (D_out,) is y(t−1). Rows are
    taken without a look at NaN and Inf, which show in the output; ``check_finite`` then says
    whose they were.
    """

    def __init__(self, model: LinearModel) -> None:
        reservoir = model.reservoir
        self.model = model
        D_in, fixed = model.D_in, int(reservoir.bias is not None)
        buffer = np.ones(D_in + fixed + model.D_out, reservoir.dtype)
        self.drive = buffer[: len(reservoir.B)]
        self.before = buffer[D_in + fixed :]
        self.before[:] = 0.0
        self._u = buffer[:D_in]
        # Read once: properties of a model are computed each time.
        self._closed = model.closed

    def take(self, u: Any, y_previous: Any, y: Array) -> None:
        """Fill the buffers: an input row, and ``y_previous`` or else ``y`` as y(t−1)."""
        model = self.model
        if u is not None or self._u.size:
            fill(self._u, as_row(u, self._u.size, "u"), model.inputs)
        if self._closed:
            if y_previous is not None:
                y = as_row(y_previous, self.before.size, "y_previous")
            fill(self.before, y, model.outputs)
        elif y_previous is not None:
            raise bad_argument(
                "y_previous", y_previous,
                "None: this model has neither feedback nor output_to_readout",
            )  # fmt: skip

    def row(self, value: Any, name: str) -> Array:
        """A finite row of outputs, in the caller's units."""
        row = as_row(value, self.before.size, name)
        check_finite(name, row, self.before.dtype)
        return np.array(row, self.before.dtype).reshape(self.before.shape)

    def check_finite(self, u: Any, y_previous: Any) -> None:
        """Raise where a row that was taken is not finite."""
        for name, value in (("u", u), ("y_previous", y_previous)):
            if value is not None:
                check_finite(name, value, self.before.dtype)


def as_row(value: Any, columns: int, name: str) -> Array:
    """Real numbers (columns,), or a single one, finite or not."""
    row = np.asarray(value)
    if row.dtype.kind not in "fiub":
        raise bad_argument(name, value, f"{columns} real numbers")
    if row.shape != (columns,) and not (row.ndim == 0 and columns == 1):
        raise bad_argument(name, f"<shape {row.shape}>", f"one row of {columns} numbers")
    return row


def fill(buffer: Array, row: Array, scaling: Scaling | None) -> None:
    """Write a row into a buffer, standardised where there is a scaling."""
    if scaling is None:
        buffer[:] = row
    else:
        buffer[:] = scaling.forward(row.astype(buffer.dtype, copy=False))


def check_finite(name: str, value: Any, dtype: Any) -> None:
    """Raise where a row has NaN or Inf, or numbers that leave the range of ``dtype``."""
    if not np.abs(np.asarray(value, np.float64)).max(initial=0.0) <= np.finfo(dtype).max:
        raise bad_argument(name, value, "finite numbers", "Nothing has moved.")


def on_one_thread(form: kernels.Form, kernel: Callable[..., Any]) -> Callable[..., Any]:
    """The kernel with BLAS, which multiplies by matrices, on one thread; where it has to be."""
    if isinstance(form, (kernels.Diagonal, kernels.Sparse)):
        return kernel
    return one_blas_thread()(kernel)
