"""Stacks of series (series, T, D) run in one call, with the bits of each series on its own."""

import numpy as np
import pytest

import eigenecho as ee
from eigenecho import LinearESN

RNG = np.random.default_rng(0)
X = RNG.normal(size=(7, 300, 2))
Y = np.cumsum(X, axis=1) @ [[0.5, 1.0], [0.5, -1.0]]

NETWORKS = {
    "modes": {},
    "tiles": {"units": 1300},
    "single precision": {"dtype": "float32", "standardize": True},
    "input bias": {"input_bias": True},
    "dense": {"spectrum": "matrix", "basis": "neuron"},
    "sparse": {"spectrum": "matrix", "basis": "neuron", "rc_connectivity": 0.05},
    "delay line": {"spectrum": ee.delay_line(5)},
    "convolution": {"units": 400, "sr": 0.5},
    "feedback": {"feedback": True, "fb_scaling": 0.01},
    "features": {"features": "quadratic", "units": 10},
}


def fit(**options):
    return LinearESN(**{"units": 40, "ridge": 1e-3, "seed": 0} | options).fit(X, Y)


@pytest.mark.parametrize("options", NETWORKS.values(), ids=NETWORKS)
def test_each_series_of_a_stack_has_the_outputs_and_states_of_its_own_run(options):
    esn = fit(**options)
    starts = [esn.predict(x[:50], return_state=True)[1] for x in X]
    for initial in (None, starts):
        outputs, ends = esn.predict(X, initial_state=initial, return_state=True)
        assert outputs.shape == Y.shape
        for i, x in enumerate(X):
            start = None if initial is None else initial[i]
            alone, end = esn.predict(x, initial_state=start, return_state=True)
            np.testing.assert_array_equal(outputs[i], alone)
            np.testing.assert_array_equal(ends[i].r, end.r)
            np.testing.assert_array_equal(ends[i].y, end.y)
    states = esn.transform(X)
    np.testing.assert_array_equal(states, [esn.transform(x) for x in X])


def test_a_stack_with_many_columns_is_projected_series_by_series():
    wide = RNG.normal(size=(3, 200, 12))
    esn = LinearESN(30, ridge=1e-3, seed=0).fit(wide, wide[..., :9])
    np.testing.assert_array_equal(esn.predict(wide), [esn.predict(x) for x in wide])
    reservoir = ee.DiagonalReservoir(30, seed=0).fit(wide)
    np.testing.assert_array_equal(reservoir.transform(wide), [reservoir.transform(x) for x in wide])


def test_large_stacks_run_on_threads_and_report_progress():
    many = RNG.normal(size=(900, 40, 1))
    esn = LinearESN(60, ridge=1e-2, seed=0).fit(many, many)
    reports = []
    outputs = esn.predict(many, progress=lambda *report: reports.append(report))
    np.testing.assert_array_equal(outputs, esn.predict(many))
    np.testing.assert_array_equal(outputs[::100], [esn.predict(x) for x in many[::100]])
    assert reports[-1] == (36_000, 36_000)
    assert len(reports) > 1
    states = ee.DiagonalReservoir(60, seed=0).fit(many)
    np.testing.assert_array_equal(
        states.transform(many)[::100], [states.transform(x) for x in many[::100]]
    )


@pytest.mark.parametrize(("value", "word"), [(np.nan, "NaN"), (np.inf, "infinite")])
def test_an_error_names_the_series_with_the_value(value, word):
    esn, bad = fit(), X.copy()
    bad[4, 17, 1] = value
    with pytest.raises(ValueError, match=r"(?i)X.*row 17.*series 4"):
        esn.predict(bad)
    with pytest.raises(ValueError, match=r"(?i)X.*row 17.*series 4"):
        fit().model_.predict(bad)


def test_other_arrays_of_three_dimensions_are_read_series_by_series():
    esn = fit()
    np.testing.assert_array_equal(esn.predict(X.astype(object)), esn.predict(X))
    np.testing.assert_array_equal(esn.predict(X[:, ::-1]), [esn.predict(x[::-1]) for x in X])
    hidden = np.ma.masked_array(X, mask=np.zeros_like(X, bool))
    np.testing.assert_array_equal(esn.predict(hidden), esn.predict(X))
    hidden[2, 3, 0] = np.ma.masked
    with pytest.raises(ValueError, match="X"):
        esn.predict(hidden)
    with pytest.raises(ValueError, match="X"):
        esn.predict(X[:0])
    with pytest.raises(ValueError, match="X"):
        esn.predict(X[:, :0])
    with pytest.raises(ValueError, match="X"):
        esn.predict(X[..., :1])


@pytest.mark.parametrize("count", [2, 3])
def test_one_state_for_several_series_is_refused(count):
    """A pair (r, y) is not the states of two series."""
    esn = fit()
    with pytest.raises(ValueError, match=r"initial_state.*a single state.*one state per series"):
        esn.predict(X[:count], initial_state=esn.final_state_)
