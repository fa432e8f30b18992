"""Drawing a reservoir: from a name, eigenvalues or a matrix to weights in the basis at work."""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from typing import Any

import numpy as np

from eigenecho.basis import Basis, eigendecomposition, random_basis
from eigenecho.blas import one_blas_thread
from eigenecho.errors import IllConditionedWarning, bad_argument
from eigenecho.random import Seed, Streams, streams
from eigenecho.reservoir.choose import Choice, choose
from eigenecho.reservoir.inputs import per_feature, projected_uniform
from eigenecho.reservoir.memory import Memory, of_seed, remember
from eigenecho.reservoir.recipe import Recipe
from eigenecho.reservoir.reservoir import Reservoir
from eigenecho.reservoir.sources import scale, source
from eigenecho.reservoir.transition import leaky, times
from eigenecho.spectra import Spectrum, from_matrix
from eigenecho.spectra.sim import as_square
from eigenecho.types import Array


@dataclass(frozen=True, eq=False)
class Drawn:
    """A reservoir, with the spectrum before the leak and the basis, where there is one."""

    reservoir: Reservoir
    basis: Basis | None
    spectrum: Spectrum | None


@one_blas_thread()
def draw(
    recipe: Recipe, D_in: int, D_fb: int = 0, seed: Seed = None, memory: Memory | None = None
) -> Drawn:
    """Draw all weights; ``D_fb`` columns of feedback, 0 for none.

    A ``memory`` that is handed to several draws saves the eigendecompositions that those of one
    int seed share.
    """
    rng = streams(seed)
    memory = {} if memory is None else of_seed(memory, seed)
    memory[id(recipe.spectrum)] = recipe.spectrum  # kept alive, so that its id stays its own
    drawn = source(recipe, rng, memory)
    transition, basis, spectrum = _transition(drawn, recipe, rng, memory)

    scaling = per_feature(recipe.input_scaling, D_in)
    if isinstance(transition, Spectrum) and basis is None:
        layout = (transition.real.size, transition.pairs.size)
        W_in = projected_uniform(rng.W_in, D_in, layout, recipe.input_connectivity)
        bias = projected_uniform(rng.bias, 1, layout)
        W_fb = projected_uniform(rng.W_fb, D_fb, layout)
    else:
        N = transition.shape[0] if basis is None else basis.units
        W_in = rng.W_in.uniform(-1, 1, (D_in, N))
        if recipe.input_connectivity < 1:
            W_in[rng.W_in.random((D_in, N)) >= recipe.input_connectivity] = 0.0
        bias = rng.bias.uniform(-1, 1, (1, N))
        W_fb = rng.W_fb.uniform(-1, 1, (D_fb, N))
        if basis is not None:
            W_in, bias, W_fb = (basis.states_to_eigen(A) for A in (W_in, bias, W_fb))

    def scaled(A: Array, factor: Any, name: str) -> Array:
        with np.errstate(over="ignore"):
            weights = np.ascontiguousarray(recipe.lr * (A * factor), recipe.dtype)
        if not np.all(np.isfinite(weights)):
            expected = f"a scale that keeps weights within the range of {np.dtype(recipe.dtype)}"
            raise bad_argument(name, getattr(recipe, name), expected)
        return weights

    mean = np.mean(np.abs(recipe.input_scaling))
    reservoir = Reservoir(
        leaky(transition, recipe.lr),
        scaled(W_in, scaling[:, None], "input_scaling"),
        scaled(bias[0], mean, "input_scaling") if recipe.input_bias else None,
        scaled(W_fb, recipe.fb_scaling, "fb_scaling") if D_fb else None,
    )
    return Drawn(reservoir, basis, spectrum)


def _transition(
    drawn: Any, recipe: Recipe, rng: Streams, memory: Memory
) -> tuple[Any, Basis | None, Spectrum | None]:
    """The transition before the leak, its basis and its eigenvalues, where they are known."""
    if isinstance(drawn, Spectrum):
        needs_basis = recipe.basis == "neuron" or recipe.eigenvectors
        basis = _eigenvectors(drawn, rng, memory) if needs_basis else None
        if basis is not None and recipe.basis == "neuron":
            return basis.matrix(drawn), None, drawn
        return drawn, basis, drawn
    if recipe.basis == "neuron":
        W = drawn if hasattr(drawn, "tocsr") else as_square(drawn)
        if not recipe.is_drawn:
            return W, None, None
        radius = remember(memory, ("radius", *recipe.of_matrix), lambda: from_matrix(drawn).radius)
        return W * scale(recipe, radius), None, None
    find = _plain if recipe.even_defective else choose
    key = (find.__name__, *recipe.of_matrix)
    chosen = remember(memory, key, lambda: find(as_square(drawn)))
    if chosen.form == "dense":
        _warn_of_dense(chosen)
    factor = scale(recipe, chosen.spectrum.radius)
    return times(chosen.transition, factor), chosen.basis, chosen.spectrum.times(factor)


def _plain(W: Array) -> Choice:
    """W in its eigenbasis, however bad."""
    spectrum, basis = eigendecomposition(W)
    return Choice("diagonal", spectrum, basis, spectrum)


def _warn_of_dense(chosen: Choice) -> None:
    warnings.warn(
        f"the reservoir matrix is nearly defective: {chosen.reason}. It is run as it is, dense, N² "
        "operations a step. A named spectrum runs in O(N).",
        IllConditionedWarning,
        stacklevel=4,
    )


def _eigenvectors(spectrum: Spectrum, rng: Streams, memory: Memory) -> Basis:
    key = ("Q", spectrum.real.size, spectrum.pairs.size)
    return remember(memory, key, lambda: random_basis(spectrum, rng.eigenvectors))
