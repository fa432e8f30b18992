"""Spectra learned from data improve accuracy, and use only the training rows."""

from __future__ import annotations

import numpy as np
import pytest

import eigenecho as ee
from eigenecho import spectra
from eigenecho.grid_search import grid, scores
from eigenecho.model import from_data

U = ee.tasks.mso(3, steps=801)
X, Y = U[:-1], U[1:]


def error(esn, X, Y):
    return float(np.sqrt(np.mean((esn.predict(X)[500:] - Y[500:]) ** 2)))


def test_learned_spectrum_can_be_joined():
    result = spectra.from_data(X, Y, units=20, warmup=100)
    assert isinstance(result, spectra.Spectrum)
    assert result.units == 20
    assert result.radius < 1
    assert (result + spectra.ring(6, sr=0.5)).units == 26
    assert spectra.joined(result, "golden")(30, seed=0).units == 30
    assert result == spectra.from_data(X, Y, units=20, warmup=100)


def test_few_learned_eigenvalues_are_better_than_a_law():
    X, Y = ee.tasks.delayed_recall(1200, [12], seed=0)
    tried = dict(penalty="identity", standardize=True, warmup=50, ridge=1e-12, seed=0)
    errors = [
        error(ee.LinearESN(16, spectrum=one, sr=0.8, **tried).fit(X[:800], Y[:800]), X, Y)
        for one in ("data", "golden")
    ]
    assert errors[0] < 0.3 * errors[1]


def test_fit_learns_the_same_spectrum_as_the_function():
    esn = ee.LinearESN(20, spectrum="data", sr=0.9, warmup=100, seed=0).fit(X, Y)
    assert esn.spectrum_ == spectra.from_data(X, Y, units=20, sr=0.9, warmup=100, seed=0)
    assert esn.get_params()["spectrum"] == "data"


def test_files_keep_the_learned_spectrum(tmp_path):
    esn = ee.LinearESN(12, spectrum="data", sr=0.9, warmup=50, seed=0).fit(X, Y)
    esn.save(tmp_path / "learnt.safetensors")
    loaded = ee.load(tmp_path / "learnt.safetensors")
    assert loaded.spectrum == "data"
    assert loaded.spectrum_ == esn.spectrum_
    assert np.array_equal(loaded.predict(X), esn.predict(X))


def test_leak_is_removed():
    esn = ee.LinearESN(12, spectrum="data", sr=0.8, lr=0.5, warmup=50, seed=0).fit(X, Y)
    assert esn.effective_radius_ < 1
    assert esn.model_.spectrum.units == 12


def test_search_learns_from_the_rows_before_each_block(monkeypatch):
    seen = []
    true = from_data.learn_spectrum

    def watched(settings, inputs, outputs, seed, *, until):
        seen.append(until)
        return true(settings, inputs, outputs, seed, until=until)

    monkeypatch.setattr(scores, "learn_spectrum", watched)
    esn = ee.LinearESN(10, sr=0.9, warmup=50, seed=0)
    grids = {"spectrum": ["data", "golden"], "ridge": [1e-8, 1e-4]}
    blocks = [(400, 500), (600, 700)]
    result = ee.search(esn, grids, X, Y, validation=blocks, refit=False)
    assert seen == [[400], [600]]
    # Later rows are not used: changing them affects only the score of their own block.
    other = Y.copy()
    other[600:] = 7.0
    again = ee.search(esn, grids, X, other, validation=blocks, refit=False)
    assert np.array_equal(result.errors[..., 0], again.errors[..., 0])
    assert not np.array_equal(result.errors[..., 1], again.errors[..., 1])


def test_best_candidate_of_a_search_is_learned_again_from_all_rows():
    esn = ee.LinearESN(10, spectrum="data", warmup=50, seed=0)
    result = ee.search(esn, {"sr": [0.8, 0.9], "ridge": [1e-8]}, X, Y)
    best = result.best_estimator
    assert best.spectrum_ == spectra.from_data(X, Y, units=10, sr=best.sr, warmup=50, seed=0)
    assert grid.expand({"spectrum": ["data"]}) == [{"spectrum": "data"}]


