"""Compare tasks with textbook loops and closed forms, and test their defining properties."""

from __future__ import annotations

import dataclasses
import importlib
import math
import subprocess
import sys
from collections import deque
from typing import ClassVar

import numpy as np
import pytest
from scipy.integrate import quad, solve_ivp

from eigenecho import tasks

# Import the module explicitly, because the package's `narma` is the function.
narma_module = importlib.import_module("eigenecho.tasks.narma")


def test_import_leaves_scipy_unloaded():
    code = "import sys, eigenecho.tasks, eigenecho.metrics; sys.exit('scipy' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


# Superimposed sines


@pytest.mark.parametrize("k", [1, 2, 12])
def test_mso_equals_the_sum_of_its_sines(k):
    signal = tasks.mso(k, 50)
    assert signal.shape == (50, 1)
    frequencies = [0.2, 0.331, 0.42, 0.51, 0.63, 0.74, 0.85, 0.97, 1.08, 1.19, 1.27, 1.32]
    for t in range(50):
        expected = math.fsum(math.sin(frequency * t) for frequency in frequencies[:k])
        assert signal[t, 0] == pytest.approx(expected, abs=1e-13)


def test_mso_solves_the_linear_recurrence_of_its_frequencies():
    # Π_i (z² − 2 cos α_i z + 1) annihilates the sum, for any amplitudes and phases.
    polynomial = np.ones(1)
    for frequency in tasks.MSO_FREQUENCIES[:3]:
        polynomial = np.convolve(polynomial, [1.0, -2.0 * math.cos(frequency), 1.0])
    residual = np.convolve(tasks.mso(3, 500)[:, 0], polynomial, mode="valid")
    assert abs(residual).max() < 1e-11


def test_mso_split_equals_that_of_the_paper():
    split = tasks.mso_split(5)
    signal = tasks.mso(5, 1001)
    np.testing.assert_array_equal(split.X, signal[:1000])
    np.testing.assert_array_equal(split.y, signal[1:])
    assert [len(split.X[rows]) for rows in (split.train, split.valid, split.test)] == [
        400,
        300,
        300,
    ]
    assert (split.train.stop, split.valid.stop) == (split.valid.start, split.test.start)
    assert split.washout == 100
    assert not np.shares_memory(split.X, split.y)
    with pytest.raises(dataclasses.FrozenInstanceError):
        split.washout = 0


# Memory


class DelayLine:
    """Least squares on the last `units` inputs including u(t), which it recalls perfectly."""

    def __init__(self, units, warmup=0):
        self.units = units
        self.warmup = warmup

    def get_params(self, deep=True):
        return {"units": self.units, "warmup": self.warmup}

    def set_params(self, **parameters):
        for name, value in parameters.items():
            setattr(self, name, value)
        return self

    def _register(self, X):
        padded = np.concatenate([np.zeros(self.units - 1), X[:, 0]])
        return np.lib.stride_tricks.sliding_window_view(padded, self.units)

    def fit(self, X, y):
        rows = slice(self.warmup, None)
        self.weights = np.linalg.lstsq(self._register(X)[rows], y[rows], rcond=None)[0]
        return self

    def predict(self, X):
        return self._register(X) @ self.weights


class Spy(DelayLine):
    """Delay line that records how its copies were fitted."""

    log: ClassVar[list[tuple[int, int]]] = []

    def fit(self, X, y):
        Spy.log.append((len(X), self.warmup))
        return super().fit(X, y)


def test_delayed_recall_shifts_the_input():
    u, targets = tasks.delayed_recall(30, [0, 1, 7, 29], seed=3)
    assert u.shape == (30, 1)
    assert targets.shape == (30, 4)
    for t in range(30):
        for column, delay in enumerate([0, 1, 7, 29]):
            assert targets[t, column] == (u[t - delay, 0] if t >= delay else 0.0)


def test_delayed_recall_counts_delays_from_one():
    u, few = tasks.delayed_recall(30, 3, seed=3)
    again, same = tasks.delayed_recall(30, (1, 2, 3), seed=3)
    np.testing.assert_array_equal(u, again)
    np.testing.assert_array_equal(few, same)


def test_delayed_recall_input_is_within_bounds():
    u, _ = tasks.delayed_recall(2000, 1, seed=0, low=2.0, high=3.0)
    assert 2.0 <= u.min() < 2.01
    assert 2.99 < u.max() <= 3.0


