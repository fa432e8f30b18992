"""Fits on shards equal fits on one machine, for every solver and option and any chunking."""

import dask.array as da
import numpy as np
import pytest
from dask.delayed import delayed

import eigenecho as ee
from data import cut, esn, recall, same
from eigenecho.dask import fit
from eigenecho.training.sums import lag_count

pytestmark = pytest.mark.usefixtures("here")

SOLVERS = ["normal", "qr"]
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
def test_single_long_series(solver, options):
    params = {"solver": solver, **options}
    # The position of a maximum is accurate to √ε.
    close = 1e-6 if options.get("ridge") == "auto" else 1e-10
    expected = esn(**params).fit(X, Y)
    same(fit(esn(**params), cut(X, 500), cut(Y, 500)), expected, X, close)


@pytest.mark.parametrize("solver", SOLVERS)
@pytest.mark.parametrize("options", [{}, OPTIONS["feedback"]], ids=["plain", "feedback"])
def test_chunks_shorter_than_the_halo_carry_states(solver, options):
    params = {"solver": solver, "ridge": 1e-2, **options}
    expected = esn(**params).fit(X[:1200], Y[:1200])
    actual = fit(esn(**params), cut(X[:1200], 45), cut(Y[:1200], 45))
    same(actual, expected, X, 1e-10)


def test_halo_is_joined_across_neighbours():
    chunks = (1200, 7, 3, 40, 0, 1, 1749)
    params = {"solver": "normal"}
    expected = esn(**params).fit(X, Y)
    u, y = (da.from_array(part, chunks=(chunks, part.shape[1])) for part in (X, Y))
    same(fit(esn(**params), u, y), expected, X)


def test_targets_with_other_chunks_are_rechunked():
    expected = esn(solver="qr").fit(X, Y)
    same(fit(esn(solver="qr"), cut(X, 500), cut(Y, 700)), expected, X)


@pytest.mark.parametrize("solver", ["normal", "qr"])
@pytest.mark.parametrize("matrix", ["dense", "sparse", "triangular"])
def test_states_of_matrices_are_carried(solver, matrix):
    rng = np.random.default_rng(0)
    given = {"dense": W, "sparse": W * (rng.random(W.shape) < 0.1), "triangular": np.triu(W)}
    params = {"spectrum": given[matrix], "solver": solver, "ridge": 1e-2}
    if matrix == "dense":
        params["basis"] = "neuron"
    expected = esn(**params).fit(X, Y)
    same(fit(esn(**params), cut(X, 500), cut(Y, 500)), expected, X, 1e-8)


@pytest.mark.parametrize("solver", SOLVERS)
def test_ragged_series(solver):
    pieces = [slice(0, 900), slice(900, 1000), slice(1100, 2900)]
    us, ys = [X[piece] for piece in pieces], [Y[piece] for piece in pieces]
    params = {"solver": solver, "warmup": 20, "standardize": True}
    expected = esn(**params).fit(us, ys)
    close = 1e-10
    arrays = [cut(u, 400) for u in us], [cut(y, 400) for y in ys]
    same(fit(esn(**params), *arrays), expected, us, close)
    late = [delayed(u) for u in us], [delayed(y) for y in ys]
    same(fit(esn(**params), *late), expected, us, close)
    expected = esn(**params).fit(us[0], ys[0])
    same(fit(esn(**params), delayed(us[0]), delayed(ys[0])), expected, us[0], close)


@pytest.mark.parametrize("options", [{"warmup": 450}, {"ridge": [1e-3, 1e-2, 1.0]}], ids=str)
@pytest.mark.parametrize("rows", [400, 45])
def test_series_with_an_unused_first_shard_does_not_continue_another(options, rows):
    us, ys = [X[:900], X[1100:2900]], [Y[:900], Y[1100:2900]]
    params = {"solver": "normal", **options}
    expected = esn(**params).fit(us, ys)
    actual = fit(esn(**params), [cut(u, rows) for u in us], [cut(y, rows) for y in ys])
    same(actual, expected, us)
    XtX = (
        expected._fitted.evidence.statistics.XtX
    )  # refinement would hide errors of XtX in predictions
    np.testing.assert_allclose(actual._fitted.evidence.statistics.XtX, XtX, rtol=1e-7, atol=1e-6)


def test_stack():
    us, ys = X.reshape(3, 1000, 1), Y.reshape(3, 1000, 2)
    expected = esn().fit(us, ys)
    actual = fit(
        esn(), da.from_array(us, chunks=(1, 300, 1)), da.from_array(ys, chunks=(2, 500, 2))
    )
    same(actual, expected, list(us))


def test_generator():
    params = {"feedback": True, "ridge": 1e-3}
    y = ee.tasks.mso(2, steps=1500)
    expected, actual = esn(**params).fit(None, y), fit(esn(**params), None, cut(y, 400))
    np.testing.assert_allclose(actual.forecast(20), expected.forecast(20), atol=1e-9)


def test_generator_of_delayed_series():
    params = {"feedback": True, "ridge": 1e-3}
    y = ee.tasks.mso(2, steps=1500)
    expected = esn(**params).fit(None, [y[:900], y[900:]])
    actual = fit(esn(**params), None, [delayed(y[:900]), delayed(y[900:])])
    np.testing.assert_allclose(actual.forecast(20), expected.forecast(20), atol=1e-9)


