"""The classifier and its features: interface, formats, bad input and files."""

from __future__ import annotations

import ast
import inspect
import pickle
import textwrap

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.linear_model import LogisticRegression, RidgeClassifierCV
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils import estimator_checks
from sklearn.utils.estimator_checks import parametrize_with_checks

import eigenecho as ee
from eigenecho import ReservoirClassifier, ReservoirFeatures, files, threads
from eigenecho.errors import StorageError
from optional import optional

pd = optional("pandas")

BOTH = [ReservoirFeatures, ReservoirClassifier]
SMALL = dict(time_constants=5, frequencies=3, phases=2, thresholds=3)


def waves(n=40, T=80, D=1, classes=2, seed=0):
    """Return noisy oscillations (n, T, D) whose frequency depends on the class, and the classes."""
    rng = np.random.default_rng(seed)
    y = np.arange(n) % classes
    phase = (0.2 + 0.15 * y)[:, None] * np.arange(T) + rng.uniform(0, 6, (n, 1))
    X = np.sin(phase)[:, :, None] + rng.normal(0, 0.5, (n, T, D))
    return (X[:, :, 0] if D == 1 else X), y


X, Y = waves()
X3, Y3 = waves(D=3, classes=3)
RAGGED = [x[: 50 + i % 30] for i, x in enumerate(X3)]


def fitted(X=X, y=Y, **options):
    return ReservoirClassifier(**SMALL | {"seed": 0} | options).fit(X, y)


# scikit-learn -------------------------------------------------------------------------------------

LENGTHS = dict.fromkeys(
    [
        "check_n_features_in",
        "check_n_features_in_after_fitting",
        "check_transformer_general",
        "check_classifiers_train",
    ],
    "columns of X are steps, and series of any length are accepted",
)
"""Checks that expect an error if the number of columns changes; other failures are bugs."""


@parametrize_with_checks(
    [ReservoirFeatures(seed=0), ReservoirClassifier(seed=0)],
    expected_failed_checks=lambda estimator: LENGTHS,
)
def test_sklearn_checks(estimator, check):
    check(estimator)


@pytest.mark.parametrize(
    ("kind", "check"),
    [
        (ReservoirFeatures, estimator_checks.check_transformer_general),
        (ReservoirClassifier, estimator_checks.check_classifiers_train),
    ],
)
def test_expected_failures_are_due_to_lengths(kind, check):
    words = "does not raise an error when the number of features"
    with pytest.raises(AssertionError, match=words):
        check(kind.__name__, kind(seed=0))
    assert kind(**SMALL, seed=0).fit(X, Y).n_features_in_ == 1


@pytest.mark.parametrize("kind", BOTH)
def test_init_only_assigns(kind):
    tree = ast.parse(textwrap.dedent(inspect.getsource(kind.__init__)))
    names = [name for name in inspect.signature(kind.__init__).parameters if name != "self"]
    assert [ast.unparse(line) for line in tree.body[0].body] == [f"self.{n} = {n}" for n in names]


def test_parameters_of_the_features_are_those_of_the_classifier():
    params = ReservoirClassifier().get_params()
    assert params.pop("ridge") == "auto"
    assert params == ReservoirFeatures().get_params()


def test_pipelines_and_searches():
    pipeline = make_pipeline(
        ReservoirFeatures(**SMALL, seed=0), StandardScaler(), LogisticRegression(max_iter=1000)
    )
    assert cross_val_score(pipeline, X, Y, cv=3).mean() > 0.8
    search = GridSearchCV(
        ReservoirClassifier(**SMALL, seed=0), {"time_constants": [2, 5], "ridge": ["auto", 1.0]},
        cv=3,
    ).fit(X, Y)  # fmt: skip
    assert search.best_score_ > 0.8
    assert search.predict(X).shape == (40,)


def test_classifier_is_the_pipeline_of_its_parts():
    pipeline = make_pipeline(
        ReservoirFeatures(seed=0), StandardScaler(), RidgeClassifierCV(np.logspace(-2, 6, 17))
    ).fit(X3, Y3)
    classifier = ReservoirClassifier(seed=0).fit(X3, Y3)
    new = waves(D=3, classes=3, seed=1)[0]
    expected = pipeline.decision_function(new)
    np.testing.assert_allclose(classifier.decision_function(new), expected, atol=1e-5)
    assert classifier.ridge_ == pipeline[-1].alpha_