def test_memory_capacity_of_a_delay_line_is_its_length():
    result = tasks.memory_capacity(DelayLine(11), steps=3000, warmup=100, seed=0)
    np.testing.assert_array_equal(result.delays, np.arange(1, 23))
    np.testing.assert_allclose(result.capacity[:10], 1.0, atol=1e-12)
    assert result.capacity[10:].max() < 0.02
    assert result.total == pytest.approx(result.capacity.sum())
    exact = tasks.memory_capacity(DelayLine(11), steps=500, warmup=50, delays=10, seed=0)
    assert exact.total == pytest.approx(10.0, abs=1e-10)


def test_memory_capacity_is_measured_on_rows_not_fitted():
    class Rote:
        def fit(self, X, y):
            self.known = y

        def predict(self, X):
            unknown = np.zeros((len(X) - len(self.known), self.known.shape[1]))
            return np.concatenate([self.known, unknown])

    assert tasks.memory_capacity(Rote(), steps=80, warmup=10, delays=3, seed=1).total == 0.0


def test_memory_capacity_does_not_modify_the_model_and_passes_the_warmup():
    Spy.log.clear()
    model = Spy(5)
    tasks.memory_capacity(model, steps=1000, warmup=200, seed=0)
    assert vars(model) == {"units": 5, "warmup": 0}
    tasks.memory_capacity(Spy(5, warmup=7), steps=1000, warmup=200, seed=0)
    assert Spy.log == [(600, 200), (600, 7)]


def test_memory_capacity_accepts_a_regressor_with_1d_output():
    class Flat:
        def fit(self, X, y):
            return self

        def predict(self, X):
            return np.concatenate([[0.0], X[:-1, 0]])

    result = tasks.memory_capacity(Flat(), steps=200, warmup=10, delays=1, seed=0)
    assert result.total == pytest.approx(1.0)
    with pytest.raises(ValueError, match="delays"):
        tasks.memory_capacity(Flat(), steps=200, warmup=10, seed=0)


# NARMA


def naive_narma(u, order):
    past = deque([0.0] * order, maxlen=order)
    for t in range(len(u)):
        lagged = u[t - order + 1] if t - order + 1 >= 0 else 0.0
        drive = 0.3 * past[-1] + 0.05 * past[-1] * math.fsum(past) + 1.5 * lagged * u[t]
        past.append(math.tanh(drive + 0.01) if order > 10 else drive + 0.1)
        yield past[-1]


@pytest.mark.parametrize("order", [1, 2, 5, 10, 20])
def test_narma_equals_a_loop(order):
    u, y = tasks.narma(order, 300, seed=4)
    assert u.shape == y.shape == (300, 1)
    assert 0.0 <= u.min() <= u.max() <= 0.5
    np.testing.assert_allclose(y[:, 0], list(naive_narma(u[:, 0].tolist(), order)), rtol=1e-12)


def test_narma_target_is_causal():
    # An input first affects the target in its own row.
    u, y = tasks.narma(10, 300, seed=4)
    changed = u[:, 0].copy()
    changed[100] = 0.5 - changed[100]
    again = np.array(list(naive_narma(changed.tolist(), 10)))
    np.testing.assert_allclose(again[:100], y[:100, 0], rtol=1e-12)
    assert abs(again[100] - y[100, 0]) > 1e-6


def test_narma_redraws_a_diverged_run_from_the_same_stream():
    # The first 2000 inputs of seed 83 diverge.
    stream = np.random.default_rng(83)
    first, second = stream.uniform(0, 0.5, 2000), stream.uniform(0, 0.5, 2000)
    assert any(y > 10 for y in naive_narma(first.tolist(), 10))
    u, y = tasks.narma(10, 2000, seed=83)
    np.testing.assert_array_equal(u[:, 0], second)
    assert y.max() < 2.0


def test_narma_error_names_the_seed(monkeypatch):
    monkeypatch.setattr(narma_module, "_ATTEMPTS", 1)
    with pytest.raises(ValueError, match="seed=83"):
        tasks.narma(10, 2000, seed=83)


# Mackey-Glass


def test_mackey_glass_over_the_first_two_delays():
    """The solution is a closed form on [0, τ] and one quadrature on [τ, 2τ]."""
    tau, beta, gamma, n, x0 = 17.0, 0.2, 0.1, 10.0, 1.2

    def production(x):
        return beta * x / (1 + x**n)

    level = production(x0) / gamma

    def first(t):
        return level + (x0 - level) * math.exp(-gamma * t)

    def second(t):
        def integrand(s):
            return math.exp(-gamma * (t - s)) * production(first(s - tau))

        integral, _ = quad(integrand, tau, t, epsabs=1e-13, epsrel=1e-13)
        return first(tau) * math.exp(-gamma * (t - tau)) + integral

    x = tasks.mackey_glass(35, washout=0)[:, 0]
    assert x[0] == x0
    np.testing.assert_allclose(x[:18], [first(t) for t in range(18)], atol=1e-10)
    np.testing.assert_allclose(x[18:], [second(t) for t in range(18, 35)], atol=1e-10)


