"""Results do not change between commits: states, fits, forecasts, searches and conversions.

``tools/answers_stay_the_same.py`` defines the cases and stores the results of a commit.

BLAS rounding depends on the kernels for a CPU, and its effect on a result depends on the
conditioning of the problem. Each stored result includes the largest difference between kernels.
Other CPUs may differ by MARGIN times as much.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import answers_stay_the_same as tool

MARGIN = 20
SMALLEST, SMALLEST_OF_FLOAT32 = 1e-9, 1e-3
LARGEST = 1e-2
"""Tolerances relative to the largest entry. Results with a larger tolerance are not compared."""

KNOWN = np.load(Path(__file__).with_name("answers.npz"))

ANSWERS = {
    "fit eet": {"predict", "noise"},
    "fit sparse": {"predict", "noise"},
    "fit neuron": {"predict", "noise", "W_out"},
    "search matrix": {"errors", "predict"},
    "stream sparse": {"outputs", "learnt"},
    "states dense": set(),
    **{name: {"outputs", "closed"} for name in tool.CASES if name.startswith("conversion")},
}
"""Results that are compared for matrices; eigenvectors and their order depend on LAPACK."""


STORED = {name for name in tool.CASES if not name.startswith("cluster ")}
"""Cases whose results are stored; clusters require an optional package."""

CASES = [name for name in tool.CASES if name in STORED and ANSWERS.get(name, "all")]


def tolerance(name, key):
    single = KNOWN[f"{name}/{key}"].dtype == np.float32 or "float32" in name
    smallest = SMALLEST_OF_FLOAT32 if single else SMALLEST  # bounds are in double precision
    return max(smallest, MARGIN * KNOWN.get(f"{name}/{key}/spread", 0.0))


def answers(name):
    keys = {key.split("/")[1] for key in KNOWN if key.startswith(f"{name}/")}
    return keys & ANSWERS.get(name, keys)


def test_every_case_is_stored():
    assert {key.partition("/")[0] for key in KNOWN} == STORED


@pytest.mark.parametrize("name", CASES)
def test_tolerances_are_small(name):
    assert answers(name)
    assert all(tolerance(name, key) <= LARGEST for key in answers(name))


@pytest.mark.parametrize("name", CASES)
@pytest.mark.filterwarnings("ignore")
def test_answers_stay_the_same(name):
    actual = tool.CASES[name]()
    assert answers(name) <= set(actual)
    for key in answers(name):
        expected, result = KNOWN[f"{name}/{key}"], tool.sample_entries(actual[key])
        size = max(expected[-1].real, np.finfo(float).tiny)
        close = tolerance(name, key)
        np.testing.assert_allclose(result / size, expected / size, rtol=0, atol=close, err_msg=key)
