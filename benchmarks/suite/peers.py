"""The same jobs in other libraries, with the same weights.

Each library uses its fastest form: sparse or dense matrices, its own layout of states, and all
cores.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from importlib.metadata import PackageNotFoundError, version
from typing import Any

import numpy as np
from scipy import sparse

from eigenecho import Spectrum

Array = np.ndarray

PEERS = {"reservoirpy": "reservoirpy", "ResDAG": "resdag", "JAX": "jax", "Dask": "distributed"}
"""Names in the tables, and the packages without which a job is skipped."""


def why_missing(peer: str) -> str | None:
    """Return why a library cannot be used, or None if it can."""
    if peer not in PEERS:
        return None
    try:
        version(PEERS[peer])
    except PackageNotFoundError:
        return f"{peer} is not installed; `make bench` installs it"
    return None


def reservoirpy_reservoir(W: Any, W_in: Array) -> Any:
    """Return a reservoirpy node; its states are columns, so both matrices are transposed."""
    from reservoirpy.nodes import Reservoir

    return Reservoir(W=sparse.csr_matrix(W.T), Win=W_in.T.copy(), activation="identity")


def reservoirpy_model(W: Any, W_in: Array, W_out: Array) -> Any:
    """Return the trained network; rows of W_out are [1, r]."""
    from reservoirpy.nodes import Ridge

    model = reservoirpy_reservoir(W, W_in) >> Ridge(Wout=W_out[1:], bias=W_out[0])
    model.initialize(np.zeros((1, len(W_in))), np.zeros((1, W_out.shape[1])))
    return model


def reservoirpy_run(runs: Any) -> Callable[[Array], Array]:
    """Return a function that runs a node or a model from a zero state."""

    def run(X: Array) -> Array:
        for node in getattr(runs, "nodes", [runs]):
            if node.initialized:
                node.reset()
        return runs.run(X)

    return run


def reservoirpy_closed_loop(model: Any) -> Callable[[Array, int], Array]:
    """Return a function that runs the context, then feeds each output back."""
    run = reservoirpy_run(model)

    def forecast(context: Array, horizon: int) -> Array:
        y = run(context)[-1]
        rows = np.empty((horizon, y.size))
        rows[0] = y
        for t in range(1, horizon):
            rows[t] = y = model.step(y)
        return rows

    return forecast


def resdag_closed_loop(W: Any, W_in: Array, W_out: Array) -> Callable[[Array, int], Array]:
    """Return ResDAG's ``forecast`` with these weights; dense, its fastest form."""
    import torch
    from resdag.models import classic_esn

    model = classic_esn(
        len(W_in.T), len(W_in), W_out.shape[1],
        activation="identity", bias=False, input_to_readout=False,
    )  # fmt: skip
    model = model.double().eval()
    dense = W.toarray() if sparse.issparse(W) else W
    values = {
        "weight_feedback": W_in.T,
        "weight_hh": dense.T,
        "ReadoutLayer_1.weight": W_out[1:].T,
        "ReadoutLayer_1.bias": W_out[0],
    }
    with torch.no_grad():
        for name, parameter in model.named_parameters():
            (value,) = (v for end, v in values.items() if name.endswith(end))
            parameter.copy_(torch.from_numpy(np.ascontiguousarray(value)))

    def forecast(context: Array, horizon: int) -> Array:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", UserWarning)
            rows = model.forecast(torch.from_numpy(context[None].copy()), horizon=horizon)
        return rows[0].numpy()

    return forecast


def lfilter_states(spectrum: Spectrum, W_in: Array) -> Callable[[Array], tuple[Array, Array]]:
    """Return a function that computes states (modes, T) with one SciPy filter per mode."""
    from scipy.signal import lfilter

    b, pairs = W_in[0, : spectrum.real.size], W_in[0, spectrum.real.size :].copy().view(complex)

    def states(X: Array) -> tuple[Array, Array]:
        u = X[:, 0]
        reals = np.empty((b.size, len(u)))
        for i, eigenvalue in enumerate(spectrum.real):
            reals[i] = lfilter([b[i]], [1.0, -eigenvalue], u)
        complexes = np.empty((pairs.size, len(u)), complex)
        for i, eigenvalue in enumerate(spectrum.pairs):
            complexes[i] = lfilter([pairs[i]], [1.0, -eigenvalue], u)
        return reals, complexes

    return states


def jax_states(spectrum: Spectrum, W_in: Array) -> Callable[[Array], tuple[Array, Array]]:
    """Return a compiled ``jax.lax.associative_scan`` in double precision: states (T, modes)."""
    import jax
    import jax.numpy as jnp

    jax.config.update("jax_enable_x64", True)
    n = spectrum.real.size
    weights = jnp.asarray(W_in[0, :n]), jnp.asarray(W_in[0, n:].copy().view(complex))
    eigenvalues = jnp.asarray(spectrum.real), jnp.asarray(spectrum.pairs)

    def combine(first: Any, second: Any) -> Any:
        return first[0] * second[0], first[1] * second[0] + second[1]

    @jax.jit
    def scanned(u: Any) -> Any:
        states = []
        for eigenvalue, b in zip(eigenvalues, weights, strict=True):
            driven = u * b
            factors = jnp.broadcast_to(eigenvalue, driven.shape)
            states.append(jax.lax.associative_scan(combine, (factors, driven))[1])
        return tuple(states)

    def states(X: Array) -> tuple[Array, Array]:
        reals, complexes = jax.block_until_ready(scanned(jnp.asarray(X)))
        return reals, complexes

    return states


def q_layout(reals: Array, complexes: Array) -> Array:
    """Convert states (T, modes) to real modes, then real and imaginary parts of each pair."""
    complexes = np.ascontiguousarray(complexes)
    return np.concatenate([np.asarray(reals), complexes.view(float)], axis=1)
