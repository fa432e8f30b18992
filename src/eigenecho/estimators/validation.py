"""Validation functions that are shared by the estimators."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import numpy as np
from sklearn import get_config
from sklearn.utils.validation import validate_data

from eigenecho.arrays import is_on_device, is_tensor, namespace, to_common_device, to_host
from eigenecho.errors import (
    FILL,
    UnstableWarning,
    Words,
    bad_argument,
    counted,
    object_of,
    place,
    warn,
)
from eigenecho.model.online import check_labels
from eigenecho.series import (
    Container,
    as_stack,
    check_not_empty,
    is_stack,
    output_container,
    split_stack,
    unpack,
    unpack_outputs,
)
from eigenecho.tables import as_table, check_finite, column_labels
from eigenecho.training import Settings
from eigenecho.types import Array

LARGEST_WEIGHT = 1e100
"""Largest weight of a row; larger ones could overflow when they are multiplied by squares."""

TARGETS = ("next", "same", "other")
"""Kinds of targets: the next row of the inputs, the same row, or any other values."""

ROWS = 4096
"""Maximum number of rows that are compared to determine the kind of the targets."""

JUDGED, LONG = 40, 100
"""Number of series whose targets are also judged alone, and the smallest number of their rows."""

NEAR = 0.8
"""Maximum median difference between targets and next rows, relative to the steps of the series.

