"""Fits on shards are those of one machine: every solver, every option, wherever series are cut."""

import dask.array as da
import numpy as np
import pytest
from dask.delayed import delayed

import eigenecho as ee
from data import cut, esn, recall, same
from eigenecho.dask import fit
from eigenecho.training.structured import lag_count

pytestmark = pytest.mark.usefixtures("here")

SOLVERS = ["structured", "gram", "qr", "refined"]
X, Y = recall(3000)
W = np.random.default_rng(3).normal(size=(40, 40)) / 8
OPTIONS = {
    "plain": {},
    "standardised": {"standardize": True, "input_bias": True, "warmup": 100},
    "a warmup longer than a shard": {"warmup": 1100},
    "several ridges": {"ridge": [1e-3, 1e-2, 1.0]},
    "likeliest ridge": {"ridge": "auto"},
    "feedback": {"feedback": True, "fb_scaling": 0.1, "standardize": True},
    "y(t-1) in the readout": {"output_to_readout": True, "fit_bias": False},
    "a ring that never settles": {"spectrum": "ring", "sr": 1.0},
    "slow modes": {"sr": 0.999},
    "resonance": {"units": 120, "sr": 0.995, "penalty": "identity"},
}


@pytest.mark.parametrize("solver", SOLVERS)
@pytest.mark.parametrize("options", OPTIONS.values(), ids=OPTIONS)
def test_one_long_series(solver, options):
    params = {"solver": solver, **options}
    close = 1e-7 if solver == "gram" else 1e-10  # of normal equations half the digits are there
    if options.get("ridge") == "auto":
        close = 1e-6  # where a maximum lies is known to √ε
    wanted = esn(**params).fit(X, Y)
    same(fit(esn(**params), cut(X, 500), cut(Y, 500)), wanted, X, close)


@pytest.mark.parametrize("solver", SOLVERS)
@pytest.mark.parametrize("options", [{}, OPTIONS["feedback"]], ids=["plain", "feedback"])
def test_chunks_shorter_than_the_halo_carry_states(solver, options):
    params = {"solver": solver, "ridge": 1e-2, **options}
    wanted = esn(**params).fit(X[:1200], Y[:1200])
    found = fit(esn(**params), cut(X[:1200], 45), cut(Y[:1200], 45))
    same(found, wanted, X, 1e-7 if solver == "gram" else 1e-10)


def test_a_halo_is_joined_across_neighbours():
    chunks = (1200, 7, 3, 40, 0, 1, 1749)
    params = {"solver": "structured"}
    wanted = esn(**params).fit(X, Y)
    u, y = (da.from_array(part, chunks=(chunks, part.shape[1])) for part in (X, Y))
    same(fit(esn(**params), u, y), wanted, X)


def test_targets_cut_otherwise_are_cut_alike():
    wanted = esn(solver="qr").fit(X, Y)
    same(fit(esn(solver="qr"), cut(X, 500), cut(Y, 700)), wanted, X)


@pytest.mark.parametrize("solver", ["gram", "qr", "refined"])
@pytest.mark.parametrize("matrix", ["dense", "sparse", "triangular"])
def test_states_of_matrices_are_carried(solver, matrix):
    rng = np.random.default_rng(0)
    given = {"dense": W, "sparse": W * (rng.random(W.shape) < 0.1), "triangular": np.triu(W)}
    params = {"spectrum": given[matrix], "solver": solver, "ridge": 1e-2}
    if matrix == "dense":
        params["basis"] = "neuron"
    wanted = esn(**params).fit(X, Y)
    same(fit(esn(**params), cut(X, 500), cut(Y, 500)), wanted, X, 1e-8)


@pytest.mark.parametrize("solver", SOLVERS)
def test_ragged_series(solver):
    pieces = [slice(0, 900), slice(900, 1000), slice(1100, 2900)]
    us, ys = [X[one] for one in pieces], [Y[one] for one in pieces]
    params = {"solver": solver, "warmup": 20, "standardize": True}
    wanted = esn(**params).fit(us, ys)
    close = 1e-7 if solver == "gram" else 1e-10
    arrays = [cut(u, 400) for u in us], [cut(y, 400) for y in ys]
    same(fit(esn(**params), *arrays), wanted, us, close)
    late = [delayed(u) for u in us], [delayed(y) for y in ys]
    same(fit(esn(**params), *late), wanted, us, close)
    wanted = esn(**params).fit(us[0], ys[0])
    same(fit(esn(**params), delayed(us[0]), delayed(ys[0])), wanted, us[0], close)


