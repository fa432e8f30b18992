"""States through ``transform`` are at least 50 times faster than reservoirpy's at N = 1000.

One sparse random W (connectivity 0.1) is run by reservoirpy, by our own compiled loops in the
neuron basis (dense and sparse, the honest baselines) and in its eigenbasis. All must give the
same states before anything is timed. The floor is filling the output array: an array that is
there already for ``out=``, a fresh one for a plain ``transform``.
"""

from __future__ import annotations

import argparse
import os
import statistics
import sys
from collections.abc import Callable

import numpy as np
from scipy import sparse

import eigenecho as ee
from common import interleaved, machine, ratio, table, verdict
from eigenecho.basis import Basis, eigendecomposition
from eigenecho.reservoir import Reservoir

PEER = "reservoirpy"
FRESH = "transform"
EXISTING = "fill an existing array"
DENSE_PRODUCTS = 2e10
"""Multiplications over which the dense baseline is timed: all T steps up to N = 1000."""


def random_W(N: int, connectivity: float, rng: np.random.Generator) -> np.ndarray:
    """A sparse random matrix of radius 0.9."""
    W = rng.normal(size=(N, N)) * (rng.random((N, N)) < connectivity)
    return W * (0.9 / np.abs(np.linalg.eigvals(W)).max())


def reservoirpy_run(W: np.ndarray, W_in: np.ndarray) -> Callable[[np.ndarray], np.ndarray]:
    """The same network in reservoirpy, whose states are columns: both matrices transposed."""
    from reservoirpy.nodes import Reservoir as Peer

    peer = Peer(W=sparse.csr_matrix(W.T), Win=W_in.T.copy(), activation="identity")

    def run(X: np.ndarray) -> np.ndarray:
        if peer.initialized:
            peer.reset()
        return peer.run(X)

    return run


def one_thread(call: Callable[[], object]) -> Callable[[], object]:
    """The call with our kernels held to one thread."""

    def alone() -> object:
        os.environ["EIGENECHO_NUM_THREADS"] = "1"
        try:
            return call()
        finally:
            del os.environ["EIGENECHO_NUM_THREADS"]

    return alone


def check_equal(states: dict[str, np.ndarray], tolerance: float) -> None:
    """Stop unless all states agree with reservoirpy's, relative to their size."""
    truth = states[PEER]
    for name, found in states.items():
        error = np.abs(found - truth).max() / np.abs(truth).max()
        if not error < tolerance:
            sys.exit(f"DOES NOT HOLD: {name} differs from {PEER} by {error:.1e}")
    worst = max(np.abs(s - truth).max() for s in states.values()) / np.abs(truth).max()
    print(f"all states equal to {worst:.0e} of their size\n")


def measure(N: int, T: int, repeats: int, connectivity: float) -> float:
    """Print one table; the speed-up of a plain ``transform`` over reservoirpy."""
    rng = np.random.default_rng(N)
    W = random_W(N, connectivity, rng)
    spectrum, basis = eigendecomposition(W)
    X = rng.uniform(-1, 1, (T, 1))
    ours = ee.DiagonalReservoir(spectrum=spectrum, seed=0).fit(X)
    W_in = basis.states_to_neuron(ours.reservoir_.W_in)
    peer = reservoirpy_run(W, W_in)
    neuron = {
        "our sparse neuron loop": Reservoir(sparse.csr_matrix(W), W_in),
        "our dense neuron loop": Reservoir(W, W_in),
    }
    print(f"N = {N}, T = {T}, connectivity {connectivity}, cond(Q) = {basis.condition:.0f}")
    check_on(X[:2000], ours, basis, peer, neuron)

    out = np.zeros((T, N))
    dense_T = int(min(T, DENSE_PRODUCTS / N**2))
    cases = {
        PEER: lambda: peer(X),
        "our sparse neuron loop": lambda: scan(neuron["our sparse neuron loop"], X),
        "our dense neuron loop": lambda: scan(neuron["our dense neuron loop"], X[:dense_T]),
        FRESH: lambda: ours.transform(X),
        "transform, one thread": one_thread(lambda: ours.transform(X)),
        "transform, out=": lambda: ours.transform(X, out=out),
        "transform, out=, one thread": one_thread(lambda: ours.transform(X, out=out)),
        "fresh np.full": lambda: np.full((T, N), 0.5),
        EXISTING: lambda: out.fill(0.5),
    }
    for call in cases.values():
        if call is not cases[PEER]:
            call()
    seconds = interleaved(cases, repeats)
    seconds["our dense neuron loop"] = [s * T / dense_T for s in seconds["our dense neuron loop"]]
    rows = []
    for name, times in seconds.items():
        floor = (
            "fill an existing array" if "out=" in name or "existing" in name else "fresh np.full"
        )
        rows.append([
            name, ratio(seconds[PEER], times), ratio(times, seconds[floor]),
            1e6 * statistics.median(times) / T,
        ])  # fmt: skip
    table(["states", f"faster than {PEER}", "times a fill (*)", "µs per step"], rows)
    return ratio(seconds[PEER], seconds[FRESH])


def check_on(X: np.ndarray, ours: ee.DiagonalReservoir, basis: Basis, peer: Callable,
             neuron: dict[str, Reservoir]) -> None:  # fmt: skip
    """All roads to the same neuron-basis states."""
    states = {PEER: peer(X), FRESH: basis.states_to_neuron(ours.transform(X))}
    out = np.empty((len(X), ours.reservoir_.units))
    states["transform, out="] = basis.states_to_neuron(ours.transform(X, out=out))
    states |= {name: scan(reservoir, X) for name, reservoir in neuron.items()}
    check_equal(states, 1e-8)


def scan(reservoir: Reservoir, X: np.ndarray) -> np.ndarray:
    """States of one series from zero."""
    return reservoir.scan(reservoir.drive(X, None), reservoir.zero_state())


def main() -> int:
    """Run the benchmark."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--units", type=int, nargs="+", default=[100, 1000, 3000])
    parser.add_argument("--steps", type=int, default=20_000)
    parser.add_argument("--repeats", type=int, default=7, help="rounds; fewer above N = 1000")
    parser.add_argument("--connectivity", type=float, default=0.1)
    parser.add_argument("--at-least", type=float, default=50.0, help="the claim, at N = 1000")
    args = parser.parse_args()

    print(machine("eigenecho", "reservoirpy", "numpy", "numba"))
    print("(*) a fresh np.full, or filling an existing array where out= is given; one thread\n")
    speedups = {}
    for N in args.units:
        repeats = args.repeats if N <= 1000 else max(3, args.repeats // 3)
        speedups[N] = measure(N, args.steps, repeats, args.connectivity)
    judged = 1000 if 1000 in speedups else max(speedups)
    claim = f"transform is {speedups[judged]:.0f} ≥ {args.at_least:g} times faster at N = {judged}"
    return verdict(claim, speedups[judged] >= args.at_least)


if __name__ == "__main__":
    sys.exit(main())
