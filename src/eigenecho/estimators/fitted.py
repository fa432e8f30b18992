"""Training of a network, which ``LinearESN.fit`` and ``dask.fit`` share, and its result."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, fields, replace
from functools import cached_property
from typing import Annotated, Any, Self

import numpy as np

from eigenecho.arrays import namespace, to_host
from eigenecho.checks import check_shape
from eigenecho.errors import IllConditionedWarning, bad_argument, counted, warn
from eigenecho.estimators.validation import TARGETS, warn_if_single_rows, warn_if_unstable
from eigenecho.files import NOT_STORED
from eigenecho.model import LinearModel, State
from eigenecho.model.forecast import closed_loop_radius
from eigenecho.model.posterior import Posterior, check_noise
from eigenecho.model.reduce import reduce
from eigenecho.reservoir import DrawnReservoir
from eigenecho.rows import chunk_rows
from eigenecho.scaling import Scaling
from eigenecho.spectra import Spectrum
from eigenecho.training import (
    AbstractProblem,
    Evidence,
    Settings,
    Solver,
    TrainedReadout,
    train,
)
from eigenecho.types import Array, Fraction, NonNegative, NonNegativeArray

LARGEST_TARGET = 1e152
"""Targets of at least this magnitude are rescaled for training: their squares overflow."""

SMALLEST_TARGET = 1e-152
"""Targets of at most this magnitude are rescaled for training: their squares lose digits."""

REMEDY = "Use more rows, fewer units or a larger ridge."

OVERFITTED, NO_NOISE, UNCERTAIN = 0.5, 0.75, 0.1
"""Limits for the degrees of freedom per training row. Above the first limit, a readout overfits;
above the second, the noise cannot be estimated; above the third, intervals that ignore the
uncertainty of the weights are too narrow by 5% or more."""


@dataclass(frozen=True, eq=False)
class FittedNetwork:
    """Trained network with its training results.

    ``final_state`` is the state at the end of the last series. ``flat`` is True if the targets were
    1-D, and ``target`` is their kind, as returned by ``validation.target_kind``. ``drawn`` contains
    the eigenvalues before the leak is applied, or None for a matrix. ``output_names`` contains the
    names of the targets. A file without evidence contains three values computed from it instead:
    the noise (``stored_noise``), the log density (``stored_log_density``) and the degrees of
    freedom of the readout per training row (``freedom_per_row``).
    """

    model: LinearModel
    solver: Solver
    ridges: NonNegativeArray
    final_state: State
    lr: Fraction
    flat: bool
    target: Annotated[str, TARGETS] | None
    drawn: Spectrum | None
    evidence: Evidence | None = field(default=None, metadata=NOT_STORED)
    stored_noise: Array | None = None
    stored_log_density: float | None = None
    freedom_per_row: NonNegative | None = None
    output_names: tuple[str, ...] | None = None

    @classmethod
    def of(
        cls, problem: AbstractProblem, trained: TrainedReadout, last: Array, **details: Any
    ) -> Self:
        """Return the network for a problem and its solution; ``last`` as for ``_end_of``."""
        evidence = trained.evidence
        model = LinearModel.of(problem, evidence.weights)
        ridges, end = np.full(model.D_out, evidence.ridge), _end_of(model, trained.end, last)
        fitted = cls(model, trained.solver, ridges, end, evidence=evidence, **details)
        if trained.log_density is None:
            return fitted
        return replace(fitted, stored_log_density=fitted._in_units(trained.log_density))

    @classmethod
    def of_parts(
        cls, problem: AbstractProblem, settings: Settings, last: Array, **details: Any
    ) -> Self:
        """Train outputs that are missing in different rows separately, and return the network.

        It has no evidence, but the noise EᵀE / √(f fᵀ) of the residuals E, which are 0 for missing
        targets, with f = ``free_rows``. Covariances use the rows in which both outputs are
        observed, so that the matrix is always positive semidefinite.
        """
        weights, solver = np.empty((problem.size, problem.D_out)), "qr"
        ridges, free, rows = np.empty((3, problem.D_out))
        density, scale = 0.0, problem.scalings[1]
        for columns, part in problem.parts:
            trained = train(part, settings)
            evidence, observed = trained.evidence, trained.evidence.count
            warn_if_few_rows(evidence)
            weights[:, columns], ridges[columns] = evidence.weights, evidence.ridge
            free[columns], rows[columns] = evidence.free_rows, max(observed, 1)
            if evidence.ridge == 0:
                density = np.nan
            elif scale is not None:
                density -= (observed - evidence.penalty.free) * np.log(scale.scale[columns]).sum()
            if evidence.ridge > 0:
                known = trained.log_density
                density += evidence.log_density if known is None else known
            solver = "normal" if trained.solver == "normal" else solver
        left = problem.in_double.with_weights(problem.everything(settings.warmup), weights)
        noise = to_host(left.scatter) / np.sqrt(np.outer(free, free))
        model = LinearModel.of(problem, weights)
        return cls(
            model,
            solver,
            ridges,
            _end_of(model, trained.end, last),
            stored_noise=model.covariance_to_user(noise),
            stored_log_density=density if np.isfinite(density) else None,
            freedom_per_row=float(np.max((rows - free) / rows)),
            **details,
        )

    @property
    def ridge(self) -> Any:
        """The ridge of all outputs, or an array (D_out,) if they have different ridges."""
        ridge = float(self.ridges[0])
        return ridge if np.all(self.ridges == ridge) else self.ridges

    def __getstate__(self) -> dict[str, Any]:
        # Cached properties are not pickled, because they may be on a device.
        return {part.name: getattr(self, part.name) for part in fields(self)}

    def attach_to(self, estimator: Any) -> None:
        """Set the fitted attributes of an estimator."""
        vars(estimator).update(
            _fitted=self,
            model_=self.model,
            n_outputs_=self.model.D_out,
            solver_=self.solver,
            ridge_=self.ridge,
        )

    @cached_property
    def noise(self) -> Array:
        """Covariance of one-step errors, in the original units."""
        if self.stored_noise is not None:
            return self.stored_noise
        return self.model.covariance_to_user(self.need_evidence().noise)

    @cached_property
    def log_density(self) -> float:
        """Log marginal likelihood of the training targets, in the original units.

        The prior of the weights is the one that corresponds to the ridge.
        """
        if self.stored_log_density is not None:
            return self.stored_log_density
        return self._in_units(self.need_evidence().log_density)

    def _in_units(self, log_density: float) -> float:
        """Convert a log density from the units of the network to the original units."""
        if self.model.outputs is None:
            return log_density
        evidence = self.need_evidence()
        rows = evidence.count - evidence.penalty.free
        return log_density - float(rows * np.log(self.model.outputs.scale).sum())

    @cached_property
    def posterior(self) -> Posterior | None:
        """Uncertainty of the weights, or None if it is unknown or infinite."""
        return None if self.evidence is None else Posterior.of(self.evidence)

    @cached_property
    def spectrum(self) -> Spectrum:
        """Eigenvalues before the leak is applied."""
        return self.model.spectrum.unleak(self.lr) if self.drawn is None else self.drawn

    @cached_property
    def closed_loop_radius(self) -> float:
        """Spectral radius of the closed loop, in which the output is fed back."""
        return closed_loop_radius(self.model)

    def reduced(self, units: int | None, tol: float | None, data: Any) -> FittedNetwork:
        """Return a network with fewer modes.

        Without ``data``, the training statistics determine which errors matter. The noise is kept,
        and the final state is converted. The evidence is dropped, because it refers to the states
        of the original network.
        """
        self.model.need_states("Reduction")
        evidence = None if self.evidence is None else self.evidence.on_host
        model, states = reduce(self.model, units, tol, data, evidence)
        r = (self.final_state.r @ states).astype(self.final_state.r.dtype)
        return replace(
            self,
            model=model,
            final_state=State(r, self.final_state.y),
            evidence=None,
            drawn=model.spectrum.unleak(self.lr),
            stored_noise=self.noise if self._knows_noise else None,
            freedom_per_row=self.without_evidence().freedom_per_row,
        )

    @property
    def _knows_noise(self) -> bool:
        return self.stored_noise is not None or self.evidence is not None

    def need_evidence(self) -> Evidence:
        """Return the evidence, or raise an error if there is none."""
        if self.evidence is None:
            raise ValueError(
                "The training statistics are not available. Reduced networks and networks whose "
                "outputs are missing in different rows have none, and files contain them only if "
                "they were written by save(path, statistics=True). Fit the network again to train "
                "it further, or use model_.learner(ridge)."
            )
        return self.evidence

    def need_posterior(self) -> Posterior:
        """Return the uncertainty of the weights, or raise an error if it is unknown."""
        self.need_evidence()
        if self.posterior is None:
            raise ValueError(
                f"The training rows and ridge={self.ridge:g} do not determine the weights, so "
                "their uncertainty is unknown. Use a larger ridge, or ridge='auto'."
            )
        return self.posterior

    @property
    def _freedom(self) -> float | None:
        """Degrees of freedom per training row, or None if they are unknown."""
        if self.evidence is None:
            return self.freedom_per_row
        return self.evidence.freedom / max(self.evidence.count, 1)

    def warn_if_weights_are_small(self) -> None:
        """Warn if weights of rows sum to less than the degrees of freedom of the readout."""
        evidence = self.evidence
        if evidence is not None and evidence.count <= evidence.freedom + 1:
            warn(
                f"The weights of the rows sum to {evidence.count:.3g}, less than the "
                f"{evidence.freedom:.3g} degrees of freedom of the readout. The noise, intervals "
                "and ridge='auto' treat weights as numbers of rows. Scale them to a mean of 1.",
                IllConditionedWarning,
            )

    def warn_if_overfitted(self) -> None:
        """Warn if prediction intervals are too narrow."""
        limit = OVERFITTED if self.posterior is None else NO_NOISE
        freedom = self._freedom or 0.0
        if freedom > limit:
            warn(
                "The prediction intervals are too narrow, because the readout has "
                f"{freedom:.2f} degrees of freedom per training row. {REMEDY}",
                IllConditionedWarning,
            )
        elif self.evidence is None and freedom > UNCERTAIN:
            warn(
                "The prediction intervals are too narrow, because they do not include the "
                "uncertainty of the weights. Reduced networks and networks whose outputs are "
                "missing in different rows do not store it, and files contain it only if they "
                "were written by save(path, statistics=True).",
                IllConditionedWarning,
            )

    def without_evidence(self) -> FittedNetwork:
        """Return the network with noise, log density and degrees of freedom instead of evidence."""
        density = self.stored_log_density
        if density is None and "log_density" in vars(self):  # it has been computed
            density = self.log_density
        freedom = self._freedom
        finite = self._knows_noise and np.all(np.isfinite(self.noise))
        return replace(
            self,
            stored_noise=self.noise if finite else None,
            stored_log_density=density if density is not None and np.isfinite(density) else None,
            freedom_per_row=freedom if freedom is not None and np.isfinite(freedom) else None,
        )

    def check(self) -> None:
        """Raise an error if parts of a loaded network are inconsistent."""
        model = self.model
        if self.output_names is not None and len(self.output_names) != model.D_out:
            raise bad_argument("output_names", self.output_names, counted(model.D_out, "name"))
        check_shape(self.ridges, "ridges", (model.D_out,))
        if self.flat and model.D_out > 1:
            raise bad_argument("flat", True, f"False for {model.D_out} outputs")
        if self.stored_noise is not None:
            check_noise(self.stored_noise, model.D_out)
        if self.drawn is not None and self.drawn.units != model.units:
            raise bad_argument("drawn", self.drawn, counted(model.units, "eigenvalue"))


def _end_of(model: LinearModel, end: Array, last: Array) -> State:
    """Return the state at the end of the last series, after its last target ``last``.

    Missing values of ``last``, which is in the original units, are replaced by outputs.
    """
    r = end.astype(model.reservoir.dtype)
    if np.isnan(last).any():
        (z,) = model.reservoir.observe(r[None])
        output = model.to_user(model.readout.offset + model.readout.weights @ z)
        last = np.where(np.isnan(last), output, last)
    return State(r, last.copy())


def warn_if_few_rows(evidence: Evidence) -> None:
    """Warn if there are fewer rows than weights, and the ridge does not prevent overfitting."""
    rows, weights = evidence.statistics.rows, len(evidence.weights)
    # Separate warnings cover a single row and a ridge of 0.
    if 1 < rows < weights and evidence.ridge > 0 and evidence.freedom > OVERFITTED * rows:
        warn(
            f"The readout is overfitted: it has {weights} weights for {rows} training rows, and "
            f"{evidence.freedom:.0f} degrees of freedom with ridge={evidence.ridge:g}. {REMEDY}",
            IllConditionedWarning,
        )


def fit_network(
    settings: Settings,
    drawn: DrawnReservoir,
    problem: AbstractProblem,
    largest: Array,
    last: Array,
    **details: Any,
) -> FittedNetwork:
    """Train a drawn network on the rows of a problem, and warn if the result may be poor.

    ``largest`` (D_out,) contains the largest absolute targets, and ``last`` (D_out,) the last row
    of the targets, both in the original units. ``details`` contains other fields of the result.
    """
    warn_if_single_rows(problem.lengths, "X" if len(drawn.reservoir.W_in) else "y")
    if settings.recipe.basis == "eigen":
        warn_if_unstable(drawn.reservoir.spectrum.radius, max(problem.lengths))
    # Standardised targets are moderate, and targets that drive the network are not rescaled.
    if not (settings.standardize or settings.feedback or settings.output_to_readout):
        scaling = _scale_extremes(largest)
        problem = problem if scaling is None else problem.rescale_outputs(scaling)
    details |= {"lr": float(settings.recipe.lr), "drawn": drawn.spectrum}
    if len(problem.parts) > 1:
        return FittedNetwork.of_parts(problem, settings, last, **details)
    fitted = FittedNetwork.of(problem, train(problem, settings), last, **details)
    if not settings.updates:
        warn_if_few_rows(fitted.need_evidence())
    return fitted


def largest_targets(outputs: Sequence[Array]) -> Array:
    """Return the largest absolute value (D_out,) of each target over all series, ignoring NaN."""
    xp, largest = namespace(outputs[0]), np.zeros(outputs[0].shape[1])
    for y in outputs:
        step = chunk_rows(y, y.shape[1])
        for start in range(0, len(y), step):
            rows = y[start : start + step]
            sizes = xp.max(xp.where(xp.isnan(rows), 0.0, xp.abs(rows)), axis=0, initial=0.0)
            largest = np.maximum(largest, to_host(sizes))
    return largest


def _scale_extremes(largest: Array) -> Scaling | None:
    """Return a scaling of extreme targets by powers of two, or None if no target is extreme."""
    extreme = (largest > 0) & ~((largest > SMALLEST_TARGET) & (largest < LARGEST_TARGET))
    if not extreme.any():
        return None
    exponents = np.where(extreme, np.frexp(largest)[1] - 1, 0)
    return Scaling(np.zeros(len(largest)), np.ldexp(1.0, exponents))
