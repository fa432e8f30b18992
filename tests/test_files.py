"""Saved models are restored exactly, and unreadable files raise clear errors."""

from __future__ import annotations

import json
import os
import struct
import subprocess
import sys
import tracemalloc
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from safetensors.numpy import load_file, save_file
from scipy import sparse
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.linear_model import Ridge
from sklearn.pipeline import make_pipeline

import crafted
import eigenecho as ee
from crafted import change_file
from eigenecho import LinearESN, LinearModel, Spectrum, files, tasks
from eigenecho.errors import StorageError
from eigenecho.reservoir import Reservoir
from eigenecho.scaling import OutputRange, Scaling

pd = pytest.importorskip("pandas")

WAVES = tasks.mso(3, steps=301)
X, Y = WAVES[:-1], WAVES[1:]
TWO = np.column_stack([WAVES, np.cos(np.arange(301.0))])


def matrix(density=1.0):
    rng = np.random.default_rng(0)
    W = rng.normal(size=(15, 15)) * (rng.random((15, 15)) < density)
    return 0.8 * W / np.abs(np.linalg.eigvals(W)).max()


CASES = {
    "eigen": {},
    "identity penalty": {"penalty": "identity"},
    "EET": {"spectrum": "matrix"},
    "neuron dense": {"basis": "neuron", "spectrum": "matrix"},
    "neuron sparse": {"basis": "neuron", "spectrum": "matrix", "rc_connectivity": 0.1},
    "neuron golden": {"basis": "neuron"},
    "given W": {"spectrum": matrix()},
    "given W as lists": {"spectrum": matrix().tolist()},
    "given W, neuron": {"spectrum": matrix(), "basis": "neuron"},
    "given sparse W": {"spectrum": sparse.csr_matrix(matrix()), "basis": "eigen"},
    "given sparse W, neuron": {"spectrum": sparse.coo_matrix(matrix(0.3)), "basis": "neuron"},
    "given Spectrum": {"spectrum": Spectrum([0.5, -0.2], [0.3 + 0.4j])},
    "given values": {"spectrum": [0.5, 0.3 - 0.4j, 0.3 + 0.4j]},
    "reals alone": {"spectrum": Spectrum([0.5, -0.2])},
    "pairs alone": {"spectrum": Spectrum([], [0.3 + 0.4j])},
    "callable": {"spectrum": lambda n, sr, seed: Spectrum(np.linspace(-sr, sr, n))},
    "list of ridges": {"ridge": [1e-8, 1e-4, 1.0]},
    "array of ridges": {"ridge": np.array([1e-8, 1e-4])},
    "standardize": {"standardize": True},
    "leak": {"lr": 0.3},
    "leak, neuron": {"lr": 0.3, "basis": "neuron", "spectrum": "matrix"},
    "input bias": {"input_bias": True, "input_scaling": [0.5]},
    "scaling array": {"input_scaling": np.array([0.5])},
    "no bias": {"fit_bias": False},
    "feedback": {"feedback": True, "fb_scaling": 0.1, "ridge": 1.0},
    "output_to_readout": {"output_to_readout": True, "ridge": 1.0},
    "everything": {
        "feedback": True, "fb_scaling": 0.1, "output_to_readout": True, "standardize": True,
        "input_bias": True, "lr": 0.5, "warmup": 20, "ridge": 1.0, "penalize_bias": False,
    },
    "float32": {"dtype": "float32", "ridge": 1e-4},
    "float32, neuron": {"dtype": "float32", "basis": "neuron", "ridge": 1e-4},
    "dtype object": {"dtype": np.dtype("float32"), "ridge": 1e-4},
    "dtype type": {"dtype": np.float32, "ridge": 1e-4},
    "dtype of Python": {"dtype": float},
    "scaling of no dimension": {"input_scaling": np.array(0.5)},
    "single-precision numbers": {"sr": np.float32(0.8), "input_scaling": np.float32(0.3)},
    "ridge of no dimension": {"ridge": np.array(1e-4)},
    "range of ridges": {"ridge": range(1, 3)},
    "series of ridges": {"ridge": pd.Series([1e-8, 1e-4])},
    "given W, big-endian": {"spectrum": matrix().astype(">f8")},
    "given W of ints": {"spectrum": np.eye(15, k=1, dtype=np.int8), "basis": "neuron"},
    "given sparse array": {"spectrum": sparse.csc_array(matrix(0.3)), "basis": "neuron"},
    "numpy numbers": {"sr": np.float64(0.8), "warmup": np.int64(3), "fit_bias": np.True_},
    "no seed": {"seed": None},
    "generator seed": {"seed": np.random.default_rng(0)},
}  # fmt: skip


@pytest.mark.parametrize("options", CASES.values(), ids=CASES)
def test_network_is_restored_exactly(options, tmp_path):
    esn = LinearESN(**{"units": 20, "seed": 0, **options}).fit(X, Y)
    esn.save(tmp_path / "model.safetensors")
    back = ee.load(tmp_path / "model.safetensors")

    assert type(back) is LinearESN
    for answer in ("predict", "transform"):
        old, new = getattr(esn, answer)(X), getattr(back, answer)(X)
        assert old.dtype == new.dtype
        np.testing.assert_array_equal(new, old)
    np.testing.assert_array_equal(back.forecast(20), esn.forecast(20))
    np.testing.assert_array_equal(back.forecast(20, context=X), esn.forecast(20, context=X))
    np.testing.assert_array_equal(back.coef_, esn.coef_)
    np.testing.assert_array_equal(back.intercept_, esn.intercept_)
    assert back.spectrum_ == esn.spectrum_
    assert back.effective_radius_ == esn.effective_radius_
    assert back.closed_loop_radius_ == esn.closed_loop_radius_
    assert (back.solver_, back.ridge_) == (esn.solver_, esn.ridge_)
    assert (back.n_features_in_, back.n_outputs_) == (1, 1)
    assert not hasattr(back, "feature_names_in_")
    if esn.model_.basis is not None:
        for old, new in zip(esn.matrices("neuron"), back.matrices("neuron"), strict=True):
            np.testing.assert_array_equal(new, old)


