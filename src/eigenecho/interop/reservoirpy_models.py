"""Trained reservoirpy models as networks of ours.

What a node of theirs reads at a step is [u, parents in the order of the edges, delayed outputs in
the order of the edges], one column of its weights for each entry. Their states are columns, so
that all matrices of the reservoir go over transposed; the readout is written in rows already.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from eigenecho.convert import diagonalize
from eigenecho.errors import Shown, bad_argument
from eigenecho.model import LinearModel, State
from eigenecho.types import Array

WANTED = "a trained linear network: Reservoir(activation='identity') >> Ridge, or such an ESN"

WAYS = ("_step", "_run", "step", "run")
"""What a node computes with, one row at a time and all at once."""


def from_reservoirpy(model: Any, *, return_state: bool = False) -> Any:
    """Convert a trained linear reservoirpy model to its eigenbasis, where a step costs O(N).

    The outputs are those of ``model.run`` after ``model.reset()``: ours start at zero.

    Parameters
    ----------
    model : reservoirpy Model, ESN or Reservoir
        ``Reservoir(activation="identity") >> Ridge()``, or an ``ESN`` like that; with any leak,
        input bias, feedback (``reservoir << readout``), readout that sees the input or its own
        last output, and with RLS or LMS in the place of Ridge. The outputs of a Reservoir alone
        are its states. Output nodes are probes, and left out.
    return_state : bool
        Return ``(network, state)`` instead, with the state that ``model`` stands at, for
        ``network.predict(X, initial_state=state)``.

    Returns
    -------
    LinearModel
        What ``diagonalize`` returns, with its ``certificate``.
    """
    network = _read(model)
    readout = network.readout
    converted = diagonalize(
        network.reservoir.W,
        network.W_in,
        None if readout is None else readout.W_out,
        network.W_fb,
        lr=network.reservoir.lr,
        bias=network.reservoir.bias,
        readout_bias=None if readout is None else True,
        output_to_readout=readout is not None and readout.previous,
        input_to_readout=readout is not None and readout.inputs,
    )
    return (converted, _state(network, converted)) if return_state else converted


class ReservoirWeights(NamedTuple):
    """A reservoir node in our layout, rows from where a connection comes; ``B`` is Winᵀ."""

    W: Any
    B: Array
    bias: Array | None
    lr: Any


class ReadoutWeights(NamedTuple):
    """W_out with rows [1, y(t−1), r, u]; ``previous`` and ``inputs``: it has the 2nd and 4th."""

    W_out: Array
    previous: bool
    inputs: bool


@dataclass(frozen=True, eq=False)
class Network:
    """What a model of theirs computes, and where it stands: r, and y(t−1) for the next step."""

    reservoir: ReservoirWeights
    readout: ReadoutWeights | None
    D_in: int
    r: Array
    y: Array

    @property
    def W_in(self) -> Array:
        """Weights of the input, (D_in, N)."""
        return self.reservoir.B[: self.D_in]

    @property
    def W_fb(self) -> Array | None:
        """Weights of the fed back output, which are the last columns of their Win."""
        return self.reservoir.B[self.D_in :] if len(self.reservoir.B) > self.D_in else None


def reservoir_weights(node: Any) -> ReservoirWeights:
    """The weights of an initialised linear reservoir node."""
    from reservoirpy.activationsfunc import identity

    if hasattr(node, "reservoir_"):  # our own node: rows already, and the leak is in the weights
        ours = node.reservoir_
        return ReservoirWeights(ours.transition.matrix, ours.W_in, ours.bias, 1.0)
    if not node.initialized:
        raise bad_argument(
            "model", Shown(f"{_name(node)}, no weights yet"), WANTED, "Train it first."
        )
    if node.activation is not identity:
        activation = getattr(node.activation, "__name__", repr(node.activation))
        raise bad_argument(
            "model",
            Shown(f"{_name(node)}, activation {activation}"),
            "linear units, activation='identity'",
            "Only a linear reservoir has an eigenbasis.",
        )
    N = node.units
    bias = np.broadcast_to(np.asarray(node.bias, np.float64), (N,))
    lr = np.asarray(node.lr, np.float64)
    return ReservoirWeights(
        node.W.T,
        np.ascontiguousarray(_dense(node.Win).T),
        bias if np.any(bias) else None,
        float(lr.flat[0]) if lr.size == 1 else lr,
    )


def _read(model: Any) -> Network:
    Model, Node = _classes()[:2]
    if isinstance(model, Node):
        return _read_node(model)
    if not isinstance(model, Model):
        got = Shown(f"{type(model).__module__}.{type(model).__qualname__}")
        raise bad_argument("model", got, WANTED)
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
    return Network(
        weights,
        ReadoutWeights(ordered, "y" in rows, "u" in rows),
        D_in,
        np.asarray(reservoir.state["out"], np.float64),
        np.asarray(last[0] if last else np.zeros(D_out), np.float64),
    )


def _read_node(node: Any) -> Network:
    _, _, Reservoirs, *_ = _classes()
    if not _is_linear_kind(node, Reservoirs):
        raise bad_argument("model", Shown(f"{_name(node)}"), WANTED)
    weights = reservoir_weights(node)
    r = np.asarray(node.state["out"], np.float64)
    return Network(weights, None, len(weights.B), r, np.zeros(len(r)))


def _find_nodes(model: Any) -> tuple[Any, Any]:
    """The reservoir and the readout of a graph that has one of each, and nothing else at work."""
    _, _, Reservoirs, Readouts, Input, Output = _classes()
    found: dict[Any, list[Any]] = {Reservoirs: [], Readouts: [], Input: [], Output: []}
    for node in model.nodes:
        kinds = [kind for kind in found if _is_linear_kind(node, kind)]
        if not kinds:
            remedy = "Each node must be one of Input, Reservoir, Ridge, RLS, LMS and Output."
            raise bad_argument("model", Shown(f"graph with {_name(node)}"), WANTED, remedy)
        found[kinds[0]].append(node)
    for kind, what in ((Reservoirs, "reservoir"), (Readouts, "readout")):
        if len(found[kind]) != 1:
            names = ", ".join(map(_name, found[kind])) or "none"
            remedy = f"It needs exactly one {what}; deep and parallel graphs are not converted."
            raise bad_argument("model", Shown(f"graph with {what}s: {names}"), WANTED, remedy)
    if len(model.inputs) != 1:
        names = ", ".join(map(_name, model.inputs))
        remedy = "Let one Input feed both, so that there is one series u."
        raise bad_argument("model", Shown(f"graph with inputs: {names}"), WANTED, remedy)
    return found[Reservoirs][0], found[Readouts][0]


def _check_edges(model: Any, reservoir: Any, readout: Any) -> dict[Any, bool]:
    """Whether the last output comes back to the reservoir, and to the readout."""
    *_, Input, Output = _classes()
    fed_back = {reservoir: False, readout: False}
    reads = False
    for parent, delay, child in model.edges:
        if delay == 0 and isinstance(child, Output):
            continue
        if delay == 0 and (isinstance(parent, Input) or (parent, child) == (reservoir, readout)):
            reads = reads or parent is reservoir
        elif delay == 1 and parent is readout and child in fed_back:
            fed_back[child] = True
        else:
            edge = f"{_name(parent)} to {_name(child)}, delay {delay}"
            remedy = "Known are input to both, reservoir to readout, and feedback of delay 1."
            raise bad_argument("model", Shown(f"graph with an edge {edge}"), WANTED, remedy)
    if not reads:
        raise bad_argument("model", Shown("readout apart from the reservoir"), WANTED)
    return fed_back


def _readout_arrays(readout: Any) -> tuple[Array, Array]:
    W_out = readout.Wout
    if W_out is None or callable(W_out) or readout.bias is None or callable(readout.bias):
        raise bad_argument(
            "model",
            Shown(f"{_name(readout)}, no weights yet"),
            WANTED,
            "Call model.fit(X, y) first.",
        )
    W_out = _dense(W_out)
    return W_out, np.broadcast_to(np.asarray(readout.bias, np.float64), (W_out.shape[1],))


def _state(network: Network, converted: LinearModel) -> State:
    # Coordinates beyond r are u(t) in the readout, which the next step overwrites.
    r = np.pad(network.r, (0, converted.units - len(network.r)))
    return State(r if converted.basis is None else converted.basis.states_to_eigen(r), network.y)


def _is_linear_kind(node: Any, kinds: Any) -> bool:
    """Whether a node is of one of these classes and steps and runs as that class does."""
    return any(
        isinstance(node, kind)
        and all(getattr(type(node), way) is getattr(kind, way) for way in WAYS)
        for kind in (kinds if isinstance(kinds, tuple) else (kinds,))
    )


def _classes() -> tuple[Any, ...]:
    """Model, Node, the reservoirs, the readouts, Input and Output."""
    # Our node imports theirs, and says how to install it where it is missing.
    from eigenecho.interop.reservoirpy import DiagonalReservoir  # isort: skip
    from reservoirpy.model import Model
    from reservoirpy.node import Node
    from reservoirpy.nodes import LMS, RLS, Input, Output, Reservoir, Ridge

    return Model, Node, (Reservoir, DiagonalReservoir), (Ridge, RLS, LMS), Input, Output


def _name(node: Any) -> str:
    # Their own repr fails for nodes that hold arrays.
    given = getattr(node, "name", None)
    return type(node).__name__ + (f" {given!r}" if given else "")


def _dense(A: Any) -> Array:
    return np.asarray(A.toarray() if hasattr(A, "toarray") else A, np.float64)
