"""Streams are exact functions of model, state and inputs, wherever they continue."""

from __future__ import annotations

import copy
import pickle
import subprocess
import sys

import numpy as np
import pytest

import crafted
import eigenecho as ee
from eigenecho.errors import StorageError, UnstableError
from eigenecho.model import Stream
from eigenecho.reservoir import Reservoir
from optional import optional

pd = optional("pandas")

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


# Continuing -----------------------------------------------------------------------------------


@each_case
def test_copied_and_loaded_streams_continue_exactly(case, tmp_path):
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


@pytest.mark.slow  # a learner and a network are tested in every run
def test_stream_continues_in_another_process(tmp_path):
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
def test_stream_equals_predict_up_to_rounding(case):
    esn = network(case)
    tolerance = 1e-4 if "float32" in str(CASES[case]) else 1e-11
    actual, expected = run(esn.stream(), X), esn.predict(X)
    np.testing.assert_allclose(actual, expected, rtol=0, atol=tolerance * np.abs(expected).max())


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


# Several rows ---------------------------------------------------------------------------------


@each_case
@pytest.mark.parametrize("outputs", [1, 3])
def test_run_equals_its_steps_exactly(case, outputs):
    esn = ee.LinearESN(37, ridge=1.0, warmup=10, seed=0, **CASES[case])
    esn.fit(X, Y * np.arange(1.0, outputs + 1))
    steps, rows = esn.stream(), esn.stream()
    expected = run(steps, X)
    actual = [rows.run(X[a:b]) for a, b in ((0, 1), (1, 70), (70, 70), (70, 160))]
    assert_same(np.concatenate(actual), expected)
    assert_same_place(rows, steps.state)
    assert_same(rows.step(X[0]), steps.step(X[0]))


@pytest.mark.parametrize("case", ["feedback", "previous", "both"])
def test_run_with_measured_outputs(case):
    steps, rows = network(case).stream(), network(case).stream()
    expected = np.array(
        [steps.step(u, y_previous=y) for u, y in zip(X, np.roll(Y, 1), strict=True)]
    )
    assert_same(rows.run(X[:50], y_previous=np.roll(Y, 1)[:50]), expected[:50])
    assert_same(rows.run(X[50:], y_previous=np.roll(Y, 1)[50:, 0]), expected[50:])
    assert_same_place(rows, steps.state)


def test_run_of_a_generator():
    esn = ee.LinearESN(20, seed=0, feedback=True, ridge=1.0, standardize=True).fit(None, Y)
    steps, rows = esn.stream(esn.final_state_), esn.stream(esn.final_state_)
    assert_same(rows.run(np.empty((9, 0))), np.array([steps.step() for _ in range(9)]))


def test_run_accepts_rows_in_any_container():
    esn = network("open")
    expected = esn.stream().run(X)
    for same in (X.tolist(), pd.DataFrame(X), np.asfortranarray(X), [tuple(row) for row in X]):
        assert_same(esn.stream().run(same), expected)
    assert esn.stream().run(X[:0]).shape == (0, 1)


def test_modifying_results_does_not_affect_the_stream():
    stream, other = network("open").stream(), network("open").stream()
    stream.run(X[:5])[:] = 99.0
    other.run(X[:5])
    assert_same_place(stream, other.state)


@pytest.mark.parametrize(
    ("rows", "more", "message"),
    [
        (X[0], {}, r"rows: got shape \(2,\).*2-D.*reshape\(1, -1\) for one row"),
        (X[:, :1], {}, r"rows: got shape \(160, 1\).*2 columns"),
        (np.where(np.arange(160)[:, None] == 7, np.nan, X), {}, "rows: got NaN in row 7, column 0"),
        (X, {"y_previous": Y[:9]}, r"y_previous: got lengths \[9\].*lengths \[160\]"),
        (X, {"y_previous": np.full_like(Y, np.inf)}, "y_previous: got infinity in row 0, column 0"),
        (X, {"y_previous": X}, r"y_previous: got shape \(160, 2\).*1 column"),
        (None, {}, r"rows: got .*NoneType"),
    ],
)
def test_invalid_run_changes_nothing(rows, more, message):
    stream = network("feedback").stream()
    stream.run(X[:5])
    state = stream.state
    with pytest.raises(ValueError, match=message):
        stream.run(rows, **more)
    assert_same_place(stream, state)
    with pytest.raises(ValueError, match=r"y_previous.*neither feedback nor output_to_readout"):
        network("open").stream().run(X, y_previous=Y)


