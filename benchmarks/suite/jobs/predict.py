"""Inference: predictions, forecasts and single steps."""

from __future__ import annotations

import statistics
from collections.abc import Callable
from functools import partial

import numpy as np

import eigenecho as ee
from eigenecho import kernels
from eigenecho.kernels import compiled
from eigenecho.kernels.convolution import convolve_readout
from eigenecho.model import LinearModel
from eigenecho.reservoir import Recipe, draw
from suite import peers
from suite.job import Job, faster, within
from suite.networks import RADIUS, TrainedNetwork, trained, white
from suite.record import Case, Record

PEER = "reservoirpy"


def predict(record: Record) -> None:
    """Time predictions of one trained network, with sparse W in reservoirpy."""
    N, T = record.pick(1000, 200), record.pick(100_000, 5000)
    u, y = white(T)
    lengths = [factor * T // 10 for factor in (1, 3, 10, 30, 100)]
    long = white(lengths[-1])[0]
    esn, W, W_in, W_out = trained(N, u[:5000], y[:5000])
    ours = f"`predict`, by {esn.model_.inference(T)}"
    cases = {ours: Case(lambda: esn.predict(u), None, 5)}
    if record.has(PEER):
        run = peers.reservoirpy_run(peers.reservoirpy_model(W, W_in, W_out))
        record.same("`predict` and reservoirpy `run`", esn.predict(u[:5000]), run(u[:5000]), 1e-8)
        cases[PEER] = Case(lambda: run(u), lambda: run(u[:500]))
    seconds = record.time(f"`predict`, N = {N}, T = {T}", cases, 3)
    record.faster("predict", seconds, PEER, ours)
    if PEER in seconds:
        start = lengths[0]
        short = record.time(
            f"reservoirpy `run`, T = {start}", {PEER: Case(lambda: run(u[:start]))}, 3
        )
        points = {start: short[PEER], T: seconds[PEER]}
        record.curve("predict", PEER, {n: statistics.median(s) for n, s in points.items()})

    def of(T: int) -> Case:
        return Case(lambda: esn.predict(long[:T]), None, 3)

    several = record.time(f"`predict`, N = {N}", {f"T = {n}": of(n) for n in lengths}, 5)
    points = {n: statistics.median(several[f"T = {n}"]) for n in lengths}
    record.curve("predict", "eigenecho", points)


convolve = partial(convolve_readout, compiled)
"""Convolution with the compiled kernels."""


def convolution(record: Record) -> None:
    """Time convolution on a long series with few and with many units."""
    few, many = record.pick((100, 10_000), (100, 1000))
    T = record.pick(1_000_000, 50_000)
    u, _ = white(T)
    models = {N: random_model(N) for N in (few, many)}
    way = models[many].inference(T)
    if way != "convolution":
        raise RuntimeError(f"`predict` uses {way} for N = {many}, T = {T}, expected convolution")
    for N, model in models.items():
        steps = T // 20
        convolved = readout(convolve, model, u)[:steps]
        scanned = readout(kernels.scan_readout, model, u[:steps])
        record.same(f"N = {N}: convolution and the fused scan", convolved, scanned, 1e-10)
    by, ours = f"N = {few}, by convolution", f"N = {many}, `predict`"
    cases = {
        by: Case(lambda: readout(convolve, models[few], u)),
        ours: Case(lambda: models[many].predict(u)),
        f"N = {few}, `predict` (by {models[few].inference(T)})": Case(
            lambda: models[few].predict(u)
        ),
    }
    seconds = record.time(f"`predict` for few and many units, T = {T}", cases, 7)
    record.faster("convolution", seconds, ours, by)


def random_model(N: int, sr: float = RADIUS) -> LinearModel:
    """Return a golden reservoir with random readout weights, without N×N matrices."""
    drawn = draw(Recipe(units=N, spectrum="golden", sr=sr, eigenvectors=False), 1, seed=0)
    W_out = np.random.default_rng(1).normal(size=(N + 1, 1)) / np.sqrt(N)
    return LinearModel(drawn.reservoir, W_out, readout_bias=True)


def readout(kernel: Callable[..., object], model: LinearModel, u: np.ndarray) -> np.ndarray:
    """Return the outputs computed by the given kernel."""
    reservoir, out = model.reservoir, np.empty((len(u), model.D_out))
    drive, r = reservoir.drive(u, None), reservoir.zero_state()
    kernel(reservoir.form, reservoir.B, drive, model.readout.weights, r, out)
    return out + model.readout.offset


def forecast(record: Record) -> None:
    """Time closed-loop forecasts of five sines."""
    horizon = record.pick(10_000, 1000)
    net, context = oscillator(record)
    check = min(horizon, 1000)
    truth = net.esn.forecast(check, context=context)
    ours = "`forecast`"
    cases = {ours: Case(lambda: net.esn.forecast(horizon, context=context), None, 3)}
    if record.has(PEER):
        theirs = peers.reservoirpy_closed_loop(peers.reservoirpy_model(*net[1:]))
        record.same("`forecast` and reservoirpy closed loop", truth, theirs(context, check), 1e-6)
        cases[PEER] = Case(lambda: theirs(context, horizon), lambda: None)
    if record.has("ResDAG"):
        other = peers.resdag_closed_loop(*net[1:])
        record.same("`forecast` and ResDAG", truth, other(context, check), 1e-6)
        cases["ResDAG"] = Case(lambda: other(context, horizon), lambda: None)
    seconds = record.time(f"`forecast`, N = {net.esn.model_.units}, {horizon} steps", cases, 5)
    record.faster("forecast", seconds, PEER, ours)
    record.faster("forecast resdag", seconds, "ResDAG", ours)


def stream(record: Record) -> None:
    """Time single steps, including input validation."""
    net, context = oscillator(record)
    rows = list(np.tile(context, (5, 1)))
    ours = "`stream().step`"

    def steps() -> np.ndarray:
        online = net.esn.stream()
        return np.stack([online.step(u) for u in rows])

    cases = {ours: Case(steps, None, 5)}
    if record.has(PEER):
        model = peers.reservoirpy_model(*net[1:])

        def peer_steps() -> np.ndarray:
            for node in model.nodes:
                node.reset()
            return np.stack([model.step(u) for u in rows])

        record.same(f"{ours} and reservoirpy `step`", steps(), peer_steps(), 1e-6)
        cases[PEER] = Case(peer_steps)
    title = f"one step of a stream, N = {net.esn.model_.units}"
    seconds = record.time(title, cases, 9, per=len(rows))
    record.faster("stream", seconds, PEER, ours)


def oscillator(record: Record) -> tuple[TrainedNetwork, np.ndarray]:
    """Return a network trained on five sines, and a context."""
    series = ee.tasks.mso(5, steps=4000)
    net = trained(record.pick(1000, 200), series[:-1], series[1:], ridge=1e-8)
    return net, series[:200]


JOBS = (
    Job("predict", "Inference", predict, (
        faster("predict", "`predict`, N = 1000, T = 100 000", "reservoirpy `run`", 300),
    )),
    Job("predict-units", "Inference by N", convolution, (
        within("convolution", "`predict` by convolution, N = 10 000, T = 1 000 000",
               "`predict` by convolution with N = 100", 3),
    )),
    Job("forecast", "Forecasts", forecast, (
        faster("forecast", "`forecast`, N = 1000, 10 000 steps", "reservoirpy closed loop", 100),
        faster("forecast resdag", "`forecast`, N = 1000, 10 000 steps", "ResDAG closed loop", 100),
    )),
    Job("stream", "Online", stream, (
        faster("stream", "`stream().step` with input validation, N = 1000",
               "reservoirpy model `step`", 15),
    )),
)  # fmt: skip
