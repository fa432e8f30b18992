"""Modes as complex tensors: the Q layout taken apart and put together, and powers of λ."""

from __future__ import annotations

from typing import Any, NamedTuple

import torch

from eigenecho.arrays import at, kept
from eigenecho.kernels.forms import DiagonalForm

Tensor = Any

TABLE = 1 << 22
"""Powers that are kept, at most: 64 MiB of them."""


class Modes(NamedTuple):
    """Eigenvalues λ (M,), complex, of which the first ``n`` are real."""

    values: Tensor
    n: int
    form: DiagonalForm

    @classmethod
    def of(cls, form: DiagonalForm, like: Tensor) -> Modes:
        """The modes of a form, where and in the precision that ``like`` is."""

        def make() -> Tensor:
            real, re, im = (at(part, like) for part in form)
            return torch.cat([torch.complex(real, torch.zeros_like(real)), torch.complex(re, im)])

        values = kept([form.re], ("modes", str(like.device), like.dtype), make)
        return cls(values, len(form.real), form)

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
        """λ^k for k < count, (count, M), by doubling; a table of moderate size is kept."""

        def make() -> Tensor:
            table, last = torch.ones_like(self.values)[None], self.values
            while len(table) < count:
                table = torch.cat([table, table * last])
                last = last * last
            return table[:count].contiguous()

        if count * len(self.values) > TABLE:
            return make()
        key = "powers", count, str(self.values.device), self.values.dtype
        return kept([self.form.re], key, make)

    def columns(self) -> tuple[Tensor, Tensor]:
        """The factors a and s of each column of the Q layout, as ``fused`` has them, (N,) each."""
        real, pairs = self.values[: self.n].real, self.values[self.n :]
        a = torch.cat([real, pairs.real.repeat_interleave(2)])
        s = torch.cat([0 * real, torch.stack([-pairs.imag, pairs.imag], dim=1).reshape(-1)])
        return a, s


class Chunks(NamedTuple):
    """What chunks of L steps need, in the layout that ``fused`` reads; D drive columns, M modes."""

    adds: Tensor
    """b λ^(L−1−k), (L D, 2 M): the drive of a chunk times it is the chunk's end from zero."""

    step: Tensor
    """λ^L, (M, 2)."""

    a: Tensor
    """The factor of a column's own part in the next step, (N,)."""

    s: Tensor
    """That of the other part of its pair, (N,)."""

    @classmethod
    def of(cls, form: DiagonalForm, B: Any, like: Tensor, L: int, most: int) -> Chunks:
        """Parts of tables for at most ``most`` steps; kept as long as the weights live."""

        def tables() -> Any:
            modes = Modes.of(form, like)
            powers = modes.powers(most + 1)
            adds = torch.view_as_real(powers[:most].flip(0)[:, None] * modes.apart(at(B, like)))
            adds = adds.reshape(most * len(B), 2 * len(modes.values))
            return adds, torch.view_as_real(powers), *modes.columns()

        def parts() -> Chunks:
            adds, powers, a, s = kept([B, form.re], ("tables", most, *key), tables)
            return cls(adds[(most - L) * len(B) :], powers[L], a, s)

        key = like.device, like.dtype
        return kept([B, form.re], ("chunks", L, most, *key), parts)


def weighed(weights: Tensor, modes: Modes) -> Tensor:
    """Weights (E, N) of the Q layout as c (E, M): r weightsᵀ = Re Σ z c."""
    return modes.apart(weights).conj()