def test_overflowing_run_changes_nothing():
    esn = ee.LinearESN(spectrum=ee.Spectrum([2.0]), seed=0).fit(X[:9], Y[:9])
    stream = esn.stream()
    stream.run(X[:3])
    state = stream.state
    with pytest.raises(UnstableError, match=r"output overflowed at step 10\d\d\."):
        stream.run(np.tile(X, (10, 1)))
    assert_same_place(stream, state)


# Labels ---------------------------------------------------------------------------------------


def frame():
    return pd.DataFrame(X, columns=["a", "b"])


ROWS = {
    "Series": lambda frame: frame.iloc[3],
    "frame": lambda frame: frame.iloc[3:4],
    "dict": lambda frame: frame.iloc[3].to_dict(),
    "Series of objects": lambda frame: frame.iloc[3].astype(object),
    "frame of objects": lambda frame: frame.iloc[3:4].astype(object),
}
each_row = pytest.mark.parametrize("row", ROWS.values(), ids=ROWS)
MISMATCH = r"(?s)feature names should match those that were passed during fit.*"


@pytest.fixture(scope="module")
def labelled():
    return ee.LinearESN(30, ridge=1.0, seed=0).fit(frame(), Y)


def runners(esn, folder):
    """Yield a stream and a learner, and their copies from a file, a pickle and ``copy``."""
    esn.save(folder / "esn.safetensors", statistics=True)
    for one in (esn, ee.load(folder / "esn.safetensors")):
        for runner in (one.stream(), one.learner()):
            runner.save(folder / "runner.safetensors")
            yield runner
            yield runner.copy()
            yield pickle.loads(pickle.dumps(runner))
            yield ee.load(folder / "runner.safetensors")


@each_row
def test_labelled_rows_are_accepted(row, labelled, tmp_path):
    for runner in runners(labelled, tmp_path):
        assert_same(runner.copy().step(row(frame())), runner.copy().step(X[3]))


@each_row
def test_labels_in_another_order_are_rejected_as_in_predict(row, labelled, tmp_path):
    swapped, other = frame()[["b", "a"]], frame().rename(columns={"b": "sun"})
    with pytest.raises(ValueError, match=MISMATCH):
        labelled.predict(swapped)
    for runner in runners(labelled, tmp_path):
        state = runner.state
        said = MISMATCH + r"has \['b', 'a'\], but fit had \['a', 'b'\]"
        with pytest.raises(ValueError, match=said):
            runner.step(row(swapped))
        with pytest.raises(ValueError, match=MISMATCH + r"u has \['a', 'sun'\]"):
            runner.step(row(other))
        assert_same_place(runner, state)


@each_row
def test_labels_of_outputs_are_checked(row, tmp_path):
    esn = ee.LinearESN(30, ridge=1.0, output_to_readout=True, seed=0).fit(X, frame())
    said = r"output names should match .* has \['b', 'a'\], but fit had \['a', 'b'\]"
    for runner in runners(esn, tmp_path):
        state = runner.state
        name = "target" if hasattr(runner, "forgetting") else "y_previous"
        with pytest.raises(ValueError, match=said):
            runner.step(X[3], **{name: row(frame()[["b", "a"]])})
        assert_same_place(runner, state)
        plain = runner.copy()
        assert_same(runner.step(X[3], **{name: row(frame())}), plain.step(X[3], **{name: X[3]}))


def test_labels_of_several_rows(labelled):
    assert_same(labelled.stream().run(frame()), labelled.stream().run(X))
    with pytest.raises(ValueError, match=MISMATCH + r"rows has \['b', 'a'\]"):
        labelled.stream().run(frame()[["b", "a"]])
    bad = frame().copy()
    bad.loc[7, "b"] = np.nan
    with pytest.raises(ValueError, match="rows: got NaN in row 7, column 'b'"):
        labelled.stream().run(bad)


@pytest.mark.parametrize("learning", [False, True])
def test_missing_value_in_a_labelled_row_is_named(learning, labelled):
    runner = labelled.learner() if learning else labelled.stream()
    for row in (pd.Series({"a": 1.0, "b": np.nan}), {"a": 1.0, "b": np.nan}, [1.0, np.nan]):
        with pytest.raises(ValueError, match=r"u: got NaN in column 'b'.*unchanged"):
            runner.step(row)
    with pytest.raises(ValueError, match=r"u.*real numbers"):
        runner.step(pd.Series({"a": 1.0, "b": "x"}))


def test_labels_are_ignored_if_the_fit_had_none(labelled):
    plain = network("open")
    row = pd.Series(X[3], index=["p", "q"])
    assert_same(plain.stream().step(row), plain.stream().step(X[3]))
    assert_same(plain.stream().step(row.to_frame().T), plain.stream().step(X[3]))
    assert_same(labelled.stream().step(pd.Series(X[3])), labelled.stream().step(X[3]))
    with pytest.raises(ValueError, match=r"u.*2 real numbers"):
        plain.stream().step({"p": 1.0, "q": 2.0})


