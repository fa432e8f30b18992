"""Both estimators pass the checks of scikit-learn, and can be composed."""

from __future__ import annotations

import ast
import copy
import inspect
import pickle
import textwrap

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.linear_model import Ridge
from sklearn.metrics import r2_score
from sklearn.model_selection import GridSearchCV, TimeSeriesSplit, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import PolynomialFeatures, StandardScaler
from sklearn.utils.estimator_checks import parametrize_with_checks

from eigenecho import DiagonalReservoir, LinearESN, Spectrum, load, tasks
from optional import optional

pd = optional("pandas")

BOTH = [LinearESN, DiagonalReservoir]

SEQUENCE = {
    "check_methods_sample_order_invariance": (
        "rows are time steps: a shuffled series is another series"
    ),
    "check_methods_subset_invariance": (
        "a row's state carries the rows before it, which a batch of later rows leaves out"
    ),
    "check_sample_weight_equivalence_on_dense_data": (
        "a row with weight 2 has the same state twice, whereas a repeated row of X is another step"
    ),
}
"""Checks that a sequence model cannot pass; any other failure is a bug."""


@parametrize_with_checks(
    [
        LinearESN(seed=0),
        LinearESN(ridge="auto", seed=0),
        DiagonalReservoir(seed=0),
    ],
    expected_failed_checks=lambda estimator: SEQUENCE,
)
def test_sklearn_checks(estimator, check):
    check(estimator)


@pytest.mark.parametrize("method", ["predict", "transform"])
def test_expected_failures_fail(method):
    # If these pass, states do not depend on the past, and the list above hides a bug.
    X = np.random.default_rng(0).normal(size=(30, 2))
    esn = LinearESN(units=10, seed=0).fit(X, X)
    run = getattr(esn, method)
    assert not np.allclose(run(X)[::-1], run(X[::-1]))
    assert not np.allclose(run(X)[15:], run(X[15:]))


@pytest.fixture
def series():
    X = tasks.mso(3, steps=401)
    return X[:-1], X[1:]


# Construction ---------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", BOTH)
def test_init_only_assigns(kind):
    tree = ast.parse(textwrap.dedent(inspect.getsource(kind.__init__)))
    names = [name for name in inspect.signature(kind.__init__).parameters if name != "self"]
    body = tree.body[0].body
    assert [ast.unparse(line) for line in body] == [f"self.{name} = {name}" for name in names]


@pytest.mark.parametrize("kind", BOTH)
def test_get_params_returns_the_given_values(kind):
    odd = {name: object() for name in kind().get_params()}
    estimator = kind(**odd)
    assert all(estimator.get_params()[name] is value for name, value in odd.items())
    assert estimator.set_params(units=7) is estimator
    assert estimator.units == 7


def test_fit_does_not_modify_params(series):
    X, y = series
    ridges, spectrum = [1e-6, 1e-3], Spectrum([0.5, -0.5])
    esn = LinearESN(3, spectrum=spectrum, ridge=ridges, lr=0.5, seed=0, warmup=10)
    before = dict(esn.get_params())
    assert esn.fit(X, y) is esn
    assert all(esn.get_params()[name] is value for name, value in before.items())
    assert ridges == [1e-6, 1e-3]


def test_fitted_names_end_in_an_underscore(series):
    esn = LinearESN(20, seed=0)
    before = set(vars(esn))
    esn.fit(*series)
    new = set(vars(esn)) - before
    assert new
    assert all(name.endswith("_") or name.startswith("_") for name in new)


@pytest.mark.parametrize("kind", BOTH)
def test_unfitted_estimator_raises(kind):
    X = np.ones((5, 1))
    with pytest.raises(NotFittedError, match="not fitted yet"):
        kind().transform(X)
    if kind is LinearESN:
        esn = kind()
        calls = [
            lambda: esn.predict(X),
            lambda: esn.score(X, X),
            lambda: esn.states(X),
            lambda: esn.forecast(3),
            lambda: esn.stream(),
            lambda: esn.save("nowhere"),
            lambda: esn.matrices(),
            lambda: esn.coef_,
            lambda: esn.spectrum_,
            lambda: esn.effective_radius_,
            lambda: esn.closed_loop_radius_,
        ]
        for call in calls:
            with pytest.raises(NotFittedError, match="not fitted yet"):
                call()


