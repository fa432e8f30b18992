"""Our classifier passes the checks of aeon, and equals ee.ReservoirClassifier."""

import doctest

import numpy as np
import pytest

pytest.importorskip("aeon")

from aeon.datasets import load_basic_motions, load_japanese_vowels
from aeon.testing.estimator_checking import parametrize_with_checks

import eigenecho as ee
import eigenecho.interop.aeon as module
from eigenecho.interop.aeon import EigenechoClassifier


@parametrize_with_checks([EigenechoClassifier])
def test_checks_of_aeon(check):
    check()


def test_example_of_the_docstring():
    assert doctest.testmod(module) == doctest.TestResults(failed=0, attempted=5)


@pytest.mark.parametrize("load", [load_basic_motions, load_japanese_vowels])
def test_results_equal_those_of_our_own_class(load):
    """The first set has equal lengths, the second has not; both have several channels."""
    X, y = load(split="train")
    new, labels = load(split="test")
    theirs = EigenechoClassifier(random_state=0).fit(X, y)
    ours = ee.ReservoirClassifier(layout="channels_first", seed=0).fit(X, y)
    np.testing.assert_array_equal(theirs.predict(new), ours.predict(new))
    np.testing.assert_array_equal(theirs.predict_proba(new), ours.predict_proba(new))
    assert theirs.score(new, labels) > 0.95
    last = ee.ReservoirClassifier(seed=0).fit([x.T for x in X], y)
    np.testing.assert_array_equal(last.coef_, ours.coef_)


def test_random_state():
    X, y = load_basic_motions(split="train")
    one, two = (
        EigenechoClassifier(time_constants=3, random_state=np.random.RandomState(1)).fit(X, y)
        for _ in range(2)
    )
    np.testing.assert_array_equal(one.classifier_.coef_, two.classifier_.coef_)