def test_frame_of_several_rows_is_not_a_row(labelled):
    with pytest.raises(ValueError, match=r"u: got shape \(2, 2\).*one row with 2"):
        labelled.stream().step(frame()[:2])


# Valid and invalid rows -----------------------------------------------------------------------


@each_case
def test_row_in_any_container_gives_the_same_output(case):
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


def test_scalar_is_a_row_of_one_column():
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
        ([1.0], r"shape \(1,\).*one row with 2 numbers"),
        (1.0, r"shape \(\).*one row with 2"),
        ([[1.0, 2.0]], r"shape \(1, 2\).*one row with 2"),
        ([1.0, np.nan], "u.*finite numbers.*unchanged"),
        ([-np.inf, 1.0], "u.*finite numbers.*unchanged"),
    ],
)
@each_case
def test_invalid_row_does_not_advance_the_stream(case, row, message):
    stream = network(case).stream()
    run(stream, X[:5])
    state, other = stream.state, stream.copy()
    with pytest.raises(ValueError, match=message):
        stream.step(row)
    assert_same_place(stream, state)
    assert_same(run(stream, X[5:20]), run(other, X[5:20]))


@pytest.mark.filterwarnings("ignore:overflow encountered in cast")
def test_value_beyond_float32_is_named():
    with pytest.raises(ValueError, match=r"u.*finite numbers"):
        network("float32").stream().step([1e300, 0.0])


def test_previous_outputs_of_an_open_model_are_rejected():
    stream = network("open").stream()
    with pytest.raises(ValueError, match=r"y_previous.*neither feedback nor output_to_readout"):
        stream.step(X[0], y_previous=[1.0])


def test_overflow_does_not_advance_the_stream():
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


def test_model_without_a_drive():
    model = ee.LinearModel(
        Reservoir(ee.Spectrum([0.5], [0.5j]), np.empty((0, 3))), np.ones((4, 1)), True
    )
    stream = model.stream((np.ones(3), [0.0]))
    assert_same(stream.step(), np.array([1 + 0.5 + 0.5 - 0.5]))
    assert_same(stream.step([]), np.array([1 + 0.25 - 0.25 - 0.25]))


def test_states_that_no_readout_sees_may_not_overflow(tmp_path):
    path = tmp_path / "model"
    X = np.sin(np.arange(50.0))[:, None]
    ee.LinearESN(spectrum=ee.delay_line(2, spacing=3), seed=0).fit(X, X).model_.save(path)
    crafted.change_file(path, lambda _, arrays: arrays["reservoir.transition.data"].fill(1e308))
    stream = ee.load(path).stream()
    with pytest.raises(UnstableError):
        stream.run(X)
    with pytest.raises(UnstableError):
        [stream.step(row) for row in X]


# Files ----------------------------------------------------------------------------------------


def test_stream_file_without_its_state_is_damaged(tmp_path):
    network("open").stream().save(tmp_path / "s.safetensors")
    crafted.change_file(tmp_path / "s.safetensors", lambda values, _: values.pop("state"))
    with pytest.raises(StorageError, match="damaged"):
        ee.load(tmp_path / "s.safetensors")


# Threads --------------------------------------------------------------------------------------


def test_results_do_not_depend_on_blas_threads():
    from threadpoolctl import threadpool_limits

    N = 1001  # a size at which two OpenBLAS threads round differently
    W, W_in = RNG.normal(size=(N, N)) / N**0.5, RNG.normal(size=(1, N))
    model = ee.LinearModel(Reservoir(W, W_in), RNG.normal(size=(N + 1, 1)))
    u = RNG.normal(size=(20, 1))
    results = []
    for threads in (1, 2):
        with threadpool_limits(threads, user_api="blas"):
            results.append(run(model.stream(), u))
    assert_same(*results)


def test_outputs_that_overflow_in_user_units_raise_an_error():
    esn = ee.LinearESN(5, standardize=True, ridge=1e-3, seed=0).fit(X[:, :1], 1e300 * X[:, 0])
    large = np.full((3, 1), 1e12)
    with np.errstate(over="ignore"):
        for run in (lambda s: s.step(large[0]), lambda s: s.run(large)):
            running = esn.stream()
            with pytest.raises(ee.errors.UnstableError, match="output"):
                run(running)
            assert np.array_equal(running.state.r, esn.stream().state.r)