# clone, pickle --------------------------------------------------------------------------------


def test_refitted_clone_is_equal(series):
    esn = LinearESN(30, lr=0.7, feedback=True, ridge=[1e-6, 1e-4], seed=3).fit(*series)
    twin = clone(esn)
    assert not hasattr(twin, "model_")
    assert twin.get_params() == esn.get_params()
    np.testing.assert_array_equal(twin.fit(*series).predict(series[0]), esn.predict(series[0]))


@pytest.mark.parametrize("spectrum", [Spectrum([0.5], [0.3 + 0.4j]), np.diag([0.5, 0.2])])
def test_clone_with_a_given_reservoir(spectrum, series):
    esn = LinearESN(spectrum=spectrum, seed=0)
    np.testing.assert_array_equal(
        clone(esn).fit(*series).predict(series[0]), esn.fit(*series).predict(series[0])
    )


@pytest.mark.parametrize(("basis", "connectivity"), [("eigen", 1.0), ("neuron", 0.1)])
def test_pickle_keeps_the_fit(series, basis, connectivity):
    X, y = series
    esn = LinearESN(
        30, spectrum="matrix", basis=basis, rc_connectivity=connectivity, standardize=True, seed=0
    )
    esn.fit(X, y)
    back = pickle.loads(pickle.dumps(esn))
    np.testing.assert_array_equal(back.predict(X), esn.predict(X))
    np.testing.assert_array_equal(back.forecast(5), esn.forecast(5))
    assert back.get_params() == esn.get_params()


def test_pickle_of_a_transformer(series):
    X, _ = series
    reservoir = DiagonalReservoir(30, seed=0).fit(X)
    np.testing.assert_array_equal(
        pickle.loads(pickle.dumps(reservoir)).transform(X), reservoir.transform(X)
    )


# Seeds ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", BOTH)
def test_results_depend_on_the_seed(kind, series):
    X, y = series

    def states(seed):
        return kind(20, seed=seed).fit(X, y).transform(X)

    np.testing.assert_array_equal(states(4), states(4))
    np.testing.assert_array_equal(states(4), states(np.random.default_rng(4)))
    assert not np.allclose(states(4), states(5))
    assert not np.allclose(states(None), states(None))


def test_fit_does_not_use_the_global_generator(series):
    np.random.seed(0)  # noqa: NPY002
    before = np.random.get_state()[1].copy()  # noqa: NPY002
    LinearESN(20).fit(*series)
    np.testing.assert_array_equal(np.random.get_state()[1], before)  # noqa: NPY002


def test_refitting_discards_the_previous_fit(series):
    X, y = series
    esn = LinearESN(20, feedback=True, ridge=1.0, seed=0)
    once = esn.fit(X, y).predict(X)
    radius = esn.closed_loop_radius_
    esn.fit(3 * X[:50] + 1, np.column_stack([y, -y])[:50])
    assert esn.predict(X).shape == (len(X), 2)
    np.testing.assert_array_equal(esn.fit(X, y).predict(X), once)
    assert esn.closed_loop_radius_ == radius


# Composition ----------------------------------------------------------------------------------


