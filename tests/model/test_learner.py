"""Compare recursive least squares with a new regression at every step."""

from __future__ import annotations

import copy
import pickle
import subprocess
import sys
import warnings

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.exceptions import NotFittedError

import crafted
import eigenecho as ee
import naive
from eigenecho.errors import IllConditionedWarning, StorageError, UnstableError
from eigenecho.model import Learner
from eigenecho.training.recursive import LEAST_RIDGE

RNG = np.random.default_rng(0)
X = RNG.normal(size=(300, 2))
Y = np.column_stack([X[:, 0] - 0.5 * np.roll(X[:, 1], 3), np.roll(X[:, 0], 2)])
Y += 0.1 * RNG.normal(size=Y.shape)
BOTH = (False, True)

CASES = {
    "plain": {},
    "identity": {"penalty": "identity"},
    "neuron basis": {"basis": "neuron"},
    "sparse": {"basis": "neuron", "spectrum": "matrix", "rc_connectivity": 0.3},
    "free bias": {"penalize_bias": False},
    "no bias": {"fit_bias": False, "input_bias": True},
    "loops": {"feedback": True, "output_to_readout": True, "fb_scaling": 0.2},
    "free bias, loops": {"penalize_bias": False, "output_to_readout": True, "feedback": True},
}
each_case = pytest.mark.parametrize("case", CASES)


def network(**options):
    return ee.LinearESN(12, **{"ridge": 0.1, "seed": 0, **options})


def fresh(forgetting=1.0, **options):
    return network(**options).learner(n_inputs=2, n_outputs=2, forgetting=forgetting)


def run(learner, rows=slice(None)):
    return np.array([learner.step(u, y) for u, y in zip(X[rows], Y[rows], strict=True)])


def assert_close(actual, expected, tolerance=1e-9):
    assert np.shape(actual) == np.shape(expected)
    np.testing.assert_allclose(actual, expected, rtol=0, atol=tolerance * np.abs(expected).max())


def assert_same(one, other):
    """Assert that two learners have equal states and weights, to the last bit."""
    for a, b in ((one.state.r, other.state.r), (one.state.y, other.state.y),
                 (one.model.W_out, other.model.W_out)):  # fmt: skip
        assert a.dtype == b.dtype
        np.testing.assert_array_equal(a, b)


def textbook_rows(model, start=None):
    """Return rows [1, y(t−1), r(t)] of the series, teacher-forced, in the working basis."""
    m = model.matrices("work")
    W = m.W.toarray() if hasattr(m.W, "toarray") else m.W
    before = naive.shifted(Y)
    r = naive.states(W, m.W_in, X, bias=m.bias, W_fb=m.W_fb, y_previous=before, r0=start)
    return naive.extended(r, before, model.readout_bias, model.output_to_readout)


def penalty_of(learner):
    return learner.__reduce__()[0].keywords["penalty"]


