"""Converted reservoirpy models give the same outputs at least 50 times faster at N = 1000.

Every kind of model that ``from_reservoirpy`` supports is trained by reservoirpy and converted. On a
test series, outputs must agree to 1e-8, and ``predict(X)`` is timed against ``model.run(X)``. Then
our node replaces the reservoir in reservoirpy models, with the same weights.
"""

from __future__ import annotations

import argparse
import statistics
import sys
from collections.abc import Callable
from typing import Any

import numpy as np
from reservoirpy import ESN
from reservoirpy.mat_gen import bernoulli, normal
from reservoirpy.nodes import Reservoir, Ridge

import eigenecho as ee
from common import at_least, check, interleaved, machine, ratio, table, verdict
from eigenecho.interop.reservoirpy import DiagonalReservoirNode

EQUAL = 1e-8


def variants(N: int, connectivity: float) -> dict[str, Callable[[], Any]]:
    """Return a function that creates an untrained model, for each kind."""
    rates = np.random.default_rng(0).uniform(0.2, 1.0, N)
    shared = {
        "units": N, "sr": 0.9, "rc_connectivity": connectivity, "activation": "identity", "seed": 0,
    }  # fmt: skip

    def network(**options: Any) -> Callable[[], Any]:
        return lambda: ESN(**shared, ridge=1.0, **options)

    return {
        "Reservoir >> Ridge": lambda: Reservoir(**shared) >> Ridge(1.0),
        "ESN": network(),
        "leak": network(lr=0.3),
        "leak of each unit": network(lr=rates),
        "input bias": network(bias=bernoulli),
        "input to readout": network(input_to_readout=True),
        "feedback": network(feedback=True),
        "feedback, leak, bias, input": network(
            feedback=True, lr=0.3, bias=bernoulli, input_to_readout=True
        ),
        "dense W": lambda: ESN(**(shared | {"rc_connectivity": 1.0}), ridge=1.0),
    }


def series(T: int, D_in: int, D_out: int, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Return random inputs, and delayed inputs as targets."""
    u = np.random.default_rng(seed).uniform(-1, 1, (T, D_in))
    return u, np.stack([np.roll(u[:, k % D_in], 1 + k) for k in range(D_out)], axis=1)


def from_zero(model: Any, X: np.ndarray) -> np.ndarray:
    """Run a reservoirpy model from a zero state."""
    model.reset()
    return model.run(X)


def in_their_models(args: Any, X: np.ndarray, Y: np.ndarray) -> None:
    """Compare the states of our node with reservoirpy, and print the speedup."""
    shared = {"units": args.units, "sr": 0.9, "rc_connectivity": args.connectivity, "seed": 0}
    theirs = Reservoir(activation="identity", **shared)
    ours = DiagonalReservoirNode(W=normal, **shared)
    wanted, got = theirs.run(X), ours.run(X)
    got = ours.basis_.states_to_neuron(got)
    difference = float(np.abs(got - wanted).max() / np.abs(wanted).max())
    check("states of our node and of reservoirpy", difference, EQUAL)
    models = [node >> Ridge(1.0) for node in (theirs, ours)]
    for model in models:
        model.fit(X, Y)
    rows = []
    for name, calls in {
        "node.run(X)": [lambda node=node: node.run(X) for node in (theirs, ours)],
        "model.run(X)": [lambda model=model: model.run(X) for model in models],
        "model.fit(X, y)": [lambda model=model: model.fit(X, Y) for model in models],
    }.items():
        seconds = interleaved(dict(zip(("theirs", "ours"), calls, strict=True)), args.repeats)
        microseconds = [1e6 * statistics.median(s) / args.steps for s in seconds.values()]
        rows.append([name, difference, *microseconds, ratio(seconds["theirs"], seconds["ours"])])
    heads = ["in reservoirpy", "difference", "reservoirpy µs/step", "eigenecho µs/step", "speedup"]
    table(heads, rows)


def main() -> int:
    """Run the benchmark."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--units", type=int, default=1000)
    parser.add_argument("--train", type=int, default=2000, help="steps of the training series")
    parser.add_argument("--steps", type=int, default=5000, help="steps of the timed series")
    parser.add_argument("--inputs", type=int, default=1)
    parser.add_argument("--outputs", type=int, default=1)
    parser.add_argument("--connectivity", type=float, default=0.1)
    parser.add_argument("--repeats", type=int, default=5)
    parser.add_argument("--at-least", type=float, default=50.0, help="goal for every kind")
    args = parser.parse_args()

    print(machine("eigenecho", "reservoirpy", "numpy", "numba"))
    print(f"N = {args.units}, connectivity {args.connectivity}, {args.steps} steps, "
          f"{args.inputs} inputs, {args.outputs} outputs\n")  # fmt: skip
    u, y = series(args.train, args.inputs, args.outputs, 1)
    X, Y = series(args.steps, args.inputs, args.outputs, 2)
    rows, speedups = [], {}
    for name, make in variants(args.units, args.connectivity).items():
        model = make().fit(u, y, warmup=100)
        converted = ee.from_reservoirpy(model)
        wanted = from_zero(model, X)
        difference = float(np.abs(converted.predict(X) - wanted).max() / np.abs(wanted).max())
        check(f"outputs of {name}", difference, EQUAL)
        cases = {
            "theirs": lambda model=model: from_zero(model, X),
            "ours": lambda converted=converted: converted.predict(X),
        }
        seconds = interleaved(cases, args.repeats)
        speedups[name] = ratio(seconds["theirs"], seconds["ours"])
        microseconds = [1e6 * statistics.median(s) / args.steps for s in seconds.values()]
        form = converted.certificate.form
        how = converted.inference(args.steps)
        rows.append([name, form, how, difference, *microseconds, speedups[name]])
    heads = [
        "model",
        "form",
        "predict by",
        "difference",
        "reservoirpy µs/step",
        "eigenecho µs/step",
        "speedup",
    ]
    table(heads, rows)

    in_their_models(args, X, Y)
    least = min(speedups, key=lambda name: speedups[name])
    slowest = f"slowest model ({least}), with outputs that agree to {EQUAL:g}"
    goal = at_least(slowest, args.at_least, "times faster than reservoirpy")
    return verdict({goal: speedups[least]})


if __name__ == "__main__":
    sys.exit(main())
