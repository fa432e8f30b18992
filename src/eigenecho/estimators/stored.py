"""Stored forms of the estimators, from which files are written and read."""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass, replace
from inspect import signature
from types import NoneType
from typing import Any, TypeVar

import numpy as np

from eigenecho.checks import check_known, check_range, check_shape, generator
from eigenecho.classify import LinearClassifier, PooledModes
from eigenecho.data.collection import check_options
from eigenecho.data.stored import StoredPanel
from eigenecho.errors import Words, bad_argument, counted, warn
from eigenecho.estimators.diagonal_reservoir import DiagonalReservoir
from eigenecho.estimators.fitted import FittedNetwork
from eigenecho.estimators.forecaster import Forecaster
from eigenecho.estimators.linear_esn import LinearESN
from eigenecho.estimators.reservoir_classifier import ReservoirClassifier
from eigenecho.estimators.reservoir_features import ReservoirFeatures
from eigenecho.features import from_plain, resolve, to_plain
from eigenecho.forecasting.fit import FittedForecaster
from eigenecho.forecasting.prior import Prior
from eigenecho.model.online import as_state
from eigenecho.model.stored import StoredLearner, StoredStream, with_basis
from eigenecho.reservoir import Reservoir, per_feature
from eigenecho.schema import from_label, stands_for, to_label
from eigenecho.spectra import LAWS, Spectrum
from eigenecho.training import Evidence, GroupEvidence, Settings, parameters_of
from eigenecho.transition import DelayLine, Dense, Diagonal, Sparse, Transition, as_transition
from eigenecho.types import Array, NonNegative

OF_FIT = "of the fit"
"""Stored value of the parameter ``prior`` if it is a forecaster."""

T = TypeVar("T", ReservoirFeatures, ReservoirClassifier)


@dataclass(frozen=True, eq=False)
class Parameters:
    """Parameters of an estimator.

    ``plain`` contains JSON values, and ``given`` the eigenvalues or matrix that were passed as
    ``spectrum``. ``feature_names_in`` contains the column names of the training data. ``W_in`` and
    ``W_fb`` are the weights that were passed as arrays.
    """

    plain: dict[str, Any]
    given: Diagonal | Dense | Sparse | DelayLine | None
    feature_names_in: tuple[str, ...] | None = None
    W_in: Array | None = None
    W_fb: Array | None = None

    @classmethod
    def of(cls, estimator: Any) -> Parameters:
        """Return the parameters of an estimator."""
        params = parameters_of(estimator)
        if "units" in params:  # a network or a reservoir
            _check_network(params, estimator.n_features_in_)
            if callable(params["spectrum"]):
                _warn_if_replaced("spectrum", params["spectrum"], "its eigenvalues")
                params["spectrum"] = estimator.spectrum_
        if isinstance(params["seed"], np.random.Generator):
            _warn_if_replaced("seed", params["seed"], "None")
            params["seed"] = None
        if isinstance(params.get("prior"), Forecaster | Prior):  # its readouts are part of the fit
            params["prior"] = OF_FIT
        spectrum, given = params.get("spectrum"), None
        if spectrum is not None and not isinstance(spectrum, str):
            given, params["spectrum"] = _as_transition(spectrum), None
        names = getattr(estimator, "feature_names_in_", None)
        weights = [_take_array(params, name) for name in ("W_in", "W_fb")]
        plain = {name: _to_plain(value, name) for name, value in params.items()}
        return cls(plain, given, None if names is None else tuple(map(str, names)), *weights)

    def restored(self, kind: type, D_in: int | None = None) -> Any:
        """Return an estimator of class ``kind``, with ``D_in`` features if that is not None."""
        names = set(signature(kind).parameters)
        if self.plain.keys() != names:
            raise bad_argument("params", self.plain, f"the parameters {sorted(names)}")
        params = {name: _from_plain(value, name) for name, value in self.plain.items()}
        is_network = "units" in names
        is_named = is_network and self.given is None
        if not isinstance(params.get("spectrum"), str if is_named else NoneType):
            expected = "the name of a law, or None if the file contains eigenvalues or a matrix"
            raise bad_argument("spectrum", params["spectrum"], expected)
        if self.given is not None:
            params["spectrum"] = _from_transition(self.given)
        params |= {n: A for n in ("W_in", "W_fb") if (A := getattr(self, n)) is not None}
        estimator, names_in = kind(**params), self.feature_names_in
        if names_in is not None and len(names_in) != D_in:
            raise bad_argument("feature_names_in", names_in, counted(D_in or 0, "name"))
        if is_network:
            assert D_in is not None
            _check_network(params, D_in)
        if D_in is not None:
            estimator.n_features_in_ = D_in
        if names_in is not None:
            estimator.feature_names_in_ = np.array(names_in, dtype=object)
        return estimator


