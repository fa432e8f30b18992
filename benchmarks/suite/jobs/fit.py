"""Training time compared with reservoirpy and plain BLAS, and as a function of T."""

from __future__ import annotations

import statistics
from typing import Any

import numpy as np
from scipy.linalg import blas, cho_factor, cho_solve

import eigenecho as ee
from common import MIB, memory_in_use, peak_memory
from eigenecho.reservoir import Recipe, draw
from suite import peers
from suite.job import Job, faster, within
from suite.networks import CONNECTIVITY, RADIUS, WARMUP, white
from suite.record import Case, Record

RIDGE = 1e-6
EASY = 1.0
"""A ridge for which the normal equations of the other methods keep most digits."""

CHUNK = 4096
"""Rows of states per chunk in the plain BLAS version."""

FEW = 10_000
"""Largest T for which reservoirpy is also timed without drawing W."""

SIZES = (100, 300, 500, 1000)
"""Numbers of units of the fits of a series of moderate length."""

PEER = "reservoirpy"


def network(N: int, solver: str = "auto", ridge: float = RIDGE) -> ee.LinearESN:
    """Return a golden network with an unpenalised bias, as in reservoirpy."""
    return ee.LinearESN(
        N, sr=RADIUS, ridge=ridge, solver=solver, penalize_bias=False, warmup=WARMUP, seed=0
    )


def reservoirpy_node(N: int) -> Any:
    """Return a reservoir whose sparse W is drawn when it first sees data."""
    from reservoirpy.nodes import Reservoir

    return Reservoir(
        N, sr=RADIUS, rc_connectivity=CONNECTIVITY, input_connectivity=1.0,
        activation="identity", seed=0,
    )  # fmt: skip


def reservoirpy_fit(node: Any, u: np.ndarray, y: np.ndarray) -> object:
    """Train the readout; a new node also draws its weights, as our ``fit`` does."""
    from reservoirpy.nodes import Ridge

    if node.initialized:
        node.reset()
    return (node >> Ridge(ridge=RIDGE)).fit(u, y, warmup=WARMUP)


def check_reservoirpy(record: Record, N: int) -> None:
    """Check that reservoirpy with our W gives the same predictions."""
    from reservoirpy.nodes import Ridge

    u, y = white(record.pick(1500, 600))
    for ridge, tolerance in ((EASY, 1e-7), (RIDGE, 1e-3)):
        ours = network(N, ridge=ridge).fit(u, y)
        weights = ours.matrices("neuron")
        peer = peers.reservoirpy_reservoir(weights.W, weights.W_in) >> Ridge(ridge=ridge)
        predicted = peers.reservoirpy_run(peer.fit(u, y, warmup=WARMUP))(u)
        what = f"`fit` and reservoirpy with the same W, ridge {ridge:g}"
        record.same(what, ours.predict(u)[WARMUP:], predicted[WARMUP:], tolerance)


def against_reservoirpy(record: Record, key: str, N: int, T: int, rounds: int) -> None:
    """Time the default solver and reservoirpy."""
    u, y = white(T)
    ours = f"`fit` ({network(N).fit(u, y).solver_})"
    cases = {ours: Case(lambda: network(N).fit(u, y), lambda: None, 3)}
    if record.has(PEER):
        check_reservoirpy(record, record.pick(1000, N))
        cases[PEER] = Case(lambda: reservoirpy_fit(reservoirpy_node(N), u, y), lambda: None)
        drawn = reservoirpy_node(N)
        reservoirpy_fit(drawn, u[:500], y[:500])
        if T <= FEW:
            cases[f"{PEER}, without drawing W"] = Case(
                lambda: reservoirpy_fit(drawn, u, y), lambda: None
            )
    seconds = record.time(f"`fit`, N = {N}, T = {T}", cases, rounds)
    record.faster(key, seconds, PEER, ours)
    if PEER in seconds and SIZES[-1] == N:
        record.curve("fit", PEER, {T: statistics.median(seconds[PEER])})


