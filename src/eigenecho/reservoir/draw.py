"""Drawing a reservoir: from a recipe and a seed to weights in the basis at work."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from eigenecho.basis import Basis, drawn_basis, eigendecomposition, interleave
from eigenecho.checks import as_square, generator
from eigenecho.errors import IllConditionedWarning, bad_argument, warn
from eigenecho.reservoir.recipe import Recipe
from eigenecho.reservoir.reservoir import Reservoir
from eigenecho.spectra import Spectrum, from_matrix
from eigenecho.threads import one_blas_thread
from eigenecho.transition import Choice, Dense, Diagonal, Transition, as_transition, choose_form
from eigenecho.types import Array, Seed


class Streams(NamedTuple):
    """Independent generators, so that changing one option does not redraw the others."""

    spectrum: np.random.Generator
    eigenvectors: np.random.Generator
    W_in: np.random.Generator
    W_fb: np.random.Generator
    bias: np.random.Generator


def streams(seed: Seed) -> Streams:
    """Spawn one generator for each thing that a reservoir draws."""
    return Streams(*generator(seed).spawn(len(Streams._fields)))


class Cache:
    """Things made once, each known by a key that says all it depends on."""

    def __init__(self) -> None:
        self._known: dict[Any, Any] = {}

    def once(self, key: Any, make: Callable[[], Any]) -> Any:
        """What is known under the key, made where it is not."""
        if key not in self._known:
            self._known[key] = make()
        return self._known[key]

    def of_seed(self, seed: Seed) -> Cache:
        """What draws of this seed share; one that is no int shares nothing, it draws anew."""
        if not isinstance(seed, (int, np.integer)):
            return Cache()
        return self.once(("seed", int(seed)), Cache)


@dataclass(frozen=True, eq=False)
class Drawn:
    """A reservoir, with the spectrum before the leak and the basis, where there is one."""

    reservoir: Reservoir
    basis: Basis | None
    spectrum: Spectrum | None


@one_blas_thread()
def draw(
    recipe: Recipe, D_in: int, D_fb: int = 0, seed: Seed = None, cache: Cache | None = None
) -> Drawn:
    """Draw all weights; ``D_fb`` columns of feedback, 0 for none.

    A ``cache`` that is handed to several draws saves the eigendecompositions that those of one
    int seed share.
    """
    rng = streams(seed)
    cache = Cache() if cache is None else cache.of_seed(seed)
    transition, basis, spectrum = _transition(recipe, rng, cache)
    scaling = per_feature(recipe.input_scaling, D_in)
    W_in, bias, W_fb = _inputs(recipe, rng, transition, basis, (D_in, 1, D_fb))

    def scaled(A: Array, factor: Any, name: str) -> Array:
        with np.errstate(over="ignore"):
            weights = np.ascontiguousarray(recipe.lr * (A * factor), recipe.dtype)
        if not np.all(np.isfinite(weights)):
            expected = f"a scale that keeps weights within the range of {np.dtype(recipe.dtype)}"
            raise bad_argument(name, getattr(recipe, name), expected)
        return weights

    mean = np.mean(np.abs(recipe.input_scaling))
    reservoir = Reservoir(
        transition.leak(recipe.lr),
        scaled(W_in, scaling[:, None], "input_scaling"),
        scaled(bias[0], mean, "input_scaling") if recipe.input_bias else None,
        scaled(W_fb, recipe.fb_scaling, "fb_scaling") if D_fb else None,
    )
    return Drawn(reservoir, basis, spectrum)


def per_feature(scaling: Any, D_in: int) -> Array:
    """``input_scaling`` as one number for each feature, (D_in,)."""
    given = scaling
    scaling = np.asarray(given)
    if scaling.dtype.kind not in "fiu":
        raise bad_argument("input_scaling", given, "a number, or one for each feature")
    scaling = scaling.astype(np.float64)
    if scaling.shape not in ((), (D_in,)):
        wanted = f"a number, or one for each of {D_in} features"
        raise bad_argument("input_scaling", scaling, wanted)
    if not np.all(np.isfinite(scaling)):
        raise bad_argument("input_scaling", scaling, "finite numbers")
    return np.broadcast_to(scaling, (D_in,))


def _transition(
    recipe: Recipe, rng: Streams, cache: Cache
) -> tuple[Transition, Basis | None, Spectrum | None]:
    """The transition before the leak, its basis and its eigenvalues, where they are known."""
    drawn = recipe.source(rng, cache)
    if isinstance(drawn, Spectrum):
        if recipe.basis == "eigen" and not recipe.eigenvectors:
            return Diagonal(drawn), None, drawn
        key = ("Q", drawn.real.size, drawn.pairs.size)
        basis = cache.once(key, lambda: drawn_basis(drawn, rng.eigenvectors))
        if recipe.basis == "neuron":
            return Dense(basis.matrix(Diagonal(drawn).matrix)), None, drawn
        return Diagonal(drawn), basis, drawn
    if recipe.basis == "neuron":
        W = as_transition(drawn if hasattr(drawn, "tocsr") else as_square(drawn))
        if not recipe.is_drawn:
            return W, None, None
        radius = cache.once(("radius", *recipe.of_matrix), lambda: from_matrix(drawn).radius)
        return W.times(recipe.scale(radius)), None, None
    find = _plain if recipe.even_defective else choose_form
    chosen = cache.once((find.__name__, *recipe.of_matrix), lambda: find(as_square(drawn)))
    if chosen.form == "dense":
        warn(
            f"the reservoir matrix is nearly defective: {chosen.reason}. It is run as it is, dense,"
            " N² operations a step. A named spectrum runs in O(N).",
            IllConditionedWarning,
        )
    factor = recipe.scale(chosen.spectrum.radius)
    return chosen.transition.times(factor), chosen.basis, chosen.spectrum.times(factor)


def _plain(W: Array) -> Choice:
    """W in its eigenbasis, however bad."""
    spectrum, basis = eigendecomposition(W)
    return Choice(Diagonal(spectrum), basis, spectrum)


def _inputs(
    recipe: Recipe, rng: Streams, transition: Transition, basis: Basis | None, rows: tuple[int, ...]
) -> tuple[Array, Array, Array]:
    """Weights of inputs, bias and feedback before any scaling, with as many ``rows`` each."""
    D_in, one, D_fb = rows
    if isinstance(transition, Diagonal) and basis is None:
        return (
            _projected_uniform(rng.W_in, D_in, transition.modes, recipe.input_connectivity),
            _projected_uniform(rng.bias, one, transition.modes),
            _projected_uniform(rng.W_fb, D_fb, transition.modes),
        )
    N = transition.units
    W_in = rng.W_in.uniform(-1, 1, (D_in, N))
    if recipe.input_connectivity < 1:
        W_in[rng.W_in.random((D_in, N)) >= recipe.input_connectivity] = 0.0
    bias, W_fb = rng.bias.uniform(-1, 1, (one, N)), rng.W_fb.uniform(-1, 1, (D_fb, N))
    if basis is None:
        return W_in, bias, W_fb
    to_eigen = basis.states_to_eigen
    return to_eigen(W_in), to_eigen(bias), to_eigen(W_fb)


def _projected_uniform(
    rng: np.random.Generator, rows: int, modes: Spectrum, connectivity: float = 1.0
) -> Array:
    """Rows by the law that uniform rows in [−1, 1] times random unit eigenvectors have.

    Each entry is a long sum, so Gaussian: variance 1/3 for a real mode, and half of that for
    each of Re and Im, all times the share of connections that are kept.
    """
    real = rng.normal(0, np.sqrt(connectivity / 3), (rows, modes.real.size))
    parts = rng.normal(0, np.sqrt(connectivity / 6), (2, rows, modes.pairs.size))
    return interleave(real, parts[0] + 1j * parts[1])
