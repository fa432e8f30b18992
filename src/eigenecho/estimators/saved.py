"""Estimators as files hold them, and whatever was saved, loaded."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from eigenecho import storage
from eigenecho.checks import check_range
from eigenecho.errors import Shown, bad_argument
from eigenecho.estimators.diagonal_reservoir import DiagonalReservoir
from eigenecho.estimators.fitted import Fitted
from eigenecho.estimators.forecaster import Forecaster
from eigenecho.estimators.linear_esn import LinearESN
from eigenecho.estimators.parameters import Parameters
from eigenecho.forecasting.fitted import FittedForecaster
from eigenecho.forecasting.stored import check_fitted
from eigenecho.model import Learner, LinearModel, Stream
from eigenecho.model.state import as_state
from eigenecho.model.stored import with_basis
from eigenecho.reservoir import Reservoir
from eigenecho.schema import stands_for
from eigenecho.spectra import Spectrum
from eigenecho.training import Evidence, GroupEvidence
from eigenecho.types import NonNegative


@stands_for(LinearESN)
@dataclass(frozen=True, eq=False)
class StoredNetwork:
    """A fitted ``LinearESN``; the basis of a penalty on ``neurons`` is that of its model."""

    fitted: Fitted
    evidence: GroupEvidence | None
    neurons: bool
    params: Parameters

    @classmethod
    def of(cls, esn: LinearESN, fitted: Fitted, statistics: bool) -> StoredNetwork:
        """Return the parts of an estimator, with the evidence where ``statistics`` are wanted."""
        evidence = fitted.need_evidence() if statistics else None
        neurons = evidence is not None and evidence.penalty.basis is not None
        params = Parameters.of(esn, lambda: fitted.spectrum)
        return cls(fitted.kept(), evidence, neurons, params)

    def restored(self) -> LinearESN:
        """Return the estimator, if its parts fit each other."""
        model, evidence = self.fitted.model, self.evidence
        if evidence is not None:
            check_range(evidence.weights, "weights", model.reservoir.dtype)
            if not np.array_equal(evidence.weights.astype(model.reservoir.dtype), model.W_out):
                raise bad_argument("weights", Shown("other numbers"), "those of W_out")
            penalty = with_basis(evidence.penalty, model, self.neurons)
            evidence = replace(evidence, penalty=penalty)
        known = None if evidence is None else Evidence.of_one(evidence)
        esn: LinearESN = self.params.restored(LinearESN, model.D_in)
        state = as_state(model, self.fitted.final_state, "final_state")
        replace(self.fitted, evidence=known, final_state=state).given_to(esn)
        return esn


@stands_for(DiagonalReservoir)
@dataclass(frozen=True, eq=False)
class StoredReservoir:
    """A fitted ``DiagonalReservoir``.

    The radius is kept, since to find it takes N² numbers of a sparse matrix, and N³ operations.
    """

    reservoir: Reservoir
    spectrum: Spectrum
    effective_radius: NonNegative
    params: Parameters

    @classmethod
    def of(cls, made: DiagonalReservoir) -> StoredReservoir:
        """Return the parts of a transformer."""
        params = Parameters.of(made, lambda: made.spectrum_)
        if made.seed is None:
            params.plain["seed"] = made.seed_
        return cls(made.reservoir_, made.spectrum_, made.effective_radius_, params)

    def restored(self) -> DiagonalReservoir:
        """Return the transformer, if its parts fit each other."""
        W_in = self.reservoir.W_in
        if self.reservoir.W_fb is not None or not len(W_in):
            raise bad_argument("W_in", Shown(f"shape {W_in.shape}"), "weights of inputs alone")
        if self.spectrum.units != self.reservoir.units:
            raise bad_argument("spectrum", self.spectrum, f"{self.reservoir.units} eigenvalues")
        made: DiagonalReservoir = self.params.restored(DiagonalReservoir, len(W_in))
        made.reservoir_, made.spectrum_ = self.reservoir, self.spectrum
        made.seed_ = made.seed  # type: ignore[assignment]
        made.effective_radius_ = self.effective_radius
        return made


@stands_for(Forecaster)
@dataclass(frozen=True, eq=False)
class StoredForecaster:
    """A fitted ``Forecaster``."""

    fitted: FittedForecaster
    params: Parameters

    @classmethod
    def of(cls, forecaster: Forecaster) -> StoredForecaster:
        """Return the parts of a forecaster."""
        return cls(forecaster.fitted_, Parameters.of(forecaster))

    def restored(self) -> Forecaster:
        """Return the forecaster, if its parts fit each other."""
        forecaster: Forecaster = self.params.restored(Forecaster)
        forecaster._config()  # noqa: SLF001 (it checks all of them)
        check_fitted(self.fitted)
        forecaster.fitted_ = self.fitted
        return forecaster


KINDS = {
    kind.__name__: kind
    for kind in (LinearModel, LinearESN, DiagonalReservoir, Forecaster, Stream, Learner)
}
"""What a file may hold."""


def load(path: Any) -> Any:
    """Read what ``save`` wrote.

    A ``LinearESN``, ``DiagonalReservoir``, ``Forecaster``, ``LinearModel``, ``Stream`` or
    ``Learner`` comes back as it was, to the last bit. A file that is damaged, foreign or of another
    format raises ``errors.StorageError``; whatever loads, runs.

    Parameters
    ----------
    path : str or Path
        Of the file.

    See Also
    --------
    eigenecho.errors.StorageError : a file that cannot be read

    Examples
    --------
    >>> import eigenecho as ee
    >>> import tempfile
    >>> from pathlib import Path
    >>> path = Path(tempfile.mkdtemp(), "network.safetensors")
    >>> series = ee.tasks.mso(3, steps=400)
    >>> esn = ee.LinearESN(50, warmup=50, ridge=1e-10, seed=0).fit(series[:-1], series[1:])
    >>> esn.save(path)
    >>> bool((ee.load(path).predict(series) == esn.predict(series)).all())
    True
    """
    return storage.load(path, KINDS)
