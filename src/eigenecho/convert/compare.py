"""How far a converted network is from the original."""

from __future__ import annotations

import time
from dataclasses import replace
from typing import Any

import numpy as np

from eigenecho.errors import UnstableError, bad_argument
from eigenecho.model import LinearModel
from eigenecho.model.predict import run
from eigenecho.types import Array

STEPS = 2000
"""Length of the probe, unless the network grows too much over it."""

LARGEST_GROWTH = 1e12
"""A network of radius above 1 is probed only as long as its states stay below this growth."""

PRECISE_STEPS, PRECISE_WORK = 500, 2e7
"""How much of the probe is computed with more digits: steps, and multiplications, at most."""

STRETCHES = 100
"""Parts of the probe whose largest difference a certificate keeps."""

ROUNDS, QUICK = 5, 0.1
"""How often runs are timed, unless one takes more than this many seconds."""


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

    See Also
    --------
    eigenecho.diagonalize : converts, and certifies

    Examples
    --------
    With ``wanted`` the outputs of the original for ``(u, y_previous)``, by whatever computes them:

    >>> import eigenecho as ee
    >>> import numpy as np
    >>> rng = np.random.default_rng(0)
    >>> W, W_in = rng.normal(size=(20, 20)) / 6, rng.normal(size=(1, 20))
    >>> model = ee.diagonalize(W, W_in)
    >>> u, _ = ee.probe(model)
    >>> r, wanted = np.zeros(20), []
    >>> for row in u:
    ...     r = r @ W + row @ W_in
    ...     wanted.append(r)
    >>> difference = abs(model.predict(u) - wanted).max() / abs(np.array(wanted)).max()
    >>> bool(np.isclose(difference, model.certificate.difference, atol=1e-14))
    True
    """
    if steps is None:
        if model.certificate is None:
            raise bad_argument("model", model, "a converted network", "Else say how many steps.")
        steps = model.certificate.steps
    u = np.random.default_rng(0).uniform(-1, 1, (steps, model.D_in))
    if not model.closed:
        return u, None
    return u, np.random.default_rng(1).uniform(-1, 1, (steps, model.D_out))


def compare(original: LinearModel, converted: LinearModel) -> dict[str, Any]:
    """Difference and error of the outputs, and seconds a step, on the probe.

    By the names that they have in a certificate.
    """
    radius = converted.effective_radius
    steps = STEPS
    if radius > 1:
        steps = max(2, min(steps, int(np.log(LARGEST_GROWTH) / np.log(radius))))
    while True:
        try:
            return _compare(original, converted, steps) | {"radius": radius}
        except UnstableError:
            # A matrix far from normal can grow without bound whatever its radius.
            if steps == 1:
                raise
            steps //= 2


def _compare(original: LinearModel, converted: LinearModel, steps: int) -> dict[str, Any]:
    u, before = probe(original, steps)
    wanted, got = (run(model, u, before)[0] for model in (original, converted))
    largest = np.abs(wanted).max(initial=0.0) or 1.0
    differences = np.abs(got - wanted).max(axis=1) / largest
    along = tuple(float(part.max()) for part in np.array_split(differences, min(STRETCHES, steps)))
    names = {model.reservoir.transition.name for model in (original, converted)}
    same = converted.basis is None and len(names) == 1
    seconds = _seconds([original] if same else [original, converted])
    known = _precise_steps(original, steps)
    error = _error(original, u[:known], before, got[:known]) if known else None
    return {
        "difference": max(along),
        "steps": steps,
        "seconds_before": seconds[0],
        "seconds_after": seconds[-1],
        "along": along,
        "error": error,
        "error_steps": known,
    }


def _precise_steps(original: LinearModel, steps: int) -> int:
    """How many steps of the probe there are more digits for; none where long double is double."""
    if np.finfo(np.longdouble).eps == np.finfo(np.float64).eps:
        return 0
    W, drives = original.reservoir.transition.matrix, len(original.reservoir.B)
    entries = W.size if isinstance(W, np.ndarray) else W.nnz
    work = entries + original.units * (drives + original.D_out)
    return min(steps, PRECISE_STEPS, int(PRECISE_WORK // work))


def _error(original: LinearModel, u: Array, before: Array | None, got: Array) -> float:
    """Largest difference from the outputs of the original with more digits, over the largest."""
    reservoir, readout = original.reservoir, original.readout
    before = None if before is None else before[: len(u)]
    states = reservoir.drive(u, before).astype(np.longdouble) @ reservoir.B
    # Transposed: NumPy has no BLAS for these numbers, and sums along rows are the fast ones.
    W = reservoir.transition.matrix.T
    W = W.tocsr() if hasattr(W, "tocsr") else np.ascontiguousarray(W)
    W = W.astype(np.longdouble)
    for t in range(1, len(states)):
        states[t] += W.dot(states[t - 1])
    exact = states @ readout.weights.T + readout.offset
    if before is not None:
        exact += before.astype(np.longdouble) @ readout.previous
    largest = np.abs(exact).max(initial=0.0) or 1.0
    return float(np.abs(got - exact).max(initial=0.0) / largest)


def _seconds(models: list[LinearModel]) -> list[float]:
    """Seconds a step of each, in turns: a slow moment of the machine hits them all.

    At rest, without bias, so that a network that grows is timed over as many steps as any other.
    """
    models = [_without_bias(model) for model in models]
    u = np.zeros((STEPS, models[0].D_in))
    before = np.zeros((STEPS, models[0].D_out)) if models[0].closed else None
    for model in models:
        run(model, u[:1], None if before is None else before[:1])  # builds what is kept
    rounds: list[list[float]] = []
    while len(rounds) < ROUNDS and (not rounds or max(rounds[0]) < QUICK):
        seconds = []
        for model in models:
            start = time.perf_counter()
            run(model, u, before)
            seconds.append(time.perf_counter() - start)
        rounds.append(seconds)
    return [min(column) / STEPS for column in zip(*rounds, strict=True)]


def _without_bias(model: LinearModel) -> LinearModel:
    """The same steps with nothing that drives them but inputs: the bias is there, and is zero."""
    reservoir = model.reservoir
    if reservoir.bias is None:
        return model
    bias = np.zeros_like(reservoir.bias)
    return replace(model, reservoir=replace(reservoir, bias=bias))
