"""Validation errors of all combinations that share a reservoir."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from eigenecho.blas import one_blas_thread
from eigenecho.errors import IllConditionedWarning, UnstableError, UnstableWarning, overflowed
from eigenecho.estimators import LinearESN
from eigenecho.grid_search import lagged
from eigenecho.grid_search.grid import Group
from eigenecho.model import Scaling
from eigenecho.model.rows import Fold, Rows
from eigenecho.model.train import cheapest_accurate, check_range
from eigenecho.readout import Factorised, Gram, Penalty, Triangle, factorise, solve
from eigenecho.readout.factorised import EPS
from eigenecho.reservoir import draw
from eigenecho.reservoir.memory import Memory
from eigenecho.types import Array

HEAD_SUMMED = 1e-5
"""Smallest eigenvalue of the head's HᵀH, columns of length 1, that plain sums resolve."""

LARGEST = 1e150
"""States whose squares come near the end of the range."""

SMALLEST = 1e-140
"""States whose squares vanish, so that no factorisation of them can be shared."""

COARSE = 1e4
"""Root of the ridge, in roundings of the factorisation, that it resolves beside y(t−1)."""


@one_blas_thread()
def root_mean_squared_errors(
    group: Group,
    inputs: Sequence[Array],
    outputs: Sequence[Array],
    folds: Sequence[Fold],
    memory: Memory,
) -> Array:
    """RMSE of each held-out block, (blocks, scalings, ridges), over rows and outputs.

    The reservoir runs once a fold; one factorisation answers for all scalings and ridges. Errors
    are true residuals. A reservoir that overflows scores infinity.
    """
    esn = LinearESN(**group.params)
    recipe, options = esn._recipe(), esn._options()
    D_in, D_out = inputs[0].shape[1], outputs[0].shape[1]
    with warnings.catch_warnings():
        # A search tries unstable and ill-conditioned corners on purpose; their scores tell.
        warnings.simplefilter("ignore", UnstableWarning)
        warnings.simplefilter("ignore", IllConditionedWarning)
        drawn = draw(recipe, D_in, D_out if esn.feedback else 0, esn.seed, memory)
        errors = []
        for fold in folds:
            u, y, scale = _scaled(esn, inputs, outputs, fold)
            rows = Rows(drawn.reservoir, u, y, options.fit_bias, options.output_to_readout)
            free = int(options.fit_bias and not options.penalize_bias)
            basis = drawn.basis if esn.penalty == "neuron" else None
            penalty = Penalty(rows.size, free, basis)
            # All that the rows depend on besides the reservoir.
            flags = (esn.standardize, esn.input_bias, esn.feedback, rows.fit_bias, rows.head)
            key = (*flags, str(np.dtype(esn.dtype)))
            try:
                found = _squared_errors(rows, fold, penalty, group, memory, key)
            except UnstableError:
                errors += _one_by_one(group, inputs, outputs, fold, memory)
                continue
            # A power of two, so that squares of the scale neither overflow nor vanish.
            unit = np.ldexp(1.0, np.frexp(scale.max())[1] - 1)
            counts = map(lagged.row_count, fold.held_out)
            errors += [
                unit * np.sqrt(np.mean(squared * (scale / unit) ** 2, axis=2) / count)
                for squared, count in zip(found, counts, strict=True)
            ]
    return np.array(errors)


def _squared_errors(
    rows: Rows, fold: Fold, penalty: Penalty, group: Group, memory: Memory, key: tuple[object, ...]
) -> list[Array]:
    """Squared residuals of each held-out block, (scalings, ridges, D_out)."""
    found = lagged.squared_errors(rows, fold, penalty, group, memory, key)
    if found is not None:
        return found
    kind = Triangle if cheapest_accurate(rows) == "qr" else Gram
    if kind is Gram and lagged.head_eigenvalue(rows, fold, memory, key) < HEAD_SUMMED:
        kind = Triangle
    train, held_out = rows.statistics(kind, fold)
    largest = min(LARGEST, float(np.finfo(rows.reservoir.dtype).max))
    for statistics in (train, *held_out):
        check_range(statistics, rows.reservoir)
        # States that stay in range under the inputs as they are may not under larger ones.
        scale = max(group.scalings)
        if scale > 1 and not scale * _size(statistics, rows.head) < largest:
            raise overflowed("scaled states", rows.reservoir.spectrum.radius)
    factorised = factorise(train, penalty, rows.head)
    found = [factorised.squared_errors(block, group.ridges, group.scalings) for block in held_out]
    if isinstance(train, Triangle):
        for i, j in np.argwhere(_is_coarse(train, factorised, rows, group)):
            scale, ridge = group.scalings[i], group.ridges[j]
            w = solve(_times(train, rows.head, scale), penalty, ridge)
            for squared, block in zip(found, held_out, strict=True):
                squared[i, j] = _times(block, rows.head, scale).squared_error(w)
    return found


def _is_coarse(train: Triangle, factorised: Factorised, rows: Rows, group: Group) -> Array:
    """Which combinations, (scalings, ridges), one factorisation cannot answer for.

    It rounds by the largest of its singular values, which a level of the inputs that is large
    beside their changes makes large too; a solution of its own by each column.
    """
    shape = len(group.scalings), len(group.ridges)
    if 0 < _size(train, rows.head) < SMALLEST:
        return np.ones(shape, bool)
    if not rows.output_to_readout:
        return np.zeros(shape, bool)
    roots = np.sqrt(group.ridges) / np.array(group.scalings)[:, None]
    return roots < COARSE * EPS * factorised.S.max(initial=0.0)


def _times(statistics: Triangle, head: int, scale: float) -> Triangle:
    """The statistics of the same rows with all states multiplied."""
    R = statistics.R.copy()
    R[:, head:] *= scale
    return replace(statistics, R=R)


def _size(statistics: Gram | Triangle, head: int) -> float:
    """The size of the states over all rows, within a factor of N."""
    if isinstance(statistics, Gram):
        return float(np.sqrt(np.diag(statistics.XtX)[head:].max()))
    return float(np.abs(statistics.R[:, head:]).max())


def _one_by_one(
    group: Group,
    inputs: Sequence[Array],
    outputs: Sequence[Array],
    fold: Fold,
    memory: Memory,
) -> list[Array]:
    """Errors of each held-out block where states overflow at one scaling, perhaps not at others.

    A reservoir that overflows by itself scores infinity.
    """
    if group.scalings == (1.0,):
        return [np.full((1, len(group.ridges)), np.inf) for _ in fold.held_out]
    each = [
        root_mean_squared_errors(group.alone(scale), inputs, outputs, [fold], memory)
        for scale in group.scalings
    ]
    return list(np.concatenate(each, axis=1))


def _scaled(
    esn: LinearESN, inputs: Sequence[Array], outputs: Sequence[Array], fold: Fold
) -> tuple[Sequence[Array], Sequence[Array], Array]:
    """Series in the network's units, from the rows before validation alone; and σ_y."""
    if not esn.standardize:
        return inputs, outputs, np.ones(outputs[0].shape[1])
    before = [stop for _, stop in fold.train]
    u_scaling = Scaling.of([u[:m] for u, m in zip(inputs, before, strict=True)])
    y_scaling = Scaling.of([y[:m] for y, m in zip(outputs, before, strict=True)])
    return (
        [u_scaling.forward(u) for u in inputs],
        [y_scaling.forward(y) for y in outputs],
        y_scaling.scale,
    )
