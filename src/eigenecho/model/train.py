"""Training: one pass over the states, which are never stored for a whole series."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from eigenecho.basis import Basis
from eigenecho.blas import one_blas_thread
from eigenecho.errors import bad_argument, check_flag, overflowed, unknown_name
from eigenecho.model.evidence import Evidence
from eigenecho.model.model import Array, LinearModel, State
from eigenecho.model.rows import Fold, Rows
from eigenecho.model.scaling import Scaling
from eigenecho.readout import Gram, Penalty, Triangle, best_ridge, solve
from eigenecho.readout.solve import EPS
from eigenecho.reservoir import Reservoir

SOLVERS = ("auto", "gram", "qr")

HELD_OUT = 0.2
"""Share of each series, at its end, on which several ridges are compared."""

QR_FLOPS = 4e11
"""Up to this many operations (seconds) ``auto`` takes the orthogonal solver outright."""

DIGITS = 1e-6
"""Relative error of the weights from which ``auto`` leaves the normal equations."""


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
        for name in ("fit_bias", "penalize_bias", "output_to_readout"):
            check_flag(getattr(self, name), name)
        if self.solver not in SOLVERS:
            raise unknown_name("solver", self.solver, SOLVERS)
        if not self.ridge or any(not (np.isfinite(a) and a >= 0) for a in self.ridge):
            shown = self.ridge[0] if len(self.ridge) == 1 else self.ridge
            raise bad_argument("ridge", shown, "a finite number ≥ 0, or a list of them")
        if isinstance(self.warmup, bool) or not isinstance(self.warmup, (int, np.integer)):
            raise bad_argument("warmup", self.warmup, "a number of steps, an int ≥ 0")
        if self.warmup < 0:
            raise bad_argument("warmup", self.warmup, "a number of steps, an int ≥ 0")


@dataclass(frozen=True)
class Trained:
    """A model, the solver and ridge that made it, where its last series ended, and the evidence."""

    model: LinearModel
    solver: str
    ridge: float
    final_state: State
    evidence: Evidence


@one_blas_thread()
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
    check_lengths(inputs, outputs, options.warmup)
    u_scaling = Scaling.of(inputs) if standardize and inputs[0].shape[1] else None
    y_scaling = Scaling.of(outputs) if standardize else None
    own = [u if u_scaling is None else u_scaling.forward(u) for u in inputs]
    targets = [y if y_scaling is None else y_scaling.forward(y) for y in outputs]
    rows = Rows(reservoir, own, targets, options.fit_bias, options.output_to_readout)

    free = int(options.fit_bias and not options.penalize_bias)
    penalty = Penalty(rows.size, free, basis if penalise_neurons else None)
    solver = cheapest_accurate(rows) if options.solver == "auto" else options.solver
    evidence, error = _solve(rows, options, penalty, solver)
    if options.solver == "auto" and solver == "gram" and error > DIGITS:
        solver = "qr"
        evidence, _ = _solve(rows, options, penalty, solver)

    model = LinearModel(
        reservoir,
        np.ascontiguousarray(evidence.weights, reservoir.dtype),
        options.fit_bias,
        options.output_to_readout,
        basis,
        u_scaling,
        y_scaling,
    )
    final_state = State(rows.last_state, outputs[-1][-1].copy())
    return Trained(model, solver, evidence.ridge, final_state, evidence)


def cheapest_accurate(rows: Rows) -> str:
    """The orthogonal solver where it takes seconds, else normal equations."""
    flops = 2.0 * sum(map(len, rows.inputs)) * rows.size**2
    return "qr" if flops <= QR_FLOPS else "gram"


def _solve(rows: Rows, options: Options, penalty: Penalty, solver: str) -> tuple[Evidence, float]:
    """Weights, what led to them, and a bound on the relative error of normal equations."""
    several = len(options.ridge) > 1
    ends = [len(u) for u in rows.inputs]
    cuts = [n - round(HELD_OUT * (n - options.warmup)) for n in ends] if several else ends
    train = [(options.warmup, cut) for cut in cuts]
    fold = Fold(train, (list(zip(cuts, ends, strict=True)),) if several else ())
    total, held_out = rows.statistics(Gram if solver == "gram" else Triangle, fold)
    for statistics in (total, *held_out):
        check_range(statistics, rows.reservoir)
    ridge = options.ridge[0]
    if several:
        last = held_out[0]
        if not (total.rows and last.rows):
            raise bad_argument(
                "ridge",
                options.ridge,
                "one value: the series are too short to hold out rows and choose among several",
            )
        ridge = best_ridge(total, last, penalty, options.ridge)
        total = total.merge(last.gram() if solver == "gram" else last)
    solution = solve(total, penalty, ridge)
    # A new penalty, without the matrices that this one has built.
    weights = np.ascontiguousarray(solution.weights)
    evidence = Evidence(total, replace(penalty), ridge, weights)
    return evidence, EPS / max(solution.rcond, EPS)


def check_range(statistics: Gram | Triangle, reservoir: Reservoir) -> None:
    """Squares of the states that overflow would end in a readout of zeros."""
    if isinstance(statistics, Gram):
        fits = np.abs(statistics.XtX).max() < 1e300
    else:
        fits = np.abs(statistics.R).max() < 1e150
    if not fits:
        raise overflowed("squares of the states", reservoir.spectrum.radius)


def check_lengths(inputs: Sequence[Array], outputs: Sequence[Array], warmup: int) -> None:
    """Inputs and outputs go together, and every series outlasts the warmup."""
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
