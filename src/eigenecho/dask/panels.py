"""Fits and forecasts of panels in partitions; a series may extend over several partitions."""

from __future__ import annotations

from typing import Any

from dask.delayed import Delayed, delayed

from eigenecho.dask.cluster import Cluster
from eigenecho.errors import Words, bad_argument, object_of
from eigenecho.estimators import Forecaster

PARTITIONS = "a long dask DataFrame, or a list of delayed pandas DataFrames"


def fit_panel(forecaster: Forecaster, X: Any, y: Any, cluster: Cluster) -> None:
    """Fit a forecaster to a panel in partitions, and train its candidates on the workers."""
    if y is None:
        remedy = "Use fit(forecaster, y=series) or fit(forecaster, X, series)."
        raise bad_argument("y", None, "the series to forecast", remedy)
    columns = None if X is None else _collect(X, "X", cluster)
    forecaster.fit(_collect(y, "y", cluster), columns, client=cluster.client)


def predict_panel(forecaster: Forecaster, context: Any, horizon: int | None) -> Any:
    """Return a lazy frame of forecasts for the series of a context, by default the fitted series.

    First, all rows of each series are moved to the same partition.
    """
    import dask.dataframe as dd
    import pandas

    if labels := forecaster.fitted_.panel.columns.labels:
        got = Words(f"a forecaster with the columns {', '.join(map(repr, labels))}")
        remedy = "Use forecaster.predict(X=...) instead."
        raise bad_argument("model", got, "a forecaster of y alone", remedy)
    if context is None:
        return dd.from_pandas(forecaster.predict(horizon), npartitions=1)
    frame = context
    if not isinstance(context, dd.DataFrame):
        frame = dd.from_delayed(_parts(context, "X"))
    names = [forecaster.id, forecaster.time]
    if not {*names} <= {*frame.columns}:
        got = Words(f"columns {list(frame.columns)}")
        raise bad_argument("X", got, f"at least the columns {names}")
    parts = frame.shuffle(forecaster.id, shuffle_method="tasks").to_delayed()
    shared = delayed(forecaster, traverse=False)
    forecasts = [delayed(_forecast)(part, shared, horizon, names) for part in parts]
    dtypes = {**frame.dtypes[names], "forecast": float}
    meta = pandas.DataFrame({name: pandas.Series(dtype=dtype) for name, dtype in dtypes.items()})
    return dd.from_delayed(forecasts, meta=meta, verify_meta=False)


def _parts(frame: Any, name: str) -> list[Delayed]:
    """Return the partitions of a frame as delayed frames."""
    import dask.dataframe as dd

    if isinstance(frame, dd.DataFrame):
        return list(frame.to_delayed())
    if isinstance(frame, (list, tuple)) and frame:
        return list(map(delayed, frame))
    raise bad_argument(name, Words(object_of(frame)), PARTITIONS)


def _collect(frame: Any, name: str, cluster: Cluster) -> Any:
    """Load all partitions of a frame as one pandas frame in this process."""
    import pandas

    frames = cluster.compute("read", cluster.task("read", list, _parts(frame, name)))
    for part in frames:
        if not hasattr(part, "iloc"):
            got = Words(f"partitions of type {type(part).__name__}")
            raise bad_argument(name, got, PARTITIONS)
    return pandas.concat(frames, ignore_index=True)


def _forecast(rows: Any, forecaster: Forecaster, horizon: int | None, names: list[str]) -> Any:
    if not len(rows):
        return rows[names].assign(forecast=0.0)
    return forecaster.predict(horizon, context=rows)
