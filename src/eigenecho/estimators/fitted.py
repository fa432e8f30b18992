"""What a fit leaves behind, as one value."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from eigenecho.checks import check_flag, check_known, check_lr, check_not_negative
from eigenecho.errors import IllConditionedWarning, bad_argument, warn
from eigenecho.estimators.validation import TARGETS
from eigenecho.model import LinearModel, State
from eigenecho.model.forecast import closed_loop_radius
from eigenecho.model.intervals import check_noise
from eigenecho.model.loading import unpack_evidence, unpack_model
from eigenecho.model.state import as_state
from eigenecho.spectra import Spectrum
from eigenecho.storage import Tensors, Values, named, take
from eigenecho.training import (
    SOLVERS,
    Evidence,
    PartedEvidence,
    Problem,
    Trained,
    TrainedParts,
)
from eigenecho.transition import Diagonal, unpack
from eigenecho.types import Array

REMEDY = "Use more rows, fewer units or a larger ridge."
OVERFITTED = 0.5
"""Degrees of freedom, over the rows, from which a readout has learnt these rows by heart."""


@dataclass(frozen=True, eq=False)
class Fitted:
    """A trained network and how it came about.

    ``final_state`` is that at the end of the last series. ``flat`` targets were (T,), so that
    answers are too; ``target`` is what they were of the inputs, as ``validation.target_of`` has it.
    A file may come without evidence, and with the noise that it gave (``known_noise``). ``drawn``
    are the eigenvalues before the leak, of a matrix None until somebody asks for them.
    """

    model: LinearModel
    solver: str
    ridge: float
    final_state: State
    lr: float
    flat: bool
    target: str | None
    evidence: Evidence | PartedEvidence | None
    drawn: Spectrum | None
    known_noise: Array | None = None

    @classmethod
    def of(
        cls, problem: Problem, trained: Trained | TrainedParts, last: Array, **known: Any
    ) -> Fitted:
        """Of a problem, its solution, the last target in the caller's units, and all else.

        A last target that is missing is what the model has for it.
        """
        evidence = trained.evidence
        model = LinearModel.of(problem, evidence.weights)
        r = trained.end.astype(problem.reservoir.dtype)
        if np.isnan(last).any():
            own = model.to_user(model.readout.offset + r @ model.readout.weights.T)
            last = np.where(np.isnan(last), own, last)
        end = State(r, last.copy())
        return cls(model, trained.solver, evidence.ridge, end, evidence=evidence, **known)

    @property
    def trained(self) -> Trained:
        """What training further goes on from."""
        return Trained(self.need_evidence(), self.solver, self.final_state.r)

    @cached_property
    def noise(self) -> Array:
        """Covariance of one-step errors, in the caller's units."""
        if self.known_noise is not None:
            return self.known_noise
        known = self.evidence if self.evidence is not None else self.need_evidence()
        return self.model.covariance_to_user(known.noise)

    @cached_property
    def spectrum(self) -> Spectrum:
        """The eigenvalues before the leak."""
        return self.model.spectrum.unleak(self.lr) if self.drawn is None else self.drawn

    @cached_property
    def closed_loop_radius(self) -> float:
        """The eigenvalue radius of the network with its output fed back."""
        return closed_loop_radius(self.model)

    def need_evidence(self) -> Evidence:
        """The evidence, or an error that says why there is none."""
        if isinstance(self.evidence, Evidence):
            return self.evidence.on_host
        why = "are not known: a file has them only when save(path, statistics=True) wrote it"
        if self.evidence is not None:
            why = "differ between outputs, which were missing at different rows"
        raise ValueError(
            f"the statistics that this estimator was trained on {why}. Fit again to train further, "
            "or let model_.learner(ridge) learn from here on."
        )

    @property
    def _parts(self) -> tuple[Evidence, ...]:
        """The evidence of each group of outputs."""
        if isinstance(self.evidence, PartedEvidence):
            return self.evidence.parts
        return () if self.evidence is None else (self.evidence,)

    def warn_if_few_rows(self) -> None:
        """Warn where there are fewer rows than weights, and a ridge that does not hold them."""
        evidence = min(self._parts, key=lambda part: part.statistics.rows)
        rows, weights = evidence.statistics.rows, len(evidence.weights)
        # Of a single row it has been said already; so it has where there is no ridge.
        if 1 < rows < weights and evidence.ridge > 0 and evidence.freedom > OVERFITTED * rows:
            warn(
                f"{rows} training rows for {weights} weights, and a ridge of {evidence.ridge:g} "
                f"that lets the readout take up {evidence.freedom:.0f} degrees of freedom: it fits "
                f"these rows better than it will others. {REMEDY}",
                IllConditionedWarning,
            )

    def warn_if_overfitted(self) -> None:
        """Warn where intervals, which leave out the uncertainty of the weights, are too narrow."""
        for evidence in self._parts:
            if evidence.freedom > OVERFITTED * evidence.statistics.rows:
                warn(
                    f"the readout has taken up {evidence.freedom:.0f} degrees of freedom of "
                    f"{evidence.statistics.rows} training rows: intervals, which leave out the "
                    f"uncertainty of the weights, are too narrow. {REMEDY}",
                    IllConditionedWarning,
                )
                return

    def pack(self, statistics: bool) -> tuple[Tensors, Values]:
        """Its arrays and plain values, for a file, with the ``statistics`` where asked."""
        tensors, values = self.model.pack()
        tensors |= self.final_state.pack("final_state")
        knows_noise = self.known_noise is not None or self.evidence is not None
        if knows_noise and np.all(np.isfinite(self.noise)):
            tensors["noise"] = self.noise
        if self.drawn is not None:
            tensors |= named("spectrum", Diagonal(self.drawn).pack())
        plain = "solver", "ridge", "flat", "lr", "target"
        values |= {name: getattr(self, name) for name in plain}
        if statistics:
            more, values["statistics"] = self.need_evidence().pack()
            tensors |= more
        return tensors, values

    @classmethod
    def unpack(cls, tensors: Tensors, values: Values) -> Fitted:
        """Take what ``pack`` took apart out of a file's arrays and values."""
        model = unpack_model(tensors, values)
        drawn = unpack_spectrum(tensors, model.units) if "spectrum.real" in tensors else None
        evidence = unpack_evidence(tensors, values, model) if "statistics" in values else None
        # Files of 0.1.0 have another name for a solver, and no word on targets.
        solver = values.pop("solver")
        fitted = cls(
            model,
            "refined" if solver == "refined gram" else solver,
            values.pop("ridge"),
            as_state(model, State.unpack("final_state", tensors), "final_state"),
            values.pop("lr"),
            values.pop("flat"),
            values.pop("target", None),
            evidence,
            drawn,
            _unpack_noise(tensors, model),
        )
        check_known(fitted.solver, "solver", SOLVERS)
        check_not_negative(fitted.ridge, "ridge")
        check_flag(fitted.flat, "flat")
        if fitted.flat and model.D_out > 1:
            raise bad_argument("flat", True, f"False, since there are {model.D_out} outputs")
        check_lr(fitted.lr)
        if fitted.target is not None:
            check_known(fitted.target, "target", TARGETS)
        return fitted


def unpack_spectrum(tensors: Tensors, units: int) -> Spectrum:
    """Take the eigenvalues that were drawn out of a file's arrays."""
    drawn = unpack("spectrum", tensors)
    if not isinstance(drawn, Diagonal) or drawn.units != units:
        raise bad_argument("spectrum", drawn, f"{units} eigenvalues")
    return drawn.modes


def _unpack_noise(tensors: Tensors, model: LinearModel) -> Any:
    if "noise" not in tensors:
        return None
    noise = take(tensors, "noise", np.inf)
    # Squares of large residuals overflow, which version 0.1.0 wrote as they were.
    return None if np.any(np.isinf(noise)) else check_noise(noise, model.D_out)
