"""Fitting on a cluster."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any, TypeVar

import numpy as np

from eigenecho.checks import check_flag
from eigenecho.dask.carry import halo
from eigenecho.dask.cluster import Cluster, Report
from eigenecho.dask.look import Looked, Wanted, look, placed
from eigenecho.dask.panels import fit_panel
from eigenecho.dask.passes import ShardedPasses
from eigenecho.dask.shards import Network, Shard
from eigenecho.dask.sources import shards_of
from eigenecho.errors import bad_argument
from eigenecho.estimators import Forecaster, LinearESN
from eigenecho.estimators.fitted import Fitted
from eigenecho.estimators.validation import (
    all_or_nothing,
    gaps_of,
    target_of,
    warn_if_unstable,
)
from eigenecho.progress import bar
from eigenecho.reservoir import Drawn
from eigenecho.training import Problem, Settings, pose, train_by
from eigenecho.types import Array

Estimator = TypeVar("Estimator", LinearESN, Forecaster)


def fit(
    estimator: Estimator, X: Any, y: Any = None, *, client: Any = None, progress: Any = False
) -> Estimator:
    """Fit an estimator to data that lie on a cluster, as its own ``fit`` does with those at hand.

    Parameters
    ----------
    estimator : LinearESN or Forecaster
        It is fitted in place, and is an ordinary one afterwards; where a fit fails it is as before.
    X, y : for a LinearESN
        Dask arrays (T, D) cut along time are one long series: nothing restarts at a cut. A list of
        them, or an array (series, T, D), is several. Delayed series, in a list, and bags of them
        (or one bag of pairs) stay whole, one or a partition on a worker. X may be None for a
        generator with ``feedback``.
    X, y : for a Forecaster
        In the order of its own ``fit``, the series first: long frames of dask.dataframe, or lists
        of delayed pandas frames; then columns beside them, or None. A series may lie across
        partitions. The rows come to the client, which keeps them as any forecaster does; ways to
        forecast are judged and trained on the workers.
    client : distributed.Client, optional
        By default the one at work here, else Dask's own scheduler in this process.
    progress : bool, or callable (step, done, total)
        Draw a bar on the terminal for every step; or called as shards are finished. What it raises
        ends the fit, and nothing is left of it on the cluster.

    Returns
    -------
    the estimator

    Notes
    -----
    Data are read where they are computed on, once for a look at them, once for statistics and once
    for each round of refinement: X.persist() keeps them in the workers' memory.
    """
    if not callable(progress):
        check_flag(progress, "progress")
    if not isinstance(estimator, (LinearESN, Forecaster)):
        raise bad_argument("estimator", estimator, "a LinearESN or a Forecaster")
    with all_or_nothing(estimator), bar(progress is True) as drawn:
        report = progress if callable(progress) else drawn
        if isinstance(estimator, Forecaster):
            return fit_panel(estimator, X, y, Cluster.of(client, report))
        _fit_network(estimator, X, y, client, report)
    return estimator


def _fit_network(esn: LinearESN, X: Any, y: Any, client: Any, report: Report | None) -> None:
    settings = Settings.of(esn.get_params(deep=False))
    if settings.recipe.is_learnt:
        raise bad_argument(
            "spectrum", "data", "eigenvalues, or a law: these are learnt on one machine",
            "spectra.from_data of some of the rows gives them.",
        )  # fmt: skip
    if X is None and not esn.feedback:
        remedy = "A generator without input needs feedback=True."
        raise bad_argument("X", None, "an input series", remedy)
    shards, container = shards_of(X, y)
    cluster = Cluster.of(client, report)
    gaps = "gaps" in gaps_of(esn)
    wanted = Wanted(np.dtype(esn.dtype), gaps, settings.standardize, settings.warmup)
    drawn = None
    columns = shards[0].columns
    if columns is not None and any(shard.continues for shard in shards):
        # What to keep of a shard for the one after it is known before anybody looks.
        drawn = settings.draw(*columns, esn.seed)
        wanted = replace(wanted, tail=halo(drawn.reservoir, shards) or 0)
    looked = look(cluster, shards, wanted)
    shards = placed(shards, looked)
    D_in, D_out = looked.columns
    if drawn is None:
        drawn = settings.draw(D_in, D_out, esn.seed)
    problem = outline(settings, drawn, shards, looked, gaps)
    if esn.basis == "eigen":
        longest = max(map(len, problem.inputs))
        warn_if_unstable(drawn.reservoir.spectrum.radius, longest)
    y_scaling = problem.scalings[1]
    lasts = [last for last in looked.lasts if last.size]
    own = lasts if y_scaling is None else [y_scaling.forward(last) for last in lasts]
    passes = ShardedPasses(
        problem,
        cluster=cluster,
        network=Network.of(problem),
        shards=shards,
        lasts=own,
        tails=looked.tails,
    )
    trained = train_by(passes, settings)
    heads = _in_one(looked.heads, shards)
    target = target_of(*zip(*heads, strict=True)) if heads else None
    flat = container.flat if any(shard.continues for shard in shards) else looked.flat
    known = {"lr": float(esn.lr), "flat": flat, "drawn": drawn.spectrum}
    esn.n_features_in_ = D_in
    if hasattr(esn, "feature_names_in_"):
        del esn.feature_names_in_
    made = Fitted.of(problem, trained, lasts[-1], target=target, **known)
    made.given_to(esn)


def outline(
    settings: Settings, drawn: Drawn, shards: Sequence[Shard], looked: Looked, gaps: bool
) -> Problem:
    """The problem of all rows, none of which are here: series of their lengths, of no numbers."""
    lengths: dict[int, int] = {}
    for shard in shards:
        for piece in shard.pieces:
            lengths[piece.series] = piece.first + piece.rows
    D_in, D_out = looked.columns
    inputs, outputs = (
        [np.broadcast_to(np.zeros(()), (rows, D)) for rows in lengths.values()]
        for D in (D_in, D_out)
    )
    plain = replace(settings, standardize=False, missing="error")
    problem = pose(plain, drawn, inputs, outputs)
    if gaps:
        there = [np.broadcast_to(np.ones((), bool), y.shape) for y in outputs]
        problem = replace(problem, observed=there)
    if looked.spreads is None:
        return problem
    u_spread, y_spread = looked.spreads
    return replace(problem, scalings=(u_spread.scaling if D_in else None, y_spread.scaling))


def _in_one(heads: Sequence[tuple[Array, Array]], shards: Sequence[Shard]) -> list[Any]:
    """First rows of series; those of one that lies in several shards are put together."""
    found: list[Any] = []
    for (u, y), shard in zip(heads, shards, strict=False):
        if shard.continues and found:
            u, y = (np.concatenate(both) for both in zip(found.pop(), (u, y), strict=True))
        found.append((u, y))
    return found
