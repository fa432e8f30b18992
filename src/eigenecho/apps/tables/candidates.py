"""Choosing a network by its free runs: forecasts of the whole horizon, from several origins.

That is the error that counts, and it is cheap: one factorisation answers for all ridges, and a
free run costs O(N) a step, so that every combination is run.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from eigenecho.apps.tables.time_series import TimeSeries
from eigenecho.apps.tables.view import View
from eigenecho.errors import IllConditionedWarning, UnstableError, UnstableWarning
from eigenecho.estimators import LinearESN
from eigenecho.model import LinearModel, State
from eigenecho.model.loop import ClosedLoop
from eigenecho.readout import Gram, Triangle, factorise
from eigenecho.reservoir import Cache, Recipe
from eigenecho.threads import one_blas_thread
from eigenecho.training import Fold, Settings, gather, pose
from eigenecho.types import Array

RADII = (0.9, 0.99, 1.0)
LEAKS = (1.0, 0.3)
RIDGES = tuple(10.0**k for k in range(-12, 6))

GROWTH = 2.0
"""How much a mode of the closed loop may grow over the horizon."""

TRIALS = 12
"""Candidates whose closed loop is looked at before the calmest of them is taken."""


@dataclass(frozen=True)
class Network:
    """What all candidates share."""

    units: int = 300
    spectrum: str = "golden"
    seed: int = 0

    def estimator(self, rows: int, **params: Any) -> LinearESN:
        """An estimator for a series of that many rows."""
        return LinearESN(
            self.units,
            spectrum=self.spectrum,
            standardize=True,
            warmup=warmup(rows),
            seed=self.seed,
            **params,
        )


def warmup(rows: int) -> int:
    """Rows of a series that are run through before training."""
    return min(100, rows // 10)


@dataclass(frozen=True, order=True)
class Candidate:
    """A view of the series and parameters of the network, with the error of their free runs."""

    error: float
    view: View = field(compare=False)
    params: dict[str, float] = field(compare=False)


@dataclass(frozen=True, eq=False)
class Fitted:
    """A candidate trained on the first ``stop`` rows of a series."""

    candidate: Candidate
    esn: LinearESN
    series: TimeSeries
    stop: int

    @property
    def radius(self) -> float:
        """Of the closed loop."""
        return self.esn.closed_loop_radius_

    def forecast(self, horizon: int) -> Array:
        """Values of the rows that follow."""
        view, stop = self.candidate.view, self.stop
        known = view.known(self.series, horizon)
        ahead = known[stop - view.lag :][:horizon]
        z = self.esn.forecast(
            horizon, _inputs(view, self.series.values[:stop], known), ahead if known.size else None
        )
        return view.undo(self.series.values[stop - 1], z)

    def deviations(self, horizon: int) -> Array:
        """Standard deviation of the forecast's error at each step, as far as the network knows.

        The residuals of training, carried through the closed loop and, where it sees steps, summed
        up with them: σ(h)² = σ² Σ_j ψ_j², j = 0 … h−1, with ψ the response of the values.
        """
        psi = self.candidate.view.response(
            ClosedLoop.of_forecast(self.esn.model_).response(horizon)[:, 0, 0]
        )
        with np.errstate(over="ignore"):  # a loop that grows without bound is infinitely unsure
            return np.sqrt(float(self.esn.noise_covariance_[0, 0]) * np.cumsum(psi**2))


def views(periods: Sequence[float]) -> list[View]:
    """Values and differences, without and with the cycles."""
    calendar = [(), tuple(periods)] if periods else [()]
    return [View(difference, cycles) for cycles in calendar for difference in (False, True)]


def rank(
    series: TimeSeries,
    network: Network,
    shown: Sequence[View],
    origins: Sequence[int],
    horizon: int,
    progress: Callable[[int, int], None] | None = None,
) -> list[Candidate]:
    """All candidates, best first: by root mean square error over all steps of all origins.

    They are trained on the rows before the first origin.
    """
    found: list[Candidate] = []
    cache = Cache()
    reservoirs = [(view, sr, lr) for view in shown for sr in RADII for lr in LEAKS]
    tell = progress or (lambda *_: None)
    for done, (view, sr, lr) in enumerate(reservoirs):
        tell(done, len(reservoirs))
        params = {"sr": sr, "lr": lr}
        errors = free_run_errors(network, params, view, series, origins, horizon, cache)
        found += [
            Candidate(error, view, params | {"ridge": ridge})
            for error, ridge in zip(errors, RIDGES, strict=True)
        ]
    tell(len(reservoirs), len(reservoirs))
    return sorted(found)


def fit(candidate: Candidate, network: Network, series: TimeSeries, stop: int) -> Fitted:
    """Train a candidate on the first ``stop`` rows."""
    view = candidate.view
    z = view.series(series.values[:stop])
    X = _inputs(view, series.values[:stop], view.known(series, 0))
    with _quiet():
        esn = network.estimator(len(z), **candidate.params).fit(X[:-1], z[1:])
    return Fitted(candidate, esn, series, stop)


def first_steady(
    ranked: Sequence[Candidate], network: Network, series: TimeSeries, stop: int, horizon: int
) -> Fitted:
    """The best candidate whose closed loop does not grow much over the horizon.

    Of a few; if all of them grow, the one that grows least.
    """
    tried = []
    for candidate in ranked[:TRIALS]:
        tried.append(fit(candidate, network, series, stop))
        if is_steady(tried[-1], horizon):
            return tried[-1]
    return min(tried, key=lambda one: one.radius)


def is_steady(fitted: Fitted, horizon: int) -> bool:
    """Whether no mode of the closed loop grows by more than ``GROWTH``."""
    return horizon * np.log(max(fitted.radius, 1e-300)) <= np.log(GROWTH)


@one_blas_thread()
def free_run_errors(
    network: Network,
    params: Mapping[str, Any],
    view: View,
    series: TimeSeries,
    origins: Sequence[int],
    horizon: int,
    cache: Cache,
) -> list[float]:
    """One error for each ridge; infinite where a free run overflows.

    ``params`` are those of the reservoir; ``cache`` keeps what draws of one network share.
    """
    stop, known = origins[-1] + horizon, view.known(series, 0)
    X = _inputs(view, series.values[:stop], known)
    z = view.series(series.values[:stop])[:, None]
    before = origins[0] - view.lag  # rows of z that may be learnt from
    with _quiet():
        recipe = Recipe(units=network.units, spectrum=network.spectrum, **params)
        settings = Settings(recipe, standardize=True, warmup=warmup(before))
        drawn = settings.draw(X.shape[1], 1, network.seed, cache)
        problem = pose(settings, drawn, [X[:-1]], [z[1:]], until=[before - 1])
        kind = Triangle if problem.is_small else Gram
        try:
            statistics = gather(problem, kind, Fold([(settings.warmup, before - 1)])).statistics
        except UnstableError:
            return [np.inf] * len(RIDGES)
        factorised = factorise(statistics, problem.penalty, problem.head)
        runs = []
        states = _states(
            drawn.reservoir, problem.inputs[0], [origin - view.lag for origin in origins]
        )
        for origin, state in zip(origins, states, strict=True):
            row = origin - view.lag - 1  # of z: the last that is known
            ahead = known[row : row + horizon] if known.size else None
            wanted = series.observed[origin : origin + horizon]
            runs.append(_FreeRun(series.values[origin - 1], State(state, z[row]), ahead, wanted))
        measured = [run for run in runs if run.seen.any()]
        errors = []
        for ridge in RIDGES:
            model = LinearModel.of(problem, factorised.weights(ridge))
            squares = [run.squared_error(model, view) for run in measured]
            errors.append(float(np.sqrt(np.mean(squares))))
    return errors


@dataclass(frozen=True, eq=False)
class _FreeRun:
    """Where a free run starts, the inputs that are known ahead, and what came about."""

    last: float
    start: State
    known: Array | None
    wanted: Array

    @property
    def seen(self) -> Array:
        """Rows that were observed."""
        return ~np.isnan(self.wanted)

    def squared_error(self, model: LinearModel, view: View) -> float:
        """The mean over the rows that were observed."""
        try:
            run = model.forecast(len(self.wanted), None, self.known, state=self.start)
        except UnstableError:
            return np.inf
        guess = view.undo(self.last, run[:, 0])
        with np.errstate(over="ignore"):
            return float(np.mean((guess[self.seen] - self.wanted[self.seen]) ** 2))


def _inputs(view: View, values: Array, known: Array) -> Array:
    """Rows [z(i), x(i + 1)]."""
    z = view.series(values)
    return np.concatenate([z[:, None], known[: len(z)]], axis=1)


def _states(reservoir: Any, u: Array, stops: Sequence[int]) -> list[Array]:
    """The state before row ``stop − 1`` goes in, for each stop: a forecast starts with that row."""
    state = reservoir.zero_state()
    drive = reservoir.drive(u, None)
    states, done = [], 0
    for stop in stops:
        piece = drive[done : stop - 1]
        states.append(reservoir.last_state(piece, state).copy())
        done = stop - 1
    return states


@contextmanager
def _quiet() -> Iterator[None]:
    """Unstable and ill-conditioned corners are tried on purpose; their errors tell."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UnstableWarning)
        warnings.simplefilter("ignore", IllConditionedWarning)
        yield
