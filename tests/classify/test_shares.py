"""Shares of steps above thresholds agree with textbook loops, on any number of threads."""

from __future__ import annotations

import numpy as np
import pytest

import naive
from eigenecho import threads
from eigenecho.classify import fit_modes
from eigenecho.classify.features import PooledModes
from eigenecho.classify.kernel import LANES, STEPS, make_bank, sample_outputs
from eigenecho.classify.modes import ModeGrid, draw_mixes
from eigenecho.data.collection import read_collection

EPS = float(np.finfo(np.float32).eps)


def collection(X):
    return read_collection(X, "channels_last", "unique_id", "ds")


def drawn(lengths, D, dtype=float, seed=0):
    rng = np.random.default_rng(seed)
    return [rng.normal(3, 2, (T, D)).cumsum(axis=0).astype(dtype) for T in lengths]


def lanes(modes):
    """Return the eigenvalues of the modes."""
    return modes.grid.rates + 1


def scaled(modes, x):
    return np.float32(modes.scaling.forward(np.asarray(x, float)))


def without_level(modes, x):
    """Return the scaled rows without their mean, and the mean."""
    rows = modes.scaling.forward(np.asarray(x, float))
    level = np.float32(np.add.reduceat(rows, [0])[0] / len(rows))
    return np.float32(rows - level), level


