"""Prediction intervals of forecasts: one-step noise, propagated through the closed loop.

A true series differs from each prediction by noise ε(t) of covariance Σ, which then passes through
the loop like any output. With Ψ_j the response of the loop to a unit output after j steps,

    error(h) = Σ_j ε(h−j) Ψ_j,   cov(h) = Σ_j Ψ_jᵀ Σ Ψ_j,   j = 0 … h−1,   Ψ_0 = I

which is exact for a linear model. An error δ of the weights adds x(t) δ to every output, at the
rows x(t) along the series, and passes through the loop in the same way: to first order in δ,

    error(h) = Σ_j x(h−j) δ Ψ_j,   var_d(h) = Σ_e ‖Σ_j K_j[e, d] z(h−j)‖²

with K_j = Cᵀ Ψ_j, C Cᵀ = Σ, and z z'ᵀ = x A⁻¹ x'ᵀ (see ``Posterior``): a convolution over
time of N' columns. The rows x(t) of the true series are the rows of the forecast plus the response
of the loop to each ε. Therefore, the sum is also computed along this response, for noise of every
age.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from eigenecho.arrays import NUMPY, namespace, to_host, to_like
from eigenecho.checks import check_coverage
from eigenecho.errors import bad_argument
from eigenecho.model.loop import ClosedLoop, readout_rows
from eigenecho.model.network import Network
from eigenecho.readout import is_regular
from eigenecho.threads import one_blas_thread
from eigenecho.training import Evidence
from eigenecho.types import Array, Forecast

LARGE = 1e100
"""Size of the response above which the variance is treated as infinite."""

SHORT = 64
"""Maximum number of steps of a convolution by matrix products instead of an FFT."""

COLUMNS, PROBES = 96, 8
"""Initial number of random columns to condense rows, and of columns that test the result."""

PAYS = 5
"""Smallest ratio of rows, and of units, to random columns for which condensing saves time."""

MISSED = 1e-11
"""Largest fraction of the sum of squares of the rows that condensing may lose."""


@dataclass(frozen=True, eq=False)
class Posterior:
    """Distribution of the weights, with a ridge as a prior (``readout.likelihood``).

    Weights trained with noise of covariance Σ between the outputs have an error δ with

        cov(x δ, x' δ) = (x A⁻¹ x'ᵀ) Σ,   A = XᵀX + αM = RᵀR

    for any two rows x, x' of the readout. For a small ridge, this is the covariance of the
    least-squares weights. ``root`` is R (N', N'), ``noise`` is Σ (D_out, D_out), and ``free`` is
    the number of rows minus the degrees of freedom of the fit.
    """

    root: Array
    noise: Array
    free: float

    @classmethod
    @one_blas_thread()
    def of(cls, evidence: Evidence) -> Posterior | None:
        """Return the posterior of a trained readout; None if its weights are not unique."""
        try:
            R, _ = evidence.triangle
        except ValueError:  # the ridge is too small for normal equations
            return None
        if not np.all(np.isfinite(evidence.scatter)) or not is_regular(R, evidence.ridge):
            return None
        return cls(R, evidence.noise, evidence.free_rows)

    def whitened(self, rows: Array) -> Array:
        """Return the whitened rows z = x R⁻¹ (T, N'), for which x A⁻¹ x'ᵀ = z z'ᵀ."""
        root = to_like(self.root, rows)
        return namespace(rows).solve_triangular(root, rows.T, transposed=True).T

    def condensed(self, rows: Array) -> Array:
        """Return Z (T, k) with Z Zᵀ = z zᵀ for the whitened rows z, with few columns if possible.

        Rows along a forecast span few directions. Let Q be an orthonormal basis of x R⁻¹Ω for
        random columns Ω, and B = Qᵀ x R⁻¹ = L O. Then Z = Q L requires k solutions with R instead
        of T. Additional random columns estimate the part outside the span of Q.
        """
        rng, (T, N), size = np.random.default_rng(0), rows.shape, COLUMNS
        root = to_host(self.root)
        while PAYS * size < min(T, N):
            shown = rows @ NUMPY.solve_triangular(root, rng.normal(size=(N, size + PROBES)))
            Q, others = np.linalg.qr(shown[:, :size])[0], shown[:, size:]
            if np.sum((others - Q @ (Q.T @ others)) ** 2) <= MISSED * np.sum(others**2):
                B = NUMPY.solve_triangular(root, rows.T @ Q, transposed=True)
                return np.asarray(Q @ np.asarray(np.linalg.qr(B, mode="r")).T)
            size *= 2
        return self.whitened(rows)

    @one_blas_thread()
    def variances(self, rows: Array) -> Array:
        """Return the variances of outputs at rows x (T, N'), with noise: Σ_dd (1 + x A⁻¹ xᵀ)."""
        share = (self.whitened(rows) ** 2).sum(axis=1)
        return (1 + share)[:, None] * namespace(rows).asarray(np.diag(self.noise).copy())


@one_blas_thread()
def with_interval(
    model: Network,
    mean: Any,
    noise: Any,
    coverage: float,
    posterior: Posterior | None = None,
    rows: Array | None = None,
) -> Forecast:
    """Return a forecast with prediction intervals.

    ``mean`` is the forecast, an array (…, horizon, D_out) or a list of arrays (horizon, D_out).
    ``noise`` (D_out, D_out) is the covariance of one-step errors, in the caller's units. With a
    ``posterior`` and the ``rows`` (horizon, N') of the readout along the forecast, the intervals
    include the uncertainty of the weights and of the noise itself.
    """
    from scipy.special import ndtri, stdtrit

    coverage = check_coverage(coverage)
    scale, ends = _scale(model), np.finfo(np.float64)
    if not np.all((scale > np.sqrt(ends.tiny)) & (scale < np.sqrt(ends.max))):
        expected = "None, because the variance of these outputs overflows or underflows"
        raise bad_argument("interval", coverage, expected, "Scale the series before training.")
    noise = check_noise(noise, model.D_out)
    several = isinstance(mean, list)
    scatter = deviations(model, mean[0].shape[0] if several else mean.shape[-2], noise)
    quantile = 0.5 + 0.5 * coverage
    if posterior is None or rows is None:
        width = ndtri(quantile) * scatter
    else:
        uncertainty = weight_deviations(model, posterior, noise, rows)
        width = stdtrit(posterior.free, quantile) * np.hypot(scatter, uncertainty)
    width = namespace(mean[0]).asarray(width)
    if several:
        return Forecast(mean, [y - width for y in mean], [y + width for y in mean])
    return Forecast(mean, mean - width, mean + width)


def _scale(model: Network) -> Array:
    return np.ones(model.D_out) if model.outputs is None else model.outputs.scale


def deviations(model: Network, horizon: int, noise: Array) -> Array:
    """Return the standard deviation of the error due to noise at each step, (horizon, D_out)."""
    scale = _scale(model)
    noise = noise / np.outer(scale, scale)
    response = ClosedLoop.of_forecast(model).response(horizon)
    # An unstable loop has infinite intervals.
    with np.errstate(over="ignore", invalid="ignore"):
        variance = np.sum(response * (noise @ response), axis=1)
        return scale * np.sqrt(np.cumsum(np.maximum(variance, 0.0), axis=0))


def weight_deviations(model: Network, posterior: Posterior, noise: Array, rows: Array) -> Array:
    """Return the standard deviation of the error due to uncertain weights, (horizon, D_out).

    ``rows`` (horizon, N') are the rows x of the readout along the forecast.
    """
    scale, loop = _scale(model), ClosedLoop.of_forecast(model)
    response = loop.response(len(rows))
    # Squares of larger values would overflow, and an FFT would spread them over all steps.
    large = np.flatnonzero(~(np.abs(response).max(axis=(1, 2)) < LARGE))
    finite = int(large[0]) if large.size else len(rows)
    response, variance = response[:finite], np.full((len(rows), model.D_out), np.inf)
    variance[:finite] = _propagate(posterior, response, rows[:finite])
    if finite > 1:
        root = _root(noise / np.outer(scale, scale))
        responses = np.tensordot(root.T, _response_rows(model, loop, response), 1)
        ages = sum(_propagate(posterior, response[:-1], rows) for rows in responses)
        variance[1:finite] += np.cumsum(ages, axis=0)
    return scale * np.sqrt(variance)


def _response_rows(model: Network, loop: ClosedLoop, response: Array) -> Array:
    """Return the rows of the readout along the response to a unit value of each output.

    The constant column is 0.
    """
    loop, none = replace(loop, B=loop.B[:0]), np.zeros((len(response) - 1, 0))
    outputs = response[:-1].transpose(1, 0, 2)
    states = [loop.states(none, y) for y in outputs]
    rows = np.stack([readout_rows(model, y, r) for y, r in zip(outputs, states, strict=True)])
    rows[:, :, : int(model.readout_bias)] = 0.0
    return rows


def _propagate(posterior: Posterior, response: Array, rows: Array) -> Array:
    """Return the variance (T, D_out) due to uncertain weights at rows x (T, N') up to each step."""
    T, _, D = response.shape
    variance = np.zeros((T, D))
    fade = _growth(response) ** -np.arange(T, dtype=np.float64)[:, None]
    response = response * fade[:, :, None]
    K = np.einsum("ie,jid->jed", _root(posterior.noise), response)
    for (_, d), sums in _convolve(K, posterior.condensed(rows * fade)):
        with np.errstate(over="ignore"):
            variance[:, d] += np.sum((sums / fade) ** 2, axis=1)
    return variance


def _convolve(K: Array, z: Array) -> Iterator[tuple[tuple[int, ...], Array]]:
    """Yield each K[:, e, d] ∗ z along time, (T, k).

    The rounding errors of an FFT are relative to the largest step. So exponential growth is removed
    before the FFT and restored afterwards: (g^−j K_j) ∗ (g^−t z(t)) = g^−h (K ∗ z)(h).
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
    """Return the growth factor per step between the halves of a response, at least 1."""
    sizes = np.abs(response).max(axis=(1, 2))
    half = len(sizes) // 2
    ratio = sizes[half:].max() / sizes[: max(half, 1)].max()
    return float(max(ratio, 1.0) ** (1 / (len(sizes) - half)))


def _root(covariance: Array) -> Array:
    """Return a matrix C with C Cᵀ = covariance. The covariance may be singular."""
    values, vectors = np.linalg.eigh((covariance + covariance.T) / 2)
    return vectors * np.sqrt(np.maximum(values, 0.0))


def check_noise(noise: Any, D: int) -> Array:
    """Validate a covariance and return it as an array (D, D); a number is accepted if D is 1."""
    expected = f"a finite, symmetric covariance of one-step errors with shape ({D}, {D})"
    try:
        covariance = np.atleast_2d(np.asarray(to_host(noise), np.float64))
    except (TypeError, ValueError):
        raise bad_argument("noise", noise, expected) from None
    valid = covariance.shape == (D, D) and np.all(np.isfinite(covariance))
    if not valid or not np.allclose(covariance, covariance.T) or np.any(np.diag(covariance) < 0):
        raise bad_argument("noise", noise, expected)
    return covariance
