"""Model reduction: a network with fewer modes and nearly the same outputs, with a certificate."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, TypeVar, cast

import numpy as np

from eigenecho.checks import check_units, is_finite_number
from eigenecho.errors import IllConditionedWarning, Words, bad_argument, counted, warn
from eigenecho.model.certificate import Reduction
from eigenecho.model.loop import ClosedLoop
from eigenecho.model.network import Network
from eigenecho.model.state_space import StateSpace
from eigenecho.model.weighting import Weighting, select_weighting
from eigenecho.reduction import TruncatedSystem, essential, largest_gain, smaller, smallest
from eigenecho.reservoir import Reservoir
from eigenecho.threads import one_blas_thread
from eigenecho.training import Evidence
from eigenecho.transition import Diagonal
from eigenecho.types import Array

NetworkT = TypeVar("NetworkT", bound=Network)

STEPS = 2000
"""Length of the probe series in steps."""

LARGEST_LOOP = 1200
"""Maximum number of states for the closed loop of the original, which costs O(N³)."""

IN_LOOP = 1e-13
"""Fraction of the largest state below which states are left out of a closed loop, because their
rounding errors would be amplified."""


@one_blas_thread()
def reduce(
    model: NetworkT,
    units: int | None = None,
    tol: float | None = None,
    data: Any = None,
    evidence: Evidence | None = None,
) -> tuple[NetworkT, Array]:
    """Return a smaller network with a certificate, and the map (N, k) to its states.

    The arguments are those of ``LinearModel.reduce``. ``evidence`` are the training statistics.
    """
    _check(model, units, tol, data)
    weighting = select_weighting(model, data, evidence)
    if not weighting.balanced.order:
        got, expected = Words("inputs without effect on outputs"), "inputs that affect outputs"
        raise bad_argument("model" if data is None else "data", got, expected)
    if tol is None:
        reduced = select_modes(weighting, units or 0)
        if reduced.system.units != units:
            warn(
                f"units={units} exceeds the number of usable modes, {reduced.system.units}. The "
                "other modes are rounding errors or have no usable eigenvectors.",
                IllConditionedWarning,
            )
    else:
        weighting, reduced = _smallest_order(weighting, units, tol)
    space = weighting.space
    small = space.with_modes(reduced)
    gain, gain_error = _gains(space, small)
    radius_before, radius_after = _loop_radii(space, small)
    certificate = Reduction(
        weighting=weighting.name,
        values=weighting.balanced.values,
        floor=weighting.balanced.floor,
        gain=gain,
        gain_error=gain_error / gain,
        probe_error=_probe_error(space, small, gain),
        steps=STEPS,
        before=space.model.spectrum,
        units=reduced.system.units,
        radius_before=radius_before,
        radius_after=radius_after,
        **weighting.details(reduced),
    )
    # The smaller network is a copy of the given one with other weights.
    return cast(NetworkT, replace(small, certificate=certificate)), reduced.states


def check_reducible(reservoir: Reservoir, name: str) -> None:
    """Raise unless networks with this reservoir can be reduced.

    ``name`` is the name of the argument in the error message.
    """
    if not isinstance(reservoir.transition, Diagonal):
        got = Words(f"a matrix in {reservoir.transition.name} form")
        raise bad_argument(name, got, "eigenvalues, or a matrix in diagonal form")
    if not reservoir.spectrum.radius < 1:
        got = Words(f"an effective radius of {reservoir.spectrum.radius:.6g}")
        raise bad_argument(name, got, "a radius below 1", "Train with a lower sr or lr.")


def _check(model: Network, units: Any, tol: Any, data: Any) -> None:
    """Raise unless the model can be reduced and the target size is valid."""
    check_reducible(model.reservoir, "model")
    if data is None and model.reservoir.dtype == np.float32:
        expected = "(X, y), on which the rounding errors of a float32 network are measured"
        raise bad_argument("data", None, expected, "Or fit the network with dtype='float64'.")
    if units is None and tol is None:
        remedy = "Pass tol=1e-6 or units=50."
        raise bad_argument("units, tol", (units, tol), "a value for at least one of them", remedy)
    if tol is not None and (not is_finite_number(tol) or not 0 < tol < 1):
        raise bad_argument("tol", tol, "a relative error in (0, 1), such as 1e-6")
    if units is not None and check_units(units, "units") > model.units:
        raise bad_argument(
            "units", units, f"at most {model.units}, the number of units of the network"
        )


def select_modes(weighting: Weighting, units: int) -> TruncatedSystem:
    """Return the system of order ``units``, or of the next lower order with usable eigenvectors.

    The order is limited by the number of states that are not rounding errors.
    """
    for order in range(min(units, weighting.balanced.order), 0, -1):
        reduced = smaller(weighting.balanced, order)
        if reduced is not None and np.isfinite(weighting.error(reduced)):
            return reduced
    expected = "a number of units for which a reduced network with stable modes exists"
    raise bad_argument("units", units, expected, "Try a larger number.")


def _smallest_order(
    weighting: Weighting, units: int | None, tol: float
) -> tuple[Weighting, TruncatedSystem]:
    """Return the system of the smallest order whose error is at most ``tol``, and its weighting.

    If the rows distinguish too few states, the search is repeated with the states ordered as in
    white weighting.
    """
    balanced, least = weighting.balanced, weighting.least
    most = balanced.order if units is None else min(units, balanced.order)
    measured: dict[int, float] = {}

    def error(order: int) -> float:
        return float(least[order]) if least[order] > tol else measure(order)

    def measure(order: int) -> float:
        reduced = smaller(balanced, order)
        measured[order] = np.inf if reduced is None else weighting.error(reduced)
        return measured[order]

    order = smallest(error, tol, weighting.expected[: most + 1])
    reduced = None if order is None else smaller(balanced, order)
    if reduced is not None:
        return weighting, reduced
    if weighting.name == "rows" and balanced is not weighting.space.balanced:
        return _smallest_order(weighting.in_white_order(), units, tol)
    remedy = "Use more units or a larger tol." if units is not None else weighting.remedy
    if not measured:
        measure(most)
    best = min(measured, key=measured.__getitem__)
    possible = 1.05 * measured[best]  # rounded up, so that it can be passed as tol
    expected = f"at least {possible:.1e}, the error of {counted(best, 'mode')}"
    if possible >= 1:
        modes = counted(best, "mode")
        expected = f"a network that can be reduced: the error of {modes} is {possible:.0%}"
        remedy = "" if units is None else "Use more units."
    raise bad_argument("tol", tol, expected, remedy)


def _gains(space: StateSpace, small: Network) -> tuple[float, float]:
    """Return the largest gain, and the largest difference of gains between the two models."""
    system, other, n = space.system, StateSpace.of(small).system, space.n_inputs
    frequencies = np.concatenate([system.frequencies, other.frequencies])
    response = system.response(frequencies)[:, :n] * space.scale
    return largest_gain(response), largest_gain(response - other.response(frequencies)[:, :n])


def _probe_error(space: StateSpace, small: Network, gain: float) -> float:
    """Return ‖y − ŷ‖₂ / (gain ‖u‖₂) for the probe series, where a bias counts as one impulse."""
    drive = signals = _probe_drive(space.model)
    error = np.linalg.norm(space.outputs(drive) - StateSpace.of(small).outputs(drive))
    if space.rest is not None:
        signals = np.delete(drive, space.model.D_in, axis=1)
    size = np.sqrt(np.sum(signals**2) + (space.rest is not None))
    return float(error / (gain * size))


def _probe_drive(model: Network) -> Array:
    """Return white noise, uniform in [−1, 1], as a drive with columns [u, 1, y(t−1)]."""
    u = np.random.default_rng(0).uniform(-1, 1, (STEPS, model.D_in))
    before = np.random.default_rng(1).uniform(-1, 1, (STEPS, model.D_out))
    return model.reservoir.drive(u, before)


def _loop_radii(space: StateSpace, small: Network) -> tuple[float | None, float | None]:
    """Return the spectral radii of the original and the reduced closed loop, or None.

    The radius of the original is computed from its significant states, which are far fewer than N.
    """
    model, system = space.model, space.system
    if not model.can_forecast:
        return None, None
    after = ClosedLoop.of_forecast(small).radius()
    T, S = essential(system, IN_LOOP)
    if not 0 < len(S) <= LARGEST_LOOP:
        return None, after
    loop = ClosedLoop.of_forecast(model)
    W, F, C = S @ system.advance(T), loop.F @ T, S @ system.C * space.scale
    closed = np.block([[W, W @ C], [F, F @ C + model.readout.previous]])
    return float(np.abs(np.linalg.eigvals(closed)).max()), after
