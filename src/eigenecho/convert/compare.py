"""How far a converted network is from the original."""

from __future__ import annotations

import time

import numpy as np

from eigenecho.model import LinearModel
from eigenecho.model.run import run
from eigenecho.types import Array

PROBE_STEPS = 500
LARGEST_GROWTH = 1e12
"""An unstable network is probed only as long as its states stay below this growth."""


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
