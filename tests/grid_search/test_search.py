"""The collapsed grid search gives the same errors as a fit of every combination."""

import warnings

import numpy as np
import pytest
from scipy import sparse

import eigenecho as ee
from eigenecho.errors import IllConditionedWarning, UnstableError, UnstableWarning
from eigenecho.grid_search import candidates, sweep
from eigenecho.grid_search.grid import expand, group_combinations
from eigenecho.kernels import costs
from eigenecho.training import Settings

X = ee.tasks.mso(3, 501)
GRID = {
    "input_scaling": [0.1, 1.0],
    "lr": [0.5, 1.0],
    "sr": [0.7, 0.9],
    "ridge": [1e-8, 1e-4, 1e-1],
}


def errors_one_by_one(estimator, grid, u, y, train, valid, seeds):
    """Fit and predict every combination."""
    from sklearn.base import clone
    from sklearn.model_selection import ParameterGrid

    results = {}
    for params in ParameterGrid(grid):
        for seed in seeds:
            esn = clone(estimator).set_params(**params, seed=seed, solver="qr")
            esn.fit(u[train], y[train])
            closed = esn.model_.closed
            before = {"y_previous": np.concatenate([np.zeros((1, 1)), y[:-1]])} if closed else {}
            predicted = esn.predict(u, **before)
            key = (tuple(sorted(params.items())), seed)
            results[key] = ee.metrics.rmse(y[valid], predicted[valid])
    return results


@pytest.mark.parametrize(
    "options",
    [
        {},
        {"spectrum": "matrix"},
        {"spectrum": "matrix", "basis": "neuron"},
        {"spectrum": "sim", "penalize_bias": False},
        {"penalty": "identity", "input_bias": True},
        {"output_to_readout": True, "spectrum": "uniform"},
        {"feedback": True, "fb_scaling": 0.1},
        {"fit_bias": False, "standardize": True},
    ],
    ids=str,
)
def test_collapsed_errors_equal_those_of_separate_fits(options):
    estimator = ee.LinearESN(20, warmup=50, **options)
    u, y = 3 + X[:-1], 3 + X[1:]
    actual = ee.search(estimator, GRID, u, y, validation=[(300, 500)], seeds=[0, 1], refit=False)
    expected = errors_one_by_one(estimator, GRID, u, y, slice(0, 300), slice(300, 500), [0, 1])
    for i, params in enumerate(actual.params):
        for j, seed in enumerate(actual.seeds):
            error = expected[tuple(sorted(params.items())), seed]
            assert actual.errors[i, j, 0] == pytest.approx(error, rel=1e-4, abs=1e-11)


def test_result_ranks_refits_and_repeats():
    estimator = ee.LinearESN(20, warmup=50)
    result = ee.search(estimator, GRID, X[:-1], X[1:], validation=0.25, seeds=[4, 5])
    assert result.errors.shape == (24, 2, 1)
    assert result.best_error == result.mean_errors.min()
    assert result.params[result.best_index] == result.best_params
    assert result.best_estimator.get_params()["sr"] == result.best_params["sr"]
    assert result.best_estimator.seed == 4
    assert result.best_estimator.predict(X).shape == X.shape
    scores = [row["error"] for row in result.table]
    assert scores == sorted(scores)
    assert result.table[0]["rank"] == 1
    assert len(result.best_per_seed) == 2
    again = ee.search(estimator, GRID, X[:-1], X[1:], validation=0.25, seeds=[4, 5], refit=False)
    np.testing.assert_array_equal(result.errors, again.errors)
    assert "24 combinations" in repr(result)


def test_results_do_not_depend_on_workers():
    estimator = ee.LinearESN(15, warmup=20, spectrum="matrix")
    grid = GRID | {"sr": [0.1, 0.3, 0.5, 0.7, 0.8, 0.9, 0.95]}  # needs more than one batch
    seen = []
    one = ee.search(
        estimator, grid, X[:-1], X[1:], seeds=[0, 1], refit=False,
        progress=lambda done, total: seen.append((done, total)),
    )  # fmt: skip
    two = ee.search(estimator, grid, X[:-1], X[1:], seeds=[0, 1], refit=False, workers=2)
    np.testing.assert_array_equal(one.errors, two.errors)
    assert seen[-1] == (len(seen), len(seen))


