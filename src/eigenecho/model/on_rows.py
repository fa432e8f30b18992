"""Networks made smaller for rows that are there to run."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from eigenecho.arrays import to_host
from eigenecho.errors import Shown, bad_argument
from eigenecho.model.plant import Plant
from eigenecho.reduction import Balanced, Smaller, balance
from eigenecho.rows import SeriesRows, chunk_rows
from eigenecho.series import Container, as_rows, as_series, shifted, unpack_outputs
from eigenecho.tensors import device_of
from eigenecho.types import Array

if TYPE_CHECKING:
    from eigenecho.model.model import LinearModel

HELD_OUT = 0.2
"""Share of rows, at the end of each series, that is not weighed but has to keep to the promise."""

FLOOR = 1e-13
"""Share of the largest singular value that is rounding, of rows that come in pieces."""

OFTEN = 0.25
"""Errors over the root of the squares of the values that are cut, as they often are."""


@dataclass(frozen=True, eq=False)
class OnRows:
    """Rows that are there to run: the error is measured.

    Drives (T_i, D) and the outputs of the network, (T_i, D_out), over their scale. States that are
    sorted as if all inputs were ``alike`` can come nearer, where the rows tell few of them apart.
    """

    plant: Plant
    drives: Sequence[Array]
    outputs: Sequence[Array]
    alike: bool = False
    name = "rows"
    remedy = "Give more rows, or a larger tol."

    @classmethod
    def of(cls, model: LinearModel, data: Any) -> OnRows:
        """Of X, or (X, y): y is what the deviation is taken of, and drives feedback."""
        inputs, targets = _read(model, data)
        if not all(map(len, inputs)):
            raise bad_argument("data", Shown("a series without rows"), "rows in each series")
        plant = Plant.of(model)
        inputs = [model.own_inputs(u) for u in inputs]
        if targets is None:
            drives = [plant.model.reservoir.drive(u, None) for u in inputs]
            outputs = [plant.outputs(drive) for drive in drives]
            # A network that begins from rest may swing far out before it is at work.
            targets = [one[len(one) // 2 :] for one in outputs]
        else:
            targets = [model.from_user(y) for y in targets]
            each = zip(inputs, targets, strict=True)
            drives = [plant.model.reservoir.drive(u, shifted(y, 0.0)) for u, y in each]
        scale = _deviation(np.concatenate(targets))
        plant = Plant.of(model, scale)
        return cls(plant, drives, [plant.outputs(drive) / scale for drive in drives])

    @property
    def _cuts(self) -> list[int]:
        return [len(drive) - round(HELD_OUT * len(drive)) for drive in self.drives]

    def _pieces(self) -> Iterator[Array]:
        """Deviations from rest over the rows that are weighed, and before the first of a series."""
        reservoir = self.plant.model.reservoir
        rest = 0.0 if self.plant.rest is None else self.plant.rest
        count = np.sqrt(sum(self._cuts))
        for drive, cut in zip(self.drives, self._cuts, strict=True):
            if self.plant.rest is not None:
                yield -self.plant.rest[None] / count
            rows = SeriesRows(drive[:, :0], [(reservoir, drive)])
            for _, states in rows.chunks(0, cut, chunk_rows(drive, reservoir.units, least=256)):
                yield (states - rest) / count

    @cached_property
    def balanced(self) -> Balanced:
        """By what the rows reach."""
        if self.alike:
            return self.plant.minimal
        return balance(self.plant.system, self._pieces, FLOOR)

    @property
    def least(self) -> Array:
        """Half of what projections of the rows leave out: runs hardly come nearer than they do."""
        if self.alike:
            return np.zeros(self.balanced.order + 1)
        return 0.5 * self.balanced.left_out

    @property
    def expected(self) -> Array:
        """As the values that are cut, which errors follow closely."""
        return OFTEN * self.balanced.cut_off

    def error(self, found: Smaller) -> float:
        """The larger of the errors on both parts of the rows."""
        return float(np.nanmax(self._errors(found)))

    def _errors(self, found: Smaller) -> tuple[float, float]:
        """Largest rms error of an output, over its scale, on rows weighed and held out."""
        small = Plant.of(self.plant.with_modes(found))
        parts: tuple[list[Array], list[Array]] = ([], [])
        for drive, wanted, cut in zip(self.drives, self.outputs, self._cuts, strict=True):
            left = small.outputs(drive) / self.plant.scale - wanted
            parts[0].append(left[:cut])
            parts[1].append(left[cut:])
        return _rms(parts[0]), _rms(parts[1])

    def said(self, found: Smaller, error: float) -> dict[str, float | None]:
        """The promise, and what it comes from."""
        weighed, held_out = self._errors(found)
        known = None if np.isnan(held_out) else held_out
        return {
            "bound": None,
            "promise": error,
            "rows_error": weighed,
            "held_out_error": known,
        }


def _deviation(rows: Array) -> Array:
    """Of the targets that are there; 1 where nothing moves."""
    there = ~np.isnan(rows)
    count = np.maximum(there.sum(axis=0), 1)
    mean = np.where(there, rows, 0.0).sum(axis=0) / count
    scale = np.sqrt((np.where(there, rows - mean, 0.0) ** 2).sum(axis=0) / count)
    return np.where(scale > 0, scale, 1.0)


def _rms(parts: Sequence[Array]) -> float:
    """Of the output that is off most; NaN of no rows, infinite where a run left the range."""
    rows = np.concatenate(parts)
    if not len(rows):
        return float("nan")
    found = float(np.sqrt(np.mean(rows**2, axis=0)).max())
    return found if np.isfinite(found) else float("inf")


def _read(model: LinearModel, data: Any) -> tuple[list[Array], list[Array] | None]:
    """Series of inputs and, where they are given, of targets, in the caller's units."""
    device_of({"data": data})  # raises for tensors that are not computed with
    data = to_host(data)
    X, y = data if isinstance(data, tuple) and len(data) == 2 else (data, None)
    if X is None and model.D_in:
        got = Shown("no inputs")
        raise bad_argument("data", got, f"(X, y): {model.D_in} columns drive this network")
    if y is None and model.closed:
        got = Shown("inputs alone")
        raise bad_argument("data", got, "(X, y): y(t−1) drives this network, too")
    if X is None:
        outputs = _targets(model, y, Container())
        return [rows[:, :0] for rows in outputs], outputs
    inputs, container = as_series(X, "data", model.D_in, np.float64)
    if y is None:
        return inputs, None
    outputs = _targets(model, y, container)
    if [len(rows) for rows in outputs] != [len(rows) for rows in inputs]:
        got = Shown(f"y of lengths {[len(rows) for rows in outputs]}")
        raise bad_argument("data", got, f"those of X, {[len(rows) for rows in inputs]}")
    return inputs, outputs


def _targets(model: LinearModel, y: Any, container: Container) -> list[Array]:
    """Those that drive nothing may be missing: NaN."""
    items, _ = unpack_outputs(y, "data", container)
    gaps = not model.closed
    rows = [as_rows(item, "data", model.D_out, np.float64, gaps=gaps) for item in items]
    nothing = np.all([np.isnan(some).all(axis=0) for some in rows], axis=0)
    if nothing.any():
        got = Shown(f"nothing but NaN in column {int(np.argmax(nothing))} of y")
        raise bad_argument("data", got, "targets, whose deviation errors are measured by")
    return rows
