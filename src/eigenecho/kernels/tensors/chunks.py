"""Where chunks of a series begin: the states between them, without those within.

end_c = Σ_k a(cL + k) B λ^(L−1−k),   start_c = start_(c−1) λ^L + end_(c−1)
"""

from __future__ import annotations

from typing import Any

import torch

Tensor = Any


def cut(drive: Tensor, L: int) -> Tensor:
    """A drive (…, T, D) in chunks (…, C, L, D), with zeros after its end."""
    T = drive.shape[-2]
    short = -T % L
    if short:
        drive = torch.nn.functional.pad(drive, (0, 0, 0, short))
    return drive.reshape(*drive.shape[:-2], (T + short) // L, L, drive.shape[-1])


def ends(b: Tensor, powers: Tensor, chunks: Tensor) -> Tensor:
    """The states (…, C, M) after chunks (…, C, L, D) that begin at zero; b (D, M)."""
    L = chunks.shape[-2]
    table = torch.view_as_real(powers[:L].flip(0).resolve_conj()).reshape(L, -1)
    across = chunks.transpose(-1, -2)  # (…, C, D, L)
    products = across.reshape(-1, L) @ table  # one product, not one a chunk
    summed = torch.view_as_complex(products.reshape(*across.shape[:-1], powers.shape[-1], 2))
    return (summed * b).sum(-2)


def starts(step: Tensor, state: Tensor, ended: Tensor) -> Tensor:
    """The states (…, C, M) before chunks whose ends from zero are ``ended``; ``step`` is λ^L."""
    found = torch.cat([state[..., None, :], ended[..., :-1, :]], dim=-2)
    shift = 1
    while shift < found.shape[-2]:
        carried = found[..., :-shift, :] * step
        # A power that has left the range carries nothing where there is nothing.
        carried = torch.where(found[..., :-shift, :] == 0, 0, carried)
        found = torch.cat([found[..., :shift, :], found[..., shift:, :] + carried], dim=-2)
        step, shift = step * step, 2 * shift
    return found