@pytest.mark.parametrize("options", [{}, {"tau": 16.83, "sample": 0.71, "seed": 3}])
def test_mackey_glass_converges_at_order_four(options):
    exact, coarse, fine = (
        tasks.mackey_glass(80, washout=0, dt=dt, **options) for dt in (0.02, 0.4, 0.2)
    )
    errors = [abs(x - exact).max() for x in (coarse, fine)]
    assert errors[1] < 1e-6
    assert math.log2(errors[0] / errors[1]) > 3.0


def test_mackey_glass_sampling_and_dropped_rows():
    dense = tasks.mackey_glass(100, sample=0.5, washout=0)
    np.testing.assert_allclose(tasks.mackey_glass(50, washout=0), dense[::2], atol=1e-12)
    np.testing.assert_array_equal(tasks.mackey_glass(60, sample=0.5, washout=40), dense[40:])


def test_mackey_glass_has_the_statistics_of_the_attractor():
    x = tasks.mackey_glass(2000)
    assert x.shape == (2000, 1)
    assert 0.9 < x.mean() < 0.96
    assert 0.2 < x.std() < 0.25
    assert 0.2 < x.min() < x.max() < 1.4


def test_mackey_glass_history_depends_on_the_seed_and_not_on_the_grid():
    coarse, fine = (tasks.mackey_glass(30, washout=0, dt=dt, seed=5) for dt in (0.2, 0.1))
    np.testing.assert_allclose(coarse, fine, atol=1e-7)
    assert abs(coarse[0, 0] - 1.2) < 0.12
    assert abs(coarse - tasks.mackey_glass(30, washout=0)).max() > 1e-3


# Lorenz


def test_lorenz_equals_a_fixed_step_loop():
    def flow(state):
        x, y, z = state
        return np.array([10 * (y - x), x * (28 - z) - y, x * y - 8 / 3 * z])

    h, state = 0.001, np.ones(3)
    expected = [state]
    for step in range(1, 2001):
        k1 = flow(state)
        k2 = flow(state + h / 2 * k1)
        k3 = flow(state + h / 2 * k2)
        k4 = flow(state + h * k3)
        state = state + h / 6 * (k1 + 2 * k2 + 2 * k3 + k4)
        if step % 20 == 0:
            expected.append(state)
    np.testing.assert_allclose(tasks.lorenz(101, washout=0), expected, atol=1e-7)


def test_lorenz_equals_an_adaptive_integrator():
    def right_side(_, x):
        return 10 * (x[1] - x[0]), x[0] * (28 - x[2]) - x[1], x[0] * x[1] - 8 / 3 * x[2]

    rows = tasks.lorenz(21, dt=0.1, washout=0, seed=1)
    times, options = 0.1 * np.arange(21), {"rtol": 1e-13, "atol": 1e-13}
    solution = solve_ivp(right_side, (0, 2), rows[0], "DOP853", times, **options)
    np.testing.assert_allclose(rows, solution.y.T, atol=1e-8)


def test_lorenz_is_exact_for_many_lyapunov_times():
    # Rows every 0.02 and every 0.005 need different steps, so that they round differently. Errors
    # of rounding, about 1e-15, grow by e^15 = 3e6 in 16.6 time units.
    coarse, fine = tasks.lorenz(831, washout=0), tasks.lorenz(3321, dt=0.005, washout=0)[::4]
    assert abs(coarse - fine).max() < 1e-6
    # Rows far apart take several steps.
    rare = tasks.lorenz(9, dt=2.0, washout=0)
    np.testing.assert_allclose(rare, coarse[::100], atol=1e-6)


def test_lorenz_fixed_points():
    rest = np.array([math.sqrt(8 / 3 * 27), math.sqrt(8 / 3 * 27), 27.0])
    np.testing.assert_allclose(tasks.lorenz(50, x0=rest, washout=0), [rest] * 50, atol=1e-8)
    assert abs(tasks.lorenz(10, rho=0.5, washout=2000)).max() < 1e-6


def test_lorenz_rows_and_statistics():
    x = tasks.lorenz(1000)
    assert x.shape == (1000, 3)
    assert x.flags.c_contiguous
    np.testing.assert_allclose(x.std(axis=0), [7.9, 9.0, 8.6], atol=1.2)
    assert 0 < x[:, 2].min() < x[:, 2].max() < 50
    whole = tasks.lorenz(60, washout=0)
    np.testing.assert_allclose(tasks.lorenz(40, washout=20), whole[20:], atol=1e-9)
    np.testing.assert_array_equal(tasks.lorenz(1, washout=0), [[1.0, 1.0, 1.0]])


