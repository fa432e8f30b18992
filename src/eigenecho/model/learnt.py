"""Spectra learnt from data: train a large network, make it smaller, keep its eigenvalues."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from eigenecho.checks import check_units
from eigenecho.errors import IllConditionedWarning, bad_argument
from eigenecho.model.model import LinearModel
from eigenecho.model.reduce import modes, weighting_of
from eigenecho.reservoir import Recipe
from eigenecho.series import as_rows, as_series, unpack_outputs
from eigenecho.spectra import Spectrum, joined, ring
from eigenecho.threads import one_blas_thread
from eigenecho.training import Evidence, Settings, pose, train_with_gaps
from eigenecho.types import Array, Seed

RIDGES = tuple(10.0**k for k in range(-12, 5))
"""What the ridge of the large network is chosen from, on the last fifth of its rows."""

FEW = 10
"""Rows after the warmup from which on some can be held out."""

TIMES, LEAST, MOST = 5, 300, 1000
"""Units of the large network: this many times those that are kept, from the least to the most."""

SURE = 1e-6
"""Share of the largest singular value from which on a mode says something of the data."""


def from_data(
    X: Any,
    y: Any,
    units: int = 50,
    *,
    sr: float = 0.95,
    law: Any = None,
    warmup: int = 0,
    large: int | None = None,
    seed: Seed = 0,
) -> Spectrum:
    """Eigenvalues that a task needs: those that are left of a large network trained on it.

    The large network standardises its columns, and takes the ridge that predicts the last fifth of
    the rows best. It is then made smaller by balanced truncation, the rows weighed as they are.
    Where fewer modes than ``units`` say anything of the data, a ring of radius ``sr`` joins them.

    Parameters
    ----------
    X, y : as for ``LinearESN.fit``
        Training rows alone: what is learnt here is learnt from the targets.
    units : int
        How many eigenvalues to keep.
    sr : float
        Radius of the large network, below 1. Those that are kept may lie a little further out,
        never on the unit circle.
    law : str, Spectrum or callable, optional
        Where the eigenvalues of the large network lie; by default half of them on a ring and half
        golden.
    warmup : int
        Steps at the start of each series that are left out.
    large : int, optional
        Units of the large network; by default five times ``units``, from 300 to 1000.
    seed : int, Generator or None

    Returns
    -------
    Spectrum
        For ``spectrum=``, alone or joined with others. ``spectrum="data"`` learns one in ``fit``,
        and in ``search`` from the rows before validation.

    Examples
    --------
    >>> import eigenecho as ee
    >>> u = ee.tasks.mso(3, steps=601)
    >>> len(ee.spectra.from_data(u[:-1], u[1:], units=20, warmup=100) + ee.spectra.ring(10, sr=0.9))
    30
    """
    inputs, container = as_series(X, "X")
    items, _ = unpack_outputs(y, "y", container)
    outputs = [as_rows(item, "y") for item in items]
    recipe = Recipe(units=units, spectrum="data", sr=sr)
    settings = Settings(recipe, standardize=True, warmup=warmup)
    found = learnt(settings, inputs, outputs, seed, law=law, large=large).recipe.spectrum
    assert isinstance(found, Spectrum)
    return found


def learnt(
    settings: Settings,
    inputs: Sequence[Array],
    outputs: Sequence[Array],
    seed: Seed,
    *,
    until: Sequence[int] | None = None,
    law: Any = None,
    large: int | None = None,
) -> Settings:
    """Settings with the eigenvalues of ``spectrum="data"`` in its place; others as they are.

    They come from the first ``until`` rows of each series, by default from all.
    """
    recipe = settings.recipe
    if not recipe.is_learnt:
        return settings
    check_units(recipe.units, "units")
    if not recipe.sr < 1:
        wanted = "a radius below 1, since states that do not settle cannot be made fewer"
        raise bad_argument("sr", recipe.sr, wanted)
    if until is not None:
        inputs, outputs = (
            [series[:n] for series, n in zip(some, until, strict=True)]
            for some in (inputs, outputs)
        )
    size = int(np.clip(TIMES * recipe.units, LEAST, max(MOST, 2 * recipe.units)))
    size = size if large is None else large
    check_units(size, "large")
    drawn = replace(
        recipe,
        units=size,
        spectrum=joined("ring", "golden") if law is None else law,
        basis="eigen",
        eigenvectors=False,
        dtype="float64",
    )
    few = min(map(len, inputs)) - settings.warmup < FEW
    ridge = RIDGES[len(RIDGES) // 2 :][:1] if few else RIDGES
    trainer = replace(
        settings, recipe=drawn, standardize=True, penalty="identity", ridge=ridge, solver="auto"
    )
    found = _left(trainer, recipe.units, seed, inputs, outputs)
    return replace(settings, recipe=replace(recipe, spectrum=found))


@one_blas_thread()
def _left(
    settings: Settings, units: int, seed: Seed, inputs: Sequence[Array], outputs: Sequence[Array]
) -> Spectrum:
    """The eigenvalues, before the leak, that ``units`` of a large network come down to."""
    inputs, outputs = ([np.asarray(s, np.float64) for s in some] for some in (inputs, outputs))
    drawn = settings.draw(inputs[0].shape[1], outputs[0].shape[1], seed)
    problem = pose(settings, drawn, inputs, outputs)
    with warnings.catch_warnings():
        # Nobody runs the large network: that its readout is hardly determined does not matter.
        warnings.simplefilter("ignore", IllConditionedWarning)
        evidence = train_with_gaps(problem, settings).evidence
    model = LinearModel.of(problem, evidence.weights)
    weighting = weighting_of(model, None, evidence if isinstance(evidence, Evidence) else None)
    values = weighting.balanced.values
    sure = int(np.count_nonzero(values > SURE * values[0])) if values.size else 0
    if not sure:
        raise bad_argument("y", "constant", "targets that depend on X, to learn a spectrum from")
    found = modes(weighting, min(units, sure)).system.spectrum.unleak(settings.recipe.lr)
    lacking = units - found.units
    return found.join(ring(lacking, sr=settings.recipe.sr)) if lacking else found
