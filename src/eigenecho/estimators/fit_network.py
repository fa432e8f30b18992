"""Fitting a network: the steps that ``LinearESN.fit`` and ``dask.fit`` share."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from eigenecho.arrays import namespace, to_host
from eigenecho.estimators.fitted import FittedNetwork
from eigenecho.estimators.validation import warn_if_single_rows, warn_if_unstable
from eigenecho.reservoir import DrawnReservoir
from eigenecho.rows import chunk_rows
from eigenecho.scaling import Scaling
from eigenecho.training import AbstractProblem, Settings, train
from eigenecho.types import Array

LARGEST_TARGET = 1e152
"""Targets of this size and above are rescaled for training, since their squares overflow."""

SMALLEST_TARGET = 1e-152
"""Targets of this size and below are rescaled for training, since their squares lose digits."""


def fit_network(
    settings: Settings,
    drawn: DrawnReservoir,
    problem: AbstractProblem,
    largest: Array,
    last: Array,
    **details: Any,
) -> FittedNetwork:
    """Train a drawn network on the rows of a problem, and warn if the result may be poor.

    ``largest`` (D_out,) are the largest absolute targets and ``last`` (D_out,) is the last target
    of the last series, in the caller's units. ``details`` are further fields of the result.
    """
    warn_if_single_rows(problem.lengths, "X" if len(drawn.reservoir.W_in) else "y")
    if settings.recipe.basis == "eigen":
        warn_if_unstable(drawn.reservoir.spectrum.radius, max(problem.lengths))
    # Standardized targets have moderate sizes, and targets that drive the network keep theirs.
    if not (settings.standardize or settings.feedback or settings.output_to_readout):
        scaling = _scale_extremes(largest)
        problem = problem if scaling is None else problem.rescale_outputs(scaling)
    return FittedNetwork.of(
        problem,
        train(problem, settings),
        last,
        lr=float(settings.recipe.lr),
        drawn=drawn.spectrum,
        **details,
    )


def largest_targets(outputs: Sequence[Array]) -> Array:
    """Return the largest absolute value of each target over all series, (D_out,), without NaN."""
    xp, largest = namespace(outputs[0]), np.zeros(outputs[0].shape[1])
    for y in outputs:
        step = chunk_rows(y, y.shape[1])
        for start in range(0, len(y), step):
            rows = y[start : start + step]
            sizes = xp.max(xp.where(xp.isnan(rows), 0.0, xp.abs(rows)), axis=0, initial=0.0)
            largest = np.maximum(largest, to_host(sizes))
    return largest


def _scale_extremes(largest: Array) -> Scaling | None:
    """Return a power of two for each extreme target and 1 for others; None if none is extreme."""
    extreme = (largest > 0) & ~((largest > SMALLEST_TARGET) & (largest < LARGEST_TARGET))
    if not extreme.any():
        return None
    exponents = np.where(extreme, np.frexp(largest)[1] - 1, 0)
    return Scaling(np.zeros(len(largest)), np.ldexp(1.0, exponents))
