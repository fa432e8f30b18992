"""Loading of saved objects, which imports only the modules that an object needs."""

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
"""Classes that a file may hold, and the modules that define them and register their stored forms.

Loading networks and streams thus requires neither scikit-learn nor pandas.
"""


def load(path: Any) -> Any:
    """Read a file written by ``save``.

    Return the ``LinearESN``, ``DiagonalReservoir``, ``Forecaster``, ``ReservoirFeatures``,
    ``ReservoirClassifier``, ``LinearModel``, ``Stream`` or ``Learner``, bit-identical to the saved
    one. A file that is damaged or has another format raises ``errors.StorageError``; a loaded
    object is always valid.

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
    """Return the class with a given name, or None if files do not hold such objects."""
    module = MODULES.get(kind)
    return None if module is None else getattr(import_module(module), kind)
