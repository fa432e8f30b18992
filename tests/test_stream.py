"""Streams: a function of model, state and inputs to the last bit, wherever they go on."""

from __future__ import annotations

import copy
import pickle
import subprocess
import sys

import numpy as np
import pytest

import eigenecho as ee
from eigenecho.errors import StorageError, UnstableError
from eigenecho.model import Stream

RNG = np.random.default_rng(0)
X = np.cumsum(RNG.normal(size=(160, 2)), axis=0) + 50.0
Y = X @ [[1.0], [-0.5]] + np.roll(X[:, :1], 2, axis=0)
HALF = 90

CASES = {
    "open": {},
    "float32": {"dtype": "float32", "standardize": True},
    "standardised": {"standardize": True},
    "feedback": {"feedback": True, "fb_scaling": 0.1, "standardize": True},
    "previous": {"output_to_readout": True, "input_bias": True},
    "both": {"feedback": True, "output_to_readout": True, "dtype": "float32", "standardize": True},
    "dense": {"basis": "neuron"},
    "sparse": {"basis": "neuron", "spectrum": "matrix", "rc_connectivity": 0.2},
}
each_case = pytest.mark.parametrize("case", CASES)


def network(case):
    return ee.LinearESN(30, ridge=1.0, warmup=10, seed=0, **CASES[case]).fit(X, Y)


def run(stream, rows):
    return np.array([stream.step(row) for row in rows])


def assert_same(one, other):
    assert np.asarray(one).dtype == np.asarray(other).dtype
    np.testing.assert_array_equal(one, other)


def assert_same_place(stream, state):
    assert_same(stream.state.r, state.r)
    assert_same(stream.state.y, state.y)


# Going on -------------------------------------------------------------------------------------


@each_case
def test_a_stream_goes_on_bit_for_bit(case, tmp_path):
    whole = network(case).stream()
    expected = run(whole, X)
    stream = network(case).stream()
    assert_same(run(stream, X[:HALF]), expected[:HALF])

    stream.save(tmp_path / "stream.safetensors")
    loaded = ee.load(tmp_path / "stream.safetensors")
    assert isinstance(loaded, Stream)
    elsewhere = [
        stream.copy(),
        copy.copy(stream),
        copy.deepcopy(stream),
        pickle.loads(pickle.dumps(stream)),
        loaded,
        stream.model.stream(stream.state),
        ee.LinearModel.stream(stream.model, tuple(stream.state)),
    ]
    for other in [*elsewhere, stream]:
        assert_same(run(other, X[HALF:]), expected[HALF:])
        assert_same_place(other, whole.state)


def test_a_stream_goes_on_in_another_process(tmp_path):
    expected = {}
    for case in CASES:
        stream = network(case).stream()
        run(stream, X[:HALF])
        stream.save(tmp_path / f"{case}.safetensors")
        expected[case] = run(stream, X[HALF:])
    np.save(tmp_path / "X.npy", X[HALF:])
    code = (
        "import sys, numpy as np, eigenecho as ee\n"
        "from pathlib import Path\n"
        "folder = Path(sys.argv[1])\n"
        "rows = np.load(folder / 'X.npy')\n"
        f"for case in {list(CASES)}:\n"
        "    stream = ee.load(folder / f'{case}.safetensors')\n"
        "    np.save(folder / f'{case}.npy', np.array([stream.step(row) for row in rows]))\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", code, str(tmp_path)], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    for case in CASES:
        assert_same(np.load(tmp_path / f"{case}.npy"), expected[case])


@each_case
def test_a_stream_agrees_with_predict_to_rounding(case):
    esn = network(case)
    tolerance = 1e-4 if "float32" in str(CASES[case]) else 1e-11
    got, wanted = run(esn.stream(), X), esn.predict(X)
    np.testing.assert_allclose(got, wanted, rtol=0, atol=tolerance * np.abs(wanted).max())


def test_streams_and_their_copies_are_independent():
    stream = network("both").stream()
    run(stream, X[:5])
    other = stream.copy()
    before = other.state
    output = stream.step(X[5])
    output[:] = 99.0
    stream.step(X[6])
    assert_same_place(other, before)
    assert stream.state.y != 99.0


# What a row may be ----------------------------------------------------------------------------


