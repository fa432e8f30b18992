"""A fitted forecaster as files hold it: rows, measures, members and errors that fit each other."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from eigenecho.checks import check_count, check_known
from eigenecho.data.panel import Panel
from eigenecho.data.stored import check_floats
from eigenecho.errors import Shown, bad_argument
from eigenecho.forecasting.bands import Bands
from eigenecho.forecasting.base import KINDS as BASES
from eigenecho.forecasting.base import Base
from eigenecho.forecasting.candidates import KINDS, Candidate
from eigenecho.forecasting.choice import ForecastConfig
from eigenecho.forecasting.effect import FADES, Effects, EffectWeights
from eigenecho.forecasting.ensemble import Ensemble, Member, by_view
from eigenecho.forecasting.filter import Filter, check_growth
from eigenecho.forecasting.fitted import FittedForecaster
from eigenecho.forecasting.signal import RemovedEffects
from eigenecho.forecasting.signals import Measures
from eigenecho.forecasting.view import View
from eigenecho.types import Array, Count, NonNegativeArray, Positive

LARGEST_SEASON = 2**31
"""Rows of a season, and of a period of the calendar, are at most."""


@dataclass(frozen=True, eq=False)
class StoredMember:
    """A ``Member``, with the number of its view."""

    view: int
    base: Base
    kind: str
    ridge: Positive | None
    weights: Array
    own: tuple[Array, ...]

    def check(self) -> None:
        """Raise unless it is a way to forecast."""
        check_known(self.base.kind, "base", BASES)
        check_count(self.base.season, "base", "a number of rows", 1, LARGEST_SEASON)
        check_known(self.kind, "kind", KINDS)
        if (self.ridge is None) == (self.kind == "direct"):
            raise bad_argument("ridge", self.ridge, f"None for a {self.kind} readout")


@dataclass(frozen=True, eq=False)
class StoredFitted:
    """The parts of a ``FittedForecaster``.

    Measures without the ``units`` of series, which are in their order here; views that members
    share, and effects by what is ``moved``.
    """

    panel: Panel
    wanted: ForecastConfig
    measures: Measures
    units: NonNegativeArray
    effect: Filter
    moved: tuple[RemovedEffects, ...]
    learnt: tuple[EffectWeights, ...]
    views: tuple[View, ...]
    members: tuple[StoredMember, ...]
    pull: Positive | None
    bands: Bands | None
    tried: Count
    refit: bool

    @classmethod
    def of(cls, fitted: FittedForecaster) -> StoredFitted:
        """Return the parts of a fitted forecaster."""
        members, effects = fitted.ensemble.members, fitted.effects
        views = list(by_view([member.candidate for member in members]))
        units = np.array([fitted.measures.units[one.name] for one in fitted.panel.histories])
        kept = tuple(
            StoredMember(views.index(way.view), way.base, way.kind, way.ridge, one.weights, one.own)
            for one, way in ((member, member.candidate) for member in members)
        )
        return cls(
            fitted.panel, fitted.wanted, fitted.measures, units,
            effects.filter, tuple(effects.learnt), tuple(effects.learnt.values()),
            tuple(views), kept, fitted.pull, fitted.bands, fitted.tried, fitted.refit,
        )  # fmt: skip

    def restored(self) -> FittedForecaster:
        """Return what was fitted, if all of it fits together."""
        self._check_measures()
        self._check_effects()
        self._check_views()
        members = tuple(map(self._member, self.members))
        names = (history.name for history in self.panel.histories)
        measures = replace(self.measures, units=dict(zip(names, self.units.tolist(), strict=True)))
        learnt = dict(zip(self.moved, self.learnt, strict=True))
        effects = Effects(self.effect, self.wanted.periods, learnt)
        rest = self.pull, self.bands, self.tried, self.refit
        return FittedForecaster(
            self.panel, self.wanted, measures, effects, Ensemble(members), *rest
        )

    def _check_measures(self) -> None:
        panel, measures, known = self.panel, self.measures, self.measures.known
        if measures.multivariate and not (panel.container.shared and len(panel) > 1):
            raise bad_argument("multivariate", True, "several series that share their rows")
        width = len(panel.known_names)
        if (known is not None) != bool(width):
            raise bad_argument("known", known, f"measures of {width} columns")
        check_floats(self.units, "units", len(panel))
        check_floats(measures.past, "past", len(panel.past_names))
        if known is not None:
            check_floats(known.mean, "known.mean", width)
            check_floats(known.scale, "known.scale", width)
        if self.bands is not None:
            _check_bands(self.bands, self.wanted.horizon, len(panel))

    def _check_effects(self) -> None:
        known, periods = len(self.panel.known_names), self.wanted.periods
        if not all(1 < period <= LARGEST_SEASON for period in periods):
            raise bad_argument("periods", periods, f"rows, above 1 and up to {LARGEST_SEASON}")
        self._check_filter(self.effect, "effect")
        if len(self.moved) != len(self.learnt) or len(set(self.moved)) < len(self.moved):
            raise bad_argument("moved", self.moved, "what there is, once")
        for moved, learnt in zip(self.moved, self.learnt, strict=True):
            if (moved.known and not known) or (moved.calendar and not periods):
                raise bad_argument("moved", tuple(moved), "what there is, once")
            check_floats(learnt.foresight, "foresight", self.effect.size - 1)
            check_floats(learnt.columns, "columns", known * len(FADES) if moved.known else 0)

    def _check_views(self) -> None:
        if not self.members or {one.view for one in self.members} != set(range(len(self.views))):
            raise bad_argument("views", Shown(f"{len(self.views)} views"), "those of the members")
        for view in self.views:
            self._check_filter(view.filter, "filter")
            if view.side is not None:
                self._check_filter(view.side, "side")
                if not self._beside:
                    raise bad_argument("side", view.side, "none without columns beside a series")
            if view.alone != (self.measures.multivariate and view.side is not None):
                wanted = "True for views that show a series the others"
                raise bad_argument("alone", view.alone, wanted)
            if view.is_moved and view.moved not in self.moved:
                raise bad_argument("moved", tuple(view.moved), "something whose effect is known")

    def _check_filter(self, filter: Filter, name: str) -> None:
        """Raise unless a filter can run over all rows."""
        rows = max(len(history) for history in self.panel.histories)
        check_growth(filter.spectrum, rows, f"{name}.spectrum")

    @property
    def _beside(self) -> int:
        """Columns beside a series."""
        return len(self.panel.past_names) + (len(self.panel) - 1) * self.measures.multivariate

    def _member(self, member: StoredMember) -> Member:
        view = self.views[member.view]
        side = 0 if view.side is None else self._beside * view.side.spectrum.units
        shape = view.filter.size + side, self.wanted.horizon
        if len(member.own) != len(self.panel) * (view.alone or self.pull is not None):
            got = Shown(f"weights of {len(member.own)} series")
            raise bad_argument("own", got, "those of each series, if series have their own")
        for weights in (member.weights, *member.own):
            check_floats(weights, "weights", *shape)
        candidate = Candidate(view, member.base, member.kind, member.ridge)
        return Member(candidate, member.weights, member.own)


def _check_bands(bands: Bands, horizon: int, series: int) -> None:
    several = bool(bands.sizes.size)
    check_floats(bands.growth, "growth", horizon)
    check_floats(bands.means, "means", series)
    check_floats(bands.sizes, "sizes", series * several)
    for name, sizes in {"ratios": bands.ratios, "scaled": bands.scaled}.items():
        check_floats(sizes, name, None)
        if bool(sizes.size) != (several or name == "ratios") or (np.diff(sizes) < 0).any():
            raise bad_argument(name, Shown(f"{len(sizes)} numbers"), "sizes, in order")
