"""Estimators with the interface of scikit-learn: they validate, call and store."""

from eigenecho.estimators.diagonal_reservoir import DiagonalReservoir
from eigenecho.estimators.forecaster import Forecaster
from eigenecho.estimators.linear_esn import LinearESN
from eigenecho.estimators.saved import load

__all__ = ["DiagonalReservoir", "Forecaster", "LinearESN", "load"]
