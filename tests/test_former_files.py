"""Files that were written before training had a layer of its own load, answer and learn further."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import eigenecho as ee
from optional import optional

pd = optional("pandas")

FOLDER = Path(__file__).with_name("files_former")
ANSWERS = np.load(FOLDER / "answers.npz")
X, Y = ANSWERS["X"], ANSWERS["Y"]
NEAR = {"rtol": 1e-9, "atol": 1e-11}


def frame(rows):
    return pd.DataFrame(rows, columns=["a", "b"])


def load(name):
    return ee.load(FOLDER / f"{name}.safetensors")


@pytest.mark.parametrize("name", ["qr", "gram", "structured", "closed", "sparse", "neuron"])
@pytest.mark.filterwarnings("ignore::eigenecho.errors.IllConditionedWarning")
def test_estimators_answer_and_learn_further(name):
    esn = load(name)
    np.testing.assert_allclose(esn.predict(frame(X[:20])), ANSWERS[name], **NEAR)
    np.testing.assert_allclose(esn.noise_covariance_, ANSWERS[f"{name}.noise"], **NEAR)
    esn.partial_fit(frame(X[:100]), Y[:100])
    np.testing.assert_allclose(esn.predict(frame(X[:20])), ANSWERS[f"{name}.further"], **NEAR)


def test_streams_and_learners_go_on():
    np.testing.assert_allclose(load("stream").run(X[30:50]), ANSWERS["stream"], **NEAR)
    learner = load("learner")
    found = [learner.step(u, v) for u, v in zip(X[30:50], Y[30:50], strict=True)]
    np.testing.assert_allclose(found, ANSWERS["learner"], **NEAR)


def test_reservoirs_and_converted_models_answer():
    np.testing.assert_allclose(load("reservoir").transform(X[:20]), ANSWERS["reservoir"], **NEAR)
    np.testing.assert_allclose(load("converted").predict(X[:20]), ANSWERS["converted"], **NEAR)
