"""What is to be trained: a network and series, as one value that every way of training takes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from functools import cached_property
from typing import Any

import numpy as np

from eigenecho.arrays import namespace
from eigenecho.basis import Basis
from eigenecho.checks import check_count, check_flag, check_known
from eigenecho.errors import Shown, bad_argument
from eigenecho.kernels import costs
from eigenecho.readout import Penalty
from eigenecho.reservoir import Cache, Drawn, Recipe, Reservoir, draw
from eigenecho.scaling import Scaling
from eigenecho.series import shifted
from eigenecho.tensors import to_host
from eigenecho.types import Array, Seed

SOLVERS = ("auto", "gram", "qr", "refined", "structured")
PENALTIES = ("neuron", "identity")
MISSING = ("error", "skip")

RULES = ("auto", "blocks")
"""Ridges that the training rows choose: by marginal likelihood, or by blocks left out."""

HELD_OUT = 0.2
"""Share of each series, at its end, on which several ridges are compared."""

Block = Sequence[tuple[int, int]]
"""Rows (start, stop) of each series."""


@dataclass(frozen=True)
class Fold:
    """Rows to train on and blocks of rows held out; others are run through and left out."""

    train: Block
    held_out: tuple[Block, ...] = ()


@dataclass(frozen=True)
class Settings:
    """How a network is drawn and its readout trained: the parameters of ``LinearESN``, checked.

    ``ridge`` holds one value or several to choose from, or is one of ``RULES``.
    """

    recipe: Recipe = field(default_factory=Recipe)
    feedback: bool = False
    standardize: bool = False
    penalty: str = "neuron"
    ridge: Any = (1e-8,)
    solver: str = "auto"
    warmup: int = 0
    fit_bias: bool = True
    penalize_bias: bool = True
    output_to_readout: bool = False
    missing: str = "error"

    def __post_init__(self) -> None:
        for name in ("feedback", "standardize", "fit_bias", "penalize_bias", "output_to_readout"):
            check_flag(getattr(self, name), name)
        check_known(self.penalty, "penalty", PENALTIES)
        check_known(self.solver, "solver", SOLVERS)
        check_known(self.missing, "missing", MISSING)
        check_count(self.warmup, "warmup", "a number of steps", 0)
        if not isinstance(self.ridge, str) or self.ridge not in RULES:
            object.__setattr__(self, "ridge", _numbers(self.ridge))

    @property
    def compares(self) -> bool:
        """Whether several ridges are given, to choose from by rows held out."""
        return not isinstance(self.ridge, str) and len(self.ridge) > 1

    @classmethod
    def of(cls, params: Mapping[str, Any]) -> Settings:
        """The settings that the parameters of an estimator name."""
        recipe = {name: params[name] for name in RECIPE_FIELDS if name in params}
        # The identity penalises what is at work: no eigenvectors are needed to draw it.
        recipe["eigenvectors"] = params.get("penalty", "neuron") == "neuron"
        rest = {name: params[name] for name in OWN_FIELDS if name in params}
        return cls(Recipe(**recipe), **rest)

    def draw(self, D_in: int, D_out: int, seed: Seed, cache: Cache | None = None) -> Drawn:
        """A reservoir for that many inputs and outputs."""
        return draw(self.recipe, D_in, D_out if self.feedback else 0, seed, cache)

    def penalty_of(self, drawn: Drawn, D_out: int) -> Penalty:
        """What the ridge penalises in a readout with that many outputs."""
        size = self.fit_bias + self.output_to_readout * D_out + drawn.reservoir.units
        free = int(self.fit_bias and not self.penalize_bias)
        return Penalty(size, free, drawn.basis if self.penalty == "neuron" else None)


RECIPE_FIELDS = tuple(one.name for one in fields(Recipe))
OWN_FIELDS = tuple(one.name for one in fields(Settings) if one.name != "recipe")
"""Names of parameters that ``Settings.of`` reads; a search calls it for many combinations."""


def _numbers(ridge: Any) -> tuple[float, ...]:
    """One ridge or several, as numbers."""
    given = np.atleast_1d(ridge)
    fits = given.dtype.kind in "fiu" and given.ndim == 1 and given.size > 0
    if not fits or not np.all(np.isfinite(given) & (given >= 0)):
        shown = ridge[0] if isinstance(ridge, tuple) and len(ridge) == 1 else ridge
        wanted = "a finite number ≥ 0, a list of them, 'auto' or 'blocks'"
        raise bad_argument("ridge", shown, wanted)
    return tuple(map(float, given))


@dataclass(frozen=True, eq=False)
class Problem:
    """Rows x(t) = [1, y(t−1), r(t)] with targets y(t), and the penalty on their weights.

        argmin_w Σ ‖y(t) − x(t) w‖² + α ‖L w‖²

    Rows are made anew as often as they are asked for, and never kept for a whole series.
    ``fit_bias`` and ``output_to_readout`` say whether they have the first two parts.

    ``inputs`` (T_i, D_in) and ``outputs`` (T_i, D_out) are in the network's own units, to which
    ``scalings`` of both lead from the caller's. Feedback and y(t−1) are driven by the true outputs.
    ``starts`` holds an (r, y) that each series goes on from, or None for zero. ``observed`` says
    which targets (T_i, D_out) are there, by default all: those that are missing are 0 in
    ``outputs``, and nothing is trained on them.
    """

    reservoir: Reservoir
    inputs: Sequence[Array]
    outputs: Sequence[Array]
    penalty: Penalty
    fit_bias: bool = True
    output_to_readout: bool = False
    basis: Basis | None = None
    scalings: tuple[Scaling | None, Scaling | None] = (None, None)
    starts: Sequence[tuple[Array, Array] | None] | None = None
    observed: Sequence[Array] | None = None

    @property
    def D_out(self) -> int:
        """The number of targets."""
        return self.outputs[0].shape[1]

    @property
    def head(self) -> int:
        """The number of columns before the states."""
        return int(self.fit_bias) + self.D_out * self.output_to_readout

    @property
    def size(self) -> int:
        """N', the number of columns."""
        return self.head + self.reservoir.units

    def flops(self, rows: int | None = None) -> float:
        """Operations of an orthogonal factorisation of so many rows, by default of all."""
        return 2.0 * (sum(map(len, self.inputs)) if rows is None else rows) * self.size**2

    @property
    def is_small(self) -> bool:
        """Whether an orthogonal factorisation takes seconds at most."""
        return self.flops() <= costs.QR_FLOPS

    @property
    def starts_from_zero(self) -> bool:
        """Whether no series goes on from a state."""
        return not any(start is not None for start in self.starts or ())

    @cached_property
    def in_double(self) -> Problem:
        """The same rows in double precision."""
        if self.reservoir.dtype == np.float64:
            return self
        return replace(
            self,
            reservoir=self.reservoir.in_double(),
            inputs=[namespace(u).asarray(u, np.float64) for u in self.inputs],
            outputs=[namespace(y).asarray(y, np.float64) for y in self.outputs],
        )

    def everything(self, warmup: int) -> Block:
        """All rows after the warmup."""
        return [(warmup, len(u)) for u in self.inputs]

    def counts(self, block: Block) -> Array:
        """How many targets of each output are there in a block, (D_out,)."""
        if self.observed is None:
            return np.full(self.D_out, sum(stop - start for start, stop in block))
        each = zip(self.observed, block, strict=True)
        return np.sum([there[start:stop].sum(axis=0) for there, (start, stop) in each], axis=0)

    @cached_property
    def parts(self) -> list[tuple[Array, Problem]]:
        """Outputs that are missing at the same rows: their columns, and the problem they are."""
        groups: dict[bytes, list[int]] = {}
        for column in range(self.D_out):
            gaps = [there[:, column].tobytes() for there in self.observed or ()]
            groups.setdefault(b"".join(gaps), []).append(column)
        if len(groups) == 1:
            return [(np.arange(self.D_out), self)]

        def only(arrays: Sequence[Array], columns: list[int]) -> list[Array]:
            return [namespace(array).ascontiguousarray(array[:, columns]) for array in arrays]

        return [
            (
                np.array(columns),
                replace(
                    self,
                    outputs=only(self.outputs, columns),
                    observed=only(self.observed or (), columns),
                    scalings=(self.scalings[0], None),
                ),
            )
            for columns in groups.values()
        ]

    def targets(self, block: Block) -> list[Array]:
        """The outputs over a block, (rows, D_out) for each series."""
        return [y[start:stop] for y, (start, stop) in zip(self.outputs, block, strict=True)]

    def columns(self, series: int) -> tuple[Array, Array]:
        """What drives the reservoir, (T, D), and the columns before the states, (T, head)."""
        u, y = self.inputs[series], self.outputs[series]
        previous, xp = None, namespace(y)
        if self.reservoir.W_fb is not None or self.output_to_readout:
            start = self.starts[series] if self.starts else None
            previous = shifted(y, 0.0 if start is None else xp.asarray(start[1]))
        head = xp.empty((len(y), self.head))
        head[:, : int(self.fit_bias)] = 1.0
        if self.output_to_readout:
            head[:, int(self.fit_bias) :] = previous
        return self.reservoir.drive(u, previous), head

    def start(self, series: int) -> Array:
        """The state before the first row, as a copy to move on."""
        start = self.starts[series] if self.starts else None
        if start is None:
            return self.reservoir.zero_state(self.inputs[series])
        return namespace(self.inputs[series]).array(start[0], self.reservoir.dtype)


