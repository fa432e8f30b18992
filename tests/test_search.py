"""The collapsed grid search gives what a fit of every combination gives."""

import numpy as np
import pytest

import eigenecho as ee
from eigenecho.grid_search.grid import expand, group

X = ee.tasks.mso(3, 501)
GRID = {
    "input_scaling": [0.1, 1.0],
    "lr": [0.5, 1.0],
    "sr": [0.7, 0.9],
    "ridge": [1e-8, 1e-4, 1e-1],
}


def errors_one_by_one(estimator, grid, u, y, train, valid, seeds):
    """Fit and predict every combination."""
    from sklearn.base import clone
    from sklearn.model_selection import ParameterGrid

    found = {}
    for params in ParameterGrid(grid):
        for seed in seeds:
            esn = clone(estimator).set_params(**params, seed=seed, solver="qr")
            esn.fit(u[train], y[train])
            closed = esn.model_.closed
            before = {"y_previous": np.concatenate([np.zeros((1, 1)), y[:-1]])} if closed else {}
            predicted = esn.predict(u, **before)
            key = (tuple(sorted(params.items())), seed)
            found[key] = ee.metrics.rmse(y[valid], predicted[valid])
    return found


@pytest.mark.parametrize(
    "options",
    [
        {},
        {"spectrum": "matrix"},
        {"spectrum": "matrix", "basis": "neuron"},
        {"spectrum": "sim", "penalize_bias": False},
        {"penalty": "identity", "input_bias": True},
        {"output_to_readout": True, "spectrum": "uniform"},
        {"feedback": True, "fb_scaling": 0.1},
        {"fit_bias": False, "standardize": True},
    ],
    ids=str,
)
def test_collapsed_errors_are_those_of_every_fit(options):
    estimator = ee.LinearESN(20, warmup=50, **options)
    u, y = 3 + X[:-1], 3 + X[1:]
    found = ee.search(estimator, GRID, u, y, validation=[(300, 500)], seeds=[0, 1], refit=False)
    wanted = errors_one_by_one(estimator, GRID, u, y, slice(0, 300), slice(300, 500), [0, 1])
    for i, params in enumerate(found.params):
        for j, seed in enumerate(found.seeds):
            error = wanted[tuple(sorted(params.items())), seed]
            assert found.errors[i, j, 0] == pytest.approx(error, rel=1e-4, abs=1e-11)


def test_result_ranks_refits_and_repeats():
    estimator = ee.LinearESN(20, warmup=50)
    found = ee.search(estimator, GRID, X[:-1], X[1:], validation=0.25, seeds=[4, 5])
    assert found.errors.shape == (24, 2, 1)
    assert found.best_error == found.mean_errors.min()
    assert found.params[found.best_index] == found.best_params
    assert found.best_estimator.get_params()["sr"] == found.best_params["sr"]
    assert found.best_estimator.seed == 4
    assert found.best_estimator.predict(X).shape == X.shape
    scores = [row["error"] for row in found.table]
    assert scores == sorted(scores)
    assert found.table[0]["rank"] == 1
    assert len(found.best_per_seed) == 2
    again = ee.search(estimator, GRID, X[:-1], X[1:], validation=0.25, seeds=[4, 5], refit=False)
    np.testing.assert_array_equal(found.errors, again.errors)
    assert "24 combinations" in repr(found)


def test_workers_change_nothing():
    estimator = ee.LinearESN(15, warmup=20, spectrum="matrix")
    grid = GRID | {"sr": [0.1, 0.3, 0.5, 0.7, 0.8, 0.9, 0.95]}  # more than one batch
    seen = []
    one = ee.search(
        estimator, grid, X[:-1], X[1:], seeds=[0, 1], refit=False,
        progress=lambda done, total: seen.append((done, total)),
    )  # fmt: skip
    two = ee.search(estimator, grid, X[:-1], X[1:], seeds=[0, 1], refit=False, workers=2)
    np.testing.assert_array_equal(one.errors, two.errors)
    assert seen[-1] == (len(seen), len(seen))


