"""The scikit-learn shell: validate, delegate, store."""

from eigenecho.estimators.diagonal_reservoir import DiagonalReservoir
from eigenecho.estimators.forecaster import Forecaster
from eigenecho.estimators.linear_esn import LinearESN
from eigenecho.estimators.saved import load

__all__ = ["DiagonalReservoir", "Forecaster", "LinearESN", "load"]
