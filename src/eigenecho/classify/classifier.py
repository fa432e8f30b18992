"""Linear classifiers of features, with calibrated probabilities."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from scipy.special import softmax

from eigenecho.checks import check_floats
from eigenecho.classify.ridge import fit_ridge
from eigenecho.errors import bad_argument
from eigenecho.types import Array, NonNegativeArray, Positive

SHARPNESS = (1e-3, 1e3)
"""Lower and upper bound of ``LinearClassifier.sharpness``."""


@dataclass(frozen=True, eq=False)
class LinearClassifier:
    """Linear classifier for K classes, with decision values features @ weights + intercept.

    The targets of the ridge regression are 1 for the class of a series and −1 for the other
    classes. With two classes, there is a single column, for the second class.

    Attributes
    ----------
    weights : array (F, K), or (F, 1) for two classes
    intercept : array (K,), or (1,)
    scale : array (F,)
        Standard deviations of the features in the training set.
    ridge : float
        Ridge penalty for the standardised features.
    sharpness : float
        Factor in the probabilities softmax(sharpness · decision values).
    accuracy : float
        Leave-one-out accuracy on the training series.
    """

    weights: Array
    intercept: Array
    scale: NonNegativeArray
    ridge: Positive
    sharpness: Positive
    accuracy: float

    def __post_init__(self) -> None:
        F, K = self.weights.shape
        check_floats(self.weights, "weights", F, K)
        check_floats(self.intercept, "intercept", K)
        check_floats(self.scale, "scale", F)
        if not SHARPNESS[0] <= self.sharpness <= SHARPNESS[1]:
            expected = f"a number from {SHARPNESS[0]:g} to {SHARPNESS[1]:g}"
            raise bad_argument("sharpness", self.sharpness, expected)

    @property
    def classes(self) -> int:
        """Number of classes."""
        return max(2, len(self.intercept))

    def decide(self, features: Array) -> Array:
        """Return decision values (n, K), or (n, 1) for two classes."""
        return features @ self.weights + self.intercept

    def probabilities(self, decisions: Array) -> Array:
        """Return the class probabilities (n, classes) for decision values."""
        probabilities: Array = softmax(self.sharpness * per_class(decisions), axis=1)
        return probabilities


def fit_classifier(features: Array, codes: Array, ridges: Sequence[float]) -> LinearClassifier:
    """Fit a classifier to features (n, F) with class codes 0 … K − 1."""
    labels = np.arange(codes.max() + 1)
    labels = labels[1:] if len(labels) == 2 else labels
    fit = fit_ridge(features, np.where(codes[:, None] == labels, 1.0, -1.0), ridges)
    held_out = per_class(fit.held_out)
    accuracy = float(np.mean(held_out.argmax(axis=1) == codes))
    sharpness = calibrate(held_out, codes)
    return LinearClassifier(fit.weights, fit.intercept, fit.scale, fit.ridge, sharpness, accuracy)


def per_class(decisions: Array) -> Array:
    """Return decision values with one column per class, even for two classes."""
    return np.hstack([-decisions, decisions]) if decisions.shape[1] == 1 else decisions


def calibrate(decisions: Array, codes: Array) -> float:
    """Return the sharpness that minimises the log loss for decision values (n, K).

    The decision values come from leave-one-out fits. If all of them are correct, the best sharpness
    would be infinite. The targets are therefore smoothed as in Platt scaling: (n + 1) / (n + K) for
    the class of a series, 1 / (n + K) for the others. The loss is convex, so its derivative has a
    single zero.
    """
    n, K = decisions.shape
    targets = np.full((n, K), 1 / (n + K))
    targets[np.arange(n), codes] += n / (n + K)

    low, high = np.log(SHARPNESS)
    while high - low > 1e-10:
        middle = (low + high) / 2
        slope = np.sum((softmax(np.exp(middle) * decisions, axis=1) - targets) * decisions)
        low, high = (low, middle) if slope > 0 else (middle, high)
    return float(np.exp((low + high) / 2))
