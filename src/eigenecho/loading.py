"""Loading of saved objects. Only the modules that an object requires are imported."""

from __future__ import annotations

from importlib import import_module
from typing import Any

from eigenecho import storage

MODULES = {
    "LinearModel": "eigenecho.model",
    "Stream": "eigenecho.model",
    "Learner": "eigenecho.model",
    "LinearESN": "eigenecho.estimators",
    "DiagonalReservoir": "eigenecho.estimators",
    "Forecaster": "eigenecho.estimators",
    "ReservoirFeatures": "eigenecho.estimators",
    "ReservoirClassifier": "eigenecho.estimators",
}
"""Classes of saved objects, and the modules that define them and register their file formats.

Loading networks and streams thus requires neither scikit-learn nor pandas.
"""


def load(path: Any) -> Any:
    """Load an object from a file written by ``save``.

    The result is a ``LinearESN``, ``DiagonalReservoir``, ``Forecaster``, ``ReservoirFeatures``,
    ``ReservoirClassifier``, ``LinearModel``, ``Stream`` or ``Learner`` that is bit-identical to the
    saved object. A file that is damaged or has another format raises ``errors.StorageError``.

    Parameters
    ----------
    path : str or Path
        Path of the file.

    See Also
    --------
    eigenecho.errors.StorageError : Raised for files that cannot be read.

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
    return storage.load(path, _find_class)


def _find_class(kind: str) -> type | None:
    """Return the class with a given name, or None if its objects cannot be saved."""
    module = MODULES.get(kind)
    return None if module is None else getattr(import_module(module), kind)