@pytest.mark.parametrize("options", CASES.values(), ids=CASES)
def test_parameters_are_restored(options, tmp_path):
    esn = LinearESN(**{"units": 20, "seed": 0, **options}).fit(X, Y)
    esn.save(tmp_path / "model")
    back = ee.load(tmp_path / "model")
    old, new = esn.get_params(), back.get_params()
    if callable(esn.spectrum):  # a function is stored as the eigenvalues it returned
        assert new.pop("spectrum") == esn.spectrum_
        old.pop("spectrum")
    elif not isinstance(esn.spectrum, str):
        given, kept = old.pop("spectrum"), new.pop("spectrum")
        if isinstance(kept, Spectrum):
            values = given.values if isinstance(given, Spectrum) else given
            np.testing.assert_array_equal(np.sort_complex(kept.values), np.sort_complex(values))
        else:
            dense = [m.toarray() if sparse.issparse(m) else np.asarray(m) for m in (given, kept)]
            np.testing.assert_array_equal(*dense)
            assert sparse.issparse(kept) == sparse.issparse(given)
    if not isinstance(esn.seed, int):
        assert new.pop("seed") is None
        old.pop("seed")
    for name, value in old.items():
        np.testing.assert_array_equal(np.asarray(new[name]), np.asarray(value), err_msg=name)
    # The loaded estimator can be fitted again, and gives the same weights if it has a seed.
    again = back.fit(X, Y)
    if isinstance(esn.seed, int) and not callable(esn.spectrum):
        np.testing.assert_allclose(again.predict(X), esn.predict(X), rtol=1e-4, atol=1e-4)


def test_parameters_are_equal_by_python(tmp_path):
    options = {"dtype": np.float32, "input_scaling": np.array(0.5), "sr": np.float64(0.8)}
    esn = LinearESN(20, **options, ridge=1e-4, seed=np.int64(3)).fit(X, Y)
    esn.save(tmp_path / "model")
    assert ee.load(tmp_path / "model").get_params() == esn.get_params()


@pytest.mark.parametrize(
    ("options", "name"),
    [
        ({"spectrum": lambda n, sr, seed: Spectrum(np.linspace(-sr, sr, n))}, "spectrum"),
        ({"seed": np.random.default_rng(0)}, "seed"),
    ],
)
@pytest.mark.parametrize("kind", [LinearESN, ee.DiagonalReservoir])
def test_parameters_that_cannot_be_stored_cause_a_warning(kind, options, name, tmp_path):
    made = kind(units=20, **options).fit(X, Y)
    with pytest.warns(UserWarning, match=f"{name}=.* cannot be saved"):
        made.save(tmp_path / "model")
    np.testing.assert_array_equal(ee.load(tmp_path / "model").transform(X), made.transform(X))


@pytest.mark.parametrize(
    ("name", "value"),
    [("sr", np.longdouble(1) / 3), ("lr", -1.0), ("input_scaling", [1.0, 2.0]), ("seed", -1)],
)
def test_invalid_parameters_are_not_saved(name, value, tmp_path):
    esn = LinearESN(20, seed=0).fit(X, Y).set_params(**{name: value})
    with pytest.raises(ValueError, match=f"Invalid {name}"):
        esn.save(tmp_path / "model")
    assert os.listdir(tmp_path) == []


RESERVOIRS = {
    "golden": {},
    "leak": {"lr": 0.3, "input_bias": True, "input_scaling": [0.5, 2.0]},
    "float32": {"dtype": np.float32},
    "matrix": {"spectrum": "matrix"},
    "sparse": {"spectrum": "matrix", "rc_connectivity": 0.1},
    "given W": {"spectrum": matrix(0.15)},
    "given sparse W": {"spectrum": sparse.csr_matrix(matrix(0.15))},
    "given Spectrum": {"spectrum": Spectrum([0.5, -0.2], [0.3 + 0.4j])},
    "no seed": {"seed": None},
}


@pytest.mark.parametrize("options", RESERVOIRS.values(), ids=RESERVOIRS)
def test_reservoir_is_restored_exactly(options, tmp_path):
    made = ee.DiagonalReservoir(**{"units": 20, "seed": 0, **options}).fit(TWO)
    made.save(tmp_path / "reservoir")
    back = ee.load(tmp_path / "reservoir")
    assert type(back) is ee.DiagonalReservoir
    np.testing.assert_array_equal(back.transform(TWO), made.transform(TWO), strict=True)
    assert back.spectrum_ == made.spectrum_
    assert back.effective_radius_ == made.effective_radius_
    assert back.n_features_in_ == 2
    assert list(back.get_feature_names_out()) == list(made.get_feature_names_out())
    assert repr(back.reservoir_.form) == repr(made.reservoir_.form)
    if "spectrum" not in options:
        assert back.get_params() == made.get_params() | {"seed": made.seed_}
    back.save(tmp_path / "again")
    assert (tmp_path / "again").read_bytes() == (tmp_path / "reservoir").read_bytes()


