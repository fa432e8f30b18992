"""A reservoir as a scikit-learn transformer, for pipelines."""

from __future__ import annotations

from contextlib import nullcontext
from typing import Any, Self

from sklearn.base import BaseEstimator, ClassNamePrefixFeaturesOutMixin, TransformerMixin
from sklearn.utils.validation import check_is_fitted

from eigenecho import files
from eigenecho.arrays import is_on_device, takes_tensors
from eigenecho.checks import generator
from eigenecho.errors import UnstableError, Words, bad_argument
from eigenecho.estimators import validation
from eigenecho.estimators.parameters import Parameters
from eigenecho.progress import Progress, Report
from eigenecho.reservoir import Reservoir, draw
from eigenecho.spectra import Spectrum
from eigenecho.threads import one_blas_thread
from eigenecho.training import Settings, parameters_of
from eigenecho.types import NonNegative, Seed


class DiagonalReservoir(ClassNamePrefixFeaturesOutMixin, TransformerMixin, BaseEstimator):
    """Transformer that computes the states of a diagonal reservoir, in O(N) per step.

        r(t) = r(t−1) ⊙ λ + u(t) W_in

    Each series starts from a zero state. The columns of the states are in the Q layout: real modes,
    then the real and imaginary parts of each pair. Any scikit-learn regressor can be the readout.

    Parameters
    ----------
    units : int
        Number of states, N.
    spectrum : str, Spectrum, array or callable
        The name of a law, eigenvalues, a square matrix W, or a callable
        ``law(n, sr=, seed=) -> Spectrum``. Eigenvalues and matrices are used without changes, and
        ``units`` and ``sr`` are then ignored. A matrix without an accurate
        eigenbasis is not converted to modes.
    sr : float
        Spectral radius.
    lr : float
        Leaking rate in (0, 1].
    input_scaling : float or array (n_features,)
        Scale of W_in, for all features or for each feature.
    input_connectivity, rc_connectivity : float
        Fraction of nonzero connections in W_in, and in W for "matrix" and "sim".
    input_bias : bool
        Also drive the reservoir with a constant.
    W_in : array (n_features, N), "ones" or None
        Input weights, as for ``LinearESN``. With "ones", the states of a single input are R(t), the
        states without input weights.
    dtype : {"float64", "float32"}
    seed : int, Generator or None

    Attributes
    ----------
    reservoir_ : Reservoir
    spectrum_ : Spectrum
        Eigenvalues before the leak is applied.
    effective_radius_ : float
        Largest |λ'|, after the leak is applied.
    seed_ : int or Generator
        The seed that was used: ``seed``, or an int that replaces None.

    See Also
    --------
    eigenecho.LinearESN : Network with a linear readout.

    Examples
    --------
    >>> import numpy as np
    >>> import eigenecho as ee
    >>> X = np.sin(np.arange(50.0)).reshape(-1, 1)
    >>> ee.DiagonalReservoir(units=20, seed=0).fit_transform(X).shape
    (50, 20)
    """

    def __init__(
        self,
        units: int = 100,
        *,
        spectrum: Any = "golden",
        sr: float = 0.9,
        lr: float = 1.0,
        input_scaling: Any = 1.0,
        input_connectivity: float = 1.0,
        rc_connectivity: float = 1.0,
        input_bias: bool = False,
        W_in: Any = None,
        dtype: str = "float64",
        seed: Seed = None,
    ) -> None:
        self.units = units
        self.spectrum = spectrum
        self.sr = sr
        self.lr = lr
        self.input_scaling = input_scaling
        self.input_connectivity = input_connectivity
        self.rc_connectivity = rc_connectivity
        self.input_bias = input_bias
        self.W_in = W_in
        self.dtype = dtype
        self.seed = seed

    @takes_tensors
    def fit(self, X: Any, y: Any = None) -> Self:
        """Draw the reservoir for the features of ``X``; ``y`` is ignored."""
        with validation.all_or_nothing(self):
            recipe = Settings.of(parameters_of(self) | {"penalty": "identity"}).recipe
            series, _ = validation.check_inputs(X, self.dtype, self, reset=True)
            validation.warn_if_single_rows([len(s) for s in series])
            # Unlike None, an int can be stored in a file, so that loaded reservoirs can be redrawn.
            self.seed_ = int(generator(None).integers(2**31)) if self.seed is None else self.seed
            drawn = draw(recipe, series[0].shape[1], seed=self.seed_)
            validation.warn_if_unstable(drawn.reservoir.spectrum.radius, max(map(len, series)))
            self.reservoir_ = drawn.reservoir
            assert drawn.spectrum is not None
            self.spectrum_ = drawn.spectrum
            self.effective_radius_ = drawn.reservoir.spectrum.radius
        return self

    @takes_tensors(on_device=True)
    def transform(self, X: Any, out: Any = None, progress: Report | None = None) -> Any:
        """Compute the states (T, N) of each series.

        Parameters
        ----------
        X : array (T, D_in), array (series, T, D_in) or list of arrays
        out : array (T, N), optional
            Array to which the states of a single series are written.
        progress : callable (done, total), optional
            Function that is called several times per second with the number of finished steps and
            the total number of steps.
        """
        if not hasattr(self, "reservoir_"):  # check_is_fitted is slow
            check_is_fitted(self)
        apart = is_on_device(X)
        # On a device, a check would wait for all operations. Non-finite inputs are found later,
        # because they lead to non-finite states.
        dtype = self.reservoir_.dtype
        series, container = validation.check_inputs(X, dtype, self, finite=not apart)
        validation.check_output_format(self, container)
        reservoir, series = self.reservoir_, container.together(series)
        out = validation.check_out(out, series, reservoir)
        counter = Progress(progress, sum(u.shape[-2] for u in series))
        drives = [reservoir.drive(u, None) for u in series]
        with nullcontext() if apart else one_blas_thread():
            try:
                states = [reservoir.states(a, out, counter) for a in drives]
            except UnstableError:
                validation.check_inputs(X, dtype, self)
                raise
        return container.restore(states)

    def save(self, path: Any) -> None:
        """Write the fitted reservoir to a safetensors file; ``eigenecho.load`` reads it back.

        The file contains the weights, so the states of the loaded reservoir are bit-identical. With
        ``seed=None``, the file contains ``seed_``, so that ``fit`` of the loaded reservoir draws
        the same weights again. A callable ``spectrum`` is stored as its eigenvalues, and a
        Generator ``seed`` as None, both with a warning.
        """
        check_is_fitted(self)
        files.save(path, self)

    def _parts(self) -> dict[str, Any]:
        seed = {"seed": self.seed_} if self.seed is None else {}
        # The radius is stored because computing it costs O(N³) for a sparse matrix.
        fitted = {"spectrum": self.spectrum_, "effective_radius": self.effective_radius_}
        return {"params": Parameters.of(self, **seed), "reservoir": self.reservoir_, **fitted}

    @classmethod
    def _from_parts(
        cls,
        params: Parameters,
        reservoir: Reservoir,
        spectrum: Spectrum,
        effective_radius: NonNegative,
    ) -> DiagonalReservoir:
        W_in = reservoir.W_in
        if reservoir.W_fb is not None or not len(W_in):
            got = Words(f"shape {W_in.shape}")
            raise bad_argument("W_in", got, "at least one input and no feedback")
        if spectrum.units != reservoir.units:
            raise bad_argument("spectrum", spectrum, f"{reservoir.units} eigenvalues")
        estimator = params.restore(cls, len(W_in))
        estimator.reservoir_, estimator.spectrum_ = reservoir, spectrum
        estimator.seed_ = estimator.seed  # type: ignore[assignment]
        estimator.effective_radius_ = effective_radius
        return estimator

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.array_api_support = True
        return tags

    @property
    def _n_features_out(self) -> int:
        return self.reservoir_.state_columns
