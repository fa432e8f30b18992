"""A trained network made smaller: fewer modes, nearly the same outputs, and how near."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from eigenecho.checks import check_count, is_finite_number
from eigenecho.errors import IllConditionedWarning, Shown, bad_argument, warn
from eigenecho.model.alike import White
from eigenecho.model.loop import ClosedLoop
from eigenecho.model.on_rows import OnRows
from eigenecho.model.on_statistics import OnStatistics
from eigenecho.model.plant import Plant, in_dtype
from eigenecho.model.reduction import Reduction
from eigenecho.model.weighting import Weighting
from eigenecho.reduction import Smaller, essential, largest_gain, smaller, smallest
from eigenecho.threads import one_blas_thread
from eigenecho.training import GroupEvidence
from eigenecho.transition import Diagonal
from eigenecho.types import Array

if TYPE_CHECKING:
    from eigenecho.model.model import LinearModel

STEPS = 2000
"""Length of the probe."""

MARGIN = 4.0
"""How many times what rounding does a promise has to be, so that it is kept with it."""

LARGEST_LOOP = 1200
"""Order up to which the loop of the original is looked at."""

IN_LOOP = 1e-13
"""Share of the largest from which on a state counts in a loop: rounding of smaller ones would come
back enlarged."""


@dataclass(frozen=True, eq=False)
class Reduced:
    """A smaller network with its certificate, and the map (N, k) that leads to its states."""

    model: LinearModel
    states: Array


@one_blas_thread()
def reduce(
    model: LinearModel,
    units: int | None = None,
    tol: float | None = None,
    data: Any = None,
    evidence: GroupEvidence | None = None,
) -> Reduced:
    """``LinearModel.reduce``; ``evidence`` is what the readout was trained on, where known."""
    _check(model, units, tol)
    weighting = weighting_of(model, data, evidence)
    if not weighting.balanced.order:
        raise _unmoved(model, data)
    if tol is not None:
        _check_rounding(model, weighting.plant, tol)
    if tol is None:
        found, error = modes(weighting, units)
    else:
        weighting, found, error = _smallest(weighting, units, tol)
    if tol is None and found.system.units != units:
        warn(
            f"units={units} asks for more modes than the network has to keep: others are rounding, "
            f"or have no usable eigenvectors. {found.system.units} are left.",
            IllConditionedWarning,
        )
    plant = weighting.plant
    small = plant.with_modes(found)
    certificate = _certificate(weighting, found, error, small)
    cast = in_dtype(small, model.reservoir.dtype)
    return Reduced(replace(cast, certificate=certificate), found.states)


def _check(model: LinearModel, units: Any, tol: Any) -> None:
    """Whether there is something to reduce, and to what."""
    transition = model.reservoir.transition
    if not isinstance(transition, Diagonal):
        raise bad_argument(
            "model", Shown(f"a network in {transition.name} form"), "one of modes",
            "Its Gramians are closed forms of eigenvalues: diagonalize(…, form='diagonal') or a "
            "named spectrum has them.",
        )  # fmt: skip
    if not model.effective_radius < 1:
        raise bad_argument(
            "model", Shown(f"effective radius {model.effective_radius:.6g}"), "a radius below 1",
            "States that do not settle have no Gramians: train with a lower sr or lr.",
        )  # fmt: skip
    if units is None and tol is None:
        raise bad_argument("units, tol", (units, tol), "one of them", "tol=1e-6, or units=50.")
    if tol is not None and (not is_finite_number(tol) or not 0 < tol < 1):
        raise bad_argument("tol", tol, "a relative error in ]0, 1[, such as 1e-6")
    if units is not None:
        check_count(units, "units", "a number of units", 1)
        if units > model.units:
            raise bad_argument("units", units, f"at most the {model.units} that there are")


def _check_rounding(model: LinearModel, plant: Plant, tol: float) -> None:
    """No promise below what single precision leaves open: the original is as far off itself."""
    if model.reservoir.dtype == plant.model.reservoir.dtype:
        return
    drive, weights = probe_drive(plant.model, STEPS), plant.model.W_out[-model.units :]
    outputs = [
        reservoir.scan(drive.astype(reservoir.dtype), reservoir.zero_state()) @ weights
        for reservoir in (model.reservoir, plant.model.reservoir)
    ]
    scale = outputs[1].std(axis=0)
    errors = np.sqrt(np.mean((outputs[0] - outputs[1]) ** 2, axis=0))
    off = float(np.max(errors / np.where(scale > 0, scale, 1.0)))
    if tol < MARGIN * off:
        raise bad_argument(
            "tol", tol, f"at least {MARGIN * off:.1e}: in float32 the network itself is off by "
            f"{off:.1e} of its outputs' deviation",
            "Fit it with dtype='float64'.",
        )  # fmt: skip


def _unmoved(model: LinearModel, data: Any) -> ValueError:
    """Nothing of what counts reaches an output."""
    if data is None:
        return bad_argument("model", model, "a trained network: nothing drives it to an output")
    got = Shown("rows that move no output")
    return bad_argument("data", got, "rows to weigh by", "Without data all inputs count alike.")


def weighting_of(model: LinearModel, data: Any, evidence: GroupEvidence | None) -> Weighting:
    """What counts: the rows that are given, those of training, or all inputs alike."""
    if data is not None:
        return OnRows.of(model, data)
    if evidence is not None:
        return OnStatistics.of(model, evidence)
    return White(Plant.of(model))


def modes(weighting: Weighting, units: int | None) -> tuple[Smaller, float]:
    """The modes of an order, as many as there are to keep, and their error.

    An order without usable eigenvectors makes way for the next below.
    """
    assert units is not None
    for order in range(min(units, weighting.balanced.order), 0, -1):
        found = smaller(weighting.balanced, order)
        error = np.inf if found is None else weighting.error(found)
        if found is not None and np.isfinite(error):
            return found, error
    raise bad_argument("units", units, "an order with stable modes", "Take another.")


def _smallest(
    weighting: Weighting, units: int | None, tol: float
) -> tuple[Weighting, Smaller, float]:
    """The modes of the smallest order that keeps to ``tol``, with at most so many units.

    With their error, and the weighting that they come from: rows that tell too few states apart
    sort them as if all inputs were alike.
    """
    balanced = weighting.balanced
    most = balanced.order if units is None else min(units, balanced.order)
    known: dict[int, tuple[Smaller, float]] = {}
    errors = [np.inf]
    least = weighting.least

    def error(order: int) -> float:
        if least[order] > tol:
            return float(least[order])
        one = smaller(balanced, order)
        errors.append(np.inf if one is None else weighting.error(one))
        if one is not None and errors[-1] <= tol:
            known[order] = one, errors[-1]
        return errors[-1]

    order = smallest(error, tol, weighting.expected[: most + 1])
    if order is not None:
        return weighting, *known[order]
    if isinstance(weighting, OnRows) and not weighting.alike:
        return _smallest(replace(weighting, alike=True), units, tol)
    remedy = "Ask for more units, or a larger tol." if units is not None else weighting.remedy
    best = min(errors) if np.isfinite(min(errors)) else least[most]
    wanted = f"one that {most} modes or fewer reach: the least error is {best:.1e}"
    raise bad_argument("tol", tol, wanted, remedy)


def _certificate(
    weighting: Weighting, found: Smaller, error: float, small: LinearModel
) -> Reduction:
    plant = weighting.plant
    gain, gain_error = gains(plant, small)
    before, after = _loop_radii(plant, small)
    return Reduction(
        weighting=weighting.name,
        values=weighting.balanced.values,
        floor=weighting.balanced.floor,
        gain=gain,
        gain_error=gain_error / gain,
        probe_error=_probe_error(plant, small, gain),
        steps=STEPS,
        radius_before=before,
        radius_after=after,
        before=plant.model.spectrum,
        units=found.system.units,
        **weighting.said(found, error),
    )


def gains(plant: Plant, small: LinearModel) -> tuple[float, float]:
    """The largest gain from inputs to outputs, and the largest difference to a smaller model's."""
    own, other = plant.system, Plant.of(small).system
    at = np.concatenate([own.frequencies, other.frequencies])
    drives = plant.drives
    whole = own.response(at)[:, :drives] * plant.scale
    return largest_gain(whole), largest_gain(whole - other.response(at)[:, :drives])


