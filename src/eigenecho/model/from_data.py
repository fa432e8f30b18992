"""Spectra learned from data: train a large network, reduce it, and keep its eigenvalues."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cache
from typing import Any, cast

import numpy as np

from eigenecho.arrays import find_device, to_host
from eigenecho.checks import check_units, generator
from eigenecho.errors import IllConditionedWarning, Words, bad_argument
from eigenecho.model.model import LinearModel
from eigenecho.model.reduce import check_reducible, select_modes
from eigenecho.model.weighting import select_weighting
from eigenecho.readout import Triangle
from eigenecho.reservoir import Recipe
from eigenecho.series import as_rows, as_series, unpack_outputs
from eigenecho.spectra import Spectrum, ring
from eigenecho.threads import one_blas_thread
from eigenecho.training import Problem, Settings, held_out_errors, hold_out, pose, train
from eigenecho.types import Array, Seed

RIDGES = tuple(10.0**k for k in range(-12, 5))
"""Candidate ridges of the large network, compared on the last fifth of the rows."""

FEW = 10
"""Minimum number of rows after the warmup. In shorter series, no rows are held out."""

TIMES, LEAST, MOST = 5, 300, 1000
"""Size of the large network: a multiple of ``units``, with a minimum and a maximum."""

CANDIDATES = ("golden", "ring")
"""Laws of the large networks."""

RADIUS, ROUNDS = 0.5, 3
"""Smallest radius of a ring, and number of refinements of the search for the best radius."""

SIGNIFICANT = 1e-6
"""Fraction of the largest singular value above which a mode is significant."""


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
    """Learn eigenvalues for a task by training a large network on it and reducing this network.

    The large network is trained on standardised columns, with the ridge that has the smallest
    error on the last fifth of the rows. It is reduced by balanced truncation, weighted by the
    training rows. If fewer than ``units`` modes depend on the data, a ring of radius ``sr``
    provides the remaining eigenvalues. Without a ``law``, three spectra are compared: those learned
    from a golden and a ring network, and a ring of ``units`` eigenvalues with the best radius up to
    ``sr``. The spectrum with the smallest error on the last fifth of the rows is returned.

    Parameters
    ----------
    X, y : as for ``LinearESN.fit``
        Training rows only, because the eigenvalues depend on the targets. ``X`` has one column: for
        several inputs, the eigenvalues alone are not sufficient. Use ``LinearESN.reduce`` instead.
    units : int
        Number of eigenvalues.
    sr : float
        Spectral radius of the large network, below 1. The eigenvalues of the reduced network may
        have slightly larger moduli, but they are inside the unit circle.
    law : str, Spectrum or callable, optional
        Law of the eigenvalues of the large network.
    warmup : int
        Number of rows at the start of each series that are excluded from training.
    large : int, optional
        Number of units of the large network. By default, five times ``units``, limited to the
        range from 300 to 1000, but at least twice ``units``.
    seed : int, Generator or None
        Seed of the large network.

    Returns
    -------
    Spectrum
        Eigenvalues for ``spectrum=``, alone or joined with others. With ``spectrum="data"``, they
        are learned in ``fit``. In ``search``, only the rows before the validation rows are used.

    See Also
    --------
    eigenecho.LinearESN : ``spectrum="data"`` learns a spectrum in ``fit``.
    eigenecho.spectra.joined : Join spectra and laws.

    Examples
    --------
    >>> import eigenecho as ee
    >>> u = ee.tasks.mso(3, steps=601)
    >>> len(ee.spectra.from_data(u[:-1], u[1:], units=20, warmup=100) + ee.spectra.ring(10, sr=0.9))
    30
    """
    find_device({"X": X, "y": y})  # raises for unsupported tensors
    X, y = to_host((X, y))
    inputs, container = as_series(X, "X")
    items, _ = unpack_outputs(y, "y", container)
    outputs = [as_rows(item, "y") for item in items]
    recipe = Recipe(units=units, spectrum="data", sr=sr)
    settings = Settings(recipe, standardize=True, warmup=warmup)
    learned = learn_spectrum(settings, inputs, outputs, seed, law=law, large=large)
    return cast(Spectrum, learned.recipe.spectrum)


def learn_spectrum(
    settings: Settings,
    inputs: Sequence[Array],
    outputs: Sequence[Array],
    seed: Seed,
    *,
    until: Sequence[int] | None = None,
    law: Any = None,
    large: int | None = None,
) -> Settings:
    """Return the settings with learned eigenvalues instead of ``spectrum="data"``.

    The eigenvalues are learned from the first ``until`` rows of each series, by default from all
    rows.
    """
    recipe = settings.recipe
    if not recipe.sr < 1:
        raise bad_argument("sr", recipe.sr, "a radius below 1 for spectrum='data'")
    # W_in and W_fb are drawn again for the eigenvalues. Several learned directions would be lost.
    directions = inputs[0].shape[1] + settings.feedback * outputs[0].shape[1]
    if directions > 1:
        got = Words(f"{directions} columns of inputs and feedback")
        remedy = f"To keep their directions, use LinearESN({LEAST}).fit(X, y).reduce(units=...)."
        raise bad_argument("X", got, "a single input to learn eigenvalues from data", remedy)
    if until is not None:
        inputs, outputs = (
            [rows[:n] for rows, n in zip(series, until, strict=True)]
            for series in (inputs, outputs)
        )
    size = int(np.clip(TIMES * recipe.units, LEAST, max(MOST, 2 * recipe.units)))
    size = size if large is None else check_units(large, "large")
    few = min(map(len, inputs)) - settings.warmup < FEW
    trainer = replace(
        settings,
        recipe=replace(
            recipe,
            basis="eigen",
            eigenvectors=False,
            dtype="float64",
            features=None,
            W_in=None,
            W_fb=None,
        ),
        standardize=True,
        penalty="identity",
        ridge=(1e-6,) if few else RIDGES,
        solver="auto",
    )
    inputs, outputs = ([np.asarray(s, np.float64) for s in to_host(a)] for a in (inputs, outputs))
    # All candidates are drawn with the same seed.
    if not isinstance(seed, (int, np.integer)):
        seed = int(generator(seed).integers(2**31))
    task = LearningTask(trainer, inputs, outputs, seed)
    laws = CANDIDATES if law is None else (law,)
    spectra = [task.reduced_spectrum(candidate, size) for candidate in laws]
    if law is None and not few:
        spectra = [min([*spectra, task.best_ring()], key=task.error)]
    return replace(settings, recipe=replace(recipe, spectrum=spectra[0]))


@dataclass(frozen=True, eq=False)
class LearningTask:
    """Series on which candidate spectra are compared, with the training settings and the seed."""

    settings: Settings
    inputs: Sequence[Array]
    outputs: Sequence[Array]
    seed: int

    def with_spectrum(self, spectrum: Any, units: int) -> tuple[Settings, Problem]:
        """Return the settings and the training problem for another spectrum."""
        recipe = replace(self.settings.recipe, spectrum=spectrum, units=units)
        settings = replace(self.settings, recipe=recipe)
        D_in, D_out = self.inputs[0].shape[1], self.outputs[0].shape[1]
        drawn = settings.draw(D_in, D_out, self.seed)
        return settings, pose(settings, drawn, self.inputs, self.outputs)

    @one_blas_thread()
    def reduced_spectrum(self, law: Any, size: int) -> Spectrum:
        """Train a network of ``size`` units, reduce it, and return its eigenvalues."""
        recipe = self.settings.recipe
        settings, problem = self.with_spectrum(law, size)
        check_reducible(problem.reservoir, "law")
        with warnings.catch_warnings(action="ignore", category=IllConditionedWarning):
            evidence = train(problem, settings).evidence
        model = LinearModel.of(problem, evidence.weights)
        weighting = select_weighting(model, None, evidence)
        values = weighting.balanced.values
        significant = int(np.count_nonzero(values > SIGNIFICANT * values[0])) if values.size else 0
        if not significant:
            got = Words("targets that do not depend on X")
            raise bad_argument("y", got, "targets that depend on X")
        reduced = select_modes(weighting, min(recipe.units, significant))
        spectrum = reduced.system.spectrum.unleak(recipe.lr)
        missing = recipe.units - spectrum.units
        return spectrum.join(ring(missing, sr=recipe.sr)) if missing else spectrum

    def best_ring(self) -> Spectrum:
        """Return the ring with the best radius r between ``RADIUS`` and ``sr``.

        The search varies the decay per step, −log r, because a ring of n units returns an input
        after n steps, multiplied by r^n. It starts with the decay of ``sr``, doubles the decay
        repeatedly, and refines the best value.
        """
        units, sr = self.settings.recipe.units, self.settings.recipe.sr
        if sr <= RADIUS:
            return ring(units, sr=sr)

        @cache
        def error(decay: float) -> float:
            return self.error(ring(units, sr=float(np.exp(-decay))))

        least = float(-np.log(sr))
        decays = least * 2.0 ** np.arange(1 + np.floor(np.log2(-np.log(RADIUS) / least)))
        best, step = min(decays, key=error), np.sqrt(2)
        for _ in range(ROUNDS):
            best = min((best, max(best / step, least), best * step), key=error)
            step = np.sqrt(step)
        return ring(units, sr=float(np.exp(-best)))

    @one_blas_thread()
    def error(self, spectrum: Spectrum) -> float:
        """Return the error on held-out rows with the best ridge, summed over outputs."""
        _, whole = self.with_spectrum(spectrum, spectrum.units)
        total = 0.0
        fold = hold_out(whole, self.settings)
        for columns, problem in whole.parts:
            with warnings.catch_warnings(action="ignore", category=IllConditionedWarning):
                statistics, (last,), _ = problem.gather(Triangle, fold)
                errors = held_out_errors(statistics, last, problem.penalty, self.settings.ridge)
            total += float(np.nanmin(errors)) * len(columns)
        return total
