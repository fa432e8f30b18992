"""Training in parts gives the same readout as a single fit to all data."""

from __future__ import annotations

import itertools
import pickle
import warnings
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.exceptions import NotFittedError

import eigenecho as ee
import naive
from eigenecho.errors import IllConditionedWarning, UnstableError
from eigenecho.readout import Gram, Penalty, Triangle
from eigenecho.rows import Fold
from eigenecho.training import update

RNG = np.random.default_rng(0)
X = RNG.normal(size=(600, 2))
Y = np.column_stack([X[:, 0] - 0.5 * np.roll(X[:, 1], 3), np.roll(X[:, 0], 2)])
Y += 0.1 * RNG.normal(size=Y.shape)
A, B, C = slice(0, 250), slice(250, 400), slice(400, 600)
BOTH = (False, True)
SOLVERS = pytest.mark.parametrize("solver", ["qr", "normal"])
LOOPS = pytest.mark.parametrize(("feedback", "previous"), list(itertools.product(BOTH, BOTH)))


def network(**options):
    return ee.LinearESN(20, **{"ridge": 1e-2, "warmup": 15, "seed": 0, **options})


def assert_close(actual, expected, tolerance=1e-9):
    assert np.shape(actual) == np.shape(expected)
    np.testing.assert_allclose(actual, expected, rtol=0, atol=tolerance * np.abs(expected).max())


def partial_fits(esn, pieces):
    for piece in pieces:
        esn.partial_fit(X[piece], Y[piece])
    return esn


# Equality with a single fit --------------------------------------------------------------------


@SOLVERS
@LOOPS
@pytest.mark.parametrize("bias", ["penalised", "free", "none"])
def test_partial_fit_of_series_equals_one_fit(solver, feedback, previous, bias):
    options = {
        "solver": solver,
        "feedback": feedback,
        "output_to_readout": previous,
        "fit_bias": bias != "none",
        "penalize_bias": bias == "penalised",
    }
    pieces = [A, B, C]
    whole = network(**options).fit([X[p] for p in pieces], [Y[p] for p in pieces])
    parts = partial_fits(network(**options), pieces)
    assert parts.solver_ == solver
    assert_close(parts.W_out_, whole.W_out_)
    np.testing.assert_array_equal(parts.final_state_.r, whole.final_state_.r)
    np.testing.assert_array_equal(parts.final_state_.y, whole.final_state_.y)

    m = whole.matrices("neuron")
    expected = naive.fit(
        m.W, m.W_in, [(X[p], Y[p]) for p in pieces], W_fb=m.W_fb, warmup=15, alpha=1e-2,
        fit_bias=bias != "none", penalise_bias=bias == "penalised", output_to_readout=previous,
    )  # fmt: skip
    assert_close(parts.matrices("neuron").W_out, expected)


@SOLVERS
@LOOPS
@pytest.mark.parametrize("basis", ["eigen", "neuron"])
def test_partial_fit_of_pieces_equals_one_fit(solver, feedback, previous, basis):
    options = {"solver": solver, "feedback": feedback, "output_to_readout": previous}
    whole = network(basis=basis, **options).fit(X, Y)
    parts = network(basis=basis, **options).fit(X[A], Y[A])
    for piece in (B, C):
        parts.partial_fit(X[piece], Y[piece], initial_state=parts.final_state_)
    assert_close(parts.W_out_, whole.W_out_)
    assert_close(parts.final_state_.r, whole.final_state_.r, 1e-12)


def test_initial_states_are_given_for_each_series():
    start = network().fit([X[A], X[B]], [Y[A], Y[B]])
    _, states = start.predict([X[A], X[B]], return_state=True)
    together = pickle.loads(pickle.dumps(start))
    together.partial_fit([X[C], X[A]], [Y[C], Y[A]], initial_state=states)
    partial_fits = pickle.loads(pickle.dumps(start))
    partial_fits.partial_fit(X[C], Y[C], initial_state=states[0])
    partial_fits.partial_fit(X[A], Y[A], initial_state=states[1])
    assert_close(partial_fits.W_out_, together.W_out_)
    with pytest.raises(ValueError, match=r"initial_state.*one state per series"):
        start.partial_fit([X[C]], [Y[C]], initial_state=states)


