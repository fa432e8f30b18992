"""Training of a forecaster, and forecasts from any row by the fitted forecaster."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import chain

import numpy as np

from eigenecho import spectra
from eigenecho.checks import check_count, check_floats, check_memory
from eigenecho.data.align import History
from eigenecho.data.panel import Panel
from eigenecho.data.read import in_series
from eigenecho.errors import FewRowsWarning, Words, bad_argument, counted, out_of_range, warn
from eigenecho.forecasting.baselines import Baseline
from eigenecho.forecasting.candidates import THREADS, Candidate, Ensemble, Run, train
from eigenecho.forecasting.effects import Effects, learn_effects
from eigenecho.forecasting.intervals import UNKNOWN, Bands
from eigenecho.forecasting.models import Model
from eigenecho.forecasting.prior import Mixture, Prior, fit_prior
from eigenecho.forecasting.seasons import find_periods
from eigenecho.forecasting.selection import ForecastConfig, select_candidates
from eigenecho.forecasting.signals import (
    FADES,
    LARGEST_PERIOD,
    REACH_OF_BOUNDS,
    Batch,
    Measures,
    fill_gaps,
    grouped,
    mean_step,
    reach,
)
from eigenecho.forecasting.validation import fewest, plan
from eigenecho.forecasting.views import Filter, View, check_growth
from eigenecho.threads import mapped, one_blas_thread
from eigenecho.types import Array, Count, NonNegative

LAST_VALUE = "last value"
"""Name of the view that is used if no candidate was trained."""

ANCHOR = 100
"""First checkpoint, in rows, of a series that was not part of the fit."""

STEP = 0.1
"""Assumed ratio of the steps of a series to its mean if all series are constant."""

MEMBERS, ORIGINS = 5, 12
"""Maximum numbers of members and origins for which the training errors of a series are computed."""

BYTES = 48
"""Memory of the smallest forecaster, in bytes per step of the horizon."""

GROWTH = 1.25
"""Ratio of consecutive checkpoints, the numbers of rows at which a series is rescaled."""


@one_blas_thread()
def fit(panel: Panel, config: ForecastConfig, run: Run = THREADS) -> FittedForecaster:
    """Select candidates on the validation split, then train them on all rows.

    If ``config.refit`` is False, they are only trained on the rows before the validation rows.
    """
    check_memory(float(BYTES * config.horizon), "horizon", config.horizon)
    if config.spectrum is not None:
        check_growth(config.spectrum, max(len(history) for history in panel.histories))
    config = replace(config, periods=find_periods(panel, config.periods))
    measures = Measures.of(panel, config.season, config.multivariate)
    config = replace(config, multivariate=measures.multivariate)
    batches = measures.batches(panel, measures.filled)
    selected = select_candidates(batches, config, run)
    candidates, is_own, bands, tried, share, models = selected
    learned, ensemble = _train(candidates, models, batches, config, is_own, run)
    bands = bands or Bands.unknown(len(panel), config.horizon)
    fitted = FittedForecaster(panel, config, learned, ensemble, is_own, bands, tried, share)
    return replace(fitted, bands=fitted.completed_bands())


def _train(
    candidates: Sequence[Candidate],
    models: Sequence[Model],
    batches: Sequence[Batch],
    config: ForecastConfig,
    is_own: bool,
    run: Run,
) -> tuple[Effects, Ensemble]:
    """Estimate effects and train candidates, on all rows if ``config.refit`` is True."""
    stops = [batch.rows for batch in batches]
    if not config.refit:
        plans = [plan(rows, config.horizon, config.validation) for rows in stops]
        stops = [rows if p is None else p.kept for rows, p in zip(stops, plans, strict=True)]
    # The candidates determine whether logarithms are used, even if some series have none.
    logarithms = sorted({candidate.view.logarithm for candidate in candidates} or {False})
    learned = learn_effects(batches, stops, config.periods, logarithms)
    shifted = [learned.apply(b, stop, 0) for b, stop in zip(batches, stops, strict=True)]
    ensemble = train(candidates, shifted, stops, config.horizon, is_own, run)
    if not ensemble.members and not models:
        ensemble = train([_last_value()], shifted, stops, config.horizon, is_own)
    given = tuple(model.fit(shifted, stops) for model in models)
    return learned, replace(ensemble, models=given)


def _last_value() -> Candidate:
    """Return a candidate whose forecast is the last value."""
    view = View(LAST_VALUE, Filter(spectra.ring(1, sr=0.5)))
    return Candidate(view, Baseline("level"), "direct", 1e300)


@dataclass(frozen=True, eq=False)
class FittedForecaster:
    """Fitted forecaster, which forecasts from any row of any series.

    Attributes
    ----------
    panel : Panel
        Training series. By default, forecasts start after their last rows.
    config : ForecastConfig
    effects : Effects
    ensemble : Ensemble
    is_own : bool
        True if each series has its own weights, and False if all series share weights.
    bands : Bands
        Distribution of the validation errors.
    tried : int
        Number of candidates that were scored.
    prior_share : float
        Weight of the prior in the average with the ensemble, between 0 and 1.
    """

    panel: Panel
    config: ForecastConfig
    effects: Effects
    ensemble: Ensemble
    is_own: bool
    bands: Bands
    tried: Count
    prior_share: NonNegative

    def check(self) -> None:
        """Raise an error if parts of a loaded forecaster are inconsistent."""
        if self.config.multivariate and not self.panel.form.shared:
            raise bad_argument("multivariate", True, "False for series with different rows")
        check_floats(self.bands.growth, "growth", self.config.horizon)
        check_floats(self.bands.means, "means", len(self.panel))
        if self.prior_share > 1:
            raise bad_argument("prior_share", self.prior_share, "a weight from 0 to 1")
        self._check_effects()
        check_count(len(self.ensemble.members), "members", "a number of members", 1)
        for member in self.ensemble.members:
            self._check_member(member)

    def _check_effects(self) -> None:
        effects, periods, known = self.effects, self.config.periods, len(self.panel.known_names)
        if not all(1 < p <= LARGEST_PERIOD for p in periods) or effects.periods != periods:
            expected = f"the periods of the effects, from 1 to {LARGEST_PERIOD} rows"
            raise bad_argument("periods", periods, expected)
        self._check_filter(effects.filter, "effects")
        if len(set(effects.removed)) < len(effects.removed):
            raise bad_argument("removed", effects.removed, "distinct effects")
        for removed, one_step, columns in effects.weights:
            if (removed.known and not known) or (removed.calendar and not periods):
                expected = "effects of known columns and periods that exist"
                raise bad_argument("removed", tuple(removed), expected)
            check_floats(one_step, "one_step", effects.filter.size - 1)
            check_floats(columns, "columns", known * len(FADES) if removed.known else 0)

    def _check_member(self, member: Candidate) -> None:
        panel, view, multivariate = self.panel, member.view, self.measures.multivariate
        past, side = len(panel.past_names) + (len(panel) - 1) * multivariate, 0
        self._check_filter(view.filter, "filter")
        if view.side is not None:
            self._check_filter(view.side, "side")
            side = past * view.side.spectrum.units
            if not past:
                raise bad_argument("side", view.side, "None without past columns")
        if view.alone != (multivariate and view.side is not None):
            expected = "True if the other series are past columns, and False otherwise"
            raise bad_argument("alone", view.alone, expected)
        if view.removes and view.removed not in self.effects.removed:
            raise bad_argument("removed", tuple(view.removed), "effects whose weights are stored")
        if len(member.own) != len(panel) * (view.alone or self.is_own):
            got = Words(f"weights of {len(member.own)} series")
            expected = f"weights of {len(panel)} series if they are separate, and none if shared"
            raise bad_argument("own", got, expected)
        rows = max(map(len, panel.histories))
        if member.baseline.season > rows:
            raise bad_argument("season", member.baseline.season, f"at most {rows} rows")
        for weights in (member.weights, *member.own):
            check_floats(weights, "weights", view.filter.size + side, self.config.horizon)

    def _check_filter(self, filter: Filter, name: str) -> None:
        """Raise an error if the states of a filter overflow."""
        rows = max(len(history) for history in self.panel.histories)
        check_growth(filter.spectrum, rows, f"{name}.spectrum")

    @cached_property
    def measures(self) -> Measures:
        """Units in which series and columns are measured."""
        return Measures.of(self.panel, self.config.season, self.config.multivariate)

    def as_prior(self, horizon: int) -> Prior:
        """Return a prior fitted to these series, for forecasts of other series."""
        batches = self.measures.batches(self.panel, self.measures.filled)
        return fit_prior(batches, horizon, self.config.season)

    @property
    def is_recursive(self) -> bool:
        """True if forecasts can be longer than the horizon of the fit."""
        return all(member.kind != "direct" for member in self.ensemble.members)

    @property
    def is_untrained(self) -> bool:
        """True if no candidate was trained, because all series are too short or constant."""
        members = self.ensemble.members
        return bool(members) and members[0].view.name == LAST_VALUE

    @property
    def expected_errors(self) -> Array:
        """Mean absolute validation error of each series."""
        return self.bands.means * [self._error_unit(history) for history in self.panel.histories]

    @cached_property
    def _relative_step(self) -> float:
        """Median of unit / mean |y| over the series that are not constant."""
        series = zip(self.measures.units, self.panel.histories, strict=True)
        steps = [unit / np.nanmean(np.abs(h.values)) for unit, h in series if unit]
        return float(np.median(steps)) if steps else STEP

    @cached_property
    def _has_long(self) -> bool:
        """True if at least one non-constant series is long enough for a validation split."""
        series = zip(self.measures.units, self.panel.histories, strict=True)
        return any(unit and not self._is_short(history) for unit, history in series)

    def _is_short(self, history: History) -> bool:
        return len(history) - history.start < fewest(self.config.horizon)

    def _error_unit(self, history: History) -> float:
        """Return the unit in which the errors of a series are measured.

        The unit is 0 for a long constant series. For a short constant series, it is computed as if
        the series had one step of typical size.
        """
        number = self.measures.numbers.get(history.name)
        default = self.measures.median_unit if number is None else self.measures.units[number]
        if number is not None and history is self.panel.histories[number]:
            filled = self.measures.filled[number]
        else:
            filled = fill_gaps(history.values, self.measures.season)
        unit = float(mean_step(filled.values)) or float(default)
        if unit or not self._is_short(history):
            return unit
        level = abs(float(filled.values[0])) or self.measures.median_unit / self._relative_step
        return self._relative_step * (level or 1.0) / np.sqrt(len(filled.values))

    def completed_bands(self) -> Bands:
        """Return the bands, completed with estimates for series that were not validated."""
        horizon, histories, units = self.config.horizon, self.panel.histories, self.measures.units
        missing = np.flatnonzero(np.isnan(self.bands.means) & (units > 0))
        origins = [np.zeros(0, int)] * len(histories)
        found = [np.zeros((0, horizon))] * len(histories)
        if not all(self._is_short(histories[i]) for i in missing):
            origins = [_last_origins(history, horizon) for history in histories]
            # The best few members are enough to compare series.
            few = replace(
                self, ensemble=replace(self.ensemble, members=self.ensemble.members[:MEMBERS])
            )
            found = few.forecasts(self.panel, origins, horizon)
        steps = np.arange(1, horizon + 1)
        rows = zip(histories, origins, strict=True)
        truths = [history.values[some[:, None] + steps] for history, some in rows]
        return self.bands.complete(found, truths, units.tolist())

    def forecast(self, panel: Panel, horizon: int, ahead: Sequence[Array] = ()) -> list[Array]:
        """Return forecasts (H,) of the rows after the end of each series.

        ``ahead`` contains the known columns of these rows, (H, k) for each series.
        """
        ends = [np.array([len(history) - 1]) for history in panel.histories]
        return [values for (values,) in self.forecasts(panel, ends, horizon, ahead)]

    @one_blas_thread()
    def forecasts(
        self,
        panel: Panel,
        origins: Sequence[Array],
        horizon: int,
        ahead: Sequence[Array] = (),
    ) -> list[Array]:
        """Return forecasts (O, H) of each series from the given origins.

        A forecast depends only on the rows up to its origin. Units and calendar effects are
        estimated from the rows up to the last checkpoint before the origin. ``ahead`` contains the
        known columns of the rows after the end of each series, (H, k).
        """
        check_memory(8.0 * horizon * self.ensemble.size, "horizon", horizon)
        ensemble = self.ensemble.with_horizon(horizon)
        names = [history.name for history in panel.histories]
        if self.measures.multivariate and names != list(self.measures.numbers):
            expected = "the series passed to fit, in the same order, because multivariate=True"
            raise bad_argument("context", Words(f"{len(panel)} series"), expected)
        is_fitted = panel is self.panel
        filled = self.measures.filled if is_fitted else self.measures.fill(panel)
        for history, series, rows in zip(panel.histories, filled, origins, strict=True):
            if np.any(rows < series.start):
                where = f"where observations start{in_series(history.name)}"
                expected = f"row numbers ≥ {series.start}, {where}"
                raise bad_argument("origins", int(rows.min()), expected)
        # Series of equal length, with the same origins and checkpoints, are forecast together.
        numbers = [self.measures.numbers.get(name) for name in names]
        anchors = [ANCHOR if n is None else len(self.measures.filled[n].values) for n in numbers]
        starts = [o - series.start for o, series in zip(origins, filled, strict=True)]
        lengths = [len(series.values) for series in filled]
        keys = [(n, a, tuple(r.tolist())) for n, a, r in zip(lengths, anchors, starts, strict=True)]

        def forecast(series: list[int]) -> list[Array]:
            i = series[0]
            used = checkpoints(starts[i] + 1, anchors[i])
            values = np.empty((len(series), len(used), horizon))
            for checkpoint in np.unique(used).tolist():
                here, fitted = used == checkpoint, [numbers[j] for j in series]
                batch = self.measures.batch(panel, filled, series, checkpoint, ahead)
                values[:, here] = self._forecast_batch(
                    batch, starts[i][here], checkpoint, fitted, ensemble, horizon
                )
            return list(values)

        groups = grouped(keys, lengths)
        results = dict(zip(chain(*groups), chain(*mapped(forecast, groups)), strict=True))
        for i, history in enumerate(panel.histories):
            if not np.isfinite(results[i]).all():
                first = int(np.argwhere(~np.isfinite(results[i]))[:, 1].min())
                raise out_of_range(history.name, first)
        pairs = zip(panel.histories, origins, strict=True)
        return [clip_at_zero(results[i], h.values, own) for i, (h, own) in enumerate(pairs)]

    def _forecast_batch(
        self,
        batch: Batch,
        origins: Array,
        checkpoint: int,
        numbers: Sequence[int | None],
        ensemble: Ensemble,
        horizon: int,
    ) -> Array:
        """Return forecasts (S, O, H) of series whose units are computed up to a checkpoint.

        ``numbers`` contains the indices of the series in the fit, or None for other series.
        """
        config = self.config
        # Later rows are removed, so that they cannot even affect the order of a summation.
        batch = self.effects.apply(batch.cut(stop=int(origins.max()) + 1), checkpoint, horizon)
        values = np.zeros((len(batch), len(origins), horizon))
        if self.prior_share < 1:
            values += (1 - self.prior_share) * ensemble.forecast(batch, origins, horizon, numbers)
        if self.prior_share > 0:
            settings = checkpoint, horizon, config.season, config.horizon
            mixture = Mixture.of(config.prior, batch, *settings)
            bounds = reach(batch.values, origins, horizon)
            values += self.prior_share * np.clip(mixture.forecast(origins), *bounds)
        # Logarithms and their inverse would round a constant.
        flat = np.logical_and.accumulate(batch.values == batch.values[:, :1], axis=1)[:, origins]
        flat &= batch.is_constant[:, None]
        return np.where(flat[:, :, None], batch.values[:, :1, None], values)

    def quantiles(
        self, panel: Panel, series: int, forecast: Array, levels: Sequence[float]
    ) -> Array:
        """Return quantiles (H, Q) around a forecast (H,), within reach of the series.

        All quantiles of a long constant series are equal to the forecast.
        """
        history = panel.histories[series]
        unit, steps = self._error_unit(history), float(np.inf)
        if not unit:
            return np.repeat(forecast[:, None], len(levels), axis=1)
        if self._is_short(history) and (self._has_long or not self.bands.ratios.size):
            # The errors are assumed, or come from longer series, whose units are more accurate.
            observed = history.values[~np.isnan(history.values)]
            steps = len(observed) - 1 if np.ptp(observed) else UNKNOWN
        bands = self.bands.of_series(self.measures.numbers.get(history.name))
        bands = bands.with_horizon(len(forecast))
        quantiles = np.array([bands.quantile(level, forecast, unit, steps) for level in levels])
        last = np.array([len(history) - 1])
        if np.nanmin(history.values) < np.nanmax(history.values):
            low, high = reach(history.values, last, len(forecast), REACH_OF_BOUNDS)
            quantiles = np.clip(quantiles, np.minimum(low, forecast), np.maximum(high, forecast))
        return clip_at_zero(quantiles, history.values, last.repeat(len(quantiles))).T

    def has_width(self, panel: Panel, series: int) -> bool:
        """Return False if the prediction intervals of a series have width 0."""
        ratios = self.bands.ratios
        is_exact = bool(ratios.size) and not ratios[-1]
        return self._error_unit(panel.histories[series]) > 0 and not is_exact

    @one_blas_thread()
    def update(self, panel: Panel, run: Run = THREADS) -> FittedForecaster:
        """Return a forecaster with the same candidates, trained on another panel."""
        updated = replace(self, panel=panel)
        batches = updated.measures.batches(panel, updated.measures.filled)
        learned, ensemble = _train(
            self.ensemble.members, self.ensemble.models, batches, self.config, self.is_own, run
        )
        return replace(updated, effects=learned, ensemble=ensemble)

    def warn_if_untrained(self, which: str = "") -> None:
        """Issue one warning for all series if no candidate was trained."""
        if not self.is_untrained:
            return
        horizon, rows = self.config.horizon, [len(h) - h.start for h in self.panel.histories]
        # Constant series cannot be used for training, however long they are.
        longest = max(np.where(self.measures.units > 0, rows, 0)) or max(rows)
        reason = "the validation rows contain no observations, or their forecasts overflow"
        if longest < fewest(horizon):
            reason = f"a horizon of {horizon} requires a non-constant series of at least "
            reason += f"{fewest(horizon)} rows, but the longest has {longest}"
        warn(
            f"Forecasts{which} use only the prior and simple methods, because {reason}.",
            FewRowsWarning,
        )

    def warn_if_columns_are_rare(self) -> None:
        """Warn if less than half of the members use the known columns."""
        names, members = self.panel.known_names, self.ensemble.members
        used = sum(member.view.removed.known for member in members)
        if names and 2 * used < len(members):
            warn(
                f"Only {used} of {counted(len(members), 'averaged model')} use the known columns "
                f"({', '.join(map(str, names[:5]))}), so the forecast underestimates their "
                "effects. If they dominate the series, compare with a regression on them.",
                UserWarning,
            )


def _last_origins(history: History, horizon: int) -> Array:
    """Return up to ``ORIGINS`` of the last origins whose forecasts end within the series."""
    last = len(history) - 1 - horizon
    first = max(min(int(len(history) / GROWTH), last - horizon), history.start)
    count = ORIGINS if first <= last else 0
    return np.unique(np.linspace(first, last, count).astype(int))


def checkpoints(rows: Array, anchor: int) -> Array:
    """Return the number of rows from which units and effects are estimated at each origin.

        the largest anchor · GROWTHᵏ ≤ rows,   k integer

    ``rows`` is the number of rows up to each origin. A checkpoint does not depend on other origins,
    and at the end of the fit it is the number of rows in the fit.
    """
    anchor = max(anchor, 1)
    k = np.floor(np.log(rows / anchor) / np.log(GROWTH) + 1e-9)
    return np.clip((anchor * GROWTH**k).astype(int), 1, rows)


def clip_at_zero(results: Array, values: Array, rows: Array) -> Array:
    """Clip results (O, H) at 0 wherever the series has had no negative value.

    ``rows`` (O,) contains row numbers of the series ``values`` (T,), which may contain NaN.
    """
    bounded = np.fmin.accumulate(values)[rows] >= 0
    return np.where(bounded[:, None], np.maximum(results, 0.0), results)


def warn_zero_width(count: int, total: int, what: str) -> None:
    """Issue one warning for all series or forecasts whose intervals have width 0."""
    if count:
        warn(
            f"Prediction intervals have width 0 for {count} of {total} {what}, because the series "
            "are constant or all validation errors are 0.",
            FewRowsWarning,
        )
