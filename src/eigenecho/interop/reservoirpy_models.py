"""Conversion of trained reservoirpy models.

At each step, the input of a node is the concatenation of u, the outputs of its parents, and its
delayed inputs, each in the order of the edges. States of reservoirpy are columns, so the matrices
of the reservoir are transposed here. The readout already uses rows.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from eigenecho.convert import as_double, diagonalize
from eigenecho.interop.reservoirpy_weights import (
    ReservoirWeights,
    node_name,
    reservoir_weights,
    unsupported,
)
from eigenecho.model import LinearModel, State
from eigenecho.types import Array

METHODS = ("_step", "_run", "step", "run")
"""Methods of a node that compute one row or all rows."""


def from_reservoirpy(model: Any, *, return_state: bool = False) -> Any:
    """Convert a trained linear reservoirpy model to its eigenbasis, where a step costs O(N).

    The outputs equal those of ``model.run`` after ``model.reset()``, because states start at zero.

    Parameters
    ----------
    model : reservoirpy Model, ESN or Reservoir
        ``Reservoir(activation="identity") >> Ridge()``, or an ``ESN`` with this activation, with
        any leak, input bias and feedback (``reservoir << readout``). The readout can also be RLS or
        LMS, and can use the input or its last output. The outputs of a single Reservoir are its
        states. Output nodes are ignored.
    return_state : bool
        Return ``(network, state)``, where ``state`` is the current state of ``model``, for
        ``network.predict(X, initial_state=state)``.

    Returns
    -------
    LinearModel
        The converted network, as returned by ``diagonalize``.

    See Also
    --------
    eigenecho.interop.reservoirpy.DiagonalReservoirNode : Reservoir for models of reservoirpy.
    eigenecho.diagonalize : Convert plain weights.

    Examples
    --------
    >>> import eigenecho as ee
    >>> from reservoirpy import ESN
    >>> series = ee.tasks.mso(3, steps=300)
    >>> trained = ESN(units=50, sr=0.9, activation="identity", ridge=1e-6, seed=0)
    >>> trained = trained.fit(series[:-1], series[1:])
    >>> model = ee.from_reservoirpy(trained)
    >>> model.certificate.difference < 1e-8
    True
    """
    network = _read(model)
    W, B, bias, lr = network.reservoir
    # The last columns of Win are the feedback weights.
    W_fb = B[network.D_in :] if len(B) > network.D_in else None
    converted = diagonalize(W, B[: network.D_in], W_fb=W_fb, lr=lr, bias=bias, **network.readout)
    return (converted, _state(network, converted)) if return_state else converted


class ModelWeights(NamedTuple):
    """Weights of a model, and its current state r and last output y.

    ``readout`` contains W_out, with rows [1, y(t−1), r, u], and its flags, as arguments of
    ``diagonalize``. It is empty for a model without a readout.
    """

    reservoir: ReservoirWeights
    readout: dict[str, Any]
    D_in: int
    r: Array
    y: Array


def _read(model: Any) -> ModelWeights:
    # If reservoirpy is missing, the error of this import explains how to install it.
    from eigenecho.interop.reservoirpy import Node  # isort: skip
    from reservoirpy.model import Model

    if isinstance(model, Node):
        return _read_node(model)
    if not isinstance(model, Model):
        raise unsupported(f"{type(model).__module__}.{type(model).__qualname__}")
    reservoir, readout = _find_nodes(model)
    fed_back = _check_edges(model, reservoir, readout)
    weights = reservoir_weights(reservoir)
    W_out, bias = _readout_arrays(readout)
    D_out = W_out.shape[1]
    D_in = len(weights.B) - D_out * fed_back[reservoir]
    sizes = {"r": reservoir.units, "u": D_in, "y": D_out}
    read = ["r" if parent is reservoir else "u" for parent in model.parents[readout]]
    read += ["y"] * fed_back[readout]
    edges = np.cumsum([sizes[kind] for kind in read])[:-1]
    rows = {"1": bias[None], **dict(zip(read, np.split(W_out, edges), strict=True))}
    ordered = np.concatenate([rows[kind] for kind in ("1", "y", "r", "u") if kind in rows])
    last = [buffer[-1] for buffer in (model.feedback_buffers or {}).values()]
    flags = {"output_to_readout": "y" in rows, "input_to_readout": "u" in rows}
    return ModelWeights(
        weights,
        {"W_out": ordered, "readout_bias": True, **flags},
        D_in,
        np.asarray(reservoir.state["out"], np.float64),
        np.asarray(last[0] if last else np.zeros(D_out), np.float64),
    )


def _read_node(node: Any) -> ModelWeights:
    if _kind(node) != "reservoir":
        raise unsupported(node_name(node))
    weights = reservoir_weights(node)
    r = np.asarray(node.state["out"], np.float64)
    return ModelWeights(weights, {}, len(weights.B), r, np.zeros(len(r)))


def _find_nodes(model: Any) -> tuple[Any, Any]:
    """Return the reservoir and the readout of a graph that has exactly one of each."""
    nodes: dict[str, list[Any]] = {"reservoir": [], "readout": [], "input": [], "output": []}
    for node in model.nodes:
        kind = _kind(node)
        if kind is None:
            remedy = "Each node must be one of Input, Reservoir, Ridge, RLS, LMS and Output."
            raise unsupported(f"a graph with {node_name(node)}", remedy)
        nodes[kind].append(node)
    for kind in ("reservoir", "readout"):
        if len(nodes[kind]) != 1:
            names = ", ".join(map(node_name, nodes[kind])) or "none"
            raise unsupported(f"a graph with these {kind}s: {names}", f"Use exactly one {kind}.")
    if len(model.inputs) != 1:
        names = ", ".join(map(node_name, model.inputs))
        raise unsupported(f"a graph with the inputs {names}", "Connect one Input to both nodes.")
    return nodes["reservoir"][0], nodes["readout"][0]


def _check_edges(model: Any, reservoir: Any, readout: Any) -> dict[Any, bool]:
    """Return, for the reservoir and the readout, True if it receives the last output."""
    allowed = [(reservoir, 0, readout), (readout, 1, reservoir), (readout, 1, readout)]
    for parent, delay, child in model.edges:
        is_end = delay == 0 and (_kind(parent) == "input" or _kind(child) == "output")
        if not is_end and (parent, delay, child) not in allowed:
            edge = f"{node_name(parent)} to {node_name(child)}, delay {delay}"
            remedy = (
                "Edges can start at an input, end at an output, connect the reservoir to the "
                "readout without delay, or feed the readout back with delay 1."
            )
            raise unsupported(f"a graph with an edge from {edge}", remedy)
    if (reservoir, 0, readout) not in model.edges:
        raise unsupported("a readout that is not connected to the reservoir")
    return {node: (readout, 1, node) in model.edges for node in (reservoir, readout)}


def _readout_arrays(readout: Any) -> tuple[Array, Array]:
    W_out = readout.Wout
    if W_out is None or callable(W_out) or readout.bias is None or callable(readout.bias):
        raise unsupported(f"{node_name(readout)} without weights", "Train it first.")
    W_out = as_double(W_out, "Wout")
    return W_out, np.broadcast_to(np.asarray(readout.bias, np.float64), (W_out.shape[1],))


def _state(network: ModelWeights, converted: LinearModel) -> State:
    # Additional coordinates are inputs u(t) of the readout, which the next step overwrites.
    r = np.pad(network.r, (0, converted.units - len(network.r)))
    return State(r if converted.basis is None else converted.basis.states_to_eigen(r), network.y)


def _kind(node: Any) -> str | None:
    """Return the kind of a node, or None if it is not supported.

    A kind is "reservoir", "readout", "input" or "output". Nodes of subclasses that override
    ``METHODS`` are not supported.
    """
    from reservoirpy.nodes import LMS, RLS, Input, Output, Reservoir, Ridge

    from eigenecho.interop.reservoirpy import DiagonalReservoirNode

    kinds = {Reservoir: "reservoir", DiagonalReservoirNode: "reservoir"}
    kinds |= {Ridge: "readout", RLS: "readout", LMS: "readout", Input: "input", Output: "output"}
    for kind, name in kinds.items():
        same = all(getattr(type(node), method, None) is getattr(kind, method) for method in METHODS)
        if same and isinstance(node, kind):
            return name
    return None