def _probe_error(plant: Plant, small: LinearModel, gain: float) -> float:
    """‖y − ŷ‖₂ over the gain and ‖u‖₂ on seeded noise, a bias counted as one impulse."""
    drive = probe_drive(plant.model, STEPS)
    error = np.linalg.norm(plant.outputs(drive) - Plant.of(small).outputs(drive))
    size = np.sqrt(np.sum(drive[:, plant.inputs] ** 2) + (plant.rest is not None))
    return float(error / (gain * size))


def probe_drive(model: LinearModel, steps: int) -> Array:
    """Seeded noise, uniform in [−1, 1], in the network's own units: columns [u, 1, y(t−1)]."""
    u = np.random.default_rng(0).uniform(-1, 1, (steps, model.D_in))
    before = np.random.default_rng(1).uniform(-1, 1, (steps, model.D_out))
    return model.reservoir.drive(u, before)


def _loop_radii(plant: Plant, small: LinearModel) -> tuple[float | None, float | None]:
    """Radii of the loops through the output, before and after; None where there are none."""
    model = plant.model
    if not (model.D_in >= model.D_out or (model.D_in == 0 and model.closed)):
        return None, None
    after = ClosedLoop.of_forecast(small).radius()
    T, S = essential(plant.system, IN_LOOP)
    return (_loop_radius(plant, T, S) if 0 < len(S) <= LARGEST_LOOP else None), after


def _loop_radius(plant: Plant, T: Array, S: Array) -> float:
    """Of the original, by the states that reach and tell anything at all: far fewer than N."""
    loop, system = ClosedLoop.of_forecast(plant.model), plant.system
    W, F, C = S @ system.advance(T), loop.F @ T, S @ system.C * plant.scale
    closed = np.block([[W, W @ C], [F, F @ C + plant.model.readout.previous]])
    return float(np.abs(np.linalg.eigvals(closed)).max())
