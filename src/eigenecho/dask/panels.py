"""Forecasters on panels in partitions: long frames whose series may be spread over partitions."""

from __future__ import annotations

from typing import Any

from dask.delayed import Delayed, delayed

from eigenecho.dask.cluster import Cluster
from eigenecho.errors import bad_argument
from eigenecho.estimators import Forecaster

PARTITIONS = "a long frame of dask.dataframe, or a list of delayed pandas frames"


def fit_panel(forecaster: Forecaster, X: Any, y: Any, cluster: Cluster) -> None:
    """Fit a forecaster to a panel in partitions; candidates are trained on the workers."""
    if y is None:
        remedy = "Pass them as y: fit(forecaster, y=series), or fit(forecaster, X, series)."
        raise bad_argument("y", None, "the series of a Forecaster", remedy)
    columns = None if X is None else _collect(X, "X", cluster)
    forecaster.fit(_collect(y, "y", cluster), columns, client=cluster.client)


def predict_panel(forecaster: Forecaster, context: Any, horizon: int | None) -> Any:
    """Return a lazy frame of forecasts for the series of a context, by default those of the fit.

    All rows of a series are moved to one partition first.
    """
    import dask.dataframe as dd
    import pandas

    if context is None:
        return dd.from_pandas(forecaster.predict(horizon), npartitions=1)
    frame = context
    if not isinstance(context, dd.DataFrame):
        frame = dd.from_delayed(_parts(context, "X"))
    names = [forecaster.id, forecaster.time]
    if not {*names} <= {*frame.columns}:
        raise ValueError(f"X has columns {list(frame.columns)}: expected at least {names}.")
    parts = frame.shuffle(forecaster.id, shuffle_method="tasks").to_delayed()
    shared = delayed(forecaster, traverse=False)
    forecasts = [delayed(_forecast)(part, shared, horizon, names) for part in parts]
    dtypes = {**frame.dtypes[names], "forecast": float}
    meta = pandas.DataFrame({name: pandas.Series(dtype=dtype) for name, dtype in dtypes.items()})
    return dd.from_delayed(forecasts, meta=meta, verify_meta=False)


def _parts(frame: Any, name: str) -> list[Delayed]:
    """Return the partitions of a frame."""
    import dask.dataframe as dd

    if isinstance(frame, dd.DataFrame):
        return list(frame.to_delayed())
    if isinstance(frame, (list, tuple)) and frame:
        return list(map(delayed, frame))
    raise ValueError(f"{name} is of type {type(frame).__name__}: expected {PARTITIONS}.")


def _collect(frame: Any, name: str, cluster: Cluster) -> Any:
    """Return all partitions of a frame as one pandas frame, in this process."""
    import pandas

    frames = cluster.compute("read", cluster.task("read", list, _parts(frame, name)))
    for part in frames:
        if not hasattr(part, "iloc"):
            of = type(part).__name__
            raise ValueError(f"{name} has partitions of type {of}: expected {PARTITIONS}.")
    return pandas.concat(frames, ignore_index=True)


def _forecast(rows: Any, forecaster: Forecaster, horizon: int | None, names: list[str]) -> Any:
    if not len(rows):
        return rows[names].assign(forecast=0.0)
    return forecaster.predict(horizon, context=rows)
