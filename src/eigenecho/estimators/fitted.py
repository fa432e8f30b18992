"""What a fit leaves behind, as one value."""

from __future__ import annotations

from dataclasses import dataclass, field, fields, replace
from functools import cached_property
from typing import Any

import numpy as np

from eigenecho.checks import check_known, check_lr
from eigenecho.errors import IllConditionedWarning, bad_argument, warn
from eigenecho.estimators.validation import TARGETS
from eigenecho.model import LinearModel, State
from eigenecho.model.certificate import Reduction
from eigenecho.model.forecast import closed_loop_radius
from eigenecho.model.intervals import check_noise
from eigenecho.model.online import as_state
from eigenecho.model.reduce import reduce
from eigenecho.schema import NOT_STORED
from eigenecho.spectra import Spectrum
from eigenecho.training import (
    SOLVERS,
    Evidence,
    GroupEvidence,
    Posterior,
    Problem,
    Trained,
)
from eigenecho.types import Array, NonNegative

REMEDY = "Use more rows, fewer units or a larger ridge."
OVERFITTED = 0.5
"""Degrees of freedom, over the rows, from which a readout has learnt these rows by heart."""

NO_NOISE = 0.75
"""The same, from which few rows are left to tell the noise by."""

OPEN = 0.1
"""The same, from which intervals that leave out the weights are narrower by 5 % or more."""


