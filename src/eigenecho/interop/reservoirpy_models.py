"""Trained reservoirpy models as networks of ours.

What a node of theirs reads at a step is [u, parents in the order of the edges, delayed outputs in
the order of the edges], one column of its weights for each entry. Their states are columns, so
that all matrices of the reservoir go over transposed; the readout is written in rows already.
"""

from __future__ import annotations

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

    See Also
    --------
    eigenecho.interop.reservoirpy.DiagonalReservoir : our reservoir inside their models
    eigenecho.diagonalize : plain weights

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
    # The weights of the fed back output are the last columns of their Win.
    W_fb = B[network.D_in :] if len(B) > network.D_in else None
    converted = diagonalize(W, B[: network.D_in], W_fb=W_fb, lr=lr, bias=bias, **network.readout)
    return (converted, _state(network, converted)) if return_state else converted


class ReservoirWeights(NamedTuple):
    """A reservoir node in our layout, rows from where a connection comes; ``B`` is Winᵀ."""

    W: Any
    B: Array
    bias: Array | None
    lr: Any


class Network(NamedTuple):
    """What a model of theirs computes, and where it stands: r, and y(t−1) for the next step.

    ``readout`` holds W_out, rows [1, y(t−1), r, u], and the flags of them, as ``diagonalize`` has
    them; nothing for the states alone.
    """

    reservoir: ReservoirWeights
    readout: dict[str, Any]
    D_in: int
    r: Array
    y: Array


def reservoir_weights(node: Any) -> ReservoirWeights:
    """The weights of an initialised linear reservoir node."""
    from reservoirpy.activationsfunc import identity

    if hasattr(node, "reservoir_"):  # our own node: rows already, and the leak is in the weights
        ours = node.reservoir_
        return ReservoirWeights(ours.transition.matrix, ours.W_in, ours.bias, 1.0)
    if not node.initialized:
        got = Shown(f"{_name(node)}, no weights yet")
        raise bad_argument("model", got, WANTED, "Train it first.")
    if node.activation is not identity:
        activation = getattr(node.activation, "__name__", repr(node.activation))
        shown = Shown(f"{_name(node)}, activation {activation}")
        remedy = "Only a linear reservoir has an eigenbasis."
        raise bad_argument("model", shown, "linear units, activation='identity'", remedy)
    N = node.units
    bias = np.broadcast_to(np.asarray(node.bias, np.float64), (N,))
    lr = np.asarray(node.lr, np.float64)
    rates = float(lr.flat[0]) if lr.size == 1 else lr
    W_in = np.ascontiguousarray(_dense(node.Win).T)
    return ReservoirWeights(node.W.T, W_in, bias if np.any(bias) else None, rates)


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
    flags = {"output_to_readout": "y" in rows, "input_to_readout": "u" in rows}
    return Network(
        weights,
        {"W_out": ordered, "readout_bias": True, **flags},
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
    return Network(weights, {}, len(weights.B), r, np.zeros(len(r)))


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
        got = Shown(f"{_name(readout)}, no weights yet")
        raise bad_argument("model", got, WANTED, "Call model.fit(X, y) first.")
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