def test_flat_targets_and_single_precision():
    expected = esn(dtype="float32", solver="qr").fit(X, Y[:, 0])
    actual = fit(esn(dtype="float32", solver="qr"), cut(X, 500), cut(Y[:, 0], 500))
    assert actual.predict(X).shape == (3000,)
    assert actual.W_out_.dtype == np.float32
    np.testing.assert_allclose(actual.predict(X), expected.predict(X), atol=1e-4)


@pytest.mark.parametrize("solver", ["normal", "qr"])
def test_missing_targets(solver):
    y = Y.copy()
    y[np.random.default_rng(0).random(3000) < 0.3] = np.nan
    params = {"missing": "skip", "solver": solver}
    expected = esn(**params).fit(X, y)
    same(fit(esn(**params), cut(X, 500), cut(y, 500)), expected, X, 1e-8)


@pytest.mark.parametrize("solver", ["normal", "qr"])
def test_ridges_are_compared_on_observed_targets(solver):
    y = Y.copy()
    y[np.random.default_rng(0).random(3000) < 0.3] = np.nan
    params = {"missing": "skip", "solver": solver, "ridge": [1e-3, 10.0]}
    expected = esn(**params).fit(X, y)
    same(fit(esn(**params), cut(X, 500), cut(y, 500)), expected, X, 1e-8)
    y[2400:] = np.nan
    for attempt in (
        lambda: esn(**params).fit(X, y),
        lambda: fit(esn(**params), cut(X, 500), cut(y, 500)),
    ):
        with pytest.raises(ValueError, match="too short to hold out rows"):
            attempt()


@pytest.mark.parametrize("scale", [1e160, 1e-165])
@pytest.mark.parametrize("ridge", ["auto", [1e-6, 1e-2]])
@pytest.mark.parametrize("solver", ["qr", "normal"])
def test_extreme_targets_are_rescaled(scale, ridge, solver):
    params = {"ridge": ridge, "solver": solver}
    expected = esn(**params).fit(X, scale * Y)
    actual = fit(esn(**params), cut(X, 45), cut(scale * Y, 45))
    same(actual, expected, X, 1e-6)
    assert actual.log_evidence_ == pytest.approx(expected.log_evidence_, rel=1e-6)


SHORT = {
    "fewer rows than weights": (X[:30], Y[:30]),
    "a single row": (X[:1], Y[:1]),
    "series of single rows": ([*X[:30, None]], [*Y[:30, None]]),
}


@pytest.mark.parametrize("series", SHORT.values(), ids=SHORT)
def test_fits_warn_as_on_one_machine(series):
    chunks = [[cut(p, 9) for p in s] if isinstance(s, list) else cut(s, 9) for s in series]
    with pytest.warns() as expected:
        esn(ridge=1e-9).fit(*series)
    with pytest.warns() as actual:
        fit(esn(ridge=1e-9), *chunks)
    assert [str(w.message) for w in actual] == [str(w.message) for w in expected]


def test_lags_are_used_as_on_one_machine():
    u, y = recall(20_000)
    esn_ = esn(solver="normal", units=100)
    expected = esn(solver="normal", units=100).fit(u, y)
    assert lag_count(expected.model_.problem([u], [y], None, [None])) is not None
    same(fit(esn_, cut(u, 3000), cut(y, 3000)), expected, u)


def test_fitted_network_can_be_updated():
    u = ee.tasks.mso(3, steps=2001)
    params = {"solver": "qr", "standardize": True, "ridge": 1e-6}
    expected = esn(**params).fit(u[:-1], u[1:])
    actual = fit(esn(**params), cut(u[:-1], 300), cut(u[1:], 300))
    np.testing.assert_allclose(actual.forecast(50), expected.forecast(50), atol=1e-7)
    assert actual.n_features_in_ == 1
    more = ee.tasks.mso(3, steps=2500)[2000:]
    for one in (expected, actual):
        one.partial_fit(more[:-1], more[1:], initial_state=one.final_state_)
    np.testing.assert_allclose(actual.predict(more), expected.predict(more), atol=1e-7)
    assert actual.log_evidence_ == pytest.approx(expected.log_evidence_, rel=1e-3)


def test_failed_fit_does_not_change_the_estimator():
    result = fit(esn(), cut(X, 500), cut(Y, 500))
    before = result.predict(X)
    bad = X.copy()
    bad[1234, 0] = np.nan
    with pytest.raises(ValueError, match="row 1234"):
        fit(result, cut(bad, 500), cut(Y, 500))
    np.testing.assert_array_equal(result.predict(X), before)


@pytest.mark.parametrize("rows", [1, 7])
def test_kind_of_targets_does_not_depend_on_chunks(rows):
    next_row = fit(esn(ridge=1.0), cut(X[:-1][:40], rows), cut(X[1:][:40], rows))
    next_row.forecast(3)
    same_row = fit(esn(ridge=1.0), cut(X[:40], rows), cut(X[:40], rows))
    with pytest.raises(ValueError, match="y equals X"):
        same_row.forecast(3)