def test_blocks_series_and_test_rows():
    series = [X[:300], X[100:500]]
    u, y = [s[:-1] for s in series], [s[1:] for s in series]
    estimator = ee.LinearESN(15, warmup=20, seed=0)
    found = ee.search(
        estimator, {"ridge": [1e-6, 1.0]}, u, y,
        validation=[(100, 150), (150, 200)], test=(200, 299), refit=False,
    )  # fmt: skip
    assert found.errors.shape == (2, 1, 2)
    assert found.test_errors.shape == (2, 1)
    esn = ee.LinearESN(15, warmup=20, seed=0, ridge=1e-6, solver="qr")
    esn.fit([s[:150] for s in u], [s[:150] for s in y])
    left = np.concatenate([(p - t)[200:299] for p, t in zip(esn.predict(u), y, strict=True)])
    assert found.test_errors[0, 0] == pytest.approx(np.sqrt(np.mean(left**2)), rel=1e-4)


def test_unstable_reservoirs_lose_instead_of_stopping_the_search():
    long = np.random.default_rng(0).normal(size=(3000, 1))
    found = ee.search(
        ee.LinearESN(10, seed=0), {"sr": [0.9, 3.0]}, long[:-1], long[1:], refit=False
    )
    assert np.isfinite(found.mean_errors[0])
    assert np.isinf(found.mean_errors[1])
    assert found.table[1]["spread"] == np.inf


def test_grid_collapses_scalings_and_ridges():
    base = ee.LinearESN().get_params()
    groups = group(base, expand(GRID))
    assert len(groups) == 4
    assert all(len(g.members) == 6 for g in groups)
    assert len(group(base | {"feedback": True}, expand(GRID))) == 8
    assert len(expand([{"sr": [0.5]}, {"lr": [0.1, 0.2]}])) == 3


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (dict(grid={"srr": [1]}), "'srr' is not known.*Did you mean 'sr'"),
        (dict(grid={"sr": 0.9}), "list of values"),
        (dict(grid={"sr": []}), "list of values"),
        (dict(grid=[]), "at least one combination"),
        (dict(grid={"ridge": [[1e-8, 1e-4]]}), "one number for each"),
        (dict(validation=1.5), "validation=1.5"),
        (dict(validation=[(480, 900)]), "validation=.*within"),
        (dict(validation=[(20, 100)]), "leave rows to train on"),
        (dict(validation=["ab"]), "validation=.*rows"),
        (dict(workers=0), "workers=0"),
        (dict(seeds=3), "seeds=3"),
        (dict(validation=(200, 300)), r"validation=\(200, 300\).*\[\(200, 300\)\]"),
        (dict(estimator=3), "a LinearESN"),
        (dict(y=X[2:]), "inconsistent lengths"),
    ],
)
def test_bad_input(change, words):
    given = dict(
        estimator=ee.LinearESN(5, warmup=50, seed=0), grid={"sr": [0.5]}, X=X[:-1], y=X[1:]
    )
    with pytest.raises(ValueError, match=words):
        ee.search(**(given | change))


def test_seeds_in_the_grid_and_no_seed_at_all():
    found = ee.search(ee.LinearESN(10, warmup=20), {"seed": [0, 1, 2]}, X[:-1], X[1:])
    assert len(set(found.errors.ravel())) == 3
    assert found.best_estimator.seed == found.best_params["seed"]
    unseeded = ee.search(ee.LinearESN(10, warmup=20), {"sr": [0.5]}, X[:-1], X[1:])
    assert isinstance(unseeded.best_estimator.seed, int)


def test_squares_that_overflow_lose():
    u = 1e160 * np.random.default_rng(0).normal(size=(300, 1))
    found = ee.search(ee.LinearESN(5, seed=0), {"sr": [0.5]}, u[:-1], u[1:], refit=False)
    assert np.isinf(found.errors).all()
