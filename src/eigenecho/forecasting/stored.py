"""A fitted forecaster as stored in files, whose parts are checked when they are read."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from eigenecho.checks import check_count, check_known
from eigenecho.data.panel import Panel
from eigenecho.data.stored import check_floats
from eigenecho.errors import Shown, bad_argument
from eigenecho.forecasting.baselines import KINDS as BASELINES
from eigenecho.forecasting.baselines import Baseline
from eigenecho.forecasting.candidates import KINDS, Candidate, by_view
from eigenecho.forecasting.effects import Effects, EffectWeights
from eigenecho.forecasting.ensemble import Ensemble
from eigenecho.forecasting.fitted import FittedForecaster
from eigenecho.forecasting.intervals import Bands
from eigenecho.forecasting.selection import ForecastConfig
from eigenecho.forecasting.signals import FADES, Measures, RemovedEffects
from eigenecho.forecasting.views import Filter, View, check_growth
from eigenecho.types import Array, Count, NonNegativeArray, Positive

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


@dataclass(frozen=True, eq=False)
class StoredFitted:
    """The parts of a ``FittedForecaster``.

    The units of series are in the order of the series, effects are in the order of ``removed``, and
    members refer to ``views`` by number.
    """

    panel: Panel
    config: ForecastConfig
    measures: Measures
    units: NonNegativeArray
    effect: Filter
    removed: tuple[RemovedEffects, ...]
    effects: tuple[EffectWeights, ...]
    views: tuple[View, ...]
    members: tuple[StoredMember, ...]
    pull: Positive | None
    bands: Bands | None
    tried: Count
    refit: bool

    @classmethod
    def of(cls, fitted: FittedForecaster) -> StoredFitted:
        """Return the parts of a fitted forecaster."""
        effects, views = fitted.effects, list(by_view(fitted.ensemble.members))
        units = np.array([fitted.measures.units[h.name] for h in fitted.panel.histories])
        members = tuple(
            StoredMember(views.index(m.view), m.baseline, m.kind, m.ridge, m.weights, m.own)
            for m in fitted.ensemble.members
        )
        return cls(
            fitted.panel, fitted.config, fitted.measures, units,
            effects.filter, tuple(effects.weights), tuple(effects.weights.values()),
            tuple(views), members, fitted.pull, fitted.bands, fitted.tried, fitted.refit,
        )  # fmt: skip

    def restored(self) -> FittedForecaster:
        """Return the fitted forecaster, or raise an error if its parts do not fit each other."""
        self._check_measures()
        self._check_effects()
        self._check_views()
        ensemble = Ensemble(tuple(map(self._member, self.members)))
        names = (history.name for history in self.panel.histories)
        measures = replace(self.measures, units=dict(zip(names, self.units.tolist(), strict=True)))
        weights = dict(zip(self.removed, self.effects, strict=True))
        effects = Effects(self.effect, self.config.periods, weights)
        rest = self.pull, self.bands, self.tried, self.refit
        return FittedForecaster(self.panel, self.config, measures, effects, ensemble, *rest)

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
            _check_bands(self.bands, self.config.horizon, len(panel))

    def _check_effects(self) -> None:
        known, periods = len(self.panel.known_names), self.config.periods
        if not all(1 < period <= LARGEST_SEASON for period in periods):
            raise bad_argument("periods", periods, f"rows, above 1 and up to {LARGEST_SEASON}")
        self._check_filter(self.effect, "effect")
        if len(self.removed) != len(self.effects) or len(set(self.removed)) < len(self.removed):
            raise bad_argument("removed", self.removed, "different effects with their weights")
        for removed, effect in zip(self.removed, self.effects, strict=True):
            if (removed.known and not known) or (removed.calendar and not periods):
                raise bad_argument("removed", tuple(removed), "columns and periods that exist")
            check_floats(effect.one_step, "one_step", self.effect.size - 1)
            check_floats(effect.columns, "columns", known * len(FADES) if removed.known else 0)

    def _check_views(self) -> None:
        if not self.members or {m.view for m in self.members} != set(range(len(self.views))):
            raise bad_argument("views", Shown(f"{len(self.views)} views"), "those of the members")
        for view in self.views:
            self._check_filter(view.filter, "filter")
            if view.side is not None:
                self._check_filter(view.side, "side")
                if not self._past_columns:
                    raise bad_argument("side", view.side, "None without past columns")
            if view.alone != (self.measures.multivariate and view.side is not None):
                wanted = "True if the view shows a series the others, else False"
                raise bad_argument("alone", view.alone, wanted)
            if view.removes and view.removed not in self.removed:
                raise bad_argument("removed", tuple(view.removed), "effects with weights")

    def _check_filter(self, filter: Filter, name: str) -> None:
        """Raise an error if the states of a filter overflow."""
        rows = max(len(history) for history in self.panel.histories)
        check_growth(filter.spectrum, rows, f"{name}.spectrum")

    @property
    def _past_columns(self) -> int:
        """Number of columns known up to the present."""
        return len(self.panel.past_names) + (len(self.panel) - 1) * self.measures.multivariate

    def _member(self, member: StoredMember) -> Candidate:
        view = self.views[member.view]
        side = 0 if view.side is None else self._past_columns * view.side.spectrum.units
        shape = view.filter.size + side, self.config.horizon
        if len(member.own) != len(self.panel) * (view.alone or self.pull is not None):
            got = Shown(f"weights of {len(member.own)} series")
            raise bad_argument("own", got, "those of each series, if series have their own")
        for weights in (member.weights, *member.own):
            check_floats(weights, "weights", *shape)
        return Candidate(
            view, member.baseline, member.kind, member.ridge, member.weights, member.own
        )


def _check_bands(bands: Bands, horizon: int, series: int) -> None:
    several = bool(bands.sizes.size)
    check_floats(bands.growth, "growth", horizon)
    check_floats(bands.means, "means", series)
    check_floats(bands.sizes, "sizes", series * several)
    for name, errors in {"ratios": bands.ratios, "scaled": bands.scaled}.items():
        check_floats(errors, name, None)
        if bool(errors.size) != (several or name == "ratios") or (np.diff(errors) < 0).any():
            raise bad_argument(name, Shown(f"{len(errors)} numbers"), "sorted errors")
