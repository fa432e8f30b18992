"""Trained networks: predict, forecast, stream, learn online, reduce and save."""

from eigenecho.model.intervals import Forecast
from eigenecho.model.learner import Learner
from eigenecho.model.model import LinearModel, Matrices
from eigenecho.model.network import State
from eigenecho.model.stream import Stream
