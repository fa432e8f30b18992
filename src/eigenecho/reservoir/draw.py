"""Drawing a reservoir: from a recipe and a seed to weights in the basis at work."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from numbers import Real
from typing import Any, NamedTuple

import numpy as np

from eigenecho import checks
from eigenecho.basis import Basis, drawn_basis, eigendecomposition, interleave
from eigenecho.errors import IllConditionedWarning, bad_argument, unknown_name, warn
from eigenecho.reservoir.reservoir import Reservoir
from eigenecho.spectra import LAWS, Spectrum, from_matrix, law, random_matrix
from eigenecho.threads import one_blas_thread
from eigenecho.transition import Choice, Dense, Diagonal, Transition, as_transition, choose_form
from eigenecho.types import Array, Seed

SOURCES = "a name, a Spectrum, eigenvalues, a square matrix or a callable"
"""Accepted types of ``spectrum``, for messages."""


@dataclass(frozen=True)
class Recipe:
    """Parameters that a reservoir is drawn from. ``basis`` is "eigen" or "neuron".

    ``eigenvectors=False`` draws [W_in]_Q directly, so that a named spectrum never needs an
    N×N matrix; the neuron basis is then unknown. ``even_defective=True`` diagonalises a matrix
    without a usable eigenbasis all the same, as the paper does, instead of taking the form that
    ``choose_form`` returns.
    """

    units: int = 100
    spectrum: Any = "golden"
    basis: str = "eigen"
    sr: float = 0.9
    lr: float = 1.0
    input_scaling: Any = 1.0
    input_connectivity: float = 1.0
    rc_connectivity: float = 1.0
    input_bias: bool = False
    fb_scaling: float = 1.0
    eigenvectors: bool = True
    even_defective: bool = False
    dtype: str = "float64"

    def __post_init__(self) -> None:
        checks.check_sr(self.sr)
        checks.check_known(self.basis, "basis", ("eigen", "neuron"))
        checks.check_lr(self.lr)
        checks.check_flag(self.input_bias, "input_bias")
        checks.check_connectivity(self.input_connectivity, "input_connectivity")
        checks.check_connectivity(self.rc_connectivity, "rc_connectivity")
        if not (isinstance(self.fb_scaling, Real) and np.isfinite(self.fb_scaling)):
            raise bad_argument("fb_scaling", self.fb_scaling, "a finite number")
        try:
            is_float = np.dtype(self.dtype) in (np.float64, np.float32)
        except TypeError:
            is_float = False
        if not is_float:
            raise unknown_name("dtype", self.dtype, ("float64", "float32"))

    @property
    def is_drawn(self) -> bool:
        """True if the spectrum is a name, so that it is scaled to ``sr``."""
        return isinstance(self.spectrum, str)

    @property
    def is_learnt(self) -> bool:
        """True if the eigenvalues are learnt from training rows before anything is drawn."""
        return isinstance(self.spectrum, str) and self.spectrum == "data"

    @property
    def matrix_key(self) -> tuple[Any, ...]:
        """Cache key of the matrix of one seed; a given matrix is its own key."""
        return (self.units, self.rc_connectivity) if self.is_drawn else (Same(self.spectrum),)

    def scale(self, radius: float) -> float:
        """Return the factor that brings a drawn matrix of that radius to ``sr``; else 1."""
        if not self.is_drawn:
            return 1.0
        if radius > 0:
            return self.sr / radius
        warn(
            "the random W has spectral radius 0 and is left unscaled. Raise rc_connectivity or "
            "units.",
            UserWarning,
        )
        return 1.0

    def source(self, rng: Streams, cache: Cache) -> Any:
        """Return the eigenvalues, or the matrix before any scaling."""
        spectrum = self.spectrum
        if isinstance(spectrum, Spectrum):
            return spectrum
        if isinstance(spectrum, str) or callable(spectrum):
            checks.check_units(self.units, "units")
            if callable(spectrum):
                return self._call(spectrum, rng)
            return self._draw(spectrum, rng, cache)
        if spectrum is None or np.isscalar(spectrum):
            raise bad_argument("spectrum", spectrum, SOURCES)
        if hasattr(spectrum, "toarray") or checks.as_array(spectrum, "spectrum", SOURCES).ndim != 1:
            checks.as_square(spectrum, "spectrum")
            return spectrum
        try:
            return Spectrum.from_values(spectrum)
        except ValueError as error:
            raise ValueError(f"spectrum: {error}") from None

    def _draw(self, name: str, rng: Streams, cache: Cache) -> Spectrum | Array:
        """Draw the eigenvalues of a named law, or a random matrix."""
        if self.is_learnt:
            expected = "a law: there are no targets to learn from"
            remedy = "LinearESN.fit learns it; spectra.from_data(X, y, units=…) returns it."
            raise bad_argument("spectrum", name, expected, remedy)
        if name not in ("matrix", "sim"):
            sample = LAWS.get(name) or law(name, also=("matrix", "data"))
            return sample(self.units, sr=self.sr, seed=rng.spectrum)

        def drawn() -> Array:
            return random_matrix(self.units, rng.spectrum, connectivity=self.rc_connectivity)

        W = cache.once(("W", *self.matrix_key), drawn)
        if name == "matrix":
            return W
        # Equal to ``spectra.sim``.
        values = cache.once(("values", *self.matrix_key), lambda: from_matrix(W))
        return values.times(self.scale(values.radius))

    def _call(self, sample: Any, rng: Streams) -> Spectrum:
        """Draw eigenvalues by calling the law that the caller passed."""
        try:
            spectrum = sample(self.units, sr=self.sr, seed=rng.spectrum)
        except TypeError as error:
            expected = "a callable law(n, sr=, seed=) that returns a Spectrum"
            raise bad_argument("spectrum", sample, expected, f"It raised: {error}.") from error
        if not isinstance(spectrum, Spectrum):
            raise ValueError(
                f"spectrum: the callable returned {type(spectrum).__name__}, not a Spectrum. "
                "Wrap a list of eigenvalues in Spectrum.from_values."
            )
        if spectrum.units != self.units:
            raise ValueError(
                f"spectrum: the callable returned {spectrum.units} eigenvalues for "
                f"units={self.units}."
            )
        return spectrum


class Same:
    """A cache key for one object: equal only to itself, and keeps the object alive."""

    def __init__(self, value: Any) -> None:
        self.value = value

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Same) and self.value is other.value

    def __hash__(self) -> int:
        return id(self.value)


class Streams(NamedTuple):
    """Independent generators, so that changing one option does not redraw the others."""

    spectrum: np.random.Generator
    eigenvectors: np.random.Generator
    W_in: np.random.Generator
    W_fb: np.random.Generator
    bias: np.random.Generator


def streams(seed: Seed) -> Streams:
    """Spawn one generator for each part of a reservoir."""
    return Streams(*checks.generator(seed).spawn(len(Streams._fields)))


class Cache:
    """Values that are computed once, each under a key that names all it depends on."""

    def __init__(self) -> None:
        self._values: dict[Any, Any] = {}

    def once(self, key: Any, make: Callable[[], Any]) -> Any:
        """Return the value under a key, computed on first use."""
        if key not in self._values:
            self._values[key] = make()
        return self._values[key]

    def of_seed(self, seed: Seed) -> Cache:
        """Return the cache that all draws of an int seed share; other seeds share nothing."""
        if not isinstance(seed, (int, np.integer)):
            return Cache()
        return self.once(("seed", int(seed)), Cache)


@dataclass(frozen=True, eq=False)
class Drawn:
    """A reservoir, with the spectrum before the leak and the basis, if it has one."""

    reservoir: Reservoir
    basis: Basis | None
    spectrum: Spectrum | None


@one_blas_thread()
def draw(
    recipe: Recipe, D_in: int, D_fb: int = 0, seed: Seed = None, cache: Cache | None = None
) -> Drawn:
    """Draw all weights, with ``D_fb`` columns of feedback (0 for none).

    A ``cache`` that is passed to several draws saves eigendecompositions that draws of one int
    seed share.
    """
    rng = streams(seed)
    cache = Cache() if cache is None else cache.of_seed(seed)
    transition, basis, spectrum = _transition(recipe, rng, cache)
    scaling = per_feature(recipe.input_scaling, D_in)
    W_in, bias, W_fb = _inputs(recipe, rng, transition, basis, D_in, D_fb)

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
    """Return ``input_scaling`` as one number for each feature, (D_in,)."""
    factors = np.asarray(scaling)
    if factors.dtype.kind not in "fiu":
        raise bad_argument("input_scaling", scaling, "a number, or one for each feature")
    factors = factors.astype(np.float64)
    if factors.shape not in ((), (D_in,)):
        expected = f"a number, or one for each of {D_in} features"
        raise bad_argument("input_scaling", factors, expected)
    if not np.all(np.isfinite(factors)):
        raise bad_argument("input_scaling", factors, "finite numbers")
    return np.broadcast_to(factors, (D_in,))


def _transition(
    recipe: Recipe, rng: Streams, cache: Cache
) -> tuple[Transition, Basis | None, Spectrum | None]:
    """Return the transition before the leak, its basis and its eigenvalues, if known."""
    source = recipe.source(rng, cache)
    if isinstance(source, Spectrum):
        if recipe.basis == "eigen" and not recipe.eigenvectors:
            return Diagonal(source), None, source
        key = ("Q", source.real.size, source.pairs.size)
        basis = cache.once(key, lambda: drawn_basis(source, rng.eigenvectors))
        if recipe.basis == "neuron":
            return Dense(basis.matrix(Diagonal(source).matrix)), None, source
        return Diagonal(source), basis, source
    if recipe.basis == "neuron":
        W = as_transition(source if hasattr(source, "tocsr") else checks.as_square(source))
        if not recipe.is_drawn:
            return W, None, None
        radius = cache.once(("radius", *recipe.matrix_key), lambda: from_matrix(source).radius)
        return W.times(recipe.scale(radius)), None, None
    choose = _eigenbasis if recipe.even_defective else choose_form
    key = (choose.__name__, *recipe.matrix_key)
    choice = cache.once(key, lambda: choose(checks.as_square(source)))
    if choice.form == "dense":
        warn(
            f"the reservoir matrix is nearly defective: {choice.reason}. It runs as a dense "
            "matrix, N² operations per step. A named spectrum runs in O(N).",
            IllConditionedWarning,
        )
    factor = recipe.scale(choice.spectrum.radius)
    return choice.transition.times(factor), choice.basis, choice.spectrum.times(factor)


def _eigenbasis(W: Array) -> Choice:
    """Return W in its eigenbasis, however ill-conditioned."""
    spectrum, basis = eigendecomposition(W)
    return Choice(Diagonal(spectrum), basis, spectrum)


def _inputs(
    recipe: Recipe,
    rng: Streams,
    transition: Transition,
    basis: Basis | None,
    D_in: int,
    D_fb: int,
) -> tuple[Array, Array, Array]:
    """Draw weights of inputs (D_in, N), bias (1, N) and feedback (D_fb, N) before any scaling."""
    if isinstance(transition, Diagonal) and basis is None:
        return (
            _projected_uniform(rng.W_in, D_in, transition.modes, recipe.input_connectivity),
            _projected_uniform(rng.bias, 1, transition.modes),
            _projected_uniform(rng.W_fb, D_fb, transition.modes),
        )
    N = transition.units
    W_in = rng.W_in.uniform(-1, 1, (D_in, N))
    if recipe.input_connectivity < 1:
        W_in[rng.W_in.random((D_in, N)) >= recipe.input_connectivity] = 0.0
    bias, W_fb = rng.bias.uniform(-1, 1, (1, N)), rng.W_fb.uniform(-1, 1, (D_fb, N))
    if basis is None:
        return W_in, bias, W_fb
    to_eigen = basis.states_to_eigen
    return to_eigen(W_in), to_eigen(bias), to_eigen(W_fb)


def _projected_uniform(
    rng: np.random.Generator, rows: int, modes: Spectrum, connectivity: float = 1.0
) -> Array:
    """Draw rows with the distribution of uniform rows in [−1, 1] times random eigenvectors.

    Each entry is a long sum, so Gaussian: the variance is 1/3 for a real mode and half of that for
    each of Re and Im, times the share of connections that are kept.
    """
    real = rng.normal(0, np.sqrt(connectivity / 3), (rows, modes.real.size))
    parts = rng.normal(0, np.sqrt(connectivity / 6), (2, rows, modes.pairs.size))
    return interleave(real, parts[0] + 1j * parts[1])