def test_clone_and_pickle():
    classifier = fitted(RAGGED, Y3)
    twin = clone(classifier).fit(RAGGED, Y3)
    back = pickle.loads(pickle.dumps(classifier))
    for other in (twin, back):
        np.testing.assert_array_equal(other.predict_proba(X3), classifier.predict_proba(X3))


# Results ------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("X", "y"), [(X, Y), (X3, Y3), (RAGGED, Y3)], ids=["2-D", "3-D", "ragged"])
def test_methods_agree(X, y):
    labels = np.array(["ab", "c", "def"])[y]
    classifier = fitted(X, labels)
    assert list(classifier.classes_) == sorted(set(labels))
    predicted, P = classifier.predict(X), classifier.predict_proba(X)
    decisions = classifier.decision_function(X)
    features = ReservoirFeatures(**SMALL, seed=0).fit(X).transform(X)
    linear = features @ classifier.coef_.T + classifier.intercept_
    K = len(classifier.classes_)
    assert P.shape == (len(y), K)
    np.testing.assert_allclose(P.sum(axis=1), 1)
    np.testing.assert_array_equal(classifier.classes_[P.argmax(axis=1)], predicted)
    if K == 2:
        assert decisions.shape == (len(y),)
        np.testing.assert_array_equal(predicted, classifier.classes_[(decisions > 0).astype(int)])
        linear = linear[:, 0]
    np.testing.assert_allclose(decisions, linear, atol=1e-9)
    assert classifier.score(X, labels) == np.mean(predicted == labels)
    assert classifier.score(X, labels) > 0.9
    assert 0.5 < classifier.leave_one_out_accuracy_ <= 1


@pytest.mark.parametrize(
    "labels",
    [np.array([3, 7]), np.array([True, False]), np.array(["x", "yy"]), np.array([-1.0, 1.0]),
     np.array(["x", "yy"], object), np.array([0, 255], np.uint8)],
    ids=lambda labels: str(labels.dtype),
)  # fmt: skip
def test_labels_of_any_type(labels):
    predicted = fitted(X, labels[Y]).predict(X)
    assert set(predicted) <= set(labels)
    assert np.mean(predicted == labels[Y]) > 0.9


def test_axes_of_the_features():
    features = ReservoirFeatures(**SMALL, seed=0).fit(X3)
    assert features.feature_shape_ == (2, 2, 3, 2, 5, 3)
    names = features.get_feature_names_out().reshape(features.feature_shape_)
    assert names[1, 0, 2, 1, 4, 2] == "increments_phase0_threshold2_backwards_tau4_frequency2"
    assert len(set(names.ravel())) == 360
    assert features.time_constants_.shape == (5,)
    assert features.frequencies_.shape == (5, 3)
    assert features.transform(X3).dtype == np.float32
    assert features.modes_.mixes.shape == (2, 15, 3)


def test_median_length_scales_the_grid():
    lengths = [30, 100, 500]
    features = ReservoirFeatures(**SMALL, seed=0).fit([X[0][:1].repeat(n) for n in lengths])
    np.testing.assert_allclose(features.time_constants_[-1], 20)


def test_direction_and_increments():
    """Reversing a series swaps directions, and a shift leaves the increments unchanged."""
    features = ReservoirFeatures(**SMALL, seed=0).fit(X)
    features.modes_.thresholds[..., 15:] = features.modes_.thresholds[..., :15]
    shape = (len(X), *features.feature_shape_)
    F, B = (features.transform(x).reshape(shape) for x in (X, X[:, ::-1]))
    np.testing.assert_array_equal(F[:, :, :, :, 0], B[:, :, :, :, 1])
    powers = np.round(64 * X) / 64  # sums are exact
    features.modes_.scaling.mean[:], features.modes_.scaling.scale[:] = 0, 1
    shifted = (features.transform(powers + c).reshape(shape) for c in (0, 4))
    moved = [F[:, 1] for F in shifted]
    assert np.mean(moved[0] == moved[1]) > 0.95  # others are within rounding of a threshold


