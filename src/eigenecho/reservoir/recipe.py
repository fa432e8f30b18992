"""What a reservoir is drawn from: a name, eigenvalues, a matrix or a law, and how it is scaled."""

from __future__ import annotations

from dataclasses import dataclass
from numbers import Real
from typing import TYPE_CHECKING, Any

import numpy as np

from eigenecho import checks
from eigenecho.errors import bad_argument, unknown_name, warn
from eigenecho.spectra import LAWS, Spectrum, from_matrix, law, random_matrix
from eigenecho.types import Array

if TYPE_CHECKING:
    from eigenecho.reservoir.draw import Cache, Streams


GIVEN = "a name, a Spectrum, eigenvalues, a square matrix or a callable"
"""What ``spectrum`` may be."""


@dataclass(frozen=True)
class Recipe:
    """What a reservoir is drawn from. ``basis`` is "eigen" or "neuron".

    ``eigenvectors=False`` draws [W_in]_Q directly, so that a named spectrum never needs an
    N×N matrix; the neuron basis is then unknown. ``even_defective=True`` diagonalises a matrix
    that has no usable eigenbasis all the same, as the paper does, where otherwise it takes the
    form that ``choose_form`` finds.
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
        if not _is_float(self.dtype):
            raise unknown_name("dtype", self.dtype, ("float64", "float32"))

    @property
    def is_drawn(self) -> bool:
        """Whether the source is a name, and so is scaled to ``sr``."""
        return isinstance(self.spectrum, str)

    @property
    def is_learnt(self) -> bool:
        """Whether the eigenvalues are to come from training rows, before anything is drawn."""
        return isinstance(self.spectrum, str) and self.spectrum == "data"

    @property
    def of_matrix(self) -> tuple[Any, ...]:
        """What a drawn matrix depends on besides the seed; a given one is known by itself."""
        return (self.units, self.rc_connectivity) if self.is_drawn else (Same(self.spectrum),)

    def scale(self, radius: float) -> float:
        """What brings a drawn matrix of that radius to ``sr``; 1 for a given one."""
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
        """The eigenvalues, or the matrix before any scaling."""
        spectrum = self.spectrum
        if isinstance(spectrum, Spectrum):
            return spectrum
        if isinstance(spectrum, str) or callable(spectrum):
            checks.check_units(self.units, "units")
            if callable(spectrum):
                return self._called(spectrum, rng)
            return self._named(spectrum, rng, cache)
        if spectrum is None or np.isscalar(spectrum):
            raise bad_argument("spectrum", spectrum, GIVEN)
        if hasattr(spectrum, "toarray") or checks.as_array(spectrum, "spectrum", GIVEN).ndim != 1:
            checks.as_square(spectrum, "spectrum")
            return spectrum
        try:
            return Spectrum.from_values(spectrum)
        except ValueError as error:
            raise ValueError(f"spectrum: {error}") from None

    def _named(self, name: str, rng: Streams, cache: Cache) -> Spectrum | Array:
        if self.is_learnt:
            remedy = "LinearESN.fit learns it; spectra.from_data(X, y, units=…) gives it to others."
            raise bad_argument("spectrum", name, "a law: here are no targets to learn from", remedy)
        if name not in ("matrix", "sim"):
            sample = LAWS.get(name) or law(name, also=("matrix", "data"))
            return sample(self.units, sr=self.sr, seed=rng.spectrum)

        def drawn() -> Array:
            return random_matrix(self.units, rng.spectrum, connectivity=self.rc_connectivity)

        W = cache.once(("W", *self.of_matrix), drawn)
        if name == "matrix":
            return W
        # What ``spectra.sim`` gives.
        values = cache.once(("values", *self.of_matrix), lambda: from_matrix(W))
        return values.times(self.scale(values.radius))

    def _called(self, sample: Any, rng: Streams) -> Spectrum:
        try:
            made = sample(self.units, sr=self.sr, seed=rng.spectrum)
        except TypeError as error:
            expected = "a callable law(n, sr=, seed=) that returns a Spectrum"
            raise bad_argument("spectrum", sample, expected, f"It said: {error}.") from error
        if not isinstance(made, Spectrum):
            raise ValueError(
                f"spectrum: the callable returned {type(made).__name__}, not a Spectrum. "
                "Wrap a list of eigenvalues in Spectrum.from_values."
            )
        if made.units != self.units:
            raise ValueError(
                f"spectrum: the callable returned {made.units} eigenvalues for units={self.units}."
            )
        return made


class Same:
    """A key that stands for one object: equal to itself alone, and keeps the object alive."""

    def __init__(self, value: Any) -> None:
        self.value = value

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Same) and self.value is other.value

    def __hash__(self) -> int:
        return id(self.value)


def _is_float(dtype: Any) -> bool:
    try:
        return np.dtype(dtype) in (np.float64, np.float32)
    except TypeError:
        return False