def test_pipeline_with_a_nonlinear_readout(series):
    u, y = tasks.narma(10, 1200, seed=0)
    u, y = u[200:], y[200:]
    nonlinear = make_pipeline(
        DiagonalReservoir(20, sr=0.9, input_bias=True, seed=0),
        StandardScaler(),
        PolynomialFeatures(2),
        Ridge(1e-2),
    )
    linear = make_pipeline(
        DiagonalReservoir(20, sr=0.9, input_bias=True, seed=0), StandardScaler(), Ridge(1e-2)
    )
    assert nonlinear.fit(u, y).score(u, y) > linear.fit(u, y).score(u, y) + 0.05
    by_hand = DiagonalReservoir(20, sr=0.9, input_bias=True, seed=0).fit_transform(u)
    features = PolynomialFeatures(2).fit_transform(StandardScaler().fit_transform(by_hand))
    np.testing.assert_allclose(
        nonlinear.predict(u), Ridge(1e-2).fit(features, y).predict(features), rtol=1e-8
    )


def test_pipeline_that_ends_in_a_network(series):
    X, y = series
    pipeline = make_pipeline(StandardScaler(), LinearESN(30, seed=0)).fit(X, y[:, 0])
    scaled = (X - X.mean()) / X.std()
    expected = LinearESN(30, seed=0).fit(scaled, y[:, 0]).predict(scaled)
    np.testing.assert_allclose(pipeline.predict(X), expected, rtol=1e-6, atol=1e-9)


def test_grid_search_over_time_splits(series):
    X, y = series
    grid = {"sr": [0.3, 0.9], "lr": [0.5, 1.0], "ridge": [1e-8, 1e2]}
    esn = LinearESN(20, warmup=20, seed=0)
    folds = TimeSeriesSplit(3)
    search = GridSearchCV(esn, grid, cv=folds).fit(X, y)
    table = search.cv_results_
    assert len(table["params"]) == 8
    for params, mean in zip(table["params"], table["mean_test_score"], strict=True):
        scores = [
            r2_score(
                y[test][20:],
                clone(esn).set_params(**params).fit(X[train], y[train]).predict(X[test])[20:],
            )
            for train, test in folds.split(X)
        ]
        assert mean == pytest.approx(np.mean(scores), rel=1e-9)
    assert search.best_params_["ridge"] == 1e-8
    np.testing.assert_array_equal(
        search.predict(X), clone(esn).set_params(**search.best_params_).fit(X, y).predict(X)
    )


def test_grid_search_over_spectra_in_a_pipeline(series):
    X, y = series
    search = GridSearchCV(
        make_pipeline(DiagonalReservoir(20, seed=0), Ridge(1e-6)),
        {"diagonalreservoir__spectrum": ["golden", "ring", "uniform"]},
        cv=TimeSeriesSplit(2),
    ).fit(X, y)
    assert np.all(np.isfinite(search.cv_results_["mean_test_score"]))
    assert len(set(search.cv_results_["mean_test_score"])) == 3


def test_sr_of_a_callable_spectrum_can_be_searched(series):
    X, y = series

    def law(n, sr, seed):
        return Spectrum(np.linspace(-sr, sr, n))

    search = GridSearchCV(
        LinearESN(10, spectrum=law, seed=0), {"sr": [0.1, 0.8]}, cv=TimeSeriesSplit(2)
    ).fit(X, y)
    assert search.best_estimator_.spectrum_.radius == search.best_params_["sr"]


def test_score_is_r2_without_the_warmup(series):
    X, y = series
    esn = LinearESN(20, warmup=50, seed=0).fit(X, y)
    assert esn.score(X, y) == pytest.approx(r2_score(y[50:], esn.predict(X)[50:]), rel=1e-12)
    worse = y.copy()
    worse[:50] += 1e6
    assert esn.score(X, worse) == esn.score(X, y)


def test_score_over_several_series(series):
    X, y = series
    parts, targets = [X[:150], X[150:250]], [y[:150, 0], y[150:250, 0]]
    esn = LinearESN(20, warmup=30, seed=0).fit(parts, targets)
    rows = [
        (t[30:], p[30:]) for t, p in zip(targets, esn.predict(parts), strict=True)
    ]  # the warmup of each series is dropped
    truth, guess = (np.concatenate(column) for column in zip(*rows, strict=True))
    assert esn.score(parts, targets) == pytest.approx(r2_score(truth, guess), rel=1e-12)