# Seeds and bad input

DRAWS = {
    "delayed_recall": lambda seed: tasks.delayed_recall(40, 3, seed=seed)[0],
    "narma": lambda seed: tasks.narma(10, 40, seed=seed)[1],
    "mackey_glass": lambda seed: tasks.mackey_glass(40, washout=0, seed=seed),
    "lorenz": lambda seed: tasks.lorenz(40, washout=0, seed=seed),
    "memory_capacity": lambda seed: (
        tasks.memory_capacity(DelayLine(3), steps=60, warmup=5, seed=seed).capacity
    ),
}


@pytest.mark.parametrize("draw", DRAWS.values(), ids=DRAWS.keys())
def test_same_seed_gives_the_same_series(draw):
    np.testing.assert_array_equal(draw(7), draw(7))
    np.testing.assert_array_equal(draw(7), draw(np.random.default_rng(7)))
    assert not np.array_equal(draw(7), draw(8))
    stream = np.random.default_rng(7)
    assert not np.array_equal(draw(stream), draw(stream))


@pytest.mark.parametrize(
    ("argument", "call"),
    [
        ("k", lambda: tasks.mso(0)),
        ("k", lambda: tasks.mso(13)),
        ("k", lambda: tasks.mso(2.5)),
        ("k", lambda: tasks.mso(True)),
        ("k", lambda: tasks.mso_split(13)),
        ("steps", lambda: tasks.mso(3, -1)),
        ("steps", lambda: tasks.mso(3, 0)),
        ("steps", lambda: tasks.delayed_recall(-5, 1, seed=0)),
        ("delays", lambda: tasks.delayed_recall(10, 10, seed=0)),
        ("delays", lambda: tasks.delayed_recall(10, 0, seed=0)),
        ("delays", lambda: tasks.delayed_recall(10, [1, 10], seed=0)),
        ("delays", lambda: tasks.delayed_recall(10, [-1], seed=0)),
        ("delays", lambda: tasks.delayed_recall(10, [], seed=0)),
        ("delays", lambda: tasks.delayed_recall(10, [1.5], seed=0)),
        ("delays", lambda: tasks.delayed_recall(10, [[1], [1, 2]], seed=0)),
        ("seed", lambda: tasks.delayed_recall(10, 1, seed=None)),
        ("seed", lambda: tasks.delayed_recall(10, 1, seed=-1)),
        ("low", lambda: tasks.delayed_recall(10, 1, seed=0, low=1.0, high=1.0)),
        ("high", lambda: tasks.delayed_recall(10, 1, seed=0, high=math.nan)),
        ("warmup", lambda: tasks.memory_capacity(DelayLine(3), steps=100, warmup=100, seed=0)),
        ("steps", lambda: tasks.memory_capacity(DelayLine(3), steps=-1, seed=0)),
        ("delays", lambda: tasks.memory_capacity(DelayLine(50), steps=100, warmup=0, seed=0)),
        ("order", lambda: tasks.narma(0, seed=0)),
        ("steps", lambda: tasks.narma(10, 0, seed=0)),
        ("seed", lambda: tasks.narma(seed="a")),
        ("steps", lambda: tasks.mackey_glass(-1)),
        ("tau", lambda: tasks.mackey_glass(10, tau=0)),
        ("x0", lambda: tasks.mackey_glass(10, x0=-1.0)),
        ("dt", lambda: tasks.mackey_glass(10, dt=18.0)),
        ("dt", lambda: tasks.mackey_glass(10, n=1e7)),
        ("washout", lambda: tasks.mackey_glass(10, washout=-1)),
        ("steps", lambda: tasks.lorenz(0)),
        ("dt", lambda: tasks.lorenz(10, dt=0.0)),
        ("x0", lambda: tasks.lorenz(10, x0=(1.0, 2.0))),
        ("x0", lambda: tasks.lorenz(10, x0=(1.0, 2.0, math.inf))),
        ("sigma", lambda: tasks.lorenz(10, sigma=-1.0)),
        ("rho", lambda: tasks.lorenz(10, rho="a")),
        ("(sigma, rho, beta)", lambda: tasks.lorenz(10, rho=1e300)),
    ],
)
def test_error_names_the_invalid_argument(argument, call):
    with pytest.raises(ValueError, match="expected") as caught:
        call()
    assert f"Invalid {argument}" in str(caught.value)