def _check_network(params: dict[str, Any], D_in: int) -> None:
    """Raise an error if the parameters of a network are invalid for ``D_in`` features."""
    recipe = Settings.of(params).recipe
    per_feature(recipe.input_scaling, D_in)
    generator(params["seed"])
    if recipe.is_drawn:
        others = ("matrix", "data") if "ridge" in params else ("matrix",)
        check_known(recipe.spectrum, "spectrum", (*LAWS, *others))


def _take_array(params: dict[str, Any], name: str) -> Array | None:
    """Return a parameter as an array and replace it by None, unless it is None or text."""
    value = params.get(name)
    if value is None or isinstance(value, str):
        return None
    params[name] = None
    return np.asarray(value, np.float64)


def _from_transition(given: Transition | DelayLine) -> Any:
    """Convert a transition to a value of the parameter ``spectrum``."""
    if isinstance(given, DelayLine):
        return given
    return given.spectrum if isinstance(given, Diagonal) else given.matrix


def _as_transition(spectrum: Any) -> Any:
    if isinstance(spectrum, DelayLine):
        return spectrum
    if not isinstance(spectrum, Spectrum) and np.ndim(spectrum) == 1:
        spectrum = Spectrum.from_values(spectrum)
    is_dense = not isinstance(spectrum, Spectrum) and not hasattr(spectrum, "tocsr")
    return as_transition(np.asarray(spectrum) if is_dense else spectrum)


def _warn_if_replaced(name: str, value: Any, stored: str) -> None:
    warn(f"{name}={value!r} cannot be saved. The file contains {stored} instead.", UserWarning)


def _to_plain(value: Any, name: str) -> Any:
    """Convert a parameter to a JSON value, or raise an error."""
    features = resolve(value) if name == "features" and not isinstance(value, str) else None
    if features is not None:
        return {"parts": to_plain(features)}
    if name == "dtype" and not isinstance(value, str):
        return {"numpy": np.dtype(value).name}
    if np.ndim(value) == 1 and not isinstance(value, tuple):
        return [to_label(item, name) for item in value]
    return to_label(value.item() if isinstance(value, np.ndarray) else value, name)


def _from_plain(value: Any, name: str) -> Any:
    """Convert a JSON value to a parameter."""
    if name == "features" and isinstance(value, dict) and value.keys() == {"parts"}:
        return from_plain(value["parts"])
    if name == "dtype" and isinstance(value, dict) and value.keys() == {"numpy"}:
        return np.dtype(value["numpy"])
    if isinstance(value, int) and abs(value) >= 2**63 and name != "seed":
        raise bad_argument(name, value, "a 64-bit integer")
    return [from_label(item) for item in value] if isinstance(value, list) else from_label(value)


@stands_for(LinearESN)
@dataclass(frozen=True, eq=False)
class StoredNetwork:
    """Stored form of a ``LinearESN``.

    ``neurons`` is True if the penalty is in the neuron basis of the model.
    """

    fitted: FittedNetwork
    evidence: GroupEvidence | None
    neurons: bool
    params: Parameters

    @classmethod
    def of(cls, esn: LinearESN, fitted: FittedNetwork, statistics: bool) -> StoredNetwork:
        """Return the stored form of a network, with its evidence if ``statistics`` is True."""
        evidence = fitted.need_single().on_host if statistics else None
        neurons = evidence is not None and evidence.penalty.basis is not None
        return cls(fitted.without_evidence(), evidence, neurons, Parameters.of(esn))

    def restored(self) -> LinearESN:
        """Return the network, or raise an error if the stored parts are inconsistent."""
        model, group, evidence = self.fitted.model, self.evidence, None
        if group is not None:
            check_range(group.weights, "weights", model.reservoir.dtype)
            if not np.array_equal(group.weights.astype(model.reservoir.dtype), model.W_out):
                raise bad_argument("weights", Words("other numbers"), "the weights in W_out")
            penalty = with_basis(group.penalty, model, self.neurons)
            evidence = Evidence.of_one(replace(group, penalty=penalty))
        esn: LinearESN = self.params.restored(LinearESN, model.D_in)
        state = as_state(model, self.fitted.final_state, "final_state")
        replace(self.fitted, evidence=evidence, final_state=state).attach_to(esn)
        return esn