def test_blocks_series_and_test_rows():
    series = [X[:300], X[100:500]]
    u, y = [s[:-1] for s in series], [s[1:] for s in series]
    estimator = ee.LinearESN(15, warmup=20, seed=0)
    result = ee.search(
        estimator, {"ridge": [1e-6, 1.0]}, u, y,
        validation=[(100, 150), (150, 200)], test=(200, 299), refit=False,
    )  # fmt: skip
    assert result.errors.shape == (2, 1, 2)
    assert result.test_errors.shape == (2, 1)
    esn = ee.LinearESN(15, warmup=20, seed=0, ridge=1e-6, solver="qr")
    esn.fit([s[:150] for s in u], [s[:150] for s in y])
    left = np.concatenate([(p - t)[200:299] for p, t in zip(esn.predict(u), y, strict=True)])
    assert result.test_errors[0, 0] == pytest.approx(np.sqrt(np.mean(left**2)), rel=1e-4)


def test_unstable_reservoirs_rank_last_without_stopping_the_search():
    long = np.random.default_rng(0).normal(size=(3000, 1))
    result = ee.search(
        ee.LinearESN(10, seed=0), {"sr": [0.9, 3.0]}, long[:-1], long[1:], refit=False
    )
    assert np.isfinite(result.mean_errors[0])
    assert np.isinf(result.mean_errors[1])
    assert result.table[1]["spread"] == np.inf


def test_grid_collapses_scalings_and_ridges():
    base = ee.LinearESN().get_params()
    groups = group_combinations(base, expand(GRID))
    assert len(groups) == 4
    assert all(len(g.members) == 6 for g in groups)
    assert len(group_combinations(base | {"feedback": True}, expand(GRID))) == 8
    assert len(expand([{"sr": [0.5]}, {"lr": [0.1, 0.2]}])) == 3


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (dict(grid={"srr": [1]}), "'srr'.*Did you mean 'sr'"),
        (dict(grid={"sr": 0.9}), "list of values"),
        (dict(grid={"sr": []}), "list of values"),
        (dict(grid=[]), "at least one combination"),
        (dict(grid=3), "grid=3.*dict of lists"),
        (dict(grid={"sr": np.array(0.9)}), "list of values"),
        (dict(grid={"spectrum": "golden"}), r"grid\['spectrum'\]='golden'.*a list of values"),
        (dict(grid={"spectrum": 0.5 * np.eye(3)}), r"grid\['spectrum'\].*\[value\]"),
        (dict(grid={"spectrum": 0.5 * np.ones((2, 3, 3))}), r"grid\['spectrum'\].*\[value\]"),
        (dict(grid={"spectrum": sparse.eye(3)}), r"grid\['spectrum'\].*a list of values"),
        (dict(grid={"spectrum": ee.spectra.ring(4)}), r"grid\['spectrum'\]=Spectrum.*\[value\]"),
        (dict(grid={"spectrum": ee.spectra.ring}), r"grid\['spectrum'\].*a list of values"),
        (dict(grid={"seed": [0, 1]}, seeds=[0, 1]), r"seeds=\[0, 1\].*the grid contains seeds"),
        (dict(grid=[{"seed": [0]}, {"sr": [0.5]}], seeds=range(2)), "the grid contains seeds"),
        (dict(grid={"ridge": [[1e-8, 1e-4]]}), "a single number, 'auto'"),
        (dict(grid={"ridge": [1e-8, -1.0]}), "ridge=-1.0.*a finite number ≥ 0"),
        (dict(grid={"ridge": [1e-8, np.nan]}), "ridge=nan.*a finite number ≥ 0"),
        (dict(grid={"ridge": [1e-8, np.inf]}), "ridge=inf.*a finite number ≥ 0"),
        (dict(grid={"ridge": [1e-8, True]}), "ridge=True.*a finite number ≥ 0"),
        (dict(grid={"ridge": [1e-8, "1"]}), "ridge='1'.*a finite number ≥ 0"),
        (dict(grid={"ridge": [1e-8, None]}), "ridge=None.*a finite number ≥ 0"),
        (dict(grid={"input_scaling": [1.0, np.inf]}), "input_scaling.*inf.*finite"),
        (dict(grid={"input_scaling": [1.0, np.nan]}), "input_scaling.*nan.*finite"),
        (dict(grid={"input_scaling": [1.0, True]}), "input_scaling=True.*a finite number"),
        (dict(grid={"input_scaling": [1.0, "1"]}), "input_scaling='1'.*a finite number"),
        (dict(grid={"input_scaling": [[1.0, 1.0]]}), "input_scaling.*array .1,."),
        (dict(grid={"warmup": [10, "1"]}), "warmup='1'"),
        (dict(grid={"feedback": [False, "no"]}), "feedback='no'"),
        (dict(grid={"seed": [0, -1]}), "seed=-1"),
        (dict(seeds=[0, True]), "seed=True"),
        (dict(y=None), "requires y"),
        (dict(validation=1.5), "validation=1.5"),
        (dict(validation=[(480, 900)]), "validation.*within"),
        (dict(validation=[(20, 100)]), "blocks that start after the warmup"),
        (dict(validation=["ab"]), "validation.*rows"),
        (dict(workers=0), "workers=0"),
        (dict(seeds=3), "seeds=3"),
        (dict(validation=(200, 300)), r"validation=\(200, 300\).*\[\(200, 300\)\]"),
        (dict(estimator=3), "a LinearESN"),
        (dict(y=X[2:]), "inconsistent lengths"),
    ],
)
def test_bad_input(change, words, monkeypatch):
    def work(*args):
        raise AssertionError("worked before it looked")

    monkeypatch.setattr(sweep, "_score_batch", work)
    given = dict(
        estimator=ee.LinearESN(5, warmup=50, seed=0), grid={"sr": [0.5]}, X=X[:-1], y=X[1:]
    )
    with pytest.raises(ValueError, match=words):
        ee.search(**(given | change))