@pytest.mark.parametrize(
    "options",
    [
        {},
        {"spectrum": "uniform", "input_bias": True, "input_connectivity": 0.5},
        {"spectrum": "matrix", "rc_connectivity": 0.3},
        {"spectrum": lambda n, sr, seed: Spectrum(np.linspace(-sr, sr, n))},
    ],
    ids=["golden", "uniform", "matrix", "callable"],
)
@pytest.mark.filterwarnings("ignore:spectrum=.* cannot be saved")
def test_fit_of_a_loaded_reservoir_draws_the_same_weights(options, tmp_path):
    """Pipelines refit their steps, so a loaded reservoir without a seed must keep its weights."""
    made = ee.DiagonalReservoir(12, **options).fit(TWO)
    made.save(tmp_path / "reservoir")
    back = ee.load(tmp_path / "reservoir")
    states = made.transform(TWO)
    pipeline = make_pipeline(back, Ridge()).fit(TWO, TWO)
    np.testing.assert_array_equal(pipeline[0].transform(TWO), states)
    np.testing.assert_array_equal(clone(back).fit_transform(TWO), states)
    # An object that was not loaded still draws new weights, and keeps its parameter.
    assert made.seed is None
    assert not np.array_equal(made.fit_transform(TWO), states)


@pytest.mark.slow
def test_another_process_loads_a_reservoir(tmp_path):
    frame = pd.DataFrame(TWO, columns=["load", "größe"])
    made = ee.DiagonalReservoir(300, seed=0).fit(frame)
    made.save(tmp_path / "reservoir")
    np.save(tmp_path / "X.npy", TWO)
    code = (
        "import sys, numpy as np, eigenecho as ee, pandas as pd\n"
        "from pathlib import Path\n"
        "folder = Path(sys.argv[1])\n"
        "frame = pd.DataFrame(np.load(folder / 'X.npy'), columns=['load', 'größe'])\n"
        "np.save(folder / 'states.npy', ee.load(folder / 'reservoir').transform(frame))\n"
    )
    subprocess.run([sys.executable, "-c", code, tmp_path], check=True, timeout=300)
    np.testing.assert_array_equal(np.load(tmp_path / "states.npy"), made.transform(frame))


def test_unfitted_reservoir_is_not_saved(tmp_path):
    with pytest.raises(NotFittedError):
        ee.DiagonalReservoir(20).save(tmp_path / "reservoir")


@pytest.mark.parametrize("name", ["eigen", "everything"])
def test_one_dimensional_targets(name, tmp_path):
    esn = LinearESN(20, **CASES[name], seed=0).fit(X, Y[:, 0])
    esn.save(tmp_path / "model")
    back = ee.load(tmp_path / "model")
    np.testing.assert_array_equal(back.predict(X), esn.predict(X), strict=True)
    np.testing.assert_array_equal(back.forecast(9), esn.forecast(9), strict=True)
    np.testing.assert_array_equal(back.coef_, esn.coef_, strict=True)
    assert back.intercept_ == esn.intercept_


def test_several_outputs_and_series(tmp_path):
    series = [TWO[:150], TWO[150:]]
    esn = LinearESN(20, standardize=True, seed=0).fit([s[:-1] for s in series],
                                                      [s[1:] for s in series])  # fmt: skip
    esn.save(tmp_path / "model")
    back = ee.load(tmp_path / "model")
    for old, new in zip(esn.predict(series), back.predict(series), strict=True):
        np.testing.assert_array_equal(new, old)
    old, state = esn.predict(TWO, return_state=True)
    new = back.predict(TWO, initial_state=state)
    np.testing.assert_array_equal(new, esn.predict(TWO, initial_state=state))
    np.testing.assert_array_equal(back.final_state_.r, esn.final_state_.r)
    np.testing.assert_array_equal(back.final_state_.y, esn.final_state_.y)


def test_generator(tmp_path):
    esn = LinearESN(20, feedback=True, ridge=1e-6, seed=0).fit(None, WAVES[:, 0])
    esn.save(tmp_path / "model")
    back = ee.load(tmp_path / "model")
    np.testing.assert_array_equal(back.forecast(30), esn.forecast(30))
    assert back.forecast(30).shape == (30,)


def test_subclass_is_stored_like_its_parent(tmp_path):
    class Mine(LinearESN):
        pass

    esn = Mine(20, seed=0).fit(X, Y)
    esn.save(tmp_path / "model")
    back = ee.load(tmp_path / "model")
    assert type(back) is LinearESN
    np.testing.assert_array_equal(back.predict(X), esn.predict(X))


PLAIN = st.one_of(
    st.none(), st.booleans(), st.integers(-(2**40), 2**40), st.floats(allow_nan=False), st.text()
)
TIMES = st.datetimes().map(pd.Timestamp)


@given(st.recursive(st.one_of(PLAIN, TIMES), lambda label: st.tuples(label, label)))
def test_labels_keep_their_type(label):
    back = files.from_label(json.loads(json.dumps(files.to_label(label))))
    assert back == label
    assert type(back) is type(label)


@pytest.mark.parametrize("label", [pd.Interval(0, 1), b"bytes", object()])
def test_labels_that_cannot_be_stored(label):
    with pytest.raises(ValueError, match="that can be stored"):
        files.to_label(label)


def test_feature_names(tmp_path):
    frame = pd.DataFrame(TWO, columns=["load", "größe"])
    esn = LinearESN(20, seed=0).fit(frame[:-1], frame[1:])
    esn.save(tmp_path / "model")
    back = ee.load(tmp_path / "model")
    assert list(back.feature_names_in_) == ["load", "größe"]
    np.testing.assert_array_equal(back.predict(frame), esn.predict(frame))
    with pytest.raises(ValueError, match="feature names should match"):
        back.predict(frame[["größe", "load"]])
    assert list(back.get_feature_names_out()) == list(esn.get_feature_names_out())


@pytest.mark.parametrize("name", ["eigen", "neuron dense", "neuron sparse", "everything"])
def test_bare_model(name, tmp_path):
    model = LinearESN(20, **CASES[name], seed=0).fit(X, Y).model_
    model.save(tmp_path / "model.safetensors")
    back = ee.load(tmp_path / "model.safetensors")
    assert type(back) is LinearModel
    assert repr(back) == repr(model)
    np.testing.assert_array_equal(back.predict(X), model.predict(X))
    np.testing.assert_array_equal(back.forecast(9, X), model.forecast(9, X))