@SOLVERS
def test_statistics_equal_those_of_all_rows(solver):
    parts = partial_fits(network(solver=solver), [A, B])._fitted.evidence.statistics
    whole = network(solver=solver).fit([X[A], X[B]], [Y[A], Y[B]])._fitted.evidence.statistics
    assert parts.rows == whole.rows == 400 - 2 * 15
    if solver == "qr":
        assert_close(parts.rest, whole.rest)
        parts, whole = naive.gram(parts), naive.gram(whole)
    assert_close(parts.XtX, whole.XtX)
    assert_close(parts.XtY, whole.XtY)


@settings(max_examples=25, deadline=None)
@given(
    cuts=st.lists(st.integers(20, 580), max_size=4, unique=True).map(sorted),
    solver=st.sampled_from(["qr", "normal"]),
)
def test_any_split_of_a_series_gives_the_same_readout(cuts, solver):
    edges = [0, *cuts, 600]
    whole = network(solver=solver).fit(X, Y)
    parts = network(solver=solver).fit(X[: edges[1]], Y[: edges[1]])
    for a, b in itertools.pairwise(edges[1:]):
        parts.partial_fit(X[a:b], Y[a:b], initial_state=parts.final_state_)
    assert_close(parts.W_out_, whole.W_out_)


def test_order_does_not_matter():
    assert_close(
        partial_fits(network(), [C, A, B]).W_out_, partial_fits(network(), [A, B, C]).W_out_, 1e-10
    )


@SOLVERS
def test_float32(solver):
    options = {"solver": solver, "dtype": "float32"}
    parts = partial_fits(network(**options), [A, B, C])
    assert parts.W_out_.dtype == np.float32
    whole = network(**options).fit([X[A], X[B], X[C]], [Y[A], Y[B], Y[C]])
    # The weights are stored in float64, so only the rounding of the data differs.
    assert_close(parts.W_out_, whole.W_out_, 3e-7)


def test_generator_continues():
    y = np.sin(0.2 * np.arange(500.0))[:, None]
    whole = network(feedback=True, fb_scaling=0.3).fit(None, y)
    parts = network(feedback=True, fb_scaling=0.3).fit(None, y[:200])
    parts.partial_fit(None, y[200:], initial_state=parts.final_state_)
    assert_close(parts.W_out_, whole.W_out_, 1e-8)
    assert parts.forecast(5).shape == (5, 1)


# Accuracy -------------------------------------------------------------------------------------


def test_correction_loses_digits_only_of_the_change():
    """Correcting good weights for a few more rows keeps digits that a new solution loses."""
    rng = np.random.default_rng(0)
    u = rng.uniform(-1, 1, (5200, 1))
    y = np.roll(u, 5, axis=0) + 0.1 * rng.normal(size=u.shape)
    esn = ee.LinearESN(100, ridge=1e-9, solver="qr", seed=0)
    truth = esn.fit([u[:5000], u[5000:]], [y[:5000], y[5000:]])._fitted.evidence
    start = esn.fit(u[:5000], y[:5000])._fitted.evidence
    as_gram = replace(start, statistics=Gram(*naive.gram(start.statistics)))
    problem = esn.model_.problem([u[5000:]], [y[5000:]], start.penalty, [None])
    corrected, _ = update(as_gram, problem, [(0, 200)])
    anew = corrected.statistics.factorise(start.penalty).weights(start.ridge)

    def distance(w):
        return np.linalg.norm(truth.statistics.R @ (w - truth.weights))

    assert distance(corrected.weights) < 0.3 * distance(anew)


def noise(steps, rng):
    u = rng.uniform(-1, 1, (steps, 1))
    return u, np.roll(u, 5, axis=0) + 0.1 * rng.normal(size=u.shape)


def sines(count, steps):
    x = ee.tasks.mso(count, steps=steps + 1)
    return x[:-1], x[1:]


MORE = {
    "noise": lambda: [noise(2500, np.random.default_rng(0)), noise(500, np.random.default_rng(1))],
    "the same sines": lambda: [sines(3, 2500), sines(3, 500)],
    "other sines": lambda: [sines(2, 2500), sines(5, 500)],
}