def test_law_and_size_can_be_given():
    one = spectra.from_data(X, Y, 8, law="uniform", large=40, sr=0.9)
    assert one.units == 8
    assert one != spectra.from_data(X, Y, 8, law="golden", large=40, sr=0.9)


def test_radius_of_a_ring_is_learned():
    """A delay of 20 steps on 60 units needs a radius r that forgets r^60, but not more."""
    X, Y = ee.tasks.delayed_recall(1500, [20], seed=0)
    result = spectra.from_data(X[:1000], Y[:1000], 60, sr=0.95, warmup=100)
    tried = dict(penalty="identity", standardize=True, warmup=100, ridge=1e-12, seed=0)
    errors = [
        error(ee.LinearESN(60, spectrum=one, **tried).fit(X[:1000], Y[:1000]), X, Y)
        for one in (result, spectra.ring(60, sr=0.95), spectra.ring(60, sr=0.5))
    ]
    assert errors[0] < 0.1 * min(errors[1:])
    assert spectra.from_data(X, Y, 12, sr=0.0001, warmup=100).radius < 1


def test_numpy_integers_are_seeds():
    one, other = (spectra.from_data(X, Y, units=6, seed=seed) for seed in (3, np.int64(3)))
    assert one == other


@pytest.mark.filterwarnings("ignore:.*nearly defective")
def test_law_without_modes_is_rejected():
    with pytest.raises(ValueError, match=r"law: got a matrix in .* form"):
        spectra.from_data(X, Y, units=2, law=np.array([[0.5, 1.0], [0.0, 0.5]]))


def test_generator_is_used_once():
    learnt = [
        spectra.from_data(X, Y, 10, warmup=50, seed=np.random.default_rng(3)) for _ in range(2)
    ]
    assert learnt[0] == learnt[1]


def test_several_series_columns_and_gaps():
    both = np.hstack([Y, Y**2])
    assert spectra.from_data([X[:300], X[300:]], [both[:300], both[300:]], 10).units == 10
    both[100:130, 1] = np.nan
    esn = ee.LinearESN(10, spectrum="data", missing="skip", warmup=20, seed=0).fit(X, both)
    assert esn.spectrum_.units == 10


def test_learning_with_short_series_and_feedback():
    assert ee.LinearESN(4, spectrum="data", seed=0).fit(X[:8], Y[:8]).spectrum_.units == 4
    esn = ee.LinearESN(6, spectrum="data", feedback=True, warmup=20, seed=0).fit(None, Y)
    assert esn.spectrum_.units == 6


@pytest.mark.parametrize(
    ("asked", "words"),
    [
        ({"sr": 1.0}, "sr=1.0.*below 1"),
        ({"units": 0}, "units=0"),
        ({"large": 0}, "large=0"),
        ({"y": np.zeros((800, 1))}, "y.*expected targets that depend on X"),
        ({"y": np.full((800, 1), np.nan)}, "y"),
        ({"law": "gold"}, "gold"),
        ({"law": spectra.ring(30, sr=1.2)}, "law: got an effective radius of 1.2"),
        ({"law": np.array([[0.5, 0.0], [0.0, 1.5]])}, "law: got an effective radius of 1.5"),
        ({"seed": "first"}, "seed='first'"),
        ({"X": np.hstack([X, X**2])}, "X.*2 columns"),
    ],
)
def test_errors_name_the_argument(asked, words):
    with pytest.raises(ValueError, match=words):
        spectra.from_data(**{"X": X, "y": Y, "units": 5} | asked)


@pytest.mark.parametrize(
    ("options", "inputs"), [({}, np.hstack([X, X**2])), ({"feedback": True}, X)]
)
def test_several_inputs_are_rejected(options, inputs):
    with pytest.raises(ValueError, match=r"X.*reduce"):
        ee.LinearESN(5, spectrum="data", **options).fit(inputs, Y)


def test_learning_without_targets_is_rejected():
    with pytest.raises(ValueError, match="eigenvalues cannot be learned"):
        ee.DiagonalReservoir(5, spectrum="data").fit(X)
    with pytest.raises(ValueError, match="eigenvalues cannot be learned"):
        ee.LinearESN(5, spectrum="data").learner(n_inputs=1, n_outputs=1)
    with pytest.raises(AttributeError, match="from_nothing"):
        _ = spectra.from_nothing
