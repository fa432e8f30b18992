"""Whatever was saved, loaded."""

from __future__ import annotations

from typing import Any

from eigenecho.errors import StorageError
from eigenecho.estimators.diagonal_reservoir import DiagonalReservoir
from eigenecho.estimators.forecaster import Forecaster
from eigenecho.estimators.linear_esn import LinearESN
from eigenecho.model.loading import unpack_learner, unpack_model, unpack_stream
from eigenecho.storage import read, rebuilt

UNPACK = {
    "LinearModel": unpack_model,
    "LinearESN": LinearESN.unpack,
    "DiagonalReservoir": DiagonalReservoir.unpack,
    "Forecaster": Forecaster.unpack,
    "Stream": unpack_stream,
    "Learner": unpack_learner,
}
"""How each kind of file is read."""


def load(path: Any) -> Any:
    """Read what ``save`` wrote.

    A ``LinearESN``, ``DiagonalReservoir``, ``Forecaster``, ``LinearModel``, ``Stream`` or
    ``Learner`` comes back as it was, to the last bit. A file that is damaged, foreign or of a newer
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
    kind, tensors, values = read(path)
    if kind not in UNPACK:
        raise StorageError(f"{path} holds a {kind!r}, which this version does not know.")
    return rebuilt(path, UNPACK[kind], tensors, values)