def error_after_more(data, **options):
    """Return the relative error of outputs after ``partial_fit``, and its warnings."""
    (u, y), (u2, y2) = MORE[data]()
    exact = ee.LinearESN(100, seed=0, **options | {"solver": "qr"}).fit([u, u2], [y, y2])
    esn = ee.LinearESN(100, seed=0, **options).fit(u, y)
    assert esn.solver_ == options["solver"]
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        esn.partial_fit(u2, y2)
    error = np.abs(esn.predict(u2) - exact.predict(u2)).max() / y2.std()
    return error, [str(w.message) for w in caught if w.category is IllConditionedWarning]


@pytest.mark.parametrize(
    ("data", "warmup", "ridge"),
    [
        ("noise", 0, 1e-8),
        ("the same sines", 0, 1e-6),
        ("other sines", 0, 1e-6),
        ("other sines", 200, 1e-6),  # they occur in the first rows, from a zero state
        ("other sines", 200, 1e-4),
    ],
)
def test_lost_digits_of_normal_equations_cause_a_warning(data, warmup, ridge):
    error, messages = error_after_more(data, solver="normal", warmup=warmup, ridge=ridge)
    assert error > 2e-8
    assert len(messages) == 1
    assert "solver='qr'" in messages[0]


@pytest.mark.parametrize(
    ("data", "warmup", "ridge", "solver"),
    [
        ("noise", 0, 1e-4, "normal"),
        ("the same sines", 0, 1e-2, "normal"),
        ("the same sines", 200, 1e-6, "normal"),
        ("other sines", 200, 1.0, "normal"),
        ("other sines", 200, 1e-6, "qr"),
    ],
)
def test_accurate_digits_cause_no_warning(data, warmup, ridge, solver):
    error, messages = error_after_more(data, solver=solver, warmup=warmup, ridge=ridge)
    assert error < 5e-9
    assert messages == []


def test_float32_rounding_causes_no_warning():
    (u, y), (u2, y2) = MORE["noise"]()
    for dtype, lost in (("float32", False), ("float64", True)):
        esn = ee.LinearESN(100, solver="normal", dtype=dtype, ridge=1e-8, seed=0).fit(u, y)
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            esn.partial_fit(u2, y2)
        assert bool(caught) == lost


@pytest.mark.parametrize("kind", [Gram, Triangle])
def test_statistics_of_targets_minus_predictions(kind):
    esn = network().fit(X, Y)
    problem = esn.model_.problem([X], [Y], Penalty(21), [None])
    w = RNG.normal(size=(21, 2))
    left = problem.gather(kind, Fold([(0, 600)]), less=w).statistics
    full = problem.gather(kind, Fold([(0, 600)])).statistics
    if kind is Triangle:
        left, full = naive.gram(left), naive.gram(full)
    assert_close(left.XtY, full.XtY - full.XtX @ w, 1e-10)


# State that is kept ----------------------------------------------------------------------------


def test_the_first_call_fits():
    first, fitted = network().partial_fit(X[A], Y[A]), network().fit(X[A], Y[A])
    np.testing.assert_array_equal(first.W_out_, fitted.W_out_)
    with pytest.raises(ValueError, match=r"initial_state.*first call"):
        network().partial_fit(X, Y, initial_state=first.final_state_)


def test_scaling_of_the_first_data_is_kept():
    far = 3.0 * X + 100.0
    esn = network(standardize=True).fit(far[A], Y[A]).partial_fit(2.0 * far[B], 5.0 * Y[B])
    u, y = esn.model_.inputs, esn.model_.outputs
    np.testing.assert_allclose(u.mean, far[A].mean(axis=0))
    plain = network().fit(
        [u.forward(far[A]), u.forward(2.0 * far[B])], [y.forward(Y[A]), y.forward(5.0 * Y[B])]
    )
    assert_close(esn.W_out_, plain.W_out_)


def test_selected_ridge_is_kept():
    esn = network(ridge=[1e-6, 1e-1, 1e3]).fit(X[A], Y[A])
    chosen = esn.ridge_
    esn.partial_fit(X[B], Y[B])
    assert esn.ridge_ == chosen
    whole = network(ridge=chosen).fit([X[A], X[B]], [Y[A], Y[B]])
    assert_close(esn.W_out_, whole.W_out_)