@pytest.mark.parametrize("dtype", [bool, np.int8, np.float16, np.longdouble, ">f8"])
def test_model_of_any_dtype(dtype, tmp_path):
    weights = np.eye(3, dtype=dtype), np.ones((1, 3), dtype), np.ones((4, 1), dtype)
    model = LinearModel(Reservoir(*weights[:2]), weights[2])
    model.save(tmp_path / "model")
    np.testing.assert_array_equal(ee.load(tmp_path / "model").predict(X), model.predict(X))


@pytest.mark.parametrize("dtype", [np.int8, np.float16, np.float32])
def test_scales_and_bounds_of_any_dtype(dtype, tmp_path):
    options = {"standardize": True, "output_to_readout": True, "features": "quadratic"}
    model = LinearESN(5, **options, ridge=1e-3, seed=0).fit(X, X).model_
    one = np.ones(1, dtype)
    scaling, bounds = Scaling(0 * one, one), OutputRange(-9 * one, 9 * one, -2 * one, 2 * one)
    model = replace(model, inputs=scaling, outputs=scaling, output_range=bounds)
    model.save(tmp_path / "model")
    back = ee.load(tmp_path / "model")
    np.testing.assert_array_equal(back.stream().run(X), model.stream().run(X))
    np.testing.assert_array_equal(back.forecast(9, X, clip=True), model.forecast(9, X, clip=True))


def test_converted_model(tmp_path):
    rng = np.random.default_rng(0)
    W, W_in, W_out = matrix(), rng.normal(size=(1, 15)), rng.normal(size=(15, 2))
    model = ee.diagonalize(W, W_in, W_out)
    model.save(tmp_path / "model.safetensors")
    np.testing.assert_array_equal(
        ee.load(tmp_path / "model.safetensors").predict(X), model.predict(X)
    )


def test_loaded_network_saves_to_the_same_bytes(tmp_path):
    esn = LinearESN(20, **CASES["everything"], seed=0).fit(X, Y)
    esn.save(tmp_path / "one")
    ee.load(tmp_path / "one").save(tmp_path / "two")
    assert (tmp_path / "one").read_bytes() == (tmp_path / "two").read_bytes()


def test_text_paths_and_overwriting(tmp_path):
    path = str(tmp_path / "model")
    LinearESN(20, seed=0).fit(X, Y).save(path)
    esn = LinearESN(20, seed=1).fit(X, Y)
    esn.save(path)
    np.testing.assert_array_equal(ee.load(path).predict(X), esn.predict(X))
    assert os.listdir(tmp_path) == ["model"]


def test_another_process_loads_a_network(tmp_path):
    esn = LinearESN(20, seed=0).fit(X, Y)
    esn.save(tmp_path / "model")
    code = (
        "import sys, numpy as np, eigenecho as ee\n"
        f"esn = ee.load({str(tmp_path / 'model')!r})\n"
        f"np.save({str(tmp_path / 'answer.npy')!r}, esn.predict(ee.tasks.mso(3, steps=300)))\n"
        "assert 'pickle' not in vars(ee.files)\n"
    )
    subprocess.run([sys.executable, "-c", code], check=True, timeout=300)
    np.testing.assert_array_equal(np.load(tmp_path / "answer.npy"), esn.predict(X))


def test_file_is_plain_safetensors(tmp_path):
    esn = LinearESN(20, seed=0).fit(X, Y)
    esn.save(tmp_path / "model")
    np.testing.assert_array_equal(load_file(tmp_path / "model")["fitted.model.W_out"], esn.W_out_)


# Random eigenvectors are restored from their seed -----------------------------------------------


def drawn_files(esn, folder):
    """Return paths of a saved estimator with statistics, its model, a stream and a learner."""
    esn.save(folder / "esn", statistics=True)
    esn.model_.save(folder / "model")
    esn.stream(esn.final_state_).save(folder / "stream")
    esn.learner(forgetting=0.9).save(folder / "learner")
    return {name: folder / name for name in ("esn", "model", "stream", "learner")}


SEEDS = {"int": 0, "none": None, "generator": np.random.default_rng(3)}


@pytest.mark.filterwarnings("ignore:seed=:UserWarning")
@pytest.mark.parametrize("seed", SEEDS.values(), ids=SEEDS)
def test_random_eigenvectors_are_not_stored_and_are_restored_exactly(seed, tmp_path, monkeypatch):
    esn = LinearESN(60, ridge=1e-6, input_bias=True, seed=seed).fit(X, Y)
    paths = drawn_files(esn, tmp_path)
    for name in ("model", "stream"):
        assert paths[name].stat().st_size < 60 * 60 * 8
    with monkeypatch.context() as patch:
        patch.setattr("eigenecho.basis.random_vectors", lambda *_: pytest.fail("drawn"))
        loaded = {name: ee.load(path) for name, path in paths.items()}
    back = loaded["esn"]
    for model in (back.model_, loaded["model"], loaded["stream"].model):
        for old, new in zip(esn.matrices("neuron"), model.matrices("neuron"), strict=True):
            np.testing.assert_array_equal(new, old)
        np.testing.assert_array_equal(model.basis.P, esn.model_.basis.P)
    states = esn.states(X, basis="neuron")
    np.testing.assert_array_equal(back.states(X, basis="neuron"), states)
    small, again = esn.reduce(units=7), back.reduce(units=7)
    np.testing.assert_array_equal(again.predict(X), small.predict(X))
    for some in (esn, back):
        some.partial_fit(X[:50], Y[:50])
    np.testing.assert_array_equal(back.W_out_, esn.W_out_)
    np.testing.assert_array_equal(back.noise_covariance_, esn.noise_covariance_)