def test_score_with_weights(series):
    X, y = series
    esn = LinearESN(20, warmup=50, ridge=1e-2, seed=0).fit(X, y)
    weights = np.linspace(0.1, 2, len(X))
    expected = r2_score(y[50:], esn.predict(X)[50:], sample_weight=weights[50:])
    assert esn.score(X, y, sample_weight=weights) == pytest.approx(expected, rel=1e-12)
    assert expected != esn.score(X, y)
    several = esn.score([X, X], [y, y], sample_weight=[weights, weights])
    assert several == pytest.approx(expected, rel=1e-12)
    with pytest.raises(ValueError, match="sample_weight"):
        esn.score(X, y, sample_weight=np.stack([weights, weights], axis=1))
    with pytest.raises(ValueError, match="sample_weight"):  # as many rows, but of other series
        esn.score([X, X[:99]], [y, y[:99]], sample_weight=[weights[:99], weights])


def test_cross_val_score_runs(series):
    scores = cross_val_score(LinearESN(20, warmup=10, seed=0), *series, cv=TimeSeriesSplit(3))
    assert scores.shape == (3,)
    assert np.all(scores > 0.5)


# pandas ---------------------------------------------------------------------------------------


@pytest.fixture
def frame():
    rng = np.random.default_rng(0)
    index = pd.date_range("2024-01-01", periods=120, freq="h")
    return pd.DataFrame(rng.normal(size=(120, 2)), index=index, columns=["load", "wind"])


def test_frames_give_the_same_results_as_arrays(frame):
    X, y = frame.to_numpy(), frame["load"].shift(1, fill_value=0.0)
    esn = LinearESN(15, seed=0).fit(frame, y)
    plain = LinearESN(15, seed=0).fit(X, y.to_numpy())
    assert list(esn.feature_names_in_) == ["load", "wind"]
    assert esn.predict(frame).shape == (120,)
    np.testing.assert_array_equal(esn.predict(frame), plain.predict(X))
    assert esn.score(frame, y) == plain.score(X, y.to_numpy())
    two = LinearESN(15, seed=0).fit(frame, frame.shift(1, fill_value=0.0))
    assert two.predict(frame).shape == (120, 2)


@pytest.mark.parametrize("kind", BOTH)
def test_feature_names_are_checked(kind, frame):
    estimator = kind(15, seed=0).fit(frame, frame["load"])
    methods = [estimator.transform]
    methods += [estimator.predict] if kind is LinearESN else []
    for method in methods:
        with pytest.raises(ValueError, match=r"feature names should match.*\n.*order"):
            method(frame[["wind", "load"]])
        with pytest.raises(ValueError, match=r"(?s)unseen at fit time.*sun"):
            method(frame.rename(columns={"wind": "sun"}))
        with pytest.warns(UserWarning, match="does not have valid feature names"):
            method(frame.to_numpy())


def test_names_are_checked_in_every_series_and_context(frame):
    X, y = [frame[:-1], frame[:49]], [frame[1:], frame[1:50]]
    esn = LinearESN(15, seed=0).fit(X, y)
    swapped = frame[["wind", "load"]]
    with pytest.raises(ValueError, match="feature names should match"):
        esn.predict([frame, swapped])
    with pytest.raises(ValueError, match="feature names should match"):
        esn.forecast(3, context=swapped)
    with pytest.raises(ValueError, match="feature names should match"):
        LinearESN(15, seed=0).fit([frame, swapped], [frame, frame])
    np.testing.assert_array_equal(
        esn.forecast(3, context=frame),
        LinearESN(15, seed=0).fit([x.to_numpy() for x in X], y)
        .forecast(3, context=frame.to_numpy()),
    )  # fmt: skip