def test_seed():
    a, b, c = (fitted(X3, Y3, seed=seed).coef_ for seed in (0, 0, 1))
    np.testing.assert_array_equal(a, b)
    assert not np.array_equal(a, c)
    generator = fitted(X3, Y3, seed=np.random.default_rng(0)).coef_
    np.testing.assert_array_equal(a, generator)
    assert not np.array_equal(*(fitted(X3, Y3, seed=None).coef_ for _ in range(2)))


@pytest.mark.parametrize("count", [2, 5])
def test_results_do_not_depend_on_threads(count, monkeypatch):
    monkeypatch.setattr("eigenecho.classify.features.BLOCK_STEPS", 200)
    monkeypatch.setattr(threads, "thread_count", lambda: 1)
    alone = fitted(RAGGED, Y3)
    monkeypatch.setattr(threads, "thread_count", lambda: count)
    many = fitted(RAGGED, Y3)
    np.testing.assert_array_equal(alone.coef_, many.coef_)
    np.testing.assert_array_equal(alone.decision_function(X3), many.decision_function(X3))


def test_progress(capsys):
    reports = []
    classifier = ReservoirClassifier(**SMALL, seed=0)
    classifier.fit(X, Y, progress=lambda *report: reports.append(report))
    assert reports == [("features", 40, 40), ("ridge", 0, 1), ("ridge", 1, 1)]
    classifier.predict(X, progress=True)
    assert "features" in capsys.readouterr().err
    with pytest.raises(ValueError, match="progress=3"):
        classifier.fit(X, Y, progress=3)

    def stop(*report):
        raise KeyboardInterrupt

    before = dict(vars(classifier))
    with pytest.raises(KeyboardInterrupt):
        classifier.fit(X3, Y3, progress=stop)
    assert vars(classifier) == before


def test_ridge_can_be_given():
    assert fitted(ridge=3).ridge_ == 3.0
    assert np.abs(fitted(ridge=1e6).coef_).max() < np.abs(fitted(ridge=1e-2).coef_).max()


# Frames -------------------------------------------------------------------------------------------


def long_frame(X=RAGGED):
    parts = [
        pd.DataFrame({"unique_id": f"s{i:02}", "ds": np.arange(len(x)), "a": x[:, 0], "b": x[:, 1],
                      "c": x[:, 2]})
        for i, x in enumerate(X)
    ]  # fmt: skip
    return pd.concat(parts).sample(frac=1, random_state=0)


def test_long_frames():
    frame = long_frame()
    labels = pd.Series(Y3, index=[f"s{i:02}" for i in range(40)])
    classifier = fitted(frame, labels)
    arrays = fitted(RAGGED, Y3)
    np.testing.assert_array_equal(classifier.coef_, arrays.coef_)
    assert list(classifier.feature_names_in_) == ["a", "b", "c"]
    predicted = classifier.predict(frame)
    assert list(predicted.index) == list(labels.index)
    np.testing.assert_array_equal(predicted.to_numpy(), arrays.predict(RAGGED))
    P = classifier.predict_proba(frame)
    assert list(P.columns) == [0, 1, 2]
    np.testing.assert_array_equal(P.to_numpy(), arrays.predict_proba(RAGGED))
    assert list(classifier.decision_function(frame).columns) == [0, 1, 2]
    shuffled = labels.sample(frac=1, random_state=1)
    assert classifier.score(frame, shuffled) == classifier.score(frame, dict(labels))
    assert classifier.score(frame, labels) == arrays.score(RAGGED, Y3)
    np.testing.assert_array_equal(classifier.predict(RAGGED), predicted.to_numpy())
    features = ReservoirFeatures(**SMALL, seed=0).fit(frame)
    assert list(features.transform(frame).columns) == list(features.get_feature_names_out())
    assert features.set_output(transform="pandas").transform(frame).shape == (40, 360)