def test_learner_draws_its_eigenvectors_when_it_learns(tmp_path, monkeypatch):
    learner = LinearESN(30, seed=0).fit(X, Y).learner(forgetting=0.9)
    learner.save(tmp_path / "learner")
    with monkeypatch.context() as patch:
        patch.setattr("eigenecho.basis.random_vectors", lambda *_: pytest.fail("drawn"))
        back = ee.load(tmp_path / "learner")
        np.testing.assert_array_equal(back.step(X[0]), learner.step(X[0]))
    for u, y in zip(X[1:9], Y[1:9], strict=True):
        np.testing.assert_array_equal(back.step(u, y), learner.step(u, y))


@pytest.mark.filterwarnings("ignore:seed=:UserWarning")
@pytest.mark.parametrize(
    "options",
    [
        {"spectrum": "matrix"},
        {"spectrum": matrix()},
        {"seed": np.random.Generator(np.random.MT19937(0))},
        {"seed": np.random.default_rng([1, 2])},
    ],
    ids=["EET", "given", "another generator", "a list of seeds"],
)
def test_eigenvectors_without_a_seed_are_stored(options, tmp_path):
    esn = LinearESN(**{"units": 20, "seed": 0, **options}).fit(X, Y)
    esn.model_.save(tmp_path / "model")
    np.testing.assert_array_equal(load_file(tmp_path / "model")["basis.Q"], esn.model_.basis.Q)
    back = ee.load(tmp_path / "model")
    for old, new in zip(esn.matrices("neuron"), back.matrices("neuron"), strict=True):
        np.testing.assert_array_equal(new, old)


def test_files_are_rejected_if_numpy_draws_other_numbers(tmp_path, monkeypatch):
    LinearESN(20, seed=0).fit(X, Y).save(tmp_path / "esn")
    other = np.random.default_rng(9)
    monkeypatch.setattr("eigenecho.basis.DrawnBasis.generator", lambda _: other)
    with pytest.raises(StorageError, match="cannot be loaded: This version of NumPy"):
        ee.load(tmp_path / "esn")


# Files that cannot be read --------------------------------------------------------------------


@pytest.fixture
def saved(tmp_path):
    path = tmp_path / "model.safetensors"
    LinearESN(20, **CASES["everything"], seed=0).fit(X, Y).save(path)
    return path


@pytest.mark.parametrize("share", [0.0, 0.001, 0.3, 0.9, 0.9999])
def test_truncated_file(saved, share):
    data = saved.read_bytes()
    saved.write_bytes(data[: int(share * len(data))])
    with pytest.raises(StorageError, match=r"model\.safetensors is not a readable model file"):
        ee.load(saved)


def test_file_with_appended_bytes(saved):
    saved.write_bytes(saved.read_bytes() + b"x")
    with pytest.raises(StorageError, match=r"model\.safetensors"):
        ee.load(saved)


def test_any_flipped_byte_is_detected(saved):
    data = saved.read_bytes()
    reference = ee.load(saved)
    header = 8 + int.from_bytes(data[:8], "little")
    places = np.random.default_rng(0).choice(len(data), 50, replace=False)
    for place in sorted({*places.tolist(), *range(0, header, 7), header, len(data) - 1}):
        broken = bytearray(data)
        broken[place] ^= 0x04
        saved.write_bytes(broken)
        try:
            back = ee.load(saved)
        except StorageError:
            continue
        # Only changes of meaningless bytes of the header are accepted.
        assert place < header
        assert back.get_params() == reference.get_params()
        np.testing.assert_array_equal(back.predict(X), reference.predict(X))


def test_flipped_byte_in_the_arrays(saved):
    data = bytearray(saved.read_bytes())
    data[-5] ^= 0xFF
    saved.write_bytes(data)
    with pytest.raises(StorageError, match=r"model\.safetensors is damaged: .*digest"):
        ee.load(saved)


def test_foreign_safetensors_file(tmp_path):
    for metadata in (None, {"format": "pt"}, {"eigenecho": "no JSON"}, {"eigenecho": "[1]"}):
        save_file({"weight": np.ones((3, 3))}, tmp_path / "other", metadata=metadata)
        with pytest.raises(StorageError, match="other is not a readable model file"):
            ee.load(tmp_path / "other")


@pytest.mark.parametrize("content", [b"", b"hello, world\n", b"\x80\x04K\x01.", bytes(200)])
def test_file_of_another_kind(tmp_path, content):
    (tmp_path / "note.txt").write_bytes(content)
    with pytest.raises(StorageError, match=r"note\.txt is not a readable model file"):
        ee.load(tmp_path / "note.txt")


def test_missing_file(tmp_path):
    for path in (tmp_path / "nothing", tmp_path):
        with pytest.raises(FileNotFoundError, match="Cannot load") as caught:
            ee.load(path)
        assert str(caught.value).endswith("it is a folder.") == (path == tmp_path)


@pytest.mark.parametrize("path", [3, None, b"model", ["model"]])
def test_invalid_path(path):
    with pytest.raises(ValueError, match="path="):
        ee.load(path)


def rewritten(path, change):
    """Change the header or arrays of the file, and keep its digest."""
    tensors = load_file(path)
    header = json.loads(crafted.text_of(path))
    change(header, tensors)
    save_file(tensors, path, metadata={"eigenecho": json.dumps(header)})


@pytest.mark.parametrize("again", [rewritten, change_file])
def test_rewritten_file_still_loads(saved, again):
    # Make sure that the helpers above do not break the files of the tests below.
    again(saved, lambda header, tensors: None)
    assert type(ee.load(saved)) is LinearESN


