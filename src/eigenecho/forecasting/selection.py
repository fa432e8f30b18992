"""Generation of candidates, and their selection by errors on the validation split."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import partial
from itertools import chain
from typing import Annotated, NamedTuple

import numpy as np

from eigenecho import spectra
from eigenecho.checks import check_count, convert_fields
from eigenecho.errors import Words, bad_argument
from eigenecho.forecasting.baselines import Baseline
from eigenecho.forecasting.candidates import (
    STRATEGIES,
    Candidate,
    Run,
    trimmed_mean,
)
from eigenecho.forecasting.effects import learn_effects
from eigenecho.forecasting.intervals import Bands
from eigenecho.forecasting.models import Model
from eigenecho.forecasting.prior import FIRST, NO_PRIOR, ROUNDING, Prior
from eigenecho.forecasting.rows import ViewRows
from eigenecho.forecasting.seasons import whole_periods
from eigenecho.forecasting.signals import Batch, RemovedEffects, moving
from eigenecho.forecasting.validation import (
    IN_PANELS,
    TOTAL,
    Plan,
    ScoredCandidate,
    ValidationData,
    merge_batches,
    past_plan,
    plan,
)
from eigenecho.forecasting.views import LONG, Filter, View, candidate_spectra
from eigenecho.spectra import Spectrum
from eigenecho.threads import one_blas_thread
from eigenecho.types import Array, PositiveInt

SHARING = ("auto", "shared", "own")

SIDE = 4
"""Number of modes for each past column."""

SERIES = 64
"""Maximum number of series of a panel on which candidates are scored."""

ROWS = 20_000
"""Maximum number of rows of a series on which candidates are scored."""

MOST_PERIODS = 20
"""Maximum number of periods. The cost of a forecast grows with the square of this number."""

FEWEST, MOST = 5, 60
"""Number of views that members may use regardless of the cost, and maximum number of members."""

OPTIMISM = 1.15
"""Factor by which the errors of selected candidates are larger on new rows."""

FADING, PRIOR_ROWS = 100, 500
"""Numbers of rows above which the weight of the prior decreases, and above which it is 0."""

WORK = 3e8
"""Maximum number of states computed in the final training if it uses more than ``FEWEST`` views."""


@dataclass(frozen=True)
class ForecastConfig:
    """Settings of a forecaster.

    Attributes
    ----------
    horizon : int
    periods : tuple of float
        Seasonal periods, in rows. Before the detection, only the periods passed by the caller.
    strategy : {"auto", "direct", "recursive"}
    sharing : {"auto", "shared", "own"}
    validation : int or None
        Number of validation rows at the end of each series; by default, a fraction of all rows.
    spectrum : Spectrum or None
        Spectrum that replaces the candidate spectra.
    multivariate : bool
        True if each series is an input for the others.
    refit : bool
        True if the final training includes the validation rows.
    prior : Prior
        Readouts that were trained on other series, for forecasts of short series.
    models : tuple of Model
        Models of the user, which are not stored in files.
    """

    horizon: PositiveInt
    periods: tuple[float, ...] = ()
    strategy: Annotated[str, STRATEGIES] = "auto"
    sharing: Annotated[str, SHARING] = "auto"
    validation: int | None = None
    spectrum: Spectrum | None = None
    multivariate: bool = False
    refit: bool = True
    prior: Prior = NO_PRIOR
    models: tuple[Model, ...] = field(default=(), metadata={"stored": False})

    def __post_init__(self) -> None:
        convert_fields(self)
        if len(self.periods) > MOST_PERIODS:
            got = Words(f"{len(self.periods)} periods")
            raise bad_argument("seasons", got, f"at most {MOST_PERIODS} periods")
        if self.validation is not None:
            count = check_count(self.validation, "validation", "a number of rows", self.horizon)
            object.__setattr__(self, "validation", count)
        if self.spectrum is not None and not isinstance(self.spectrum, Spectrum):
            raise bad_argument("spectrum", self.spectrum, "a Spectrum or None")

    @property
    def seasons(self) -> tuple[int, ...]:
        """Periods rounded to whole rows."""
        return whole_periods(self.periods)

    @property
    def season(self) -> int:
        """Shortest season; 1 if there is none."""
        return min(self.seasons, default=1)


class Selection(NamedTuple):
    """Result of the selection of candidates.

    Attributes
    ----------
    candidates : list of Candidate
        Selected candidates, best first.
    is_own : bool
        True if each series has its own weights, and False if all series share weights.
    bands : Bands or None
        Distribution of the validation errors; None if no validation row was observed.
    tried : int
        Number of candidates that were scored.
    prior_share : float
        Weight of the prior in the average with the candidates, between 0 and 1.
    models : tuple of Model
        Selected models of the user.
    """

    candidates: Sequence[Candidate]
    is_own: bool = False
    bands: Bands | None = None
    tried: int = 0
    prior_share: float = 1.0
    models: tuple[Model, ...] = ()


@one_blas_thread()
def select_candidates(batches: Sequence[Batch], config: ForecastConfig, run: Run) -> Selection:
    """Score the candidates of all views in parallel, and select the best.

    If all series are too short, no candidate is selected.
    """
    data, series = _validation_data(batches, config), sum(map(len, batches))
    if data is None:
        return Selection([], bands=_bands_of_prior(batches, config))
    rows = int(np.median(np.repeat([p.kept for p in data.plans], list(map(len, data.batches)))))
    views = candidate_views(data, rows, config)
    baselines = baselines_for(rows, config.seasons)
    score = partial(data.score, baselines=baselines, strategy=config.strategy)
    # Ties between candidates are broken by the order of the views, not of their completion.
    scored = list(chain.from_iterable(run("choosing", score, views)))
    given = [data.score_model(model) for model in config.models]
    lowest = min((error for _, error in given), default=np.inf)
    best = keep_best(data, scored, sum(b.values.size for b in moving(batches)), lowest)
    lowest = min([lowest, *(s.error for s in best)])
    kept = [i for i, (_, error) in enumerate(given) if error <= lowest * (1 + data.doubt) < np.inf]
    if not best and not kept:
        return Selection([], bands=_bands_of_prior(batches, config))
    candidates, models = [s.candidate for s in best], tuple(config.models[i] for i in kept)
    shared = _combine([*(s.forecasts for s in best), *(given[i][0] for i in kept)])
    is_own, forecasts = _select_sharing(data, candidates, shared, config.sharing)
    share, forecasts = _select_share(data, forecasts, rows, config)
    logarithms = sum(candidate.view.logarithm for candidate in candidates)
    bands = data.bands(forecasts, 2 * logarithms > len(candidates), series)
    return Selection(candidates, is_own, bands, len(scored) + len(given), share, models)


def _validation_data(batches: Sequence[Batch], config: ForecastConfig) -> ValidationData | None:
    """Return the series and plans on which candidates are scored; None if all are too short.

    Constant series are excluded, unless all series are constant.
    """
    pairs = [
        (b, plan(min(b.rows, ROWS), config.horizon, config.validation)) for b in moving(batches)
    ]
    long = [(batch, split) for batch, split in pairs if split is not None]
    if not long:
        return None
    numbers = np.sort(np.concatenate([batch.numbers for batch, _ in long]))
    numbers = numbers[np.linspace(0, len(numbers) - 1, min(SERIES, len(numbers))).astype(int)]
    used = [(b.only(np.isin(b.numbers, numbers)), split) for b, split in long]
    last_rows = [b.cut(max(b.rows - ROWS, 0)) for b, _ in used if len(b)]
    most = max(IN_PANELS, TOTAL // len(numbers))
    plans = [split.with_origins(most) for b, split in used if len(b)]
    return _with_effects(last_rows, plans, [split.stops[0] for split in plans], 0, config)


def _with_effects(
    batches: Sequence[Batch],
    plans: Sequence[Plan],
    stops: Sequence[int],
    ahead: int,
    config: ForecastConfig,
) -> ValidationData:
    """Return batches with effects that are estimated from the rows before the stops."""
    learned = learn_effects(batches, stops, config.periods, _logarithms(batches))
    pairs = zip(batches, stops, strict=True)
    return ValidationData([learned.apply(batch, stop, ahead) for batch, stop in pairs], plans)


def _logarithms(batches: Sequence[Batch]) -> tuple[bool, ...]:
    """Return the values of ``logarithm`` to compare: both if most series have logarithms."""
    count = sum(int(batch.has_logarithms.sum()) for batch in batches)
    return (False, True) if 2 * count > sum(map(len, batches)) else (False,)


def candidate_views(data: ValidationData, rows: int, config: ForecastConfig) -> list[View]:
    """Return views of values and logarithms, with several spectra and sets of columns."""
    removed = [RemovedEffects(logarithm) for logarithm in _logarithms(data.batches)]
    removed += data.batches[0].shifts
    sides: list[Filter | None] = [None]
    if data.batches[0].past.size and config.strategy != "recursive":
        sides.append(Filter(spectra.time_constants(SIDE, sr=float(np.exp(-10 / rows)))))
    views = []
    for effect in removed:
        # If the calendar effects are removed, seasonal rings are not needed.
        named = candidate_spectra(rows, () if effect.calendar else config.seasons)
        if config.spectrum is not None:
            named = {"given": config.spectrum}
        for side in sides:
            alone = config.multivariate and side is not None
            views += [
                View(name, Filter(spectrum), effect, side, alone)
                for name, spectrum in named.items()
            ]
    return views


def baselines_for(rows: int, seasons: Sequence[int]) -> list[Baseline]:
    """Return the baselines that direct readouts correct."""
    baselines = [Baseline("level")]
    if rows < LONG and seasons and seasons[0] < rows:
        # Growth is estimated from season to season, so several seasons are required.
        kind = "growth" if 3 * seasons[0] < rows else "season"
        baselines.append(Baseline(kind, seasons[0]))
    return baselines


def keep_best(
    data: ValidationData, scored: Sequence[ScoredCandidate], rows: int, lowest: float = np.inf
) -> list[ScoredCandidate]:
    """Return the candidates whose validation errors are close to the smallest, best first.

    ``rows`` is the number of training rows of all series, which limits the number of views, and
    ``lowest`` is the smallest error of other models.
    """
    ranked = sorted((s for s in scored if np.isfinite(s.error)), key=lambda s: s.error)
    if not ranked:
        return []
    limit = min(ranked[0].error, lowest) * (1 + data.doubt)
    close = [s for s in ranked if s.error <= limit]
    size = max(s.candidate.view.filter.size for s in ranked)
    affordable = max(FEWEST, int(WORK / (rows * float(size))))
    # Members of one view share its sums, which take most of the time.
    views = list(dict.fromkeys(s.candidate.view for s in close))[:affordable]
    return [s for s in close if s.candidate.view in views][:MOST]


def _select_share(
    data: ValidationData, forecasts: list[Array], rows: int, config: ForecastConfig
) -> tuple[float, list[Array]]:
    """Return the weight of the prior, and the average of the candidates and the prior.

    Weights are inversely proportional to squared errors. The weight of the prior also decreases
    with the number of rows. It is 0 for a multivariate forecaster, because the prior cannot use
    other series.
    """
    error = data.error(forecasts)
    if rows > PRIOR_ROWS or config.multivariate or error < ROUNDING:
        return 0.0, forecasts
    by_prior = data.forecasts_of_prior(config.prior, config.season)
    ratio = data.error(by_prior) / (OPTIMISM * error)
    share = 1 / (1 + ratio**2 * max(rows / FADING, 1.0))
    return share, [a + share * (b - a) for a, b in zip(forecasts, by_prior, strict=True)]


def _combine(forecasts: Sequence[Sequence[Array]]) -> list[Array]:
    """Return the trimmed mean of the forecasts of all candidates, for each batch."""
    return [trimmed_mean(batch) for batch in zip(*forecasts, strict=True)]


def _select_sharing(
    data: ValidationData, candidates: Sequence[Candidate], shared: list[Array], sharing: str
) -> tuple[bool, list[Array]]:
    """Return True if own weights of each series have smaller errors, and the forecasts.

    Only the forecasts of the few best candidates are used to compare own and shared weights.
    """
    if data.series == 1 or sharing == "shared" or not candidates:
        return False, shared
    pairs = [_forecasts_by_sharing(data, candidate) for candidate in candidates[:FEWEST]]
    by_shared, by_own = (_combine(forecasts) for forecasts in zip(*pairs, strict=True))
    is_own = sharing == "own" or data.error(by_own) < data.error(by_shared)
    return is_own, by_own if is_own else shared


def _forecasts_by_sharing(
    data: ValidationData, candidate: Candidate
) -> tuple[list[Array], list[Array]]:
    """Return forecasts of each batch with shared weights, and with own weights of each series."""
    rows = [ViewRows.of(candidate.view, batch) for batch in data.batches]
    sums = data.sums(rows, [candidate.baseline])
    if candidate.view.alone:  # there are no shared weights
        weights = [[candidate.solve(fold) for fold in folds] for folds in sums]
        return (data.forecasts(rows, candidate.baseline, weights),) * 2
    shared = [candidate.solve(fold)[0] for fold in merge_batches(sums)]
    own = [
        [candidate.solve_near(*pair) for pair in zip(folds, shared, strict=True)] for folds in sums
    ]
    choices = [shared] * len(rows), own
    by_shared, by_own = (data.forecasts(rows, candidate.baseline, w) for w in choices)
    return by_shared, by_own


def _bands_of_prior(batches: Sequence[Batch], config: ForecastConfig) -> Bands | None:
    """Return the error distribution of the prior, which is used if no candidate is selected."""
    long = [b.only(~b.is_constant) for b in batches if b.rows > FIRST + 1]
    if not any(map(len, long)):  # constant series give no information about errors
        return None
    numbers = np.sort(np.concatenate([batch.numbers for batch in long]))[:SERIES]
    used = [batch.only(np.isin(batch.numbers, numbers)) for batch in long]
    used = [batch for batch in used if len(batch)]
    plans = [past_plan(batch.rows, config.horizon) for batch in used]
    data = _with_effects(used, plans, [b.rows for b in used], config.horizon, config)
    forecasts = data.forecasts_of_prior(config.prior, config.season)
    return data.bands(forecasts, False, sum(map(len, batches)))
