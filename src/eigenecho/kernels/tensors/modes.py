"""Modes as complex tensors, powers of λ, and the states between chunks of a series.

end_c = Σ_k a(cL + k) B λ^(L−1−k),   start_c = start_(c−1) λ^L + end_(c−1)
"""

from __future__ import annotations

from typing import Any, NamedTuple

import torch

from eigenecho.arrays import at, kept
from eigenecho.kernels.forms import DiagonalForm

Tensor = Any

TABLE = 1 << 22
"""Largest number of powers in a cached table, 64 MiB."""


class Modes(NamedTuple):
    """Eigenvalues λ (M,), complex, of which the first ``n`` are real."""

    values: Tensor
    n: int
    form: DiagonalForm

    @classmethod
    def of(cls, form: DiagonalForm, like: Tensor) -> Modes:
        """Return the modes of a form on the device and in the precision of ``like``."""

        def make() -> Tensor:
            real, re, im = (at(part, like) for part in form)
            return torch.cat([torch.complex(real, torch.zeros_like(real)), torch.complex(re, im)])

        values = kept([form.re], ("modes", str(like.device), like.dtype), make)
        return cls(values, len(form.real), form)

    def apart(self, A: Tensor) -> Tensor:
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
        """Return λ^k for k < count, (count, M), by doubling; tables of moderate size are cached."""

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
        """Return the factors a and s of each column of the Q layout for ``fused``, (N,) each."""
        real, pairs = self.values[: self.n].real, self.values[self.n :]
        a = torch.cat([real, pairs.real.repeat_interleave(2)])
        s = torch.cat([0 * real, torch.stack([-pairs.imag, pairs.imag], dim=1).reshape(-1)])
        return a, s


class Chunks(NamedTuple):
    """Tables for chunks of L steps in the layout of ``fused``; D drive columns, M modes."""

    adds: Tensor
    """b λ^(L−1−k), (L D, 2 M): the drive of a chunk times it is the chunk's end from zero."""

    step: Tensor
    """λ^L, (M, 2)."""

    a: Tensor
    """The factor of a column's own part in the next step, (N,)."""

    s: Tensor
    """The factor of the other part of its pair, (N,)."""

    @classmethod
    def of(cls, form: DiagonalForm, B: Any, like: Tensor, L: int, most: int) -> Chunks:
        """Return parts of tables for at most ``most`` steps, cached while the weights live."""

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


def cut(drive: Tensor, L: int) -> Tensor:
    """Return a drive (…, T, D) in chunks (…, C, L, D), padded with zeros."""
    T = drive.shape[-2]
    short = -T % L
    if short:
        drive = torch.nn.functional.pad(drive, (0, 0, 0, short))
    return drive.reshape(*drive.shape[:-2], (T + short) // L, L, drive.shape[-1])


def ends(b: Tensor, powers: Tensor, chunks: Tensor) -> Tensor:
    """Return the states (…, C, M) after chunks (…, C, L, D) that begin at zero; b (D, M)."""
    L = chunks.shape[-2]
    table = torch.view_as_real(powers[:L].flip(0).resolve_conj()).reshape(L, -1)
    across = chunks.transpose(-1, -2)  # (…, C, D, L)
    products = across.reshape(-1, L) @ table  # one product for all chunks
    summed = torch.view_as_complex(products.reshape(*across.shape[:-1], powers.shape[-1], 2))
    return (summed * b).sum(-2)


def starts(step: Tensor, state: Tensor, ended: Tensor) -> Tensor:
    """Return the states (…, C, M) before chunks whose ends are ``ended``; ``step`` is λ^L."""
    begun = torch.cat([state[..., None, :], ended[..., :-1, :]], dim=-2)
    shift = 1
    while shift < begun.shape[-2]:
        carried = begun[..., :-shift, :] * step
        # A power that overflowed times a state of zero is zero.
        carried = torch.where(begun[..., :-shift, :] == 0, 0, carried)
        begun = torch.cat([begun[..., :shift, :], begun[..., shift:, :] + carried], dim=-2)
        step, shift = step * step, 2 * shift
    return begun
