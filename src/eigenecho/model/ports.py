"""What enters a model that runs one step at a time: checked rows, in buffers made once."""

from __future__ import annotations

from typing import Any

import numpy as np

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
            self._fill(self._u, u, "u", model.inputs)
        if self._closed:
            if y_previous is None:
                fill(self.before, y, model.outputs)
            else:
                self._fill(self.before, y_previous, "y_previous", model.outputs)
        elif y_previous is not None:
            raise bad_argument(
                "y_previous", y_previous,
                "None: this model has neither feedback nor output_to_readout",
            )  # fmt: skip

    def _fill(self, buffer: Array, value: Any, name: str, scaling: Scaling | None) -> None:
        row = np.asarray(value)
        if row.dtype.kind not in "fiub":
            raise bad_argument(name, value, f"{buffer.size} real numbers")
        if row.shape != buffer.shape and not (row.ndim == 0 and buffer.size == 1):
            raise bad_argument(name, f"<shape {row.shape}>", f"one row of {buffer.size} numbers")
        fill(buffer, row, scaling)

    def check_finite(self, u: Any, y_previous: Any) -> None:
        """Raise where a row that was taken is not finite."""
        dtype = self.model.reservoir.dtype
        for name, value in (("u", u), ("y_previous", y_previous)):
            if value is not None:
                check_finite(name, value, dtype)


def fill(buffer: Array, row: Array, scaling: Scaling | None) -> None:
    """Write a row into a buffer, standardised where there is a scaling."""
    if scaling is None:
        buffer[:] = row
    else:
        buffer[:] = scaling.forward(row.astype(buffer.dtype, copy=False))


def check_finite(name: str, value: Any, dtype: Any) -> None:
    """Raise where a row has NaN or Inf, or numbers that leave the range of ``dtype``."""
    if not np.abs(np.asarray(value, np.float64)).max(initial=0.0) <= np.finfo(dtype).max:
        raise bad_argument(name, value, "finite numbers", "The stream has not moved.")
