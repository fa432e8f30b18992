"""Modes as complex tensors, powers of λ, and the states between chunks of a series.

    end_q = Σ_k a(qL + k) B λ^(L−1−k),   start_q = start_(q−1) λ^L + end_(q−1)

Here end_q is the state after chunk q of L steps if the chunk starts from state zero, and start_q is
the state before chunk q.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import torch

from eigenecho.arrays import compute_once, to_like
from eigenecho.kernels.forms import DiagonalForm

Tensor = Any

MAX_POWERS = 1 << 22
"""Largest number of complex powers in a cached table: 64 MiB in double precision."""


class ComplexModes(NamedTuple):
    """Complex eigenvalues λ (M,) of a ``form``, one of each pair; the first ``n`` are real."""

    values: Tensor
    n: int
    form: DiagonalForm

    @classmethod
    def of(cls, form: DiagonalForm, like: Tensor) -> ComplexModes:
        """Return the modes of a form on the device and in the precision of ``like``."""

        def compute() -> Tensor:
            real, re, im = (to_like(part, like) for part in form)
            return torch.cat([torch.complex(real, torch.zeros_like(real)), torch.complex(re, im)])

        values = compute_once([form.re], ("modes", str(like.device), like.dtype), compute)
        return cls(values, len(form.real), form)

    def separate(self, A: Tensor) -> Tensor:
        """Return columns of the Q layout (…, N) as modes (…, M)."""
        real, re, im = A[..., : self.n], A[..., self.n :: 2], A[..., self.n + 1 :: 2]
        pairs = torch.complex(re.contiguous(), im.contiguous())
        return torch.cat([torch.complex(real, torch.zeros_like(real)), pairs], dim=-1)

    def write(self, z: Tensor, out: Tensor) -> None:
        """Write modes (…, M) into columns of the Q layout (…, N)."""
        n = self.n
        out[..., :n] = z[..., :n].real
        out[..., n::2] = z[..., n:].real
        out[..., n + 1 :: 2] = z[..., n:].imag

    def powers(self, count: int) -> Tensor:
        """Return λ^k for k < count, (count, M), computed by doubling. Small tables are cached."""

        def compute() -> Tensor:
            table, last = torch.ones_like(self.values)[None], self.values
            while len(table) < count:
                table = torch.cat([table, table * last])
                last = last * last
            return table[:count].contiguous()

        if count * len(self.values) > MAX_POWERS:
            return compute()
        key = "powers", count, str(self.values.device), self.values.dtype
        return compute_once([self.form.re], key, compute)

    def column_factors(self) -> tuple[Tensor, Tensor]:
        """Return the factors a and s of each column of the Q layout for ``fused``, (N,) each."""
        real, pairs = self.values[: self.n].real, self.values[self.n :]
        a = torch.cat([real, pairs.real.repeat_interleave(2)])
        s = torch.cat([0 * real, torch.stack([-pairs.imag, pairs.imag], dim=1).reshape(-1)])
        return a, s


class ChunkTables(NamedTuple):
    """Tables for chunks of L steps in the layout of ``fused``, for D drive columns and M modes."""

    end_weights: Tensor
    """b λ^(L−1−k), (L D, 2 M): end_q is the drive of chunk q times this matrix."""

    step: Tensor
    """λ^L, (M, 2)."""

    a: Tensor
    """Factor by which each column is multiplied in a step, (N,)."""

    s: Tensor
    """Factor of the other part of the pair, which is added to the column in a step, (N,)."""

    @classmethod
    def of(cls, form: DiagonalForm, B: Any, like: Tensor, L: int, most: int) -> ChunkTables:
        """Return slices of tables for ``most`` ≥ L steps, cached while the weights exist."""

        def compute() -> Any:
            modes = ComplexModes.of(form, like)
            powers = modes.powers(most + 1)
            products = powers[:most].flip(0)[:, None] * modes.separate(to_like(B, like))
            weights = torch.view_as_real(products).reshape(most * len(B), 2 * len(modes.values))
            return weights, torch.view_as_real(powers), *modes.column_factors()

        def slice_tables() -> ChunkTables:
            weights, powers, a, s = compute_once([B, form.re], ("tables", most, *key), compute)
            return cls(weights[(most - L) * len(B) :], powers[L], a, s)

        key = like.device, like.dtype
        return compute_once([B, form.re], ("chunks", L, most, *key), slice_tables)


def cut(drive: Tensor, L: int) -> Tensor:
    """Return a drive (…, T, D) in chunks (…, C, L, D), padded with zeros."""
    T = drive.shape[-2]
    missing = -T % L
    if missing:
        drive = torch.nn.functional.pad(drive, (0, 0, 0, missing))
    return drive.reshape(*drive.shape[:-2], (T + missing) // L, L, drive.shape[-1])


def ends(b: Tensor, powers: Tensor, chunks: Tensor) -> Tensor:
    """Return end_q, (…, C, M), for C chunks (…, C, L, D) and weights b (D, M)."""
    L = chunks.shape[-2]
    table = torch.view_as_real(powers[:L].flip(0).resolve_conj()).reshape(L, -1)
    transposed = chunks.transpose(-1, -2)  # (…, C, D, L)
    products = transposed.reshape(-1, L) @ table  # one product for all chunks
    summed = torch.view_as_complex(products.reshape(*transposed.shape[:-1], powers.shape[-1], 2))
    return (summed * b).sum(-2)


def starts(step: Tensor, state: Tensor, ended: Tensor) -> Tensor:
    """Return start_q, (…, C, M), from end_q (``ended``), the first state, and λ^L (``step``)."""
    begun = torch.cat([state[..., None, :], ended[..., :-1, :]], dim=-2)
    shift = 1
    while shift < begun.shape[-2]:
        carried = begun[..., :-shift, :] * step
        # A state of zero times a power that has overflowed is zero.
        carried = torch.where(begun[..., :-shift, :] == 0, 0, carried)
        begun = torch.cat([begun[..., :shift, :], begun[..., shift:, :] + carried], dim=-2)
        step, shift = step * step, 2 * shift
    return begun
