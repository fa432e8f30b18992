"""Candidates (combinations of a view and a baseline), their training, and ensembles."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import partial, reduce
from itertools import chain
from typing import Annotated, Any

import numpy as np

from eigenecho.clients import Mapped
from eigenecho.errors import UnstableWarning, bad_argument, warn
from eigenecho.forecasting.baselines import Baseline
from eigenecho.forecasting.models import Model, forecast_by
from eigenecho.forecasting.rows import Sums, ViewRows
from eigenecho.forecasting.signals import Batch, reach
from eigenecho.forecasting.views import Filter, View
from eigenecho.threads import mapped, one_blas_thread
from eigenecho.types import Array, Positive

STRATEGIES = ("auto", "direct", "recursive")

KINDS = ("direct", "recursive", "drifting")
"""Kinds of readouts."""

RIDGES = tuple(10.0 ** (k / 2) for k in range(-2, 11))
"""Candidate ridges. Series are in units of their steps, so the entries of rows are of order 1."""


SUMS_FLOOR, TINY = 1e-12, np.finfo(float).tiny
"""Lower bound of unexplained squares, relative to all squares, and a positive number."""

TIED = 1e-6
"""Difference of log densities below which ridges are equally likely."""

PULL = 300.0
"""Ridge on the difference between the weights of one series and the shared weights of all."""

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
    kind: Annotated[str, KINDS]
    ridge: Positive | None = None
    weights: Array = field(default_factory=lambda: np.zeros((0, 0)))
    own: tuple[Array, ...] = ()

    def check(self) -> None:
        """Raise an error if the kind and ridge of a loaded candidate are inconsistent."""
        if (self.ridge is None) == (self.kind == "direct"):
            expected = "a number for direct readouts, and None for others"
            raise bad_argument("ridge", self.ridge, expected)

    def describe(self) -> dict[str, Any]:
        """Return the properties of the candidate by name."""
        return {
            "strategy": self.kind,
            "spectrum": self.view.name,
            "logarithm": self.view.logarithm,
            "calendar": self.view.removed.calendar,
            "base": self.baseline.kind,
            "ridge": self.ridge,
            "known": self.view.removed.known,
            "past": self.view.side is not None,
        }

    def solve(self, sums: Sums) -> Array:
        """Return W (S, N', H), computed from the sums for the baseline of the candidate."""
        if self.kind == "direct":
            assert self.ridge is not None
            return direct(sums, (self.ridge,))[:, 0]
        return recursive(sums, self.view.filter, self.kind == "drifting")

    def solve_near(self, sums: Sums, shared: Array) -> Array:
        """Return W (S, N', H) of each series, shrunk towards the shared weights of all series.

        W = argmin ‖Y − X W‖² + PULL ‖W − W_shared‖²
        """
        if self.kind == "direct":
            return _solve_near(sums.XtX, sums.expected_XtY, shared)
        filter = self.view.filter
        XtY = (sums.next_Xty * sums.next_factor[:, None])[:, :, None]
        one_step = _solve_near(sums.next_XtX, XtY, shared[: filter.size, :1])
        one_step = np.where(
            (sums.next_seen > 0)[:, None], one_step[:, :, 0], shared[: filter.size, 0]
        )
        return _close_loop(filter, one_step, *shared.shape)

    def weights_of(self, series: Sequence[int | None]) -> Array:
        """Return W (N', H), or (S, N', H) if series have their own weights.

        ``series`` contains the indices of the series in the fit, or None for other series.
        """
        if not self.own:
            return self.weights
        return np.stack([self.weights if i is None else self.own[i] for i in series])

    def forecast_within(
        self,
        bounds: tuple[Array, Array],
        rows: ViewRows,
        origins: Array,
        series: Sequence[int | None],
    ) -> Array:
        """Return forecasts (S, O, H), which are NaN at origins where they leave the bounds.

        They may leave it if the last forecast that can be checked was nearly exact, as for
        exponential growth without noise.
        """
        weights, values = self.weights_of(series), rows.batch.values
        forecasts = rows.forecast(self.baseline, weights, origins)
        (low, high), horizon = bounds, forecasts.shape[2]
        far = np.any(~((forecasts >= low) & (forecasts <= high)), axis=2)
        checked = np.flatnonzero(far.any(axis=0) & (origins >= horizon))
        if checked.size:
            before = origins[checked] - horizon
            last = values[:, before[:, None] + np.arange(horizon + 1)]
            errors = np.abs(rows.forecast(self.baseline, weights, before) - last[:, :, 1:])
            far[:, checked] &= ~(errors.max(axis=2) <= EXACT * np.ptp(last, axis=2))
        return np.where(far[:, :, None], np.nan, forecasts)

    def with_horizon(self, horizon: int) -> Candidate:
        """Return the candidate with a shorter horizon or, if it is recursive, a longer one."""

        def change(weights: Array) -> Array:
            if horizon <= weights.shape[1]:
                return weights[:, :horizon]
            filter = self.view.filter
            return _close_loop(filter, weights[None, : filter.size, 0], len(weights), horizon)[0]

        return replace(self, weights=change(self.weights), own=tuple(map(change, self.own)))


def by_view(candidates: Sequence[Candidate]) -> dict[View, list[int]]:
    """Return the indices of the candidates of each view, which share rows and sums."""
    groups: dict[View, list[int]] = {}
    for number, candidate in enumerate(candidates):
        groups.setdefault(candidate.view, []).append(number)
    return groups


@dataclass(frozen=True, eq=False)
class Ensemble:
    """Trained candidates and models of the user, whose forecasts are averaged by a trimmed mean."""

    members: tuple[Candidate, ...]
    models: tuple[Model, ...] = field(default=(), metadata={"stored": False})

    def describe(self) -> list[dict[str, Any]]:
        """Return the properties of all members by name."""
        described = [member.describe() for member in self.members]
        nothing = dict.fromkeys(described[0] if described else ("strategy",))
        given = [nothing | {"strategy": type(model).__name__} for model in self.models]
        return described + given

    @property
    def size(self) -> int:
        """Number of weights per step ahead, over all members and series."""
        return sum(len(member.weights) * (1 + len(member.own)) for member in self.members)

    def forecast(
        self, batch: Batch, origins: Array, horizon: int, series: Sequence[int | None]
    ) -> Array:
        """Return forecasts (S, O, H), each computed from the rows up to its origin.

        ``series`` contains the indices of the series in the fit, or None for other series. Members
        that use logarithms are excluded at origins after a value without a logarithm.
        """
        forecasts: list[Array] = [np.zeros(0)] * len(self.members)
        bounds = low, high = reach(batch.values, origins, horizon)
        for view, numbers in by_view(self.members).items():
            rows = ViewRows.of(view, batch)
            for number in numbers:
                member = self.members[number]
                forecasts[number] = member.forecast_within(bounds, rows, origins, series)
        for model in self.models:
            made = forecast_by(model, batch, origins, horizon)
            forecasts.append(np.where((made >= low) & (made <= high), made, np.nan))
        mean, values = trimmed_mean(forecasts), batch.values
        last = values[:, origins, None]
        positive = values + np.nan_to_num(batch.offset)[:, None] > 0
        after = ~np.logical_and.accumulate(positive, axis=1)[:, origins]
        after &= batch.has_logarithms[:, None]
        if after.any() and any(member.view.logarithm for member in self.members):
            pairs = zip(forecasts, self.members, strict=False)
            others = [f for f, member in pairs if not member.view.logarithm]
            others += forecasts[len(self.members) :]
            mean = np.where(after[:, :, None], trimmed_mean(others) if others else last, mean)
        lost = np.isnan(mean)
        flat = np.logical_and.accumulate(values == values[:, :1], axis=1)[:, origins]
        if lost[~flat].any():
            warn(
                "No model forecasts values within reach of the series, so its last value is the "
                "forecast. Use a shorter horizon, and check the last rows for outliers.",
                UnstableWarning,
            )
        return np.where(lost, last, mean)

    def with_horizon(self, horizon: int) -> Ensemble:
        """Return the ensemble with another horizon; a longer one requires recursive members."""
        members = tuple(member.with_horizon(horizon) for member in self.members)
        return replace(self, members=members)


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
    """Return weights (S, R, N', B·H) of readouts for each ridge, baseline and step ahead."""
    s2, V = _eigen(sums.XtX[:, 1:, 1:])
    VtY = V.transpose(0, 2, 1) @ sums.expected_XtY[:, 1:]
    weights = np.zeros((len(VtY), len(ridges), VtY.shape[1] + 1, VtY.shape[2]))
    for i, ridge in enumerate(ridges):
        weights[:, i, 1:] = V @ (VtY / (s2 + ridge)[:, :, None])
    return weights


def recursive(sums: Sums, filter: Filter, drifts: bool) -> Array:
    """Return weights (S, N', H) of a one-step readout that is applied to its own forecasts.

    The ridge is selected by likelihood. With ``drifts``, the readout has an unpenalised constant.
    Past columns are not used, because they are not forecast.
    """
    XtX, Xty = sums.next_XtX, sums.next_Xty * sums.next_factor[:, None]
    squares, rows = sums.next_squares * sums.next_factor, sums.next_rows
    one_step = np.zeros(Xty.shape)
    if not drifts:
        one_step[:, 1:] = solve_likeliest(XtX[:, 1:, 1:], Xty[:, 1:], squares, rows)
    else:  # project the constant out of the states
        changes = XtX[:, 0, 0] > 0  # the constant of a series that never changed is 0
        size = np.where(changes, XtX[:, 0, 0], 1.0)
        lean = XtX[:, 0, 1:] / size[:, None]
        own = XtX[:, 1:, 1:] - lean[:, :, None] * XtX[:, :1, 1:]
        cross, squares = Xty[:, 1:] - lean * Xty[:, :1], squares - Xty[:, 0] ** 2 / size
        w = solve_likeliest(own, cross, squares, rows - changes, SUMS_FLOOR * sums.next_squares)
        one_step[:, 1:] = w
        one_step[:, 0] = (Xty[:, 0] - np.sum(XtX[:, 0, 1:] * w, axis=1)) / size
    return _close_loop(filter, one_step, *sums.XtY.shape[1:])


def solve_likeliest(
    XtX: Array, Xty: Array, squares: Array, rows: Array, least: Array | None = None
) -> Array:
    """Return weights (S, N) for the ridge with the largest marginal likelihood of the targets.

    ``XtX`` is (S, N, N), ``Xty`` (S, N) and ``squares`` (S,) is yᵀy. If several ridges are equally
    likely, the largest is used.
    """
    least = SUMS_FLOOR * squares if least is None else least
    s2, V = _eigen(XtX)
    a = (V.transpose(0, 2, 1) @ Xty[:, :, None])[:, :, 0]
    along, ridges = a**2 / np.where(s2 > 0, s2, 1.0), np.array(RIDGES)
    share = ridges[:, None] / (s2[:, None] + ridges[:, None])
    unexplained = (share @ along[:, :, None])[:, :, 0] + (squares - along.sum(axis=1))[:, None]
    unexplained = np.maximum(unexplained, np.maximum(least, TINY)[:, None])
    spread = np.log1p(s2[:, None] / ridges[:, None]).sum(axis=2)
    density = -0.5 * (rows[:, None] * np.log(unexplained) + spread)
    good = density >= density.max(axis=1, keepdims=True) - TIED
    best = ridges[len(ridges) - 1 - np.argmax(good[:, ::-1], axis=1)]
    return (V @ (a / (s2 + best[:, None]))[:, :, None])[:, :, 0]


def _eigen(XtX: Array) -> tuple[Array, Array]:
    """Return eigenvalues (S, N), at least as large as their rounding errors, and eigenvectors."""
    s2, V = np.linalg.eigh(XtX)
    return np.maximum(s2, np.finfo(float).eps * s2[:, -1:]), V


def _close_loop(filter: Filter, one_step: Array, size: int, horizon: int) -> Array:
    """Return weights (S, size, H) of closed loops, which are 0 for past columns."""
    weights = np.zeros((len(one_step), size, horizon))
    weights[:, : filter.size] = filter.closed_loop(one_step, horizon)
    return weights


def _solve_near(XtX: Array, XtY: Array, shared: Array) -> Array:
    """Return weights (S, N', H) that are shrunk towards the shared weights (N', H).

    The shared constant is kept, because its estimate from one series is mostly noise.
    """
    A = XtX[:, 1:, 1:] + PULL * np.eye(len(shared) - 1)
    change = np.linalg.solve(A, XtY[:, 1:] - XtX[:, 1:] @ shared)
    return shared + np.pad(change, ((0, 0), (1, 0), (0, 0)))


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
    batches: Sequence[Batch],
    stops: Sequence[int],
    horizon: int,
    is_own: bool = False,
    run: Run = THREADS,
) -> Ensemble:
    """Train candidates on the rows of each batch before its stop, one batch at a time.

    Constant series are excluded, unless all series are constant, and use the shared weights.
    Candidates whose closed loop overflows are dropped, so the ensemble may be empty. Views are
    trained in parallel.
    """
    series = sum(map(len, batches))
    pairs = [
        (batch.only(~batch.is_constant), stop) for batch, stop in zip(batches, stops, strict=True)
    ]
    pairs = [(batch, stop) for batch, stop in pairs if len(batch)] or list(
        zip(batches, stops, strict=True)
    )
    groups = list(by_view(candidates).values())
    train_view = partial(_train_view, pairs, series, horizon, is_own)
    trained = run("training", train_view, [[candidates[i] for i in group] for group in groups])
    members = dict(zip(chain(*groups), chain.from_iterable(trained), strict=True))
    ordered = (members[number] for number in range(len(candidates)))
    return Ensemble(tuple(member for member in ordered if np.isfinite(member.weights).all()))


