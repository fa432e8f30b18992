"""Drawing a reservoir: from a name, eigenvalues or a matrix to weights in the basis at work."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from dataclasses import dataclass
from numbers import Real
from typing import Any

import numpy as np

from eigenecho.basis import Basis, eigendecomposition, interleave, random_basis
from eigenecho.blas import one_blas_thread
from eigenecho.errors import IllConditionedWarning, bad_argument, check_flag, unknown_name
from eigenecho.random import Seed, Streams, streams
from eigenecho.reservoir.reservoir import Reservoir
from eigenecho.spectra import Spectrum, from_matrix, law, random_matrix
from eigenecho.spectra.sim import as_square, check_connectivity
from eigenecho.spectra.spectrum import check_lr, check_n, check_sr
from eigenecho.types import Array

NEARLY_DEFECTIVE = 1e8
"""cond(Q) from which the eigenbasis loses so many digits that W is kept as it is."""

SPARSE_BELOW = 0.2
"""Density up to which a compiled sparse product is cheaper than BLAS."""


@dataclass(frozen=True, eq=False)
class Drawn:
    """A reservoir, with the spectrum before the leak and the basis, where there is one."""

    reservoir: Reservoir
    basis: Basis | None
    spectrum: Spectrum | None


@dataclass(frozen=True)
class Recipe:
    """What a reservoir is drawn from. ``basis`` is "eigen" or "neuron".

    ``eigenvectors=False`` draws [W_in]_Q directly, so that a named spectrum never needs an
    N×N matrix; the neuron basis is then unknown. ``even_defective=True`` diagonalises a matrix
    that has no usable eigenbasis all the same, as the paper does.
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
        check_sr(self.sr)
        if self.basis not in ("eigen", "neuron"):
            raise unknown_name("basis", self.basis, ("eigen", "neuron"))
        check_lr(self.lr)
        check_flag(self.input_bias, "input_bias")
        check_connectivity(self.input_connectivity, "input_connectivity")
        check_connectivity(self.rc_connectivity, "rc_connectivity")
        if not (isinstance(self.fb_scaling, Real) and np.isfinite(self.fb_scaling)):
            raise bad_argument("fb_scaling", self.fb_scaling, "a finite number")
        if not _is_float(self.dtype):
            raise unknown_name("dtype", self.dtype, ("float64", "float32"))


Memory = dict[Any, Any]
"""What draws of one seed share, whatever ``sr``, ``lr`` and scalings they have."""


@one_blas_thread()
def draw(
    recipe: Recipe, D_in: int, D_fb: int = 0, seed: Seed = None, memory: Memory | None = None
) -> Drawn:
    """Draw all weights; ``D_fb`` columns of feedback, 0 for none.

    A ``memory`` that is handed to all draws of one int seed saves their eigendecompositions.
    """
    rng = streams(seed)
    memory = {} if memory is None else memory
    memory[id(recipe.spectrum)] = recipe.spectrum  # kept alive, so that its id stays its own
    source = _source(recipe, rng, memory)
    spectrum: Spectrum | None
    basis: Basis | None
    spectrum, basis = (source if isinstance(source, Spectrum) else None), None
    if recipe.basis == "eigen":
        if spectrum is None:
            spectrum, basis = _diagonalised(source, recipe, memory)
        elif recipe.eigenvectors:
            basis = _eigenvectors(spectrum, rng, memory)
    defective = (
        not recipe.even_defective
        and basis is not None
        and spectrum is not source
        and not _is_usable(basis)
    )
    if spectrum is not None and recipe.basis == "eigen" and not defective:
        transition: Any = spectrum.leak(recipe.lr)
    else:
        basis = None
        transition = _leaky(_matrix(source, recipe, rng, memory), recipe.lr)

    N = transition.units if isinstance(transition, Spectrum) else transition.shape[0]
    scaling = _per_feature(recipe.input_scaling, D_in)
    if isinstance(transition, Spectrum) and basis is None:
        assert spectrum is not None
        layout = (spectrum.real.size, spectrum.pairs.size)
        W_in = _projected_uniform(rng.W_in, D_in, layout, recipe.input_connectivity)
        bias = _projected_uniform(rng.bias, 1, layout)
        W_fb = _projected_uniform(rng.W_fb, D_fb, layout)
    else:
        W_in = rng.W_in.uniform(-1, 1, (D_in, N))
        if recipe.input_connectivity < 1:
            W_in[rng.W_in.random((D_in, N)) >= recipe.input_connectivity] = 0.0
        bias = rng.bias.uniform(-1, 1, (1, N))
        W_fb = rng.W_fb.uniform(-1, 1, (D_fb, N))
        if basis is not None:
            W_in, bias, W_fb = (basis.states_to_eigen(A) for A in (W_in, bias, W_fb))

    def leaky(A: Array) -> Array:
        return np.ascontiguousarray(recipe.lr * A, recipe.dtype)

    reservoir = Reservoir(
        transition,
        leaky(W_in * scaling[:, None]),
        leaky(bias[0] * np.mean(np.abs(recipe.input_scaling))) if recipe.input_bias else None,
        leaky(W_fb * recipe.fb_scaling) if D_fb else None,
    )
    return Drawn(reservoir, basis, spectrum)


