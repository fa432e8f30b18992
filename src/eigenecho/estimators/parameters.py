"""Parameters of estimators in files."""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass
from inspect import signature
from typing import Annotated, Any, TypeVar

import numpy as np

from eigenecho.checks import check_known, generator
from eigenecho.errors import Words, bad_argument, counted, warn
from eigenecho.features import Features, resolve
from eigenecho.reservoir import per_feature
from eigenecho.spectra import LAWS, Spectrum
from eigenecho.training import Settings, parameters_of
from eigenecho.transition import DelayLine, Sparse
from eigenecho.types import Array

Value = Annotated[Any, Hashable | list[Hashable] | Spectrum | Sparse | DelayLine | Features]
"""Values of parameters in files that are not matrices."""

MATRICES = ("spectrum", "W_in", "W_fb")
"""Parameters that may be dense matrices."""

T = TypeVar("T")


@dataclass(frozen=True, eq=False)
class Parameters:
    """Parameters of an estimator, and the names of the columns it was fitted on."""

    values: dict[str, Value]
    matrices: dict[str, Array]
    feature_names_in: tuple[str, ...] | None

    @classmethod
    def of(cls, estimator: Any, **replaced: Any) -> Parameters:
        """Return the parameters of an estimator, some of which are ``replaced`` by others."""
        params = parameters_of(estimator)
        if "units" in params:
            _check_network(params, estimator.n_features_in_)
            if callable(params["spectrum"]):
                _warn_if_replaced("spectrum", params["spectrum"], "its eigenvalues")
                params["spectrum"] = estimator.spectrum_
        if isinstance(params["seed"], np.random.Generator):
            _warn_if_replaced("seed", params["seed"], "None")
            params["seed"] = None
        values = {name: _to_stored(value, name) for name, value in (params | replaced).items()}
        matrices = {n: values.pop(n) for n in [*values] if isinstance(values[n], np.ndarray)}
        names = getattr(estimator, "feature_names_in_", None)
        return cls(values, matrices, None if names is None else tuple(map(str, names)))

    def restore(self, kind: type[T], D_in: int | None = None) -> T:
        """Return an unfitted estimator for ``D_in`` columns, or raise if a value is invalid."""
        params, names = self._checked(kind), self.feature_names_in
        if names is not None and len(names) != D_in:
            raise bad_argument("feature_names_in", names, counted(D_in or 0, "name"))
        estimator: Any = kind(**params)
        if D_in is not None:
            estimator.n_features_in_ = D_in
        if "units" in params:
            _check_network(params, estimator.n_features_in_)
        if names is not None:
            estimator.feature_names_in_ = np.array(names, dtype=object)
        return estimator

    def _checked(self, kind: Any) -> dict[str, Any]:
        """Return the parameters by name, or raise if a type is invalid."""
        params: dict[str, Any] = {**self.values, **self.matrices}
        if params.keys() != {*signature(kind).parameters}:
            expected = f"the parameters {sorted(signature(kind).parameters)}"
            raise bad_argument("params", sorted(params), expected)
        given = str | Spectrum | Sparse | DelayLine | np.ndarray
        if "units" in params and not isinstance(params["spectrum"], given):
            raise bad_argument("spectrum", params["spectrum"], "a name, eigenvalues or a matrix")
        for name, matrix in self.matrices.items():
            if name not in MATRICES or matrix.ndim != 2:
                raise bad_argument(name, Words("an array"), "a matrix, or another type")
        for name, value in self.values.items():
            if isinstance(value, Sparse):
                params[name] = value.matrix
            if type(value) is int and not -(2**63) <= value < 2**63 and name != "seed":
                raise bad_argument(name, value, "a 64-bit integer")
        return params


def _to_stored(value: Any, name: str) -> Any:
    """Convert a parameter to a value of the stored types."""
    if value is None or isinstance(value, str | Spectrum | DelayLine):
        return value
    if name == "features":
        return resolve(value)
    if name == "spectrum" and np.ndim(value) == 1:
        return Spectrum.from_values(value)
    if hasattr(value, "tocsr"):
        return Sparse(value)
    if np.ndim(value) == 2:
        return np.asarray(value)
    if np.ndim(value) == 1 and not isinstance(value, tuple):
        return list(value)
    return value.item() if isinstance(value, np.ndarray) else value


def _check_network(params: dict[str, Any], D_in: int) -> None:
    """Raise an error if the parameters of a network are invalid for ``D_in`` features."""
    recipe = Settings.of(params).recipe
    per_feature(recipe.input_scaling, D_in)
    generator(params["seed"])
    if recipe.is_drawn:
        others = ("matrix", "data") if "ridge" in params else ("matrix",)
        check_known(recipe.spectrum, "spectrum", (*LAWS, *others))


def _warn_if_replaced(name: str, value: Any, stored: str) -> None:
    warn(f"{name}={value!r} cannot be saved. The file contains {stored} instead.", UserWarning)