@dataclass(frozen=True, eq=False)
class Fitted:
    """A trained network and how it came about.

    ``final_state`` is that at the end of the last series. ``flat`` targets were (T,), so that
    answers are too; ``target`` is what they were of the inputs, as ``validation.target_of`` has it.
    A file may come without evidence, and with the noise and log density that it gave
    (``known_noise``, ``known_log_density``) and its degrees of freedom over its rows (``taken``).
    ``output_names`` are the columns of the targets, where they were frames.
    ``drawn`` are the eigenvalues before the leak, of a matrix None until somebody asks for them.
    """

    model: LinearModel
    solver: str
    ridge: NonNegative
    final_state: State
    lr: float
    flat: bool
    target: str | None
    drawn: Spectrum | None
    evidence: Evidence | None = field(default=None, metadata=NOT_STORED)
    known_noise: Array | None = None
    known_log_density: float | None = None
    taken: NonNegative | None = None
    output_names: tuple[str, ...] | None = None

    @classmethod
    def of(cls, problem: Problem, trained: Trained, last: Array, **known: Any) -> Fitted:
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
        fitted = cls(model, trained.solver, evidence.ridge, end, evidence=evidence, **known)
        if trained.log_density is None:
            return fitted
        return replace(fitted, known_log_density=fitted._in_units(trained.log_density))

    def __getstate__(self) -> dict[str, Any]:
        # Without what was found on the way, which may be on a device.
        return {one.name: getattr(self, one.name) for one in fields(self)}

    def given_to(self, estimator: Any) -> None:
        """Let an estimator keep it, by the names that it shows it by."""
        vars(estimator).update(
            _fitted=self,
            model_=self.model,
            n_outputs_=self.model.D_out,
            solver_=self.solver,
            ridge_=self.ridge,
            final_state_=self.final_state,
        )

    @property
    def trained(self) -> Trained:
        """What training further goes on from."""
        return Trained(Evidence.of_one(self._need_single()), self.solver, self.final_state.r)

    @cached_property
    def noise(self) -> Array:
        """Covariance of one-step errors, in the caller's units."""
        if self.known_noise is not None:
            return self.known_noise
        return self.model.covariance_to_user(self._need_any().noise)

    @cached_property
    def log_density(self) -> float:
        """Of the training targets under the ridge, in the caller's units."""
        if self.known_log_density is not None:
            return self.known_log_density
        return self._in_units(self._need_any().log_density)

    def _in_units(self, log_density: float) -> float:
        """A log density of the network's own outputs, for those in the caller's units."""
        if self.model.outputs is None:
            return log_density
        rows = np.empty(self.model.D_out)
        assert self.evidence is not None
        for which, group in zip(self.evidence.columns, self.evidence.groups, strict=True):
            rows[which] = group.statistics.rows - group.penalty.free
        return log_density - float(rows @ np.log(self.model.outputs.scale))

    @cached_property
    def posterior(self) -> Posterior | None:
        """What training left open of the weights; None where that is not known, or everything."""
        return None if self.evidence is None else Posterior.of(self.evidence)

    @cached_property
    def spectrum(self) -> Spectrum:
        """The eigenvalues before the leak."""
        return self.model.spectrum.unleak(self.lr) if self.drawn is None else self.drawn

    @cached_property
    def closed_loop_radius(self) -> float:
        """The eigenvalue radius of the network with its output fed back."""
        return closed_loop_radius(self.model)

    def reduced(self, units: int | None, tol: float | None, data: Any) -> Fitted:
        """The same with fewer modes; the rows of training weigh, where there are no others.

        The state goes along, and so does the noise of single steps. What further training would
        need, and what it left open of the weights, does not: the rows of the new states have never
        been seen.
        """
        group = None if self.evidence is None else self.evidence.single
        evidence = None if group is None else group.on_host
        model, states = reduce(self.model, units, tol, data, evidence)
        r = (self.final_state.r @ states).astype(self.final_state.r.dtype)
        knows_noise = self.known_noise is not None or self.evidence is not None
        return replace(
            self,
            model=model,
            final_state=State(r, self.final_state.y),
            evidence=None,
            drawn=model.spectrum.unleak(self.lr),
            known_noise=self.noise if knows_noise else None,
            taken=self.kept().taken,
        )

    def need_evidence(self) -> GroupEvidence:
        """Return the evidence of all outputs in NumPy arrays, or raise if there is none."""
        return self._need_single().on_host

    def _need_any(self) -> Evidence:
        """Return the evidence, or raise if there is none."""
        return self.evidence or Evidence.of_one(self._need_single())

    def _need_single(self) -> GroupEvidence:
        """Return the evidence of all outputs together, or raise if there is none."""
        if self.evidence is not None and self.evidence.single is not None:
            return self.evidence.single
        why = "are not known: a file has them only when save(path, statistics=True) wrote it"
        if isinstance(self.model.certificate, Reduction):
            why = "are those of more units than it has now: it was made smaller"
        elif self.evidence is not None:
            why = "differ between outputs, which were missing at different rows"
        raise ValueError(
            f"the statistics that this estimator was trained on {why}. Fit again to train further, "
            "or let model_.learner(ridge) learn from here on."
        )

    def need_posterior(self) -> Posterior:
        """What training left open of the weights, or an error that says why it is not known."""
        if self.posterior is not None:
            return self.posterior
        if self.evidence is None:
            why = "a file has what that takes only when save(path, statistics=True) wrote it"
            if isinstance(self.model.certificate, Reduction):
                why = "that was known of the network that was made smaller, before it was"
            wanted = f"False: how far these weights may be off is not known, and {why}"
            remedy = "forecast(interval=...) has the noise of single steps."
            raise bad_argument("return_std", True, wanted, remedy)
        raise ValueError(
            f"training left weights open at a ridge of {self.ridge:g}: how far they may be off is "
            "not known. Fit with a larger ridge, or ridge='auto'."
        )

    @property
    def _parts(self) -> tuple[GroupEvidence, ...]:
        """The evidence of each group of outputs."""
        return () if self.evidence is None else self.evidence.groups

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
        """Warn where intervals are too narrow: noise, or weights, that nobody knows enough of."""
        for evidence in self._parts:
            rows, most = (
                evidence.statistics.rows,
                OVERFITTED if self.posterior is None else NO_NOISE,
            )
            if evidence.freedom > most * rows:
                why = "leave out the uncertainty of the weights"
                if self.posterior is not None:
                    why = "need rows that are left to tell the noise by"
                warn(
                    f"the readout has taken up {evidence.freedom:.0f} degrees of freedom of "
                    f"{rows} training rows: intervals, which {why}, are too narrow. {REMEDY}",
                    IllConditionedWarning,
                )
                return
        if self.evidence is None and self.taken is not None and self.taken > OPEN:
            remedy = "save(path, statistics=True) keeps what they need."
            if isinstance(self.model.certificate, Reduction):
                remedy = "Those of the network that was made smaller have it in them."
            warn(
                "intervals of this network leave out the uncertainty of its weights, which are as "
                f"many as {self.taken:.0%} of its training rows: they are too narrow. {remedy}",
                IllConditionedWarning,
            )

    def kept(self) -> Fitted:
        """Return it with what stands in for the evidence, which a file may come without."""
        knows_noise = self.known_noise is not None or self.evidence is not None
        shares = [part.freedom / max(part.statistics.rows, 1) for part in self._parts]
        density = self.known_log_density
        if density is None and "log_density" in vars(self):  # it has been asked for
            density = self.log_density
        return replace(
            self,
            known_noise=self.noise if knows_noise and np.all(np.isfinite(self.noise)) else None,
            known_log_density=density if density is not None and np.isfinite(density) else None,
            taken=max(shares, default=self.taken),
        )

    def check(self) -> None:
        """Raise where parts of a file do not fit each other."""
        model = self.model
        as_state(model, self.final_state, "final_state")
        check_known(self.solver, "solver", SOLVERS)
        if self.output_names is not None and len(self.output_names) != model.D_out:
            raise bad_argument("output_names", self.output_names, f"{model.D_out} names")
        if self.flat and model.D_out > 1:
            raise bad_argument("flat", True, f"False, since there are {model.D_out} outputs")
        check_lr(self.lr)
        if self.target is not None:
            check_known(self.target, "target", TARGETS)
        if self.known_noise is not None:
            check_noise(self.known_noise, model.D_out)
        if self.drawn is not None and self.drawn.units != model.units:
            raise bad_argument("drawn", self.drawn, f"{model.units} eigenvalues")