def test_long_frames_of_polars():
    pl = pytest.importorskip("polars")
    frame = long_frame()
    labels = {f"s{i:02}": "ab"[i % 2] for i in range(40)}
    classifier, expected = fitted(pl.from_pandas(frame), labels), fitted(frame, labels)
    predicted = classifier.predict(pl.from_pandas(frame))
    assert predicted.columns == ["unique_id", "label"]
    assert predicted["label"].to_list() == expected.predict(frame).tolist()
    P = classifier.predict_proba(pl.from_pandas(frame))
    assert P.columns == ["unique_id", "a", "b"]
    decision = classifier.decision_function(pl.from_pandas(frame))
    assert decision.columns == ["unique_id", "decision"]
    assert classifier.score(pl.from_pandas(frame), labels) == expected.score(frame, labels)


def test_ids_of_polars_in_a_column_that_results_have():
    pl = pytest.importorskip("polars")
    frame = pl.from_pandas(long_frame().rename(columns={"unique_id": "label"}))
    labels = {f"s{i:02}": "ab"[i % 2] for i in range(40)}
    classifier = ReservoirClassifier(**SMALL, id="label", seed=0).fit(frame, labels)
    with pytest.raises(ValueError, match="id='label'"):
        classifier.predict(frame)
    assert classifier.predict_proba(frame).columns == ["label", "a", "b"]


@pytest.mark.parametrize(
    "change",
    [lambda f: f.rename(columns={"a": "z"}), lambda f: f[["unique_id", "ds", "b", "a", "c"]],
     lambda f: f.drop(columns="c")],
    ids=["renamed", "reordered", "dropped"],
)  # fmt: skip
def test_columns_must_be_those_of_fit(change):
    frame = long_frame()
    classifier = fitted(frame, {f"s{i:02}": i % 2 for i in range(40)})
    with pytest.raises(ValueError, match="feature names should match"):
        classifier.predict(change(frame))


# Bad input ----------------------------------------------------------------------------------------

GAPPY = X.copy()
GAPPY[3, 4] = np.nan


@pytest.mark.parametrize(
    ("X", "y", "options", "words"),
    [
        (GAPPY, Y, {}, "NaN in row 4 of series 3"),
        (X * np.inf, Y, {}, "infinity"),
        (X[:, :1], Y, {}, "at least 2 rows"),
        (X, 0 * Y, {}, "one class, 0"),
        (X, None, {}, "requires y to be passed"),
        (X, Y[:5], {}, "5 labels"),
        (X, {"a": 1, "b": 2}, {}, "type dict; expected 40 labels, .* as a long frame"),
        (X, X[:, 0], {}, "Unknown label type: continuous"),
        (X, np.where(Y, np.nan, 1.0), {}, "nan for series 1"),
        (X, np.stack([Y, Y], axis=1), {}, "1d array"),
        (X, Y, {"time_constants": 0}, "Invalid time_constants=0: expected a number of time"),
        (X, Y, {"frequencies": 1.5}, "frequencies=1.5"),
        (X, Y, {"phases": "3"}, "phases='3'"),
        (X, Y, {"thresholds": True}, "thresholds=True"),
        (X, Y, {"ridge": 0}, "Invalid ridge=0: expected 'auto' or a finite number > 0"),
        (X, Y, {"ridge": "loo"}, "ridge='loo'"),
        (X, Y, {"ridge": np.inf}, "ridge=inf"),
        (X, Y, {"layout": "aeon"}, "Unknown layout='aeon'"),
        (X, Y, {"id": ["a"]}, r"Invalid id=\['a'\]: expected a column name"),
        (X, Y, {"seed": -1}, "seed=-1"),
    ],
)  # fmt: skip
def test_bad_input_leaves_nothing_behind(X, y, options, words):
    classifier = ReservoirClassifier(**SMALL | {"seed": 0} | options)
    before = dict(vars(classifier))
    with pytest.raises(ValueError, match=words):
        classifier.fit(X, y)
    assert vars(classifier) == before
    kept = fitted()
    expected = kept.predict(waves()[0])
    with pytest.raises(ValueError, match=words):
        kept.set_params(**options).fit(X, y)
    np.testing.assert_array_equal(
        kept.set_params(**SMALL, seed=0, layout="channels_last", id="unique_id").predict(
            waves()[0]
        ),
        expected,
    )