@each_case
def test_the_same_row_in_any_clothes(case):
    start = network(case).stream()
    row = np.array([40.0, 52.0])
    dtype = start.model.reservoir.dtype
    expected = start.copy().step(row.astype(dtype))
    readonly = row.copy()
    readonly.flags.writeable = False
    for same in (row, row.tolist(), tuple(row), row.astype(int), row.astype(">f8"), readonly,
                 np.array([row, row]).T[:, 0], np.array([row, row])[::-1][1],
                 np.float32(row)):  # fmt: skip
        assert_same(start.copy().step(same), expected)


def test_a_number_is_a_row_of_one():
    esn = ee.LinearESN(10, seed=0, feedback=True).fit(X[:, :1], Y)
    start = esn.stream()
    expected = start.copy().step([3.0], y_previous=[2.0])
    for u, y in ((3, 2), (3.0, np.float64(2)), (np.array(3.0), np.float32(2))):
        assert_same(start.copy().step(u, y_previous=y), expected)


@pytest.mark.parametrize(
    ("row", "message"),
    [
        (None, "u=None"),
        ("ab", r"u='ab'.*2 real numbers"),
        ([1 + 2j, 0.0], "2 real numbers"),
        ([1.0], r"<shape \(1,\)>.*one row of 2 numbers"),
        (1.0, r"<shape \(\)>.*one row of 2"),
        ([[1.0, 2.0]], r"<shape \(1, 2\)>.*one row of 2"),
        ([1.0, np.nan], "u=.*finite numbers.*has moved"),
        ([-np.inf, 1.0], "u=.*finite numbers.*has moved"),
    ],
)
@each_case
def test_a_bad_row_does_not_move_the_stream(case, row, message):
    stream = network(case).stream()
    run(stream, X[:5])
    state, other = stream.state, stream.copy()
    with pytest.raises(ValueError, match=message):
        stream.step(row)
    assert_same_place(stream, state)
    assert_same(run(stream, X[5:20]), run(other, X[5:20]))


@pytest.mark.filterwarnings("ignore:overflow encountered in cast")
def test_a_number_beyond_float32_is_named():
    with pytest.raises(ValueError, match=r"u=.*finite numbers"):
        network("float32").stream().step([1e300, 0.0])


def test_previous_outputs_of_an_open_model_are_refused():
    stream = network("open").stream()
    with pytest.raises(ValueError, match=r"y_previous=.*neither feedback nor output_to_readout"):
        stream.step(X[0], y_previous=[1.0])


def test_an_overflow_does_not_move_the_stream():
    esn = ee.LinearESN(spectrum=ee.Spectrum([2.0]), seed=0).fit(X[:9], Y[:9])
    stream = esn.stream()
    with pytest.raises(UnstableError):  # noqa: PT012
        while True:
            state = stream.state
            stream.step(X[0])
    assert_same_place(stream, state)
    with pytest.raises(UnstableError):
        stream.step(X[0])
    stream.state = esn.model_.zero_state()
    assert_same(stream.step(X[0]), esn.stream().step(X[0]))


def test_a_model_that_nothing_drives():
    from eigenecho.reservoir import Reservoir

    model = ee.LinearModel(
        Reservoir(ee.Spectrum([0.5], [0.5j]), np.empty((0, 3))), np.ones((4, 1)), True
    )
    stream = model.stream((np.ones(3), [0.0]))
    assert_same(stream.step(), np.array([1 + 0.5 + 0.5 - 0.5]))
    assert_same(stream.step([]), np.array([1 + 0.25 - 0.25 - 0.25]))


# Files ----------------------------------------------------------------------------------------


def test_a_stream_file_without_its_state_is_damaged(tmp_path):
    from eigenecho.model.storage import pack_model, write

    tensors, values = pack_model(network("open").model_)
    write(tmp_path / "s.safetensors", "Stream", tensors, values)
    with pytest.raises(StorageError, match="damaged"):
        ee.load(tmp_path / "s.safetensors")


# Threads --------------------------------------------------------------------------------------


def test_the_threads_of_blas_change_no_bit():
    from threadpoolctl import threadpool_limits

    from eigenecho.reservoir import Reservoir

    N = 1001  # where two threads of OpenBLAS were seen to round otherwise than one
    W, W_in = RNG.normal(size=(N, N)) / N**0.5, RNG.normal(size=(1, N))
    model = ee.LinearModel(Reservoir(W, W_in), RNG.normal(size=(N + 1, 1)))
    u = RNG.normal(size=(20, 1))
    found = []
    for threads in (1, 2):
        with threadpool_limits(threads, user_api="blas"):
            found.append(run(model.stream(), u))
    assert_same(*found)