def test_each_value_is_validated_once_for_all_combinations(monkeypatch):
    calls = []
    honest = Settings.of.__func__
    monkeypatch.setattr(
        Settings, "of", classmethod(lambda cls, params: calls.append(params) or honest(cls, params))
    )
    grid = {"ridge": [10.0**k for k in range(-9, 1)], "input_scaling": [0.1, 0.2, 0.5, 1.0]}
    ee.search(ee.LinearESN(5, seed=0), grid, X[:-1], X[1:], refit=False)
    values = sum(map(len, grid.values()))
    # 13 to check every value, one for the data and one for the group; 40 combinations
    assert len(calls) <= values + 1


def test_grid_overrides_parameters_of_the_estimator():
    estimator = ee.LinearESN(5, sr=-1.0, seed=0)
    rows = X[:-1], X[1:]
    ee.search(estimator, {"sr": [0.5], "lr": [0.5, 1.0]}, *rows, refit=False)
    lr = 0.5
    grids = [{"sr": [0.5], "lr": [lr]}, {"lr": [lr]}]
    with pytest.raises(ValueError, match="sr=-1"):
        ee.search(estimator, grids, *rows, refit=False)


def test_seeds_in_the_grid_and_no_seed():
    result = ee.search(ee.LinearESN(10, warmup=20), {"seed": [0, 1, 2]}, X[:-1], X[1:])
    assert len(set(result.errors.ravel())) == 3
    assert result.best_estimator.seed == result.best_params["seed"]
    unseeded = ee.search(ee.LinearESN(10, warmup=20), {"sr": [0.5]}, X[:-1], X[1:])
    assert isinstance(unseeded.best_estimator.seed, int)


def test_overflowing_squares_rank_last(route):
    u = 1e160 * np.random.default_rng(0).normal(size=(900, 1))
    with pytest.warns(UnstableWarning, match="No combination has a finite score"):
        result = ee.search(ee.LinearESN(15, seed=0), {"sr": [0.5]}, u[:-1], u[1:], refit=False)
    assert np.isinf(result.errors).all()


def test_underflowing_squares_cause_a_warning(route):
    u, y = noise(900)
    estimator, grid = ee.LinearESN(15, seed=0), {"sr": [0.5, 0.9], "ridge": [1e-4, 1.0]}
    with pytest.warns(UserWarning, match=r"All scores are 0.*standardize=True"):
        ee.search(estimator, grid, u, 1e-200 * y, refit=False)
    expected = ee.search(estimator, grid, u, y, refit=False)
    actual = ee.search(estimator, grid, u, 2.0**-500 * y, refit=False)
    np.testing.assert_allclose(actual.errors * 2.0**500, expected.errors, rtol=1e-9)


