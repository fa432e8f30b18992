"""Error measures of model reduction: for all inputs, for given rows, or for training rows."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np

from eigenecho.errors import Words, bad_argument
from eigenecho.model.network import Network
from eigenecho.model.predict import run
from eigenecho.model.state_space import StateSpace
from eigenecho.readout import EPS, Gram, Triangle
from eigenecho.reduction import BalancedSystem, TruncatedSystem, balance, error_bound, largest_gain
from eigenecho.rows import SeriesRows, chunk_rows
from eigenecho.series import Container, as_rows, as_series, shifted, unpack_outputs
from eigenecho.training import Evidence, check_lengths
from eigenecho.types import Array

RUN = 16
"""Rounding error of a run, in units of EPS times the amplitude of the modes."""

HELD_OUT = 0.2
"""Fraction of each series, at its end, that is held out and must also meet ``tol``."""

ROWS_FLOOR = 1e-13
"""Rounding error of singular values, relative to the largest, for rows in chunks."""

SUMS_FLOOR = 1e-7
"""Rounding error of singular values, relative to the largest, for sums of products."""

CONSTANT = 1e-11
"""Fraction of the level below which deviations of the targets are rounding errors."""

SUMS_ROUNDING = 64 * EPS
"""Fraction of sums of squares below which their differences are rounding errors."""

TYPICAL_ERROR, TYPICAL_BOUND = 0.25, 3.0
"""Typical ratios of measured errors, and of bounds, to ``BalancedSystem.cut_off``."""


@dataclass(frozen=True, eq=False)
class Weighting:
    """Error measure for reduced systems.

    ``space`` is the system to reduce, and ``balanced`` has its states in order of importance.
    ``least`` and ``expected`` (k + 1,) are a lower limit and an estimate of the errors of orders
    0 … k, so that few orders need to be tried. ``details`` returns the errors of a reduced system
    as certificate fields. ``remedy`` is the advice in the error message if no order meets ``tol``.
    """

    name: str
    space: StateSpace
    balanced: BalancedSystem
    least: Array
    expected: Array
    details: Callable[[TruncatedSystem], dict[str, Any]]
    remedy: str

    def error(self, reduced: TruncatedSystem) -> float:
        """Return the error that is compared with ``tol``."""
        details = self.details(reduced)
        return float(details["promise"] if "promise" in details else details["bound"])

    def in_white_order(self) -> Weighting:
        """Return the measure with the states ordered as in white weighting, without a lower limit.

        This order can give smaller errors if the rows distinguish few states.
        """
        balanced = self.space.balanced
        least, expected = np.zeros(balanced.order + 1), TYPICAL_ERROR * balanced.cut_off
        return replace(self, balanced=balanced, least=least, expected=expected)


def select_weighting(model: Network, data: Any, evidence: Evidence | None) -> Weighting:
    """Return the weighting by ``data``, by the training rows, or by all inputs equally."""
    if data is not None:
        return _weight_rows(model, data)
    if evidence is not None:
        return _weight_training_rows(model, evidence)
    return _weight_all_inputs(model)


def _weight_all_inputs(model: Network) -> Weighting:
    """Weight all inputs equally, so that ‖y − ŷ‖₂ ≤ tol ‖G‖∞ ‖u‖₂."""
    space = StateSpace.of(model)
    system, balanced, frequencies = space.system, space.balanced, space.system.frequencies
    response = system.response(frequencies)
    # This is a lower bound on ‖G‖∞, so that errors relative to it are not underestimated.
    gain = largest_gain(response[:, : space.n_inputs])
    if balanced.order and not gain > 0:
        raise bad_argument(
            "model", Words("a network with zero gain"), "a network whose inputs affect its outputs"
        )
    bounds = balanced.tails[: balanced.order + 1] / (gain or 1.0)

    def details(reduced: TruncatedSystem) -> dict[str, Any]:
        """Return the bound, or the largest difference of gains if rounding makes that larger."""
        bound = balanced.tails[reduced.system.units]
        measured = largest_gain(response - reduced.system.response(frequencies))
        rounding = RUN * EPS * (system.amplitude + reduced.system.amplitude)
        return {"bound": (float(max(bound, measured)) + rounding) / gain}

    remedy = "Rounding errors prevent a smaller network from being more accurate."
    return Weighting("white", space, balanced, bounds, bounds, details, remedy)


def _weight_rows(model: Network, data: Any) -> Weighting:
    """Weight the rows of X or (X, y), where y provides the scale and the feedback.

    Errors are measured on the rows used for the reduction and on held-out rows.
    """
    dtype = model.reservoir.dtype
    series, targets = _read(model, data)
    previous: list[Any] = [None] * len(series)
    if targets is not None and model.closed:
        previous = [shifted(y, model.zero_state().y).astype(dtype) for y in targets]
    space = StateSpace.of(model)
    reservoir, inputs = space.model.reservoir, [model.own_inputs(u) for u in series]
    if targets is None:
        drives = [reservoir.drive(u, None) for u in inputs]
        # The first outputs after a zero state may be far larger than later ones.
        targets = [y[len(y) // 2 :] for y in map(space.outputs, drives)]
    else:
        targets = [model.from_user(y) for y in targets]
        pairs = zip(inputs, targets, strict=True)
        drives = [reservoir.drive(u, shifted(y, 0.0)) for u, y in pairs]
    scale = np.nanstd(np.concatenate(targets), axis=0)
    scale[scale == 0] = 1.0
    space = StateSpace.of(model, scale)
    unit = scale if model.outputs is None else scale * model.outputs.scale

    def predict(network: Network) -> Iterator[Array]:
        """Yield predictions for each series in units of the targets, in the network's precision."""
        for u, before in zip(series, previous, strict=True):
            yield run(network, u.astype(dtype), before)[0] / unit

    outputs = list(predict(model))
    cuts = [len(drive) - round(HELD_OUT * len(drive)) for drive in drives]

    def details(reduced: TruncatedSystem) -> dict[str, Any]:
        """Return the largest RMS error of any output on the rows in use, and on held-out rows."""
        small = space.with_modes(reduced)
        residuals = [y - z for y, z in zip(outputs, predict(small), strict=True)]
        parts = [np.split(e, [cut]) for e, cut in zip(residuals, cuts, strict=True)]
        used, held_out = map(_largest_rms, zip(*parts, strict=True))
        known = None if np.isnan(held_out) else held_out
        promise = float(np.nanmax([used, held_out]))
        return {"promise": promise, "rows_error": used, "held_out_error": known}

    balanced = balance(space.system, partial(_deviations, space, drives, cuts), ROWS_FLOOR)
    # Measured errors are hardly ever below half the projection error of the rows.
    least, expected = 0.5 * balanced.left_out, TYPICAL_ERROR * balanced.cut_off
    remedy = "Pass more rows, or use a larger tol."
    if dtype == np.float32:
        remedy = "Use a larger tol, or fit the network with dtype='float64'."
    return Weighting("rows", space, balanced, least, expected, details, remedy)