@pytest.mark.parametrize("options", [{"warmup": 450}, {"ridge": [1e-3, 1e-2, 1.0]}], ids=str)
@pytest.mark.parametrize("rows", [400, 45])
def test_a_series_whose_first_shard_is_left_out_does_not_continue_another(options, rows):
    us, ys = [X[:900], X[1100:2900]], [Y[:900], Y[1100:2900]]
    params = {"solver": "structured", **options}
    wanted = esn(**params).fit(us, ys)
    found = fit(esn(**params), [cut(u, rows) for u in us], [cut(y, rows) for y in ys])
    same(found, wanted, us)
    XtX = (
        wanted._fitted.evidence.single.statistics.XtX
    )  # refinement hides errors in it from predictions
    np.testing.assert_allclose(
        found._fitted.evidence.single.statistics.XtX, XtX, rtol=1e-7, atol=1e-6
    )


def test_a_stack():
    us, ys = X.reshape(3, 1000, 1), Y.reshape(3, 1000, 2)
    wanted = esn().fit(us, ys)
    found = fit(esn(), da.from_array(us, chunks=(1, 300, 1)), da.from_array(ys, chunks=(2, 500, 2)))
    same(found, wanted, list(us))


def test_a_generator():
    params = {"feedback": True, "ridge": 1e-3}
    y = ee.tasks.mso(2, steps=1500)
    wanted, found = esn(**params).fit(None, y), fit(esn(**params), None, cut(y, 400))
    np.testing.assert_allclose(found.forecast(20), wanted.forecast(20), atol=1e-9)


def test_a_generator_of_delayed_series():
    params = {"feedback": True, "ridge": 1e-3}
    y = ee.tasks.mso(2, steps=1500)
    wanted = esn(**params).fit(None, [y[:900], y[900:]])
    found = fit(esn(**params), None, [delayed(y[:900]), delayed(y[900:])])
    np.testing.assert_allclose(found.forecast(20), wanted.forecast(20), atol=1e-9)


def test_flat_targets_and_single_precision():
    wanted = esn(dtype="float32", solver="qr").fit(X, Y[:, 0])
    found = fit(esn(dtype="float32", solver="qr"), cut(X, 500), cut(Y[:, 0], 500))
    assert found.predict(X).shape == (3000,)
    assert found.W_out_.dtype == np.float32
    np.testing.assert_allclose(found.predict(X), wanted.predict(X), atol=1e-4)


@pytest.mark.parametrize("solver", ["gram", "qr", "refined"])
def test_targets_that_are_missing(solver):
    y = Y.copy()
    y[np.random.default_rng(0).random(3000) < 0.3] = np.nan
    params = {"missing": "skip", "solver": solver}
    wanted = esn(**params).fit(X, y)
    same(fit(esn(**params), cut(X, 500), cut(y, 500)), wanted, X, 1e-8)


def test_lags_are_used_where_they_are_on_one_machine():
    u, y = recall(20_000)
    esn_ = esn(solver="structured", units=100)
    wanted = esn(solver="structured", units=100).fit(u, y)
    assert lag_count(wanted.model_.problem([u], [y], None, [None])) is not None
    same(fit(esn_, cut(u, 3000), cut(y, 3000)), wanted, u)


def test_what_is_fitted_goes_on():
    u = ee.tasks.mso(3, steps=2001)
    params = {"solver": "qr", "standardize": True, "ridge": 1e-6}
    wanted = esn(**params).fit(u[:-1], u[1:])
    found = fit(esn(**params), cut(u[:-1], 300), cut(u[1:], 300))
    np.testing.assert_allclose(found.forecast(50), wanted.forecast(50), atol=1e-7)
    assert found.n_features_in_ == 1
    more = ee.tasks.mso(3, steps=2500)[2000:]
    for one in (wanted, found):
        one.partial_fit(more[:-1], more[1:], initial_state=one.final_state_)
    np.testing.assert_allclose(found.predict(more), wanted.predict(more), atol=1e-7)
    assert found.log_evidence_ == pytest.approx(wanted.log_evidence_, rel=1e-3)


def test_a_failed_fit_leaves_the_estimator_as_it_was():
    found = fit(esn(), cut(X, 500), cut(Y, 500))
    before = found.predict(X)
    bad = X.copy()
    bad[1234, 0] = np.nan
    with pytest.raises(ValueError, match="row 1234"):
        fit(found, cut(bad, 500), cut(Y, 500))
    np.testing.assert_array_equal(found.predict(X), before)


@pytest.mark.parametrize("rows", [1, 7])
def test_chunks_of_any_length_know_the_kind_of_the_targets(rows):
    next_row = fit(esn(ridge=1.0), cut(X[:-1][:40], rows), cut(X[1:][:40], rows))
    next_row.forecast(3)
    same_row = fit(esn(ridge=1.0), cut(X[:40], rows), cut(X[:40], rows))
    with pytest.raises(ValueError, match="y = X"):
        same_row.forecast(3)