# Every score equals that of a separate network


def score_alone(params, u, y, train, valid):
    """Return the RMSE on the rows ``valid`` of a LinearESN trained on the rows before ``train``."""
    esn = ee.LinearESN(**(params | {"solver": "qr"}))
    esn.fit(None if u is None else u[:train], y[:train])
    before = {"y_previous": np.concatenate([0 * y[:1], y[:-1]])} if esn.model_.closed else {}
    return ee.metrics.rmse(y[valid], esn.predict(u, **before)[valid])


def assert_scores_equal_fits(actual, estimator, u, y, cut, rel=1e-6):
    """Check every error of the only block, which spans ``cut`` to the end of the series."""
    for i, params in enumerate(actual.params):
        for j, seed in enumerate(actual.seeds):
            own = estimator.get_params() | {"seed": seed} | params
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", IllConditionedWarning)
                try:
                    expected = score_alone(own, u, y, cut, slice(cut, None))
                except UnstableError:
                    expected = np.inf
            assert actual.errors[i, j, 0] == pytest.approx(expected, rel=rel), (params, seed)


def noise(steps=1500, columns=1, seed=0):
    """Return white noise, and noisy targets that repeat it with a delay of two steps."""
    rng = np.random.default_rng(seed)
    u = rng.normal(size=(steps, columns))
    return u, np.roll(u[:, :1], 2, axis=0) + 0.1 * rng.normal(size=(steps, 1))


@pytest.fixture(params=["states", "lags"])
def route(request, prefer_sums):
    """Compute scores with states, or from lagged correlations if possible."""
    prefer_sums(request.param != "states")
    return request.param


@pytest.mark.parametrize(
    "options",
    [
        {},
        {"spectrum": "sim"},
        {"spectrum": "matrix"},
        {"spectrum": "matrix", "basis": "neuron"},
        {"spectrum": "uniform", "penalty": "identity"},
    ],
    ids=str,
)
def test_seeds_in_the_grid_use_their_own_reservoirs(options, route):
    u, y = noise(600)
    estimator = ee.LinearESN(15, warmup=20, seed=0, **options)
    grid = {"sr": [0.5, 0.9], "seed": [0, 1, 2], "ridge": [1e-4, 1.0]}
    result = ee.search(estimator, grid, u, y, validation=[(400, 600)], refit=False)
    assert_scores_equal_fits(result, estimator, u, y, 400)


@pytest.mark.parametrize("first", [0, 1])
def test_seed_in_one_grid_does_not_affect_another_grid(first):
    """Listing the estimator's own seed in a grid does not affect other combinations."""
    u, y = noise(600)
    estimator = ee.LinearESN(15, warmup=20, seed=0)
    grids = [{"seed": [0], "ridge": [1e-4, 1.0]}, {"ridge": [1e-4, 1.0]}]
    grid = [grids[first], grids[1 - first]]
    result = ee.search(estimator, grid, u, y, validation=[(400, 600)], refit=False)
    assert_scores_equal_fits(result, estimator, u, y, 400)


def test_random_seeds_are_kept_for_the_refit():
    u, y = noise(600)
    grid = {"seed": [None, np.random.default_rng(0)], "sr": [0.5, 0.9]}
    estimator = ee.LinearESN(15, warmup=20)
    result = ee.search(estimator, grid, u, y, validation=[(400, 600)])
    assert_scores_equal_fits(result, estimator, u, y, 400)
    assert len({params["seed"] for params in result.params}) == 2
    assert result.best_estimator.seed == result.best_params["seed"]
    result = ee.search(
        estimator, {"sr": [0.9]}, u, y, validation=[(400, 600)], seeds=[None, 5], refit=False
    )
    assert_scores_equal_fits(result, estimator, u, y, 400)


