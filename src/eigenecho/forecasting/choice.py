"""The choice: views of series that suit their length and seasons, judged, and the best kept."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial

import numpy as np

from eigenecho import spectra
from eigenecho.checks import check_count, is_finite_number
from eigenecho.clients import Mapped
from eigenecho.errors import Shown, bad_argument, unknown_name
from eigenecho.forecasting.base import Base
from eigenecho.forecasting.candidate_spectra import LONG, LONGEST, candidate_spectra
from eigenecho.forecasting.candidates import (
    STRATEGIES,
    Candidate,
    ScoredCandidate,
    ValidationData,
    by_fold,
)
from eigenecho.forecasting.effect import Effects, learn
from eigenecho.forecasting.ensemble import FEWEST, best, middle
from eigenecho.forecasting.filter import Filter
from eigenecho.forecasting.plan import plan
from eigenecho.forecasting.rows import Rows
from eigenecho.forecasting.sharing import PULLS, pulled
from eigenecho.forecasting.signal import RemovedEffects, Signal, moving
from eigenecho.forecasting.sums import Sums
from eigenecho.forecasting.view import View
from eigenecho.spectra import Spectrum
from eigenecho.threads import mapped, one_blas_thread
from eigenecho.types import Array, PositiveInt

Report = Callable[[int, int], object]

SHARING = ("auto", "shared", "own")

SIDE = 4
"""Modes for a column that stands beside a series."""

SERIES = 64
"""Series of a panel that candidates are judged by, at most."""

ROWS = 20_000
"""Rows of a series that candidates are judged by, at most."""

MOST_PERIODS = 20
"""Periods of a fit, or of a file, at most: the work of a forecast grows with their square."""


@dataclass(frozen=True)
class ForecastConfig:
    """What may be chosen from.

    Attributes
    ----------
    horizon : int
    seasons : tuple of int
    periods : tuple of float
        Of the calendar.
    strategy : {"auto", "direct", "recursive"}
    sharing : {"auto", "shared", "own"}
    validation : int or None
        Rows at the end that judge; a part of all rows by default.
    spectrum : Spectrum or None
        In place of those that suit the seasons.
    level : float or None
        Over how many rows the level fades that filters take off; chosen where it is None.
    """

    horizon: int
    seasons: tuple[PositiveInt, ...] = ()
    periods: tuple[float, ...] = ()
    strategy: str = "auto"
    sharing: str = "auto"
    validation: int | None = None
    spectrum: Spectrum | None = None
    level: float | None = None

    def __post_init__(self) -> None:
        check_count(self.horizon, "horizon", "a number of steps", 1)
        if (count := max(len(self.periods), len(self.seasons))) > MOST_PERIODS:
            raise bad_argument("seasons", Shown(f"{count} periods"), f"at most {MOST_PERIODS}")
        if self.strategy not in STRATEGIES:
            raise unknown_name("strategy", self.strategy, STRATEGIES)
        if self.sharing not in SHARING:
            raise unknown_name("sharing", self.sharing, SHARING)
        if self.validation is not None:
            check_count(self.validation, "validation", "a number of rows", self.horizon)
        if self.spectrum is not None and not isinstance(self.spectrum, Spectrum):
            raise bad_argument("spectrum", self.spectrum, "a Spectrum, or None")
        if self.level is not None and not (is_finite_number(self.level) and self.level >= 0):
            raise bad_argument("level", self.level, "a number of rows, 0 or more")


@dataclass(frozen=True, eq=False)
class SelectedCandidates:
    """What was chosen, and what it was chosen by.

    Attributes
    ----------
    candidates : list of Candidate
        Best first.
    pull : float or None
        How hard weights of a series are held to those of all; None where all have the same.
    judge : ValidationData
    forecasts : list of arrays (O, H)
        The answer's, of each series that judged.
    tried : int
        Candidates that were judged.
    """

    candidates: list[Candidate]
    pull: float | None
    judge: ValidationData
    forecasts: list[Array]
    tried: int


@one_blas_thread()
def choose(
    signals: Sequence[Signal],
    wanted: ForecastConfig,
    report: Report | None = None,
    over: Mapped = mapped,
    multivariate: bool = False,
) -> SelectedCandidates | None:
    """Judge all views of the series and keep the best; None where all series are too short.

    Views are judged side by side, ``over`` threads or the workers of a cluster. ``multivariate``
    says that the columns beside a series are the other series.
    """
    judge = _judge(signals, wanted)
    if judge is None:
        return None
    rows = int(np.median([plan.kept for plan in judge.plans]))
    shown, bases = views(judge, rows, wanted, multivariate), bases_for(rows, wanted.seasons)
    found: list[ScoredCandidate] = []
    # In the order of the views, whichever is ready first: what is kept does not depend on it.
    done = over(partial(_judged, judge, bases, wanted.strategy), shown)
    for count, (view, some) in enumerate(zip(shown, done, strict=True), 1):
        # What comes from elsewhere has a copy of the view, and the view is what they share.
        found += [one._replace(candidate=replace(one.candidate, view=view)) for one in some]
        if report is not None:
            report(count, len(shown))
    kept = best(judge, found, sum(len(signals[i]) for i in moving(signals)))
    if not kept:
        return None
    made = _middles([one.forecasts for one in kept])
    candidates = [one.candidate for one in kept]
    pull, made = _shared(judge, candidates, made, wanted.sharing)
    return SelectedCandidates(candidates, pull, judge, made, len(found))


@one_blas_thread()
def _judged(
    judge: ValidationData, bases: Sequence[Base], strategy: str, view: View
) -> list[ScoredCandidate]:
    return judge.candidates(view, bases, strategy)


def _judge(signals: Sequence[Signal], wanted: ForecastConfig) -> ValidationData | None:
    """Return the series and rows that judge, without constant series if others move."""
    plans = [plan(min(len(s), ROWS), wanted.horizon, wanted.validation) for s in signals]
    fitting = [i for i in moving(signals) if plans[i] is not None]
    if not fitting:
        return None
    places = np.linspace(0, len(fitting) - 1, min(SERIES, len(fitting))).astype(int)
    numbers = [fitting[place] for place in places]
    chosen = [one for i in numbers if (one := plans[i]) is not None]
    stops = [one.stops[0] for one in chosen]
    some = [signals[i].last(ROWS) for i in numbers]
    known = effects(some, stops, wanted.periods, _logarithms(some))
    moved = [known.applied(s, stop, 0) for s, stop in zip(some, stops, strict=True)]
    return ValidationData.of(moved, chosen, numbers)


def views(
    judge: ValidationData, rows: int, wanted: ForecastConfig, multivariate: bool = False
) -> list[View]:
    """What filters may be shown: values or logarithms, several levels, with columns or without."""
    moved = [RemovedEffects(logarithm) for logarithm in _logarithms(judge.signals)]
    moved += judge.signals[0].shifts
    side = None
    if judge.signals[0].past.size and wanted.strategy != "recursive":
        side = Filter(0.0, spectra.time_constants(SIDE, sr=float(np.exp(-10 / rows))))
    found = []
    for one in moved:
        # What the calendar accounts for is not looked for in rings as well.
        seasons = () if one.calendar else wanted.seasons
        shown = (
            candidate_spectra(rows, seasons)
            if wanted.spectrum is None
            else {"given": wanted.spectrum}
        )
        found += [
            View(name, Filter(level, spectrum), one, beside, multivariate and beside is not None)
            for beside in ((None,) if side is None else (None, side))
            for level in levels_for(rows, wanted)
            for name, spectrum in shown.items()
        ]
    return found


def effects(
    signals: Sequence[Signal],
    stops: Sequence[int],
    periods: Sequence[float],
    logarithms: Sequence[bool],
) -> Effects:
    """Learn what columns and the calendar do to series or their logarithms.

    Only rows before the stops count, and no constant series if others move.
    """
    some = moving(signals)
    signals, stops = [signals[i] for i in some], [stops[i] for i in some]
    rows = int(np.median(stops))
    filter = Filter(0.0, candidate_spectra(min(rows, LONG - 1), ())["short"])
    return learn(signals, stops, filter, periods, logarithms)


def _logarithms(signals: Sequence[Signal]) -> tuple[bool, ...]:
    """Return the views to try: values, and logarithms if all series move and are positive."""
    positive = all(not one.still and np.all(one.values > 0) for one in signals)
    return (False, True) if positive else (False,)


def levels_for(rows: int, wanted: ForecastConfig) -> tuple[float, ...]:
    """What filters take off: the last value; of long series that, or the mean of days or weeks."""
    if wanted.level is not None:
        return (wanted.level,)
    return (0.0, LONGEST / 2) if rows >= LONG else (0.0,)


def bases_for(rows: int, seasons: Sequence[int]) -> list[Base]:
    """Naive forecasts that direct readouts correct, and fall back to."""
    found = [Base("level")]
    if rows < LONG and seasons and seasons[0] < rows:
        # Growth shows from season to season, of which there have to be some.
        kind = "growth" if 3 * seasons[0] < rows else "season"
        found.append(Base(kind, seasons[0]))
    return found


def _middles(forecasts: Sequence[Sequence[Array]]) -> list[Array]:
    """Of each series the median over candidates."""
    return [middle(series) for series in zip(*forecasts, strict=True)]


def _shared(
    judge: ValidationData, candidates: Sequence[Candidate], shared: list[Array], sharing: str
) -> tuple[float | None, list[Array]]:
    """Whether series are better off with weights of their own, and the forecasts they then make.

    The best few candidates say so for all.
    """
    if len(judge.signals) == 1 or sharing == "shared":
        return None, shared
    few = candidates[:FEWEST]
    made = [_own(judge, candidate) for candidate in few]
    tried = [(pull, _middles([one[i] for one in made])) for i, pull in enumerate((None, *PULLS))]
    if sharing == "own":
        tried = tried[1:]
    pull, found = min(tried, key=lambda one: judge.error(one[1]))
    return pull, shared if pull is None else found


def _own(judge: ValidationData, candidate: Candidate) -> list[list[Array]]:
    """Forecasts by weights of all, and by weights of each series pulled to those, more and less."""
    rows = [Rows.of(candidate.view, signal) for signal in judge.signals]
    each = [judge.folds(one, i, [candidate.base]) for i, one in enumerate(rows)]
    if candidate.view.alone:  # series share no weights that theirs could be pulled to
        made = [
            by_fold(one, plan, candidate.base, [candidate.weights(s, judge.horizon) for s in sums])
            for one, plan, sums in zip(rows, judge.plans, each, strict=True)
        ]
        return [made] * (1 + len(PULLS))
    folds = [candidate.weights_of(parts, judge.horizon) for parts in zip(*each, strict=True)]
    found = []
    for pull in (None, *PULLS):
        found.append(
            [
                by_fold(one, plan, candidate.base, _weights(candidate, sums, folds, pull))
                for one, plan, sums in zip(rows, judge.plans, each, strict=True)
            ]
        )
    return found


def _weights(
    candidate: Candidate, sums: Sequence[Sums], folds: Sequence[Array], pull: float | None
) -> list[Array]:
    """Of one series, for each fold."""
    if pull is None:
        return list(folds)
    return [pulled(candidate, part, all_, pull) for part, all_ in zip(sums, folds, strict=True)]
