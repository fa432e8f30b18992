"""Where a reservoir comes from: eigenvalues or a matrix, drawn or given, before the leak."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np

from eigenecho.errors import bad_argument
from eigenecho.random import Streams
from eigenecho.reservoir.memory import Memory, remember
from eigenecho.reservoir.recipe import Recipe
from eigenecho.spectra import Spectrum, from_matrix, law, random_matrix
from eigenecho.spectra.sim import as_square
from eigenecho.spectra.spectrum import check_n
from eigenecho.types import Array


def source(recipe: Recipe, rng: Streams, memory: Memory) -> Any:
    """The eigenvalues, or the matrix before any scaling."""
    spectrum = recipe.spectrum
    if isinstance(spectrum, Spectrum):
        return spectrum
    if isinstance(spectrum, str):
        check_n(recipe.units, "units")
        if spectrum in ("matrix", "sim"):
            drawn = remember(
                memory,
                ("W", *recipe.of_matrix),
                lambda: random_matrix(
                    recipe.units, rng.spectrum, connectivity=recipe.rc_connectivity
                ),
            )
            return drawn if spectrum == "matrix" else _eigenvalues(drawn, recipe, memory)
        return law(spectrum, also=("matrix",))(recipe.units, sr=recipe.sr, seed=rng.spectrum)
    if callable(spectrum):
        check_n(recipe.units, "units")
        try:
            made = spectrum(recipe.units, sr=recipe.sr, seed=rng.spectrum)
        except TypeError as error:
            expected = "a callable law(n, sr=, seed=) that returns a Spectrum"
            raise bad_argument("spectrum", spectrum, expected, f"It said: {error}.") from error
        if not isinstance(made, Spectrum):
            raise ValueError(
                f"spectrum: the callable returned {type(made).__name__}, not a Spectrum. "
                "Wrap a list of eigenvalues in Spectrum.from_values."
            )
        if made.units != recipe.units:
            raise ValueError(
                f"spectrum: the callable returned {made.units} eigenvalues "
                f"for units={recipe.units}."
            )
        return made
    if np.ndim(spectrum) == 1:
        try:
            return Spectrum.from_values(spectrum)
        except ValueError as error:
            raise ValueError(f"spectrum: {error}") from None
    if spectrum is None or np.isscalar(spectrum):
        expected = "a name, a Spectrum, eigenvalues, a square matrix or a callable"
        raise bad_argument("spectrum", spectrum, expected)
    as_square(spectrum, "spectrum")
    return spectrum


def scale(recipe: Recipe, radius: float) -> float:
    """What brings a drawn matrix of that radius to ``sr``; 1 for a given one."""
    if not recipe.is_drawn:
        return 1.0
    if radius > 0:
        return recipe.sr / radius
    warnings.warn(
        "the random W has spectral radius 0 and is left unscaled. Raise rc_connectivity or units.",
        UserWarning,
        stacklevel=2,
    )
    return 1.0


def _eigenvalues(W: Array, recipe: Recipe, memory: Memory) -> Spectrum:
    """The eigenvalues of a drawn W, scaled: what ``spectra.sim`` gives."""
    spectrum = remember(memory, ("values", *recipe.of_matrix), lambda: from_matrix(W))
    return spectrum.times(scale(recipe, spectrum.radius))
