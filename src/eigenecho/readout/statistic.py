"""Statistics of rows: what a readout is trained from.

A statistic summarises rows X (rows, N') and targets Y (rows, D_out). Statistics merge, so rows can
be gathered in any parts, on any thread, machine or device, and put together in a fixed order.
``Gram``, ``Triangle`` and ``Remainder`` absorb rows; ``Moments`` and ``Lags`` are computed from
whole series and become a ``Gram``.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple, Protocol, Self

from eigenecho.types import Array

if TYPE_CHECKING:
    from eigenecho.readout.factorised import Factorisation
    from eigenecho.readout.gram import Gram
    from eigenecho.readout.likelihood import Likelihood
    from eigenecho.readout.penalty import Penalty
    from eigenecho.readout.triangle import Triangle


class Accumulator(Protocol):
    """A statistic that absorbs rows: with ``empty`` and ``merge``, a monoid."""

    @property
    def rows(self) -> int:
        """Number of rows."""

    @classmethod
    def empty(cls, size: int, outputs: int, xp: Any = ..., /) -> Self:
        """Return the statistic of no rows, the neutral element of ``merge``."""

    @staticmethod
    def lanes(rows: int, size: int) -> int:
        """Return how many statistics to gather side by side, whatever the number of threads."""

    def absorb(self, X: Array, Y: Array, /) -> Self:
        """Return the statistic with rows X (rows, N'), Y (rows, D_out) added."""

    def merge(self, other: Self, /) -> Self:
        """Return the statistic of both sets of rows: of(A ∪ B) = of(A).merge(of(B))."""


class Residuals(NamedTuple):
    """Weights w (N', D_out) with EᵀE (D_out, D_out) and XᵀE (N', D_out) of E = Y − X w."""

    weights: Array
    EtE: Array
    XtE: Array


class PassResult(NamedTuple):
    """Statistics of training rows and of held-out blocks, and a state for each series.

    Statistics of held-out blocks are orthogonal, so that errors on them are true residuals.
    ``ends`` are the states after the last rows of the fold.
    """

    statistics: Any
    held_out: list[Triangle]
    ends: list[Array]


class Statistic(Accumulator, Protocol):
    """A statistic that a readout is solved from."""

    is_exact: ClassVar[bool]
    """True if the statistic keeps all digits of the rows, so that residuals follow from it."""

    @property
    def size(self) -> int:
        """Number of columns N'."""

    @property
    def outputs(self) -> int:
        """Number of targets D_out."""

    @property
    def XtY(self) -> Array:
        """XᵀY (N', D_out)."""

    @property
    def overflows(self) -> bool:
        """True if squares of the rows are beyond the range of floating point."""

    @property
    def on_host(self) -> Self:
        """The statistic in NumPy arrays."""

    def check(self) -> None:
        """Raise if the parts, which may come from a file, do not fit each other."""

    def where(self, like: Array, /) -> Self:
        """Return the same statistic on the device of an array."""

    def gram(self) -> Gram:
        """Return normal-equation statistics of the same rows."""

    def factorise(self, penalty: Penalty, head: int | None = None) -> Factorisation:
        """Factorise once for many ridges, and for many scales of all columns past ``head``."""

    def solve(self, penalty: Penalty, ridge: float) -> Array:
        """Return argmin ‖Y − X w‖² + ridge ‖L w‖², (N', D_out)."""

    def likelihood(self, penalty: Penalty, squares: Array | None) -> Likelihood:
        """Return log p(Y) as a function of the ridge.

        ``squares`` are ‖y_d‖² (D_out,), which an exact statistic does not need.
        """

    def penalised(self, penalty: Penalty, ridge: float, weights: Array) -> tuple[Array, Array]:
        """Return R and Z with RᵀR = XᵀX + ridge M and R w = Z, for weights w solved from it."""

    def scatter(self, weights: Array, known: Residuals | None = None) -> Array:
        """Return EᵀE (D_out, D_out) of the residuals of ``weights`` on the same rows.

        An exact statistic needs nothing else. Sums need the residuals of other weights.
        """

    def root(self) -> Array:
        """Return rows R with RᵀR = XᵀX."""

    def magnitude(self, head: int) -> float:
        """Return the size of the columns past ``head`` over all rows, within a factor of N'."""
