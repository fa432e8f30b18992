"""``ridge="auto"`` as a parameter, with copies, files, searches and scikit-learn."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.model_selection import GridSearchCV, TimeSeriesSplit

import eigenecho as ee

RNG = np.random.default_rng(0)
U = RNG.normal(size=(300, 1))
Y = np.roll(U, 3, axis=0) + 0.3 * RNG.normal(size=(300, 1))


def network(ridge="auto", **options):
    return ee.LinearESN(**{"units": 30, "warmup": 10, "seed": 0} | options, ridge=ridge)


def test_parameter_is_not_modified(tmp_path):
    ridge = "auto"
    esn = clone(network(ridge)).fit(U, Y)
    assert esn.get_params()["ridge"] == ridge
    assert isinstance(esn.ridge_, float)
    esn.save(tmp_path / "esn")
    loaded = ee.load(tmp_path / "esn")
    assert (loaded.ridge, loaded.ridge_) == (ridge, esn.ridge_)
    np.testing.assert_array_equal(loaded.noise_, esn.noise_)
    if ridge == "auto":
        assert loaded.log_evidence_ == esn.log_evidence_
    else:  # it was not requested
        with pytest.raises(AttributeError, match="statistics=True"):
            loaded.log_evidence_  # noqa: B018
    esn.save(tmp_path / "esn", statistics=True)
    loaded = ee.load(tmp_path / "esn")
    assert loaded.log_evidence_ == pytest.approx(esn.log_evidence_, rel=1e-12)
    for a, b in zip(esn.predict(U, return_std=True), loaded.predict(U, return_std=True),
                    strict=True):  # fmt: skip
        np.testing.assert_array_equal(a, b)


def test_search_scores_equal_a_fit():
    grid = {"ridge": ["auto", 1e-8, 100.0], "input_scaling": [0.1, 1.0]}
    result = ee.search(network(), grid, U, Y, validation=[(240, 300)])
    for params, error in zip(result.params, result.mean_errors, strict=True):
        esn = network().set_params(**params).fit(U[:240], Y[:240])
        left = (esn.predict(U) - Y)[240:]
        assert error == pytest.approx(np.sqrt(np.mean(left**2)), rel=1e-7), params
    assert result.best_estimator.ridge == result.best_params["ridge"]


def test_search_of_long_series_without_states():
    rng = np.random.default_rng(1)
    u = rng.normal(size=(30_000, 1))
    y = np.roll(u, 3, axis=0) + rng.normal(size=u.shape)
    actual = ee.search(network(units=100), {"ridge": ["auto", 1e6]}, u, y, refit=False)
    split = 30_000 - round(0.2 * 29_990)
    esn = network(units=100).fit(u[:split], y[:split])
    expected = np.sqrt(np.mean((esn.predict(u) - y)[split:] ** 2))
    assert actual.mean_errors[0] == pytest.approx(expected, rel=1e-6)
    assert actual.best_index == 0


def test_grid_searches_of_scikit_learn():
    grid = {"ridge": ["auto", 1e4]}
    result = GridSearchCV(network(), grid, cv=TimeSeriesSplit(3)).fit(U, Y)
    assert result.best_params_["ridge"] == "auto"


def test_learner_uses_the_selected_ridge():
    esn = network().fit(U, Y)
    learner = esn.learner(esn.final_state_)
    learner.step(U[0], Y[0])
    more = network(esn.ridge_).fit(U, Y).partial_fit(U[:1], Y[:1], initial_state=esn.final_state_)
    np.testing.assert_allclose(learner.model.W_out, more.W_out_, rtol=1e-6, atol=1e-9)
    with pytest.raises(ValueError, match=r"ridge='auto'.*a single finite number > 0"):
        network().learner(n_inputs=1, n_outputs=1)


def test_noise_is_a_variance_for_each_output():
    esn = network().fit(U, np.column_stack([Y, 10 * Y]))
    np.testing.assert_array_equal(esn.noise_, np.diag(esn.noise_covariance_))
    np.testing.assert_allclose(esn.noise_[1], 100 * esn.noise_[0])


# Closed loops ------------------------------------------------------------------------------------


@pytest.mark.parametrize("select", ["ridge", "score"])
def test_closed_loops_need_targets_one_row_ahead(select):
    X = ee.tasks.mso(3, steps=402)

    def fit(y):
        if select == "ridge":
            return ee.LinearESN(20, ridge="loop", seed=0).fit(X[:-2], y)
        return ee.search(ee.LinearESN(20, seed=0), {"ridge": [1e-6, 1e-2]}, X[:-2], y, score="loop")

    with warnings.catch_warnings():
        warnings.simplefilter("error")
        fit(X[1:-1])
    with pytest.warns(UserWarning, match="targets"):
        fit(X[2:])
    with pytest.raises(ValueError, match="y equals X"):
        fit(X[:-2])


def test_ridges_of_closed_loops_are_found_for_more_weights_than_rows():
    X = ee.tasks.lorenz(301)
    esn = ee.LinearESN(40, features="quadratic", ridge="loop", standardize=True, seed=0)
    esn.fit(X[:-1], X[1:])
    assert len(esn.W_out_) > 2 * len(X)
    assert np.isfinite(esn.forecast(20, clip=True)).all()
    with pytest.raises(MemoryError, match="ridge='loop'"):
        esn.set_params(units=440).fit(X[:-1], X[1:])