def fit_short(record: Record) -> None:
    """Time fits on a series of moderate length."""
    for N in SIZES:
        key = f"fit {N}"
        against_reservoirpy(record, key, record.pick(N, N // 5), record.pick(10_000, 2000), 5)


def fit_long(record: Record) -> None:
    """Time a fit on a long series."""
    against_reservoirpy(record, "fit long", record.pick(1000, 200), record.pick(100_000, 6000), 3)


def fit_blas(record: Record) -> None:
    """Compare with normal equations from our scan, BLAS and LAPACK."""
    N, T = record.pick(2000, 300), record.pick(50_000, 6000)
    u, y = white(T)
    short = 4 * N
    for ridge, tolerance in ((EASY, 1e-7), (RIDGE, 1e-3)):
        esn = network(N, ridge=ridge).fit(u[:short], y[:short])
        W_out = scan_syrk_cholesky(N, u[:short], y[:short], ridge)
        states = esn.transform(u[:short])[WARMUP:]
        record.same(
            f"`fit` and scan + syrk + Cholesky, ridge {ridge:g}",
            esn.predict(u[:short])[WARMUP:], W_out[0] + states @ W_out[1:], tolerance,
        )  # fmt: skip
    ours, plain = f"`fit` ({network(N).fit(u, y).solver_})", "scan + syrk + Cholesky"
    cases = {
        ours: Case(lambda: network(N).fit(u, y), lambda: None),
        plain: Case(lambda: scan_syrk_cholesky(N, u, y, RIDGE)),
    }
    seconds = record.time(f"`fit`, N = {N}, T = {T}", cases, 5)
    record.faster("fit blas", seconds, plain, ours)


def scan_syrk_cholesky(N: int, u: np.ndarray, y: np.ndarray, ridge: float) -> np.ndarray:
    """Return W_out (1 + N, 1) from the same draw: states in chunks, syrk and Cholesky."""
    drawn = draw(Recipe(units=N, spectrum="golden", sr=RADIUS), 1, seed=0)
    reservoir, Q = drawn.reservoir, drawn.basis.Q
    state, states = reservoir.last_state(reservoir.drive(u[:WARMUP], None)), np.empty((CHUNK, N))
    G = np.zeros((N, N), order="F")
    moments, sums = np.zeros((N, 1)), np.zeros(N)
    for start in range(WARMUP, len(u), CHUNK):
        rows = slice(start, start + CHUNK)
        drive = reservoir.drive(u[rows], None)
        X, state = reservoir.scan(drive, state, states[: len(drive)])
        G = blas.dsyrk(1.0, X.T, beta=1.0, c=G, overwrite_c=1, lower=1)
        moments += X.T @ y[rows]
        sums += X.sum(axis=0)
    count, targets = len(u) - WARMUP, y[WARMUP:].mean(axis=0)
    G = blas.dsyrk(ridge, Q.T, beta=1.0, c=G, overwrite_c=1, lower=1)
    G -= np.outer(sums, sums / count)  # eliminates the unpenalised bias
    factor = cho_factor(G, lower=True, overwrite_a=True, check_finite=False)
    weights = cho_solve(factor, moments - np.outer(sums, targets), check_finite=False)
    return np.concatenate([[targets - sums @ weights / count], weights])


def fit_growth(record: Record) -> None:
    """Measure how time and memory grow with a hundred times more rows."""
    N, shortest = record.pick((1000, 10_000), (100, 1000))
    lengths = [factor * shortest for factor in (1, 3, 10, 30, 100)]
    u, y = white(lengths[-1])
    network(N).fit(u[: lengths[0]], y[: lengths[0]])
    record.say(f"`fit`, N = {N}, T = {lengths[-1]}: memory")
    before = memory_in_use()
    network(N).fit(u, y)
    extra, whole = peak_memory() - before, N * lengths[-1] * 8 / MIB
    remark = f"{extra:.0f} MiB in addition to the data; the states would take {whole:.0f} MiB"
    record.measured("fit memory", extra / whole, remark=remark)

    u_first, y_first = u[: lengths[0]], y[: lengths[0]]
    esn = network(N).fit(u_first, y_first)
    exact = network(N, "qr").fit(u_first, y_first).predict(u_first)[WARMUP:]
    record.same("`fit` and `qr`", esn.predict(u_first)[WARMUP:], exact, 1e-6)
    names = {T: f"T = {T}" for T in lengths}
    cases = {
        names[T]: Case(lambda T=T: network(N).fit(u[:T], y[:T]), lambda: None) for T in lengths
    }
    seconds = record.time(f"`fit`, N = {N} ({esn.solver_})", cases, 3)
    record.faster("fit growth", seconds, names[lengths[-1]], names[lengths[0]])
    medians = {T: statistics.median(seconds[names[T]]) for T in lengths}
    record.curve("fit", "eigenecho", medians)


JOBS = (
    Job("fit", "Training", fit_short, (
        *(faster(f"fit {N}", f"`fit`, N = {N}, T = 10 000, golden spectrum, ridge 1e-6",
                 "reservoirpy `Reservoir >> Ridge`", 15) for N in SIZES),
    )),
    Job("fit-long", "Training on a long series", fit_long, (
        faster("fit long", "`fit`, N = 1000, T = 100 000", "reservoirpy", 80),
    )),
    Job("fit-blas", "Training compared with BLAS", fit_blas, (
        faster("fit blas", "`fit`, N = 2000, T = 50 000",
               "normal equations from a compiled scan, BLAS and Cholesky", 8),
    )),
    Job("fit-growth", "Training time by T", fit_growth, (
        within("fit growth", "`fit`, N = 1000, T = 1 000 000", "`fit` with T = 10 000", 15),
        within("fit memory", "additional memory of `fit`, N = 1000, T = 1 000 000",
               "memory of all states", 0.1, "at most 10%"),
    )),
)  # fmt: skip
