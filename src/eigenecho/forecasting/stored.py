"""A fitted forecaster as stored in files, whose parts are checked when they are read."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from eigenecho.checks import check_count, check_known
from eigenecho.data.stored import check_floats
from eigenecho.errors import Words, bad_argument
from eigenecho.forecasting.baselines import KINDS as BASELINES
from eigenecho.forecasting.baselines import Baseline
from eigenecho.forecasting.candidates import KINDS, Candidate, Ensemble, by_view
from eigenecho.forecasting.fitted import FittedForecaster
from eigenecho.forecasting.intervals import Bands
from eigenecho.forecasting.signals import FADES
from eigenecho.forecasting.views import Filter, View, check_growth
from eigenecho.schema import stands_for
from eigenecho.types import Array, Positive

LARGEST_SEASON = 2**31
"""Largest number of rows of a season or a period of the calendar."""


@dataclass(frozen=True, eq=False)
class StoredMember:
    """A trained ``Candidate``, with the number of its view."""

    view: int
    baseline: Baseline
    kind: str
    ridge: Positive | None
    weights: Array
    own: tuple[Array, ...]

    def check(self) -> None:
        """Raise an error if baseline, kind and ridge do not fit each other."""
        check_known(self.baseline.kind, "baseline", BASELINES)
        check_count(self.baseline.season, "baseline", "a number of rows", 1, LARGEST_SEASON)
        check_known(self.kind, "kind", KINDS)
        if (self.ridge is None) == (self.kind == "direct"):
            raise bad_argument("ridge", self.ridge, "a number for direct readouts, else None")


@stands_for(Ensemble)
@dataclass(frozen=True, eq=False)
class StoredEnsemble:
    """An ``Ensemble`` with the views that its members share."""

    views: tuple[View, ...]
    members: tuple[StoredMember, ...]

    @classmethod
    def of(cls, ensemble: Ensemble) -> StoredEnsemble:
        """Return the parts of an ensemble."""
        views = list(by_view(ensemble.members))
        members = (
            StoredMember(views.index(m.view), m.baseline, m.kind, m.ridge, m.weights, m.own)
            for m in ensemble.members
        )
        return cls(tuple(views), tuple(members))

    def restored(self) -> Ensemble:
        """Return the ensemble."""
        if not self.members or {m.view for m in self.members} != set(range(len(self.views))):
            raise bad_argument("views", Words(f"{len(self.views)} views"), "those of the members")
        members = (
            Candidate(self.views[m.view], m.baseline, m.kind, m.ridge, m.weights, m.own)
            for m in self.members
        )
        return Ensemble(tuple(members))


def check_fitted(fitted: FittedForecaster) -> None:
    """Raise an error if the parts of a fitted forecaster do not fit each other."""
    panel, measures, known = fitted.panel, fitted.measures, fitted.measures.known
    width = len(panel.known_names)
    if measures.names != tuple(history.name for history in panel.histories):
        raise bad_argument("names", measures.names, "those of the series")
    if measures.multivariate and not (panel.container.shared and len(panel) > 1):
        raise bad_argument("multivariate", True, "several series that share their rows")
    if (known is not None) != bool(width):
        raise bad_argument("known", known, f"measures of {width} columns")
    check_floats(measures.units, "units", len(panel))
    check_floats(measures.past, "past", len(panel.past_names))
    if known is not None:
        check_floats(known.mean, "known.mean", width)
        check_floats(known.scale, "known.scale", width)
    if fitted.bands is not None:
        _check_bands(fitted.bands, fitted.config.horizon, len(panel))
    _check_effects(fitted, width)
    for member in fitted.ensemble.members:
        _check_member(fitted, member)


def _check_effects(fitted: FittedForecaster, known: int) -> None:
    effects, periods = fitted.effects, fitted.config.periods
    if not all(1 < period <= LARGEST_SEASON for period in periods) or effects.periods != periods:
        raise bad_argument("periods", periods, f"rows, above 1 and up to {LARGEST_SEASON}")
    _check_filter(fitted, effects.filter, "effects")
    if len(effects.removed) != len(effects.weights) or len(set(effects.removed)) < len(
        effects.removed
    ):
        raise bad_argument("removed", effects.removed, "different effects with their weights")
    for removed, weights in zip(effects.removed, effects.weights, strict=True):
        if (removed.known and not known) or (removed.calendar and not periods):
            raise bad_argument("removed", tuple(removed), "columns and periods that exist")
        check_floats(weights.one_step, "one_step", effects.filter.size - 1)
        check_floats(weights.columns, "columns", known * len(FADES) if removed.known else 0)


def _check_member(fitted: FittedForecaster, member: Candidate) -> None:
    panel, view, multivariate = fitted.panel, member.view, fitted.measures.multivariate
    past, side = len(panel.past_names) + (len(panel) - 1) * multivariate, 0
    _check_filter(fitted, view.filter, "filter")
    if view.side is not None:
        _check_filter(fitted, view.side, "side")
        side = past * view.side.spectrum.units
        if not past:
            raise bad_argument("side", view.side, "None without past columns")
    if view.alone != (multivariate and view.side is not None):
        raise bad_argument("alone", view.alone, "True if the view shows a series the others")
    if view.removes and view.removed not in fitted.effects.removed:
        raise bad_argument("removed", tuple(view.removed), "effects with weights")
    if len(member.own) != len(panel) * (view.alone or fitted.pull is not None):
        got = Words(f"weights of {len(member.own)} series")
        raise bad_argument("own", got, "those of each series, if series have their own")
    for weights in (member.weights, *member.own):
        check_floats(weights, "weights", view.filter.size + side, fitted.config.horizon)


def _check_filter(fitted: FittedForecaster, filter: Filter, name: str) -> None:
    """Raise an error if the states of a filter overflow."""
    rows = max(len(history) for history in fitted.panel.histories)
    check_growth(filter.spectrum, rows, f"{name}.spectrum")


def _check_bands(bands: Bands, horizon: int, series: int) -> None:
    several = bool(bands.sizes.size)
    check_floats(bands.growth, "growth", horizon)
    check_floats(bands.means, "means", series)
    check_floats(bands.sizes, "sizes", series * several)
    for name, errors in {"ratios": bands.ratios, "scaled": bands.scaled}.items():
        check_floats(errors, name, None)
        if bool(errors.size) != (several or name == "ratios") or (np.diff(errors) < 0).any():
            raise bad_argument(name, Words(f"{len(errors)} numbers"), "sorted errors")
