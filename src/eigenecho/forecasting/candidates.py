"""Candidates (combinations of a view and a baseline), their training, and ensembles."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import partial, reduce
from itertools import chain
from typing import Any, NamedTuple

import numpy as np
from scipy.linalg import cho_factor, cho_solve

from eigenecho.checks import check_known
from eigenecho.clients import Mapped
from eigenecho.errors import UnstableWarning, bad_argument, warn
from eigenecho.forecasting.baselines import Baseline
from eigenecho.forecasting.rows import Sums, ViewRows, expected
from eigenecho.forecasting.signals import Signal, moving_series, reach
from eigenecho.forecasting.views import Filter, View
from eigenecho.readout import Gram, Likelihood, Penalty, likeliest
from eigenecho.threads import mapped, one_blas_thread
from eigenecho.types import Array, Positive

STRATEGIES = ("auto", "direct", "recursive")

KINDS = ("direct", "recursive", "drifting")
"""Kinds of readouts."""

RIDGES = tuple(10.0 ** (k / 2) for k in range(-2, 11))
"""Candidate ridges. Series are in units of their steps, so the entries of rows are of order 1."""


class Pull(NamedTuple):
    """Shrinkage of the weights of one series towards the shared weights of all series.

    Attributes
    ----------
    ridge : float
        Ridge on the difference from the shared weights.
    share : float
        Fraction of the difference from the shared weights that is kept.
    """

    ridge: Positive
    share: Positive = 1.0


PULLS = tuple(Pull(ridge, share) for share in (1.0, 0.5) for ridge in (3000.0, 300.0, 30.0))
"""Candidate pulls for series with separate weights."""

Run = Callable[[str, Callable[[Any], Any], Sequence[Any]], Iterable[Any]]
"""Function run(stage, function, items) that yields function(item) for each item, in order."""

EXACT = 0.01
"""Largest error of a nearly exact forecast, relative to the range of the rows that it covers."""

TRIMMED = 0.2
"""Fraction of the forecasts that is trimmed at each end."""


@dataclass(frozen=True, eq=False)
class Candidate:
    """Model whose forecast is baseline + x W, where x is a row of a view.

    Attributes
    ----------
    view : View
    baseline : Baseline
    kind : {"direct", "recursive", "drifting"}
        "direct" trains a readout for each step ahead. "recursive" trains a one-step readout and
        applies it to its own forecasts. "drifting" is recursive with an additional constant.
    ridge : float or None
        Ridge of a direct readout. For other kinds, the ridge is selected by likelihood.
    weights : array (N', H)
        W; empty before training.
    own : tuple of arrays (N', H)
        Weights of each series; empty if all series share weights.
    """

    view: View
    baseline: Baseline
    kind: str
    ridge: Positive | None = None
    weights: Array = field(default_factory=lambda: np.zeros((0, 0)))
    own: tuple[Array, ...] = ()

    def check(self) -> None:
        """Raise an error if the kind and ridge of a loaded candidate are inconsistent."""
        check_known(self.kind, "kind", KINDS)
        if (self.ridge is None) == (self.kind == "direct"):
            expected = "a number for direct readouts, and None for others"
            raise bad_argument("ridge", self.ridge, expected)

    def describe(self) -> dict[str, Any]:
        """Return the properties of the candidate by name."""
        return {
            "strategy": self.kind,
            "spectrum": self.view.name,
            "level": self.view.filter.memory,
            "logarithm": self.view.logarithm,
            "calendar": self.view.removed.calendar,
            "base": self.baseline.kind,
            "ridge": self.ridge,
            "known": self.view.removed.known,
            "past": self.view.side is not None,
        }

    def solve(self, sums: Sums) -> Array:
        """Return W (N', H), computed from the sums for the baseline of the candidate."""
        if self.kind == "direct":
            assert self.ridge is not None
            return direct(sums, (self.ridge,))[0]
        return recursive(sums, self.view.filter, self.kind == "drifting")

    def solve_near(self, sums: Sums, shared: Array, pull: Pull) -> Array:
        """Return W (N', H) of one series, shrunk towards the shared weights of all series.

        W_shared + share (W − W_shared),   W = argmin ‖Y − X W‖² + ridge ‖W − W_shared‖²
        """
        return shared + pull.share * (self._own(sums, shared, pull.ridge) - shared)

    def _own(self, sums: Sums, shared: Array, pull: float) -> Array:
        if self.kind == "direct":
            return _solve_near(expected(sums.ahead, sums.ahead_seen), shared, pull)
        filter = self.view.filter
        one_step = shared[: filter.size, :1]
        if sums.following_seen[0]:
            following = expected(sums.following, sums.following_seen)
            one_step = _solve_near(following, one_step, pull)
        return _close_loop(filter, one_step[:, 0], *shared.shape)

    def forecast(self, rows: ViewRows, origins: Array, series: int | None = None) -> Array:
        """Return forecasts (O, H) from the origins.

        ``series`` is the index of the series in the fit, or None for another series.
        """
        weights = self.weights if series is None or not self.own else self.own[series]
        return rows.forecast(self.baseline, weights, origins)

    def forecast_within_reach(
        self, rows: ViewRows, origins: Array, series: int | None = None
    ) -> Array:
        """Return forecasts (O, H), which are NaN at origins where they leave the reach.

        They may leave it if the last forecast that can be checked was nearly exact, as for
        exponential growth without noise.
        """
        forecasts, values = self.forecast(rows, origins, series), rows.signal.values
        horizon = forecasts.shape[1]
        low, high = reach(values, origins, horizon)
        far = np.any(~((forecasts >= low) & (forecasts <= high)), axis=1)
        checked = np.flatnonzero(far & (origins >= horizon))
        if checked.size:
            before = origins[checked] - horizon
            last = values[before[:, None] + np.arange(horizon + 1)]
            errors = np.abs(self.forecast(rows, before, series) - last[:, 1:]).max(axis=1)
            far[checked] = ~(errors <= EXACT * np.ptp(last, axis=1))
        return np.where(far[:, None], np.nan, forecasts)

    def with_horizon(self, horizon: int) -> Candidate:
        """Return the candidate with a shorter horizon or, if it is recursive, a longer one."""

        def change(weights: Array) -> Array:
            if horizon <= weights.shape[1]:
                return weights[:, :horizon]
            filter = self.view.filter
            return _close_loop(filter, weights[: filter.size, 0], len(weights), horizon)

        return replace(self, weights=change(self.weights), own=tuple(map(change, self.own)))


def by_view(candidates: Sequence[Candidate]) -> dict[View, list[int]]:
    """Return the indices of the candidates of each view, which share rows and sums."""
    groups: dict[View, list[int]] = {}
    for number, candidate in enumerate(candidates):
        groups.setdefault(candidate.view, []).append(number)
    return groups


@dataclass(frozen=True, eq=False)
class Ensemble:
    """Trained candidates, whose forecasts are averaged by a trimmed mean at each step."""

    members: tuple[Candidate, ...]

    @property
    def horizon(self) -> int:
        """Number of steps ahead H."""
        return self.members[0].weights.shape[1]

    @property
    def size(self) -> int:
        """Number of weights per step ahead, over all members and series."""
        return sum(len(member.weights) * (1 + len(member.own)) for member in self.members)

    def forecast(self, signal: Signal, origins: Array, series: int | None = None) -> Array:
        """Return forecasts (O, H), each computed from the rows up to its origin.

        Members that use logarithms are excluded at origins after a value without a logarithm.
        """
        forecasts: list[Array] = [np.zeros(0)] * len(self.members)
        for view, numbers in by_view(self.members).items():
            rows = ViewRows.of(view, signal)
            for number in numbers:
                member = self.members[number]
                forecasts[number] = member.forecast_within_reach(rows, origins, series)
        mean = trimmed_mean(forecasts)
        after = ~np.logical_and.accumulate(signal.values + signal.offset > 0)[origins]
        logarithms = [member.view.logarithm for member in self.members]
        if signal.has_logarithms and after.any() and any(logarithms):
            others = [f[after] for f, log in zip(forecasts, logarithms, strict=True) if not log]
            last = np.repeat(signal.values[origins[after], None], self.horizon, axis=1)
            mean[after] = trimmed_mean(others) if others else last
        lost = np.isnan(mean)
        flat = np.logical_and.accumulate(signal.values == signal.values[0])[origins]
        if lost[~flat].any():
            warn(
                "No model forecasts values within reach of the series, so its last value is the "
                "forecast. Use a shorter horizon, and check the last rows for outliers.",
                UnstableWarning,
            )
        return np.where(lost, signal.values[origins, None], mean)

    def with_horizon(self, horizon: int) -> Ensemble:
        """Return the ensemble with another horizon; a longer one requires recursive members."""
        return Ensemble(tuple(member.with_horizon(horizon) for member in self.members))


def trimmed_mean(forecasts: Sequence[Array]) -> Array:
    """Return the trimmed mean of forecasts, treating non-finite numbers as extremes."""
    ordered = np.sort(np.stack(forecasts), axis=0)  # NaN is sorted last
    cut = int(TRIMMED * len(ordered))
    inner = ordered[cut : len(ordered) - cut]
    finite = np.isfinite(inner)
    count = finite.sum(axis=0)
    with np.errstate(over="ignore"):
        total = np.where(finite, inner, 0.0).sum(axis=0)
    return np.where(count > 0, total / np.maximum(count, 1), np.nan)


# Readouts --------------------------------------------------------------------------------------


def direct(sums: Sums, ridges: Sequence[float] = RIDGES) -> Array:
    """Return weights (R, N', B·H) of readouts for each ridge, baseline and step ahead."""
    gram = expected(sums.ahead, sums.ahead_seen)
    factorised = _without_constant(gram).factorise(Penalty(len(gram.XtX) - 1))
    weights = np.zeros((len(ridges), *gram.XtY.shape))
    for i, ridge in enumerate(ridges):
        weights[i, 1:] = factorised.weights(ridge)
    return weights


def recursive(sums: Sums, filter: Filter, drifts: bool) -> Array:
    """Return weights (N', H) of a one-step readout that is applied to its own forecasts.

    The ridge is selected by likelihood. With ``drifts``, the readout has an unpenalised constant.
    Past columns are not used, because they are not forecast.
    """
    seen = float(sums.following_seen[0])
    one_step = np.zeros(filter.size)
    if seen:
        following = expected(sums.following, sums.following_seen)
        squares = sums.squares * following.rows / seen
        # The constant of a series that never changed is 0.
        drifts = drifts and bool(following.XtX[0, 0] > 0)
        used = following if drifts else _without_constant(following)
        one_step[0 if drifts else 1 :] = solve_likeliest(used, squares, drifts)
    return _close_loop(filter, one_step, *sums.ahead.XtY.shape)


def solve_likeliest(gram: Gram, squares: float, free: bool = False) -> Array:
    """Return weights (N',) for the ridge with the largest marginal likelihood of the targets.

    ``squares`` is yᵀy. With ``free``, the first column is not penalised.
    """
    factorised = gram.factorise(Penalty(len(gram.XtX), int(free)))
    likelihood = Likelihood.of_sums(factorised, gram.XtX, gram.XtY, gram.rows, np.array([squares]))
    return factorised.weights(likeliest(likelihood, RIDGES).ridge)[:, 0]


def _close_loop(filter: Filter, one_step: Array, size: int, horizon: int) -> Array:
    """Return weights (size, H) of a closed loop, which are 0 for past columns."""
    weights = np.zeros((size, horizon))
    weights[: filter.size] = filter.closed_loop(one_step, horizon)
    return weights


def _without_constant(gram: Gram) -> Gram:
    return Gram(gram.XtX[1:, 1:], gram.XtY[1:], gram.rows)


def _solve_near(gram: Gram, shared: Array, pull: float) -> Array:
    """Return weights that are shrunk towards the shared weights.

    The shared constant is kept, because its estimate from one series is mostly noise.
    """
    G = gram.XtX[1:, 1:]
    residual = gram.XtY[1:] - gram.XtX[1:] @ shared
    factor = cho_factor(G + pull * np.eye(len(G)))
    return np.concatenate([shared[:1], shared[1:] + cho_solve(factor, residual)])


# Training --------------------------------------------------------------------------------------


def runner(
    over: Mapped = mapped, report: Callable[[str, int, int], object] | None = None, prefix: str = ""
) -> Run:
    """Return a function that runs tasks with ``over``, on threads or on the workers of a cluster.

    After each task, ``report`` is called with the name of the stage, which starts with ``prefix``,
    the number of finished tasks and the total number of tasks.
    """

    def run(stage: str, function: Callable[[Any], Any], items: Sequence[Any]) -> Iterator[Any]:
        for count, result in enumerate(over(function, items), 1):
            yield result
            if report is not None:
                report(prefix + stage, count, len(items))

    return run


THREADS = runner()


@one_blas_thread()
def train(
    candidates: Sequence[Candidate],
    signals: Sequence[Signal],
    stops: Sequence[int],
    horizon: int,
    pull: Pull | None = None,
    run: Run = THREADS,
) -> Ensemble:
    """Train candidates on the rows of each series before its stop, one series at a time.

    Constant series are excluded, unless all series are constant, and use the shared weights.
    Candidates whose closed loop overflows are dropped, so the ensemble may be empty. Views are
    trained in parallel.
    """
    groups = list(by_view(candidates).values())
    train_view = partial(_train_view, signals, stops, horizon, pull)
    trained = run("training", train_view, [[candidates[i] for i in group] for group in groups])
    members = dict(zip(chain(*groups), chain.from_iterable(trained), strict=True))
    ordered = (members[number] for number in range(len(candidates)))
    return Ensemble(tuple(member for member in ordered if np.isfinite(member.weights).all()))


@one_blas_thread()
def _train_view(
    signals: Sequence[Signal],
    stops: Sequence[int],
    horizon: int,
    pull: Pull | None,
    candidates: Sequence[Candidate],
) -> list[Candidate]:
    """Train the candidates of one view."""
    view, baselines = candidates[0].view, list(dict.fromkeys(c.baseline for c in candidates))

    def sums(series: int) -> Sums:
        rows = ViewRows.of(view, signals[series])
        return rows.sums(baselines, horizon, 0, stops[series], rows.unit(stops[series]))

    def solve(total: Sums, shared: Sequence[Array] | None = None) -> list[Array]:
        """Return the weights of all candidates, shrunk towards ``shared`` if it is given."""
        parts = [total.of_baseline(baselines.index(c.baseline), horizon) for c in candidates]
        if shared is None or pull is None:
            return [c.solve(part) for c, part in zip(candidates, parts, strict=True)]
        near = zip(candidates, parts, shared, strict=True)
        return [c.solve_near(part, weights, pull) for c, part, weights in near]

    numbers, own = moving_series(signals), {}
    if view.alone:
        own = {i: solve(sums(i)) for i in numbers}
        shared = [np.zeros_like(weights) for weights in own[numbers[0]]]
    else:
        shared = solve(reduce(Sums.merge, map(sums, numbers)))
        if pull is not None:
            own = {i: solve(sums(i), shared) for i in numbers}
    trained = []
    for place, (candidate, weights) in enumerate(zip(candidates, shared, strict=True)):
        by_series = [own[i][place] if i in own else weights for i in range(len(signals))]
        finite = tuple(w if np.isfinite(w).all() else weights for w in by_series)
        trained.append(replace(candidate, weights=weights, own=finite if own else ()))
    return trained
