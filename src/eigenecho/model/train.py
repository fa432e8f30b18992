"""Training: one pass over the states, which are never stored for a whole series."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np

from eigenecho.basis import Basis
from eigenecho.blas import one_blas_thread
from eigenecho.errors import bad_argument, check_flag, overflowed, unknown_name
from eigenecho.model import structured
from eigenecho.model.evidence import Evidence
from eigenecho.model.model import Array, LinearModel, State
from eigenecho.model.refine import refine, residuals, scatter
from eigenecho.model.rows import Block, Fold, Rows
from eigenecho.model.scaling import Scaling
from eigenecho.readout import Gram, Normal, Penalty, Remainder, Triangle, best_ridge, lowest, solve
from eigenecho.reservoir import Reservoir

SOLVERS = ("auto", "gram", "qr", "refined", "structured")

HELD_OUT = 0.2
"""Share of each series, at its end, on which several ridges are compared."""

QUICK_FLOPS = 4e9
"""Up to this many operations (a fraction of a second) the orthogonal solver is taken outright."""

QR_FLOPS = 4e11
"""Up to this many (seconds) it is preferred to normal equations that cost as many."""


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
    for solver in _attempts(rows, options.solver):
        used = rows if solver in ("gram", "qr") else rows.in_double()
        evidence = _solve(used, options, penalty, solver)
        if evidence is not None:
            break
    assert evidence is not None  # the last solver that is tried always has an answer

    model = LinearModel(
        reservoir,
        np.ascontiguousarray(evidence.weights, reservoir.dtype),
        options.fit_bias,
        options.output_to_readout,
        basis,
        u_scaling,
        y_scaling,
    )
    final = State(used.last_state.astype(reservoir.dtype), outputs[-1][-1].copy())
    return Trained(model, solver, evidence.ridge, final, evidence)


def cheapest_accurate(rows: Rows) -> str:
    """The orthogonal solver where it takes seconds, else normal equations."""
    return "qr" if _flops(rows) <= QR_FLOPS else "gram"


def _attempts(rows: Rows, solver: str) -> tuple[str, ...]:
    """The solvers to try in turn; a refined one gives up where it cannot reach all digits."""
    if solver in ("gram", "qr"):
        return (solver,)
    if solver == "refined":
        return ("refined", "qr")
    if (solver == "structured" or _flops(rows) > QUICK_FLOPS) and structured.applies(rows):
        return ("structured", "qr")
    return ("qr",) if cheapest_accurate(rows) == "qr" else ("refined", "qr")


def _flops(rows: Rows) -> float:
    return 2.0 * sum(map(len, rows.inputs)) * rows.size**2


def _solve(rows: Rows, options: Options, penalty: Penalty, solver: str) -> Evidence | None:
    """Weights and what led to them; None where a refined solver does not get there."""
    ends = [len(u) for u in rows.inputs]
    everything: Block = [(options.warmup, n) for n in ends]
    if len(options.ridge) == 1:
        last: Block | None = None
        train = everything
    else:
        cuts = [n - round(HELD_OUT * (n - options.warmup)) for n in ends]
        train, last = [(options.warmup, cut) for cut in cuts], list(zip(cuts, ends, strict=True))
        if not all(sum(stop - start for start, stop in block) for block in (train, last)):
            raise bad_argument(
                "ridge",
                options.ridge,
                "one value: the series are too short to hold out rows and choose among several",
            )
    if solver in ("gram", "qr"):
        return _solve_once(rows, options, penalty, solver, train, last)
    gather = structured.gram if solver == "structured" else _chunked_gram
    return _solve_refined(rows, options, penalty, gather, train, last)


def _solve_once(
    rows: Rows, options: Options, penalty: Penalty, solver: str, train: Block, last: Block | None
) -> Evidence:
    kind = Gram if solver == "gram" else Triangle
    total, held_out = rows.statistics(kind, Fold(train, () if last is None else (last,)))
    for statistics in (total, *held_out):
        check_range(statistics, rows.reservoir)
    ridge = options.ridge[0]
    if last is not None:
        ridge = best_ridge(total, held_out[0], penalty, options.ridge)
        total = total.merge(held_out[0].gram() if solver == "gram" else held_out[0])
    weights = solve(total, penalty, ridge)
    if solver == "qr":
        return _evidence(rows, _all(train, last), total, penalty, ridge, weights)
    weights, fold = np.ascontiguousarray(weights), Fold(_all(train, last))
    left, _ = rows.in_double().statistics(Remainder, fold, less=weights)
    return Evidence(total, replace(penalty), ridge, weights, left.EtE, left.XtE)


def _solve_refined(
    rows: Rows,
    options: Options,
    penalty: Penalty,
    gather: Callable[[Rows, Block], Gram],
    train: Block,
    last: Block | None,
) -> Evidence | None:
    def weights(block: Block, statistics: Gram, ridge: float) -> Array | None:
        system = Normal.of(statistics, penalty, ridge)
        if system is None or (ridge == 0 and not system.is_regular):
            return None
        return refine(rows, block, system, statistics.XtY, penalty, ridge)

    total = gather(rows, train)
    check_range(total, rows.reservoir)
    ridge = options.ridge[0]
    if last is not None:
        size = sum(
            np.sum(y[a:b] ** 2, axis=0) for y, (a, b) in zip(rows.outputs, last, strict=True)
        )
        errors = []
        for candidate in options.ridge:
            w = weights(train, total, candidate)
            if w is None:
                return None
            left = sum(np.sum(e**2, axis=0) for e in residuals(rows, last, w))
            errors.append(np.mean(left / np.where(size > 0, size, 1.0)))
        ridge = options.ridge[lowest(errors)]
        total = total.merge(gather(rows, last))
    w = weights(_all(train, last), total, ridge)
    return None if w is None else _evidence(rows, _all(train, last), total, penalty, ridge, w)


def _all(train: Block, last: Block | None) -> Block:
    if last is None:
        return train
    return [(start, stop) for (start, _), (_, stop) in zip(train, last, strict=True)]


def _evidence(
    rows: Rows,
    block: Block,
    statistics: Gram | Triangle,
    penalty: Penalty,
    ridge: float,
    weights: Array,
) -> Evidence:
    weights = np.ascontiguousarray(weights)
    # A new penalty, without the matrices that this one has built.
    return Evidence(
        statistics, replace(penalty), ridge, weights, scatter(rows.in_double(), block, weights)
    )


def _chunked_gram(rows: Rows, block: Block) -> Gram:
    return rows.statistics(Gram, Fold(block))[0]


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