def test_too_many_features():
    with pytest.raises(MemoryError, match="time_constants × frequencies × phases × thresholds"):
        fitted(time_constants=10**6, frequencies=10**6)


def test_other_number_of_channels():
    with pytest.raises(ValueError, match=r"3 channels; expected 1 channel, as passed to fit"):
        fitted().predict(X3)
    with pytest.raises(ValueError, match=r"1 channel; expected 3 channels, as passed to fit"):
        fitted(X3, Y3).predict_proba(X)


def test_transposed_series_cause_a_warning():
    with pytest.warns(UserWarning, match="layout"):
        fitted(X3.transpose(0, 2, 1), Y3)
    first = fitted(X3.transpose(0, 2, 1), Y3, layout="channels_first")
    np.testing.assert_array_equal(first.coef_, fitted(X3, Y3).coef_)


@pytest.mark.parametrize("kind", BOTH)
def test_unfitted_estimators(kind):
    names = ["time_constants_", "frequencies_", "feature_shape_"]
    names += ["coef_", "intercept_", "ridge_", "feature_scale_", "leave_one_out_accuracy_"]
    estimator = kind()
    for name in names if kind is ReservoirClassifier else names[:3]:
        assert not hasattr(estimator, name)
        with pytest.raises(NotFittedError):
            getattr(estimator, name)
    with pytest.raises(NotFittedError):
        estimator.save("nowhere")
    methods = ["transform"] if kind is ReservoirFeatures else ["predict", "predict_proba"]
    for method in methods:
        with pytest.raises(NotFittedError):
            getattr(estimator, method)(X)


EXTREMES = {
    "constant": np.ones((12, 20)),
    "constant in each series": np.ones((12, 20)) * np.arange(12)[:, None],
    "two steps": X[:12, :2],
    "huge": 1e30 * X[:12],
    "nearly overflowing": 1e308 * np.sign(X[:12]),
    "tiny": 1e-300 * X[:12],
    "one jump": np.where(np.arange(20) > 10, 1.0, 0.0) * np.ones((12, 1)),
    "far from zero": 1e12 + X[:12],
    "every length different": [X[i][: 5 + i] for i in range(12)],
    "long and short": [np.tile(X[i], 40) if i == 0 else X[i][:2] for i in range(12)],
}


@pytest.mark.parametrize("series", EXTREMES.values(), ids=EXTREMES)
@pytest.mark.parametrize("y", [np.arange(12) % 2, np.arange(12) == 3, np.arange(12)], ids=str)
@pytest.mark.filterwarnings("error")
def test_extreme_series(series, y):
    classifier = fitted(series, y)
    for new in (series, X, 1e300 * X, -1e308 * np.ones((2, 9)), np.zeros((1, 2))):
        P = classifier.predict_proba(new)
        assert np.isfinite(P).all()
        assert np.isfinite(classifier.decision_function(new)).all()


def test_two_series_suffice():
    classifier = fitted(X[:2], ["a", "b"])
    assert list(classifier.predict(X[:2])) == ["a", "b"]


# Files --------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "labels",
    [np.array(["a", "bcd", "e"]), np.array([5, 6, 7], np.int16), np.array([0.0, 1.0, 2.0]),
     np.array([0, 1, 2**64 - 1], np.uint64), np.array(["2020", "2021", "2022"], "M8[D]")],
    ids=lambda labels: str(labels.dtype),
)  # fmt: skip
def test_classifier_is_restored_exactly(labels, tmp_path):
    classifier = fitted(RAGGED, labels[Y3], ridge=2.0)
    classifier.save(tmp_path / "c.safetensors")
    back = ee.load(tmp_path / "c.safetensors")
    assert type(back) is ReservoirClassifier
    assert back.get_params() == classifier.get_params()
    assert back.classes_.dtype == classifier.classes_.dtype
    np.testing.assert_array_equal(back.predict(X3), classifier.predict(X3))
    np.testing.assert_array_equal(back.predict_proba(RAGGED), classifier.predict_proba(RAGGED))
    assert back.n_features_in_ == 3
    assert back.leave_one_out_accuracy_ == classifier.leave_one_out_accuracy_
    back.save(tmp_path / "again.safetensors")
    assert (tmp_path / "again.safetensors").read_bytes() == (
        tmp_path / "c.safetensors"
    ).read_bytes()
    np.testing.assert_array_equal(back.fit(RAGGED, labels[Y3]).coef_, classifier.coef_)


