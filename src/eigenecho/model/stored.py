"""Stored forms of streams and learners."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Self

from eigenecho.checks import check_range
from eigenecho.model.learner import Learner
from eigenecho.model.model import LinearModel
from eigenecho.model.online import OnlineRun, State
from eigenecho.model.stream import Stream
from eigenecho.readout import Penalty
from eigenecho.schema import stands_for
from eigenecho.training import TrainingState
from eigenecho.types import Count


@stands_for(Stream)
@dataclass(frozen=True, eq=False)
class StoredStream:
    """Constructor arguments of a ``Stream``, as stored in a file."""

    model: LinearModel
    state: State
    feature_names: tuple[str, ...] | None
    output_names: tuple[str, ...] | None

    @classmethod
    def of(cls, run: OnlineRun) -> Self:
        """Return the stored form of a stream."""
        return cls(**run.parts)

    def restored(self) -> OnlineRun:
        """Return the restored stream."""
        return Stream(**vars(self))


@stands_for(Learner)
@dataclass(frozen=True, eq=False)
class StoredLearner(StoredStream):
    """Constructor arguments of a ``Learner``, as stored in a file.

    If ``neurons`` is True, the penalty uses the basis of the model.
    """

    training_state: TrainingState
    penalty: Penalty
    ridge: float
    forgetting: float
    warmup: Count
    neurons: bool

    @classmethod
    def of(cls, run: OnlineRun) -> Self:
        """Return the stored form of a learner."""
        parts = run.parts
        return cls(**parts, neurons=parts["penalty"].basis is not None)

    def restored(self) -> OnlineRun:
        """Return the restored learner."""
        check_range(self.training_state.weights, "weights", self.model.reservoir.dtype)
        parts = dict(vars(self), penalty=with_basis(self.penalty, self.model, self.neurons))
        del parts["neurons"]
        return Learner(**parts)


def with_basis(penalty: Penalty, model: LinearModel, neurons: bool) -> Penalty:
    """Return the penalty, with the basis of the model if ``neurons`` is True."""
    return replace(penalty, basis=model.need_basis() if neurons else None)
