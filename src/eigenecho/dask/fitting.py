"""Fit estimators on a cluster."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import reduce
from typing import Any, TypeVar

import numpy as np

from eigenecho.checks import check_flag
from eigenecho.dask.carry import halo_length
from eigenecho.dask.cluster import Cluster, Report
from eigenecho.dask.panels import fit_panel
from eigenecho.dask.sharded_problem import ProblemTemplate, Rows, ShardedProblem
from eigenecho.dask.shards import RowChecks, Shard, ShardSummary, split_series, validate_shards
from eigenecho.errors import bad_argument
from eigenecho.estimators import Forecaster, LinearESN
from eigenecho.estimators.fitted import FittedNetwork
from eigenecho.estimators.validation import (
    all_or_nothing,
    gap_options,
    target_kind,
    warn_if_unstable,
)
from eigenecho.progress import bar
from eigenecho.reservoir import DrawnReservoir
from eigenecho.scaling import Spread
from eigenecho.training import Problem, Settings, pose, train

Estimator = TypeVar("Estimator", LinearESN, Forecaster)


def fit(
    estimator: Estimator, X: Any = None, y: Any = None, *, client: Any = None, progress: Any = False
) -> Estimator:
    """Fit an estimator to data on a cluster, with the same result as its own ``fit``.

    Parameters
    ----------
    estimator : LinearESN or Forecaster
        Fitted in place, and unchanged if the fit fails.
    X, y : for a LinearESN
        Dask arrays (T, D), chunked along time, are one long series. A list of them, or an array
        (series, T, D), is several series. A list of delayed arrays is several series too, each of
        which a worker reads as a whole. X may be None for a generator with ``feedback``.
    X, y : for a Forecaster
        y is the series and X its further columns, or None: long frames of dask.dataframe, or lists
        of delayed pandas frames. A series may be spread over partitions. The rows are sent to the
        client, since a forecaster stores them; candidates are compared and trained on the workers.
    client : distributed.Client, optional
        By default the current client, or without one Dask's scheduler in this process.
    progress : bool, or callable (step, done, total)
        True draws a progress bar for each step. A callable is called as shards are finished; an
        exception that it raises ends the fit, and no task is left on the cluster.

    Returns
    -------
    estimator

    Notes
    -----
    Workers read the data where they compute on them: once to validate them, once for statistics,
    and once for each round of refinement. X.persist() keeps the data in the workers' memory.
    """
    if not callable(progress):
        check_flag(progress, "progress")
    if not isinstance(estimator, (LinearESN, Forecaster)):
        raise bad_argument("estimator", estimator, "a LinearESN or a Forecaster")
    with all_or_nothing(estimator), bar(progress is True) as draw:
        report = progress if callable(progress) else draw
        if isinstance(estimator, Forecaster):
            fit_panel(estimator, X, y, Cluster.of(client, report))
        else:
            _fit_network(estimator, X, y, client, report)
    return estimator


def _fit_network(esn: LinearESN, X: Any, y: Any, client: Any, report: Report | None) -> None:
    settings = Settings.of(esn.get_params(deep=False))
    if y is None:
        raise bad_argument("y", None, "targets, such as fit(esn, X[:-1], X[1:])")
    if X is None and not esn.feedback:
        remedy = "A generator without input needs feedback=True."
        raise bad_argument("X", None, "an input series", remedy)
    shards = split_series(X, y)
    cluster = Cluster.of(client, report)
    gaps = "gaps" in gap_options(settings)
    drawn: DrawnReservoir | None = None
    halo: int | None = 0
    if shards[0].columns is not None:
        # The length of halos must be known before the first pass, which collects them.
        drawn = settings.draw(*shards[0].columns, esn.seed)
        halo = halo_length(drawn.reservoir, shards)
    dtype, tail = np.dtype(esn.dtype), max(halo or 0, 1)
    checks = RowChecks(dtype, gaps, settings.standardize, settings.warmup, tail)
    summaries = validate_shards(cluster, shards, checks)
    shards = [replace(s, count=summary.rows) for s, summary in zip(shards, summaries, strict=True)]
    if drawn is None:
        drawn = settings.draw(*summaries[0].columns, esn.seed)
    problem = _outline(settings, drawn, shards, summaries, gaps)
    if esn.basis == "eigen":
        warn_if_unstable(drawn.reservoir.spectrum.radius, max(map(len, problem.inputs)))
    scaling = problem.scalings[1]
    lasts = [summary.tail[1][-1] for summary in summaries]
    sharded = ShardedProblem.of(
        problem,
        cluster=cluster,
        template=ProblemTemplate.of(problem),
        shards=shards,
        lasts=lasts if scaling is None else [scaling.forward(last) for last in lasts],
        halos=None if halo is None else _halos(shards, summaries, halo),
    )
    trained = train(sharded, settings)
    heads = zip(*(summary.head for summary in summaries), strict=True)
    inputs, targets = (np.concatenate(parts) for parts in heads)
    fitted = FittedNetwork.of(
        problem,
        trained,
        lasts[-1],
        target=target_kind([inputs], [targets]),
        lr=float(esn.lr),
        flat=all(summary.flat for summary in summaries),
        drawn=drawn.spectrum,
    )
    esn.n_features_in_ = summaries[0].columns[0]
    esn.__dict__.pop("feature_names_in_", None)  # dask arrays have no column names
    fitted.attach_to(esn)


def _halos(
    shards: Sequence[Shard], summaries: Sequence[ShardSummary], length: int
) -> list[Rows | None]:
    """Return the last ``length`` rows before each shard, from as many shards as it takes."""
    halos: list[Rows | None] = [None]
    for shard, before in zip(shards[1:], summaries, strict=False):
        halo = None
        if shard.continues:
            known = [before.tail] if halos[-1] is None else [halos[-1], before.tail]
            u, y = (np.concatenate(parts)[-length:] for parts in zip(*known, strict=True))
            halo = u, y
        halos.append(halo)
    return halos


def _outline(
    settings: Settings,
    drawn: DrawnReservoir,
    shards: Sequence[Shard],
    summaries: Sequence[ShardSummary],
    gaps: bool,
) -> Problem:
    """Return the problem of all rows, with series of the right lengths that have no values."""
    rows = {shard.series: shard.first + shard.count for shard in shards}
    inputs, outputs = (
        [np.broadcast_to(0.0, (length, D)) for length in rows.values()]
        for D in summaries[0].columns
    )
    plain = replace(settings, standardize=False, missing="error")
    problem = pose(plain, drawn, inputs, outputs)
    if gaps:
        problem = replace(problem, observed=[np.broadcast_to(True, y.shape) for y in outputs])
    if settings.standardize:
        spreads = (s.spreads for s in summaries if s.spreads is not None)
        u, y = (reduce(Spread.merge, each) for each in zip(*spreads, strict=True))
        problem = replace(problem, scalings=(u.scaling if len(u.mean) else None, y.scaling))
    return problem