@one_blas_thread()
def _train_view(
    pairs: Sequence[tuple[Batch, int]],
    series: int,
    horizon: int,
    is_own: bool,
    candidates: Sequence[Candidate],
) -> list[Candidate]:
    """Train the candidates of one view on batches with their stops."""
    view, baselines = candidates[0].view, list(dict.fromkeys(c.baseline for c in candidates))

    def parts(batch: Batch, stop: int, in_total: bool) -> list[Sums]:
        """Return the sums of each series, or of all, for the baseline of each candidate."""
        rows = ViewRows.of(view, batch)
        sums = rows.sums(baselines, horizon, 0, stop, rows.unit(stop))
        sums = sums.total() if in_total else sums
        return [sums.of_baseline(baselines.index(c.baseline), horizon) for c in candidates]

    shared: list[Array] = []
    if not view.alone:
        totals = (parts(*pair, in_total=True) for pair in pairs)
        summed = reduce(lambda a, b: [x + y for x, y in zip(a, b, strict=True)], totals)
        shared = [c.solve(part)[0] for c, part in zip(candidates, summed, strict=True)]
    own: list[dict[int, Array]] = [{} for _ in candidates]
    if view.alone or is_own:
        for batch, stop in pairs:
            for place, (c, sums) in enumerate(
                zip(candidates, parts(batch, stop, False), strict=True)
            ):
                W = c.solve(sums) if view.alone else c.solve_near(sums, shared[place])
                own[place] |= zip(batch.numbers.tolist(), W, strict=True)
    trained = []
    for place, candidate in enumerate(candidates):
        weights = shared[place] if shared else np.zeros_like(next(iter(own[place].values())))
        by_series = [own[place].get(i, weights) for i in range(series)]
        finite = tuple(w if np.isfinite(w).all() else weights for w in by_series)
        trained.append(replace(candidate, weights=weights, own=finite if own[place] else ()))
    return trained
