"""Sample paths of forecasts, and the prediction intervals that follow from them.

A path is one possible future of a series: a forecast with weights drawn from their posterior
distribution, in which each output is disturbed by noise before it is fed back,

    y(t) = x(t) (w + δ) + ε(t),   ε(t) ~ N(0, s²Σ),   x δ ~ N(0, s² x A⁻¹ xᵀ Σ)

Σ is the covariance of the one-step errors, and s² = f / χ²_f is its uncertainty for f degrees of
freedom. An interval contains the central paths. For fixed weights of a linear network, the paths
have a Gaussian distribution, whose variance is the sum of the squared responses of the loop.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np

from eigenecho.arrays import to_host
from eigenecho.checks import check_count, check_coverage, check_memory, generator
from eigenecho.errors import bad_argument
from eigenecho.model.forecast import Trajectory, bounds_of, several_contexts
from eigenecho.model.network import Network
from eigenecho.model.posterior import Posterior, check_noise
from eigenecho.series import unpack
from eigenecho.threads import one_blas_thread
from eigenecho.types import Array, Forecast, Seed

PATHS = 2000
"""Number of paths of an interval, whose width then varies by about 3 % between seeds."""


@one_blas_thread()
def sample_paths(
    model: Network,
    run: Trajectory,
    noise: Any,
    posterior: Posterior | None = None,
    paths: Any = PATHS,
    seed: Seed = 0,
    clip: bool = False,
) -> Array:
    """Return sample paths (paths, horizon, D_out) around a forecast, in the caller's units.

    ``noise`` (D_out, D_out) is Σ in the caller's units. Without a ``posterior``, all paths have the
    weights of the model. The second half of the paths has the opposite errors of the first half.
    The steps of a path do not depend on the horizon. Paths of a network with features stay within
    its output range.
    """
    (horizon, D), dtype = run.outputs.shape, model.reservoir.dtype
    paths = check_count(paths, "paths", "a number of paths", 1)
    check_memory(8.0 * paths * D * (horizon + len(model.W_out)), "paths", paths)
    root, rng, half = _root_of(model, noise), generator(seed), -(-paths // 2)
    sign = np.where(np.arange(paths) < half, 1.0, -1.0)
    spread, errors = np.ones(half), None
    if posterior is not None:
        spread, errors = posterior.draw(half, rng)
    disturbances = np.moveaxis(rng.normal(size=(horizon, half, D)), 1, 0) @ root.T
    r, y = np.asarray(run.start.r, dtype), np.asarray(model.from_user(run.start.y), dtype)
    bounds, readout = bounds_of(model, clip), run.loop.readout
    outputs = np.empty((paths, horizon, D), dtype)
    for k in range(paths):
        scale = sign[k] * spread[k % half]
        if errors is not None:
            W_out = model.W_out + scale * errors[k % half] @ root.T
            readout = replace(model, W_out=W_out.astype(dtype)).readout
        loop = replace(run.loop, readout=readout)
        added = (scale * disturbances[k % half]).astype(dtype)
        outputs[k], _ = loop.run(run.drive, r, y, bounds=bounds, clip=True, noise=added)
    return model.to_user(outputs)


def with_interval(mean: Array, paths: Array, coverage: Any) -> Forecast:
    """Return a forecast (horizon, D_out) with the interval that contains the central paths.

    If paths overflow, the interval is infinite.
    """
    coverage = check_coverage(coverage)
    tails = 0.5 - 0.5 * coverage
    low, high = (np.where(np.isfinite(paths), paths, end) for end in (-np.inf, np.inf))
    # Interpolation between infinite values would give NaN.
    lower = np.quantile(low, tails, axis=0, method="lower")
    upper = np.quantile(high, 1 - tails, axis=0, method="higher")
    lower, upper = (part.astype(mean.dtype) for part in (lower, upper))
    return Forecast(mean, np.minimum(lower, mean), np.maximum(upper, mean))


def check_sampling(interval: Any, paths: Any) -> None:
    """Raise if the arguments for intervals and paths are invalid."""
    if interval is not None:
        check_coverage(interval)
        if paths is not None:
            raise bad_argument("paths", paths, "None, because an interval is requested")


def sampled(
    model: Network,
    run: Trajectory,
    noise: Any,
    posterior: Posterior | None,
    interval: Any,
    paths: Any,
    seed: Seed,
    clip: bool,
) -> Any:
    """Return the outputs of a forecast, with an interval if one is requested, or sample paths."""
    if interval is None and paths is None:
        return run.outputs
    count = PATHS if paths is None else paths
    drawn = sample_paths(model, run, noise, posterior, count, seed, clip)
    return drawn if interval is None else with_interval(run.outputs, drawn, interval)


def each_context(forecast: Callable[[Any], Any], context: Any, *others: Any) -> Any:
    """Return forecasts after several contexts, as an array or a list like the contexts.

    Raise an error if there are ``others``, inputs or a state, which belong to a single series.
    """
    if any(other is not None for other in others):
        raise several_contexts()
    items, container = unpack(to_host(context))
    forecasts = [forecast(item) for item in items]
    if isinstance(forecasts[0], Forecast):
        return Forecast(*(container.restore(part) for part in zip(*forecasts, strict=True)))
    return container.restore(forecasts)


def _root_of(model: Network, noise: Any) -> Array:
    """Return C with C Cᵀ = Σ in the units of the network. Σ may be singular."""
    scale = np.ones(model.D_out) if model.outputs is None else model.outputs.scale
    ends = np.finfo(np.float64)
    if not np.all((scale > np.sqrt(ends.tiny)) & (scale < np.sqrt(ends.max))):
        raise ValueError(
            "Intervals and paths are not available, because the variance of these outputs "
            "overflows or underflows. Scale the series before training."
        )
    covariance = check_noise(noise, model.D_out) / np.outer(scale, scale)
    values, vectors = np.linalg.eigh((covariance + covariance.T) / 2)
    return vectors * np.sqrt(np.maximum(values, 0.0))