def penalties(learner, ridge, steps):
    """Return √α L at every step: its rows decay, and one row is renewed at each step."""
    L, forgetting = penalty_of(learner).root(), learner.forgetting
    n, share, result = len(L), np.ones(len(L)), []
    cycle = int(np.log(LEAST_RIDGE) / np.log(forgetting)) if forgetting < 1 else 0
    for t in range(steps):
        share = share * forgetting
        if cycle:
            s = t % cycle
            share[n * s // cycle : n * (s + 1) // cycle] = 1.0
        result.append(np.sqrt(ridge * share)[:, None] * L)
    return result


# Comparison with new regressions --------------------------------------------------------------


@each_case
@pytest.mark.parametrize("forgetting", [1.0, 0.97, 0.6])
def test_every_step_equals_a_new_regression(case, forgetting):
    learner = fresh(forgetting, **CASES[case])
    rows = textbook_rows(learner.model)[:60]
    expected = naive.recursive_least_squares(rows, Y[:60], penalties(learner, 0.1, 60), forgetting)
    weights = np.zeros_like(expected[0])
    for t in range(60):
        output = learner.step(X[t], Y[t])
        assert_close(output, rows[t] @ weights) if t else assert_close(output, np.zeros(2))
        weights = learner.model.W_out
        # After one row, the free bias and the other weights can share the fit arbitrarily.
        assert_close(weights, expected[t], 1e-8)
    assert learner.rows == 60


@each_case
def test_final_weights_without_forgetting_equal_those_of_fit(case):
    options = {**CASES[case], "warmup": 10}
    learner = fresh(**options)
    run(learner)
    esn = network(**options, solver="qr").fit(X, Y)
    assert learner.rows == 290
    assert_close(learner.model.W_out, esn.W_out_)
    np.testing.assert_allclose(learner.state.r, esn.final_state_.r, rtol=0, atol=1e-13)
    np.testing.assert_array_equal(learner.state.y, esn.final_state_.y)
    assert_close(learner.model.predict(X), esn.predict(X), 1e-7)


@each_case
@pytest.mark.parametrize("solver", ["qr", "normal"])
@pytest.mark.parametrize("standardize", BOTH)
def test_learner_continues_from_a_fit(case, solver, standardize):
    options = {**CASES[case], "solver": solver, "warmup": 10, "standardize": standardize}
    esn = network(**options).fit(X[:200], Y[:200])
    learner = esn.learner(esn.final_state_)
    outputs = run(learner, slice(200, 300))
    esn.partial_fit(X[200:], Y[200:], initial_state=esn.final_state_)
    assert_close(learner.model.W_out, esn.W_out_, 1e-8)
    assert outputs.shape == (100, 2)


def test_warmup_of_a_new_series():
    esn = network(warmup=20).fit(X[:200], Y[:200])
    learner = esn.learner()
    run(learner, slice(200, 300))
    esn.partial_fit(X[200:], Y[200:])
    assert_close(learner.model.W_out, esn.W_out_)
    assert learner.rows == 80


def test_converted_network_is_shrunk_to_its_own_readout():
    W, W_in = RNG.normal(size=(10, 10)) / 5, RNG.normal(size=(2, 10))
    W_out = RNG.normal(size=(11, 2))
    model = ee.diagonalize(W, W_in, W_out)
    for forgetting in (1.0, 0.9):
        learner = model.learner(2.0, forgetting=forgetting)
        assert_close(learner.model.W_out, model.W_out, 1e-14)
        rows = naive.extended(naive.states(W, W_in, X))[:50]
        inverse = np.linalg.inv(penalty_of(learner).root())
        in_neurons = [L @ inverse for L in penalties(learner, 2.0, 50)]
        expected = naive.recursive_least_squares(rows, Y[:50], in_neurons, forgetting, W_out)
        for t in range(50):
            learner.step(X[t], Y[t])
            assert_close(learner.model.matrices("neuron").W_out, expected[t], 1e-9)


@settings(max_examples=30, deadline=None)
@given(
    forgetting=st.floats(0.3, 1.0),
    ridge=st.floats(1e-4, 10.0),
    known=st.lists(st.booleans(), min_size=40, max_size=40),
)
def test_rows_without_a_target_are_not_learned(forgetting, ridge, known):
    learner = fresh(forgetting, ridge=ridge)
    rows = textbook_rows(learner.model)[:40]
    for t in range(40):
        learner.step(X[t], Y[t] if known[t] else None)
    count = sum(known)
    assert learner.rows == count
    if count:
        there = np.flatnonzero(known)
        expected = naive.recursive_least_squares(
            rows[there], Y[there], penalties(learner, ridge, count), forgetting
        )[-1]
        assert_close(learner.model.W_out, expected, 1e-7)


def test_loop_uses_the_output_without_a_target():
    esn = network(feedback=True, output_to_readout=True, ridge=1.0).fit(X[:200], Y[:200])
    learner, stream = esn.learner(esn.final_state_), esn.stream(esn.final_state_)
    for t in range(200, 220):
        assert_close(learner.step(X[t]), stream.step(X[t]), 1e-12)


def test_float32():
    single, double = fresh(dtype="float32"), fresh()
    outputs = run(single)
    assert outputs.dtype == single.state.r.dtype == single.model.W_out.dtype == np.float32
    assert_close(outputs, run(double), 1e-3)


def test_generator_learns_without_input():
    y = np.sin(0.3 * np.arange(400.0))[:, None]
    options = {"feedback": True, "ridge": 1e-4, "warmup": 50}
    learner = network(**options).learner(n_inputs=0, n_outputs=1)
    for row in y:
        learner.step(target=row)
    ahead = learner.model.forecast(20, state=learner.state)
    assert_close(ahead, network(**options).fit(None, y).forecast(20), 1e-6)


# Digits ---------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("solver", "ridge", "count", "from_zero", "lost"),
    [
        ("normal", 1e-6, 5, True, True),
        ("normal", 1e-6, 5, False, True),
        ("normal", 1e-6, 2, True, True),
        ("normal", 1e-6, 2, False, False),
        ("normal", 10.0, 5, True, False),
        ("qr", 1e-6, 5, True, False),
    ],
)
def test_lost_digits_of_a_fit_cause_a_warning(solver, ridge, count, from_zero, lost, tmp_path):
    x, x2 = ee.tasks.mso(2, steps=2501), ee.tasks.mso(count, steps=2801)[2500:]
    options = {"ridge": ridge, "warmup": 200, "seed": 0}
    exact = ee.LinearESN(100, solver="qr", **options).fit(x[:-1], x[1:])
    esn = ee.LinearESN(100, solver=solver, **options).fit(x[:-1], x[1:])
    assert esn.solver_ == solver
    start = esn.model_.zero_state() if from_zero else esn.final_state_
    sure = exact.learner(start)
    expected = [sure.step(x2[t], x2[t + 1]) for t in range(300)]
    learner = esn.learner(start)
    learner.save(tmp_path / "learner.safetensors")
    for one in (learner.copy(), ee.load(tmp_path / "learner.safetensors"), learner):
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            actual = [one.step(x2[t], x2[t + 1]) for t in range(300)]
        error = np.abs(np.subtract(actual, expected)).max()
        assert error > 1e-7 if lost else error < 1e-8
        messages = [w for w in caught if w.category is IllConditionedWarning]
        assert len(messages) == lost
        assert all("solver='qr'" in str(w.message) and w.filename == __file__ for w in messages)


