"""How far a converted network is from the original."""

from __future__ import annotations

import time
from dataclasses import dataclass

import numpy as np

from eigenecho.errors import UnstableError, bad_argument
from eigenecho.model import LinearModel
from eigenecho.model.run import run
from eigenecho.types import Array

STEPS = 2000
"""Length of the probe, unless the network grows too much over it."""

LARGEST_GROWTH = 1e12
"""A network of radius above 1 is probed only as long as its states stay below this growth."""

STRETCHES = 100
"""Parts of the probe whose largest difference a certificate keeps."""

ROUNDS, QUICK = 5, 0.1
"""How often runs are timed, unless one takes more than this many seconds."""


@dataclass(frozen=True)
class Comparison:
    """What a certificate says about two networks on the probe."""

    difference: float
    steps: int
    seconds_before: float
    seconds_after: float
    along: tuple[float, ...]
    radius: float


def probe(model: LinearModel, steps: int | None = None) -> tuple[Array, Array | None]:
    """The series that the certificate of a converted network speaks of.

    Parameters
    ----------
    model : LinearModel
        As ``diagonalize`` returns it.
    steps : int, optional
        Another length than the certificate's; a shorter probe is the start of a longer one.

    Returns
    -------
    u : array (steps, D_in)
        Seeded noise, uniform in [−1, 1].
    y_previous : array (steps, D_out), or None for a network without feedback
        Outputs are teacher-forced, so that the comparison is of the networks and not of how a
        closed loop amplifies rounding.

    Examples
    --------
    With ``wanted`` the outputs of the original for (u, y_previous), by whatever computes them,
    the difference in the certificate is

        abs(model.predict(u, y_previous=y_previous) - wanted).max() / abs(wanted).max()
    """
    if steps is None:
        if model.certificate is None:
            raise bad_argument("model", model, "a converted network", "Else say how many steps.")
        steps = model.certificate.steps
    u = np.random.default_rng(0).uniform(-1, 1, (steps, model.D_in))
    if not model.closed:
        return u, None
    return u, np.random.default_rng(1).uniform(-1, 1, (steps, model.D_out))


def compare(original: LinearModel, converted: LinearModel) -> Comparison:
    """Difference of the outputs, and seconds a step, on the probe."""
    radius = converted.effective_radius
    steps = STEPS
    if radius > 1:
        steps = max(2, min(steps, int(np.log(LARGEST_GROWTH) / np.log(radius))))
    while True:
        try:
            return _compare(original, converted, steps, radius)
        except UnstableError:
            # A matrix far from normal can grow without bound whatever its radius.
            if steps == 1:
                raise
            steps //= 2


def _compare(
    original: LinearModel, converted: LinearModel, steps: int, radius: float
) -> Comparison:
    u, before = probe(original, steps)
    wanted, got = (run(model, u, before)[0] for model in (original, converted))
    largest = np.abs(wanted).max(initial=0.0) or 1.0
    differences = np.abs(got - wanted).max(axis=1) / largest
    along = tuple(float(part.max()) for part in np.array_split(differences, min(STRETCHES, steps)))
    same = converted.basis is None and type(converted.reservoir.form) is type(
        original.reservoir.form
    )
    seconds = _seconds([original] if same else [original, converted])
    return Comparison(max(along), steps, seconds[0], seconds[-1], along, radius)


def _seconds(models: list[LinearModel]) -> list[float]:
    """Seconds a step of each, in turns: a slow moment of the machine hits them all.

    At rest, so that a network that grows is timed over as many steps as any other.
    """
    u = np.zeros((STEPS, models[0].D_in))
    before = np.zeros((STEPS, models[0].D_out)) if models[0].closed else None
    rounds: list[list[float]] = []
    while len(rounds) < ROUNDS and (not rounds or max(rounds[0]) < QUICK):
        seconds = []
        for model in models:
            start = time.perf_counter()
            run(model, u, before)
            seconds.append(time.perf_counter() - start)
        rounds.append(seconds)
    return [min(column) / STEPS for column in zip(*rounds, strict=True)]
