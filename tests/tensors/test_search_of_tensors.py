"""Searches on tensors give the scores of searches on arrays, without leaving the device."""

import numpy as np
import pytest

import eigenecho as ee
from eigenecho.grid_search import stacked

torch = pytest.importorskip("torch")

pytestmark = pytest.mark.tensors

GRID = {
    "sr": [0.6, 0.95],
    "lr": [0.5, 1.0],
    "ridge": [1e-5, 1e-3, 1e-1],
    "input_scaling": [0.3, 1.0],
}


def data(T=1500, D=1, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.uniform(-1, 1, (T, 2))
    y = sum(np.roll(X[:, :1], k, axis=0) / k for k in (1, 4, 9)) + X[:, 1:] ** 2
    y = y + 0.05 * rng.normal(size=(T, D))
    return X, y


def both(device, X, y, grid=GRID, test=None, validation=0.2, **options):
    """Run the same search on arrays and on tensors."""
    esn = ee.LinearESN(**{"units": 40, "warmup": 30, "seed": 0} | options)
    sets = dict(test=test, validation=validation, refit=False)
    to = torch.tensor
    if isinstance(X, list):
        given = [to(u, device=device) for u in X], [to(v, device=device) for v in y]
    else:
        given = None if X is None else to(X, device=device), to(y, device=device)
    return ee.search(esn, grid, X, y, **sets), ee.search(esn, grid, *given, **sets)


def assert_same(arrays, tensors, rtol=1e-8):
    assert isinstance(tensors.errors, np.ndarray)
    np.testing.assert_allclose(tensors.errors, arrays.errors, rtol=rtol)
    assert tensors.best_index == arrays.best_index


OPTIONS = {
    "plain": {},
    "identity": dict(penalty="identity"),
    "free bias": dict(penalize_bias=False),
    "no bias": dict(fit_bias=False, input_bias=True),
    "y(t-1) in the readout": dict(output_to_readout=True),
    "feedback": dict(feedback=True, fb_scaling=0.2),
    "standardised": dict(standardize=True),
    "dense": dict(basis="neuron"),
    "sparse": dict(spectrum="matrix", rc_connectivity=0.05),
}


@pytest.mark.parametrize("name", list(OPTIONS))
def test_scores_equal_those_of_arrays(name, device):
    X, y = data()
    assert_same(*both(device, X, y, test=(1400, 1500), **OPTIONS[name]), rtol=1e-7)


def test_all_candidates_of_a_reservoir_are_trained_in_one_stack(device, monkeypatch):
    sizes = []
    of = stacked.StackedCandidates

    def noted(*parts):
        sizes.append(parts[3].size)
        return of(*parts)

    monkeypatch.setattr(stacked, "StackedCandidates", noted)
    X, y = data()
    result = both(device, X, y)
    assert_same(*result)
    assert sizes == [6, 6, 6, 6]


def test_candidates_and_rows_are_processed_in_pieces_if_memory_is_small(device, monkeypatch):
    X, y = data()
    monkeypatch.setattr(stacked, "ROOM", 41 * 41 * 24 * 4)
    assert_same(*both(device, X, y, penalty="identity"))
    assert_same(*both(device, X, y, spectrum="matrix", rc_connectivity=0.05, grid={"sr": [0.5]}))


def test_several_series_blocks_and_outputs(device):
    X, y = data(D=2)
    whole = [X[:700], X[700:]], [y[:700], y[700:]]
    assert_same(*both(device, *whole, validation=[(300, 400), (500, 600)]))


def test_stack_of_series(device):
    X, y = data()
    assert_same(*both(device, X.reshape(2, 750, 2), y.reshape(2, 750, 1)))


def test_ridges_too_small_for_refinement_are_scored_by_an_orthogonal_factorisation(
    device, monkeypatch
):
    t = np.arange(1200)[:, None]
    X = np.sin(0.2 * t) + np.sin(0.31 * t)
    results = []
    squared = stacked.errors_from_rows
    monkeypatch.setattr(
        stacked, "errors_from_rows", lambda trial: results.append(squared(trial)) or results[-1]
    )
    arrays, tensors = both(device, X[:-1], X[1:], grid={"ridge": [1e-14, 1e-2]}, warmup=100)
    assert results == [None]
    np.testing.assert_allclose(tensors.errors, arrays.errors, rtol=1e-3, atol=1e-11)
    arrays, tensors = both(device, X[:-1], X[1:], grid={"ridge": [0.0]}, units=10, warmup=100)
    np.testing.assert_allclose(tensors.errors, arrays.errors, rtol=1e-3, atol=1e-11)


@pytest.mark.parametrize("level", [0.0, 1e3, 1e6])
def test_levels_far_from_zero_with_the_previous_output(level, device):
    X, y = data()
    result = both(device, X, y + level, output_to_readout=True, grid={"ridge": [1e-6, 1e-2]})
    assert_same(*result, rtol=1e-5)


@pytest.mark.parametrize("rule", ["auto"])
def test_automatic_ridges(rule, device):
    X, y = data()
    assert_same(*both(device, X, y, grid={"sr": [0.5, 0.9], "ridge": [rule]}), rtol=1e-6)


def test_missing_targets(device):
    X, y = data(D=2)
    y[::7, 0] = np.nan
    y[5::9, 1] = np.nan
    result = both(device, X, y, missing="skip", grid={"sr": [0.5, 0.9], "ridge": [1e-3, 1e-1]})
    assert_same(*result, rtol=1e-7)


def test_single_precision(device):
    X, y = data()
    assert_same(*both(device, X, y, dtype="float32"), rtol=1e-3)


def test_overflowing_candidates_score_infinity(device):
    X, y = data()
    arrays, tensors = both(device, X, y, grid={"sr": [0.9, 3.0], "ridge": [1e-3]})
    assert np.isinf(tensors.errors[1]).all()
    assert_same(arrays, tensors)


def test_generator_and_spectrum_from_data(device):
    y = ee.tasks.mso(2, steps=600) + 0.01 * np.random.default_rng(0).normal(size=(600, 1))
    grid = {"ridge": [1e-3, 1e-1]}
    assert_same(*both(device, None, y, grid=grid, feedback=True, fb_scaling=0.1))
    X, y = data(700)
    assert_same(*both(device, X[:, :1], y, grid=grid, spectrum="data", units=12), rtol=1e-6)


def test_best_candidate_is_fitted_on_the_device(device):
    X, y = data()
    given = torch.tensor(X, device=device), torch.tensor(y, device=device)
    result = ee.search(ee.LinearESN(30, seed=0), {"ridge": [1e-3, 1.0]}, *given, workers=2)
    outputs = result.best_estimator.predict(given[0])
    assert isinstance(outputs, torch.Tensor)
    assert outputs.device.type == device.type
