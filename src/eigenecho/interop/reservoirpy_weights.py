"""Weights of reservoirpy's nodes, for states in rows."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from eigenecho.convert import as_double
from eigenecho.errors import Words, bad_argument
from eigenecho.types import Array

EXPECTED = "a trained linear Reservoir(activation='identity') >> Ridge, or an equivalent ESN"


class ReservoirWeights(NamedTuple):
    """Weights of a reservoir node for states in rows; ``B`` is Winᵀ."""

    W: Any
    B: Array
    bias: Array | None
    lr: Any


def reservoir_weights(node: Any) -> ReservoirWeights:
    """Return the weights of an initialised linear reservoir node."""
    from reservoirpy.activationsfunc import identity

    if hasattr(node, "reservoir_"):  # A DiagonalReservoirNode uses rows and includes the leak.
        reservoir = node.reservoir_
        return ReservoirWeights(reservoir.transition.matrix, reservoir.W_in, reservoir.bias, 1.0)
    if not node.initialized:
        raise unsupported(f"{node_name(node)} without weights", "Train it first.")
    if node.activation is not identity:
        activation = getattr(node.activation, "__name__", repr(node.activation))
        raise unsupported(f"{node_name(node)} with activation {activation}")
    N = node.units
    bias = np.broadcast_to(np.asarray(node.bias, np.float64), (N,))
    lr = np.asarray(node.lr, np.float64)
    rates = float(lr.flat[0]) if lr.size == 1 else lr
    W_in = np.ascontiguousarray(as_double(node.Win, "Win").T)
    return ReservoirWeights(node.W.T, W_in, bias if np.any(bias) else None, rates)


def unsupported(what: str, remedy: str = "") -> ValueError:
    """Return the error for a model that cannot be converted."""
    return bad_argument("model", Words(what), EXPECTED, remedy)


def node_name(node: Any) -> str:
    """Return the class and the name of a node."""
    # The repr of reservoirpy fails for nodes that contain arrays.
    name = getattr(node, "name", None)
    return type(node).__name__ + (f" {name!r}" if name else "")
