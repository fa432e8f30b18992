"""Statistics of rows, from which a readout is trained.

A statistic summarises rows X (rows, N') and targets Y (rows, D_out). Statistics can be merged, so
rows can be processed in parts, on any thread, machine or device, and the results combined in a
fixed order. ``Gram``, ``Triangle`` and ``Remainder`` absorb rows; ``Moments`` and ``Lags`` are
computed from whole series and become a ``Gram``. A readout is solved from a ``Gram`` or a
``Triangle``, which have the same methods.
"""

from __future__ import annotations

from typing import Any, NamedTuple, Protocol, Self

from eigenecho.arrays import namespace, to_host
from eigenecho.types import Array


class Accumulator(Protocol):
    """Statistic that absorbs rows. ``empty`` and ``merge`` define a monoid.

    Subclasses are dataclasses of arrays, which may be on a device, and the number of rows.
    """

    rows: int

    @classmethod
    def empty(cls, size: int, outputs: int, xp: Any = ..., /) -> Self:
        """Return an empty statistic, the neutral element of ``merge``."""

    @staticmethod
    def lanes(rows: int, size: int) -> int:
        """Return the number of statistics to gather in parallel, whatever the number of threads.

        The default is two, because NumPy releases the interpreter lock during matrix products.
        """
        return 2

    def absorb(self, X: Array, Y: Array, /) -> Self:
        """Return the statistic with rows X (rows, N'), Y (rows, D_out) added."""

    def merge(self, other: Self, /) -> Self:
        """Return the statistic of both sets of rows: of(A ∪ B) = of(A).merge(of(B)).

        By default, all fields are sums over rows and are added.
        """
        pairs = zip(vars(self).values(), vars(other).values(), strict=True)
        return type(self)(*(own + others for own, others in pairs))

    @property
    def on_host(self) -> Self:
        """Copy of the statistic with NumPy arrays."""
        return type(self)(*map(to_host, vars(self).values()))

    def where(self, like: Array) -> Self:
        """Return a copy of the statistic on the device of an array."""
        *arrays, rows = vars(self).values()
        parts = [*map(namespace(like).asarray, arrays), rows]
        return type(self)(*parts)

    def __reduce__(self) -> Any:
        # A pickle may be loaded on a machine without this device.
        return type(self), tuple(vars(self.on_host).values())


class Residuals(NamedTuple):
    """Weights w (N', D_out) with EᵀE (D_out, D_out) and XᵀE (N', D_out) of E = Y − X w."""

    weights: Array
    EtE: Array
    XtE: Array
