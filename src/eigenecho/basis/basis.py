"""Change of basis between neurons and eigenmodes, in real arithmetic."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from eigenecho.arrays import namespace
from eigenecho.checks import check_square
from eigenecho.errors import bad_argument
from eigenecho.spectra import Spectrum
from eigenecho.types import Array

SINGULAR = 1e-13
"""Pivots of Q below this share of the largest are rounding."""


@dataclass(frozen=True, eq=False, repr=False)
class Basis:
    """The real eigenbasis of a reservoir.

        Q = [v_1, …, v_n, Re w_1, Im w_1, …, Re w_m, Im w_m],   [r]_Q = r Q

    Parameters
    ----------
    Q : array (N, N)
        Real eigenvectors v, then the real and imaginary part of one eigenvector w of each pair.
    n_real : int
        How many of the columns are real eigenvectors.
    block : int
        The basis of a ``Cascade`` has this many columns before those. They span a subspace that
        W maps into itself; the others are eigenvectors of W up to a part in that subspace.

    See Also
    --------
    eigenecho.LinearModel : ``basis`` is that of its reservoir

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
    block: int = 0

    def __post_init__(self) -> None:
        check_square(np.asarray(self.Q), "Q")
        Q = np.array(self.Q, dtype=np.float64, order="C")
        if not 0 <= self.block <= len(Q):
            raise bad_argument("block", self.block, f"a number of columns, at most {len(Q)}")
        columns = len(Q) - self.block
        if not 0 <= self.n_real <= columns or (columns - self.n_real) % 2:
            raise bad_argument(
                "n_real", self.n_real, "a count that leaves an even number of columns"
            )
        Q.setflags(write=False)
        object.__setattr__(self, "Q", Q)

    @property
    def units(self) -> int:
        """N."""
        return len(self.Q)

    @property
    def P(self) -> Array:
        """The complex eigenvectors, columns in the order of ``Spectrum.values``."""
        if self.block:
            raise ValueError(
                f"this is the basis of a cascade: {self.block} dimensions stay a dense block, and "
                "the matrix has no usable eigenvectors there. Q is the whole basis."
            )
        P = self.Q.astype(np.complex128)
        re, im = self.Q[:, self.n_real :: 2], self.Q[:, self.n_real + 1 :: 2]
        P[:, self.n_real :: 2] = re + 1j * im
        P[:, self.n_real + 1 :: 2] = re - 1j * im
        return P

    @cached_property
    def condition(self) -> float:
        """cond(Q) in the 2-norm: how many digits a change of basis can cost."""
        singular = np.linalg.svd(self.Q, compute_uv=False)
        return float(singular[0] / singular[-1]) if singular[-1] > 0 else float("inf")

    @cached_property
    def _lu(self) -> tuple[Array, Array] | None:
        """LU factors of Q; None where it is singular in floating point."""
        from scipy.linalg.lapack import dgetrf

        lu, pivots, _ = dgetrf(self.Q)
        diagonal = np.abs(np.diag(lu))
        return (lu, pivots) if diagonal.min() > SINGULAR * diagonal.max() else None

    @cached_property
    def _pseudo_inverse(self) -> Array:
        return np.linalg.pinv(self.Q, rcond=SINGULAR)

    def solve(self, A: Array, transposed: bool = False) -> Array:
        """Q⁻¹ A, or Q⁻ᵀ A.

        Of a defective matrix Q has no inverse: then the pseudo-inverse stands in for it, which
        loses nothing of states r Q, since they have no part where Q is zero.
        """
        from scipy.linalg import lu_solve

        if self._lu is None:
            return (self._pseudo_inverse.T if transposed else self._pseudo_inverse) @ A
        return lu_solve(self._lu, A, trans=int(transposed), check_finite=False)

    def states_to_eigen(self, r: Array) -> Array:
        """[r]_Q = r Q, for states (…, N); W_in, W_fb and an input bias transform alike."""
        return r @ self.Q

    def states_to_neuron(self, r: Array) -> Array:
        """R = [r]_Q Q⁻¹, for states (…, N)."""
        flat = np.reshape(r, (-1, self.units)).T
        return self.solve(flat, transposed=True).T.reshape(np.shape(r))

    def weights_to_eigen(self, W_res: Array) -> Array:
        """[W_res]_Q = Q⁻¹ W_res, for readout weights (N, D_out)."""
        return self.solve(W_res)

    def weights_to_neuron(self, W_res: Array) -> Array:
        """W_res = Q [W_res]_Q, for readout weights (N, D_out)."""
        return self.Q @ W_res

    def matrix(self, at_work: Array) -> Array:
        """The reservoir matrix in the neuron basis, W = Q [W]_Q Q⁻¹, from [W]_Q."""
        return self.states_to_neuron(self.Q @ at_work)

    def residual(self, W: Array, at_work: Array) -> float:
        """‖W Q − Q [W]_Q‖ / ‖W‖ in the Frobenius norm: how well the two belong together."""
        difference = np.linalg.norm(W @ self.Q - self.Q @ at_work)
        return float(difference / (np.linalg.norm(W) or 1.0))

    def __repr__(self) -> str:
        block = f", a block of {self.block}" if self.block else ""
        return f"Basis({self.units} units, {self.n_real} real vectors{block})"


def random_basis(spectrum: Spectrum, rng: np.random.Generator) -> Basis:
    """Random eigenvectors of unit length for a spectrum: Gaussian directions.

    Real for real eigenvalues, complex for pairs. The real ones are drawn first.
    """
    n, m = spectrum.real.size, spectrum.pairs.size
    return Basis(random_vectors(n, m, rng), n)


def random_vectors(n: int, m: int, rng: np.random.Generator) -> Array:
    """Draw n real and m complex vectors of unit length, in the Q layout (N, N)."""
    N = n + 2 * m
    real = _unit(rng.normal(size=(N, n)))
    pairs = _unit(rng.normal(size=(N, m)) + 1j * rng.normal(size=(N, m)))
    return interleave(real, pairs)


def _unit(vectors: Array) -> Array:
    return vectors / np.linalg.norm(vectors, axis=0)


def interleave(real: Array, pairs: Array) -> Array:
    """Columns (…, n) and complex columns (…, m) in the Q layout (…, n + 2m)."""
    n = real.shape[-1]
    out = np.empty((*real.shape[:-1], n + 2 * pairs.shape[-1]))
    out[..., :n] = real
    out[..., n::2] = pairs.real
    out[..., n + 1 :: 2] = pairs.imag
    return out


def separate(A: Array, n: int) -> Array:
    """Columns in the Q layout (…, n + 2m) as complex modes (…, n + m)."""
    pairs = A[..., n::2] + 1j * A[..., n + 1 :: 2]
    return namespace(A).concatenate([A[..., :n], pairs], axis=-1)
