"""Estimators with the interface of scikit-learn."""

from eigenecho.estimators.diagonal_reservoir import DiagonalReservoir
from eigenecho.estimators.forecaster import Forecaster
from eigenecho.estimators.linear_esn import LinearESN
from eigenecho.estimators.reservoir_classifier import ReservoirClassifier
from eigenecho.estimators.reservoir_features import ReservoirFeatures

__all__ = [
    "DiagonalReservoir", "Forecaster", "LinearESN", "ReservoirClassifier", "ReservoirFeatures",
]  # fmt: skip
