"""What the estimators share: validation in scikit-learn's words, and all-or-nothing fits."""

from __future__ import annotations

import math
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
from sklearn import get_config
from sklearn.utils.validation import check_array, validate_data

from eigenecho.errors import UnstableWarning, bad_argument
from eigenecho.series import (
    Array,
    Container,
    as_table,
    check_finite,
    unpack,
    unpack_outputs,
)

LARGE_GROWTH = 1e6


@contextmanager
def all_or_nothing(estimator: Any) -> Iterator[None]:
    """Leave an estimator as it was when fitting it fails or is interrupted."""
    before = dict(vars(estimator))
    try:
        yield
    except BaseException:
        vars(estimator).clear()
        vars(estimator).update(before)
        raise


def check_inputs(estimator: Any, X: Any, *, reset: bool) -> tuple[list[Array], Container]:
    """Finite series (T_i, D_in) with the features that the estimator knows."""
    items, container = unpack(X)
    _check_not_empty(items, container, "X")
    series = []
    for i, item in enumerate(items):
        number = None if container.kind == "single" else i
        table = as_table(item, "X", number)
        rows = validate_data(
            estimator,
            table,
            reset=reset and i == 0,
            dtype=np.dtype(estimator.dtype),
            order="C",
            ensure_all_finite=False,
        )
        _check_finite(rows, table, "X", number)
        series.append(rows)
    return series, container


def check_outputs(
    y: Any, like: Container, dtype: Any, name: str = "y"
) -> tuple[list[Array], Container]:
    """Finite series (T_i, D_out), and how they are held."""
    items, container = unpack_outputs(y, name, like)
    _check_not_empty(items, container, name)
    series = []
    for i, item in enumerate(items):
        number = None if container.kind == "single" else i
        table = as_table(item, name, number)
        rows = check_array(
            table, dtype=np.dtype(dtype), order="C", input_name=name, ensure_all_finite=False
        )
        _check_finite(rows, table, name, number, container.flat)
        series.append(rows)
    columns = {s.shape[1] for s in series}
    if len(columns) > 1:
        raise ValueError(f"{name} has series with different numbers of columns: {sorted(columns)}.")
    return series, container


def _check_finite(*arguments: Any) -> None:
    # scikit-learn's own switch, for those who know their data.
    if not get_config()["assume_finite"]:
        check_finite(*arguments)


def _check_not_empty(items: list[Any], container: Container, name: str) -> None:
    """At least one series, and rows in each of several; of a single one others say it."""
    if not items:
        raise bad_argument(name, "<0 series>", "at least one series (T, D)")
    for i, item in enumerate(items):
        if container.kind != "single" and np.shape(item)[:1] == (0,):
            raise bad_argument(
                name, f"<0 rows in series {i}>", "at least one row in each series",
                "Leave empty ones out.",
            )  # fmt: skip


def warn_if_unstable(radius: float, steps: int) -> None:
    """Warn where the free reservoir grows a lot over the longest series."""
    if radius > 1 and steps * math.log(radius) > math.log(LARGE_GROWTH):
        warnings.warn(
            f"the effective radius is {radius:.6g} > 1: states can grow by "
            f"10^{steps * math.log10(radius):.0f} over {steps} steps. Lower sr or lr.",
            UnstableWarning,
            stacklevel=3,
        )


def warn_if_single_rows(
    series: list[Array], container: Container, name: str = "X", stacklevel: int = 2
) -> None:
    """Warn where every series is one step long, so that there is nothing to remember."""
    if any(len(s) > 1 for s in series):
        return
    if container.kind == "single":
        what = f"{name} is one row of {series[0].shape[1]} columns, one time step"
        remedy = f"A series laid along the columns is {name}.T."
    else:
        what = f"{name} holds {len(series)} series of one row, one time step each"
        remedy = "One series that is listed step by step is " + (
            f"{name}[:, 0]." if container.kind == "stack" else f"np.concatenate({name})."
        )
    warnings.warn(
        f"{what}: no state is carried on. {remedy}", UserWarning, stacklevel=stacklevel + 1
    )