The ratio is at most 0.71 if noise was added to the inputs alone, and 1 for unrelated targets and
for targets two rows ahead.
"""

LARGE_GROWTH = 1e6
"""Growth factor of the states over a series above which a warning is issued."""


@contextmanager
def all_or_nothing(estimator: Any) -> Iterator[None]:
    """Restore an estimator if its fit fails or is interrupted."""
    before = dict(vars(estimator))
    try:
        yield
    except BaseException:
        vars(estimator).clear()
        vars(estimator).update(before)
        raise


def check_inputs(
    X: Any, dtype: Any, estimator: Any = None, *, reset: bool = False, finite: bool = True
) -> tuple[list[Array], Container]:
    """Return series (T_i, D_in) and their container.

    The columns must match those passed to ``fit``. With ``reset``, their number and names are
    stored in the ``estimator`` instead.
    """
    if is_stack(X) and all(X.shape):
        _check_features(estimator, X[0], reset)
        checked = finite and not get_config()["assume_finite"]
        return split_stack(as_stack(X, "X", None, np.dtype(dtype), finite=checked))
    items, container = unpack(X)
    return _read(items, container, "X", dtype, estimator, reset=reset, finite=finite), container


def check_outputs(
    y: Any, like: Container, dtype: Any, name: str = "y", D: int | None = None, **gaps: Any
) -> tuple[list[Array], Container]:
    """Return finite series (T_i, D_out) and their container.

    ``D`` is the expected number of columns, if it is known, and ``gaps`` contains options of
    ``series.check_finite``.
    """
    items, container = unpack_outputs(y, name, like)
    series = _read(items, container, name, dtype, **gaps)
    columns = {s.shape[1] for s in series}
    if len(columns) > 1:
        got = Words(f"series with different numbers of columns, {sorted(columns)}")
        raise bad_argument(name, got, "the same number in all series")
    if D is not None and columns != {D}:
        expected = f"{counted(D, 'column')}, as passed to fit"
        raise bad_argument(name, Words(counted(series[0].shape[1], "column")), expected)
    return series, container


def _read(
    items: list[Any],
    container: Container,
    name: str,
    dtype: Any,
    estimator: Any = None,
    *,
    reset: bool = False,
    finite: bool = True,
    **gaps: Any,
) -> list[Array]:
    """Convert series to contiguous arrays, and raise an error if any of them is empty."""
    check_not_empty(items, name)
    series = []
    for i, item in enumerate(items):
        number = None if container.kind == "single" else i
        if number is not None and np.shape(item)[:1] == (0,):
            got = Words(f"0 rows in series {i}")
            raise bad_argument(name, got, "at least one row in each series")
        table = as_table(item, name, number)
        shape = tuple(table.values.shape)
        if 0 in shape:  # in the words of scikit-learn
            lacks = "sample" if not shape[0] else "feature"
            raise ValueError(
                f"{name} has 0 {lacks}(s) (shape={shape}) while a minimum of 1 is required."
            )
        _check_features(estimator, item if table.labels else table.values, reset and i == 0)
        rows = table.as_rows(dtype)
        if finite and not get_config()["assume_finite"]:
            check_finite(rows, table, name, number, container.flat, **gaps)
        series.append(rows)
    return series


def _check_features(estimator: Any, table: Any, reset: bool) -> None:
    """Raise an error if the number or names of columns differ from those passed to ``fit``.

    With ``reset``, they are stored in the estimator instead. Without an estimator, nothing is
    checked.
    """
    if estimator is None:
        return
    labels = column_labels(table)
    if labels is not None and len(set(labels)) < len(labels):
        twice = next(label for label in labels if labels.count(label) > 1)
        raise bad_argument("X", Words(f"two columns named {twice!r}"), "unique column names")
    labelled = hasattr(table, "columns") or hasattr(estimator, "feature_names_in_")
    # The scikit-learn check is skipped if possible: it takes longer than running a short series.
    if reset or labelled or table.shape[1] != estimator.n_features_in_:
        validate_data(estimator, table, reset=reset, skip_check_array=True)


def check_feature_names(estimator: Any, X: Any) -> None:
    """Raise an error if the column names of frames differ from those passed to ``fit``."""
    for table in X if isinstance(X, list) else [X]:
        if hasattr(table, "columns"):
            _check_features(estimator, table, reset=False)


def training_series(
    settings: Settings, X: Any, y: Any, estimator: Any = None, *, reset: bool = True
) -> tuple[list[Array], list[Array], Container]:
    """Return the inputs and targets of a fit, and the container of the targets.

    ``X`` may be None for a generator with feedback.
    """
    if y is None:
        raise ValueError(
            "LinearESN requires y to be passed, but the target y is None. "
            "For next-step prediction, use fit(X[:-1], X[1:])."
        )
    dtype, gaps = settings.recipe.dtype, gap_options(settings)
    D = None if reset else estimator.n_outputs_
    if X is not None:
        inputs, container = check_inputs(X, dtype, estimator, reset=reset)
        outputs, container = check_outputs(y, container, dtype, D=D, **gaps)
        if reset and "gaps" in gaps:
            _check_observed(outputs, y, container, settings.warmup)
        both = to_common_device([*inputs, *outputs])
        return both[: len(inputs)], both[len(inputs) :], container
    if not settings.feedback or (not reset and estimator.n_features_in_):
        remedy = "A model without inputs requires feedback=True."
        raise bad_argument("X", None, "an input series", remedy)
    outputs, container = check_outputs(y, output_container(y), dtype, D=D, **gaps)
    if estimator is not None:
        estimator.n_features_in_ = 0
        vars(estimator).pop("feature_names_in_", None)
    return [s[:, :0] for s in outputs], outputs, container


def row_weights(
    sample_weight: Any, targets: Sequence[Array], container: Container
) -> list[Array] | None:
    """Return the weights (T,) of the rows of each series, or None."""
    if sample_weight is None:
        return None
    weights, _ = check_outputs(to_host(sample_weight), container, np.float64, "sample_weight")
    if [w.shape for w in weights] != [(len(rows), 1) for rows in targets]:
        got = Words(f"shapes {[w.shape for w in weights]}")
        raise bad_argument("sample_weight", got, "one weight for each row of y")
    if any(((w < 0) | (w > LARGEST_WEIGHT)).any() for w in weights):
        expected = f"weights between 0 and {LARGEST_WEIGHT:g}"
        raise bad_argument("sample_weight", Words("numbers out of range"), expected)
    return [w[:, 0] for w in weights]


def output_names(
    y: Any, known: Sequence[str] | None = None, name: str = "y", *, series: bool = False
) -> Any:
    """Return the names of the output columns as a tuple, or None if they have no names.

    An error is raised if the columns of a frame differ from the ``known`` names. With ``series``,
    the name of a pandas Series is also used.
    """
    for item in y if isinstance(y, (list, tuple)) else [y]:
        labels = column_labels(item)
        if labels is None and series and isinstance(getattr(item, "name", None), str):
            labels = [item.name]
        if labels and known is not None:
            check_labels(name, labels, known)
        elif labels and all(isinstance(label, str) for label in labels):
            known = tuple(labels)
    return known


def gap_options(settings: Settings) -> dict[str, Any]:
    """Return the options of ``series.check_finite`` that apply to targets with missing values."""
    if settings.missing != "skip":
        return {"remedy": f"{FILL[:-1]}, or use missing='skip' to exclude them from training."}
    if settings.feedback or settings.output_to_readout:
        return {"remedy": f"{FILL[:-1]}; feedback and output_to_readout require every y(t−1)."}
    return {"gaps": True}


def _check_observed(outputs: list[Array], y: Any, container: Container, warmup: int) -> None:
    """Raise an error if a target column has no observation after the warmup."""
    parts = [~to_host(namespace(y).isnan(y[warmup:])) for y in outputs if len(y) > warmup]
    observed: Array = np.any(np.concatenate(parts), axis=0) if parts else np.array([True])
    if observed.all():
        return
    labels = column_labels(y[0] if container.kind == "list" else y)
    column = (labels or range(len(observed)))[int(np.argmin(observed))]
    where = "" if container.flat else f" {place(column=column)}"
    got = Words(f"only NaN{where} after the warmup")
    raise bad_argument("y", got, "at least one observation in each column")


def input_series(estimator: Any, X: Any, y_previous: Any = None) -> tuple[list[Array], Container]:
    """Return the inputs of a fitted estimator, which are empty for a model without inputs."""
    dtype = estimator.model_.reservoir.dtype
    if X is not None:
        return check_inputs(X, dtype, estimator)
    if features := estimator.n_features_in_:
        raise bad_argument("X", None, f"a series with {counted(features, 'feature')}")
    if y_previous is None:
        raise ValueError(
            "A model without inputs requires y_previous. Use forecast(horizon) to run it on its "
            "own outputs."
        )
    container = output_container(y_previous)
    before, container = check_outputs(y_previous, container, dtype, "y_previous")
    return [s[:, :0] for s in before], container


def check_context(estimator: Any, context: Any, names: Sequence[str] | None) -> Any:
    """Check the columns of a context and return it; ``forecast`` checks the rest.

    The context of a model without input has the columns of the outputs, called ``names``.
    """
    several = is_on_device(context) and context.ndim == 3
    items = [context[0]] if several and len(context) else unpack(context)[0]
    if estimator.n_features_in_:
        for item in items:
            validate_data(estimator, item, reset=False, skip_check_array=True, ensure_2d=False)
        return context
    output_names(context, names, "context")
    if len(items) == 1 and getattr(context, "ndim", np.ndim(context)) == 1:
        return context.reshape(-1, 1) if is_on_device(context) else np.reshape(context, (-1, 1))
    return context


def check_output_format(estimator: Any, container: Container) -> None:
    """Raise if ``set_output`` asks for a frame, but there are several series."""
    configured = getattr(estimator, "_sklearn_output_config", {})
    kind = configured.get("transform", get_config()["transform_output"])
    if kind != "default" and container.kind != "single":
        expected = f"a single series, because set_output(transform={kind!r}) is used"
        raise bad_argument("X", Words("several series"), expected)


def check_out(out: Any, series: list[Any], reservoir: Any) -> Any:
    """Return ``out`` after checking that it can contain the states of a single series, or None."""
    if out is None:
        return None
    u = series[0]
    shape, dtype = (*u.shape[:-1], reservoir.state_columns), reservoir.dtype
    if is_on_device(u):
        dtype = u.dtype
        fits = is_tensor(out) and out.is_contiguous() and out.device == u.device
    else:
        fits = isinstance(out, np.ndarray) and out.flags.c_contiguous and out.flags.writeable
    if not fits or len(series) != 1 or (tuple(out.shape), out.dtype) != (shape, dtype):
        is_array = hasattr(out, "shape") and hasattr(out, "dtype")
        got = f"{out.dtype}, shape {tuple(out.shape)}" if is_array else object_of(out)
        expected = f"a writeable contiguous {dtype} array of shape {shape} on the device of X"
        raise bad_argument("out", Words(got), expected, "Pass out only for a single series.")
    return out


def warn_if_unstable(radius: float, steps: int) -> None:
    """Warn if the states of a reservoir can grow by a large factor within a number of steps."""
    if radius > 1 and steps * math.log(radius) > math.log(LARGE_GROWTH):
        warn(
            f"The effective radius, {radius:.6g}, exceeds 1, so states can grow by a factor of "
            f"10^{steps * math.log10(radius):.0f} over {steps} steps. Lower sr or lr.",
            UnstableWarning,
        )


def warn_if_single_rows(lengths: Sequence[int], name: str = "X") -> None:
    """Warn if every series has only one row, most likely because it is transposed."""
    if all(rows == 1 for rows in lengths):
        remedy = f"If its columns are time steps, pass {name}.T."
        if len(lengths) > 1:
            remedy = f"If the rows are steps of one series, pass np.concatenate({name})."
        warn(f"{name} has a single time step per series. {remedy}", UserWarning)


def target_kind(inputs: Sequence[Array], outputs: Sequence[Array]) -> str | None:
    """Return the kind of the targets, relative to the first D_out input columns.

        "next": y(t) = u(t+1),   "same": y(t) = u(t),   "other": neither

    Medians are compared, so "next" tolerates noise, and jumps in a few rows. Of several series, the
    first long ones are also compared alone. The result is None if there are fewer input columns
    than outputs, or only a single row.
    """
    kind = _pooled_kind(inputs, outputs)
    first = list(zip(inputs, outputs, strict=True))[:JUDGED] if len(inputs) > 1 else []
    for u, y in first:
        if len(u) >= LONG:
            kind = merge_kinds(kind, _pooled_kind([u], [y]))
    return kind


def _pooled_kind(inputs: Sequence[Array], outputs: Sequence[Array]) -> str | None:
    """Return the kind of the targets over the first rows of all series together."""
    D = outputs[0].shape[1]
    if inputs[0].shape[1] < D:
        return None
    pieces, left = [], ROWS
    for u, y in zip(inputs, outputs, strict=True):
        rows = min(left, len(u) - 1)
        if rows > 0:
            pieces.append(to_host((u[:rows, :D], u[1 : rows + 1, :D], y[:rows])))
            left -= rows
    if not pieces:
        return None
    parts = zip(*pieces, strict=True)
    now, ahead, target = (np.concatenate(part).astype(np.float64) for part in parts)
    observed = ~np.isnan(target).any(axis=1)
    if not observed.any():
        return None
    now, ahead, target = now[observed], ahead[observed], target[observed]
    if np.array_equal(target, ahead):
        return "next"
    if np.array_equal(target, now):
        return "same"
    difference = np.median(np.abs(target - ahead), axis=0)
    step = np.median(np.abs(ahead - now), axis=0)
    spread = np.median(np.abs(target - np.median(target, axis=0)), axis=0)
    rounding = 1e-6 * np.abs(target).max(axis=0)
    near = np.maximum(np.minimum(NEAR * step, 0.5 * spread), rounding)
    return "next" if np.all(difference <= near) else "other"


def merge_kinds(old: str | None, new: str | None) -> str | None:
    """Return the common kind of ``old`` and ``new`` targets, or "other" if they differ."""
    if old is None or new is None or old == new:
        return old or new
    return "other"


def check_target(kind: str | None, user: str = "forecast") -> None:
    """Raise an error or warn if closed loops are impossible, because a model has other targets.

    ``user`` is the method or option that closes the loop.
    """
    remedy = "To predict the next row, use fit(series[:-1], series[1:])."
    if kind == "same":
        raise ValueError(
            f"{user} requires a model that predicts the next row, but y equals X in the training "
            f"rows. {remedy}"
        )
    if kind == "other":
        warn(
            f"{user} uses each output as the next input, but the targets are not the first columns "
            f"of X, one row ahead. {remedy} In X, columns that are known in advance must come "
            "after the series itself.",
            UserWarning,
        )
