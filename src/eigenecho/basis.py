"""Real eigenvectors, and the change of basis between neurons and modes."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from eigenecho.arrays import namespace
from eigenecho.checks import check_floats, check_square
from eigenecho.errors import StorageError, bad_argument
from eigenecho.spectra import Spectrum
from eigenecho.types import Array, Count

SINGULAR = 1e-13
"""Fraction of the largest pivot of Q below which a pivot is treated as a rounding error."""

POOL = 4
"""Default pool size of a SeedSequence, in words. Other sizes are not stored in files."""


@dataclass(frozen=True, eq=False, repr=False)
class Basis:
    """Real eigenbasis of a reservoir.

        Q = [v_1, …, v_n, Re w_1, Im w_1, …, Re w_m, Im w_m],   [r]_Q = r Q

    Parameters
    ----------
    Q : array (N, N)
        Real eigenvectors v, then the real and imaginary parts of one eigenvector w of each pair.
    n_real : int
        Number of columns that are real eigenvectors.

    See Also
    --------
    eigenecho.LinearModel : Network whose ``basis`` attribute is a Basis.

    Examples
    --------
    >>> import eigenecho as ee
    >>> import numpy as np
    >>> rng = np.random.default_rng(0)
    >>> model = ee.diagonalize(rng.normal(size=(20, 20)) / 6, rng.normal(size=(1, 20)))
    >>> neurons = rng.normal(size=(5, 20))
    >>> modes = model.basis.states_to_eigen(neurons)
    >>> bool(np.allclose(model.basis.states_to_neuron(modes), neurons))
    True
    """

    Q: Array
    n_real: int

    def __post_init__(self) -> None:
        check_square(np.asarray(self.Q), "Q")
        Q = np.array(self.Q, dtype=np.float64, order="C")
        left = len(Q) - self.n_real
        if self.n_real < 0 or left < 0 or left % 2:
            expected = f"a number that leaves an even number of other columns ({len(Q)} in total)"
            raise bad_argument("n_real", self.n_real, expected)
        Q.setflags(write=False)
        object.__setattr__(self, "Q", Q)

    @property
    def units(self) -> int:
        """Number of units N."""
        return len(self.Q)

    @property
    def P(self) -> Array:
        """Complex eigenvectors as columns, in the order of ``Spectrum.values``."""
        P = self.Q.astype(np.complex128)
        re, im = self.Q[:, self.n_real :: 2], self.Q[:, self.n_real + 1 :: 2]
        P[:, self.n_real :: 2] = re + 1j * im
        P[:, self.n_real + 1 :: 2] = re - 1j * im
        return P

    @cached_property
    def condition(self) -> float:
        """Condition number of Q in the 2-norm, which limits the accuracy of conversions."""
        singular = np.linalg.svd(self.Q, compute_uv=False)
        return float(singular[0] / singular[-1]) if singular[-1] > 0 else float("inf")

    @cached_property
    def _lu(self) -> tuple[Array, Array] | None:
        """LU factors of Q, or None if Q is numerically singular."""
        from scipy.linalg.lapack import dgetrf

        lu, pivots, _ = dgetrf(self.Q)
        diagonal = np.abs(np.diag(lu))
        return (lu, pivots) if diagonal.min() > SINGULAR * diagonal.max() else None

    @cached_property
    def _pseudo_inverse(self) -> Array:
        return np.linalg.pinv(self.Q, rcond=SINGULAR)

    def solve(self, A: Array, transposed: bool = False) -> Array:
        """Return Q⁻¹ A, or Q⁻ᵀ A if ``transposed`` is True.

        The Q of a defective matrix has no inverse. Its pseudo-inverse is used instead, which is
        exact for states r Q, because they have no component in the null space of Q.
        """
        from scipy.linalg import lu_solve

        if self._lu is None:
            return (self._pseudo_inverse.T if transposed else self._pseudo_inverse) @ A
        return lu_solve(self._lu, A, trans=int(transposed), check_finite=False)

    def states_to_eigen(self, r: Array) -> Array:
        """Return [r]_Q = r Q for states (…, N), or for rows of W_in, W_fb or an input bias."""
        return r @ self.Q

    def states_to_neuron(self, r: Array) -> Array:
        """Return r = [r]_Q Q⁻¹ for states (…, N)."""
        flat = np.reshape(r, (-1, self.units)).T
        return self.solve(flat, transposed=True).T.reshape(np.shape(r))

    def weights_to_eigen(self, W_res: Array) -> Array:
        """Return [W_res]_Q = Q⁻¹ W_res for readout weights (N, D_out)."""
        return self.solve(W_res)

    def weights_to_neuron(self, W_res: Array) -> Array:
        """Return W_res = Q [W_res]_Q for readout weights (N, D_out)."""
        return self.Q @ W_res

    def matrix(self, at_work: Array) -> Array:
        """Return the reservoir matrix in the neuron basis, W = Q [W]_Q Q⁻¹, from [W]_Q."""
        return self.states_to_neuron(self.Q @ at_work)

    def residual(self, W: Array, at_work: Array) -> float:
        """Return the relative residual ‖W Q − Q [W]_Q‖ / ‖W‖ in the Frobenius norm."""
        difference = np.linalg.norm(W @ self.Q - self.Q @ at_work)
        return float(difference / (np.linalg.norm(W) or 1.0))

    def __repr__(self) -> str:
        return f"Basis({self.units} units, {self.n_real} real vectors)"


def eigendecomposition(W: Array) -> tuple[Spectrum, Basis]:
    """Return the eigenvalues and the real eigenbasis of a real square matrix.

    W Q = Q [W]_Q
    """
    values, vectors = np.linalg.eig(W)
    real = values.imag == 0
    upper = values.imag > 0
    spectrum = Spectrum(values[real].real, values[upper])
    Q = interleave(vectors[:, real].real, vectors[:, upper].astype(np.complex128))
    return spectrum, Basis(Q, int(real.sum()))


# The Q layout ------------------------------------------------------------------------------------


def interleave(real: Array, pairs: Array) -> Array:
    """Combine real columns (…, n) and complex columns (…, m) into the Q layout (…, n + 2m)."""
    n = real.shape[-1]
    out = np.empty((*real.shape[:-1], n + 2 * pairs.shape[-1]))
    out[..., :n] = real
    out[..., n::2] = pairs.real
    out[..., n + 1 :: 2] = pairs.imag
    return out


def separate(A: Array, n: int) -> Array:
    """Convert columns in the Q layout (…, n + 2m) to complex modes (…, n + m)."""
    pairs = A[..., n::2] + 1j * A[..., n + 1 :: 2]
    return namespace(A).concatenate([A[..., :n], pairs], axis=-1)


# Random eigenvectors -----------------------------------------------------------------------------


def random_basis(spectrum: Spectrum, rng: np.random.Generator) -> Basis:
    """Draw eigenvectors of unit length with random directions for a spectrum.

    The entries are Gaussian before normalisation, real for real eigenvalues and complex for pairs.
    The real eigenvectors are drawn first.
    """
    n, m = spectrum.real.size, spectrum.pairs.size
    return Basis(random_vectors(n, m, rng), n)


def random_vectors(n: int, m: int, rng: np.random.Generator) -> Array:
    """Draw n real and m complex vectors of unit length, in the Q layout (N, N)."""
    N = n + 2 * m
    real = rng.normal(size=(N, n))
    pairs = rng.normal(size=(N, m)) + 1j * rng.normal(size=(N, m))
    return interleave(*(vectors / np.linalg.norm(vectors, axis=0) for vectors in (real, pairs)))


class DrawnBasis(Basis):
    """Basis of random eigenvectors that are computed from a seed on first use."""

    pairs: int
    seed: np.random.SeedSequence

    def __init__(self, n_real: int, pairs: int, seed: np.random.SeedSequence) -> None:
        vars(self).update(n_real=n_real, pairs=pairs, seed=seed)

    @property
    def units(self) -> int:
        """Number of units N."""
        return self.n_real + 2 * self.pairs

    @cached_property
    def Q(self) -> Array:
        """Eigenvectors in the Q layout."""
        Q = random_vectors(self.n_real, self.pairs, self.generator())
        Q.setflags(write=False)
        return Q

    def generator(self) -> np.random.Generator:
        """Return a new generator that draws the eigenvectors."""
        return np.random.Generator(np.random.PCG64(self.seed))

    def _parts(self) -> dict[str, Any]:
        """Return the parts for a file; ``first`` are the first numbers of the generator."""
        seed, first = self.seed, tuple(self.generator().normal(size=3).tolist())
        drawn = {"n_real": self.n_real, "pairs": self.pairs, "entropy": f"{seed.entropy:x}"}
        return drawn | {"spawn_key": seed.spawn_key, "first": first}

    @classmethod
    def _from_parts(
        cls,
        n_real: Count,
        pairs: Count,
        entropy: str,
        spawn_key: tuple[int, ...],
        first: tuple[float, ...],
    ) -> DrawnBasis:
        """Return the basis, or raise if this version of NumPy draws other numbers."""
        basis = cls(n_real, pairs, np.random.SeedSequence(int(entropy, 16), spawn_key=spawn_key))
        check_floats(np.asarray(first), "first", 3)
        if not np.allclose(first, basis.generator().normal(size=3), rtol=1e-9, atol=0):
            raise StorageError(
                "This version of NumPy draws other random numbers from the stored seed than the "
                "version with which the file was saved. Load the file with that version."
            )
        return basis


def drawn_basis(spectrum: Spectrum, rng: np.random.Generator) -> Basis:
    """Return a basis of random eigenvectors for a spectrum. The generator must be unused."""
    bits = rng.bit_generator
    seed: Any = bits.seed_seq
    plain = type(bits) is np.random.PCG64 and type(seed) is np.random.SeedSequence
    if plain and type(seed.entropy) is int and seed.pool_size == POOL:
        return DrawnBasis(spectrum.real.size, spectrum.pairs.size, seed)
    return random_basis(spectrum, rng)