def test_names_of_outputs_are_checked(frame, tmp_path):
    X, y = frame, frame.rename(columns={"load": "heat", "wind": "rain"})
    swapped = y[["rain", "heat"]]
    esn = LinearESN(15, output_to_readout=True, seed=0).fit(X, y)
    esn.save(tmp_path / "esn")
    said = r"output names should match .* in the same order: (y|y_previous|target) has \['rain', "
    for one in (esn, load(tmp_path / "esn"), copy.deepcopy(esn), esn.reduce(8)):
        calls = [
            lambda one=one: one.score(X, swapped),
            lambda one=one: one.predict(X, y_previous=swapped),
            lambda one=one: one.predict([X, X], y_previous=[y, swapped]),
            lambda one=one: one.stream().step(X.iloc[0], y_previous=swapped.iloc[0]),
            lambda one=one: one.stream().run(X, y_previous=swapped),
        ]
        for call in calls:
            with pytest.raises(ValueError, match=said):
                call()
    with pytest.raises(ValueError, match=said):
        esn.partial_fit(X, swapped)
    with pytest.raises(ValueError, match=said):
        esn.learner().step(X.iloc[0], swapped.iloc[0])
    with pytest.raises(ValueError, match=said):
        LinearESN(15, seed=0).fit([X, X], [y, swapped])


def test_outputs_in_order_or_without_names_are_accepted(frame):
    X, y = frame, frame.shift(1, fill_value=0.0)
    esn = LinearESN(15, output_to_readout=True, seed=0).fit(X, y)
    assert esn.score(X, y) == esn.score(X, y.to_numpy())
    before = esn.predict(X, y_previous=y)
    np.testing.assert_array_equal(before, esn.predict(X, y_previous=y.to_numpy()))
    np.testing.assert_array_equal(esn.stream().run(X, y_previous=y), esn.stream().run(
        X, y_previous=y.to_numpy()
    ))  # fmt: skip
    for rows in (y, y.to_numpy()):
        esn.partial_fit(X, rows)
    with pytest.raises(ValueError, match="output names"):
        esn.score(X, y[["wind", "load"]])
    plain = LinearESN(15, seed=0).fit(X, y.to_numpy())
    assert plain.score(X, y) == plain.score(X, y.to_numpy())
    one = LinearESN(15, seed=0).fit(X, y["load"])
    assert one.score(X, y["load"].rename("other")) == one.score(X, y["load"])


def test_context_of_a_generator_has_the_names_of_its_outputs(frame):
    esn = LinearESN(15, feedback=True, ridge=1e-2, seed=0).fit(None, frame)
    with pytest.raises(ValueError, match=r"names should match .* context has \['wind', 'load'\]"):
        esn.forecast(3, context=frame[["wind", "load"]])
    np.testing.assert_array_equal(
        esn.forecast(3, context=frame), esn.forecast(3, context=frame.to_numpy())
    )


def test_refitting_on_arrays_discards_names(frame):
    esn = LinearESN(15, seed=0).fit(frame, frame["load"]).fit(frame.to_numpy(), frame["load"])
    assert not hasattr(esn, "feature_names_in_")
    esn = LinearESN(15, seed=0).fit(frame, frame).fit(frame, frame.to_numpy())
    assert np.isfinite(esn.score(frame, frame[["wind", "load"]]))


@pytest.mark.parametrize("kind", BOTH)
def test_feature_names_out(kind, frame):
    estimator = kind(15, seed=0).fit(frame, frame["load"])
    names = estimator.get_feature_names_out()
    assert list(names) == [f"{kind.__name__.lower()}{i}" for i in range(15)]


@pytest.mark.parametrize("kind", BOTH)
def test_set_output_pandas(kind, frame):
    estimator = kind(15, seed=0).fit(frame, frame["load"])
    plain = estimator.transform(frame)
    assert isinstance(plain, np.ndarray)
    table = estimator.set_output(transform="pandas").transform(frame)
    assert isinstance(table, pd.DataFrame)
    assert list(table.columns) == list(estimator.get_feature_names_out())
    assert table.index.equals(frame.index)
    np.testing.assert_array_equal(table.to_numpy(), plain)


