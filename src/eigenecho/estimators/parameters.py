"""Parameters and features of an estimator, in a file and out of it."""

from __future__ import annotations

from numbers import Integral, Real
from typing import Any

import numpy as np

from eigenecho.checks import as_square, check_units, generator
from eigenecho.errors import Shown, bad_argument, warn
from eigenecho.reservoir import per_feature
from eigenecho.spectra import Spectrum, law
from eigenecho.storage import Tensors, Values, fields, named, take_names
from eigenecho.training import Settings
from eigenecho.transition import Diagonal, as_transition, unpack


def pack_parameters(estimator: Any, drawn: Spectrum | None) -> tuple[Tensors, Values]:
    """Of a fitted estimator; ``drawn`` is what a callable spectrum gave."""
    params = dict(estimator.get_params(deep=False))
    _check(params, estimator.n_features_in_)
    tensors: Tensors = {}
    given, seed = params["spectrum"], params["seed"]
    if not isinstance(given, str):
        if callable(given):
            _warn_of_loss("spectrum", given, "the eigenvalues that it gave")
            given = drawn
        tensors = _pack_given(given)
        params["spectrum"] = None
    if isinstance(seed, np.random.Generator):
        _warn_of_loss("seed", seed, "None; what was drawn is kept all the same")
        params["seed"] = None
    names = getattr(estimator, "feature_names_in_", None)
    return tensors, {
        "params": {name: _plain(value, name) for name, value in params.items()},
        "n_features_in": estimator.n_features_in_,
        "feature_names_in": None if names is None else list(map(str, names)),
    }


def unpack_parameters(kind: type, D_in: int, tensors: Tensors, values: Values) -> Any:
    """An estimator with the parameters and features that ``pack_parameters`` took apart."""
    params, wanted = values.pop("params"), set(kind().get_params(deep=False))
    if not isinstance(params, dict) or params.keys() != wanted:
        raise bad_argument("params", params, f"the parameters {', '.join(sorted(wanted))}")
    for name, value in params.items():
        if isinstance(value, int) and abs(value) >= 2**63 and name != "seed":
            raise bad_argument(name, value, "a number that a machine can count to")
        if isinstance(value, (list, dict)) and name not in ("input_scaling", "ridge", "dtype"):
            raise bad_argument(name, value, "one value")
    if params["spectrum"] is None:
        params["spectrum"] = _unpack_given(tensors)
    elif not isinstance(params["spectrum"], str):
        raise bad_argument("spectrum", params["spectrum"], "a name, or arrays")
    if isinstance(params["dtype"], dict):
        (dtype,) = fields(params, "dtype", "numpy")
        params["dtype"] = np.dtype(dtype)
    _check(params, D_in)
    estimator = kind(**params)
    estimator.n_features_in_ = values.pop("n_features_in")
    if type(estimator.n_features_in_) is not int or estimator.n_features_in_ != D_in:
        raise bad_argument("n_features_in", estimator.n_features_in_, f"{D_in}, as W_in has")
    names = take_names(values, "feature_names_in", D_in)
    if names is not None:
        estimator.feature_names_in_ = np.array(names, dtype=object)
    return estimator


def _check(params: Values, D_in: int) -> None:
    """All parameters, as ``fit`` would; those of a file may be anybody's."""
    Settings.of(params)
    per_feature(params["input_scaling"], D_in)
    generator(params["seed"])
    if isinstance(params["spectrum"], str):
        check_units(params["units"], "units")
        learns = params["spectrum"] == "data" and "ridge" in params
        if params["spectrum"] != "matrix" and not learns:
            law(params["spectrum"], also=("matrix",))


def _pack_given(given: Any) -> Tensors:
    """Eigenvalues or a matrix that were given as ``spectrum``."""
    if not isinstance(given, Spectrum) and np.ndim(given) == 1:
        given = Spectrum.from_values(given)
    if isinstance(given, Spectrum) or hasattr(given, "tocsr"):
        return named("param.spectrum", as_transition(given).pack())
    matrix = np.asarray(given)
    if matrix.dtype.itemsize > 8:
        got = Shown(f"dtype {matrix.dtype}")
        raise bad_argument("spectrum", got, "a type of number that a file can keep")
    return {"param.spectrum": matrix}


def _unpack_given(tensors: Tensors) -> Any:
    if "param.spectrum" not in tensors:
        found = unpack("param.spectrum", tensors)
        return found.modes if isinstance(found, Diagonal) else found.matrix
    # As it was: the entries of a matrix may be ints, or flags.
    matrix = tensors.pop("param.spectrum")
    as_square(matrix, "spectrum")
    return matrix


def _warn_of_loss(name: str, value: Any, kept: str) -> None:
    warn(
        f"{name}={value!r} cannot be written to a file, which keeps {kept}.",
        UserWarning,
    )


def _plain(value: Any, name: str) -> Any:
    """A parameter as JSON has it, equal to what it was, or an error that it cannot be kept."""
    if value is None or isinstance(value, (str, bool, np.bool_)):
        return value.item() if isinstance(value, np.bool_) else value
    if name == "dtype":
        return {"numpy": np.dtype(value).name}
    if isinstance(value, Integral):
        return int(value)
    if isinstance(value, Real) and float(value) == value:
        return float(value)
    array = np.asarray(value)
    if array.ndim <= 1 and array.dtype.kind in "fiu" and array.dtype.itemsize <= 8:
        return array.tolist()
    raise bad_argument(name, value, "numbers or words, which a file can keep")
