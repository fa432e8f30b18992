"""Models: a reservoir and its readout, run, trained, streamed and saved."""

from eigenecho.model.intervals import Forecast
from eigenecho.model.learner import Learner
from eigenecho.model.model import LinearModel, Matrices, State
from eigenecho.model.scaling import Scaling
from eigenecho.model.stream import Stream
from eigenecho.model.train import Options, Trained, train

__all__ = [
    "Forecast",
    "Learner",
    "LinearModel",
    "Matrices",
    "Options",
    "Scaling",
    "State",
    "Stream",
    "Trained",
    "train",
]
