"""The classifiers that are compared, all on one thread and with default settings."""

from __future__ import annotations

from collections.abc import Callable
from importlib.metadata import version
from importlib.util import find_spec
from time import process_time
from typing import Any

import numpy as np

from classifiers.sets import LabelledSet
from suite.machine import source_digest

OURS, SMALL = "eigenecho", "eigenecho, 1024 features"
SETTINGS_OF_SMALL = dict(time_constants=8, frequencies=4, phases=2, thresholds=4)


def eigenecho(seed: int, **settings: int) -> Any:
    """Return our classifier."""
    from eigenecho import ReservoirClassifier

    return ReservoirClassifier(layout="channels_first", seed=seed, **settings)


def of_aeon(name: str) -> Callable[[int], Any]:
    """Return the constructor of one of aeon's classifiers."""

    def make(seed: int) -> Any:
        from aeon.classification import convolution_based

        return getattr(convolution_based, name)(random_state=seed, n_jobs=1)

    return make


METHODS: dict[str, Callable[[int], Any]] = {
    OURS: eigenecho,
    SMALL: lambda seed: eigenecho(seed, **SETTINGS_OF_SMALL),
    "MiniRocket": of_aeon("MiniRocketClassifier"),
    "MultiRocket": of_aeon("MultiRocketClassifier"),
    "Hydra": of_aeon("HydraClassifier"),
}
PEER = "MiniRocket"


def available(name: str) -> bool:
    """Return False if a method needs a package that is not installed."""
    needs = {OURS: [], SMALL: [], "Hydra": ["aeon", "torch"]}.get(name, ["aeon"])
    return all(find_spec(package) for package in needs)


def identity(name: str) -> str:
    """Return what the results of a method depend on besides the data and the seed.

    The peer runs again whenever our source code changes, so that both are timed in the same run.
    """
    if name in (OURS, SMALL):
        return source_digest()
    peer = f", timed with {source_digest()}" if name == PEER else ""
    return f"aeon {version('aeon')}{peer}"


def run(name: str, labelled: LabelledSet, seed: int) -> dict[str, Any]:
    """Return accuracy on the test series, and CPU seconds of fit and predict.

    If the method does not support such series, return the error.
    """
    classifier = METHODS[name](seed)
    start = process_time()
    try:
        classifier.fit(labelled.X, labelled.y)
    except ValueError as error:
        return {"error": str(error)}
    fitted = process_time()
    predicted = classifier.predict(labelled.X_test)
    done = process_time()
    accuracy = float(np.mean(predicted == labelled.y_test))
    return {"accuracy": accuracy, "fit": fitted - start, "predict": done - fitted}
