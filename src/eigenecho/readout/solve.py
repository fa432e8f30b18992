"""Ridge solutions from either kind of statistics."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from scipy.linalg import lapack

from eigenecho.arrays import namespace, solve_triangular
from eigenecho.errors import IllConditionedWarning, warn
from eigenecho.readout.factorised import EPS, factorise
from eigenecho.readout.gram import Gram
from eigenecho.readout.likelihood import check_targets
from eigenecho.readout.normal_equations import NormalEquations
from eigenecho.readout.penalty import Penalty
from eigenecho.readout.triangle import Triangle, annihilate
from eigenecho.tensors import to_host
from eigenecho.types import Array

BLOWN_UP = 1e9
"""Size of a weight times its state, over that of the targets; noise-free sines needed up to 1e4."""


def solve(statistics: Gram | Triangle, penalty: Penalty, ridge: float) -> Array:
    """Readout weights (N', D_out): argmin ‖Y − X w‖² + ridge ‖L w‖², where the statistics are.

    A system that is singular in floating point gets its minimum-norm answer and a warning.
    """
    if isinstance(statistics, Triangle):
        weights = _orthogonal(statistics, penalty, ridge)
        if weights is not None:
            return weights
    else:
        system = NormalEquations.of(statistics, penalty, ridge)
        if system is not None and system.is_regular:
            return system.solve(statistics.XtY)
    warn(
        f"the readout system is singular at ridge={ridge:g} (collinear states, or fewer training "
        "rows than weights): the minimum-norm readout was taken. A larger ridge makes the answer "
        + ("unique." if isinstance(statistics, Triangle) else "unique; solver='qr' resolves more."),
        IllConditionedWarning,
    )
    weights = factorise(statistics.on_host, penalty).weights(0.0)
    like = statistics.Z if isinstance(statistics, Triangle) else statistics.XtY
    return namespace(like).asarray(weights)


def _orthogonal(statistics: Triangle, penalty: Penalty, ridge: float) -> Array | None:
    R, Z = statistics.R, statistics.Z
    xp = namespace(R)
    if ridge > 0:
        R, Z, _ = annihilate(R, Z, np.sqrt(ridge) * penalty.root(R), xp.zeros_like(Z))
    if not is_regular(R, ridge):
        return None
    w = solve_triangular(R, Z)
    return None if _is_blown_up(w, statistics, penalty) else w


def is_regular(R: Array, ridge: float) -> bool:
    """Whether a triangle of rows, those of a ridge among them, can be solved with as it is.

    1/cond of its columns at length 1, which have no units then.
    """
    xp = namespace(R)
    scale = xp.linalg.norm(R, axis=0)
    if not xp.all(scale > 0):
        return False
    rcond, info = lapack.dtrcon(to_host(R / scale), norm="1", uplo="U", diag="N")
    # With a ridge the answer is unique however small the ridge: only breakdown stops it.
    return bool(info == 0 and rcond >= (EPS**2 if ridge else len(R) * EPS))


def _is_blown_up(w: Array, statistics: Triangle, penalty: Penalty) -> bool:
    """Whether single states contribute far more than the targets they add up to.

    Then noise in the targets met directions of the states that are nothing but rounding, and the
    ridge is too small to hold them. Modes whose eigenvectors are close to each other contribute
    much and cancel even so: then the neurons decide, as they do without a change of basis.
    """
    # Squares of the smallest numbers are 0.
    targets = np.maximum(
        to_host(statistics.squares**0.5), np.abs(to_host(statistics.Z)).max(axis=0, initial=0.0)
    )

    def exceed(w: Array, columns: Array) -> bool:
        contributions = (
            np.abs(w) * to_host(namespace(columns).linalg.norm(columns, axis=0))[:, None]
        )
        return bool(np.any(contributions > BLOWN_UP * targets))

    w = to_host(w)
    if not exceed(w, statistics.R):
        return False
    basis, statistics = penalty.basis, statistics.on_host
    if basis is None:
        return True
    head = len(w) - basis.units
    neurons = np.concatenate([w[:head], basis.weights_to_neuron(w[head:])])
    return exceed(neurons, penalty.unroot_right(statistics.R))


def held_out_errors(
    train: Gram | Triangle, held_out: Triangle, penalty: Penalty, ridges: Sequence[float]
) -> Array:
    """Squared errors on held-out rows, (ridges,), of readouts trained on ``train``.

    They are true residuals, each output relative to its size there.
    """
    size = held_out.squares
    check_targets(size, held_out.Z)
    size[size == 0] = 1.0
    errors = factorise(train, penalty).squared_errors(held_out, ridges)[0] / size
    return errors.mean(axis=1)
