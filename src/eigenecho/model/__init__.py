"""Models: a reservoir and its readout, run, forecast, streamed and saved."""

from eigenecho.model.intervals import Forecast
from eigenecho.model.learner import Learner
from eigenecho.model.model import LinearModel, Matrices
from eigenecho.model.state import State
from eigenecho.model.stored import StoredLearner, StoredStream
from eigenecho.model.stream import Stream