@pytest.mark.parametrize("format", [0, 1, 3, 5, 99, "4", None])
def test_another_format(saved, format):
    rewritten(saved, lambda header, tensors: header.update(format=format))
    with pytest.raises(StorageError, match=rf"has format {format} .*reads format 4"):
        ee.load(saved)


def test_file_of_an_earlier_version_names_the_version(saved):
    def earlier(header, tensors):
        header.update(format=3)
        del header["version"]

    rewritten(saved, earlier)
    with pytest.raises(StorageError, match=r"format 3 of eigenecho 0\.3.*version that saved it"):
        ee.load(saved)


def test_unknown_kind(saved):
    _, tensors, values = files.read(saved)
    files.write(saved, "Transformer", tensors, values)
    message = "contains a 'Transformer', which this version cannot load"
    with pytest.raises(StorageError, match=message):
        ee.load(saved)


def value(path, new):
    """Return a function that sets the value at a path of names, or deletes it (``...``)."""

    def change(values, tensors):
        *parents, key = path.split("/")
        for parent in parents:
            values = values[parent]
        values.pop(key) if new is ... else values.update({key: new})

    return change


def array(name, new):
    """Return a function that replaces an array by a function of it, or deletes it (``...``)."""

    def change(values, tensors):
        old = tensors.pop(name, None)
        if new is not ...:
            tensors[name] = np.ascontiguousarray(new(old))

    return change


MODEL, MODES = "fitted.model.", "fitted.model.reservoir.transition.modes."
DRAWN = "fitted/model/basis/"
CHANGES = [
    value("params", ...),
    value("fitted/model/readout_bias", ...),
    value("params/values/nonsense", 3),
    value("params/values/spectrum", ...),
    value("params", [1, 2]),
    value("params/values", [1, 2]),
    value("fitted/model/readout_bias", False),
    array(MODEL + "reservoir.W_in", ...),
    array("fitted.final_state.r", ...),
    array(MODEL + "reservoir.W_in", lambda a: a[:, 1:]),
    array(MODES + "real", lambda a: a + np.nan),
    array(MODES + "pairs", lambda a: a[:1]),
    array(MODES + "pairs", lambda a: a[:, :1]),
    array(MODES + "pairs", lambda a: a.astype(np.float32)),
    array(MODES + "pairs", lambda a: a.astype(np.complex64)),
    array("extra", lambda a: np.ones(3)),
    array("fitted.final_state.r", lambda a: np.zeros(3)),
    array("fitted.final_state.y", lambda a: np.full(1, np.nan)),
    array(MODEL + "inputs.scale", lambda a: np.zeros(1)),
    array(MODEL + "outputs.mean", lambda a: np.zeros(2)),
    array("fitted.stored_noise", lambda a: np.full((1, 1), -1.0)),
    array("fitted.stored_noise", lambda a: np.eye(2)),
    array(MODEL + "W_out", lambda a: a.astype(np.complex64)),
    array(MODEL + "W_out", lambda a: a.sum()),
    array("fitted.drawn.real", lambda a: np.zeros(99)),
    value("fitted/model/W_out", 7),
    value("fitted/model/W_out", None),
    value("fitted/model/W_out", False),
    value("fitted/model/readout_bias", 1),
    value("fitted/model/inputs", None),
    value("fitted/model/inputs/class", "Scaling"),
    value("fitted/model/basis/class", "Scaling"),
    value("fitted/model/basis/class", ["Basis"]),
    value("fitted/model/basis/class", ...),
    value("fitted/model/reservoir/transition/class", "Transition"),
    value("fitted/flat", "no"),
    value("extra", 1),
    value("fitted/extra", 1),
    value("fitted/lr", "1"),
    value("fitted/lr", 2.0),
    value("fitted/ridge", 10**400),
    value("fitted/ridge", float("nan")),
    value("fitted/solver", ["qr"]),
    value("fitted/target", "past"),
    value("params/feature_names_in", ["a", "b"]),
    value("params/feature_names_in", [1]),
    value("params/feature_names_in", "a"),
    value("params/values/sr", 10**400),
    value("params/values/warmup", 1.5),
    value("params/values/dtype", "complex128"),
    value("params/values/spectrum", 3),
    value("params/values/spectrum", None),
    value("params/values/spectrum", "gold"),
    value("params/values/seed", "0"),
    value("params/values/seed", ...),
    value("params/values/ridge", [[1.0]]),
    value(DRAWN + "n_real", 5),
    value(DRAWN + "n_real", -2),
    value(DRAWN + "pairs", 10**12),
    value(DRAWN + "entropy", "1"),
    value(DRAWN + "entropy", "none"),
    value(DRAWN + "entropy", "-1"),
    value(DRAWN + "spawn_key", [2]),
    value(DRAWN + "spawn_key", [-1]),
    value(DRAWN + "first", [0.0, 0.0, 0.0]),
    value(DRAWN + "first", []),
]


@pytest.mark.parametrize("change", CHANGES)
def test_inconsistent_file(saved, change):
    change_file(saved, change)
    with pytest.raises(StorageError, match=r"model\.safetensors (is damaged|cannot be loaded)"):
        ee.load(saved)


WEIGHTS = MODEL + "reservoir.W_in"


@pytest.mark.parametrize("value", [1e308, -1e300, 1e39, 0.0])
@pytest.mark.parametrize("options", [{}, {"solver": "normal"}, {"dtype": "float32"}], ids=str)
def test_weights_of_statistics_must_equal_the_readout(tmp_path, options, value):
    """Weights of 1e308 are rejected, because ``learner`` would fail."""
    path = tmp_path / "model.safetensors"
    esn = LinearESN(8, ridge=1e-3, seed=0, **options).fit(TWO[:-1], TWO[1:])
    esn.save(path, statistics=True)
    change_file(path, lambda values, tensors: tensors["evidence.weights"].fill(value))
    with pytest.raises(StorageError, match=r"is damaged: Invalid weights"):
        ee.load(path)
    esn.partial_fit(TWO[:-1], TWO[1:]).save(path, statistics=True)
    assert np.array_equal(ee.load(path).predict(TWO), esn.predict(TWO))


