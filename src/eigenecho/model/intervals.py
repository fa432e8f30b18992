"""How far a forecast can be off: the noise of single steps, carried through the closed loop.

A true series departs from each prediction by noise ε(t) of covariance Σ, which then goes round
the loop like any output. With Ψ_j the response of the loop, j steps on, to a unit output,

    error(h) = Σ_j ε(h−j) Ψ_j,   cov(h) = Σ_j Ψ_jᵀ Σ Ψ_j,   j = 0 … h−1,   Ψ_0 = I

which is exact for a linear model. The uncertainty of the weights themselves is left out.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from eigenecho.arrays import namespace
from eigenecho.checks import is_finite_number
from eigenecho.errors import bad_argument
from eigenecho.model.loop import ClosedLoop
from eigenecho.threads import one_blas_thread
from eigenecho.types import Array

if TYPE_CHECKING:
    from eigenecho.model.model import LinearModel


class Forecast(NamedTuple):
    """A forecast between the bounds of an interval, each as ``mean`` is."""

    mean: Any
    lower: Any
    upper: Any


@one_blas_thread()
def with_interval(model: LinearModel, mean: Any, noise: Any, coverage: float) -> Forecast:
    """The forecast ``mean`` (…, horizon, D_out), or a list, with bounds around every output.

    ``noise`` (D_out, D_out) is the covariance of single steps, in the caller's units.
    """
    from scipy.special import ndtri

    coverage = check_coverage(coverage)
    scale, ends = _scale(model), np.finfo(np.float64)
    if not np.all((scale > np.sqrt(ends.tiny)) & (scale < np.sqrt(ends.max))):
        raise bad_argument(
            "interval", coverage, "None: no float holds the variance of these outputs",
            "Train on a series that is scaled, such as y / np.abs(y).max().",
        )  # fmt: skip
    noise = check_noise(noise, model.D_out)
    several = isinstance(mean, list)
    horizon = (mean[0] if several else mean).shape[-2]
    deviation = ndtri(0.5 + 0.5 * coverage) * deviations(model, horizon, noise)
    deviation = namespace(mean[0]).asarray(deviation)
    if several:
        return Forecast(mean, [one - deviation for one in mean], [one + deviation for one in mean])
    return Forecast(mean, mean - deviation, mean + deviation)


def _scale(model: LinearModel) -> Array:
    return np.ones(model.D_out) if model.outputs is None else model.outputs.scale


def deviations(model: LinearModel, horizon: int, noise: Array) -> Array:
    """Standard deviation of the forecast's error at each step, (horizon, D_out)."""
    scale = _scale(model)
    noise = noise / np.outer(scale, scale)
    response = ClosedLoop.of_forecast(model).response(horizon)
    # A loop that grows without bound has infinite intervals.
    with np.errstate(over="ignore", invalid="ignore"):
        variance = np.sum(response * (noise @ response), axis=1)
        return scale * np.sqrt(np.cumsum(np.maximum(variance, 0.0), axis=0))


def check_coverage(coverage: Any) -> float:
    """A probability between 0 and 1."""
    if not is_finite_number(coverage) or not 0 < float(coverage) < 1:
        raise bad_argument(
            "interval", coverage, "the share of cases to cover, in ]0, 1[, such as 0.9"
        )
    return float(coverage)


def check_noise(noise: Any, D: int) -> Array:
    """A covariance, or the variance of a single output."""
    if noise is None:
        wanted = f"the covariance of one-step errors, shape ({D}, {D})"
        remedy = "A network that was not trained here does not know its own."
        raise bad_argument("noise", None, wanted, remedy)
    covariance = np.asarray(noise, np.float64)
    covariance = covariance.reshape(1, 1) if covariance.ndim == 0 else covariance
    if covariance.shape != (D, D) or not np.all(np.isfinite(covariance)):
        raise bad_argument("noise", noise, f"a finite covariance of shape ({D}, {D})")
    if not np.allclose(covariance, covariance.T) or np.any(np.diag(covariance) < 0):
        raise bad_argument("noise", noise, "a symmetric covariance")
    return covariance
