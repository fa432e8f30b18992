"""Claims, which are judged by printed rules on measured intervals."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, fields
from functools import cache
from typing import Any, NamedTuple

import numpy as np

from eigenecho.types import Array

VERDICTS = {"holds": "✓", "holds in part": "◐", "does not hold": "✗", "not resolved": "?"}
"""Sign of each verdict, so that readers need not distinguish colours."""

RESAMPLES = 1000
"""Number of bootstrap samples."""

MIN_SEEDS = 5
"""Smallest number of seeds for a bootstrap interval."""

USABLE = 1e8
"""Largest condition number of a usable eigenbasis."""

SHOWN = 8
"""Largest number of cases of one rule that are listed even if they meet it."""


def show(number: float, spec: str) -> str:
    """Return a formatted number with the signs of mathematics."""
    return format(number, spec).replace("inf%", "∞").replace("inf", "∞").replace("-", "−")


class Interval(NamedTuple):
    """A measured value, its interval, and how the interval was made."""

    value: float
    low: float
    high: float
    method: str

    def show(self, spec: str) -> str:
        """Return "value [low, high]", with the format ``spec``."""
        return "{} [{}, {}]".format(*(show(edge, spec) for edge in self[:3]))


def mean_interval(samples: Array, *, log: bool = False) -> Interval:
    """Return the mean over seeds and its t interval, or on logs the geometric mean.

    A single seed has an infinite interval.
    """
    from scipy.stats import t

    x = np.log(samples) if log else np.asarray(samples, float)
    n, half = len(x), np.inf
    if n > 1:
        half = t.ppf(0.975, n - 1) * x.std(ddof=1) / np.sqrt(n)
    edges = x.mean() + np.array([0.0, -half, half])
    value, low, high = (np.exp(edges) if log else edges).tolist()
    method = f"95% t interval of the mean {'logarithm ' * log}over {n} seeds"
    return Interval(value, low, high, method)


@cache
def seed_weights(seeds: int) -> Array:
    """Return weights of seeds: equal ones in the first row, those of resamples in the others."""
    draws = np.random.default_rng(0).multinomial(seeds, np.full(seeds, 1 / seeds), RESAMPLES)
    return np.vstack([np.ones(seeds), draws]) / seeds


def bootstrap_interval(values: Array, seeds: int) -> Interval:
    """Return a statistic and its interval, given its values for the rows of ``seed_weights``.

    All methods that a statistic compares use the same resampled seeds, so the interval is paired.
    Resamples of a few seeds hardly vary, so the interval is then infinite.
    """
    method = f"95% paired bootstrap interval over {seeds} seeds"
    low, high = np.quantile(values[1:], [0.025, 0.975])
    if seeds < MIN_SEEDS:
        low, high, method = -np.inf, np.inf, f"{seeds} seeds are too few for an interval"
    return Interval(float(values[0]), float(low), float(high), method)


def share_interval(hits: Array) -> Interval:
    """Return the share of True and its Wilson interval."""
    from scipy.stats import binomtest

    ci = binomtest(int(np.sum(hits)), np.size(hits)).proportion_ci(method="wilson")
    method = f"95% Wilson interval, {np.size(hits)} draws"
    return Interval(float(np.mean(hits)), float(ci.low), float(ci.high), method)


def exact(value: float) -> Interval:
    """Return the interval of a number that is known exactly."""
    return Interval(float(value), float(value), float(value), "exact")


def spread(samples: Any) -> Interval:
    """Return the median, the smallest and the largest of all draws."""
    x = np.ravel(samples)
    return Interval(
        float(np.median(x)), float(x.min()), float(x.max()), "median and range over all draws"
    )


@dataclass(frozen=True)
class Rule:
    """Bounds on a quantity, given as a noun phrase, and the format of its values."""

    quantity: str
    at_least: float = -np.inf
    at_most: float = np.inf
    spec: str = ".2f"

    @property
    def words(self) -> str:
        """Rule as a sentence without a final full stop."""
        low, high = (show(edge, self.spec) for edge in (self.at_least, self.at_most))
        bounds = f"at least {low}" if self.at_most == np.inf else f"at most {high}"
        if np.isfinite([self.at_least, self.at_most]).all():
            bounds = f"between {low} and {high}"
        return f"{self.quantity} is {bounds}"

    def judge(self, measured: Interval) -> bool | None:
        """Return True if the whole interval is within the bounds, False if none of it is."""
        if self.at_least <= measured.low and measured.high <= self.at_most:
            return True
        outside = measured.high < self.at_least or measured.low > self.at_most
        return False if outside else None


class Case(NamedTuple):
    """A measured interval for which a rule is judged, and where it was measured."""

    rule: Rule
    where: str
    measured: Interval

    @property
    def met(self) -> bool | None:
        """True if the rule is met, False if it is broken, None if the interval has both sides."""
        return self.rule.judge(self.measured)

    def __str__(self) -> str:
        sign = {True: "✓", False: "✗", None: "?"}[self.met]
        where = f"{self.where}: " if self.where else ""
        return f"{where}{self.measured.show(self.rule.spec)} {sign}"


@dataclass(frozen=True)
class Claim:
    """A claim with the cases by which it is judged.

    ``claim`` and ``quote``, the sentence of the paper, have no final full stop. A claim of ours has
    no quote. ``note`` are complete sentences with further facts.
    """

    claim: str
    cases: Sequence[Case]
    quote: str = ""
    place: str = ""
    note: str = ""

    @classmethod
    def judge(
        cls, texts: Mapping[str, Any], intervals: Mapping[str, Any], facts: Mapping[str, Any]
    ) -> Claim:
        """Return a claim from its entry in ``claims.toml``.

        ``intervals`` are intervals by place, for each rule by key if there are several.
        """
        rules = texts.get("rules", {"": texts})
        names = [f.name for f in fields(Rule)]
        cases = [
            Case(Rule(**{n: rule[n] for n in names if n in rule}), where, interval)
            for key, rule in rules.items()
            for where, interval in (intervals[key] if key else intervals).items()
        ]
        note = texts.get("note", "").format_map(facts)
        return cls(texts["claim"], cases, texts.get("quote", ""), texts.get("place", ""), note)

    @property
    def verdict(self) -> str:
        """Return one of ``VERDICTS``."""
        met = {case.met for case in self.cases}
        if met == {True}:
            return "holds"
        if False in met:
            return "holds in part" if True in met else "does not hold"
        return "not resolved"

    @property
    def ours(self) -> bool:
        """True if the claim is not in the paper."""
        return not self.quote

    @property
    def rule(self) -> str:
        """Rules in words."""
        words = dict.fromkeys(case.rule.words for case in self.cases)
        return ". ".join(text[:1].upper() + text[1:] for text in words)

    @property
    def measured(self) -> str:
        """Intervals of all cases, or of those that break the rule or are open if there are many."""
        texts = []
        rules = [*dict.fromkeys(case.rule for case in self.cases)]
        for rule in rules:
            cases = [case for case in self.cases if case.rule == rule]
            shown = cases if len(cases) <= SHOWN else [c for c in cases if not c.met]
            values = [case.measured.value for case in cases]
            low, high = (show(edge, rule.spec) for edge in (min(values), max(values)))
            met = sum(case.met is True for case in cases)
            count = f"met in {met} of {len(cases)} cases, with values from {low} to {high}"
            listed = [*[count] * (len(cases) > SHOWN), *map(str, shown)]
            quantity = f"{rule.quantity} – " if len(rules) > 1 else ""
            texts.append(quantity + "; ".join(listed))
        return ". ".join(text[:1].upper() + text[1:] for text in texts)

    @property
    def method(self) -> str:
        """How the intervals were made."""
        return "; ".join(dict.fromkeys(case.measured.method for case in self.cases))

    def to_json(self) -> dict[str, Any]:
        """Return all parts as plain values."""
        names = "claim", "quote", "place", "rule", "measured", "method", "verdict", "note"
        cases = [
            {"rule": c.rule.words, "where": c.where, "met": c.met, **c.measured._asdict()}
            for c in self.cases
        ]
        return {name: getattr(self, name) for name in names} | {"cases": cases}


def count_verdicts(claims: Iterable[Claim]) -> dict[str, int]:
    """Return the number of claims with each verdict that occurs."""
    verdicts = [claim.verdict for claim in claims]
    return {verdict: verdicts.count(verdict) for verdict in VERDICTS if verdict in verdicts}
