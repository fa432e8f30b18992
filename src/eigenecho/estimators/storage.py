"""Saving and loading fitted estimators."""

from __future__ import annotations

from typing import Any

import numpy as np

from eigenecho.errors import StorageError
from eigenecho.estimators.linear_esn import LinearESN
from eigenecho.model.storage import (
    pack_evidence,
    pack_matrix,
    pack_model,
    pack_state,
    read,
    unpack_evidence,
    unpack_learner,
    unpack_matrix,
    unpack_model,
    unpack_state,
    unpack_stream,
    write,
)
from eigenecho.spectra import Spectrum


def save(path: Any, esn: LinearESN, statistics: bool) -> None:
    """Write a fitted ``LinearESN``, with its training statistics where asked.

    A callable ``spectrum`` is saved as the eigenvalues it gave, a Generator seed as None.
    """
    tensors, values = pack_model(esn.model_)
    tensors |= pack_state("final_state", esn.final_state_)
    tensors["noise"] = esn.noise_covariance_
    params = {name: _plain(value) for name, value in esn.get_params(deep=False).items()}
    if not isinstance(esn.spectrum, str):
        given = esn.spectrum_ if callable(esn.spectrum) else esn.spectrum
        if not isinstance(given, Spectrum) and np.ndim(given) == 1:
            given = Spectrum.from_values(given)
        tensors |= pack_matrix("param.spectrum", given)
        params["spectrum"] = None
    if esn._drawn_spectrum is not None:
        tensors |= pack_matrix("spectrum", esn._drawn_spectrum)
    names = getattr(esn, "feature_names_in_", None)
    values |= {
        "params": params,
        "solver": esn.solver_,
        "ridge": esn.ridge_,
        "flat": esn._flat,
        "lr": esn._lr,
        "n_features_in": esn.n_features_in_,
        "feature_names_in": None if names is None else list(map(str, names)),
    }
    if statistics:
        more, values["statistics"] = pack_evidence(esn._need_evidence())
        tensors |= more
    write(path, "LinearESN", tensors, values)


def load(path: Any) -> Any:
    """Read what ``save`` wrote: a ``LinearESN``, ``LinearModel``, ``Stream`` or ``Learner``.

    A file that is damaged, foreign or of a newer format raises ``errors.StorageError``.
    """
    kind, tensors, values = read(path)
    try:
        if kind == "LinearModel":
            return unpack_model(tensors, values)
        if kind == "LinearESN":
            return _unpack(tensors, values)
        if kind == "Stream":
            return unpack_stream(tensors, values)
        if kind == "Learner":
            return unpack_learner(tensors, values)
    except (KeyError, TypeError, ValueError, IndexError) as error:
        raise StorageError(f"{path} is damaged: {error}") from error
    raise StorageError(f"{path} holds a {kind!r}, which this version does not know.")


def _unpack(tensors: Any, values: Any) -> LinearESN:
    params = dict(values["params"])
    if params["spectrum"] is None:
        params["spectrum"] = unpack_matrix("param.spectrum", tensors)
    esn = LinearESN(**params)
    esn.model_ = unpack_model(tensors, values)
    esn.final_state_ = unpack_state("final_state", tensors)
    # Files of this format may still call it by its older name.
    esn.solver_ = {"refined gram": "refined"}.get(values["solver"], values["solver"])
    esn.ridge_ = values["ridge"]
    esn.n_outputs_ = esn.model_.D_out
    esn.n_features_in_ = values["n_features_in"]
    if values["feature_names_in"] is not None:
        esn.feature_names_in_ = np.array(values["feature_names_in"], dtype=object)
    esn._flat = values["flat"]
    esn._lr = values["lr"]
    esn._closed_loop_radius = None
    esn._noise = tensors.get("noise")
    esn._evidence = None
    if values.get("statistics"):
        esn._evidence = unpack_evidence(tensors, values["statistics"], esn.model_.basis)
    has_spectrum = any(name.startswith("spectrum.") for name in tensors)
    esn._drawn_spectrum = unpack_matrix("spectrum", tensors) if has_spectrum else None
    return esn


def _plain(value: Any) -> Any:
    if isinstance(value, np.generic):
        return value.item()
    if isinstance(value, np.dtype):
        return str(value)
    if isinstance(value, np.ndarray) and value.ndim == 1:
        return value.tolist()
    if isinstance(value, (list, tuple)):
        return [_plain(v) for v in value]
    return value if isinstance(value, (str, int, float, bool, type(None))) else None
