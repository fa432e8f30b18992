"""Parameters of estimators as files hold them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from types import NoneType
from typing import Any

import numpy as np

from eigenecho.checks import check_units, generator
from eigenecho.errors import bad_argument, warn
from eigenecho.reservoir import per_feature
from eigenecho.schema import from_label, to_label
from eigenecho.spectra import Spectrum, law
from eigenecho.training import Settings
from eigenecho.transition import Dense, Diagonal, Sparse, as_transition


@dataclass(frozen=True, eq=False)
class Parameters:
    """Parameters of an estimator: plain values, and eigenvalues or a matrix given as spectrum.

    ``feature_names_in`` are the names of the columns that a network was fitted on.
    """

    plain: dict[str, Any]
    given: Diagonal | Dense | Sparse | None
    feature_names_in: tuple[str, ...] | None = None

    @classmethod
    def of(cls, estimator: Any, drawn: Callable[[], Spectrum] | None = None) -> Parameters:
        """Return those of an estimator; of a network, which has ``drawn`` its eigenvalues, too."""
        params = dict(estimator.get_params(deep=False))
        if drawn is not None:
            _check_network(params, estimator.n_features_in_)
        spectrum, seed = params["spectrum"], params["seed"]
        if drawn is not None and callable(spectrum):
            _warn_of_loss("spectrum", spectrum, "the eigenvalues that it gave")
            spectrum = drawn()
        if isinstance(seed, np.random.Generator):
            _warn_of_loss("seed", seed, "None; what was drawn is kept all the same")
            params["seed"] = None
        given = None
        if spectrum is not None and not isinstance(spectrum, str):
            given, params["spectrum"] = _as_transition(spectrum), None
        names = getattr(estimator, "feature_names_in_", None)
        plain = {name: _to_plain(value, name) for name, value in params.items()}
        return cls(plain, given, None if names is None else tuple(map(str, names)))

    def restored(self, kind: type, D_in: int | None = None) -> Any:
        """Return an estimator of that kind; a network has ``D_in`` features."""
        wanted = set(kind().get_params(deep=False))
        if self.plain.keys() != wanted:
            names = ", ".join(sorted(wanted))
            raise bad_argument("params", self.plain, f"the parameters {names}")
        params = {name: _from_plain(value, name) for name, value in self.plain.items()}
        expected = str if D_in is not None and self.given is None else NoneType
        if not isinstance(params["spectrum"], expected):
            raise bad_argument("spectrum", params["spectrum"], "a name, or arrays")
        if self.given is not None:
            is_modes = isinstance(self.given, Diagonal)
            params["spectrum"] = self.given.spectrum if is_modes else self.given.matrix
        estimator = kind(**params)
        names_in = self.feature_names_in
        if names_in is not None and len(names_in) != D_in:
            raise bad_argument("feature_names_in", names_in, f"{D_in} names")
        if D_in is not None:
            _check_network(params, D_in)
            estimator.n_features_in_ = D_in
        if names_in is not None:
            estimator.feature_names_in_ = np.array(names_in, dtype=object)
        return estimator


def _check_network(params: dict[str, Any], D_in: int) -> None:
    """Raise where ``fit`` would refuse a parameter for so many features."""
    Settings.of(params)
    per_feature(params["input_scaling"], D_in)
    generator(params["seed"])
    if isinstance(params["spectrum"], str):
        check_units(params["units"], "units")
        learns = params["spectrum"] == "data" and "ridge" in params
        if params["spectrum"] != "matrix" and not learns:
            law(params["spectrum"], also=("matrix",))


def _as_transition(given: Any) -> Any:
    if not isinstance(given, Spectrum) and np.ndim(given) == 1:
        given = Spectrum.from_values(given)
    is_matrix = not isinstance(given, Spectrum) and not hasattr(given, "tocsr")
    return as_transition(np.asarray(given) if is_matrix else given)


def _warn_of_loss(name: str, value: Any, kept: str) -> None:
    warn(
        f"{name}={value!r} cannot be written to a file, which keeps {kept}.",
        UserWarning,
    )


def _to_plain(value: Any, name: str) -> Any:
    """Return a parameter as JSON has it, equal to what it was, or raise an error."""
    if name == "dtype" and not isinstance(value, str):
        return {"numpy": np.dtype(value).name}
    if np.ndim(value) == 1 and not isinstance(value, tuple):
        return [to_label(one, name) for one in value]
    return to_label(value.item() if isinstance(value, np.ndarray) else value, name)


def _from_plain(value: Any, name: str) -> Any:
    """Return the parameter that a value of a file stands for."""
    if name == "dtype" and isinstance(value, dict) and value.keys() == {"numpy"}:
        return np.dtype(value["numpy"])
    if isinstance(value, int) and abs(value) >= 2**63 and name != "seed":
        raise bad_argument(name, value, "a number that a machine can count to")
    return [from_label(one) for one in value] if isinstance(value, list) else from_label(value)
