"""Panels in partitions: long frames, whose series may lie across several."""

from __future__ import annotations

import uuid
from typing import Any

from dask.delayed import Delayed, delayed

from eigenecho.dask.cluster import Cluster
from eigenecho.errors import Shown, bad_argument
from eigenecho.estimators import Forecaster

PARTITIONS = "a long frame of dask.dataframe, or a list of delayed pandas frames"


def fit_panel(forecaster: Forecaster, y: Any, X: Any, cluster: Cluster) -> Forecaster:
    """Fit a forecaster to a panel in partitions; its views are judged and trained on workers.

    A series that lies across partitions is joined: rows are put in the order of their times.
    """
    frames = [_whole(part, name, cluster) for part, name in ((y, "y"), (X, "X"))]
    return forecaster.fit(*frames, client=cluster.client)


def predict_panel(forecaster: Forecaster, context: Any, horizon: int | None) -> Any:
    """Forecasts after the ends of series, by partitions; of those of the fit, in one."""
    import dask.dataframe as dd

    names = forecaster.id, forecaster.time
    if context is None:
        made = delayed(_forecast)(forecaster, None, horizon)
        return dd.from_delayed([made], meta=forecaster.predict(horizon).iloc[:0])
    parts = _partitions(context, "X")
    ids = _ids(parts, forecaster.id)
    known = delayed(forecaster, name=f"forecaster-{uuid.uuid4().int}", traverse=False)
    made = []
    for number, part in enumerate(parts):
        # A series goes with the first partition that has rows of it.
        own = ids[number] - set().union(*ids[:number])
        if not own:
            continue
        others = [
            delayed(_rows_of)(other, forecaster.id, sorted(shared))
            for i, other in enumerate(parts)
            if i != number and (shared := own & ids[i])
        ]
        mine = part if own == ids[number] else delayed(_rows_of)(part, forecaster.id, sorted(own))
        made.append(delayed(_forecast)(known, [mine, *others], horizon))
    meta = _meta(parts[0], names)
    return dd.from_delayed(made, meta=meta, verify_meta=False)


def _partitions(given: Any, name: str) -> list[Delayed]:
    if hasattr(given, "to_delayed") and hasattr(given, "npartitions"):
        return list(given.to_delayed())
    if isinstance(given, (list, tuple)) and given:
        return [part if isinstance(part, Delayed) else delayed(part) for part in given]
    raise bad_argument(name, Shown(type(given).__name__), PARTITIONS)


def _whole(given: Any, name: str, cluster: Cluster) -> Any:
    """The partitions of a frame in one, as any forecaster keeps its rows."""
    import pandas

    if given is None:
        return None
    parts = _partitions(given, name)
    frames = cluster.compute("read", cluster.task("read", _listed, parts))
    for frame in frames:
        if not hasattr(frame, "iloc"):
            got = Shown(f"partitions of {type(frame).__name__}")
            raise bad_argument(name, got, PARTITIONS)
    return pandas.concat(frames, ignore_index=True)


def _ids(parts: list[Delayed], column: str) -> list[set[Any]]:
    """Which series have rows in which partition."""
    import dask

    found = dask.compute(*[delayed(_unique)(part, column) for part in parts])
    return [set(one) for one in found]


def _unique(frame: Any, column: str) -> list[Any]:
    if column not in frame.columns:
        wanted = f"a long one with a column {column!r}"
        raise bad_argument("X", Shown(f"a frame without a column {column!r}"), wanted)
    return frame[column].unique().tolist()


def _rows_of(frame: Any, column: str, ids: list[Any]) -> Any:
    return frame[frame[column].isin(ids)]


def _forecast(forecaster: Forecaster, parts: Any, horizon: int | None) -> Any:
    if parts is None:
        return forecaster.predict(horizon)
    import pandas

    return forecaster.predict(horizon, context=pandas.concat(parts, ignore_index=True))


def _meta(part: Delayed, names: tuple[str, str]) -> Any:
    """What answers look like, by the first rows of a partition."""
    head = delayed(_no_rows)(part, names).compute()
    return head.assign(forecast=0.0).iloc[:0]


def _no_rows(frame: Any, names: tuple[str, str]) -> Any:
    return frame[list(names)].iloc[:0]


def _listed(parts: list[Any]) -> list[Any]:
    return parts
