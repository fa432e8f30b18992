"""Modes as complex tensors: the Q layout taken apart and put together, and powers of λ."""

from __future__ import annotations

from typing import Any, NamedTuple

import torch

from eigenecho.arrays import at
from eigenecho.kernels.forms import DiagonalForm

Tensor = Any


class Modes(NamedTuple):
    """Eigenvalues λ (M,), complex, of which the first ``n`` are real."""

    values: Tensor
    n: int

    @classmethod
    def of(cls, form: DiagonalForm, like: Tensor) -> Modes:
        """The modes of a form, where and in the precision that ``like`` is."""
        real, re, im = (at(part, like) for part in form)
        pairs = torch.complex(re, im)
        return cls(torch.cat([torch.complex(real, torch.zeros_like(real)), pairs]), len(real))

    def apart(self, A: Tensor) -> Tensor:
        """Columns of the Q layout (…, N) as modes (…, M)."""
        real, re, im = A[..., : self.n], A[..., self.n :: 2], A[..., self.n + 1 :: 2]
        pairs = torch.complex(re.contiguous(), im.contiguous())
        return torch.cat([torch.complex(real, torch.zeros_like(real)), pairs], dim=-1)

    def write(self, z: Tensor, out: Tensor) -> None:
        """Modes (…, M) into columns of the Q layout (…, N)."""
        n = self.n
        out[..., :n] = z[..., :n].real
        out[..., n::2] = z[..., n:].real
        out[..., n + 1 :: 2] = z[..., n:].imag

    def powers(self, count: int) -> Tensor:
        """λ^k for k < count, (count, M), by doubling."""
        table, last = torch.ones_like(self.values)[None], self.values
        while len(table) < count:
            table = torch.cat([table, table * last])
            last = last * last
        return table[:count]


def weighed(weights: Tensor, modes: Modes) -> Tensor:
    """Weights (E, N) of the Q layout as c (E, M): r weightsᵀ = Re Σ z c."""
    return modes.apart(weights).conj()