def pose(
    settings: Settings,
    drawn: Drawn,
    inputs: Sequence[Array],
    outputs: Sequence[Array],
    until: Sequence[int] | None = None,
) -> Problem:
    """The problem of training a drawn network on series in the caller's units.

    Of ``standardize`` the scaling is that of the first ``until`` rows of each series, by default
    of all.
    """
    check_lengths(inputs, outputs, settings.warmup)
    u_scaling = y_scaling = None
    if settings.standardize:
        known = [len(u) for u in inputs] if until is None else until
        if inputs[0].shape[1]:
            u_scaling = Scaling.of([u[:n] for u, n in zip(inputs, known, strict=True)])
            inputs = [u_scaling.forward(u) for u in inputs]
        y_scaling = Scaling.of([y[:n] for y, n in zip(outputs, known, strict=True)])
        outputs = [y_scaling.forward(y) for y in outputs]
    observed = None
    if settings.missing == "skip":
        outputs, observed = filled(outputs)
    return Problem(
        drawn.reservoir,
        inputs,
        outputs,
        settings.penalty_of(drawn, outputs[0].shape[1]),
        settings.fit_bias,
        settings.output_to_readout,
        drawn.basis,
        (u_scaling, y_scaling),
        observed=observed,
    )


def filled(outputs: Sequence[Array]) -> tuple[Sequence[Array], list[Array] | None]:
    """Outputs with 0 for NaN, and which of them are there; None where nothing is missing.

    Which are there is an array of NumPy's, wherever the outputs are.
    """
    missing = [namespace(y).isnan(y) for y in outputs]
    if not any(bool(gaps.any()) for gaps in missing):
        return outputs, None
    whole = [namespace(y).array(y) for y in outputs]
    for y, gaps in zip(whole, missing, strict=True):
        y[gaps] = 0.0
    return whole, [~to_host(gaps) for gaps in missing]