@pytest.mark.parametrize("offset", [0.0, 1e6])
def test_each_precision_uses_data_of_its_own_dtype(offset, route):
    u, y = noise()
    u = u + offset  # single precision keeps one decimal of a large offset
    params = {"units": 10, "warmup": 50, "seed": 0, "ridge": 1e-2, "fit_bias": False}
    precisions = ["float64", "float32"]
    single = ee.LinearESN(**params, dtype="float32")
    result = ee.search(single, {"dtype": precisions}, u, y, refit=False)
    alone = [
        ee.search(ee.LinearESN(**params, dtype=dtype), {"sr": [0.9]}, u, y, refit=False)
        for dtype in precisions
    ]
    np.testing.assert_array_equal(result.errors, np.concatenate([one.errors for one in alone]))


EXTREMES = [0.0, -0.3, 5e-324, 1e-310, 1e-200, 1e-161, 1e-100, 1.0, 1e70, 1e100, 1e149, 1e200]


@pytest.mark.parametrize("ridge", [0.0, 1e-8, 1e250])
@pytest.mark.parametrize("options", [{}, {"penalty": "identity", "input_bias": True}], ids=str)
def test_scores_equal_fits_for_any_finite_input_scaling(options, ridge, route):
    u, y = noise(columns=2)
    estimator = ee.LinearESN(15, warmup=50, seed=0, ridge=ridge, **options)
    grid = {"input_scaling": [*EXTREMES, [0.1, 1e-200], [1e-200, 0.0], [-1, 2]]}
    result = ee.search(estimator, grid, u, y, validation=[(1000, 1500)], refit=False)
    assert_scores_equal_fits(result, estimator, u, y, 1000)


def test_single_precision_overflows_in_its_own_range():
    u, y = noise()
    estimator = ee.LinearESN(15, warmup=50, seed=0, ridge=0.0, dtype="float32")
    grid = {"input_scaling": [1e-60, 1e-30, 1.0, 1e15, 1e30]}
    result = ee.search(estimator, grid, u, y, validation=[(1000, 1500)], refit=False)
    assert_scores_equal_fits(result, estimator, u, y, 1000, rel=1e-3)


def test_scores_equal_fits_for_inputs_of_any_size():
    """Squared inputs overflow at a scaling of 1, but not at the others."""
    u, y = noise()
    estimator = ee.LinearESN(15, warmup=50, seed=0)
    grid = {"input_scaling": [1e-155, 1e-20, 1.0]}
    result = ee.search(estimator, grid, 1e155 * u, y, validation=[(1000, 1500)], refit=False)
    assert_scores_equal_fits(result, estimator, 1e155 * u, y, 1000)
    assert np.isinf(result.errors[2])


@pytest.mark.parametrize("scalings", [[1e-20, 1.0], [1.0, 1e20]], ids=str)
def test_growing_reservoir_overflows_only_with_its_own_scaling(scalings):
    """States with eigenvalues above 1 reach 1e150 only with the larger of two scalings."""
    steps = 1000
    u, y = noise(steps)
    radius = 10 ** (140 / steps) if scalings[0] == 1.0 else 10 ** (160 / steps)
    spectrum = ee.Spectrum(np.array([0.3, radius]))
    estimator = ee.LinearESN(spectrum=spectrum, warmup=50, seed=0)
    grid = {"input_scaling": scalings}
    result = ee.search(estimator, grid, u, y, validation=[(steps - 2, steps)], refit=False)
    assert np.isfinite(result.errors).ravel().tolist() == [True, False]


@pytest.mark.parametrize("size", [1e-200, 1e200])
def test_standardised_outputs_of_any_size_are_scored(size):
    u, y = noise()
    estimator = ee.LinearESN(15, warmup=50, seed=0, standardize=True)
    grid = {"ridge": [1e-4, 1e2]}
    plain, large = (
        ee.search(estimator, grid, u, size * y, validation=[(1000, 1500)], refit=False)
        for size in (1.0, size)
    )
    np.testing.assert_allclose(large.errors / size, plain.errors, rtol=1e-9)


# Heads [1, y(t−1)] whose columns are nearly parallel


