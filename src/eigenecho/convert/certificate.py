"""The proof that comes with a converted network."""

from __future__ import annotations

import time
from dataclasses import dataclass

import numpy as np

from eigenecho.model import LinearModel
from eigenecho.model.run import run
from eigenecho.types import Array

PROBE_STEPS = 500
LARGEST_GROWTH = 1e12
"""An unstable network is probed only as long as its states stay below this growth."""


@dataclass(frozen=True)
class Certificate:
    """What a conversion did, and how far the result is from the original network.

    Attributes
    ----------
    form : {"diagonal", "sparse", "dense"}
        How the converted network steps.
    reason : str
        Why that form.
    condition : float
        cond(Q): how many digits the change of basis can cost.
    residual : float
        ‖W Q − Q [W]_Q‖ / ‖W‖ in the Frobenius norm.
    difference : float
        Largest output difference on a random probe series, over the largest output.
    steps : int
        Length of the probe.
    seconds_before, seconds_after : float
        Time per step of the original and of the converted network on the probe.
    """

    form: str
    reason: str
    condition: float
    residual: float
    difference: float
    steps: int
    seconds_before: float
    seconds_after: float

    @property
    def speedup(self) -> float:
        """How many times faster a step became."""
        return self.seconds_before / self.seconds_after

    def __str__(self) -> str:
        return "\n".join(
            [
                f"form         {self.form}: {self.reason}",
                f"cond(Q)      {self.condition:.2e}",
                f"residual     {self.residual:.2e}  of ‖W‖",
                f"difference   {self.difference:.2e}  of the largest output, {self.steps} steps",
                f"time a step  {1e6 * self.seconds_before:.3g} µs → "
                f"{1e6 * self.seconds_after:.3g} µs  ({self.speedup:.1f} times faster)",
            ]
        )


def compare(original: LinearModel, converted: LinearModel) -> tuple[float, int, float, float]:
    """Difference, probe length, and seconds a step of both, on one random probe series.

    Outputs are teacher-forced, so that the comparison is of the networks and not of how a
    closed loop amplifies rounding.
    """
    radius = max(converted.effective_radius, 1.0)
    steps = PROBE_STEPS
    if radius > 1:
        steps = max(2, min(steps, int(np.log(LARGEST_GROWTH) / np.log(radius))))
    rng = np.random.default_rng(0)
    u = rng.uniform(-1, 1, (steps, original.D_in))
    before = rng.uniform(-1, 1, (steps, original.D_out)) if original.closed else None
    wanted, seconds_before = _timed(original, u, before)
    got, seconds_after = _timed(converted, u, before)
    largest = np.abs(wanted).max(initial=0.0) or 1.0
    difference = float(np.abs(got - wanted).max(initial=0.0) / largest)
    return difference, steps, seconds_before, seconds_after


def _timed(model: LinearModel, u: Array, y_previous: Array | None) -> tuple[Array, float]:
    outputs, _ = run(model, u, y_previous)
    seconds = []
    for _ in range(3):
        start = time.perf_counter()
        run(model, u, y_previous)
        seconds.append(time.perf_counter() - start)
    return outputs, float(np.median(seconds)) / len(u)
