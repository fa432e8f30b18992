"""What the estimators share: validation in scikit-learn's words, and all-or-nothing fits."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import numpy as np
from sklearn import get_config
from sklearn.utils.validation import check_array, validate_data

from eigenecho.arrays import is_tensor, namespace, on_device, side_by_side, to_host
from eigenecho.errors import Shown, UnstableWarning, bad_argument, place, warn
from eigenecho.model.online import check_labels
from eigenecho.series import (
    FILL,
    Container,
    as_stack,
    as_table,
    check_finite,
    check_not_empty,
    column_labels,
    output_container,
    unpack,
    unpack_outputs,
)
from eigenecho.types import Array

TARGETS = ("next", "same", "other")
"""What targets may be of the inputs."""

ROWS = 4096
"""Rows that are looked at."""

NEAR = 0.8
"""Share of the series' own steps that targets may miss the next row by.

Noise added to the inputs alone stays below 0.71, however large it is; targets two rows ahead, or
none at all, are at 1.
"""

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


def check_inputs(
    estimator: Any, X: Any, *, reset: bool, finite: bool = True
) -> tuple[list[Array], Container]:
    """Series (T_i, D_in) with the features that the estimator knows, ``finite`` ones."""
    if on_device(X) and X.ndim == 3 and all(X.shape):
        _check_features(estimator, X[0], reset)
        return as_stack(X, "X", None, np.dtype(estimator.dtype))
    items, container = unpack(X)
    options = {"dtype": np.dtype(estimator.dtype), "order": "C", "ensure_all_finite": False}

    def read(table: Any, i: int) -> Array:
        first = reset and i == 0
        if on_device(table):
            _check_features(estimator, table, first)
            return namespace(table).ascontiguousarray(table, options["dtype"])
        return validate_data(estimator, table, reset=first, **options)

    return _finite(items, container, "X", read, look=finite), container


def check_feature_names(estimator: Any, X: Any) -> None:
    """Raise if frames, one or a list of them, have other column names than in ``fit``."""
    for table in X if isinstance(X, list) else [X]:
        if hasattr(table, "columns"):
            validate_data(estimator, table, reset=False, skip_check_array=True)


def _check_features(estimator: Any, table: Any, reset: bool) -> None:
    """Whether a tensor has the columns of ``fit``; of its values scikit-learn looks at none."""
    plain = not reset and not hasattr(estimator, "feature_names_in_")
    if not plain or table.shape[1] != estimator.n_features_in_:
        validate_data(estimator, table, reset=reset, skip_check_array=True)


def check_outputs(
    y: Any, like: Container, dtype: Any, name: str = "y", D: int | None = None, **gaps: Any
) -> tuple[list[Array], Container]:
    """Finite series (T_i, D_out), and how they are held; with ``D`` columns where that is known.

    ``gaps`` are as in ``series.check_finite``.
    """
    items, container = unpack_outputs(y, name, like)
    options = {"dtype": np.dtype(dtype), "order": "C", "ensure_all_finite": False}

    def read(table: Any, _: int) -> Array:
        if on_device(table):
            return namespace(table).ascontiguousarray(table, options["dtype"])
        return check_array(table, input_name=name, **options)

    series = _finite(items, container, name, read, **gaps)
    columns = {s.shape[1] for s in series}
    if len(columns) > 1:
        raise ValueError(f"{name} has series with different numbers of columns: {sorted(columns)}.")
    if D is not None and columns != {D}:
        raise bad_argument(name, Shown(f"{series[0].shape[1]} columns"), f"{D}, as in fit")
    return series, container


def _finite(
    items: list[Any],
    container: Container,
    name: str,
    read: Callable[[Any, int], Array],
    look: bool = True,
    **gaps: Any,
) -> list[Array]:
    """At least one series, with rows in each of several: tables that scikit-learn has read."""
    check_not_empty(items, name)
    series = []
    for i, item in enumerate(items):
        number = None if container.kind == "single" else i
        if number is not None and np.shape(item)[:1] == (0,):
            raise bad_argument(
                name, Shown(f"0 rows in series {i}"), "at least one row in each series",
                "Leave empty ones out.",
            )  # fmt: skip
        table = as_table(item, name, number)
        if on_device(table) and 0 in table.shape:  # as scikit-learn has it of arrays
            lacks = "row" if not len(table) else "column"
            raise bad_argument(name, Shown(f"0 {lacks}s"), f"at least one {lacks}")
        series.append(read(table, i))
        # scikit-learn's own switch, for those who know their data.
        if look and not get_config()["assume_finite"]:
            check_finite(series[-1], table, name, number, container.flat, **gaps)
    return series


def training_series(
    estimator: Any, X: Any, y: Any, reset: bool = True
) -> tuple[list[Array], list[Array], Container]:
    """Inputs and targets of a fit; without X, those of a generator."""
    if y is None:
        raise ValueError(
            "LinearESN requires y to be passed, but the target y is None. "
            "For next-step prediction: fit(X[:-1], X[1:])."
        )
    D = None if reset else estimator.n_outputs_
    gaps = gaps_of(estimator)
    if X is not None:
        inputs, container = check_inputs(estimator, X, reset=reset)
        outputs, container = check_outputs(y, container, estimator.dtype, D=D, **gaps)
        if reset and "gaps" in gaps:
            _check_observed(outputs, y, container, estimator.warmup)
        both = side_by_side([*inputs, *outputs])
        return both[: len(inputs)], both[len(inputs) :], container
    if not estimator.feedback or (not reset and estimator.n_features_in_):
        raise bad_argument(
            "X", None, "an input series", "A generator without input needs feedback=True."
        )
    outputs, container = check_outputs(y, output_container(y), estimator.dtype, D=D, **gaps)
    estimator.n_features_in_ = 0
    if hasattr(estimator, "feature_names_in_"):
        del estimator.feature_names_in_
    return [s[:, :0] for s in outputs], outputs, container


def output_names(y: Any, known: Sequence[str] | None = None, name: str = "y") -> Any:
    """Return the names of the columns of outputs, a tuple, or None where they have none.

    Frames whose columns are not the ``known`` ones, in their order, are an error.
    """
    for item in y if isinstance(y, (list, tuple)) else [y]:
        labels = column_labels(item)
        check_labels(name, labels, known)
        if known is None and labels and all(isinstance(label, str) for label in labels):
            known = tuple(labels)
    return known


def gaps_of(estimator: Any) -> dict[str, Any]:
    """Whether targets of a fit may be missing, and what to do where they may not."""
    if estimator.missing != "skip":
        return {"remedy": f"{FILL[:-1]}, or leave them out of training: missing='skip'."}
    if estimator.feedback or estimator.output_to_readout:
        which = "feedback" if estimator.feedback else "output_to_readout"
        return {"remedy": f"Fill or drop the gaps first: {which} needs y(t−1) at every row."}
    return {"gaps": True}


def _check_observed(outputs: list[Array], y: Any, container: Container, warmup: int) -> None:
    """Raise where targets are missing at every row that a fit would be trained on."""
    seen = [~to_host(namespace(y).isnan(y[warmup:])) for y in outputs if len(y) > warmup]
    if not seen or (there := np.any([some.any(axis=0) for some in seen], axis=0)).all():
        return
    labels = column_labels(y[0] if container.kind == "list" else y)
    column = (labels or range(len(there)))[int(np.argmin(there))]
    where = "" if container.flat else f" {place(column=column)}"
    raise bad_argument(
        "y",
        Shown(f"nothing but NaN{where} after the warmup"),
        "at least one observation in each column",
        "Leave such columns out.",
    )


def input_series(estimator: Any, X: Any, y_previous: Any = None) -> tuple[list[Array], Container]:
    """Inputs of a fitted estimator; a model without input is driven by ``y_previous`` alone."""
    if X is not None:
        return check_inputs(estimator, X, reset=False)
    features = estimator.n_features_in_
    if features or y_previous is None:
        wanted = "y_previous to drive a model without input"
        wanted = f"a series with {features} features" if features else wanted
        raise bad_argument("X", None, wanted, "forecast(horizon) runs the model freely.")
    before, container = check_outputs(
        y_previous, output_container(y_previous), estimator.dtype, "y_previous"
    )
    return [s[:, :0] for s in before], container


def check_context(estimator: Any, context: Any, names: Sequence[str] | None) -> Any:
    """Series to go on from; ``forecast`` checks the rest, and calls it context.

    ``names`` are those of the outputs, which the context of a model without input has.
    """
    several = on_device(context) and context.ndim == 3
    items = [context[0]] if several and len(context) else unpack(context)[0]
    if estimator.n_features_in_:
        for item in items:
            validate_data(estimator, item, reset=False, skip_check_array=True, ensure_2d=False)
        return context
    output_names(context, names, "context")
    if len(items) == 1 and getattr(context, "ndim", np.ndim(context)) == 1:
        return context.reshape(-1, 1) if on_device(context) else np.reshape(context, (-1, 1))
    return context


def check_out(out: Any, series: list[Any], reservoir: Any) -> Any:
    """A caller's array for the states of one series, or None."""
    if out is None:
        return None
    wanted = (len(series[0]), reservoir.units)
    if on_device(series[0]):
        return _check_tensor_out(out, series, (*series[0].shape[:-1], reservoir.units))
    fits = isinstance(out, np.ndarray) and len(series) == 1 and out.flags.c_contiguous
    fits = fits and out.flags.writeable and (out.shape, out.dtype) == (wanted, reservoir.dtype)
    if not fits:
        got = Shown(f"{getattr(out, 'dtype', type(out).__name__)} {getattr(out, 'shape', '')}")
        what = f"a writeable C-contiguous {reservoir.dtype} array of shape {wanted}"
        raise bad_argument("out", got, f"{what}, for a single series")
    return out