def _deviations(space: StateSpace, drives: list[Array], cuts: list[int]) -> Iterator[Array]:
    """Yield deviations from the steady state, in chunks, without the held-out rows."""
    reservoir, rest = space.model.reservoir, space.rest
    count = np.sqrt(sum(cuts))
    for drive, cut in zip(drives, cuts, strict=True):
        if rest is not None:
            yield -rest[None] / count
        rows = SeriesRows(drive[:, :0], [(reservoir, drive)])
        for _, states in rows.chunks(0, cut, chunk_rows(drive, reservoir.units, least=256)):
            yield (states - (0.0 if rest is None else rest)) / count


def _weight_training_rows(model: Network, evidence: Evidence) -> Weighting:
    """Weight the training rows [1, y(t−1), r], whose XᵀX is known.

    Rows of a factor of XᵀX are converted to deviations from the steady state, and the errors are
    upper bounds. The start of a series, −r∞, is added as an extra row. It is counted once, because
    the statistics do not include the number of series. Without a constant column, the statistics do
    not include Σ r either, and the sum of the deviations d = r − r∞ is bounded by
    dᵀd ≤ 2 rᵀr + 2 r∞ᵀr∞.
    """
    statistics = evidence.statistics
    root = np.sqrt(max(evidence.count, 1))
    space = StateSpace.of(model, _target_deviation(model, evidence))
    R, floor = statistics.root(), EPS if isinstance(statistics, Triangle) else SUMS_FLOOR
    rows, rest = R[:, -model.units :] / root, space.rest
    if rest is not None:
        if model.readout_bias:
            deviations = rows - R[:, :1] / root * rest
        else:
            deviations = np.sqrt(2) * np.concatenate([rows, rest[None]])
        rows = np.concatenate([deviations, -rest[None] / root])
    # Without a constant the mean is unknown; the mean of standardised targets is 0.
    is_centred = model.readout_bias or model.outputs is not None
    size = "standard deviation" if is_centred else "root mean square"
    balanced = balance(space.system, lambda: [rows], floor)

    def details(reduced: TruncatedSystem) -> dict[str, Any]:
        """Return a bound on the RMS error of any output, relative to the size of its targets."""
        promise = float(error_bound(space.system, reduced, lambda: [rows]).max())
        return {"promise": promise, "size": size}

    least, expected = balanced.left_out, TYPICAL_BOUND * balanced.cut_off
    remedy = (
        "The training statistics are not accurate enough. Pass rows as data=(X, y), or weight all "
        "inputs equally with model_.reduce."
    )
    return Weighting("statistics", space, balanced, least, expected, details, remedy)


