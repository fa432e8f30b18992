"""Print digests of the results for the same numbers in every container.

    python tools/containers.py > digests.json

Two checkouts read arrays, lists and frames alike if their outputs are equal. Needs pandas, polars
and PyArrow.
"""

from __future__ import annotations

import hashlib
import json
import sys
import warnings

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa

import eigenecho as ee

NAMES = ["a", "größe"]
COUNTS = {"time_constants": 2, "frequencies": 2, "phases": 2, "thresholds": 1, "seed": 0}


def digest(value):
    """Return the type and a digest of a result."""
    if isinstance(value, (list, tuple)):
        return [digest(item) for item in value]
    kind = f"{type(value).__module__.split('.')[0]}.{type(value).__name__}"
    value = value.to_pandas() if hasattr(value, "to_pandas") else value
    if isinstance(value, (pd.DataFrame, pd.Series)):
        return [kind, hashlib.md5(value.to_csv().encode()).hexdigest()]
    array = np.ascontiguousarray(value)
    data = array.tobytes() if array.dtype.kind in "fiub" else str(array.tolist()).encode()
    return [kind, array.shape, hashlib.md5(data).hexdigest()]


def attempt(make):
    """Return the digest of a result, or the error."""
    try:
        return digest(make())
    except Exception as error:
        return [type(error).__name__, str(error)]


def containers(A):
    """Return the rows (T, 2) in every container, valid or not."""
    columns = dict(zip(NAMES, A.T, strict=True))
    frame, some = pd.DataFrame(columns), np.arange(len(A)) == 5
    holes = {name: [None if gap else x for x, gap in zip(column.tolist(), some, strict=True)]
             for name, column in columns.items()}  # fmt: skip
    gaps = {"NaN": np.nan, "inf": np.inf}
    return {
        "array": A, "Fortran": np.asfortranarray(A), "list": A.tolist(),
        "float32": A.astype(np.float32), "ints": A.round().astype(int), "flags": A > 0,
        "objects": A.astype(object), "text": A.astype(str).astype(object),
        "dates": A.astype("M8[s]"), "complex": A + 0j,
        "masked": np.ma.masked_array(A, np.zeros(A.shape, bool)),
        **{name: np.where(some[:, None], gap, A) for name, gap in gaps.items()},
        "pandas": frame, "pandas nullable": frame.convert_dtypes(), "pandas flags": frame > 0,
        "pandas Arrow": frame.convert_dtypes(dtype_backend="pyarrow"),
        "pandas objects": frame.astype(object), "pandas text": frame.assign(a="x"),
        "pandas holes": pd.DataFrame(holes), "pandas NA": pd.DataFrame(holes).convert_dtypes(),
        "polars": pl.DataFrame(columns), "polars holes": pl.DataFrame(holes),
        "polars float32": pl.DataFrame(columns).cast(pl.Float32),
        "polars flags": pl.DataFrame({name: column > 0 for name, column in columns.items()}),
        "PyArrow": pa.table(columns), "PyArrow holes": pa.table(holes),
        "one column": A[:, 0], "Series": frame["a"], "polars Series": pl.Series(A[:, 0]),
        "stack": np.stack([A, 2 * A]), "arrays": [A, 2 * A[:40]], "frames": [frame, frame[:40]],
        "polars frames": [pl.DataFrame(columns), pl.DataFrame(columns)[:40]],
        "no rows": A[:0], "no columns": A[:, :0],
    }  # fmt: skip


def targets(data, Y):
    """Return targets in the number of series of the data."""
    if isinstance(data, list) and hasattr(data[0], "shape"):
        return [Y, Y[:40]]
    return np.stack([Y, Y]) if getattr(data, "ndim", 2) == 3 else Y


def results(data, Y):
    """Return a digest for each estimator and metric."""
    y = targets(data, Y)
    calls = {
        "network": lambda: ee.LinearESN(10, ridge=1e-4, seed=0).fit(data, y).predict(data),
        "states": lambda: ee.DiagonalReservoir(10, seed=0).fit_transform(data),
        "targets": lambda: ee.LinearESN(10, seed=0).fit(y, data).coef_,
        "features": lambda: ee.ReservoirFeatures(**COUNTS).fit(data).transform(data),
        "metric": lambda: ee.metrics.nrmse(data, data),
        "forecast": lambda: ee.Forecaster(2).fit(data).predict(),
    }
    return {name: attempt(call) for name, call in calls.items()}


def panels(A):
    """Return series with dates, in the layouts of frames."""
    days = pd.date_range("2024-01-01", periods=len(A))
    parts = [pd.DataFrame({"unique_id": n, "ds": days, "y": A[:, i]}) for i, n in enumerate("uv")]
    long, wide = pd.concat(parts, ignore_index=True), pd.DataFrame(A, days, NAMES)
    columns = {name: long[name].tolist() for name in long}
    return {
        "long": long, "long polars": pl.DataFrame(columns), "long PyArrow": pa.table(columns),
        "wide": wide, "dated": wide["a"], "periods": wide["a"].to_period("D"),
        "wide polars": pl.DataFrame({"ds": days.to_numpy(), "a": A[:, 0]}),
    }  # fmt: skip


def main():
    """Print all digests as JSON."""
    warnings.simplefilter("ignore")
    A = np.cumsum(np.random.default_rng(0).normal(size=(60, 2)), axis=0)
    digests = {name: results(data, A[1:, :1]) for name, data in containers(A[:-1]).items()}
    for name, data in panels(A).items():
        digests[name] = attempt(lambda data=data: ee.Forecaster(2).fit(data).predict(interval=0.8))
    json.dump(digests, sys.stdout, indent=1, ensure_ascii=False)


if __name__ == "__main__":
    main()
