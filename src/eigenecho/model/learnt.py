"""Spectra learnt from data: train a large network, make it smaller, keep its eigenvalues."""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import cache
from typing import Any

import numpy as np

from eigenecho.arrays import to_host
from eigenecho.checks import check_units, generator
from eigenecho.errors import IllConditionedWarning, Shown, bad_argument
from eigenecho.model.model import LinearModel
from eigenecho.model.reduce import modes, weighting_of
from eigenecho.readout import Triangle
from eigenecho.reservoir import Recipe, Reservoir
from eigenecho.series import as_rows, as_series, unpack_outputs
from eigenecho.spectra import Spectrum, ring
from eigenecho.tensors import device_of
from eigenecho.threads import one_blas_thread
from eigenecho.training import Problem, Settings, held_out_errors, hold_out, pose, train
from eigenecho.transition import Diagonal
from eigenecho.types import Array, Seed

RIDGES = tuple(10.0**k for k in range(-12, 5))
"""What the ridge of the large network is chosen from, on the last fifth of its rows."""

FEW = 10
"""Rows after the warmup from which on some can be held out."""

TIMES, LEAST, MOST = 5, 300, 1000
"""Units of the large network: this many times those that are kept, from the least to the most."""

CANDIDATES = ("golden", "ring")
"""Laws of large networks."""