@stands_for(DiagonalReservoir)
@dataclass(frozen=True, eq=False)
class StoredReservoir:
    """Stored form of a ``DiagonalReservoir``.

    The radius is stored because computing it costs O(N³) for a sparse matrix.
    """

    reservoir: Reservoir
    spectrum: Spectrum
    effective_radius: NonNegative
    params: Parameters

    @classmethod
    def of(cls, estimator: DiagonalReservoir) -> StoredReservoir:
        """Return the stored form of a transformer."""
        params = Parameters.of(estimator)
        if estimator.seed is None:
            params.plain["seed"] = estimator.seed_
        radius = estimator.effective_radius_
        return cls(estimator.reservoir_, estimator.spectrum_, radius, params)

    def restored(self) -> DiagonalReservoir:
        """Return the transformer, or raise an error if the stored parts are inconsistent."""
        W_in = self.reservoir.W_in
        if self.reservoir.W_fb is not None or not len(W_in):
            got = Words(f"shape {W_in.shape}")
            raise bad_argument("W_in", got, "at least one input and no feedback")
        if self.spectrum.units != self.reservoir.units:
            raise bad_argument("spectrum", self.spectrum, f"{self.reservoir.units} eigenvalues")
        estimator: DiagonalReservoir = self.params.restored(DiagonalReservoir, len(W_in))
        estimator.reservoir_, estimator.spectrum_ = self.reservoir, self.spectrum
        estimator.seed_ = estimator.seed  # type: ignore[assignment]
        estimator.effective_radius_ = self.effective_radius
        return estimator


@stands_for(Forecaster)
@dataclass(frozen=True, eq=False)
class StoredForecaster:
    """Stored form of a ``Forecaster``."""

    fitted: FittedForecaster
    params: Parameters

    @classmethod
    def of(cls, forecaster: Forecaster) -> StoredForecaster:
        """Return the stored form of a forecaster."""
        return cls(forecaster.fitted_, Parameters.of(forecaster))

    def restored(self) -> Forecaster:
        """Return the forecaster, or raise an error if the stored parts are inconsistent."""
        forecaster: Forecaster = self.params.restored(Forecaster)
        if forecaster.prior == OF_FIT:
            forecaster.prior = self.fitted.config.prior
        forecaster._config()  # noqa: SLF001 (it checks all parameters)
        forecaster.fitted_ = self.fitted
        return forecaster


@stands_for(ReservoirFeatures)
@dataclass(frozen=True, eq=False)
class StoredFeatures:
    """Stored form of a ``ReservoirFeatures`` transformer."""

    modes: PooledModes
    params: Parameters

    @classmethod
    def of(cls, estimator: ReservoirFeatures) -> StoredFeatures:
        """Return the stored form of a transformer."""
        return cls(estimator.modes_, Parameters.of(estimator))

    def restored(self) -> ReservoirFeatures:
        """Return the transformer, or raise an error if the stored parts are inconsistent."""
        return _with_modes(self.params, ReservoirFeatures, self.modes)


@stands_for(ReservoirClassifier)
@dataclass(frozen=True, eq=False)
class StoredClassifier:
    """Stored form of a ``ReservoirClassifier``; ``kind`` is the dtype of its classes."""

    modes: PooledModes
    classifier: LinearClassifier
    classes: tuple[Hashable, ...]
    kind: str
    params: Parameters

    @classmethod
    def of(cls, estimator: ReservoirClassifier) -> StoredClassifier:
        """Return the stored form of a classifier."""
        labels, kind = _plain_classes(estimator.classes_), estimator.classes_.dtype.str
        return cls(estimator.modes_, estimator.classifier_, labels, kind, Parameters.of(estimator))

    def restored(self) -> ReservoirClassifier:
        """Return the classifier, or raise an error if the stored parts are inconsistent."""
        dtype = np.dtype(self.kind)
        check_known(dtype.kind, "kind", "biufmMU")
        classes = np.array(self.classes, "U" if dtype.kind == "U" else dtype)  # "U" is not padded
        count = len(np.unique(classes))
        if count != self.classifier.classes or _plain_classes(classes) != self.classes:
            expected = f"{self.classifier.classes} distinct labels"
            raise bad_argument("classes", self.classes, expected)
        check_shape(self.classifier.scale, "scale", (self.modes.size,))
        estimator = _with_modes(self.params, ReservoirClassifier, self.modes)
        estimator._ridges()  # noqa: SLF001 (it checks the ridge)
        estimator.classes_, estimator.classifier_ = classes, self.classifier
        return estimator


def _plain_classes(classes: Array) -> tuple[Hashable, ...]:
    """Convert labels to strings, numbers or Booleans; dates become integers in their unit."""
    return tuple((classes.astype(int) if classes.dtype.kind in "mM" else classes).tolist())


def _with_modes(params: Parameters, kind: type[T], modes: PooledModes) -> T:
    """Return an estimator with the given modes, or raise an error if a parameter is invalid."""
    estimator = params.restored(kind, modes.channels)
    check_options(estimator.layout, estimator.id, estimator.time)
    generator(estimator.seed)
    estimator.modes_ = modes
    return estimator


STORED_FORMS = (
    StoredClassifier, StoredFeatures, StoredForecaster, StoredLearner, StoredNetwork, StoredPanel,
    StoredReservoir, StoredStream,
)  # fmt: skip
"""Stored forms to register. ``stands_for`` registers a form when its module is imported, so forms
that are not in the module of their class must be listed here."""