def test_states_ignore_set_output(frame):
    esn = LinearESN(15, seed=0).fit(frame, frame["load"])
    plain = esn.states(frame, basis="neuron")
    np.testing.assert_array_equal(
        np.asarray(esn.set_output(transform="pandas").states(frame, basis="neuron")), plain
    )


# Shapes, types --------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", BOTH)
def test_transform_keeps_the_container(kind):
    X = np.random.default_rng(0).normal(size=(3, 40, 2))
    estimator = kind(10, seed=0).fit(X, X[:, :, 0])
    stack = estimator.transform(X)
    assert stack.shape == (3, 40, 10)
    ragged = estimator.transform([X[0], X[1, :7]])
    assert isinstance(ragged, list)
    np.testing.assert_array_equal(ragged[0], stack[0])
    np.testing.assert_array_equal(ragged[1], stack[1, :7])
    np.testing.assert_array_equal(estimator.transform(X[2]), stack[2])


@pytest.mark.parametrize("flat", [True, False])
def test_predict_returns_the_shapes_of_fit(flat):
    X = np.random.default_rng(0).normal(size=(3, 40, 2))
    y = X[:, :, 0] if flat else X
    tail = () if flat else (2,)
    esn = LinearESN(10, seed=0).fit(X, y)
    assert esn.predict(X).shape == (3, 40, *tail)
    assert esn.predict(X[0]).shape == (40, *tail)
    answer = esn.predict([X[0], X[1, :5]])
    assert [a.shape for a in answer] == [(40, *tail), (5, *tail)]
    np.testing.assert_array_equal(answer[1], esn.predict(X)[1, :5])
    assert esn.coef_.shape == ((10,) if flat else (2, 10))


@pytest.mark.parametrize("flat", [True, False])
@pytest.mark.parametrize(
    "options",
    [{}, {"standardize": True}, {"fit_bias": False}, {"basis": "neuron"}, {"spectrum": "matrix"}],
)
def test_predictions_are_products_of_states_and_coefficients(options, flat):
    u = 100 + 10 * np.random.default_rng(0).normal(size=(200, 2))
    y = 1e-160 * u[:, 0] if flat else u**2
    esn = LinearESN(30, ridge=1e-6, seed=0, **options).fit(u, y)
    expected, actual = esn.predict(u), esn.intercept_ + esn.states(u) @ esn.coef_.T
    np.testing.assert_allclose(actual, expected, rtol=1e-9)
    np.testing.assert_array_equal(esn.states(u), esn.transform(u))


@pytest.mark.parametrize("kind", BOTH)
def test_float32_in_and_out(kind):
    X = np.random.default_rng(0).normal(size=(50, 2))
    estimator = kind(10, dtype="float32", seed=0).fit(X, X[:, 0])
    assert estimator.transform(X).dtype == np.float32
    reference = kind(10, seed=0).fit(X, X[:, 0]).transform(X)
    np.testing.assert_allclose(estimator.transform(X), reference, rtol=1e-3, atol=1e-5)
    if kind is LinearESN:
        assert estimator.predict(X).dtype == np.float32


@pytest.mark.parametrize("kind", BOTH)
def test_out_is_filled_and_returned(kind):
    X = np.random.default_rng(0).normal(size=(50, 2))
    estimator = kind(10, seed=0).fit(X, X[:, 0])
    out = np.empty((50, 10))
    assert estimator.transform(X, out=out) is out
    np.testing.assert_array_equal(out, estimator.transform(X))


def test_fit_does_not_modify_the_data(series):
    X, y = (a.copy() for a in series)
    esn = LinearESN(20, feedback=True, output_to_readout=True, standardize=True, seed=0)
    esn.fit(X, y).predict(X, y_previous=y)
    np.testing.assert_array_equal(X, series[0])
    np.testing.assert_array_equal(y, series[1])
