"""A fitted forecaster as a value: trained, and run after any row of any series."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np

from eigenecho import spectra
from eigenecho.errors import bad_argument
from eigenecho.forecasting.bands import Bands
from eigenecho.forecasting.base import Base
from eigenecho.forecasting.candidates import Candidate
from eigenecho.forecasting.choice import Choice, Wanted, choose, effects_of
from eigenecho.forecasting.ensemble import Ensemble, train
from eigenecho.forecasting.filter import Filter
from eigenecho.forecasting.panel import Panel
from eigenecho.forecasting.plan import plan
from eigenecho.forecasting.seasons import seasons_of
from eigenecho.forecasting.signal import Signal
from eigenecho.forecasting.signals import Measures
from eigenecho.forecasting.view import View
from eigenecho.types import Array

Report = Callable[[str, int, int], object]


@dataclass(frozen=True, eq=False)
class Fitted:
    """What a fit leaves.

    Attributes
    ----------
    panel : Panel
        The rows it was fitted on, which forecasts go on from.
    wanted : Wanted
    measures : Measures
    ensemble : Ensemble
    pull : float or None
        How hard weights of a series are held to those of all.
    bands : Bands or None
        None where series were too short to hold rows back.
    tried : int
        Candidates that were judged.
    refit : bool
        Whether the rows that judged were trained on in the end.
    """

    panel: Panel
    wanted: Wanted
    measures: Measures
    ensemble: Ensemble
    pull: float | None
    bands: Bands | None
    tried: int
    refit: bool = True

    @property
    def is_recursive(self) -> bool:
        """Whether it runs on for as long as one likes."""
        return all(member.candidate.kind != "direct" for member in self.ensemble.members)

    def forecasts(
        self,
        panel: Panel,
        origins: Sequence[Array],
        horizon: int,
        ahead: Sequence[Array] = (),
    ) -> list[Array]:
        """Values (O, H) after rows of each series, from the rows up to there alone."""
        ensemble = self.ensemble.lasting(horizon)
        names = {history.name: i for i, history in enumerate(self.panel.histories)}
        signals = self.measures.signals(panel, ahead, [int(rows.min()) for rows in origins])
        found = []
        for history, signal, rows in zip(panel.histories, signals, origins, strict=True):
            if np.any(rows < signal.start):
                raise bad_argument(
                    "origins", int(rows.min()),
                    f"rows from {signal.start} on, the first observation of {history.name!r}",
                )  # fmt: skip
            series = names.get(history.name)
            found.append(ensemble.forecast(signal, rows - signal.start, series))
        return found

    def quantiles(
        self, panel: Panel, series: int, made: Array, levels: Sequence[float]
    ) -> Array | None:
        """Quantiles (H, Q) around a forecast (H,); None where nothing is known of errors."""
        if self.bands is None:
            return None
        unit = self.measures.units.get(panel.histories[series].name)
        if unit is None:
            unit = self.measures.signals(panel)[series].unit
        bands = self.bands.lasting(len(made))
        return np.stack([bands.quantile(level, made, unit) for level in levels], axis=1)

    def on(self, panel: Panel, report: Report | None = None) -> Fitted:
        """The same choices, trained on the rows of another panel."""
        signals = self.measures.signals(panel)
        candidates = [member.candidate for member in self.ensemble.members]
        ensemble = _trained(candidates, signals, self.wanted, self.pull, self.refit, report)
        return replace(self, panel=panel, ensemble=ensemble)


def fit(
    panel: Panel,
    wanted: Wanted,
    *,
    seasons: Sequence[float] = (),
    multivariate: bool = False,
    refit: bool = True,
    report: Report | None = None,
) -> Fitted:
    """Choose by rows held back, then train on all of them, or on those before with no ``refit``."""
    _check(panel)
    wanted = replace(wanted, seasons=seasons_of(panel, seasons))
    measures = Measures.of(panel, (wanted.seasons or (1,))[0], multivariate and len(panel) > 1)
    signals = measures.signals(panel)

    def tell(stage: str) -> Callable[[int, int], object] | None:
        return None if report is None else (lambda done, total: report(stage, done, total))

    choice = choose(signals, wanted, tell("choosing"))
    candidates = [_naive()] if choice is None else choice.candidates
    pull = None if choice is None else choice.pull
    ensemble = _trained(candidates, signals, wanted, pull, refit, report)
    bands = None if choice is None else _bands(choice)
    tried = 0 if choice is None else choice.tried
    return Fitted(panel, wanted, measures, ensemble, pull, bands, tried, refit)


def _trained(
    candidates: Sequence[Candidate],
    signals: Sequence[Signal],
    wanted: Wanted,
    pull: float | None,
    refit: bool,
    report: Report | None,
) -> Ensemble:
    """Candidates trained anew, the effects of what is known ahead learnt from all rows."""
    stops = [len(signal) for signal in signals]
    if not refit:
        plans = [plan(len(signal), wanted.horizon, wanted.validation) for signal in signals]
        stops = [len(s) if p is None else p.stops[0] for s, p in zip(signals, plans, strict=True)]
    affected = [one.view for one in candidates if one.view.effect is not None]
    if affected:
        effects = effects_of(affected, signals, stops, int(np.median(stops)))
        candidates = [
            one
            if one.view.effect is None
            else replace(one, view=replace(one.view, effect=effects[one.view.logarithm]))
            for one in candidates
        ]
    tell = None if report is None else (lambda done, total: report("training", done, total))
    return train(candidates, signals, stops, wanted.horizon, pull, tell)


def _naive() -> Candidate:
    """Where there is too little to learn from: the last value."""
    view = View("last value", Filter(0.0, spectra.ring(1, sr=0.5)))
    return Candidate(view, Base("level"), "direct", 1e300)


def _bands(choice: Choice) -> Bands | None:
    if all(np.isnan(truth).all() for truth in choice.judge.truths):
        return None
    logarithms = sum(candidate.view.logarithm for candidate in choice.candidates)
    units = [signal.unit for signal in choice.judge.signals]
    relative = 2 * logarithms > len(choice.candidates)
    return Bands.of(choice.forecasts, choice.judge.truths, units, relative)


def _check(panel: Panel) -> None:
    for history in panel.histories:
        if np.isnan(history.values).all():
            raise bad_argument(
                "y", history.name, "at least one observation in every series",
                "Leave this one out.",
            )  # fmt: skip
