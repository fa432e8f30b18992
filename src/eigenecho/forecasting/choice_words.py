"""What a forecaster chose, in words."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable

from eigenecho.forecasting.candidates import Candidate
from eigenecho.forecasting.fitted import FittedForecaster

KINDS = {
    "direct": "a readout for every step",
    "recursive": "one for the next step, run on",
    "drifting": "one for the next step, with a constant, run on",
}
BASES = {
    "level": "the level",
    "drift": "the last value and the mean step",
    "season": "the last season",
    "growth": "the last season and its growth",
}


def chosen(fitted: FittedForecaster) -> dict[str, str]:
    """Choices by name."""
    members = [member.candidate for member in fitted.ensemble.members]
    seasons = fitted.wanted.seasons
    found = {
        "seasons": f"of {_listed(map(str, seasons))} rows" if seasons else "none found",
        "the answer": _answer(fitted, len(members)),
        "readouts": _counted(members, lambda one: f"{one.kind} ({KINDS[one.kind]})"),
        "reservoirs": _counted(members, lambda one: f"“{one.view.name}”"),
        "what they see": _counted(members, _seen),
        "level": _counted(members, _level),
        "what they correct": _counted(members, lambda one: BASES[one.base.kind]),
        "weights": _weights(fitted),
        "intervals": _intervals(fitted),
    }
    return {name: words for name, words in found.items() if words}


def _answer(fitted: FittedForecaster, count: int) -> str:
    if not fitted.tried:
        return "the last value: there were too few rows to learn from"
    if count == 1:
        return f"the best of {fitted.tried} ways to forecast, judged by rows held back"
    return (
        f"the mean of {count} ways to forecast without the outer ones, those of "
        f"{fitted.tried} that rows held back could not tell from the best"
    )


def _seen(one: Candidate) -> str:
    words = "logarithms" if one.view.logarithm else "values"
    beside = [
        name
        for name, there in (
            ("calendar", one.view.moved.calendar),
            ("columns known ahead", one.view.moved.known),
            ("columns known up to the present", one.view.side is not None),
        )
        if there
    ]
    return f"{words} with {_listed(beside)}" if beside else words


def _level(one: Candidate) -> str:
    memory = one.view.filter.memory
    return f"a running mean of {memory:g} rows" if memory else "the last value"


def _weights(fitted: FittedForecaster) -> str:
    if len(fitted.panel) == 1:
        return ""
    words = "the same for all series"
    if fitted.pull is not None:
        words = f"of each series, pulled to those of all (by {fitted.pull:g})"
    if any(member.candidate.view.alone for member in fitted.ensemble.members):
        words += "; of each series alone where it sees the others"
    return words


def _intervals(fitted: FittedForecaster) -> str:
    if fitted.bands is None:
        return "none: there were too few rows to hold some back"
    kind = "factors" if fitted.bands.relative else "differences"
    each = " and series" if fitted.bands.sizes.size else ""
    return f"from errors on rows held back, as {kind}, by step ahead{each}"


def _counted(members: Iterable[Candidate], words: Callable[[Candidate], str]) -> str:
    """What members have, the most frequent first, with how many have it where they differ."""
    counts = Counter(map(words, members)).most_common()
    if len(counts) == 1:
        return counts[0][0]
    return "; ".join(f"{count} × {name}" for name, count in counts)


def _listed(words: Iterable[str]) -> str:
    *before, last = words
    return f"{', '.join(before)} and {last}" if before else last
