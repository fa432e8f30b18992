"""Training on targets of which some are missing: outputs with the same gaps go together."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from eigenecho.arrays import namespace
from eigenecho.errors import bad_argument
from eigenecho.readout import Gram, Triangle, held_out_errors
from eigenecho.tensors import to_host
from eigenecho.threads import one_blas_thread
from eigenecho.training.evidence import Evidence
from eigenecho.training.gather import check_range, gather
from eigenecho.training.problem import Problem, Settings, to_choose_by
from eigenecho.training.refine import Round
from eigenecho.training.ridges import told
from eigenecho.training.train import Trained, lowest, train
from eigenecho.types import Array


@dataclass(frozen=True, eq=False)
class PartedEvidence:
    """What outputs were trained on that are missing at different rows.

    ``parts`` holds the evidence of each group of ``columns``, all with one ridge; ``scatter``
    (D_out, D_out) is EᵀE of all residuals E, which are 0 where targets are missing.
    """

    columns: tuple[Array, ...]
    parts: tuple[Evidence, ...]
    scatter: Array

    @property
    def ridge(self) -> float:
        """The ridge at work."""
        return self.parts[0].ridge

    @property
    def weights(self) -> Array:
        """Of all outputs, (N', D_out)."""
        return _side_by_side(self.columns, [part.weights for part in self.parts])

    @property
    def noise(self) -> Array:
        """The covariance of single steps: EᵀE / √(f fᵀ), f rows less degrees of freedom, (D_out,).

        Two outputs go together as far as they were seen together, so that it is a covariance
        whatever is missing.
        """
        free = np.empty(len(self.scatter))
        for columns, part in zip(self.columns, self.parts, strict=True):
            free[columns] = max(part.statistics.rows - part.freedom, 1.0)
        return self.scatter / np.sqrt(np.outer(free, free))

    @property
    def log_density(self) -> float:
        """Log p(Y) of all targets under the ridge."""
        return sum(part.log_density for part in self.parts)


@dataclass(frozen=True, eq=False)
class TrainedParts:
    """As ``Trained``, for outputs that are missing at different rows."""

    evidence: PartedEvidence
    solver: str
    end: Array


@one_blas_thread()
def train_with_gaps(problem: Problem, settings: Settings) -> Trained | TrainedParts:
    """Weights of a readout, each output trained on the rows where it is there.

        w_d = argmin Σ_{t: y_d(t) is there} (y_d(t) − x(t) w)² + α ‖L w‖²

    Of several ridges one is chosen for all outputs, by the mean of their errors.
    """
    if problem.observed is not None and settings.solver == "structured":
        raise bad_argument(
            "solver",
            "structured",
            "another solver where targets are missing: sums over time leave no row out",
            "solver='auto' takes one.",
        )
    if len(problem.parts) == 1:
        return train(problem, settings)
    columns, parts = zip(*problem.parts, strict=True)
    settings = replace(settings, ridge=_chosen(columns, parts, settings))
    trained = [train(part, settings) for part in parts]
    evidence = [one.evidence for one in trained]
    weights = _side_by_side(columns, [one.weights for one in evidence])
    here = namespace(problem.inputs[0]).asarray(weights)
    left = Round(problem.in_double, problem.everything(settings.warmup), here)
    # One that gave up and fell back would do so again.
    solver = next((one.solver for one in trained if one.solver != "qr"), "qr")
    known = PartedEvidence(columns, tuple(evidence), to_host(left.scatter))
    return TrainedParts(known, solver, trained[-1].end)


def _chosen(columns: Sequence[Array], parts: Sequence[Problem], settings: Settings) -> float:
    """The ridge, of several the one that predicts held-out rows of all outputs best."""
    if not settings.compares:
        return told(parts, settings, parts[0].everything(settings.warmup))
    each = zip(columns, parts, strict=True)
    errors = [which.size * _held_out_errors(part, settings) for which, part in each]
    return settings.ridge[lowest(np.sum(errors, axis=0))]


def _held_out_errors(problem: Problem, settings: Settings) -> Array:
    """Of all ridges, the mean over outputs."""
    fold = to_choose_by(problem, settings)
    exact = settings.solver == "qr" or (settings.solver == "auto" and problem.is_small)
    total, held_out, _ = gather(problem, Triangle if exact else Gram, fold)
    for statistics in (total, *held_out):
        check_range(statistics, problem.reservoir)
    known, last = total.on_host, held_out[0].on_host
    return held_out_errors(known, last, problem.penalty, settings.ridge)


def _side_by_side(columns: Sequence[Array], parts: Sequence[Array]) -> Array:
    """Groups of columns (N', k) where they belong, (N', D_out)."""
    return np.concatenate(parts, axis=1)[:, np.argsort(np.concatenate(columns))]
