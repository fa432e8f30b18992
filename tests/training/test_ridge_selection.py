"""Automatic selection of the ridge, for every solver and every option of a network."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
from scipy.stats import multivariate_normal

import eigenecho as ee
from eigenecho.errors import IllConditionedWarning, UnstableError

RNG = np.random.default_rng(0)
U = RNG.normal(size=(400, 2))
Y = np.stack([np.roll(U[:, 0], 2) + 0.5 * U[:, 1], U[:, 0]], axis=1)
Y = Y + [0.3, 2.0] * RNG.normal(size=Y.shape) + [0.0, 5.0]
OPTIONS = {
    "plain": {},
    "identity": {"penalty": "identity"},
    "free bias": {"penalize_bias": False},
    "no bias": {"fit_bias": False},
    "standardised": {"standardize": True, "penalize_bias": False},
    "feedback": {"feedback": True, "output_to_readout": True, "fb_scaling": 0.2},
    "matrix": {"spectrum": "matrix", "basis": "neuron", "rc_connectivity": 0.3},
}


def network(ridge="auto", **options):
    return ee.LinearESN(**{"units": 20, "warmup": 10, "seed": 0} | options, ridge=ridge)


def densities(esn, X, Y, ridges):
    """Return log densities of the targets in the neuron basis, from dense covariances."""
    Y = np.asarray(Y)
    r = esn.states(X, basis="neuron") if esn.penalty == "neuron" else esn.transform(X)
    rows = [r]
    if esn.output_to_readout:
        rows.insert(0, np.concatenate([np.zeros((1, 2)), Y[:-1]]))
    if esn.fit_bias and esn.penalize_bias:
        rows.insert(0, np.ones((len(r), 1)))
    X, Y = np.concatenate(rows, axis=1)[esn.warmup :], Y[esn.warmup :]
    if esn.fit_bias and not esn.penalize_bias:
        beside = np.linalg.qr(np.column_stack([np.ones(len(X)), np.eye(len(X))]))[0][:, 1:].T
        X, Y = beside @ X, beside @ Y
    results = []
    for ridge in ridges:
        covariance = np.eye(len(X)) + X @ X.T / ridge
        noise = [y @ np.linalg.solve(covariance, y) / len(y) for y in Y.T]
        each = zip(Y.T, noise, strict=True)
        results.append(sum(multivariate_normal.logpdf(y, cov=s * covariance) for y, s in each))
    return np.array(results)


@pytest.mark.parametrize("options", OPTIONS.values(), ids=OPTIONS)
def test_log_evidence_equals_a_dense_gaussian(options):
    X, y = U[:120], Y[:120]
    # With feedback, the states would depend on the true outputs.
    esn = network(**options | {"feedback": False}).fit(X, y)
    expected = densities(esn, X, y, [esn.ridge_])
    assert esn.log_evidence_ == pytest.approx(expected[0], rel=1e-6)


@pytest.mark.parametrize("options", OPTIONS.values(), ids=OPTIONS)
def test_every_solver_finds_the_same_ridge(options):
    results = [network(solver=s, **options).fit(U, Y) for s in ("qr", "normal")]
    for esn in results[1:]:
        assert esn.ridge_ == pytest.approx(results[0].ridge_, rel=1e-3)
        assert esn.log_evidence_ == pytest.approx(results[0].log_evidence_, rel=1e-6)
    given = network(results[0].ridge_, solver="qr", **options).fit(U, Y)
    np.testing.assert_array_equal(given.W_out_, results[0].W_out_)
    assert given.log_evidence_ == pytest.approx(results[0].log_evidence_, rel=1e-9)


def test_normal_equations_select_the_ridge():
    exact, sums = (network(solver=s, units=60).fit(U, Y) for s in ("qr", "normal"))
    assert sums.solver_ == "normal"
    assert sums.ridge_ == pytest.approx(exact.ridge_, rel=1e-3)


def test_units_of_the_targets_do_not_matter():
    esn, other = network().fit(U, Y), network().fit(U, 1e6 * Y)
    assert other.ridge_ == pytest.approx(esn.ridge_, rel=1e-4)
    np.testing.assert_allclose(other.noise_, 1e12 * esn.noise_, rtol=1e-3)


@pytest.mark.parametrize("scale", [2.0**-500, 2.0**500])  # 3e±150
@pytest.mark.parametrize("solver", ["qr", "normal"])
@pytest.mark.parametrize("ridge", ["auto", [1e-3, 1.0, 1e2], 1e-2], ids=str)
def test_units_at_the_ends_of_the_range_do_not_matter(ridge, solver, scale):
    """Ridge selection does not underflow for targets near 1e-150."""
    options = {"solver": solver, "penalize_bias": False}
    esn, other = (network(ridge, **options).fit(U, size * Y) for size in (1.0, scale))
    assert other.solver_ == esn.solver_
    assert other.ridge_ == pytest.approx(esn.ridge_, rel=1e-6)
    np.testing.assert_allclose(other.model_.W_out / scale, esn.model_.W_out, rtol=1e-4, atol=1e-9)
    noise = other.noise_covariance_ / scale / scale
    np.testing.assert_allclose(noise, esn.noise_covariance_, rtol=1e-6)
    actual, deviation = other.predict(U, return_std=True)
    wanted, expected = esn.predict(U, return_std=True)
    np.testing.assert_allclose(actual / scale, wanted, atol=1e-5)
    np.testing.assert_allclose(deviation / scale, expected, rtol=1e-6)
    rows = 390 * Y.shape[1] - Y.shape[1]  # a free bias uses one row of each output
    moved = esn.log_evidence_ - other.log_evidence_
    assert moved == pytest.approx(rows * np.log(scale), rel=1e-9)


@pytest.mark.parametrize("solver", ["qr", "normal"])
@pytest.mark.parametrize("ridge", ["auto", [1e-3, 1.0]], ids=str)
def test_targets_whose_squares_overflow_or_underflow(ridge, solver):
    """Targets are rescaled for the selection, unless the rows hold previous outputs."""
    fed = network(ridge, solver=solver, output_to_readout=True)
    with pytest.raises(UnstableError, match="overflowed"):
        fed.fit(U, 1e200 * Y)
    with pytest.warns(IllConditionedWarning, match=r"Some targets are so small.*standardize=True"):
        fed.fit(U, 1e-200 * Y)
    chosen = [network(ridge, solver=solver).fit(U, s * Y).ridge_ for s in (1.0, 1e-200, 1e200)]
    np.testing.assert_allclose(chosen, chosen[0], rtol=1e-6)
    # Columns of zeros carry no information, and cause no warning.
    zeros = Y * [1.0, 0.0]
    expected = network(ridge, solver=solver).fit(U, Y[:, :1])
    assert network(ridge, solver=solver).fit(U, zeros).ridge_ == pytest.approx(expected.ridge_)
    scaled = network(ridge, solver=solver, standardize=True)
    chosen = [scaled.fit(U, scale * Y).ridge_ for scale in (1.0, 1e-200, 1e200)]
    np.testing.assert_allclose(chosen, chosen[0], rtol=1e-6)


def test_units_of_standardised_targets_change_only_the_density():
    esn, other = (network(standardize=True).fit(U, scale * Y) for scale in (1.0, 10.0))
    assert other.ridge_ == pytest.approx(esn.ridge_, rel=1e-6)
    assert esn.log_evidence_ - other.log_evidence_ == pytest.approx(2 * 390 * np.log(10))


@pytest.mark.parametrize("standardize", [False, True])
def test_outputs_with_gaps_have_their_own_ridges(standardize):
    y = Y.copy()
    y[50:90, 0] = y[200:230, 1] = np.nan
    options = {"missing": "skip", "standardize": standardize}
    esn = network(**options).fit(U, y)
    alone = [network(**options).fit(U, y[:, [i]]) for i in (0, 1)]
    np.testing.assert_allclose(esn.ridge_, [one.ridge_ for one in alone], rtol=1e-6)
    assert esn.log_evidence_ == pytest.approx(sum(one.log_evidence_ for one in alone))
    with pytest.raises(ValueError, match=r"not available.*different rows"):
        esn.predict(U, return_std=True)


def test_ridge_separates_noise_from_signal():
    esn = network(units=60).fit(U, Y)
    np.testing.assert_allclose(np.sqrt(esn.noise_), [0.3, 2.0], rtol=0.15)


def test_noise_free_targets_select_the_smallest_effective_ridge():
    x = ee.tasks.mso(3, 601)
    exact = network(units=50, warmup=100).fit(x[:-1], x[1:])
    assert exact.ridge_ < 1e-20
    assert np.abs(exact.predict(x[:-1]) - x[1:])[100:].max() < 1e-10
    with pytest.warns(IllConditionedWarning, match="solver='normal' was replaced by 'qr'"):
        refined = network(units=50, warmup=100, solver="normal").fit(x[:-1], x[1:])
    assert refined.solver_ == "qr"
    assert refined.ridge_ == exact.ridge_


def test_ridge_is_good_even_if_its_prior_is_wrong():
    """Recalling old inputs needs weights that are unlikely under a ridge of any size."""
    rng = np.random.default_rng(3)
    u = rng.uniform(-1, 1, (1150, 1))
    y = np.roll(u, 19, axis=0) + 0.03 * rng.normal(size=u.shape)

    def error(ridge):
        esn = ee.LinearESN(50, sr=0.95, warmup=20, ridge=ridge, seed=0).fit(u[:150], y[:150])
        return np.sqrt(np.mean((esn.predict(u) - y)[150:] ** 2))

    assert error("auto") < 1.3 * min(map(error, 10.0 ** np.arange(-10, 4)))


def test_partial_fit_keeps_the_ridge():
    esn = network().fit(U[:200], Y[:200])
    ridge, first = esn.ridge_, esn.log_evidence_
    esn.partial_fit(U[200:], Y[200:])
    assert esn.ridge_ == ridge
    both = network(ridge).fit([U[:200], U[200:]], [Y[:200], Y[200:]])
    assert esn.log_evidence_ == pytest.approx(both.log_evidence_, rel=1e-9)
    assert esn.log_evidence_ != first


@pytest.mark.parametrize("ridge", ["Auto", "gcv", "", "1"])
def test_unknown_names_are_rejected(ridge):
    with pytest.raises(ValueError, match=f"ridge='{ridge}'.*'auto' or 'loop'"):
        network(ridge).fit(U, Y)


def test_no_ridge_has_no_density():
    esn = network(0.0, units=5).fit(U, Y)
    assert not hasattr(esn, "log_evidence_")


@pytest.mark.parametrize("solver", ["qr", "normal"])
def test_targets_of_zero_on_held_out_rows_are_not_too_small(solver):
    y = Y.copy()
    y[300:] = 0.0
    with warnings.catch_warnings():
        warnings.simplefilter("error", IllConditionedWarning)
        network([1e-3, 1.0], solver=solver).fit(U, y)
