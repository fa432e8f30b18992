"""Training without states: XᵀX from sums over time, and iterative refinement to full precision."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.signal import lfilter

import eigenecho as ee
from eigenecho.basis import random_basis
from eigenecho.grid_search import candidates
from eigenecho.kernels import costs
from eigenecho.readout import Gram, Lags, Penalty, Triangle, correlate
from eigenecho.reservoir import Recipe, draw
from eigenecho.rows import Fold
from eigenecho.training import Problem
from eigenecho.training.refine import RefinedWeights, fitted_values, project, residuals
from eigenecho.training.sums import sums_over

INPUTS = {
    "white": lambda rng, T: rng.uniform(-1, 1, (T, 1)),
    "sines": lambda rng, T: ee.tasks.mso(5, T),
    "ar": lambda rng, T: lfilter([1.0], [1.0, -0.95], rng.normal(size=(T, 1)), axis=0),
}


def make(lengths=(700, 431), D_in=1, D_out=1, *, head=True, feedback=False, bias=False, **recipe):
    rng = np.random.default_rng(3)
    inputs = [rng.uniform(-1, 1, (T, D_in)) for T in lengths]
    outputs = [np.roll(u[:, :1], 2, axis=0) + rng.normal(size=(len(u), D_out)) for u in inputs]
    given = Recipe(**{"units": 40, "input_bias": bias, "fb_scaling": 0.1} | recipe)
    drawn = draw(given, D_in, D_out if feedback else 0, seed=1)
    size = drawn.reservoir.units + head * (1 + D_out)
    return Problem(
        reservoir=drawn.reservoir,
        penalty=Penalty(size),
        fit_bias=head,
        output_to_readout=head,
        inputs=inputs,
        outputs=outputs,
    )


def direct(problem, block):
    return problem.gather(Gram, Fold(block)).statistics


def assert_same_gram(actual, expected, tol=1e-12):
    assert actual.rows == expected.rows
    for a, b in ((actual.XtX, expected.XtX), (actual.XtY, expected.XtY)):
        np.testing.assert_allclose(a, b, rtol=0, atol=tol * np.abs(b).max())


SPECTRA = ("golden", "uniform", "noisy_golden", "ring", "time_constants", "sim")


@pytest.mark.parametrize("spectrum", SPECTRA)
@pytest.mark.parametrize("sr", [0.0, 0.5, 0.9, 0.999, 1.0])
@pytest.mark.parametrize("lr", [1.0, 0.3])
def test_gram_equals_that_of_the_states(spectrum, sr, lr):
    if spectrum == "time_constants" and sr == 0:
        sr = 0.7  # the law does not support larger radii
    problem = make(spectrum=spectrum, sr=sr, lr=lr)
    block = [(100, 690), (50, 431)]
    assert_same_gram(problem.gather_gram(block).statistics, direct(problem, block))


@pytest.mark.parametrize("D_in", [1, 3])
@pytest.mark.parametrize("D_out", [1, 2])
@pytest.mark.parametrize("feedback", [False, True])
@pytest.mark.parametrize("bias", [False, True])
@pytest.mark.parametrize("head", [False, True])
def test_gram_with_inputs_feedback_bias_and_head(D_in, D_out, feedback, bias, head):
    problem = make(D_in=D_in, D_out=D_out, head=head, feedback=feedback, bias=bias)
    block = [(0, 700), (30, 400)]
    assert_same_gram(problem.gather_gram(block).statistics, direct(problem, block))


@given(
    edges=st.tuples(st.integers(0, 300), st.integers(1, 400)),
    sr=st.floats(0.0, 1.0),
    D_in=st.integers(1, 3),
    units=st.integers(1, 30),
)
@settings(deadline=None, max_examples=40)
def test_both_methods_of_computing_moments_agree(edges, sr, D_in, units):
    problem = make(lengths=(700,), D_in=D_in, units=units, sr=sr)
    block = [(edges[0], edges[0] + edges[1])]
    reservoir = problem.reservoir
    one = sums_over(problem, block, None)
    other = sums_over(problem, block, 700).moments(reservoir)
    for name in ("C", "S", "starts", "stops"):
        a, b = getattr(one, name), getattr(other, name)
        np.testing.assert_allclose(a, b, rtol=0, atol=1e-12 * (1 + np.abs(a).max()))


@given(
    T=st.integers(1, 9000), start=st.integers(0, 500), K=st.integers(1, 600), seed=st.integers(0, 9)
)
@settings(deadline=None, max_examples=40)
def test_correlations_by_fft_equal_the_sums(T, start, K, seed):
    rng = np.random.default_rng(seed)
    drive, side = rng.normal(size=(start + T, 2)), rng.normal(size=(T, 3))
    actual = correlate(side, drive, start, K)
    padded = np.concatenate([np.zeros((K, 2)), drive])
    for k in {0, K // 2, K - 1}:
        first = K + start - k
        expected = side.T @ padded[first : first + T]
        np.testing.assert_allclose(actual[k], expected, rtol=0, atol=1e-11 * (1 + np.sqrt(T)))


def test_lags_serve_any_reservoir_and_merge():
    problem = make()
    block = [(100, 700), (20, 431)]
    both = sums_over(problem, block, 400)
    parts = [
        sums_over(replace(problem, inputs=[u], outputs=[y]), [b], 400)
        for u, y, b in zip(problem.inputs, problem.outputs, block, strict=True)
    ]
    merged = parts[0].merge(parts[1])
    assert isinstance(merged, Lags)
    np.testing.assert_array_equal(merged.rho, both.rho)
    for sr, lr in ((0.3, 1.0), (0.8, 0.5), (0.9, 1.0)):
        other = make(sr=sr, lr=lr)
        moments = merged.moments(other.reservoir)
        result = moments.gram(other.reservoir.spectrum, other.reservoir.B, 1)
        assert_same_gram(result, direct(other, block))


@pytest.mark.parametrize("sr", [0.5, 1.0])
@pytest.mark.parametrize("basis", ["eigen", "neuron"])
def test_residuals_and_their_projection_equal_those_of_the_states(sr, basis):
    problem = make(D_out=2, sr=sr, feedback=True, basis=basis)
    block = [(100, 690), (0, 431)]
    w = np.random.default_rng(0).normal(size=(problem.size, 2))
    left = residuals(problem, block, w)
    projected = np.zeros((problem.size, 2))
    for i, (start, stop) in enumerate(block):
        chunks = problem.rows(i).chunks(0, len(problem.inputs[i]), 1000)
        X = np.concatenate([X.copy() for _, X in chunks])
        expected = problem.outputs[i] - X @ w
        np.testing.assert_allclose(left[i], expected[start:stop], rtol=0, atol=1e-10)
        projected += X[start:stop].T @ expected[start:stop]
    actual = project(problem, block, left)
    np.testing.assert_allclose(actual, projected, rtol=0, atol=1e-11 * np.abs(projected).max())


@pytest.mark.parametrize("kind", INPUTS)
@pytest.mark.parametrize("sr", [0.5, 0.9, 0.99, 0.999, 1.0])
@pytest.mark.parametrize("relative", [1e-9, 1e-6, 1e-3])
def test_refined_solution_equals_qr_or_reports_failure(kind, sr, relative):
    rng = np.random.default_rng(5)
    u = INPUTS[kind](rng, 4001)
    X, y = u[:-1], u[1:] + (0.01 * rng.normal(size=(4000, 1)) if kind != "sines" else 0)
    params = {"units": 100, "sr": sr, "warmup": 200, "seed": 2}
    probe = ee.LinearESN(**params, ridge=1.0).fit(X, y)
    mean_diagonal = np.mean(np.sum(probe.states(X, basis="neuron")[200:] ** 2, axis=0))
    ridge = relative * mean_diagonal
    exact = ee.LinearESN(**params, ridge=ridge, solver="qr").fit(X, y)
    actual = ee.LinearESN(**params, ridge=ridge, solver="normal").fit(X, y)
    assert actual.solver_ in ("normal", "qr")
    if kind == "white":
        assert actual.solver_ == "normal"
    expected, result = exact.predict(X)[200:], actual.predict(X)[200:]
    np.testing.assert_allclose(result, expected, rtol=0, atol=1e-8 * np.abs(expected).max())


def test_unsolvable_systems_fall_back_to_qr():
    u = ee.tasks.mso(8, 3001)
    params = {"units": 200, "sr": 0.9, "ridge": 1e-20, "warmup": 100, "seed": 0}
    esn = ee.LinearESN(**params, solver="normal").fit(u[:-1], u[1:])
    assert esn.solver_ == "qr"
    exact = ee.LinearESN(**params, solver="qr").fit(u[:-1], u[1:])
    np.testing.assert_array_equal(esn.W_out_, exact.W_out_)


@pytest.mark.parametrize(
    "params",
    [
        {"basis": "neuron"},
        {"spectrum": "ring", "sr": 0.999},  # every mode in resonance with another
        {"sr": 1.5},
    ],
    ids=["no eigenvalues", "resonant", "unstable"],
)
@pytest.mark.filterwarnings("ignore::eigenecho.errors.UnstableWarning")
def test_reservoirs_without_sums_over_time_use_states(params):
    u = np.random.default_rng(0).uniform(-1, 1, (101, 1))
    options = {"seed": 0, "ridge": 1e-3, **params}
    esn = ee.LinearESN(50, **options).fit(u[:-1], u[1:])
    assert esn.solver_ == "qr"
    refined = ee.LinearESN(50, solver="normal", **options).fit(u[:-1], u[1:])
    expected = esn.predict(u)
    limit = 1e-8 * np.abs(expected).max()
    np.testing.assert_allclose(refined.predict(u), expected, rtol=0, atol=limit)


@pytest.mark.parametrize("params", [{"basis": "neuron"}, {}, {"ridge": [1e-6, 1e-3]}])
@pytest.mark.parametrize("solver", ["auto", "normal"])
def test_reported_solver_can_be_requested(solver, params, monkeypatch, prefer_sums):
    """A reported solver can be requested, even if ``auto`` refines the equations of a large W."""
    prefer_sums(True)
    monkeypatch.setattr(costs, "MAX_QR_FLOPS", 0.0)
    rng = np.random.default_rng(0)
    u = rng.normal(size=(500, 1))
    y = np.roll(u, 3, axis=0) + 0.1 * rng.normal(size=u.shape)
    options = {"units": 30, "ridge": 1e-4, "warmup": 20, "seed": 0, **params}
    esn = ee.LinearESN(**options, solver=solver).fit(u, y)
    assert esn.solver_ == "normal"
    again = ee.LinearESN(**options, solver=esn.solver_).fit(u, y)
    assert (again.solver_, again.ridge_) == (esn.solver_, esn.ridge_)
    np.testing.assert_array_equal(again.W_out_, esn.W_out_)
    orthogonal = ee.LinearESN(**options, solver="qr").fit(u, y)
    np.testing.assert_allclose(esn.predict(u), orthogonal.predict(u), rtol=0, atol=1e-9)


def test_long_series_use_it_automatically():
    u = np.random.default_rng(0).uniform(-1, 1, (60_001, 1))
    esn = ee.LinearESN(200, ridge=1e-3, warmup=100, seed=0).fit(u[:-1], np.roll(u, 2)[:-1])
    assert esn.solver_ == "normal"
    exact = ee.LinearESN(200, ridge=1e-3, warmup=100, seed=0, solver="qr")
    exact.fit(u[:-1], np.roll(u, 2)[:-1])
    expected = exact.predict(u)
    np.testing.assert_allclose(esn.predict(u), expected, rtol=0, atol=1e-9 * np.abs(expected).max())
    np.testing.assert_allclose(esn.final_state_.r, exact.final_state_.r, rtol=0, atol=1e-13)


@pytest.mark.parametrize("feedback", [False, True])
def test_selected_ridge_equals_that_of_qr(feedback):
    rng = np.random.default_rng(0)
    series = [rng.uniform(-1, 1, (T, 2)) for T in (900, 1300)]
    targets = [np.roll(u[:, 0], 3) + 0.1 * rng.normal(size=len(u)) for u in series]
    params = {
        "units": 60,
        "ridge": [1e-4, 1e-2, 1.0, 100.0, 1e4],
        "warmup": 50,
        "seed": 0,
        "feedback": feedback,
        "fb_scaling": 0.1,
        "standardize": True,
    }
    normal, qr = (
        ee.LinearESN(**params, solver=solver).fit(series, targets) for solver in ("normal", "qr")
    )
    assert normal.solver_ == "normal"
    assert normal.ridge_ == qr.ridge_
    teacher = {"y_previous": targets} if feedback else {}
    for actual, expected in zip(
        normal.predict(series, **teacher), qr.predict(series, **teacher), strict=True
    ):
        np.testing.assert_allclose(actual, expected, rtol=0, atol=1e-9)


def test_single_precision_is_trained_in_double():
    u = np.random.default_rng(0).uniform(-1, 1, (2001, 1))
    params = {"units": 50, "ridge": 1e-2, "seed": 0, "warmup": 50, "solver": "normal"}
    single = ee.LinearESN(**params, dtype="float32").fit(u[:-1], u[1:])
    double = ee.LinearESN(**params).fit(u[:-1], u[1:])
    assert single.solver_ == "normal"
    assert single.W_out_.dtype == np.float32
    assert single.final_state_.r.dtype == np.float32
    np.testing.assert_allclose(single.predict(u), double.predict(u), rtol=0, atol=1e-5)


@pytest.mark.parametrize("free", [0, 1])
@pytest.mark.parametrize("from_rows", [Gram, Triangle])
def test_corrections_solve_the_normal_equations_of_every_candidate(free, from_rows):
    rng = np.random.default_rng(0)
    N, D, rows_ = 8, 2, 90
    basis = random_basis(ee.spectra.golden(N), rng)
    X = np.concatenate([np.ones((rows_, 1)), rng.normal(size=(rows_, N)) + 0.5], axis=1)
    penalty = Penalty(N + 1, free, basis)
    statistics = from_rows.empty(N + 1, D).absorb(X, rng.normal(size=(rows_, D)))
    factorised = statistics.factorise(penalty, 1)
    ridges, scales = np.array([1e-3, 0.5, 2.0]), np.array([1.0, 0.1, 3.0])
    gradient = rng.normal(size=(N + 1, 3, D))
    actual = factorised.corrections(gradient, ridges, scales)
    for c, (ridge, scale) in enumerate(zip(ridges, scales, strict=True)):
        M = penalty.gram() * ridge / scale**2
        M[0, 0] = 0.0 if free else ridge
        expected = np.linalg.solve(X.T @ X + M, gradient[:, c])
        np.testing.assert_allclose(
            actual[:, c], expected, rtol=0, atol=1e-9 * np.abs(expected).max()
        )


@pytest.mark.parametrize("options", [{}, {"feedback": True}, {"standardize": True}])
def test_search_scores_are_equal_with_and_without_states(options, monkeypatch, prefer_sums):
    rng = np.random.default_rng(1)
    series = [rng.uniform(-1, 1, (T, 1)) for T in (1500, 900)]
    targets = [np.roll(u, 3, axis=0) + 0.05 * rng.normal(size=u.shape) for u in series]
    grid = {
        "sr": [0.5, 0.9],
        "lr": [1.0, 0.5],
        "ridge": [1e-4, 1e-2, 1.0],
        "input_scaling": [0.3, 1.0],
    }
    esn = ee.LinearESN(40, warmup=50, seed=0, fb_scaling=0.1, **options)
    answered = []
    honest = candidates.errors_from_lags

    def recorded(*args):
        answered.append(honest(*args))
        return answered[-1]

    monkeypatch.setattr(candidates, "errors_from_lags", recorded)
    prefer_sums(False)
    with_states = ee.search(esn, grid, series, targets, refit=False, seeds=[0, 1])
    assert all(a is None for a in answered)
    answered.clear()
    prefer_sums(True)
    without = ee.search(esn, grid, series, targets, refit=False, seeds=[0, 1])
    assert answered
    assert all(a is not None for a in answered)
    np.testing.assert_allclose(without.errors, with_states.errors, rtol=1e-7)


def test_search_falls_back_to_states_when_sums_are_inaccurate(prefer_sums):
    """Noise-free sines are predicted to more digits than normal equations hold."""
    u = ee.tasks.mso(5, 1501)
    prefer_sums(True)
    esn = ee.LinearESN(60, warmup=100, seed=0)
    grid = {"ridge": [1e-20, 1e-14], "sr": [0.9]}
    actual = ee.search(esn, grid, u[:-1], u[1:], refit=False)
    prefer_sums(False)
    expected = ee.search(esn, grid, u[:-1], u[1:], refit=False)
    np.testing.assert_array_equal(actual.errors, expected.errors)


@pytest.mark.parametrize(
    ("series", "warmup"),
    [("sines", 200), ("constant", 200), ("white", 3990)],
    ids=["sines", "constant", "fewer rows than weights"],
)
@pytest.mark.parametrize("ridge", [1e-8, 1e-6, 1e-4, 1e-2])
def test_weights_are_accurate_for_inputs_unlike_the_training_data(series, warmup, ridge):
    """Weights that only the ridge determines have effects in other series."""
    rng = np.random.default_rng(7)
    u = np.ones((4001, 1)) if series == "constant" else INPUTS[series](rng, 4001)
    other = rng.uniform(-1, 1, (500, 1))
    params = {"units": 100, "warmup": warmup, "ridge": ridge, "seed": 0}
    actual = ee.LinearESN(**params, solver="normal").fit(u[:-1], u[1:])
    exact = ee.LinearESN(**params, solver="qr").fit(u[:-1], u[1:])
    expected = exact.predict(other)
    np.testing.assert_allclose(
        actual.predict(other), expected, rtol=0, atol=1e-7 * np.abs(expected).max()
    )


@pytest.mark.parametrize("size", [1.0, 1e-5, 1e-8, 1e-12])
def test_residuals_after_the_last_step_equal_recomputed_residuals(size):
    """Small steps update the residuals to first order; larger steps recompute them."""
    problem = make(D_out=2, sr=0.9)
    rng, block = np.random.default_rng(0), [(100, 690), (50, 431)]
    w, step = rng.normal(size=(2, problem.size, 2))
    step *= size
    moved = np.linalg.norm(np.concatenate(fitted_values(problem, block, step)), axis=0)
    actual = RefinedWeights(problem.with_weights(block, w), step, moved)
    expected = problem.with_weights(block, actual.w)
    np.testing.assert_array_equal(actual.w, w + step)
    np.testing.assert_allclose(actual.scatter, expected.scatter, rtol=2e-12)
    if size > 1e-6:
        np.testing.assert_array_equal(actual.scatter, expected.scatter)


def test_search_scores_are_correct_for_ridges_below_rounding(prefer_sums):
    prefer_sums(True)
    u = np.random.default_rng(0).uniform(-1, 1, (6000, 1))
    k = np.arange(100)
    y = lfilter(0.8**k * np.cos(k), [1.0], u, axis=0)
    esn = ee.LinearESN(60, warmup=100, seed=0, sr=0.8, input_scaling=10.0)
    grid = {"ridge": [1e-12, 1e-9, 1e-6, 1e-3]}
    actual = ee.search(esn, grid, u, y, refit=False)
    each = [ee.search(esn, {"ridge": [r]}, u, y, refit=False).errors for r in grid["ridge"]]
    prefer_sums(False)
    expected = ee.search(esn, grid, u, y, refit=False).errors
    np.testing.assert_allclose(actual.errors, expected, rtol=1e-4)
    np.testing.assert_allclose(np.concatenate(each), expected, rtol=1e-4)


def test_series_without_validation_rows():
    rng = np.random.default_rng(0)
    series = [rng.uniform(-1, 1, (T, 1)) for T in (3000, 502)]
    esn = ee.LinearESN(400, sr=0.9017, solver="normal", ridge=[1e-6, 1e-3], warmup=500, seed=0)
    esn.fit(series, [np.roll(u, 1) for u in series])
    assert esn.solver_ == "normal"


@pytest.mark.parametrize("scale", [1e-150, 1e140])
def test_units_of_the_targets_do_not_matter(scale):
    u = np.random.default_rng(0).uniform(-1, 1, (2000, 1))
    params = {"units": 50, "ridge": 1e-3, "seed": 0, "warmup": 50, "solver": "normal"}
    one = ee.LinearESN(**params).fit(u[:-1], u[1:])
    other = ee.LinearESN(**params).fit(u[:-1], scale * u[1:])
    assert one.solver_ == other.solver_ == "normal"
    np.testing.assert_allclose(other.W_out_ / scale, one.W_out_, rtol=1e-9)


def test_search_refines_until_scores_equal_those_of_the_states(prefer_sums):
    """The second refinement round reduces the error that remains after the first."""
    u = np.random.default_rng(0).uniform(-1, 1, (8000, 1))
    k = np.arange(200)
    y = lfilter(0.8**k * np.cos(k), [1.0], u, axis=0)
    esn = ee.LinearESN(300, warmup=100, seed=0, sr=0.8, input_scaling=10.0)
    scores = []
    for wanted in (True, False):
        prefer_sums(wanted)
        scores.append(ee.search(esn, {"ridge": [1e-5]}, u, y, refit=False).best_error)
    assert scores[0] != scores[1]  # the scores are computed in different ways
    assert scores[0] == pytest.approx(scores[1], rel=3e-5)


def test_normal_equations_are_tried_where_qr_would_take_far_longer():
    """They converge although 1/cond is 1e-17, so that a fit takes a twentieth of the time."""
    rng = np.random.default_rng(0)
    u = rng.uniform(-1, 1, (200_000, 1))
    y = np.roll(u, 10) + 0.1 * rng.normal(size=u.shape)
    esn = ee.LinearESN(300, ridge=2e-8, warmup=100, seed=0).fit(u, y)
    assert esn.solver_ == "normal"
    exact = ee.LinearESN(300, ridge=2e-8, warmup=100, seed=0, solver="qr").fit(u, y)
    fresh = rng.uniform(-1, 1, (2000, 1))
    np.testing.assert_allclose(esn.predict(fresh), exact.predict(fresh), atol=1e-6 * y.std())
