"""What networks answered before, they answer still: states, fits, forecasts, searches, conversions.

``tools/answers_stay_the_same.py`` has the cases, and stores what a commit answers.
"""

from __future__ import annotations

import importlib.util
from pathlib import Path

import numpy as np
import pytest

TOOL = Path(__file__).parents[1] / "tools" / "answers_stay_the_same.py"
SPEC = importlib.util.spec_from_file_location(TOOL.stem, TOOL)
tool = importlib.util.module_from_spec(SPEC)
SPEC.loader.exec_module(tool)

KNOWN = np.load(Path(__file__).with_name("answers.npz"))

ANSWERS = {
    "fit eet": {"predict", "noise"},
    "fit sparse": {"predict", "noise"},
    "fit neuron": {"predict", "noise", "W_out"},
    "search matrix": {"errors", "predict"},
    "stream cascade": {"outputs", "learnt"},
    "stream sparse": {"outputs", "learnt"},
    "states dense": set(),
    "states cascade": set(),
    **{name: {"outputs", "closed"} for name in tool.CASES if name.startswith("conversion")},
}
"""What is an answer of a matrix; its eigenvectors, and their order, are its LAPACK's."""


def test_every_case_is_known():
    assert {key.partition("/")[0] for key in KNOWN} == set(tool.CASES)


@pytest.mark.parametrize("name", [name for name in tool.CASES if ANSWERS.get(name, "all")])
@pytest.mark.filterwarnings("ignore")
def test_answers_stay_the_same(name):
    found = tool.CASES[name]()
    for key, value in found.items():
        if key not in ANSWERS.get(name, found):
            continue
        wanted, got = KNOWN[f"{name}/{key}"], tool.some(value)
        single = wanted.dtype == np.float32 or "float32" in name  # bounds are in double precision
        close = 1e-3 if single else 1e-9
        size = max(wanted[-1].real, np.finfo(float).tiny)
        np.testing.assert_allclose(got / size, wanted / size, rtol=0, atol=close, err_msg=key)