@pytest.mark.parametrize(
    "change",
    [
        lambda header, tensors: header.pop("digest"),
        lambda header, tensors: header.pop("values"),
        lambda header, tensors: header.update(values=None),
        lambda header, tensors: header.update(kind="LinearModel"),
        lambda header, tensors: header["values"]["params"]["values"].update(sr=0.8),
        lambda header, tensors: header["values"]["fitted"].update(flat=True),
        lambda header, tensors: tensors.update({WEIGHTS: tensors[WEIGHTS] + 1e-9}),
    ],
)
def test_file_that_does_not_match_its_digest(saved, change):
    rewritten(saved, change)
    with pytest.raises(StorageError, match=r"model\.safetensors (is damaged|is not a readable)"):
        ee.load(saved)


# Crafted files with correct digests; test_files_fuzz.py has many more -------------------------


def rewrite(path, change):
    """Change the header as text, and update the digest."""
    _, tensors, _ = files.read(path)
    text = change(crafted.text_of(path).rpartition(', "digest"')[0])
    path.write_bytes(crafted.file_bytes(tensors, crafted.with_digest(text, tensors)))


@pytest.mark.parametrize(
    "change",
    [
        lambda text: text.replace('"flat"', f'"deep": {"[" * 10**5}{"]" * 10**5}, "flat"'),
        lambda text: text.replace('"flat"', f'"deep": {"[" * 900}{"]" * 900}, "flat"'),
        lambda text: text.replace('"flat"', f'"long": {"9" * 5000}, "flat"'),
        lambda text: text.replace('"flat"', '"é": 1, "flat"'),
        lambda text: "[" * 10**6,
        lambda text: text[:-1],
    ],
    ids=["deep", "less deep", "long", "not ASCII", "open", "short"],
)
def test_header_that_save_cannot_write(saved, change):
    rewrite(saved, change)
    with pytest.raises(StorageError, match=r"model\.safetensors"):
        ee.load(saved)


@pytest.mark.parametrize("dtype", ["BF16", "F8_E4M3", "F8_E5M2"])
def test_dtypes_that_numpy_does_not_support(saved, dtype):
    data = saved.read_bytes()
    size = int.from_bytes(data[:8], "little")
    header = json.loads(data[8 : 8 + size])
    header["extra"] = {"dtype": dtype, "shape": [8 if "8" in dtype else 4]}
    header["extra"]["data_offsets"] = [len(data) - 8 - size, len(data) - size]
    if dtype == "BF16":
        header["extra"]["shape"] = [4]
    text = json.dumps(header).encode()
    saved.write_bytes(struct.pack("<Q", len(text)) + text + data[8 + size :] + bytes(8))
    with pytest.raises(StorageError, match="is not a readable model file"):
        ee.load(saved)


def peak_memory(path):
    """Return the peak memory of loading in bytes, even if the file is rejected."""
    tracemalloc.start()
    try:
        ee.load(path)
    except StorageError:
        pass
    finally:
        peak = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
    return peak


@pytest.mark.parametrize(
    "change",
    [
        lambda text: text.replace('"flat"', f'"many": [{"[]," * 10**6}[]], "flat"'),
        lambda text: text.replace('"flat"', f'"many": [{"{}," * 10**6}[]], "flat"'),
        lambda text: text.replace('"flat"', '"many": [' + '"ab",' * 10**6 + '0], "flat"'),
        lambda text: text.replace('"flat"', f'"many": [{"999," * 10**6}0], "flat"'),
        lambda text: text.replace('"flat"', f'"many": "{"x" * 10**7}", "flat"'),
        lambda text: text.replace('"units": 20', f'"units": {10**12}'),
        lambda text: text.replace("1e-08", "1"),
    ],
    ids=["lists", "objects", "texts", "numbers", "text", "units", "as it is"],
)
def test_loading_uses_little_memory(saved, change):
    ee.load(saved)  # imports
    rewrite(saved, change)
    assert peak_memory(saved) < 8 * saved.stat().st_size + 500_000


def test_loading_a_large_file_uses_a_small_multiple_of_its_size(tmp_path):
    rng = np.random.default_rng(0)
    N = 400
    model = LinearModel(
        Reservoir(Spectrum(np.linspace(-0.9, 0.9, N)), rng.normal(size=(1, N))),
        rng.normal(size=(N, 1)), readout_bias=False, basis=ee.Basis(rng.normal(size=(N, N)), N),
    )  # fmt: skip
    for name, made in {"model": model, "learner": model.learner(1.0, forgetting=0.9)}.items():
        made.save(tmp_path / name)
        ee.load(tmp_path / name)
        assert peak_memory(tmp_path / name) < 6 * (tmp_path / name).stat().st_size


def test_empty_arrays_with_huge_shapes_allocate_no_memory(tmp_path):
    learner = LinearESN(20, seed=0).fit(X, Y).learner()
    learner.save(tmp_path / "learner")

    def huge(values, tensors):
        tensors |= dict.fromkeys(("training_state.R", "training_state.Z"), np.zeros((10**12, 0)))

    change_file(tmp_path / "learner", huge)
    assert peak_memory(tmp_path / "learner") < 10**6
    with pytest.raises(StorageError, match=r"R: got shape"):
        ee.load(tmp_path / "learner")


