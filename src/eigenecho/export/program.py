"""Constants of an exported network."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from eigenecho.kernels import DenseForm, DiagonalForm, Form, Readout
from eigenecho.scaling import Scaling
from eigenecho.types import Array

NONE = np.empty(0)
"""Empty array for a part that a network does not have."""

ARRAYS = (
    "values", "pair_re", "pair_im", "dense", "starts", "sources", "connections",
    "weights", "bias", "offset", "previous", "readout", "input_mean", "input_mean_low",
    "input_scale", "output_mean", "output_mean_low", "output_scale", "initial_r", "initial_y",
)  # fmt: skip
"""Names of the arrays that a program may have."""


@dataclass(frozen=True, eq=False)
class StepProgram:
    """Constants that ``step`` uses, in the dtype of the network.

    The units are modes, first the real modes, then two units for each pair, or they are connected
    by a dense or sparse matrix.

    Parameters
    ----------
    inputs, outputs, units : int
    closed : bool
        True if the last output is fed back, to the units or to the readout.
    known : int or None
        Number of inputs besides the last output in a closed loop; None if the loop cannot be
        closed.
    arrays : dict
        The arrays of the parts that the network has:

        - ``values``, ``pair_re``, ``pair_im``: eigenvalues of the modes
        - ``dense`` (N, N): row i contains the weights from all units to unit i
        - ``starts``, ``sources``, ``connections``: the same matrix in compressed sparse rows
          instead
        - ``weights`` (D, N) of the inputs, and of the last output if there is feedback; ``bias``
          (N,)
        - ``offset`` (D_out,), ``previous`` (D_out, D_out), ``readout`` (D_out, N): a row per output
        - ``mean`` and ``scale`` of inputs and outputs; ``mean_low`` is the part of a mean that
          single precision cannot represent
        - ``initial_y`` (D_out,), and ``initial_r`` (N,) unless it is zero
    """

    inputs: int
    outputs: int
    units: int
    closed: bool
    known: int | None
    arrays: dict[str, Array]

    def constant(self, name: str) -> Any:
        """Return a number or an array of the program, or an empty array if the part is missing."""
        return self.arrays.get(name, NONE) if name in ARRAYS else getattr(self, name)

    @property
    def dtype(self) -> np.dtype:
        """Data type of all numbers and operations."""
        return self.arrays["offset"].dtype

    @property
    def scratch(self) -> int:
        """Number of units of the buffer for the next state, which only a matrix needs."""
        return self.units if self.arrays.keys() & {"dense", "starts"} else 0

    @property
    def first_pair(self) -> int:
        """Index of the first unit of a pair."""
        return len(self.constant("values"))

    @property
    def state_bytes(self) -> int:
        """Size of the state in bytes, including the buffer for the next state."""
        return (self.units + self.outputs + self.scratch) * self.dtype.itemsize


def transition_arrays(form: Form) -> dict[str, Array]:
    """Return the arrays of a program that describe W."""
    if isinstance(form, DiagonalForm):
        return {"values": form.real, "pair_re": form.re, "pair_im": form.im}
    if isinstance(form, DenseForm):
        return {"dense": form.W.T}
    # C has no empty arrays, so an unused connection is appended.
    sources, connections = np.append(form.indices, 0), np.append(form.data, 0)
    starts, sources = (a.astype(np.min_scalar_type(a.max())) for a in (form.indptr, sources))
    return {"starts": starts, "sources": sources, "connections": connections}


def readout_arrays(readout: Readout, previous: bool) -> dict[str, Array]:
    """Return the arrays of a program that describe the readout.

    The weights of y(t−1) are included if ``previous`` is True.
    """
    rows = {"previous": readout.previous.T} if previous else {}
    return {"offset": readout.offset, "readout": readout.weights, **rows}


def scaling_arrays(scaling: Scaling | None, name: str, dtype: np.dtype) -> dict[str, Array]:
    """Return the mean and the scale of the columns ``name`` as arrays of a program.

    A mean that the dtype cannot represent exactly is split into two parts.
    """
    if scaling is None:
        return {}
    mean = np.asarray(scaling.mean, dtype)
    low = (scaling.mean - mean).astype(dtype)
    parts = {"mean": mean, "scale": np.asarray(scaling.scale, dtype)}
    if np.any(low):
        parts["mean_low"] = low
    return {f"{name}_{part}": value for part, value in parts.items()}