SHAPES = {
    "default": (16, 8, 3, 5),
    "one of each": (1, 1, 1, 1),
    "fewer than a vector": (3, 1, 2, 2),
    "more than a part, not a multiple": (5, LANES // 8, 2, 3),
    "one phase": (4, 4, 1, 6),
}
LENGTHS = [2, 3, STEPS - 1, STEPS, STEPS + 1, 3 * STEPS + 5, 150]


@pytest.mark.parametrize("counts", SHAPES.values(), ids=SHAPES)
@pytest.mark.parametrize(("D", "dtype"), [(1, float), (1, np.float32), (3, float), (12, int)])
def test_shares_equal_loops_in_single_precision(counts, D, dtype):
    X = drawn(LENGTHS, D, dtype)
    series = collection(X)
    modes = fit_modes(series, counts, seed=1)
    features = modes.transform(series).reshape(len(X), *modes.shape)
    *_, phases, J = counts
    thresholds = modes.thresholds.reshape(2 * phases, J, 2, -1)
    for i, x in enumerate(X):
        whole, level = without_level(modes, x)
        for direction, rows in enumerate((whole, whole[::-1])):
            mixes = modes.mixes[direction]
            y = naive.rounded_mode_outputs(rows, level, lanes(modes), phases, mixes)
            above = y[:, :, None] > thresholds[:, :, direction]
            steps = np.where(np.arange(2 * phases) < phases, len(x), len(x) - 1)
            above[0, phases:] = False
            expected = above.sum(axis=0).astype(np.float32) / np.float32(steps)[:, None, None]
            shape = (2, phases, J, *counts[:2])
            np.testing.assert_array_equal(features[i, :, :, :, direction], expected.reshape(shape))


@pytest.mark.parametrize("D", [1, 4])
def test_shares_equal_the_textbook_recursion_except_at_ties(D):
    """Counts may differ at steps whose output is within rounding of a threshold."""
    X, phases = drawn(LENGTHS, D), 3
    # A threshold is an output of a training series, so these have many ties.
    modes = fit_modes(collection(drawn(LENGTHS, D, seed=1)), (6, 4, phases, 5), seed=0)
    features = modes.transform(collection(X)).reshape(len(X), 2 * phases, 5, 2, -1)
    thresholds = modes.thresholds.reshape(2 * phases, 5, 2, -1).astype(float)
    tau = np.repeat(modes.grid.time_constants, 4)
    compared = 0
    for i, x in enumerate(X):
        for direction, rows in enumerate((scaled(modes, x), scaled(modes, x)[::-1])):
            rows = rows.astype(float)
            y = naive.mode_outputs(rows, lanes(modes), phases, modes.mixes[direction])
            # Errors of single steps last for tau steps.
            tolerance = 8 * EPS * tau * np.abs(y[:, :phases]).max()
            steps = np.where(np.arange(2 * phases) < phases, len(x), len(x) - 1)[:, None, None]
            counts = features[i, :, :, direction] * steps
            y[0, phases:] = -np.inf
            fewest = (y[:, :, None] > thresholds[:, :, direction] + tolerance).sum(axis=0)
            most = (y[:, :, None] > thresholds[:, :, direction] - tolerance).sum(axis=0)
            assert (fewest - 1e-3 <= counts).all()
            assert (counts <= most + 1e-3).all()
            compared += int((fewest == most).sum())
    assert compared > 0.9 * features.size


def test_sampled_outputs_are_those_of_the_loops():
    (x,) = drawn([50], 3)
    rng = np.random.default_rng(0)
    grid = ModeGrid.of(9, 8, 50)
    mixes = draw_mixes(grid.size, 3, rng)
    bank = make_bank(grid.rates, 2, mixes)
    times = np.array([1, 2, 7, 8, 9, 31, 49])
    out = np.empty((len(times), 4, 2 * grid.size), np.float32)
    level = rng.normal(size=3)
    sample_outputs(np.float32(x), np.float32([level]), times, bank, out)
    for direction, rows in enumerate((x, x[::-1])):
        y = naive.rounded_mode_outputs(rows, level, grid.rates + 1, 2, mixes[direction])
        half = slice(direction * grid.size, (direction + 1) * grid.size)
        np.testing.assert_array_equal(out[:, :, half], y[times])


@pytest.mark.parametrize("count", [1, 3])
def test_features_do_not_depend_on_threads_or_on_other_series(count, monkeypatch):
    monkeypatch.setattr("eigenecho.classify.features.BLOCK_STEPS", 100)
    monkeypatch.setattr(threads, "thread_count", lambda: count)
    X = drawn([40, 7, 90, 12, 33, 60], 2)
    modes = fit_modes(collection(X), (3, 2, 2, 2), seed=0)
    reports = []
    together = modes.transform(collection(X), lambda *report: reports.append(report))
    assert [report[0] for report in reports] == ["features"] * len(reports)
    assert reports[-1][1:] == (6, 6)
    assert len(reports) > 1
    for i, x in enumerate(X):
        np.testing.assert_array_equal(modes.transform(collection([x]))[0], together[i])


def test_constants_are_invisible_to_increments_and_to_the_first_phase():
    X = [np.full(30, value) for value in (-2.0, 0.0, 5.0)] + drawn([30], 1)
    modes = fit_modes(collection([np.ravel(x) for x in X]), (4, 3, 3, 3), seed=0)
    rows = scaled(modes, np.full((30, 1), 5.0))
    y = naive.mode_outputs(rows.astype(float), lanes(modes), 3, modes.mixes[0])
    np.testing.assert_allclose(y[:, 0], 0, atol=1e-12)
    np.testing.assert_allclose(y[:, 3:], 0, atol=1e-12)
    assert np.abs(y[:, 1]).min() > 0.01


@pytest.mark.parametrize("level", [1e6, 1e9])
def test_signals_remain_visible_beside_large_levels(level):
    """Outputs that ignore constants are those of the series without its level."""
    X = drawn([60] * 8, 1)
    levels = level * np.arange(1, 9)
    modes = fit_modes(collection([x + c for x, c in zip(X, levels, strict=True)]), (4, 3, 3, 3), 0)
    features = modes.transform(collection([X[0] + 0.5 * level]))
    again = modes.transform(collection([X[0] + 7.5 * level]))
    blind = np.zeros(modes.shape, bool)
    blind[0, 0] = blind[1] = True
    np.testing.assert_allclose(again[0, blind.ravel()], features[0, blind.ravel()], atol=0.02)
    assert features[0, blind.ravel()].std() > 0.2


def test_thresholds_are_quantiles_of_the_outputs():
    """Each band of levels gets a threshold, so that shares of the training series spread out."""
    X = drawn([200] * 10, 1)
    series = collection(X)
    modes = fit_modes(series, (6, 4, 2, 5), seed=0)
    mean = modes.transform(series).mean(axis=0).reshape(modes.shape)
    per_threshold = mean.mean(axis=(0, 1, 3, 4, 5))
    np.testing.assert_allclose(per_threshold, [0.9, 0.7, 0.5, 0.3, 0.1], atol=0.05)
    assert (np.diff(modes.thresholds, axis=1) >= 0).all()


def test_grid_covers_the_documented_range():
    grid = ModeGrid.of(16, 8, 500)
    np.testing.assert_allclose(grid.time_constants[[0, -1]], [1, 100])
    np.testing.assert_allclose(grid.frequencies[:, 0] * grid.time_constants, 0.1)
    assert grid.frequencies.max() == 0.5
    np.testing.assert_allclose(grid.frequencies[-1, -1] * 100, 2)
    assert ModeGrid.of(3, 1, 2).time_constants[-1] == 4
    expected = np.exp(-1 / grid.time_constants[:, None] + 2j * np.pi * grid.frequencies)
    np.testing.assert_allclose(grid.rates, expected.ravel() - 1, rtol=1e-12, atol=1e-15)


def test_mixes_are_few_signed_channels_of_unit_norm():
    mixes = draw_mixes(200, 30, np.random.default_rng(0))
    counts = (mixes != 0).sum(axis=2)
    assert counts.min() == 1
    assert 5 <= counts.max() <= 9
    np.testing.assert_allclose((mixes**2).sum(axis=2), 1, rtol=1e-6)
    assert (mixes != 0).any(axis=(0, 1)).all()
    assert (draw_mixes(5, 1, np.random.default_rng(0)) == 1).all()


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (dict(thresholds=np.zeros((3, 5, 8), np.float32)), "thresholds[=:]"),
        (dict(thresholds=np.zeros((4, 5, 7), np.float32)), "thresholds[=:]"),
        (dict(thresholds=np.zeros((4, 0, 8), np.float32)), "thresholds[=:]"),
        (dict(thresholds=np.zeros((4, 5, 8))), "float32"),
        (dict(mixes=np.ones((2, 3, 1), np.float32)), "mixes[=:]"),
        (dict(mixes=np.full((2, 4, 1), 2, np.float32)), "mixes[=:]"),
        (dict(grid=(np.ones(2), np.ones((2, 2)))), "frequencies[=:]"),
        (dict(grid=(np.ones(2), np.full((3, 2), 0.1))), "frequencies[=:]"),
        (dict(grid=(np.array([1, 1e10]), np.full((2, 2), 0.1))), "frequencies[=:]"),
        (dict(grid=(np.ones(0), np.ones((0, 2)))), "frequencies[=:]"),
    ],
)
def test_parts_of_pooled_modes_are_checked(change, words):
    from eigenecho.scaling import Scaling

    parts = dict(
        grid=(np.ones(2), np.full((2, 2), 0.1)),
        scaling=Scaling.identity(1),
        mixes=np.ones((2, 4, 1), np.float32),
        thresholds=np.zeros((4, 5, 8), np.float32),
    )
    PooledModes(**parts | {"grid": ModeGrid(*parts["grid"])})
    parts |= change
    with pytest.raises(ValueError, match=words):
        PooledModes(**parts | {"grid": ModeGrid(*parts["grid"])})