RADIUS, ROUNDS = 0.5, 3
"""The least radius of a ring that is looked at, and how often its neighbourhood is halved."""

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
    Unless a ``law`` is given there are two of them, golden and on a ring, and a plain ring of
    ``units`` beside them, of the radius up to ``sr`` that predicts that fifth best: the one whose
    eigenvalues predict it best is taken.

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
        Where the eigenvalues of the large network lie.
    warmup : int
        Steps at the start of each series that are left out.
    large : int, optional
        Units of the large network; by default five times ``units``, from 300 to 1000, and never
        fewer than twice as many.
    seed : int, Generator or None

    Returns
    -------
    Spectrum
        For ``spectrum=``, alone or joined with others. ``spectrum="data"`` learns one in ``fit``,
        and in ``search`` from the rows before validation.

    See Also
    --------
    eigenecho.LinearESN : ``spectrum="data"`` learns them in ``fit``
    eigenecho.spectra.joined : with a law beside them

    Examples
    --------
    >>> import eigenecho as ee
    >>> u = ee.tasks.mso(3, steps=601)
    >>> len(ee.spectra.from_data(u[:-1], u[1:], units=20, warmup=100) + ee.spectra.ring(10, sr=0.9))
    30
    """
    device_of({"X": X, "y": y})  # raises for tensors that are not computed with
    X, y = to_host((X, y))
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
        raise bad_argument("sr", recipe.sr, wanted, "sr=0.99 settles, and forgets little.")
    if until is not None:
        inputs, outputs = (
            [series[:n] for series, n in zip(some, until, strict=True)]
            for some in (inputs, outputs)
        )
    size = int(np.clip(TIMES * recipe.units, LEAST, max(MOST, 2 * recipe.units)))
    size = size if large is None else large
    check_units(size, "large")
    plain = replace(recipe, basis="eigen", eigenvectors=False, dtype="float64")
    few = min(map(len, inputs)) - settings.warmup < FEW
    ridge = (1e-6,) if few else RIDGES
    trainer = replace(
        settings, recipe=plain, standardize=True, penalty="identity", ridge=ridge, solver="auto"
    )
    inputs, outputs = ([np.asarray(s, np.float64) for s in to_host(a)] for a in (inputs, outputs))
    # One draw for all that are compared.
    if not isinstance(seed, (int, np.integer)):
        seed = int(generator(seed).integers(2**31))
    task = Task(trainer, inputs, outputs, seed)
    found = [task.left(one, size) for one in (CANDIDATES if law is None else (law,))]
    if law is None and not few:
        found = [min([*found, task.ring()], key=task.error)]
    return replace(settings, recipe=replace(recipe, spectrum=found[0]))


@dataclass(frozen=True, eq=False)
class Task:
    """What a spectrum is to be good for: settings of a trainer, series, and the seed of draws."""

    settings: Settings
    inputs: Sequence[Array]
    outputs: Sequence[Array]
    seed: int

    def with_spectrum(self, spectrum: Any, units: int) -> Task:
        """The same with another spectrum."""
        recipe = replace(self.settings.recipe, spectrum=spectrum, units=units)
        return replace(self, settings=replace(self.settings, recipe=recipe))

    def posed(self) -> Problem:
        """The problem of training on it."""
        D_in, D_out = self.inputs[0].shape[1], self.outputs[0].shape[1]
        drawn = self.settings.draw(D_in, D_out, self.seed)
        return pose(self.settings, drawn, self.inputs, self.outputs)

    @one_blas_thread()
    def left(self, law: Any, size: int) -> Spectrum:
        """What ``size`` units of a law come down to, as many eigenvalues as are asked for."""
        recipe, large = self.settings.recipe, self.with_spectrum(law, size)
        problem = large.posed()
        _check_modes(problem.reservoir)
        with _unconcerned():
            evidence = train(problem, large.settings).evidence
        model = LinearModel.of(problem, evidence.weights)
        weighting = weighting_of(model, None, evidence.single)
        values = weighting.balanced.values
        sure = int(np.count_nonzero(values > SURE * values[0])) if values.size else 0
        if not sure:
            got = Shown("nothing that depends on X")
            wanted, remedy = "targets to learn a spectrum from", "A law, 'golden' say, needs none."
            raise bad_argument("y", got, wanted, remedy)
        kept = modes(weighting, min(recipe.units, sure))[0].system.spectrum.unleak(recipe.lr)
        lacking = recipe.units - kept.units
        return kept.join(ring(lacking, sr=recipe.sr)) if lacking else kept

    def ring(self) -> Spectrum:
        """The ring of as many units that predicts best, its radius between ``RADIUS`` and sr.

        What it forgets at a step, −log r, is doubled until it is enough, and then made finer around
        the best: what goes round n units comes back as r^n, and that has to fit.
        """
        units, sr = self.settings.recipe.units, self.settings.recipe.sr
        if sr <= RADIUS:
            return ring(units, sr=sr)

        @cache
        def error(forgets: float) -> float:
            return self.error(ring(units, sr=float(np.exp(-forgets))))

        least = float(-np.log(sr))
        tried = least * 2.0 ** np.arange(1 + np.floor(np.log2(-np.log(RADIUS) / least)))
        best, step = min(tried, key=error), np.sqrt(2)
        for _ in range(ROUNDS):
            best = min((best, max(best / step, least), best * step), key=error)
            step = np.sqrt(step)
        return ring(units, sr=float(np.exp(-best)))

    @one_blas_thread()
    def error(self, spectrum: Spectrum) -> float:
        """The least error of any ridge on rows held out, with these eigenvalues alone."""
        task = self.with_spectrum(spectrum, spectrum.units)
        total = 0.0
        for columns, problem in task.posed().parts:
            fold = hold_out(problem, self.settings)
            with _unconcerned():
                known, (last,), _ = problem.gather(Triangle, fold)
                errors = held_out_errors(known, last, problem.penalty, self.settings.ridge)
            total += float(np.nanmin(errors)) * len(columns)
        return total


def _check_modes(reservoir: Reservoir) -> None:
    """Whether a large network, of a law that may be anybody's, can be made smaller."""
    wanted = "eigenvalues inside the unit circle: states that do not settle cannot be made fewer"
    if not isinstance(reservoir.transition, Diagonal):
        got = Shown(f"a matrix in {reservoir.transition.name} form")
        raise bad_argument("law", got, "eigenvalues, or a matrix with a usable eigenbasis")
    if not reservoir.spectrum.radius < 1:
        raise bad_argument("law", Shown(f"radius {reservoir.spectrum.radius:.6g}"), wanted)


@contextmanager
def _unconcerned() -> Iterator[None]:
    """Nobody runs these networks: that a readout is hardly determined does not matter."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", IllConditionedWarning)
        yield
