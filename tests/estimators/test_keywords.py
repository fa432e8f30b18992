"""Constructors of estimators: their parameters and subclasses."""

import pickle
from inspect import Parameter, signature

import pytest
from sklearn.base import clone

import eigenecho as ee

ESTIMATORS = {ee.LinearESN: (), ee.DiagonalReservoir: (), ee.Forecaster: (3,)}
"""Estimators with the arguments that they need."""


@pytest.mark.parametrize("kind", ESTIMATORS)
def test_signature_lists_the_parameters(kind):
    parameters = signature(kind).parameters
    assert all(one.kind is not Parameter.VAR_KEYWORD for one in parameters.values())
    assert sorted(parameters) == sorted(kind(*ESTIMATORS[kind]).get_params(deep=False))
    assert clone(kind(*ESTIMATORS[kind], seed=3)).seed == 3


@pytest.mark.parametrize("kind", ESTIMATORS)
def test_unknown_keywords_raise_a_type_error(kind):
    with pytest.raises(TypeError, match="unexpected keyword argument 'alpha'"):
        kind(alpha=1.0)
    with pytest.raises(TypeError, match="unexpected keyword argument 'warmup'"):
        kind(*ESTIMATORS[kind]).fit([[1.0]], warmup=1)


class Shaded(ee.LinearESN):
    def __init__(self, units=30, shade=1, **kwargs):
        super().__init__(units, **kwargs)
        self.shade = shade


def test_subclasses_may_add_parameters():
    assert Shaded(shade=2, ridge=3.0).ridge == 3.0
    assert pickle.loads(pickle.dumps(Shaded(sr=0.5))).sr == 0.5