def test_width_of_labels_in_files_is_ignored(tmp_path):
    """A small file must not make the classes take gigabytes."""
    path = tmp_path / "c"
    fitted(X, np.array(["a", "bcd"])[Y]).save(path)
    kind, arrays, values = files.read(path)
    files.write(path, kind, arrays, values | {"dtype": "<U500000000"})
    assert ee.load(path).classes_.dtype == "<U3"


def test_two_classes_and_flags_in_files(tmp_path):
    classifier = fitted(X, Y == 1)
    classifier.save(tmp_path / "c")
    back = ee.load(tmp_path / "c")
    assert back.predict(X).dtype == bool
    np.testing.assert_array_equal(back.decision_function(X), classifier.decision_function(X))


def test_features_are_restored_exactly(tmp_path):
    frame = long_frame()
    features = ReservoirFeatures(**SMALL, seed=0).fit(frame)
    features.save(tmp_path / "f")
    back = ee.load(tmp_path / "f")
    assert list(back.feature_names_in_) == ["a", "b", "c"]
    np.testing.assert_array_equal(back.transform(frame), features.transform(frame))


def test_generator_as_seed_is_stored_as_none(tmp_path):
    with pytest.warns(UserWarning, match="seed="):
        fitted(seed=np.random.default_rng(0)).save(tmp_path / "c")
    assert ee.load(tmp_path / "c").seed is None


def entry(*path_and_value):
    *path, value = path_and_value

    def change(arrays, values):
        for key in path[:-1]:
            values = values[key]
        values[path[-1]] = value

    return change


def array(name, make):
    def change(arrays, values):
        arrays[name] = make(arrays[name])

    return change


@pytest.mark.parametrize(
    "change",
    [
        entry("classes", ["a", "a"]),
        entry("classes", ["a", "b", "c"]),
        entry("classes", ["a", None]),
        entry("dtype", "V8"),
        entry("dtype", "<i8"),
        entry("dtype", "nonsense"),
        entry("classifier", "sharpness", 1e300),
        entry("classifier", "sharpness", 0.0),
        entry("classifier", "ridge", -1.0),
        entry("params", "values", "layout", "x"),
        entry("params", "values", "id", ["x"]),
        entry("params", "values", "seed", -1),
        entry("params", "values", "ridge", 0),
        entry("params", "values", "units", 3),
        entry("params", "given", {"class": "Diagonal"}),
        array("modes.mixes", lambda a: 5 * a),
        array("modes.mixes", lambda a: a.astype(float)),
        array("modes.mixes", lambda a: a[:, :1]),
        array("modes.thresholds", lambda a: a[:1]),
        array("modes.thresholds", lambda a: np.full_like(a, np.nan)),
        array("modes.grid.time_constants", lambda a: -a),
        array("modes.grid.time_constants", lambda a: a * 1e20),
        array("modes.grid.frequencies", lambda a: a[:, 0]),
        array("modes.grid.frequencies", lambda a: a + 1),
        array("modes.scaling.scale", lambda a: 0 * a),
        array("classifier.weights", lambda a: a[:5]),
        array("classifier.weights", lambda a: a + 1e200),
        array("classifier.intercept", lambda a: np.concatenate([a, a])),
        array("classifier.scale", lambda a: a[:-1]),
    ],
)
def test_inconsistent_files_are_rejected(change, tmp_path):
    path = tmp_path / "c"
    fitted(X, np.array(["a", "b"])[Y]).save(path)
    kind, arrays, values = files.read(path)
    files.write(path, kind, arrays, values)
    ee.load(path)
    change(arrays, values)
    files.write(path, kind, arrays, values)
    with pytest.raises(StorageError):
        ee.load(path)
