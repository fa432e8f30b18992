"""Time of computing states, compared with other libraries and as a function of N."""

from __future__ import annotations

import os
import statistics
from collections.abc import Callable

import numpy as np
from scipy import sparse

import eigenecho as ee
from eigenecho.basis import eigendecomposition
from eigenecho.kernels import reference
from eigenecho.reservoir import Reservoir
from suite import peers
from suite.fits import slope
from suite.job import Job, faster, within
from suite.networks import random_W
from suite.record import Case, Record

FRESH = "`transform`"
INTO = "`transform(out=)`"
FILL = "fill an existing array"
SPARSE = "eigenecho, sparse W, neuron basis"


def states(record: Record) -> None:
    """Compare a sparse W in reservoirpy with the same network in its eigenbasis."""
    N, T = record.pick(1000, 200), record.pick(20_000, 8_000)
    W = random_W(N)
    spectrum, basis = eigendecomposition(W)
    X = np.random.default_rng(0).uniform(-1, 1, (T, 1))
    ours = ee.DiagonalReservoir(spectrum=spectrum, seed=0).fit(X)
    at_work = ours.reservoir_.W_in
    W_in = basis.states_to_neuron(at_work)
    thin = Reservoir(sparse.csr_matrix(W), W_in)

    out = np.full((T, N), 0.0)
    short = X[:2000]
    mine = ours.transform(short)
    truth = basis.states_to_neuron(mine)
    into = ours.transform(short, out=np.empty_like(mine))
    record.same(f"{INTO} and {FRESH}", into, mine, 0.0)
    record.same(f"{SPARSE} and {FRESH}", _scan(thin, short), truth, 1e-8)
    lfilter = peers.lfilter_states(spectrum, at_work)
    filtered = peers.q_layout(*(part.T for part in lfilter(short)))
    record.same(f"scipy lfilter and {FRESH}", filtered, mine, 1e-8)

    # Several calls per round, and separate from libraries that allocate several arrays of this
    # size: getting memory back from the host of a virtual machine is ten times slower than filling.
    cases = {
        FRESH: Case(lambda: ours.transform(X), times=5),
        INTO: Case(lambda: ours.transform(X, out=out), times=5),
        f"{FRESH}, one thread": Case(_one_thread(lambda: ours.transform(X)), times=5),
        f"{INTO}, one thread": Case(_one_thread(lambda: ours.transform(X, out=out)), times=5),
        FILL: Case(lambda: out.fill(0.5), times=5),
        "fill a new array": Case(lambda: np.full((T, N), 0.5), times=5),
    }
    if record.has("reservoirpy"):
        run = peers.reservoirpy_run(peers.reservoirpy_reservoir(W, W_in))
        record.same(f"reservoirpy and {FRESH}", run(short), truth, 1e-8)
        cases["reservoirpy"] = Case(lambda: run(X), lambda: run(X[:500]))
    seconds = record.time(f"computing the states, N = {N}, T = {T}", cases, 7)
    others = {
        FRESH: Case(lambda: ours.transform(X), times=5),
        SPARSE: Case(lambda: _scan(thin, X)),
        "scipy lfilter": Case(lambda: lfilter(X), lambda: None),
    }
    if record.has("JAX"):
        scan = peers.jax_states(spectrum, at_work)
        record.same(f"JAX and {FRESH}", peers.q_layout(*scan(short)), mine, 1e-8)
        others["JAX associative_scan"] = Case(lambda: scan(X))
    record.time(f"computing the states with other methods, N = {N}, T = {T}", others, 5)
    record.faster("transform", seconds, "reservoirpy", FRESH)
    record.faster("transform out", seconds, "reservoirpy", INTO)
    record.faster("fill", seconds, INTO, FILL)