@pytest.mark.parametrize("options", [{}, {"fit_bias": False}, {"penalize_bias": False}], ids=str)
@pytest.mark.parametrize("offset", [0.0, 1e2, 1e4, 1e6, 1e8])
@pytest.mark.parametrize("way", ["states", "lags", "normal equations"])
def test_scores_equal_fits_for_outputs_far_from_zero(
    offset, way, options, monkeypatch, prefer_sums
):
    u, y = noise()
    y = offset + np.concatenate([y, 0.5 * np.roll(u, 4, axis=0) + y**2], axis=1)
    prefer_sums(way == "lags")
    if way == "normal equations":
        monkeypatch.setattr(costs, "MAX_QR_FLOPS", 0.0)
    honest, answers = candidates.errors_from_lags, []
    monkeypatch.setattr(
        candidates, "errors_from_lags", lambda *args: answers.append(honest(*args)) or answers[-1]
    )
    estimator = ee.LinearESN(30, warmup=50, seed=0, output_to_readout=True, **options)
    grid = {"ridge": [1e-3, 1.0, 100.0], "input_scaling": [0.3, 1.0]}
    result = ee.search(estimator, grid, u, y, validation=[(1000, 1500)], refit=False)
    assert_scores_equal_fits(result, estimator, u, y, 1000, rel=1e-5)
    if offset in (0.0, 1e8):
        by_lags = bool(answers) and answers[0] is not None
        assert by_lags == (way == "lags" and offset == 0.0)


@pytest.mark.parametrize("columns", [1, 3])
@pytest.mark.parametrize("options", [{}, {"fit_bias": False}, {"penalize_bias": False}], ids=str)
@pytest.mark.parametrize("offset", [1e4, 1e8])
def test_scores_equal_fits_for_series_far_from_zero(offset, options, columns, route):
    """In next-step prediction, the states contain the offset, which exceeds all variation."""
    series = offset + np.random.default_rng(0).normal(size=(1501, columns))
    estimator = ee.LinearESN(50, warmup=50, seed=0, output_to_readout=True, **options)
    grid = {"ridge": [1e-8, 1.0], "input_scaling": [0.3, 1.0]}
    u, y = series[:-1], series[1:]
    result = ee.search(estimator, grid, u, y, validation=[(1000, 1500)], refit=False)
    assert_scores_equal_fits(result, estimator, u, y, 1000, rel=1e-4)


@pytest.mark.parametrize("offset", [1e2, 1e5, 1e8])
def test_zero_before_the_first_output_is_included(offset, route):
    """Without a warmup y(t−1) starts at 0, far from all later values."""
    u, y = noise(400)
    estimator = ee.LinearESN(20, seed=0, output_to_readout=True)
    grid = {"ridge": [1e-8, 1e-3, 1.0]}
    result = ee.search(estimator, grid, u, offset + y, validation=[(300, 400)], refit=False)
    assert_scores_equal_fits(result, estimator, u, offset + y, 300)


# Generators, and lists of matrices


@pytest.mark.parametrize("options", [{}, {"standardize": True}, {"input_bias": True}], ids=str)
def test_generators_without_input(options, route):
    y = np.random.default_rng(0).normal(size=(900, 1)).cumsum(axis=0) / 10
    estimator = ee.LinearESN(15, warmup=50, seed=0, feedback=True, fb_scaling=0.3, **options)
    grid = {"sr": [0.5, 0.9], "ridge": [1e-4, 1.0], "input_scaling": [0.1, 1.0]}
    result = ee.search(estimator, grid, None, y, validation=[(600, 900)])
    assert_scores_equal_fits(result, estimator, None, y, 600)
    assert result.best_estimator.n_features_in_ == 0
    several = ee.search(estimator, grid, None, [y, y[:500]], refit=False)
    assert np.isfinite(several.errors).all()


@pytest.mark.parametrize("feedback", [{}, {"feedback": [True, False]}], ids=str)
def test_generators_need_feedback(feedback):
    grid = {"sr": [0.5]} | feedback
    with pytest.raises(ValueError, match=r"X=None.*feedback=True.*every combination"):
        ee.search(ee.LinearESN(5, seed=0), grid, None, X)


def test_single_matrix_or_spectrum_is_accepted():
    estimator = ee.LinearESN(4, warmup=20, seed=0)
    for value in (0.5 * np.eye(4), sparse.csr_matrix(0.5 * np.eye(4)), ee.spectra.ring(4, sr=0.5)):
        result = ee.search(estimator, {"spectrum": [value]}, X[:-1], X[1:])
        assert len(result.params) == 1
        assert result.params[0]["spectrum"] is value
        assert result.best_estimator.model_.units == 4