def _check_tensor_out(out: Any, series: list[Any], wanted: tuple[int, ...]) -> Any:
    like = series[0]
    fits = is_tensor(out) and len(series) == 1 and out.is_contiguous()
    if not fits or (out.shape, out.dtype, out.device) != (wanted, like.dtype, like.device):
        got = Shown(f"{getattr(out, 'dtype', type(out).__name__)} {getattr(out, 'shape', '')}")
        what = f"a contiguous {like.dtype} tensor of shape {wanted} on {like.device}"
        raise bad_argument("out", got, what)
    return out


def warn_if_unstable(radius: float, steps: int) -> None:
    """Warn where the free reservoir grows a lot over the longest series."""
    if radius > 1 and steps * math.log(radius) > math.log(LARGE_GROWTH):
        warn(
            f"the effective radius is {radius:.6g} > 1: states can grow by "
            f"10^{steps * math.log10(radius):.0f} over {steps} steps. Lower sr or lr.",
            UnstableWarning,
        )


def warn_if_single_rows(series: list[Array], container: Container, name: str = "X") -> None:
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
    warn(f"{what}: no state is carried on. {remedy}", UserWarning)


def target_of(inputs: Sequence[Array], outputs: Sequence[Array]) -> str | None:
    """What the targets are of the first D_out input columns: ``next``, ``same`` or ``other`` row.

        y(t) = u(t+1),   y(t) = u(t),   neither

    ``next`` holds up to noise, in the typical row (jumps between segments are few), and in every
    column. None where there is nothing to compare: other columns, or a single row.
    """
    D = outputs[0].shape[1]
    if inputs[0].shape[1] < D:
        return None
    pieces = list(_first_rows(inputs, outputs, D))
    if not pieces:
        return None
    parts = zip(*pieces, strict=True)
    now, ahead, target = (np.concatenate(part).astype(np.float64) for part in parts)
    there = ~np.isnan(target).any(axis=1)
    if not there.any():
        return None
    now, ahead, target = now[there], ahead[there], target[there]
    if np.array_equal(target, ahead):
        return "next"
    if np.array_equal(target, now):
        return "same"
    miss = np.median(np.abs(target - ahead), axis=0)
    step = np.median(np.abs(ahead - now), axis=0)
    spread = np.median(np.abs(target - np.median(target, axis=0)), axis=0)
    rounding = 1e-6 * np.abs(target).max(axis=0)
    near = np.maximum(np.minimum(NEAR * step, 0.5 * spread), rounding)
    return "next" if np.all(miss <= near) else "other"


def merged(old: str | None, new: str | None) -> str | None:
    """What targets are of which some were ``old`` and some are ``new``."""
    if old is None or new is None or old == new:
        return old or new
    return "other"


def check_target(target: str | None) -> None:
    """Raise or warn where a forecast would feed back what is no next step."""
    remedy = "Train it on its own next step: fit(series[:-1], series[1:])."
    first = "forecast feeds every output back as the next input, but this model was trained on"
    if target == "same":
        raise ValueError(f"{first} y = X, the row that it already sees. {remedy}")
    if target == "other":
        warn(
            f"{first} targets that are not the next row of the first columns of X: the forecast "
            f"is hardly one. {remedy} Columns of X that are known ahead come after the series "
            "itself.",
            UserWarning,
        )


def _first_rows(
    inputs: Sequence[Array], outputs: Sequence[Array], D: int
) -> Iterator[tuple[Array, Array, Array]]:
    """Rows u(t), u(t+1) and y(t) of each series, as many as there are to look at."""
    left = ROWS
    for u, y in zip(inputs, outputs, strict=True):
        rows = min(left, len(u) - 1)
        if rows > 0:
            yield to_host((u[:rows, :D], u[1 : rows + 1, :D], y[:rows]))
            left -= rows