def test_lost_digits_are_detected_in_outputs_of_new_rows():
    """Lost digits are not visible in the outputs of rows that have been learned."""
    x, x2 = ee.tasks.mso(2, steps=1501), ee.tasks.mso(3, steps=1901)[1500:]
    esn = ee.LinearESN(60, solver="normal", ridge=1e-6, warmup=200, seed=0).fit(x[:-1], x[1:])
    learner = esn.learner()
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        for t in range(300):
            learner.step(x2[t], x2[t + 1])
    assert ["too few digits" in str(w.message) for w in caught] == [True]


# Long runs ------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("forgetting", "T"), [(0.9, 15_000), pytest.param(0.99, 100_000, marks=pytest.mark.slow)]
)
def test_long_run_with_forgetting_remains_accurate(forgetting, T):
    """The input is zero for half of the run, so that the weights of older rows underflow."""
    assert forgetting ** (T / 2) < 1e-200
    learner = fresh(forgetting, ridge=1e-4)
    rng = np.random.default_rng(1)
    u = rng.normal(size=(T, 2))
    u[T // 5 : 7 * T // 10] = 0.0
    gain = np.where(np.arange(T) < T // 2, 1.0, -2.0)
    y = np.column_stack([gain * u[:, 0], gain * np.roll(u[:, 1], 1)])
    error, largest = np.empty(T), 0.0
    for t in range(T):
        error[t] = np.abs(learner.step(u[t], y[t]) - y[t]).max()
        if t % 50 == 0:
            largest = max(largest, np.abs(learner.model.W_out).max())
    assert largest < 1e4
    # The change of gain is learned: errors double with the gain.
    before, after = error[T // 10 : T // 5].mean(), error[-T // 10 :].mean()
    assert after < 2.5 * before

    # The weights of older rows are below 1e-17.
    length = int(np.log(1e-17) / np.log(forgetting))
    m = learner.model.matrices("work")
    rows = naive.extended(naive.states(m.W, m.W_in, u[-length - 500 :]))[500:]
    weight = np.sqrt(forgetting) ** np.arange(length - 1, -1, -1)[:, None]
    cycle = int(np.log(LEAST_RIDGE) / np.log(forgetting))
    L = penalties(learner, 1e-4, cycle + T % cycle)[-1]
    stacked = np.concatenate([weight * rows, L])
    targets = np.concatenate([weight * y[-length:], np.zeros((len(L), 2))])
    expected = np.linalg.lstsq(stacked, targets, rcond=0.0)[0]
    assert_close(learner.model.W_out, expected, 1e-6)


# Continuing -----------------------------------------------------------------------------------

GOING_ON = {
    "plain": {},
    "float32": {"dtype": "float32"},
    "dense": {"basis": "neuron"},
    "identity": {"penalty": "identity", "penalize_bias": False},
    "loops": {"feedback": True, "output_to_readout": True, "warmup": 130},
}


@pytest.mark.parametrize("case", GOING_ON)
def test_copied_and_loaded_learners_continue_exactly(case, tmp_path):
    whole, learner = fresh(0.95, **GOING_ON[case]), fresh(0.95, **GOING_ON[case])
    expected = run(whole)
    run(learner, slice(0, 120))
    learner.save(tmp_path / "learner.safetensors")
    loaded = ee.load(tmp_path / "learner.safetensors")
    assert isinstance(loaded, Learner)
    others = [learner.copy(), copy.copy(learner), copy.deepcopy(learner),
              pickle.loads(pickle.dumps(learner)), loaded, learner]  # fmt: skip
    for other in others:
        np.testing.assert_array_equal(run(other, slice(120, 300)), expected[120:])
        assert_same(other, whole)


def test_learner_continues_in_another_process(tmp_path):
    esn = network(standardize=True).fit(X[:100], Y[:100])
    learner = esn.learner(esn.final_state_, forgetting=0.98)
    run(learner, slice(100, 200))
    learner.save(tmp_path / "learner.safetensors")
    np.save(tmp_path / "data.npy", np.hstack([X, Y])[200:])
    code = (
        "import sys, numpy as np, eigenecho as ee\n"
        "from pathlib import Path\n"
        "folder = Path(sys.argv[1])\n"
        "learner = ee.load(folder / 'learner.safetensors')\n"
        "rows = np.load(folder / 'data.npy')\n"
        "out = np.array([learner.step(row[:2], row[2:]) for row in rows])\n"
        "np.save(folder / 'out.npy', out)\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", code, str(tmp_path)], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    np.testing.assert_array_equal(np.load(tmp_path / "out.npy"), run(learner, slice(200, 300)))


def test_extracted_model_does_not_change():
    learner = fresh()
    run(learner, slice(0, 50))
    model = learner.model
    before = model.W_out.copy()
    esn = network().fit(X, Y)
    weights = esn.W_out_.copy()
    other = esn.learner(forgetting=0.9)
    for going in (learner, other):
        run(going, slice(50, 80))
    np.testing.assert_array_equal(model.W_out, before)
    np.testing.assert_array_equal(esn.W_out_, weights)
    assert not np.array_equal(learner.model.W_out, before)


def test_extracted_model_can_be_saved(tmp_path):
    learner = fresh()
    run(learner)
    learner.model.save(tmp_path / "model.safetensors")
    loaded = ee.load(tmp_path / "model.safetensors")
    np.testing.assert_array_equal(loaded.predict(X), learner.model.predict(X))


def test_damaged_learner_file(tmp_path):
    fresh().save(tmp_path / "l.safetensors")
    crafted.change_file(tmp_path / "l.safetensors", lambda values, _: values.pop("penalty"))
    with pytest.raises(StorageError, match="damaged"):
        ee.load(tmp_path / "l.safetensors")


# Rejected input -------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("u", "target", "message"),
    [
        ([1.0], Y[0], r"u: got shape \(1,\).*one row with 2"),
        ([np.nan, 0.0], Y[0], r"u[=:].*finite numbers"),
        (X[0], [1.0], r"target: got shape \(1,\).*one row with 2"),
        (X[0], [np.inf, 1.0], r"target[=:].*finite numbers"),
        (X[0], ["a", "b"], r"target[=:].*2 real numbers"),
        (X[0], [1e200, 0.0], "squares of the states overflowed"),
        ([1e200, 0.0], Y[0], "squares of the states overflowed"),
    ],
)
def test_rejected_input_changes_nothing(u, target, message):
    learner = fresh(0.9, output_to_readout=True, feedback=True)
    run(learner, slice(0, 30))
    other = learner.copy()
    with pytest.raises((ValueError, UnstableError), match=message):
        learner.step(u, target)
    assert_same(learner, other)
    np.testing.assert_array_equal(run(learner, slice(30, 60)), run(other, slice(30, 60)))
    assert_same(learner, other)


@pytest.mark.parametrize("last", [None, Y[0]])
@pytest.mark.parametrize("scale", [1.0, np.nan])
def test_overflow_changes_nothing(last, scale):
    learner = network(spectrum=ee.Spectrum([2.0, 2.0, 0.5])).learner(n_inputs=2, n_outputs=2)
    learner.step(X[0], Y[0])
    with pytest.raises(UnstableError):  # noqa: PT012
        while True:
            before = learner.copy()
            learner.step(X[0], last)
    assert_same(learner, before)
    with pytest.raises((UnstableError, ValueError)):
        learner.step(X[0] * scale, last)
    assert_same(learner, before)


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: fresh(0.0), "forgetting=0.0"),
        (lambda: fresh(1.5), "forgetting=1.5"),
        (lambda: fresh("slow"), "forgetting='slow'"),
        (lambda: fresh(np.nan), "forgetting=nan"),
        (lambda: fresh(ridge=0.0), "ridge=0.0.*keeps the weights bounded"),
        (lambda: fresh(ridge=[1.0, 2.0]), r"ridge=\[1.0, 2.0\].*a single finite number"),
        (lambda: fresh(standardize=True), "standardize=True.*Call fit on the first rows"),
        (lambda: fresh(sr=-1.0), "sr=-1.0"),
        (lambda: network().learner(n_inputs=2), "n_outputs=None"),
        (lambda: network().learner(n_outputs=2), "n_inputs=None"),
        (lambda: network().learner(n_inputs=0, n_outputs=2), "n_inputs=0"),
        (lambda: network().learner(n_inputs=2, n_outputs=True), "n_outputs=True"),
        (lambda: network(ridge=0.0).fit(X, Y).learner(), "ridge=0.0"),
        (lambda: network().fit(X, Y).learner(3), "state=3"),
        (lambda: network().fit(X, Y).model_.learner(-1.0), "ridge=-1.0"),
    ],
)
def test_invalid_learner_arguments(make, message):
    with pytest.raises(ValueError, match=message):
        make()


def test_learner_needs_columns_or_a_fit(tmp_path):
    with pytest.raises(NotFittedError, match=r"learner\(n_inputs=\.\.\., n_outputs=\.\.\.\)"):
        network().learner()
    network().fit(X, Y).save(tmp_path / "esn.safetensors")
    with pytest.raises(ValueError, match="statistics=True"):
        ee.load(tmp_path / "esn.safetensors").learner()
