"""Validation errors of all combinations that share a reservoir."""

from __future__ import annotations

import warnings
from collections.abc import Sequence

import numpy as np

from eigenecho.blas import one_blas_thread
from eigenecho.errors import IllConditionedWarning, UnstableError, UnstableWarning
from eigenecho.estimators import LinearESN
from eigenecho.grid_search import lagged
from eigenecho.grid_search.grid import Group
from eigenecho.model import Scaling
from eigenecho.model.rows import Fold, Rows
from eigenecho.model.train import cheapest_accurate, check_range
from eigenecho.readout import Gram, Penalty, Triangle, factorise
from eigenecho.reservoir import draw
from eigenecho.reservoir.memory import Memory
from eigenecho.types import Array


@one_blas_thread()
def mean_squared_errors(
    group: Group,
    inputs: Sequence[Array],
    outputs: Sequence[Array],
    folds: Sequence[Fold],
    memory: Memory,
) -> Array:
    """Squared error of each held-out block, (blocks, scalings, ridges), over rows and outputs.

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
            key = (esn.standardize, esn.input_bias, esn.feedback, rows.fit_bias, rows.head)
            found = lagged.squared_errors(rows, fold, penalty, group, memory, key)
            if found is not None:
                counts = [sum(stop - start for start, stop in block) for block in fold.held_out]
                errors += [
                    np.mean(squared * scale**2, axis=2) / count
                    for squared, count in zip(found, counts, strict=True)
                ]
                continue
            kind = Triangle if cheapest_accurate(rows) == "qr" else Gram
            try:
                train, held_out = rows.statistics(kind, fold)
                for statistics in (train, *held_out):
                    check_range(statistics, rows.reservoir)
            except UnstableError:
                shape = (len(group.scalings), len(group.ridges))
                errors += [np.full(shape, np.inf) for _ in fold.held_out]
                continue
            factorised = factorise(train, penalty, rows.head)
            for block in held_out:
                squared = factorised.squared_errors(block, group.ridges, group.scalings)
                errors.append(np.mean(squared * scale**2, axis=2) / block.rows)
    return np.array(errors)


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
