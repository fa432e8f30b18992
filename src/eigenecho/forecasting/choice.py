"""The choice: views of series that suit their length and seasons, judged, and the best kept."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass

import numpy as np

from eigenecho.forecasting.banks import LONG, LONGEST, banks
from eigenecho.forecasting.base import Base
from eigenecho.forecasting.candidates import Candidate, Judge, Judged
from eigenecho.forecasting.ensemble import best, middle
from eigenecho.forecasting.filter import Filter
from eigenecho.forecasting.plan import plan
from eigenecho.forecasting.signal import Signal
from eigenecho.forecasting.view import View
from eigenecho.threads import one_blas_thread, thread_count
from eigenecho.types import Array

Report = Callable[[int, int], object]


@dataclass(frozen=True, eq=False)
class Choice:
    """What was chosen, and what it was chosen by.

    Attributes
    ----------
    candidates : list of Candidate
        Best first.
    judge : Judge
    forecasts : list of arrays (O, H)
        The answer's, of each series that judged.
    tried : int
        Candidates that were judged.
    """

    candidates: list[Candidate]
    judge: Judge
    forecasts: list[Array]
    tried: int


@one_blas_thread()
def choose(
    signals: Sequence[Signal],
    horizon: int,
    seasons: Sequence[int],
    strategy: str = "auto",
    judged: int | None = None,
    report: Report | None = None,
) -> Choice | None:
    """Judge all views of the series and keep the best; None where all series are too short."""
    plans = [plan(len(signal), horizon, judged) for signal in signals]
    pairs = [(s, p) for s, p in zip(signals, plans, strict=True) if p is not None]
    if not pairs:
        return None
    judge = Judge.of([s for s, _ in pairs], [p for _, p in pairs])
    rows = int(np.median([plan.stops[0] for plan in judge.plans]))
    shown = views(judge, rows, seasons)
    bases = bases_for(rows, seasons)
    found: list[Judged] = []
    with ThreadPoolExecutor(thread_count()) as pool:
        # In the order of the views, whichever is ready first: what is kept does not depend on it.
        for done, some in enumerate(
            pool.map(lambda view: judge.candidates(view, bases, strategy), shown)
        ):
            found += some
            if report is not None:
                report(done + 1, len(shown))
    kept = best(judge, found)
    if not kept:
        return None
    made = [middle(one) for one in zip(*(kept_one.forecasts for kept_one in kept), strict=True)]
    return Choice([one.candidate for one in kept], judge, made, len(found))


def views(judge: Judge, rows: int, seasons: Sequence[int]) -> list[View]:
    """What filters may be shown: values and logarithms, over several levels."""
    positive = all(np.all(signal.values > 0) for signal in judge.signals)
    spectra = banks(rows, seasons)
    return [
        View(name, Filter(memory, spectrum), logarithm)
        for logarithm in ((False, True) if positive else (False,))
        for memory in memories(rows, seasons)
        for name, spectrum in spectra.items()
    ]


def memories(rows: int, seasons: Sequence[int]) -> tuple[float, ...]:
    """How long levels last: for short series only the last value can be told from what it is."""
    if rows < LONG:
        return (0.0,)
    season = max((s for s in seasons if 2 <= s <= LONGEST), default=24)
    return (0.0, float(season), 2.0 * season)


def bases_for(rows: int, seasons: Sequence[int]) -> list[Base]:
    """Naive forecasts that direct readouts correct."""
    found = [Base("level")]
    if rows < LONG:
        found += [Base("growth", s) for s in seasons[:1] if s > 1 and 3 * s < rows]
    return found
