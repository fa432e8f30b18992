"""Scores of the forecasts, by series and method and over all series.

Errors are MASE: absolute errors divided by the mean error of the seasonal naive forecast on the
training rows, averaged over origins. Series are combined by the geometric mean.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from forecasts.comparison import stored
from forecasts.methods import OURS, PEERS, SIMPLE
from forecasts.protocol import Series, absolute_error, scale
from forecasts.store import Store, StoredForecast

DRAWS = 2000
MUCH_WORSE = 1.3


@dataclass(frozen=True)
class Score:
    """Score of one method on one series, over all origins with observations.

    inside / bounded is the coverage; claimed and real are the expected and the actual mean
    absolute error in units of y.
    """

    mase: float
    inside: int
    bounded: int
    claimed: float | None
    real: float
    seconds: float
    failed: int


def score(series: Series, method: str, store: Store) -> Score | None:
    """Return the score of a method, or None if a forecast is missing."""
    forecasts = list(stored(series, method, store))
    if any(forecast is None for _, forecast in forecasts):
        return None
    parts = [
        _origin(series, origin, forecast)
        for origin, forecast in forecasts
        if forecast is not None and np.isfinite(series.truth(origin)).any()
    ]
    claims = [part.claimed for part in parts if part.claimed is not None]
    return Score(
        mase=float(np.mean([part.mase for part in parts])),
        inside=sum(part.inside for part in parts),
        bounded=sum(part.bounded for part in parts),
        claimed=float(np.mean(claims)) if claims else None,
        real=float(np.mean([part.real for part in parts])),
        seconds=float(np.mean([part.seconds for part in parts])),
        failed=sum(part.failed for part in parts),
    )


def _origin(series: Series, origin: int, forecast: StoredForecast) -> Score:
    truth, prediction = series.truth(origin), forecast.prediction
    error = absolute_error(truth, prediction.mean)
    inside = bounded = 0
    if prediction.lower is not None and prediction.upper is not None:
        observed = np.isfinite(truth)
        bounded = int(observed.sum())
        inside = int(((truth >= prediction.lower) & (truth <= prediction.upper))[observed].sum())
    mase = error / scale(series.training(origin), series.season)
    failed = int(forecast.failed is not None)
    return Score(mase, inside, bounded, prediction.claimed, error, forecast.seconds, failed)


Scores = Mapping[str, Mapping[str, Score]]
"""Scores by method, then by series."""


def all_scores(series: Sequence[Series], methods: Sequence[str], store: Store) -> Scores:
    """Return the scores of all series and methods without missing forecasts."""
    scored = {
        method: {entry.name: score(entry, method, store) for entry in series} for method in methods
    }
    return {
        method: {name: value for name, value in by_series.items() if value is not None}
        for method, by_series in scored.items()
    }


def complete(scores: Scores) -> Scores:
    """Return the methods that have a score for every series, so that they can be compared."""
    names = {name for by_series in scores.values() for name in by_series}
    return {name: scored for name, scored in scores.items() if scored and names <= set(scored)}


def geometric_mean(values: Sequence[float]) -> float:
    """Return the geometric mean."""
    return float(np.exp(np.mean(np.log(values))))


@dataclass(frozen=True)
class Ratio:
    """A ratio of errors, with its 95% bootstrap interval and the fraction of draws below 1."""

    value: float
    low: float
    high: float
    better: float


def paired_ratio(ours: Sequence[float], theirs: Sequence[float], draws: int = DRAWS) -> Ratio:
    """Return the ratio of geometric means, with a paired bootstrap over series."""
    logs = np.log(ours) - np.log(theirs)
    picks = np.random.default_rng(0).integers(len(logs), size=(draws, len(logs)))
    ratios = np.exp(logs[picks].mean(axis=1))
    low, high = np.quantile(ratios, [0.025, 0.975])
    value = float(np.exp(logs.mean()))
    return Ratio(value, float(low), float(high), float((ratios < 1).mean()))


@dataclass(frozen=True)
class Line:
    """Scores of one method over all series."""

    method: str
    mase: float
    much_worse: int
    coverage: float | None
    claim_off: float | None
    seconds: float
    failed: int


@dataclass(frozen=True)
class Summary:
    """All methods, best first, and the ratio of eigenecho to the best other method."""

    series: tuple[str, ...]
    lines: tuple[Line, ...]
    best_peer: str | None
    ratio: Ratio | None


def summary(scores: Scores) -> Summary:
    """Summarise the scores; methods that lack a series are left out."""
    scores = complete(scores)
    names = list(next(iter(scores.values()), ()))
    lines = [_line(method, scores, names) for method in scores]
    lines.sort(key=lambda line: line.mase)
    peers = [line.method for line in lines if line.method in PEERS]
    ratio = None
    if peers and OURS in scores:
        ours, theirs = ([scores[who][name].mase for name in names] for who in (OURS, peers[0]))
        ratio = paired_ratio(ours, theirs)
    return Summary(tuple(names), tuple(lines), peers[0] if peers else None, ratio)


def _line(method: str, scores: Scores, names: Sequence[str]) -> Line:
    own = [scores[method][name] for name in names]
    bounded = sum(s.bounded for s in own)
    offs = [abs(s.claimed / s.real - 1) for s in own if s.claimed is not None]
    return Line(
        method=method,
        mase=geometric_mean([s.mase for s in own]),
        much_worse=sum(much_worse(method, name, scores) for name in names),
        coverage=sum(s.inside for s in own) / bounded if bounded else None,
        claim_off=float(np.median(offs)) if offs else None,
        seconds=float(np.mean([s.seconds for s in own])),
        failed=sum(s.failed for s in own),
    )


def much_worse(method: str, series: str, scores: Scores) -> bool:
    """Return True if the error is above 1.3 times that of the best simple method."""
    simple = [scores[name][series].mase for name in SIMPLE if series in scores.get(name, {})]
    return bool(simple) and scores[method][series].mase > MUCH_WORSE * min(simple)
