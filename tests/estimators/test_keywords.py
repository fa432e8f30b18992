"""Keywords that estimators and their methods do not take: what they are called here."""

from __future__ import annotations

import pickle
from inspect import Parameter, signature

import pytest
from sklearn.base import clone

import eigenecho as ee
from eigenecho.errors import ELSEWHERE

ESTIMATORS = (ee.LinearESN, ee.DiagonalReservoir, ee.Forecaster)


@pytest.mark.parametrize(
    ("kind", "keyword", "said"),
    [
        (
            ee.LinearESN,
            "spectral_radius",
            "LinearESN takes no 'spectral_radius'; it is called 'sr'",
        ),
        (ee.LinearESN, "alpha", "it is called 'ridge' here"),
        (ee.LinearESN, "random_state", "it is called 'seed' here"),
        (ee.LinearESN, "n_reservoir", "it is called 'units' here"),
        (ee.LinearESN, "leaking_rate", "it is called 'lr' here"),
        (ee.LinearESN, "input_scale", "it is called 'input_scaling' here"),
        (ee.LinearESN, "activation", "takes no 'activation': units are linear"),
        # A name that looks a little like another does not mean it.
        (ee.LinearESN, "noise", "LinearESN takes no 'noise'. It takes units"),
        (ee.LinearESN, "sed", "LinearESN takes no 'sed'. Did you mean 'seed'?"),
        (ee.DiagonalReservoir, "spectral_radius", "DiagonalReservoir takes no"),
        # What another estimator calls it helps nobody.
        (ee.DiagonalReservoir, "alpha", "It takes units, spectrum, sr, lr"),
        (ee.Forecaster, "season_length", "it is called 'seasons' here"),
        (ee.Forecaster, "fh", "it is called 'horizon' here"),
        (ee.Forecaster, "freq", "takes no 'freq': the step of the times is found by itself"),
        (ee.LinearESN, "freq", "LinearESN takes no 'freq'. It takes units"),
    ],
)
def test_a_keyword_of_another_library(kind, keyword, said):
    with pytest.raises(TypeError) as caught:
        kind(**{keyword: 1})
    assert said in str(caught.value)


@pytest.mark.parametrize(
    ("kind", "method", "keyword", "said"),
    [
        (ee.LinearESN, "fit", "warmup", r"^fit takes no 'warmup'; .* LinearESN\(warmup=\.\.\.\)"),
        (ee.LinearESN, "fit", "washout", r"it belongs to LinearESN\(warmup=\.\.\.\)"),
        (ee.LinearESN, "forecast", "fh", "it is called 'horizon' here"),
        (ee.LinearESN, "predict", "interval", r"; forecast\(interval=\.\.\.\) would"),
        (ee.LinearESN, "fit", "sample_weight", r"; score\(sample_weight=\.\.\.\) would"),
        (ee.DiagonalReservoir, "transform", "sr", r"it belongs to DiagonalReservoir\(sr="),
        # The parameter of that name is another thing.
        (ee.Forecaster, "predict", "level", "it is called 'interval' here"),
        (ee.Forecaster, "fit", "level", r"predict\(interval=\.\.\.\), .* would"),
        (ee.Forecaster, "fit", "interval", r"predict\(interval=\.\.\.\), .* would"),
        (ee.Forecaster, "fit", "horizon", r"it belongs to Forecaster\(horizon="),
        (ee.Forecaster, "fit", "freq", "the step of the times is found by itself"),
        (ee.Forecaster, "predict", "quantile", "Did you mean 'quantiles'"),
        (ee.Forecaster, "update", "nothing", "It takes y_new, X_new"),
    ],
)
def test_a_keyword_of_a_method(kind, method, keyword, said):
    with pytest.raises(TypeError, match=said):
        getattr(kind(), method)([[1.0]], **{keyword: 1})


@pytest.mark.parametrize("kind", ESTIMATORS)
def test_the_signature_is_that_of_the_parameters(kind):
    parameters = signature(kind).parameters
    assert all(one.kind is not Parameter.VAR_KEYWORD for one in parameters.values())
    assert sorted(parameters) == sorted(kind().get_params(deep=False))
    assert clone(kind(seed=3)).seed == 3


class Shaded(ee.LinearESN):
    def __init__(self, units=30, shade=1, **kwargs):
        super().__init__(units, **kwargs)
        self.shade = shade


def test_who_inherits_is_told_by_their_own_name():
    assert Shaded(shade=2, ridge=3.0).ridge == 3.0
    assert pickle.loads(pickle.dumps(Shaded(sr=0.5))).sr == 0.5
    with pytest.raises(TypeError, match="Shaded takes no 'alpha'; it is called 'ridge' here"):
        Shaded(alpha=1)


def test_names_from_elsewhere_lead_to_parameters_and_are_none():
    known = {name for kind in ESTIMATORS for name in signature(kind).parameters}
    assert set(ELSEWHERE.values()) <= known
    assert not known & set(ELSEWHERE)