def to_choose_by(problem: Problem, settings: Settings) -> Fold:
    """All rows after the warmup, those at the end of each series held out to compare ridges on."""
    everything = problem.everything(settings.warmup)
    cuts = [stop - round(HELD_OUT * (stop - start)) for start, stop in everything]
    train = [(start, cut) for (start, _), cut in zip(everything, cuts, strict=True)]
    last = [(cut, stop) for (_, stop), cut in zip(everything, cuts, strict=True)]
    if not all(problem.counts(block).all() for block in (train, last)):
        wanted = "one value: the series are too short to hold out rows and choose among several"
        raise bad_argument("ridge", settings.ridge, wanted)
    return Fold(train, (last,))


def check_lengths(
    inputs: Sequence[Array], outputs: Sequence[Array], warmup: int, use: str = ""
) -> None:
    """Inputs and outputs go together, and every series outlasts the warmup before its ``use``."""
    if len(inputs) != len(outputs):
        raise bad_argument("y", Shown(f"{len(outputs)} series"), f"{len(inputs)} series, as X has")
    for i, (u, y) in enumerate(zip(inputs, outputs, strict=True)):
        which = f" of series {i}" if len(inputs) > 1 else ""
        if len(u) != len(y):
            raise ValueError(
                f"X and y have inconsistent lengths{which}: X has {len(u)} rows and y has "
                f"{len(y)}. Each row of y is the target at the same row of X."
            )
        if warmup >= len(u):
            remedy = "Lower warmup or drop the short series."
            if len(u) < u.shape[1]:
                remedy = "A series laid along the columns is X.T; else lower warmup."
            raise bad_argument(
                "warmup", warmup, f"fewer steps than the {len(u)} rows{use}{which}", remedy
            )