def _target_deviation(model: Network, evidence: Evidence) -> Array:
    """Return the standard deviation of each training target, or its RMS without a constant."""
    statistics, mean = evidence.statistics, np.zeros_like(evidence.weights)
    if model.readout_bias:
        mean[0] = statistics.XtY[0] / evidence.count
    # Residuals from the mean are exact; squares of a level far from zero would hide them.
    variance = np.diag(evidence.scatter_with(mean)) / evidence.count
    level = mean[0] ** 2
    rounding = CONSTANT**2 * level
    if isinstance(statistics, Gram):  # the change from the trained weights to the mean is rounded
        rounding += SUMS_ROUNDING * (evidence.weights[0] - mean[0]) ** 2 * bool(model.readout_bias)
    constant = np.where(level > 0, level, 1.0)
    return np.sqrt(np.where(variance > rounding, variance, constant))


def _largest_rms(parts: Sequence[Array]) -> float:
    """Return the largest RMS of any output; NaN without rows, infinite after an overflow."""
    rows = np.concatenate(parts)
    if not len(rows):
        return float("nan")
    largest = float(np.sqrt(np.mean(rows**2, axis=0)).max())
    return largest if np.isfinite(largest) else float("inf")


def _read(model: Network, data: Any) -> tuple[list[Array], list[Array] | None]:
    """Return the input series and, if given, the target series, in the caller's units."""
    X, y = data if isinstance(data, tuple) and len(data) == 2 else (data, None)
    if X is None and model.D_in:
        got = Words("no inputs")
        raise bad_argument("data", got, "(X, y), because this network has inputs")
    if y is None and (X is None or model.closed):
        raise bad_argument("data", Words("only inputs"), "(X, y), because this network uses y(t−1)")
    inputs: list[Array] = []
    container = Container()
    if X is not None:
        inputs, container = as_series(X, "data", model.D_in, np.float64)
    if not all(map(len, inputs)):
        raise bad_argument(
            "data", Words("a series without rows"), "at least one row in each series"
        )
    if y is None:
        return inputs, None
    items, _ = unpack_outputs(y, "data", container)
    gaps = not model.closed  # targets that drive the network cannot be missing
    outputs = [as_rows(item, "data", model.D_out, np.float64, gaps=gaps) for item in items]
    inputs = inputs or [rows[:, :0] for rows in outputs]
    check_lengths(inputs, outputs, 0)
    empty = np.isnan(np.concatenate(outputs)).all(axis=0)
    if empty.any():
        got = Words(f"only NaN in column {int(np.argmax(empty))} of y")
        raise bad_argument("data", got, "at least one observation in each column")
    return inputs, outputs