def test_one_column_stays_flat():
    esn = network().fit(X[A], Y[A, 0]).partial_fit(X[B], Y[B, 0])
    assert esn.predict(X[C]).shape == (200,)
    whole = network().fit([X[A], X[B]], [Y[A, 0], Y[B, 0]])
    assert_close(esn.predict(X[C]), whole.predict(X[C]))


def test_values_computed_from_old_weights_are_discarded():
    esn = network().fit(X[A, :1], Y[A, 1:])
    before = esn.closed_loop_radius_
    esn.partial_fit(X[B, :1], 3 * Y[B, 1:])
    assert esn.closed_loop_radius_ != before


def test_fit_starts_over():
    esn = network().fit(X[A], Y[A]).partial_fit(X[B], Y[B]).fit(X[C], Y[C])
    np.testing.assert_array_equal(esn.W_out_, network().fit(X[C], Y[C]).W_out_)


def test_singular_system_warns_and_keeps_the_minimum_norm():
    with pytest.warns(IllConditionedWarning):
        esn = network(ridge=0.0, solver="qr", warmup=0).fit(X[:5], Y[:5])
    with pytest.warns(IllConditionedWarning):
        esn.partial_fit(X[5:9], Y[5:9], initial_state=esn.final_state_)
    with pytest.warns(IllConditionedWarning):
        whole = network(ridge=0.0, solver="qr", warmup=0).fit(X[:9], Y[:9])
    assert_close(esn.W_out_, whole.W_out_, 1e-8)


# Rejected calls change nothing -----------------------------------------------------------------


@SOLVERS
@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda e: e.partial_fit(X[:, :1], Y), "features"),
        (lambda e: e.partial_fit(X, Y[:, :1]), "y.*2 columns, as passed to fit"),
        (lambda e: e.partial_fit(X, Y[:-1]), "inconsistent lengths"),
        (lambda e: e.partial_fit(X[:10], Y[:10]), "warmup"),
        (lambda e: e.partial_fit(X, np.full_like(Y, np.nan)), "NaN"),
        (lambda e: e.partial_fit(X), "requires y"),
        (lambda e: e.partial_fit(None, Y), "X=None"),
        (lambda e: e.partial_fit(X, Y, initial_state=3), "initial_state=3"),
        (lambda e: e.partial_fit(1e200 * X, Y), "overflowed"),
    ],
)
def test_rejected_call_changes_nothing(solver, call, message):
    esn = network(solver=solver).fit(X[A], Y[A])
    before = dict(vars(esn))
    with pytest.raises((ValueError, UnstableError), match=message):
        call(esn)
    assert vars(esn).keys() == before.keys()
    assert all(vars(esn)[name] is value for name, value in before.items())


# Files ----------------------------------------------------------------------------------------


@SOLVERS
@pytest.mark.parametrize("penalty", ["neuron", "identity"])
def test_statistics_are_saved_on_request(solver, penalty, tmp_path):
    path = tmp_path / "esn.safetensors"
    esn = network(solver=solver, penalty=penalty, penalize_bias=False).fit(X[A], Y[A])
    esn.save(path)
    small = path.stat().st_size
    with pytest.raises(ValueError, match=r"statistics=True.*Fit the network again"):
        ee.load(path).partial_fit(X[B], Y[B])
    with pytest.raises(ValueError, match="statistics=True"):
        ee.load(path).save(path, statistics=True)

    esn.save(path, statistics=True)
    assert path.stat().st_size > small + 21 * 21 * 8
    loaded, pickled = ee.load(path), pickle.loads(pickle.dumps(esn))
    esn.partial_fit(X[B], Y[B])
    for other in (loaded, pickled):
        other.partial_fit(X[B], Y[B])
        np.testing.assert_array_equal(other.W_out_, esn.W_out_)


def test_unfitted_estimator_cannot_be_saved(tmp_path):
    with pytest.raises(NotFittedError):
        network().save(tmp_path / "x.safetensors", statistics=True)
