"""Classifier for aeon: ``EigenechoClassifier().fit(X, y).predict(X)``."""

from __future__ import annotations

from typing import Any, ClassVar, Self

import numpy as np

from eigenecho.errors import missing_package
from eigenecho.estimators import ReservoirClassifier

try:
    from aeon.classification.base import BaseClassifier
except ImportError as error:
    raise missing_package("eigenecho.interop.aeon", "aeon 1.6") from error

__all__ = ["EigenechoClassifier"]


class EigenechoClassifier(BaseClassifier):
    """Reservoir classifier with the interface of aeon.

    It wraps ``eigenecho.ReservoirClassifier``, whose parameters have the same meaning. Collections
    are arrays (series, D, T), or lists of arrays (D, T_i) for series of unequal lengths.

    Parameters
    ----------
    time_constants : int
        Number of time constants.
    frequencies : int
        Number of frequencies per time constant.
    phases : int
        Number of phases per mode.
    thresholds : int
        Number of thresholds per output.
    ridge : "auto" or float
        Ridge penalty for the standardised features.
    random_state : int, RandomState or None
        Seed of the random thresholds and mixes of channels.

    Attributes
    ----------
    classifier_ : eigenecho.ReservoirClassifier
        The fitted classifier, with the attributes ``coef_``, ``ridge_`` and
        ``leave_one_out_accuracy_``.

    Examples
    --------
    >>> from aeon.datasets import load_unit_test
    >>> from eigenecho.interop.aeon import EigenechoClassifier
    >>> X, y = load_unit_test(split="train")
    >>> X_test, y_test = load_unit_test(split="test")
    >>> bool(EigenechoClassifier(random_state=0).fit(X, y).score(X_test, y_test) > 0.8)
    True
    """

    _tags: ClassVar[dict[str, Any]] = {
        "X_inner_type": ["np-list", "numpy3D"],
        "capability:multivariate": True,
        "capability:unequal_length": True,
        "algorithm_type": "convolution",
    }

    def __init__(
        self,
        time_constants: int = 16,
        frequencies: int = 8,
        phases: int = 3,
        thresholds: int = 5,
        ridge: Any = "auto",
        random_state: Any = None,
    ) -> None:
        self.time_constants = time_constants
        self.frequencies = frequencies
        self.phases = phases
        self.thresholds = thresholds
        self.ridge = ridge
        self.random_state = random_state
        super().__init__()

    @classmethod
    def _get_test_params(cls, parameter_set: str = "default") -> dict[str, Any]:
        return {"time_constants": 4, "frequencies": 3, "phases": 2, "thresholds": 2}

    def _fit(self, X: Any, y: Any) -> Self:
        seed = self.random_state
        if isinstance(seed, np.random.RandomState):
            seed = int(seed.randint(2**31 - 1))
        parameters = self.get_params(deep=False) | {"layout": "channels_first", "seed": seed}
        parameters.pop("random_state")
        self.classifier_ = ReservoirClassifier(**parameters).fit(X, y)
        return self

    def _predict(self, X: Any) -> Any:
        return self.classifier_.predict(X)

    def _predict_proba(self, X: Any) -> Any:
        return self.classifier_.predict_proba(X)