def step(record: Record) -> None:
    """Time a step as a function of N, writing to an array of fixed size."""
    sizes = record.pick((100, 250, 500, 1000, 2000, 4000, 8000, 16_000), (100, 400, 1600))
    judged = [N for N in sizes if N >= 1000] if not record.quick else list(sizes)
    memory = np.full(record.pick(20_000_000, 3_000_000), 0.0)
    cases, steps = {}, {}
    for N in sizes:
        T = memory.size // N
        steps |= {f"N = {N}": T, f"N = {N}, fill": T}
        X = np.random.default_rng(0).uniform(-1, 1, (T, 1))
        drawn = ee.DiagonalReservoir(N, seed=0).fit(X)
        out = memory[: T * N].reshape(T, N)
        reservoir = drawn.reservoir_
        truth, _ = reference.scan(reservoir.form, reservoir.B, X[:50], reservoir.zero_state())
        record.same(f"N = {N}: {INTO} and the NumPy reference",
                    drawn.transform(X[:50]), truth, 1e-13)  # fmt: skip
        cases[f"N = {N}"] = Case(lambda drawn=drawn, X=X, out=out: drawn.transform(X, out=out))
        cases[f"N = {N}, fill"] = Case(lambda out=out: out.fill(0.5))
    title = f"time per step when writing {memory.nbytes // 10**6} MB of states"
    seconds = record.time(title, cases, 7, steps)
    ours = {N: statistics.median(seconds[f"N = {N}"]) for N in sizes}
    fill = {N: statistics.median(seconds[f"N = {N}, fill"]) for N in sizes}
    record.curve("step", "eigenecho transform(out=)", ours)
    record.curve("step", "filling the array", fill)
    share = {N: fill[N] / ours[N] for N in sizes}
    record.curve("bandwidth", "eigenecho transform(out=)", share)
    grown, _ = slope({N: ours[N] for N in judged})
    record.measured("slope", grown)
    if record.has("reservoirpy"):
        _reservoirpy_steps(record)


def _reservoirpy_steps(record: Record) -> None:
    """Time reservoirpy with sparse matrices of about the same radius."""
    cases, T = {}, 300
    X = np.random.default_rng(0).uniform(-1, 1, (T, 1))
    sizes = record.pick((100, 250, 500, 1000, 2000, 4000), (100, 400))
    for N in sizes:
        W, W_in = random_W(N, scaled=False), np.random.default_rng(1).uniform(-1, 1, (1, N))
        run = peers.reservoirpy_run(peers.reservoirpy_reservoir(W, W_in))
        short = X[:20]
        truth = _scan(Reservoir(W, W_in), short)
        record.same(f"N = {N}: reservoirpy and the dense loop", run(short), truth, 1e-10)
        cases[f"N = {N}"] = Case(lambda run=run: run(X), lambda run=run, short=short: run(short))
    seconds = record.time("time per step of reservoirpy", cases, 3, T)
    points = {N: statistics.median(seconds[f"N = {N}"]) for N in sizes}
    record.curve("step", "reservoirpy, connectivity 0.1", points)


def _scan(reservoir: Reservoir, X: np.ndarray) -> np.ndarray:
    return reservoir.scan(reservoir.drive(X, None))[0]


def _one_thread(call: Callable[[], object]) -> Callable[[], object]:
    def alone() -> object:
        before = os.environ.get("EIGENECHO_NUM_THREADS")
        os.environ["EIGENECHO_NUM_THREADS"] = "1"
        try:
            return call()
        finally:
            del os.environ["EIGENECHO_NUM_THREADS"]
            if before is not None:
                os.environ["EIGENECHO_NUM_THREADS"] = before

    return alone


SIZE = "N = 1000, T = 20 000, D_in = 1"
JOBS = (
    Job(
        "states",
        "States of one reservoir",
        states,
        (
            faster("transform", f"computing the states with `transform`, {SIZE}",
                   "reservoirpy, connectivity 0.1", 80),
            faster("transform out", "computing the states with `transform(out=)`, same size",
                   "reservoirpy, connectivity 0.1", 150),
            within("fill", "computing the states with `transform(out=)`, same size",
                   "filling the same array with a constant", 2.5),
        ),
    ),
    Job(
        "step",
        "Time per step by N",
        step,
        (within("slope", "growth of the time per step from N = 1000 to N = 16 000", "–", 1.1,
                "log-log slope of at most {}"),),
    ),
)  # fmt: skip
