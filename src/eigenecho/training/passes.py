"""Passes over the rows of a training problem, which solvers use wherever the rows are."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple, Protocol, Self

import numpy as np

from eigenecho.basis import Basis
from eigenecho.kernels import costs
from eigenecho.readout import Accumulator, Penalty, Statistic, Triangle
from eigenecho.reservoir import DrawnReservoir, Reservoir
from eigenecho.rows import Block, Fold
from eigenecho.scaling import OutputRange, Scaling
from eigenecho.training.settings import Settings
from eigenecho.types import Array


class PassResult(NamedTuple):
    """Statistics of training rows and of held-out blocks, and the last state of each series.

    Held-out blocks have orthogonal statistics, so that their errors are true residuals. ``ends``
    are the states after the last rows of the fold.
    """

    statistics: Any
    held_out: list[Triangle]
    ends: list[Array]


@dataclass(frozen=True, eq=False, kw_only=True)
class AbstractProblem(ABC):
    """Base class of training problems: a network, with passes over its rows for ``train``.

        argmin_w Σ ω(t) ‖y(t) − x(t) w‖² + α ‖L w‖²,   x(t) = [1, y(t−1), r(t)]

    The weights ω of the rows are 1 by default. Sums over residuals and targets are weighted too.

    ``fit_bias`` and ``output_to_readout`` are True if rows contain 1 and y(t−1), respectively.
    ``scalings`` convert inputs and outputs from the caller's units to those of the network.
    """

    reservoir: Reservoir
    penalty: Penalty
    fit_bias: bool = True
    output_to_readout: bool = False
    basis: Basis | None = None
    scalings: tuple[Scaling | None, Scaling | None] = (None, None)

    @classmethod
    def of(cls, settings: Settings, drawn: DrawnReservoir, D_out: int, **rows: Any) -> Self:
        """Return the problem of a drawn network. ``rows`` are the fields that the subclass adds."""
        return cls(
            reservoir=drawn.reservoir,
            penalty=settings.penalty_of(drawn, D_out),
            fit_bias=settings.fit_bias,
            output_to_readout=settings.output_to_readout,
            basis=drawn.basis,
            **rows,
        )

    @property
    @abstractmethod
    def D_out(self) -> int:
        """Number of targets."""

    @property
    @abstractmethod
    def lengths(self) -> list[int]:
        """Number of rows of each series."""

    @property
    @abstractmethod
    def has_gaps(self) -> bool:
        """True if targets may be missing, or if rows have weights, so that rows differ."""

    @property
    def starts_from_zero(self) -> bool:
        """True if no series continues from a state."""
        return True

    @property
    def output_range(self) -> OutputRange | None:
        """Range of the targets, or None for networks without features."""
        return None

    @property
    def head(self) -> int:
        """Number of columns before the states."""
        return int(self.fit_bias) + self.D_out * self.output_to_readout

    @property
    def size(self) -> int:
        """Number of columns N'."""
        return self.head + self.reservoir.columns

    @property
    def qr_flops(self) -> float:
        """Number of operations of a QR factorisation of all rows."""
        return 2.0 * sum(self.lengths) * self.size**2

    @property
    def is_small(self) -> bool:
        """True if a QR factorisation takes at most a few seconds."""
        return self.qr_flops <= costs.MAX_QR_FLOPS

    def everything(self, warmup: int) -> Block:
        """Return all rows after the warmup."""
        return [(warmup, length) for length in self.lengths]

    def check_range(self, *statistics: Statistic) -> None:
        """Raise if squares of the states overflow, because the readout would be zero."""
        if any(statistic.overflows for statistic in statistics):
            columns = "states" if self.reservoir.is_linear else "features"
            raise self.reservoir.overflowed(f"squares of the {columns}")

    @property
    @abstractmethod
    def in_double(self) -> Self:
        """Copy of the problem in double precision."""

    @property
    def parts(self) -> Sequence[tuple[Array, Self]]:
        """Columns and problem of each group of outputs that are missing in the same rows."""
        return [(np.arange(self.D_out), self)]

    @abstractmethod
    def rescale_outputs(self, scaling: Scaling) -> Self:
        """Return the problem with scaled targets; the caller's units do not change."""

    @abstractmethod
    def counts(self, block: Block) -> Array:
        """Return the number of observed targets of each output in a block, (D_out,)."""

    def effective_rows(self, block: Block, rows: int) -> float:
        """Return the sum of the weights of observed rows in a block; without weights, ``rows``."""
        return float(rows)

    @abstractmethod
    def squares(self, block: Block) -> Array:
        """Return ‖y_d‖² over a block, (D_out,), in float64; missing targets count as 0."""

    @abstractmethod
    def gather(
        self, kind: type[Accumulator], fold: Fold, *, less: Array | None = None
    ) -> PassResult:
        """Return statistics of the training rows and of each held-out block, in one pass.

        If ``less`` (N', D_out) is given, the predictions of these weights are subtracted from the
        training targets. Rows with a missing target are left out.
        """

    @abstractmethod
    def gather_gram(self, block: Block) -> PassResult:
        """Return XᵀX and XᵀY over a block from sums over time; only resonant modes need states."""

    @abstractmethod
    def with_weights(self, block: Block, w: Array) -> WeightResiduals:
        """Return weights (N', k) with their residuals over a block, which are computed lazily."""


class LinearSystem(Protocol):
    """Factorisation of A ≈ XᵀX + αM."""

    def solve(self, rhs: Array, /) -> Array:
        """Return A⁻¹ rhs for rhs (N', k)."""

    def pull(self, w: Array, /) -> Array:
        """Return the gradient αM w of the penalty."""


@dataclass(frozen=True, eq=False)
class WeightResiduals(ABC):
    """Weights w (N', k) with sums over their residuals E = Y − X w in a block of rows."""

    problem: AbstractProblem
    block: Block
    w: Array

    @property
    @abstractmethod
    def onto(self) -> Array:
        """Products XᵀE of rows and residuals, (N', k)."""

    @property
    @abstractmethod
    def scatter(self) -> Array:
        """Products EᵀE of the residuals, (k, k)."""

    @property
    @abstractmethod
    def squares(self) -> Array:
        """Sums of squares ‖e_d‖² of the residuals, (k,)."""

    @property
    @abstractmethod
    def size(self) -> Array:
        """Norms ‖X w‖ of the outputs, (k,)."""

    def gradient(self, system: LinearSystem) -> Array:
        """Return the gradient XᵀE − αM w."""
        return self.onto - system.pull(self.w)

    def moved(self, step: Array) -> Self:
        """Return the weights w + step with their residuals."""
        return replace(self, w=self.w + step)