def _source(recipe: Recipe, rng: Streams, memory: Memory) -> Any:
    """The eigenvalues, or the matrix before any scaling."""
    spectrum = recipe.spectrum
    if isinstance(spectrum, Spectrum):
        return spectrum
    if isinstance(spectrum, str):
        check_n(recipe.units, "units")
        if spectrum in ("matrix", "sim"):
            drawn = _remember(
                memory,
                ("W", *_of_matrix(recipe)),
                lambda: random_matrix(
                    recipe.units, rng.spectrum, connectivity=recipe.rc_connectivity
                ),
            )
            return drawn if spectrum == "matrix" else _spectrum(drawn, recipe, memory)
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


def _diagonalised(W: Any, recipe: Recipe, memory: Memory) -> tuple[Spectrum, Basis]:
    spectrum, basis = _remember(
        memory, ("eigen", *_of_matrix(recipe)), lambda: eigendecomposition(as_square(W))
    )
    if _is_drawn(recipe):
        spectrum = spectrum.times(_scale(spectrum.radius, recipe.sr))
    return spectrum, basis


def _is_usable(basis: Basis) -> bool:
    """Whether eigenvectors are far enough from each other to be a basis; a warning if not."""
    if basis.condition <= NEARLY_DEFECTIVE:
        return True
    warnings.warn(
        f"the reservoir matrix is nearly defective (cond(Q) = {basis.condition:.1e}): it has no "
        "usable eigenbasis and is run as it is, in the neuron basis. A higher rc_connectivity or a "
        "named spectrum runs in O(N).",
        IllConditionedWarning,
        stacklevel=2,
    )
    return False


def _spectrum(W: Array, recipe: Recipe, memory: Memory) -> Spectrum:
    """The eigenvalues of a drawn W, scaled: what ``spectra.sim`` gives."""
    spectrum = _remember(memory, ("values", *_of_matrix(recipe)), lambda: from_matrix(W))
    return spectrum.times(_scale(spectrum.radius, recipe.sr))


def _eigenvectors(spectrum: Spectrum, rng: Streams, memory: Memory) -> Basis:
    key = ("Q", spectrum.real.size, spectrum.pairs.size)
    return _remember(memory, key, lambda: random_basis(spectrum, rng.eigenvectors))


def _matrix(source: Any, recipe: Recipe, rng: Streams, memory: Memory) -> Any:
    """W in the neuron basis: given, drawn and scaled, or built from its eigenvalues."""
    if isinstance(source, Spectrum):
        return _eigenvectors(source, rng, memory).matrix(source)
    if _is_drawn(recipe):
        key = ("radius", *_of_matrix(recipe))
        radius = _remember(memory, key, lambda: from_matrix(source).radius)
        return source * _scale(radius, recipe.sr)
    return source if hasattr(source, "tocsr") else as_square(source)


def _of_matrix(recipe: Recipe) -> tuple[Any, ...]:
    """What a drawn matrix depends on besides the seed; a given one is known by itself."""
    if _is_drawn(recipe):
        return (recipe.units, recipe.rc_connectivity)
    return (id(recipe.spectrum),)


def _remember(memory: Memory, key: Any, make: Callable[[], Any]) -> Any:
    if key not in memory:
        memory[key] = make()
    return memory[key]


def _is_float(dtype: Any) -> bool:
    try:
        return np.dtype(dtype) in (np.float64, np.float32)
    except TypeError:
        return False


def _is_drawn(recipe: Recipe) -> bool:
    return isinstance(recipe.spectrum, str)


def _scale(radius: float, sr: float) -> float:
    if radius > 0:
        return sr / radius
    warnings.warn(
        "the random W has spectral radius 0 and is left unscaled. Raise rc_connectivity or units.",
        UserWarning,
        stacklevel=2,
    )
    return 1.0


def _leaky(W: Any, lr: float) -> Any:
    """W' = lr W + (1 − lr) I, sparse where that is the cheaper product."""
    from scipy import sparse

    if sparse.issparse(W):
        return (lr * W + (1 - lr) * sparse.identity(W.shape[0])).tocsr()
    leaky = lr * W + (1 - lr) * np.eye(len(W))
    return sparse.csr_matrix(leaky) if np.mean(leaky != 0) <= SPARSE_BELOW else leaky


def _per_feature(scaling: Any, D_in: int) -> Array:
    given = scaling
    scaling = np.asarray(given)
    if scaling.dtype.kind not in "fiu":
        raise bad_argument("input_scaling", given, "a number, or one for each feature")
    scaling = scaling.astype(np.float64)
    if scaling.ndim > 1 or (scaling.ndim == 1 and scaling.size != D_in):
        raise bad_argument(
            "input_scaling", scaling, f"a number, or one for each of {D_in} features"
        )
    if not np.all(np.isfinite(scaling)):
        raise bad_argument("input_scaling", scaling, "finite numbers")
    return np.broadcast_to(scaling, (D_in,))


def _projected_uniform(
    rng: np.random.Generator, rows: int, layout: tuple[int, int], connectivity: float = 1.0
) -> Array:
    """Rows by the law that uniform rows in [−1, 1] times random unit eigenvectors have.

    Each entry is a long sum, so Gaussian: variance 1/3 for a real mode, and half of that for
    each of Re and Im, all times the share of connections that are kept.
    """
    n, m = layout
    real = rng.normal(0, np.sqrt(connectivity / 3), (rows, n))
    parts = rng.normal(0, np.sqrt(connectivity / 6), (2, rows, m))
    return interleave(real, parts[0] + 1j * parts[1])
