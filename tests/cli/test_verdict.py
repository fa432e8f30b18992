"""Comparison with naive forecasts by the errors of held-out blocks."""

from __future__ import annotations

import numpy as np
import pytest

pytest.importorskip("pandas")

import pandas as pd

from eigenecho.cli.verdict import block_errors, verdict, verdicts
from eigenecho.forecasting.backtest import Backtest


def compared(ours, theirs):
    return verdict(np.array(ours), np.array(theirs), "last value")


def backtested(truth, made, scale=None, ids=("a",)):
    """Return a backtest of series with blocks (blocks, horizon), each with two methods."""
    parts = []
    for i, name in enumerate(ids):
        blocks, horizon = truth[i].shape
        parts.append(
            pd.DataFrame(
                {
                    "unique_id": name,
                    "cutoff": np.repeat(np.arange(blocks) + 10 * i, horizon),
                    "step": np.tile(np.arange(1, horizon + 1), blocks),
                    "ds": np.arange(blocks * horizon),
                    "y": truth[i].ravel(),
                    "forecast": made[i][0].ravel(),
                    "last value": made[i][1].ravel(),
                    "lower": np.nan,
                    "upper": np.nan,
                }
            )
        )
    errors = pd.concat(parts, ignore_index=True)
    scale = np.ones(len(errors)) if scale is None else np.repeat(scale, truth[0].size)
    return Backtest(errors, None, scale, 0.9, 1, len(truth[0]), len(truth[0]))


@pytest.mark.parametrize(
    ("ours", "theirs", "word"),
    [
        ([1.0, 1.2, 0.9], [2.0, 2.2, 2.1], "beats"),
        ([1.0, 3.0, 0.9], [2.0, 2.2, 2.1], "does not clearly beat"),
        ([1.0, 1.0], [2.0, 2.0], "does not clearly beat"),  # two blocks can win by chance
        ([1.0], [2.0], "does not clearly beat"),
        (
            [1.99, 2.18, 2.08],
            [2.0, 2.2, 2.1],
            "does not clearly beat",
        ),  # consistent, but negligible
        ([2.0, 2.0, 2.0], [2.0, 2.0, 2.0], "does not beat"),
        ([2.0, 2.0, 4.0], [2.1, 2.1, 2.1], "does not beat"),
        ([0.0, 0.0, 0.0], [0.0, 0.0, 0.0], "does not beat"),
        ([0.0, 0.0, 0.0], [1.0, 2.0, 1.0], "beats"),
    ],
)
def test_words_of_verdicts(ours, theirs, word):
    result = compared(ours, theirs)
    assert result.word == word
    assert result.wins == sum(a < b for a, b in zip(ours, theirs, strict=True))
    assert result.sentence.startswith("Beats" if word == "beats" else "Does not")


def test_naive_forecast_without_error_is_described():
    found = compared([0.5, 0.5, 0.5], [0.0, 0.0, 0.0])
    assert found.word == "does not beat"
    assert "above zero, while that of the baseline is zero" in found.sentence
    assert "the same to within 1%" in compared([0.0, 0.0], [0.0, 0.0]).sentence
    assert "300% higher" in compared([4.0, 4.0], [1.0, 1.0]).sentence
    assert "the same to within 1%" in compared([1.0, 1.001], [1.0, 1.0]).sentence


def test_errors_of_blocks_use_observed_values():
    truth = np.array([[1.0, np.nan], [3.0, 4.0], [np.nan, np.nan]])
    ours = np.array([[2.0, 9.0], [3.0, 6.0], [5.0, 5.0]])
    theirs = np.array([[0.0, 0.0], [3.0 + 1e-16, np.nan], [0.0, 0.0]])
    actual = block_errors(backtested([truth], [(ours, theirs)]))
    np.testing.assert_array_equal(actual["forecast"], [1.0, 1.0])
    np.testing.assert_array_equal(actual["last value"], [1.0, np.inf])  # a missing forecast


def test_weights_of_series_do_not_depend_on_their_units():
    rng = np.random.default_rng(0)
    truth = [rng.normal(size=(4, 3)), 1e6 * rng.normal(size=(4, 3))]
    made = [(y + s * 1.0, y + s * 2.0) for y, s in zip(truth, (1.0, 1e6), strict=True)]
    actual = backtested(truth, made, scale=[1.0, 1e6], ids=("a", "b"))
    np.testing.assert_allclose(block_errors(actual)["forecast"], np.ones(4))
    (one,) = verdicts(actual)
    assert (one.word, one.wins, one.blocks) == ("beats", 4, 4)
    assert one.sentence.startswith(
        "Beats “last value”: the mean absolute scaled error is 50% lower"
    )


def test_blocks_are_counted_from_the_end_of_each_series():
    made = [(np.ones((n, 2)) * np.arange(1, n + 1)[:, None], np.zeros((n, 2))) for n in (3, 2)]
    truth = [np.zeros((3, 2)), np.zeros((2, 2))]
    actual = backtested(truth, made, ids=("a", "b"))
    actual = Backtest(actual.errors, None, np.ones(10), 0.9, 1, 3, 3)
    np.testing.assert_array_equal(block_errors(actual)["forecast"], [1.0, 1.5, 2.5])
