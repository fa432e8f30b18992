"""Training: one pass over the states, which are never stored for a whole series."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from eigenecho.basis import Basis
from eigenecho.errors import bad_argument, overflowed, unknown_name
from eigenecho.model.model import Array, LinearModel, State
from eigenecho.model.scaling import Scaling
from eigenecho.readout import Gram, Penalty, Triangle, best_ridge, solve
from eigenecho.readout.solve import EPS
from eigenecho.reservoir import Reservoir
from eigenecho.series import shifted

SOLVERS = ("auto", "gram", "qr")

HELD_OUT = 0.2
"""Share of each series, at its end, on which several ridges are compared."""

QR_FLOPS = 4e11
"""Up to this many operations (seconds) ``auto`` takes the orthogonal solver outright."""

DIGITS = 1e-6
"""Relative error of the weights from which ``auto`` leaves the normal equations."""

CHUNK_BYTES = 1 << 24


@dataclass(frozen=True)
class Options:
    """How a readout is trained. ``ridge`` holds one value or several to choose from."""

    ridge: tuple[float, ...] = (1e-8,)
    solver: str = "auto"
    warmup: int = 0
    fit_bias: bool = True
    penalize_bias: bool = True
    output_to_readout: bool = False

    def __post_init__(self) -> None:
        if self.solver not in SOLVERS:
            raise unknown_name("solver", self.solver, SOLVERS)
        if not self.ridge or any(not (np.isfinite(a) and a >= 0) for a in self.ridge):
            raise bad_argument("ridge", self.ridge, "a finite number ≥ 0, or a list of them")
        if isinstance(self.warmup, bool) or not isinstance(self.warmup, (int, np.integer)):
            raise bad_argument("warmup", self.warmup, "a number of steps, an int ≥ 0")
        if self.warmup < 0:
            raise bad_argument("warmup", self.warmup, "a number of steps, an int ≥ 0")


@dataclass(frozen=True)
class Trained:
    """A model, the solver and ridge that made it, and where its last series ended."""

    model: LinearModel
    solver: str
    ridge: float
    final_state: State


def train(
    reservoir: Reservoir,
    inputs: Sequence[Array],
    outputs: Sequence[Array],
    options: Options,
    *,
    basis: Basis | None = None,
    penalise_neurons: bool = True,
    standardize: bool = False,
) -> Trained:
    """Fit W_out on series of inputs (T_i, D_in) and outputs (T_i, D_out).

    Feedback and y(t−1) in the readout are driven by the true outputs.
    """
    _check_lengths(inputs, outputs, options.warmup)
    D = outputs[0].shape[1]
    u_scaling = Scaling.of(inputs) if standardize and inputs[0].shape[1] else None
    y_scaling = Scaling.of(outputs) if standardize else None
    own = [u if u_scaling is None else u_scaling.forward(u) for u in inputs]
    targets = [y if y_scaling is None else y_scaling.forward(y) for y in outputs]
    data = _Data(reservoir, own, targets, options)

    size = int(options.fit_bias) + D * options.output_to_readout + reservoir.units
    free = int(options.fit_bias and not options.penalize_bias)
    penalty = Penalty(size, free, basis if penalise_neurons else None)
    solver = options.solver
    if solver == "auto":
        flops = 2.0 * sum(map(len, inputs)) * size**2
        solver = "qr" if flops <= QR_FLOPS else "gram"
    weights, ridge, error = _solve(data, size, penalty, solver)
    if options.solver == "auto" and solver == "gram" and error > DIGITS:
        solver = "qr"
        weights, ridge, _ = _solve(data, size, penalty, solver)

    model = LinearModel(
        reservoir,
        np.ascontiguousarray(weights, reservoir.dtype),
        options.fit_bias,
        options.output_to_readout,
        basis,
        u_scaling,
        y_scaling,
    )
    return Trained(model, solver, ridge, State(data.last_state, outputs[-1][-1].copy()))


def _solve(data: _Data, size: int, penalty: Penalty, solver: str) -> tuple[Array, float, float]:
    """Weights, the ridge taken, and a bound on the relative error of normal equations."""
    several = len(data.options.ridge) > 1
    total: Any
    total, held_out = data.statistics(Gram if solver == "gram" else Triangle, size, several)
    ridge = data.options.ridge[0]
    if several:
        ridge = best_ridge(total, held_out, penalty, data.options.ridge)
        total = total.merge(held_out.gram() if solver == "gram" else held_out)
    solution = solve(total, penalty, ridge)
    return solution.weights, ridge, EPS / max(solution.rcond, EPS)


class _Data:
    """The training rows [1, y(t−1), r(t)] and y(t), made chunk by chunk as often as asked."""

    def __init__(
        self,
        reservoir: Reservoir,
        inputs: Sequence[Array],
        outputs: Sequence[Array],
        options: Options,
    ) -> None:
        self.reservoir = reservoir
        self.inputs = inputs
        self.outputs = outputs
        self.options = options
        self.last_state = reservoir.zero_state()

    def statistics(
        self, kind: type[Gram] | type[Triangle], size: int, split: bool
    ) -> tuple[Gram | Triangle, Triangle]:
        """Statistics of the training rows and, apart, of those held out where ``split``."""
        D = self.outputs[0].shape[1]
        total, held_out = kind.empty(size, D), Triangle.empty(size, D)
        for u, y in zip(self.inputs, self.outputs, strict=True):
            warmup = self.options.warmup
            first_held_out = warmup + round((1 - HELD_OUT) * (len(u) - warmup)) if split else len(u)
            for start, X in self._chunks(u, y, size):
                kept = max(warmup - start, 0)
                cut = min(max(first_held_out - start, kept), len(X))
                Y = y[start : start + len(X)]
                if cut > kept:
                    total = total.absorb(X[kept:cut], Y[kept:cut])
                if len(X) > cut:
                    held_out = held_out.absorb(X[cut:], Y[cut:])
        if split and not (total.rows and held_out.rows):
            raise bad_argument(
                "ridge",
                self.options.ridge,
                "one value: the series are too short to hold out rows and choose among several",
            )
        return total, held_out

    def _chunks(self, u: Array, y: Array, size: int) -> Iterator[tuple[int, Array]]:
        reservoir = self.reservoir
        needs_previous = reservoir.W_fb is not None or self.options.output_to_readout
        previous = shifted(y) if needs_previous else None
        drive = reservoir.drive(u, previous)
        rows = int(np.clip(CHUNK_BYTES // (8 * size), 64, max(len(u), 1)))
        states = np.empty((rows, reservoir.units), reservoir.dtype)
        X = np.empty((rows, size))
        state = reservoir.zero_state()
        head = size - reservoir.units
        X[:, : int(self.options.fit_bias)] = 1.0
        for start in range(0, len(u), rows):
            n = min(rows, len(u) - start)
            reservoir.scan(drive[start : start + n], state, states[:n])
            if not np.all(np.isfinite(state)):
                bad = int(np.argmin(np.isfinite(states[:n]).all(axis=1)))
                raise overflowed("states", reservoir.spectrum.radius, start + bad)
            X[:n, head:] = states[:n]
            if self.options.output_to_readout:
                assert previous is not None
                X[:n, int(self.options.fit_bias) : head] = previous[start : start + n]
            yield start, X[:n]
        self.last_state = state


def _check_lengths(inputs: Sequence[Array], outputs: Sequence[Array], warmup: int) -> None:
    if len(inputs) != len(outputs):
        raise bad_argument("y", f"<{len(outputs)} series>", f"{len(inputs)} series, as X has")
    for i, (u, y) in enumerate(zip(inputs, outputs, strict=True)):
        which = f" of series {i}" if len(inputs) > 1 else ""
        if len(u) != len(y):
            raise ValueError(
                f"X and y have inconsistent lengths{which}: X has {len(u)} rows and y has "
                f"{len(y)}. Each row of y is the target at the same row of X."
            )
        if warmup >= len(u):
            raise bad_argument(
                "warmup", warmup, f"fewer steps than the {len(u)} rows{which}",
                "Lower warmup or drop the short series.",
            )  # fmt: skip