SPARSE_CHANGES = {
    "out of range": ("indices", lambda indices: indices + 10**6),
    "negative": ("indices", lambda indices: indices - 100),
    "floats": ("indices", lambda indices: indices.astype(float)),
    "going back": ("indptr", lambda indptr: indptr[::-1].copy()),
    "past the end": ("indptr", lambda indptr: indptr * 1000),
    "fewer": ("indptr", lambda indptr: indptr[:-1]),
    "in two dimensions": ("data", lambda data: data[:, None]),
    "half": ("data", lambda data: data[::2].copy()),
    "NaN": ("data", lambda data: data * np.nan),
}


@pytest.mark.parametrize("change", SPARSE_CHANGES.values(), ids=SPARSE_CHANGES)
def test_sparse_matrix_with_indices_out_of_bounds(change, tmp_path):
    name, changed = change
    model = LinearESN(20, **CASES["neuron sparse"], seed=0).fit(X, Y).model_
    model.save(tmp_path / "model")

    def change_array(values, tensors):
        path = f"reservoir.transition.{name}"
        tensors[path] = np.ascontiguousarray(changed(tensors[path]))

    change_file(tmp_path / "model", change_array)
    with pytest.raises(StorageError, match="is damaged"):
        ee.load(tmp_path / "model")


@pytest.mark.parametrize(
    "change",
    [
        array("training_state.R", lambda a: a[:, :5]),
        array("training_state.R", lambda a: np.ones((21, 21))),
        array("training_state.weights", lambda a: np.ones((1, 3))),
        array("training_state.weights", lambda a: np.ones((3, 21))),
        array("training_state.Z", lambda a: np.ones((40, 1))),
        array("state.r", lambda a: np.ones(3)),
        value("training_state/rows", "5"),
        value("training_state/rows", 2**70),
        value("warmup", -1),
        value("ridge", 10**400),
        value("penalty/free", 2),
        value("penalty/size", 10**12),
        value("penalty/basis", {"class": "Basis"}),
        value("extra", 1),
        value("training_state/rows", ...),
        value("training_state", [1]),
        value("training_state", ...),
        value("model/basis", {"class": None}),
    ],
)
def test_inconsistent_learner(change, tmp_path):
    LinearESN(20, seed=0).fit(X, Y).learner(forgetting=0.9).save(tmp_path / "learner")
    change_file(tmp_path / "learner", change)
    with pytest.raises(StorageError, match="is damaged"):
        ee.load(tmp_path / "learner")


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("W_out", 1e300),
        ("reservoir.transition.modes.real", 1e300),
        ("outputs.mean", 1e300),
        ("reservoir.bias", 1e300),
    ],
)
def test_numbers_beyond_single_precision(name, value, tmp_path):
    path = tmp_path / "model"
    LinearESN(20, **CASES["everything"], dtype="float32", seed=0).fit(X, Y).model_.save(path)
    change_file(path, lambda values, tensors: tensors.update(
        {name: np.full(tensors[name].shape, value)}
    ))  # fmt: skip
    with pytest.raises(StorageError, match="is damaged"):
        ee.load(path)


# Writing --------------------------------------------------------------------------------------


def test_missing_folder(tmp_path):
    esn = LinearESN(20, seed=0).fit(X, Y)
    with pytest.raises(FileNotFoundError, match=r"Cannot write .*there is no folder .*nowhere"):
        esn.save(tmp_path / "nowhere" / "model")


@pytest.mark.parametrize("failing", ["os.replace", "pathlib.Path.write_bytes"])
@pytest.mark.parametrize("error", [OSError("disk full"), KeyboardInterrupt()])
def test_failed_write_keeps_the_old_file(saved, monkeypatch, failing, error):
    before = saved.read_bytes()
    other = LinearESN(30, seed=1).fit(X, Y)

    def fail(*args, **kwargs):
        raise error

    monkeypatch.setattr(failing, fail)
    with pytest.raises(type(error)):
        other.save(saved)
    monkeypatch.undo()
    assert saved.read_bytes() == before
    assert [path.name for path in Path(saved.parent).iterdir()] == [saved.name]


def test_files_have_default_permissions(tmp_path):
    # Temporary files are private, but the file that replaces the target must not be.
    LinearESN(20, seed=0).fit(X, Y).save(tmp_path / "model")
    (tmp_path / "plain").write_bytes(b"")
    modes = [(tmp_path / name).stat().st_mode & 0o777 for name in ("model", "plain")]
    assert modes[0] == modes[1]


def test_unrelated_files_are_kept(saved):
    # Names that resemble those of temporary files.
    names = [f"{saved.name}.part", f"{saved.name}.0123abcd.part"]
    names.append(f"other.{'0' * 16}.part")
    for name in names:
        (saved.parent / name).write_text("precious")
    ee.load(saved).save(saved)
    assert sorted(os.listdir(saved.parent)) == sorted([saved.name, *names])


def test_name_of_maximum_length(tmp_path):
    path = tmp_path / ("ä" * 120)
    esn = LinearESN(20, seed=0).fit(X, Y)
    esn.save(path)
    np.testing.assert_array_equal(ee.load(path).predict(X), esn.predict(X))


def test_writing_a_page_keeps_a_file_named_like_a_temporary_file(tmp_path):
    from eigenecho import pages

    (tmp_path / "report.html.part").write_text("precious")
    pages.write_file(tmp_path / "report.html", b"new")
    assert (tmp_path / "report.html").read_bytes() == b"new"
    assert (tmp_path / "report.html.part").read_text() == "precious"


def test_loading_a_given_sparse_matrix_does_not_decompose_it(tmp_path, monkeypatch):
    W = sparse.random(30, 30, density=0.05, random_state=0, format="csr")
    LinearESN(spectrum=W, basis="neuron", seed=0).fit(X, Y).save(tmp_path / "model")

    def fail(*args):
        raise AssertionError("eigenvalues were computed")

    monkeypatch.setattr("eigenecho.transition.matrix.from_matrix", fail)
    assert ee.load(tmp_path / "model").get_params()["spectrum"].shape == (30, 30)