@pytest.mark.parametrize("basis", ["eigen", "neuron"])
def test_matrices_may_be_nested_lists(basis):
    W = [[0.5, 0.1], [0.0, 0.3]]
    estimator = ee.LinearESN(4, warmup=20, seed=0, basis=basis)
    grid = {"spectrum": [W, "golden", [0.5, 0.3]], "ridge": [1e-4, 1.0]}
    actual = ee.search(estimator, grid, X[:-1], X[1:])
    arrays = grid | {"spectrum": [np.array(W), "golden", np.array([0.5, 0.3])]}
    expected = ee.search(estimator, arrays, X[:-1], X[1:])
    np.testing.assert_array_equal(actual.errors, expected.errors)
    assert actual.errors[0] != actual.errors[1]


def test_arrays_of_another_dtype_are_another_value():
    values = np.array([0.5, 0.25])
    base = ee.LinearESN().get_params()
    assert len(group_combinations(base, expand({"spectrum": [values, values.copy()]}))) == 1
    assert len(group_combinations(base, expand({"spectrum": [values, values.view(np.int64)]}))) == 2


# NaN scores


def not_a_number(monkeypatch, *places):
    """Make the errors of some groups NaN."""
    honest = sweep._score_batch

    def broken(*args):
        results = honest(*args)
        for place in places:
            results[place][:] = np.nan
        return results

    monkeypatch.setattr(sweep, "_score_batch", broken)


def test_nan_score_ranks_last(monkeypatch):
    not_a_number(monkeypatch, 0, 2)
    grid = {"sr": [0.5, 0.7, 0.8, 0.9]}
    result = ee.search(ee.LinearESN(10, warmup=20), grid, X[:-1], X[1:], seeds=[0, 1])
    scores = result.mean_errors
    assert np.isnan(scores).tolist() == [True, False, True, False]
    assert result.best_index == np.nanargmin(scores)
    assert result.best_estimator.sr == grid["sr"][result.best_index]
    assert set(result.best_per_seed) <= {1, 3}
    assert [row["sr"] for row in result.table][2:] == [0.5, 0.8]


def test_only_nan_scores_raise_an_error(monkeypatch):
    not_a_number(monkeypatch, 0, 1)
    with pytest.warns(
        UnstableWarning, match="No combination has a finite score: 2 of 2 scores are NaN"
    ):
        ee.search(ee.LinearESN(5, seed=0), {"sr": [0.5, 0.9]}, X[:-1], X[1:], refit=False)


# Blocks


@pytest.mark.parametrize(
    "test",
    [(400, 400), (450, 400), slice(400, 400), slice(450, 400), slice(600, None)],
    ids=str,
)
def test_empty_test_rows_are_rejected(test):
    with pytest.raises(ValueError, match=r"test.*start < stop.*lengths \[500\]"):
        ee.search(ee.LinearESN(5, seed=0), {"sr": [0.5]}, X[:-1], X[1:], test=test)


@pytest.mark.parametrize(
    "test", [(0, np.inf), (0.5, 100), "12", (1, 2, 3), slice(0, 90, 2)], ids=str
)
def test_number_of_test_rows_is_an_integer(test):
    with pytest.raises(ValueError, match=r"test.*rows"):
        ee.search(ee.LinearESN(5, seed=0), {"sr": [0.5]}, X[:-1], X[1:], test=test)


def test_too_short_series_are_rejected_with_a_hint():
    for series, validation in ((X[:51], 0.2), (X[:60], 0.99), (X[:80], [(50, 50)])):
        with pytest.raises(ValueError, match=r"validation.*warmup=50.*lengths"):
            ee.search(
                ee.LinearESN(5, warmup=50, seed=0), {"sr": [0.5]}, series, series,
                validation=validation,
            )  # fmt: skip


def test_series_may_end_before_the_test_rows(route):
    u, y = noise()
    estimator = ee.LinearESN(15, warmup=50, seed=0, ridge=1e-2)
    arguments = {"validation": [(300, 500)], "test": (1000, 1500), "refit": False}
    both = ee.search(estimator, {"sr": [0.9]}, [u, u[:500]], [y, y[:500]], **arguments)
    esn = estimator.fit([u[:300], u[:300]], [y[:300], y[:300]])
    error = ee.metrics.rmse(y[1000:], esn.predict(u)[1000:])
    assert both.test_errors[0, 0] == pytest.approx(error, rel=1e-6)
