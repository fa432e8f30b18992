"""Error measures of model reduction: for all inputs, for given rows, or for training rows.

A weighting has a ``space`` (the system to reduce) and ``balanced`` states in order of importance.
``error`` of a smaller system is compared with ``tol``. ``least`` and ``expected`` (k + 1,) are
estimates for the orders 0 … k, used to try few of them: a lower limit, and errors that fall as the
true ones probably do. ``details`` are fields of the certificate.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from eigenecho.arrays import device_of, to_host
from eigenecho.errors import Words, bad_argument
from eigenecho.model.state_space import StateSpace
from eigenecho.readout import EPS
from eigenecho.reduction import BalancedSystem, TruncatedSystem, balance, largest_gain, promised
from eigenecho.rows import SeriesRows, chunk_rows
from eigenecho.series import Container, as_rows, as_series, shifted, unpack_outputs
from eigenecho.training import GroupEvidence, check_lengths
from eigenecho.types import Array

if TYPE_CHECKING:
    from eigenecho.model.model import LinearModel

RUN = 16
"""Rounding error of a run, in units of EPS times the amplitude of the modes."""

HELD_OUT = 0.2
"""Fraction of rows at the end of each series that is held out, and must meet ``tol`` as well."""

ROWS_FLOOR = 1e-13
"""Fraction of the largest singular value that is rounding error, for rows in chunks."""

SUMS_FLOOR = 1e-7
"""Fraction of the largest singular value that is rounding error, for sums of products."""

CONSTANT = 1e-11
"""Fraction of the level below which a deviation of the targets is rounding error."""

SUMMED = 64 * EPS
"""Fraction of squares below which the difference of their sums is rounding error."""

OFTEN, CAREFUL = 0.25, 3.0
"""Typical ratio of measured errors, and of bounds, to the root of the truncated squared values."""


@dataclass(frozen=True, eq=False)
class WhiteWeighting:
    """All inputs count equally: ‖y − ŷ‖₂ ≤ tol ‖G‖∞ ‖u‖₂."""

    space: StateSpace
    name = "white"
    remedy = "It is below the rounding error of any smaller network."

    @property
    def balanced(self) -> BalancedSystem:
        """The states in order of their Hankel singular values."""
        return self.space.balanced

    @cached_property
    def _response(self) -> tuple[Array, Array]:
        frequencies = self.space.system.frequencies
        return frequencies, self.space.system.response(frequencies)

    @cached_property
    def _gain(self) -> float:
        """A lower bound of ‖G‖∞, so that errors relative to it are not underestimated."""
        gain = largest_gain(self._response[1][:, : self.space.n_inputs])
        if not gain > 0:
            raise bad_argument("model", Words("zero gain"), "a network that its inputs affect")
        return gain

    @property
    def least(self) -> Array:
        """The bounds."""
        return self.balanced.tails[: self.balanced.order + 1] / self._gain

    expected = least

    def error(self, reduced: TruncatedSystem) -> float:
        """Return the bound, or the largest difference of gains if rounding makes it larger."""
        frequencies, response = self._response
        bound = self.balanced.tails[reduced.system.units]
        measured = largest_gain(response - reduced.system.response(frequencies))
        rounding = RUN * EPS * (self.space.system.amplitude + reduced.system.amplitude)
        return (float(max(bound, measured)) + rounding) / self._gain

    def details(self, reduced: TruncatedSystem) -> dict[str, Any]:
        """Return the bound."""
        return {"bound": self.error(reduced)}


@dataclass(frozen=True, eq=False)
class RowWeighting:
    """Given rows count, and errors are measured on them.

    Drives (T_i, D) and the outputs of the network, (T_i, D_out), over their scale. With
    ``white_order`` the states are ordered as for all inputs, which can give smaller errors if the
    rows distinguish few states.
    """

    space: StateSpace
    drives: Sequence[Array]
    outputs: Sequence[Array]
    white_order: bool = False
    name = "rows"
    remedy = "Give more rows, or a larger tol."

    @classmethod
    def of(cls, model: LinearModel, data: Any) -> RowWeighting:
        """Return the weighting of X, or of (X, y), where y sets the scale and drives feedback."""
        inputs, targets = _read(model, data)
        space = StateSpace.of(model)
        reservoir, inputs = space.model.reservoir, [model.own_inputs(u) for u in inputs]
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
        return cls(space, drives, [space.outputs(drive) / scale for drive in drives])

    @property
    def _cuts(self) -> list[int]:
        return [len(drive) - round(HELD_OUT * len(drive)) for drive in self.drives]

    def _deviations(self) -> Iterator[Array]:
        """Yield deviations from the steady state, in chunks, without the held-out rows."""
        reservoir, rest = self.space.model.reservoir, self.space.rest
        count = np.sqrt(sum(self._cuts))
        for drive, cut in zip(self.drives, self._cuts, strict=True):
            if rest is not None:
                yield -rest[None] / count
            rows = SeriesRows(drive[:, :0], [(reservoir, drive)])
            for _, states in rows.chunks(0, cut, chunk_rows(drive, reservoir.units, least=256)):
                yield (states - (0.0 if rest is None else rest)) / count

    @cached_property
    def balanced(self) -> BalancedSystem:
        """The states in order of importance for these rows."""
        if self.white_order:
            return self.space.balanced
        return balance(self.space.system, self._deviations, ROWS_FLOOR)

    @property
    def least(self) -> Array:
        """Half the error of projections of the rows, which runs hardly ever fall below."""
        if self.white_order:
            return np.zeros(self.balanced.order + 1)
        return 0.5 * self.balanced.left_out

    @property
    def expected(self) -> Array:
        """A typical fraction of the truncated singular values."""
        return OFTEN * self.balanced.cut_off

    def error(self, reduced: TruncatedSystem) -> float:
        """Return the larger of the errors on the rows used and on those held out."""
        return float(np.nanmax(self._errors(reduced)))

    def _errors(self, reduced: TruncatedSystem) -> tuple[float, float]:
        """Return the largest RMS error of any output on the rows used, and on those held out."""
        small = StateSpace.of(self.space.with_modes(reduced))
        used, held_out = [], []
        for drive, y, cut in zip(self.drives, self.outputs, self._cuts, strict=True):
            residuals = small.outputs(drive) / self.space.scale - y
            used.append(residuals[:cut])
            held_out.append(residuals[cut:])
        return _largest_rms(used), _largest_rms(held_out)

    def details(self, reduced: TruncatedSystem) -> dict[str, Any]:
        """Return the measured errors."""
        rows_error, held_out = self._errors(reduced)
        known = None if np.isnan(held_out) else held_out
        promise = float(np.nanmax([rows_error, held_out]))
        return {"promise": promise, "rows_error": rows_error, "held_out_error": known}


@dataclass(frozen=True, eq=False)
class StatisticsWeighting:
    """Training rows count, of which XᵀX is known; ``rows`` is a factor of it. Errors are bounds."""

    space: StateSpace
    rows: Array
    floor: float
    size: str = "deviation"
    name = "statistics"
    remedy = (
        "The training statistics are not accurate enough: give rows as data=(X, y), or weight all "
        "inputs equally with model_.reduce."
    )

    @classmethod
    def of(cls, model: LinearModel, evidence: GroupEvidence) -> StatisticsWeighting:
        """Return the weighting of the rows [1, y(t−1), r], as deviations from the steady state.

        The start of a series, −r∞, is one more row. It counts once, because statistics do not tell
        how many series there were. Without a constant column they do not hold Σ r either, and
        dᵀd ≤ 2 rᵀr + 2 r∞ᵀr∞ bounds the sum of the deviations d = r − r∞.
        """
        statistics = evidence.statistics
        root = np.sqrt(max(statistics.rows, 1))
        space = StateSpace.of(model, _target_deviation(model, evidence))
        R, floor = statistics.root(), EPS if statistics.is_exact else SUMS_FLOOR
        rows, rest = R[:, -model.units :] / root, space.rest
        if rest is not None:
            if model.readout_bias:
                deviations = rows - R[:, :1] / root * rest
            else:
                deviations = np.sqrt(2) * np.concatenate([rows, rest[None]])
            rows = np.concatenate([deviations, -rest[None] / root])
        # Without a constant the mean is unknown; the mean of standardised targets is 0.
        is_centred = model.readout_bias or model.outputs is not None
        return cls(space, rows, floor, "deviation" if is_centred else "root mean square")

    @cached_property
    def balanced(self) -> BalancedSystem:
        """The states in order of importance for these rows."""
        return balance(self.space.system, lambda: [self.rows], self.floor)

    @property
    def least(self) -> Array:
        """The error of projections of the rows."""
        return self.balanced.left_out

    @property
    def expected(self) -> Array:
        """A typical multiple of the truncated singular values."""
        return CAREFUL * self.balanced.cut_off

    def error(self, reduced: TruncatedSystem) -> float:
        """Return a bound on the RMS error of any output, relative to the size of its targets."""
        return float(promised(self.balanced, reduced, lambda: [self.rows]).max())

    def details(self, reduced: TruncatedSystem) -> dict[str, Any]:
        """Return the bound for these rows."""
        return {"promise": self.error(reduced), "size": self.size}


Weighting = WhiteWeighting | RowWeighting | StatisticsWeighting


def select_weighting(model: LinearModel, data: Any, evidence: GroupEvidence | None) -> Weighting:
    """Return the weighting of given rows, else of the training rows, else of all inputs."""
    if data is not None:
        return RowWeighting.of(model, data)
    if evidence is not None:
        return StatisticsWeighting.of(model, evidence)
    return WhiteWeighting(StateSpace.of(model))


def _target_deviation(model: LinearModel, evidence: GroupEvidence) -> Array:
    """Return the deviation of the training targets, (D_out,); about zero without a constant."""
    statistics, mean = evidence.statistics, np.zeros_like(evidence.weights)
    if model.readout_bias:
        mean[0] = statistics.XtY[0] / statistics.rows
    # Residuals of the mean are exact; squares of a level far from zero would hide them.
    variance = np.diag(evidence.scatter_with(mean)) / statistics.rows
    level = mean[0] ** 2
    rounding = CONSTANT**2 * level
    if not statistics.is_exact:  # sums over the change from the trained weights to the mean
        rounding += SUMMED * (evidence.weights[0] - mean[0]) ** 2 * bool(model.readout_bias)
    constant = np.where(level > 0, level, 1.0)
    return np.sqrt(np.where(variance > rounding, variance, constant))


def _largest_rms(parts: Sequence[Array]) -> float:
    """Return the largest RMS of any output: NaN without rows, infinite after an overflow."""
    rows = np.concatenate(parts)
    if not len(rows):
        return float("nan")
    largest = float(np.sqrt(np.mean(rows**2, axis=0)).max())
    return largest if np.isfinite(largest) else float("inf")


def _read(model: LinearModel, data: Any) -> tuple[list[Array], list[Array] | None]:
    """Return series of inputs and, if they are given, of targets, in the caller's units."""
    device_of({"data": data})  # raises for unsupported tensors
    data = to_host(data)
    X, y = data if isinstance(data, tuple) and len(data) == 2 else (data, None)
    if X is None and model.D_in:
        got = Words("no inputs")
        raise bad_argument("data", got, f"(X, y): {model.D_in} columns drive this network")
    if y is None and (X is None or model.closed):
        raise bad_argument("data", Words("inputs alone"), "(X, y): y(t−1) drives this network")
    inputs: list[Array] = []
    container = Container()
    if X is not None:
        inputs, container = as_series(X, "data", model.D_in, np.float64)
    if not all(map(len, inputs)):
        raise bad_argument("data", Words("a series without rows"), "rows in each series")
    if y is None:
        return inputs, None
    items, _ = unpack_outputs(y, "data", container)
    gaps = not model.closed  # targets that drive the network cannot be missing
    outputs = [as_rows(item, "data", model.D_out, np.float64, gaps=gaps) for item in items]
    inputs = inputs or [rows[:, :0] for rows in outputs]
    check_lengths(inputs, outputs, 0)
    empty = np.isnan(np.concatenate(outputs)).all(axis=0)
    if empty.any():
        got = Words(f"nothing but NaN in column {int(np.argmax(empty))} of y")
        raise bad_argument("data", got, "at least one observation in each column")
    return inputs, outputs
