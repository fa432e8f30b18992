"""A fitted forecaster as a value: trained, and run after any row of any series."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from eigenecho import spectra
from eigenecho.checks import check_memory
from eigenecho.clients import Mapped
from eigenecho.data.panel import Panel
from eigenecho.errors import Shown, bad_argument, out_of_range
from eigenecho.forecasting.bands import Bands
from eigenecho.forecasting.base import Base
from eigenecho.forecasting.candidates import Candidate
from eigenecho.forecasting.choice import ForecastConfig, SelectedCandidates, choose, effects
from eigenecho.forecasting.effect import Effects
from eigenecho.forecasting.ensemble import Ensemble, train
from eigenecho.forecasting.filter import Filter, check_growth
from eigenecho.forecasting.plan import plan
from eigenecho.forecasting.seasons import periods_of, whole
from eigenecho.forecasting.signal import Signal, bridged
from eigenecho.forecasting.signals import Measures
from eigenecho.forecasting.view import View
from eigenecho.threads import mapped, one_blas_thread
from eigenecho.types import Array

Report = Callable[[str, int, int], object]


LAST_VALUE = "last value"
"""The name of what is shown to a forecast that learns nothing."""

ANCHOR = 100
"""Rows of a series that was not fitted after which it is measured, and its calendar looked at."""

BYTES = 48
"""For each step of the horizon, at least: sums and weights of a forecast that learns nothing."""

GROWTH = 1.25
"""By which rows grow between two looks at a calendar."""


@dataclass(frozen=True, eq=False)
class FittedForecaster:
    """What a fit leaves.

    Attributes
    ----------
    panel : Panel
        The rows it was fitted on, which forecasts go on from.
    wanted : ForecastConfig
    measures : Measures
    effects : Effects
    ensemble : Ensemble
    pull : float or None
        How hard weights of a series are held to those of all.
    bands : Bands or None
        None where no rows could judge: series were too short, or nothing was observed there.
    tried : int
        Candidates that were judged.
    refit : bool
        Whether the rows that judged were trained on in the end.
    """

    panel: Panel
    wanted: ForecastConfig
    measures: Measures
    effects: Effects
    ensemble: Ensemble
    pull: float | None
    bands: Bands | None
    tried: int
    refit: bool = True

    @property
    def is_recursive(self) -> bool:
        """Whether it runs on for as long as one likes."""
        return all(member.candidate.kind != "direct" for member in self.ensemble.members)

    @property
    def is_naive(self) -> bool:
        """Whether nothing was learnt, so that the last value goes on."""
        return self.ensemble.members[0].candidate.view.name == LAST_VALUE

    @one_blas_thread()
    def forecasts(
        self,
        panel: Panel,
        origins: Sequence[Array],
        horizon: int,
        ahead: Sequence[Array] = (),
    ) -> list[Array]:
        """Values (O, H) after rows of each series, from the rows up to there alone."""
        if horizon > self.ensemble.horizon:
            check_memory(8.0 * horizon * self.ensemble.size, "horizon", horizon)
        ensemble = self.ensemble.lasting(horizon)
        names = self._numbers
        if self.measures.multivariate and [one.name for one in panel.histories] != list(names):
            raise bad_argument(
                "context", Shown(f"{len(panel)} series"),
                f"the {len(names)} series of the fit, in the same order, as each sees the others",
            )  # fmt: skip
        plain = self.measures.plain(panel, ahead)
        found = []
        for i, (history, signal, rows) in enumerate(
            zip(panel.histories, plain, origins, strict=True)
        ):
            if np.any(rows < signal.start):
                raise bad_argument(
                    "origins", int(rows.min()),
                    f"rows from {signal.start} on, the first observation"
                    + ("" if history.name is None else f" of series {history.name!r}"),
                )  # fmt: skip
            rows = rows - signal.start
            made = np.empty((len(rows), horizon))
            for known in np.unique(seen := checkpoints(rows + 1, self._anchor(history.name))):
                some = seen == known
                measured = self.measures.measured(panel, plain, i, signal.start + int(known))
                # Later rows are cut off first, so that not even the order of sums depends on them.
                measured = measured.first(int(rows[some].max()) + 1)
                moved = self.effects.applied(measured, int(known), horizon)
                made[some] = ensemble.forecast(moved, rows[some], names.get(history.name))
                if measured.still:  # exactly itself: logarithms and back would round it
                    flat = np.logical_and.accumulate(measured.values == measured.values[0])
                    made[some] = np.where(flat[rows[some], None], measured.values[0], made[some])
            if not np.isfinite(made).all():
                raise out_of_range(history.name, int(np.argwhere(~np.isfinite(made))[:, 1].min()))
            found.append(made)
        return found

    def quantiles(
        self, panel: Panel, series: int, made: Array, levels: Sequence[float]
    ) -> Array | None:
        """Return quantiles (H, Q) around a forecast (H,); None where nothing is known of errors.

        Those of a constant series are the forecast.
        """
        if self.bands is None:
            return None
        history = panel.histories[series]
        signal = bridged(history.values, self.measures.season)
        measured = self.measures.in_unit(signal, history.name, len(history))
        if measured.still:
            return np.repeat(made[:, None], len(levels), axis=1)
        bands = self.bands.of_series(self._numbers.get(history.name)).lasting(len(made))
        return np.stack([bands.quantile(level, made, measured.unit) for level in levels], axis=1)

    def _anchor(self, name: Hashable | None) -> int:
        """Rows of a series from its first observation on, where it was fitted."""
        return self._lengths.get(name, ANCHOR)

    @cached_property
    def _numbers(self) -> dict[Hashable | None, int]:
        return {one.name: i for i, one in enumerate(self.panel.histories)}

    @cached_property
    def _lengths(self) -> dict[Hashable | None, int]:
        return {one.name: len(one) - one.start for one in self.panel.histories}

    @one_blas_thread()
    def on(self, panel: Panel, report: Report | None = None) -> FittedForecaster:
        """The same choices, trained on the rows of another panel, and measured by them."""
        measures = Measures.of(panel, self.measures.season, self.measures.multivariate)
        signals = measures.signals(panel)
        candidates = [member.candidate for member in self.ensemble.members]
        known, ensemble = _trained(candidates, signals, self.wanted, self.pull, self.refit, report)
        return replace(self, panel=panel, measures=measures, effects=known, ensemble=ensemble)


@one_blas_thread()
def fit(
    panel: Panel,
    wanted: ForecastConfig,
    *,
    seasons: Sequence[float] = (),
    multivariate: bool = False,
    refit: bool = True,
    report: Report | None = None,
    over: Mapped = mapped,
) -> FittedForecaster:
    """Choose by rows held back, then train on all of them, or on those before with no ``refit``.

    What can go side by side does so ``over`` threads, or the workers of a cluster.
    """
    _check(panel, wanted)
    periods = periods_of(panel, seasons)
    wanted = replace(wanted, seasons=whole(periods), periods=periods)
    measures = Measures.of(panel, (wanted.seasons or (1,))[0], multivariate)
    signals = measures.signals(panel)

    def tell(stage: str) -> Callable[[int, int], object] | None:
        return None if report is None else (lambda done, total: report(stage, done, total))

    choice = choose(signals, wanted, tell("choosing"), over, measures.multivariate)
    candidates = [_naive()] if choice is None else choice.candidates
    pull = None if choice is None else choice.pull
    known, ensemble = _trained(candidates, signals, wanted, pull, refit, report, over)
    bands = None if choice is None else _bands(choice, len(panel))
    tried = 0 if choice is None else choice.tried
    return FittedForecaster(panel, wanted, measures, known, ensemble, pull, bands, tried, refit)


def _trained(
    candidates: Sequence[Candidate],
    signals: Sequence[Signal],
    wanted: ForecastConfig,
    pull: float | None,
    refit: bool,
    report: Report | None,
    over: Mapped = mapped,
) -> tuple[Effects, Ensemble]:
    """Candidates trained on all rows, and the effects of what is known, learnt anew."""
    stops = [len(signal) for signal in signals]
    if not refit:
        plans = [plan(len(signal), wanted.horizon, wanted.validation) for signal in signals]
        stops = [len(s) if p is None else p.kept for s, p in zip(signals, plans, strict=True)]
    # By what was chosen: rows that came later, or series that did not judge, may have no logarithm.
    logarithms = sorted({one.view.logarithm for one in candidates})
    known = effects(signals, stops, wanted.periods, logarithms)
    moved = [known.applied(s, stop, 0) for s, stop in zip(signals, stops, strict=True)]
    tell = None if report is None else (lambda done, total: report("training", done, total))
    ensemble = train(candidates, moved, stops, wanted.horizon, pull, tell, over)
    if not ensemble.members:
        ensemble = train([_naive()], moved, stops, wanted.horizon, pull)
    return known, ensemble


def _naive() -> Candidate:
    """Where there is too little to learn from: the last value."""
    view = View(LAST_VALUE, Filter(0.0, spectra.ring(1, sr=0.5)))
    return Candidate(view, Base("level"), "direct", 1e300)


def _bands(choice: SelectedCandidates, series: int) -> Bands | None:
    """Return the errors of the answer on rows that judged; None where nothing was observed."""
    judge = choice.judge
    if all(np.isnan(truth).all() for truth in judge.truths):
        return None
    logarithms = sum(candidate.view.logarithm for candidate in choice.candidates)
    bands = Bands.of(
        choice.forecasts,
        judge.truths,
        [signal.unit for signal in judge.signals],
        2 * logarithms > len(choice.candidates),
        judge.blocks,
        [plan.origins for plan in judge.plans],
    )
    # A series that did not judge is taken to be as the others.
    means = np.full(series, np.nanmean(bands.means))
    numbers = list(judge.numbers)
    means[numbers] = np.where(np.isnan(bands.means), np.nanmean(bands.means), bands.means)
    if not bands.sizes.size:
        return replace(bands, means=means)
    own = np.full(series, np.nan)
    own[numbers] = bands.sizes
    return replace(bands, means=means, sizes=own)


def _check(panel: Panel, wanted: ForecastConfig) -> None:
    check_memory(float(BYTES * wanted.horizon), "horizon", wanted.horizon)
    if wanted.spectrum is not None:
        check_growth(wanted.spectrum, max(len(history) for history in panel.histories))
    for history in panel.histories:
        if np.isnan(history.values).all():
            raise bad_argument(
                "y", history.name, "at least one observation in every series",
                "Leave this one out.",
            )  # fmt: skip


def checkpoints(rows: Array, anchor: int) -> Array:
    """From how many rows the calendar is known that a forecast after so many rows goes by.

        anchor · GROWTHᵏ,   the largest that is not above

    So it is that of the fit at its end, does not depend on other forecasts, and moves on.
    """
    anchor = max(anchor, 1)
    k = np.floor(np.log(rows / anchor) / np.log(GROWTH) + 1e-9)
    return np.clip((anchor * GROWTH**k).astype(int), 1, rows)
