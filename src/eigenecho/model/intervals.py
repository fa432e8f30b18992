"""How far a forecast can be off: the noise of single steps, carried through the closed loop.

A true series departs from each prediction by noise ε(t) of covariance Σ, which then goes round
the loop like any output. With Ψ_j the response of the loop, j steps on, to a unit output,

    error(h) = Σ_j ε(h−j) Ψ_j,   cov(h) = Σ_j Ψ_jᵀ Σ Ψ_j,   j = 0 … h−1,   Ψ_0 = I

which is exact for a linear model. Weights that are off by δ add x(t) δ to every output, at the
rows x(t) that the series passes, and that goes round in the same way: to first order in δ,

    error(h) = Σ_j x(h−j) δ Ψ_j,   var_d(h) = Σ_e ‖Σ_j K_j[e, d] z(h−j)‖²

with K_j = Cᵀ Ψ_j, C Cᵀ = Σ, and z z'ᵀ = x A⁻¹ x'ᵀ as ``training.posterior`` has it: a convolution
over time of N' columns. The rows x(t) are those of the forecast, and what the noise adds to them,
which is the loop's response to each ε: the same sum once more along that response, for noise of
every age.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import numpy as np

from eigenecho.arrays import namespace, to_host
from eigenecho.checks import is_finite_number
from eigenecho.errors import bad_argument
from eigenecho.model.loop import ClosedLoop, readout_rows
from eigenecho.threads import one_blas_thread
from eigenecho.types import Array, Forecast

if TYPE_CHECKING:
    from eigenecho.model.model import LinearModel
    from eigenecho.training import Posterior

LARGE = 1e100
"""A response that is no forecast any more."""

SHORT = 64
"""Steps up to which a sum over time is a matrix product."""


@one_blas_thread()
def with_interval(
    model: LinearModel,
    mean: Any,
    noise: Any,
    coverage: float,
    posterior: Posterior | None = None,
    rows: Array | None = None,
) -> Forecast:
    """The forecast ``mean`` (…, horizon, D_out), or a list, with bounds around every output.

    ``noise`` (D_out, D_out) is the covariance of single steps, in the caller's units. With a
    ``posterior`` and the ``rows`` (horizon, N') of the readout along the forecast, weights that
    are off are in the bounds too, and few rows that the noise is known from make them wider.
    """
    from scipy.special import ndtri, stdtrit

    coverage = check_coverage(coverage)
    scale, ends = _scale(model), np.finfo(np.float64)
    if not np.all((scale > np.sqrt(ends.tiny)) & (scale < np.sqrt(ends.max))):
        raise bad_argument(
            "interval", coverage, "None: no float holds the variance of these outputs",
            "Train on a series that is scaled, such as y / np.abs(y).max().",
        )  # fmt: skip
    noise = check_noise(noise, model.D_out)
    several = isinstance(mean, list)
    one = deviations(model, mean[0].shape[0] if several else mean.shape[-2], noise)
    share = 0.5 + 0.5 * coverage
    if posterior is None or rows is None:
        reach = ndtri(share) * one
    else:
        more = of_weights(model, posterior, noise, rows)
        reach = stdtrit(posterior.free, share) * np.hypot(one, more)
    reach = namespace(mean[0]).asarray(reach)
    if several:
        return Forecast(mean, [one - reach for one in mean], [one + reach for one in mean])
    return Forecast(mean, mean - reach, mean + reach)


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


def of_weights(model: LinearModel, posterior: Posterior, noise: Array, rows: Array) -> Array:
    """The part of it that is due to the weights, for rows x (horizon, N') along the forecast."""
    scale, loop = _scale(model), ClosedLoop.of_forecast(model)
    response = loop.response(len(rows))
    # Beyond this no float holds the variance, and a transform would spread it over all steps.
    large = np.flatnonzero(~(np.abs(response).max(axis=(1, 2)) < LARGE))
    known = int(large[0]) if large.size else len(rows)
    response, variance = response[:known], np.full((len(rows), model.D_out), np.inf)
    variance[:known] = _moved(posterior, response, rows[:known])
    if known > 1:
        root = _root(noise / np.outer(scale, scale))
        answers = np.tensordot(root.T, _answered_rows(model, loop, response), 1)
        ages = sum(_moved(posterior, response[:-1], answer) for answer in answers)
        variance[1:known] += np.cumsum(ages, axis=0)
    return scale * np.sqrt(variance)


def _answered_rows(model: LinearModel, loop: ClosedLoop, response: Array) -> Array:
    """The readout's rows (D_out, horizon − 1, N') along the answer to each unit output.

    Without the constant, which is no answer to anything.
    """
    states = loop.response_states(response)
    rows = np.stack([readout_rows(model, response[:-1, i], x) for i, x in enumerate(states)])
    rows[:, :, : int(model.readout_bias)] = 0.0
    return rows


def _moved(posterior: Posterior, response: Array, rows: Array) -> Array:
    """Variance (T, D_out) at each of the rows x (T, N'), of all δ up to there, carried on."""
    T, _, D = response.shape
    variance = np.zeros((T, D))
    fade = _growth(response) ** -np.arange(T, dtype=np.float64)[:, None]
    response = response * fade[:, :, None]
    for part in posterior.parts:
        z = part.condensed(rows * fade)
        K = np.einsum("ie,jid->jed", _root(part.noise), response[:, part.columns])
        for (_, d), moved in _convolved(K, z):
            with np.errstate(over="ignore"):
                variance[:, d] += np.sum((moved / fade) ** 2, axis=1)
    return variance


def _convolved(K: Array, z: Array) -> Iterator[tuple[tuple[int, ...], Array]]:
    """Each K[:, e, d] ∗ z along time, (T, k).

    A transform rounds every step as it does the largest. So what grows is divided by its growth
    before, and multiplied after: (g^−j K_j) ∗ (g^−t z(t)) = g^−h (K ∗ z)(h).
    """
    from scipy import fft
    from scipy.linalg import toeplitz

    T = len(z)
    if T <= SHORT:
        for e, d in np.ndindex(K.shape[1:]):
            yield (e, d), toeplitz(K[:, e, d], np.zeros(T)) @ z
        return
    n = fft.next_fast_len(2 * T, real=True)
    K, z = fft.rfft(K, n, axis=0), fft.rfft(z, n, axis=0)
    for e, d in np.ndindex(K.shape[1:]):
        yield (e, d), fft.irfft(K[:, e, d, None] * z, n, axis=0)[:T]


def _growth(response: Array) -> float:
    """By how much a response grows at each step, from its first half to the second; 1 or more."""
    sizes = np.abs(response).max(axis=(1, 2))
    half = len(sizes) // 2
    ratio = sizes[half:].max() / sizes[: max(half, 1)].max()
    return float(max(ratio, 1.0) ** (1 / (len(sizes) - half)))


def _root(covariance: Array) -> Array:
    """C with C Cᵀ = covariance, which may be singular."""
    values, vectors = np.linalg.eigh((covariance + covariance.T) / 2)
    return vectors * np.sqrt(np.maximum(values, 0.0))


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
    try:
        covariance = np.asarray(to_host(noise), np.float64)
    except (TypeError, ValueError):
        raise bad_argument("noise", noise, f"numbers of shape ({D}, {D})") from None
    covariance = covariance.reshape(1, 1) if covariance.ndim == 0 else covariance
    if covariance.shape != (D, D) or not np.all(np.isfinite(covariance)):
        raise bad_argument("noise", noise, f"a finite covariance of shape ({D}, {D})")
    if not np.allclose(covariance, covariance.T) or np.any(np.diag(covariance) < 0):
        raise bad_argument("noise", noise, "a symmetric covariance")
    return covariance
