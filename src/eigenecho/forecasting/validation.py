"""Validation splits: training rows and forecast origins, and scores of candidates on them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property, reduce
from itertools import accumulate, chain, pairwise
from operator import add
from typing import NamedTuple

import numpy as np

from eigenecho.forecasting.baselines import Baseline
from eigenecho.forecasting.candidates import RIDGES, Candidate, direct
from eigenecho.forecasting.intervals import Bands
from eigenecho.forecasting.models import Model, forecast_by
from eigenecho.forecasting.prior import FIRST, Mixture, Prior
from eigenecho.forecasting.rows import Sums, ViewRows
from eigenecho.forecasting.signals import Batch
from eigenecho.forecasting.views import View
from eigenecho.threads import one_blas_thread
from eigenecho.types import Array

FOLDS = 2
"""Number of folds. Each fold contains more training rows than the previous one."""

ORIGINS, IN_PANELS, TOTAL = 150, 40, 600
"""Maximum number of forecast origins per series at which candidates are scored. A panel
has ``TOTAL`` origins, or at most ``IN_PANELS`` of each series if these are more."""

BLOCKS = 8
"""Minimum number of horizons in the validation rows of a long series, so that they are typical."""

ENOUGH = 3000
"""Number of rows from which half of the rows are enough for training."""

LEAST = 10
"""Minimum number of training rows in addition to one horizon."""

DOUBT = 4.0
"""A candidate is kept if its error exceeds the smallest error by at most the fraction
DOUBT / n_blocks, where n_blocks is the number of horizons in the validation rows."""

LEAST_DOUBT, MOST_DOUBT = 0.05, 0.75
"""Bounds of this fraction. Several members are better than one, but poor members do not help."""


@dataclass(frozen=True, eq=False)
class Plan:
    """Validation split of one series.

    Attributes
    ----------
    horizon : int
    rows : int
        Total number of rows.
    kept : int
        Number of rows before the validation rows.
    stops : tuple of int
        Fold f is trained on the rows before ``stops[f]``, including their targets. All series of a
        panel have the same number of folds, but folds of short series may have no origins.
    origins : array (O,)
        Last rows before the forecasts, each followed by ``horizon`` rows.
    """

    horizon: int
    rows: int
    kept: int
    stops: tuple[int, ...]
    origins: Array

    def with_origins(self, most: int) -> Plan:
        """Return the plan with at most this many origins, evenly spread."""
        count = len(self.origins)
        if count <= most:
            return self
        return replace(self, origins=self.origins[np.linspace(0, count - 1, most).astype(int)])

    @property
    def origins_by_fold(self) -> list[Array]:
        """Origins of each fold."""
        return np.split(self.origins, np.searchsorted(self.origins + 1, self.stops[1:]))

    @property
    def blocks(self) -> float:
        """Number of horizons in the validation rows."""
        return (self.rows - 1 - self.origins[0]) / self.horizon


def fewest(horizon: int) -> int:
    """Return the minimum number of rows that a validation split requires."""
    return 2 * horizon + LEAST


def plan(rows: int, horizon: int, validation: int | None = None) -> Plan | None:
    """Return the plan of a series with the given number of rows; None if it is too short.

    The validation rows are the last ``validation`` rows, by default a third of all rows or four
    horizons, whichever is more. In a long series, there are at least as many as in eight horizons
    or half of the rows, whichever is less.
    """
    most = rows - horizon - LEAST
    count = validation
    if count is None:
        count = min(max(4 * horizon, rows // 3), rows - max(2 * horizon, 2 * LEAST))
    count = min(max(count, horizon), most)
    if rows < fewest(horizon):
        return None
    extended = max(count, min(BLOCKS * horizon, rows // 2, most) if rows >= ENOUGH else 0)
    kept, first = rows - count, rows - extended
    edges = np.array([first, kept])
    if validation is None:
        edges = np.linspace(first, rows - horizon + 1, FOLDS + 1).astype(int)[:-1]
    origins = np.arange(first - 1, rows - horizon)
    return Plan(horizon, rows, kept, tuple(edges.tolist()), origins).with_origins(ORIGINS)


def past_plan(rows: int, horizon: int) -> Plan:
    """Return the plan of a short series, with almost all rows as origins.

    Some forecasts extend beyond the end of the series.
    """
    return Plan(horizon, rows, rows, (rows,), np.arange(FIRST, rows - 1))


class ScoredCandidate(NamedTuple):
    """Candidate with its validation forecasts (S, O, H) of each batch, and their error."""

    candidate: Candidate
    forecasts: list[Array]
    error: float


@dataclass(frozen=True, eq=False)
class ValidationData:
    """Batches with their validation splits.

    Attributes
    ----------
    batches : sequence of Batch
    plans : sequence of Plan
    """

    batches: Sequence[Batch]
    plans: Sequence[Plan]

    @cached_property
    def truths(self) -> list[Array]:
        """Values (S, O, H) after the origins of each batch, with NaN for missing values."""
        steps, truths = np.arange(1, self.horizon + 1), []
        for batch, plan in zip(self.batches, self.plans, strict=True):
            values = np.full((len(batch), batch.rows + self.horizon), np.nan)
            values[:, : batch.rows] = np.where(batch.observed, batch.values, np.nan)
            truths.append(values[:, plan.origins[:, None] + steps])
        return truths

    @property
    def series(self) -> int:
        """Number of series."""
        return sum(map(len, self.batches))

    @property
    def horizon(self) -> int:
        """Number of steps ahead H."""
        return self.plans[0].horizon

    @property
    def blocks(self) -> float:
        """Number of horizons in the validation rows of all series."""
        pairs = zip(self.plans, self.batches, strict=True)
        return sum(plan.blocks * len(batch) for plan, batch in pairs)

    @property
    def doubt(self) -> float:
        """Maximum fraction by which the error of a candidate may exceed the smallest error."""
        return min(max(DOUBT / self.blocks, LEAST_DOUBT), MOST_DOUBT)

    @property
    def numbers(self) -> Array:
        """Indices of the series in the panel, (S,)."""
        return np.concatenate([batch.numbers for batch in self.batches])

    def bands(self, forecasts: Sequence[Array], relative: bool, series: int) -> Bands | None:
        """Return the distribution of the errors of forecasts (S, O, H) of each batch.

        ``series`` is the number of series in the panel. The result is None if all validation rows
        are missing.
        """
        if all(np.isnan(truth).all() for truth in self.truths):
            return None
        pairs = zip(self.plans, self.batches, strict=True)
        origins = [plan.origins for plan, batch in pairs for _ in range(len(batch))]
        units = np.concatenate([batch.unit for batch in self.batches]).tolist()
        made, truths = (list(chain.from_iterable(arrays)) for arrays in (forecasts, self.truths))
        bands = Bands.of(made, truths, units, relative, self.blocks, origins)
        means, sizes = np.full(series, np.nan), bands.sizes
        means[self.numbers] = bands.means
        if sizes.size:
            sizes = np.full(series, np.nan)
            sizes[self.numbers] = bands.sizes
        return replace(bands, means=means, sizes=sizes)

    def error(self, forecasts: Sequence[Array]) -> float:
        """Return the mean absolute error in units of each series, averaged over all series."""
        parts = zip(forecasts, range(len(self.batches)), strict=True)
        return float(_mean_error([self._errors(f[None], number) for f, number in parts])[0])

    def _errors(self, forecasts: Array, number: int) -> Array:
        """Return the mean absolute errors (…, S) of a batch, which are NaN without true values."""
        truth, unit = self.truths[number], self.batches[number].unit
        observed = ~np.isnan(truth)
        counts = observed.sum(axis=(1, 2))
        weights = observed / (np.maximum(counts, 1) * unit)[:, None, None]
        with np.errstate(over="ignore", invalid="ignore"):
            errors = forecasts - np.where(observed, truth, 0.0)
            np.abs(errors, out=errors)
            means = np.einsum("...soh,soh->...s", errors, weights)
        return np.where(counts > 0, np.where(np.isnan(means), np.inf, means), np.nan)

    @one_blas_thread()
    def score(
        self, view: View, baselines: Sequence[Baseline], strategy: str
    ) -> list[ScoredCandidate]:
        """Train and score all candidates of a view, with the best ridge for direct readouts."""
        rows = [ViewRows.of(view, batch) for batch in self.batches]
        sums = self.sums(rows, baselines)
        scored = []
        # Series share weights unless the view trains each series on its own rows.
        if view.alone:
            trained = [[direct(part) for part in folds] for folds in sums]
        else:
            shared = Sums.join(merge_batches(sums))  # one entry for each fold
            trained = [list(direct(shared)[:, None])] * len(rows)
        if strategy != "direct" and not view.alone:
            for kind in ("recursive", "drifting"):
                candidate = Candidate(view, baselines[0], kind)
                weights = list(candidate.solve(shared.of_baseline(0, self.horizon)))
                forecasts = self.forecasts(rows, baselines[0], [weights] * len(rows))
                scored.append(ScoredCandidate(candidate, forecasts, self.error(forecasts)))
        if strategy == "recursive":
            return scored
        for number, baseline in enumerate(baselines):
            columns = slice(number * self.horizon, (number + 1) * self.horizon)
            by_fold = [[np.swapaxes(W[..., columns], 0, 1) for W in folds] for folds in trained]
            by_ridge = self.forecasts(rows, baseline, by_fold)
            errors = _mean_error([self._errors(f, i) for i, f in enumerate(by_ridge)])
            best = int(np.argmin(errors))
            candidate = Candidate(view, baseline, "direct", RIDGES[best])
            forecasts = [f[best].copy() for f in by_ridge]
            scored.append(ScoredCandidate(candidate, forecasts, float(errors[best])))
        return scored

    def score_model(self, model: Model) -> tuple[list[Array], float]:
        """Return the forecasts (S, O, H) of each batch by a model of the user, and their error."""
        parts: list[list[Array]] = [[] for _ in self.batches]
        for fold in range(len(self.plans[0].stops)):
            trained = model.fit(self.batches, [plan.stops[fold] for plan in self.plans])
            for part, batch, plan in zip(parts, self.batches, self.plans, strict=True):
                origins = plan.origins_by_fold[fold]
                part.append(forecast_by(trained, batch, origins, self.horizon))
        forecasts = [np.concatenate(part, axis=1) for part in parts]
        return forecasts, self.error(forecasts)

    def sums(self, rows: Sequence[ViewRows], baselines: Sequence[Baseline]) -> list[list[Sums]]:
        """Return the sums over the training rows of each fold, for each batch."""
        sums = []
        for part, plan in zip(rows, self.plans, strict=True):
            unit = part.unit(plan.stops[0])
            pieces = [
                part.sums(baselines, self.horizon, start, stop, unit)
                for start, stop in pairwise((0, *plan.stops))
            ]
            sums.append(list(accumulate(pieces, add)))
        return sums

    def forecasts(
        self,
        rows: Sequence[ViewRows],
        baseline: Baseline,
        weights: Sequence[Sequence[Array]],
    ) -> list[Array]:
        """Return forecasts (…, S, O, H) of each batch, given weights (…, S, N', H) of each fold."""
        forecasts = []
        for part, plan, folds in zip(rows, self.plans, weights, strict=True):
            each = zip(folds, plan.origins_by_fold, strict=True)
            pieces = [part.forecast(baseline, W, origins) for W, origins in each]
            forecasts.append(np.concatenate(pieces, axis=-2))
        return forecasts

    def forecasts_of_prior(self, prior: Prior, season: int) -> list[Array]:
        """Return forecasts (S, O, H) by the prior, adapted to the rows of each fold."""
        forecasts = []
        for batch, plan in zip(self.batches, self.plans, strict=True):
            parts = []
            for stop, origins in zip(plan.stops, plan.origins_by_fold, strict=True):
                mixture = Mixture.of(prior, batch, stop, self.horizon, season, self.horizon)
                parts.append(mixture.forecast(origins))
            forecasts.append(np.concatenate(parts, axis=1))
        return forecasts


def merge_batches(sums: Sequence[Sequence[Sums]]) -> list[Sums]:
    """Return the sums over all series, for each fold."""
    return [reduce(add, (part.total() for part in parts)) for parts in zip(*sums, strict=True)]


def _mean_error(errors: Sequence[Array]) -> Array:
    """Return the means (…,) of errors (…, S) over all batches, ignoring NaN; inf if not finite."""
    whole = np.concatenate(errors, axis=-1)
    there = ~np.isnan(whole)
    with np.errstate(over="ignore", invalid="ignore", divide="ignore"):
        mean = np.where(there, whole, 0.0).sum(axis=-1) / there.sum(axis=-1)
    return np.where(np.isfinite(mean), mean, np.inf)
