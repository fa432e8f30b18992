"""Comparison of a converted network with the original."""

from __future__ import annotations

from typing import Any

import numpy as np

from eigenecho.errors import UnstableError, bad_argument
from eigenecho.model.network import Network
from eigenecho.model.predict import run
from eigenecho.transition import Diagonal
from eigenecho.types import Array

STEPS = 2000
"""Length of the probe series in steps, unless the states grow too much."""

LARGEST_GROWTH = 1e12
"""Largest growth of the states of an unstable network during the probe series."""

PRECISE_STEPS, PRECISE_WORK = 500, 2e7
"""Maximum number of steps, and of multiplications, in extended precision."""

STRETCHES = 100
"""Number of parts of the probe series for which the largest difference is stored."""


def probe(model: Network, steps: int | None = None) -> tuple[Array, Array | None]:
    """Return the probe series on which a converted network was compared with the original.

    Parameters
    ----------
    model : LinearModel
        The result of ``diagonalize``.
    steps : int, optional
        Length of the series, by default as in the certificate. A shorter probe series is the
        beginning of a longer one.

    Returns
    -------
    u : array (steps, D_in)
        White noise with a fixed seed, uniform in [−1, 1].
    y_previous : array (steps, D_out), or None for a network without feedback
        Previous outputs for the feedback. The loop is not closed, because it could amplify
        rounding errors.

    See Also
    --------
    eigenecho.diagonalize : Convert a network.

    Examples
    --------
    Compare the model with the original network, which is computed step by step:

    >>> import eigenecho as ee
    >>> import numpy as np
    >>> rng = np.random.default_rng(0)
    >>> W, W_in = rng.normal(size=(20, 20)) / 6, rng.normal(size=(1, 20))
    >>> model = ee.diagonalize(W, W_in)
    >>> u, _ = ee.probe(model)
    >>> r, expected = np.zeros(20), []
    >>> for row in u:
    ...     r = r @ W + row @ W_in
    ...     expected.append(r)
    >>> difference = abs(model.predict(u) - expected).max() / abs(np.array(expected)).max()
    >>> bool(np.isclose(difference, model.certificate.difference, atol=1e-14))
    True
    """
    if steps is None:
        if model.certificate is None:
            expected = "a converted network, unless steps is given"
            raise bad_argument("model", model, expected)
        steps = model.certificate.steps
    u = np.random.default_rng(0).uniform(-1, 1, (steps, model.D_in))
    if not model.closed:
        return u, None
    return u, np.random.default_rng(1).uniform(-1, 1, (steps, model.D_out))


def compare(original: Network, converted: Network) -> dict[str, Any]:
    """Return the fields of a certificate that are measured on the probe series."""
    radius = converted.effective_radius
    steps = STEPS
    if radius > 1:
        steps = max(2, min(steps, int(np.log(LARGEST_GROWTH) / np.log(radius))))
    while True:
        u, before = probe(original, steps)
        try:
            expected, got = (run(model, u, before)[0] for model in (original, converted))
            break
        except UnstableError:
            # States of a highly non-normal matrix can grow even if its spectral radius is below 1.
            if steps == 1:
                raise
            steps //= 2
    largest = np.abs(expected).max(initial=0.0) or 1.0
    differences = np.abs(got - expected).max(axis=1) / largest
    along = tuple(float(part.max()) for part in np.array_split(differences, min(STRETCHES, steps)))
    precise = _precise_steps(original, steps)
    error = _error(original, got[:precise]) if precise else None
    return {
        "radius": radius,
        "difference": max(along),
        "steps": steps,
        "products_before": _multiplications(original),
        "products_after": _multiplications(converted),
        "along": along,
        "error": error,
        "error_steps": precise,
    }


def _precise_steps(original: Network, steps: int) -> int:
    """Return the number of steps to compute in extended precision; 0 if it is not available."""
    if np.finfo(np.longdouble).eps == np.finfo(np.float64).eps:
        return 0
    return min(steps, PRECISE_STEPS, int(PRECISE_WORK // _multiplications(original)))


def _error(original: Network, got: Array) -> float:
    """Return the largest relative difference from the original in extended precision."""
    reservoir, readout = original.reservoir, original.readout
    u, before = probe(original, len(got))
    states = reservoir.drive(u, before).astype(np.longdouble) @ reservoir.B
    # W is transposed because NumPy has no BLAS for long doubles and sums fastest along rows.
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


def _multiplications(model: Network) -> int:
    """Return the number of multiplications per step."""
    W, reservoir = model.reservoir.transition, model.reservoir
    if isinstance(W, Diagonal):
        products = W.modes.real.size + 4 * W.modes.pairs.size
    else:
        products = int(W.matrix.size)  # only stored entries, if it is sparse
    return products + reservoir.B.size + model.readout.weights.size
