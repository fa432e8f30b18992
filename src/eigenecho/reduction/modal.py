"""A balanced system of some order, in its own eigenbasis: modes again."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from eigenecho.basis import eigendecomposition
from eigenecho.reduction.balancing import Balanced
from eigenecho.reduction.system import System
from eigenecho.types import Array


@dataclass(frozen=True, eq=False)
class Smaller:
    """A system of order k, and the map (N, k) of states that leads to its own."""

    system: System
    states: Array


def smaller(balanced: Balanced, order: int) -> Smaller | None:
    """The first states of a balanced system, diagonalised.

        Λ_r = S Λ T = V Λ̂ V⁻¹,   r̂ = r T V,   Ĉ = V⁻¹ S C

    None where it has no usable eigenvectors, or an eigenvalue that rounding has put on the unit
    circle: then another order has to do.
    """
    W, _, C = balanced.matrices(order)
    spectrum, basis = eigendecomposition(W)
    if not spectrum.radius < 1:
        return None
    with np.errstate(all="ignore"):
        states = basis.states_to_eigen(balanced.T[:, :order])
        weights = basis.weights_to_eigen(C)
    if not (np.all(np.isfinite(states)) and np.all(np.isfinite(weights))):
        return None
    return Smaller(System(spectrum, balanced.system.B @ states, weights), states)
