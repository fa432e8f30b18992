"""Training on targets with gaps equals the textbook solution on the rows that are present."""

from __future__ import annotations

import itertools
import sys
import warnings

import numpy as np
import pytest
from sklearn.metrics import r2_score

import eigenecho as ee
import naive
from eigenecho.errors import IllConditionedWarning
from eigenecho.kernels import costs
from optional import optional

pd = optional("pandas")

RNG = np.random.default_rng(0)
T = 400
X = RNG.normal(size=(T, 2))
WHOLE = np.column_stack([np.roll(X[:, 0], k) - 0.5 * np.roll(X[:, 1], 3) for k in (0, 1, 2)])
WHOLE += 0.1 * RNG.normal(size=WHOLE.shape) + [0.0, 5.0, -3.0]


def with_gaps(*columns):
    """Return targets with gaps drawn from one seed per column; None means no gaps."""
    y = WHOLE[:, : len(columns)].copy()
    for column, seed in enumerate(columns):
        if seed is not None:
            y[np.random.default_rng(seed).random(T) < 0.3, column] = np.nan
    return y


MASKS = {
    "one": with_gaps(1),
    "shared": with_gaps(1, 1, 1),
    "two groups": with_gaps(1, 2, 1),
    "some whole": with_gaps(None, 1, None),
    "all apart": with_gaps(1, 2, 3),
}
EACH_MASK = pytest.mark.parametrize("mask", MASKS)
SOLVERS = ["auto", "qr", "normal"]


def network(**options):
    return ee.LinearESN(
        20, **{"ridge": 1e-2, "warmup": 15, "seed": 0, "missing": "skip", **options}
    )


# Solvers sum rows in different orders, so weights differ by the rounding of sums times cond(X).
def assert_close(actual, expected, tolerance=1e-9):
    assert np.shape(actual) == np.shape(expected)
    np.testing.assert_allclose(actual, expected, rtol=0, atol=tolerance * np.abs(expected).max())


def textbook(esn, series, alpha=1e-2, **options):
    m = esn.matrices("neuron")
    return naive.fit_with_gaps(m.W, m.W_in, series, warmup=15, alpha=alpha, **options)


# The textbook ----------------------------------------------------------------------------------


@EACH_MASK
@pytest.mark.parametrize("solver", SOLVERS)
@pytest.mark.parametrize("basis", ["eigen", "neuron"])
@pytest.mark.parametrize("bias", ["penalised", "free", "none"])
def test_every_solver_equals_the_textbook(mask, solver, basis, bias):
    y = MASKS[mask]
    flags = {"fit_bias": bias != "none", "penalize_bias": bias == "penalised"}
    esn = network(solver=solver, basis=basis, **flags).fit(X, y)
    assert esn.solver_ == ("qr" if solver == "auto" else solver)
    expected = textbook(esn, [(X, y)], fit_bias=bias != "none", penalise_bias=bias == "penalised")
    assert_close(esn.matrices("neuron").W_out, expected)


@EACH_MASK
@pytest.mark.parametrize("solver", SOLVERS)
@pytest.mark.parametrize("kind", ["list", "stack"])
def test_several_series(mask, solver, kind):
    cuts = [0, 90, 300, T] if kind == "list" else [0, 100, 200, 300, T]
    pieces = [slice(a, b) for a, b in itertools.pairwise(cuts)]
    inputs, outputs = ([a[p] for p in pieces] for a in (X, MASKS[mask]))
    held = (inputs, outputs) if kind == "list" else (np.stack(inputs), np.stack(outputs))
    esn = network(solver=solver).fit(*held)
    expected = textbook(esn, list(zip(inputs, outputs, strict=True)))
    assert_close(esn.matrices("neuron").W_out, expected)
    assert esn.score(*held) == pytest.approx(
        np.mean([column_score(esn, inputs, outputs, d) for d in range(outputs[0].shape[1])])
    )


def column_score(esn, inputs, outputs, column):
    """Return the R² of a column on the rows after the warmup that are not missing."""
    rows = [
        (truth[column], guess[column])
        for u, y in zip(inputs, outputs, strict=True)
        for truth, guess in list(zip(y, esn.predict(u), strict=True))[15:]
        if not np.isnan(truth[column])
    ]
    return r2_score(*zip(*rows, strict=True))


@EACH_MASK
def test_flat_targets_frames_and_masks(mask):
    y = MASKS[mask]
    esn = network().fit(X, y)
    hidden = np.ma.masked_array(np.where(np.isnan(y), 1e6, y), np.isnan(y))
    for held in (pd.DataFrame(y), pd.DataFrame(y).astype("Float64"), hidden, y.tolist()):
        np.testing.assert_array_equal(network().fit(X, held).W_out_, esn.W_out_)
    flat = network().fit(X, y[:, 0])
    assert_close(flat.W_out_[:, 0], esn.W_out_[:, 0])
    assert flat.predict(X).shape == (T,)


@EACH_MASK
@pytest.mark.parametrize("solver", SOLVERS)
def test_standardisation_ignores_missing_targets(mask, solver):
    y = MASKS[mask]
    mean, deviation = np.nanmean(y, axis=0), np.nanstd(y, axis=0)
    scaled = (X - X.mean(axis=0)) / X.std(axis=0)
    esn = network(standardize=True, solver=solver).fit(X, y)
    expected = textbook(esn, [(scaled, (y - mean) / deviation)])
    assert_close(esn.matrices("neuron").W_out, expected)
    plain = network(solver=solver).fit(scaled, (y - mean) / deviation)
    assert_close(esn.predict(X), plain.predict(scaled) * deviation + mean)
    assert_close(
        esn.noise_covariance_, plain.noise_covariance_ * np.outer(deviation, deviation), 1e-9
    )


@pytest.mark.parametrize("mask", ["one", "shared"])
@pytest.mark.parametrize("solver", SOLVERS)
def test_one_ridge_is_chosen_for_outputs_with_the_same_gaps(mask, solver):
    y, ridges = MASKS[mask] - [0.0, 5.0, -3.0][: MASKS[mask].shape[1]], [1e3, 1e-2, 30.0]
    y = y + np.random.default_rng(7).normal(0, 3.0, y.shape)
    esn = network(ridge=ridges, solver=solver).fit(X, y)
    # Validate on the last fifth of the rows after the warmup, relative to the size of each output.
    cut = T - round(0.2 * (T - 15))
    m = esn.matrices("neuron")
    rows = naive.extended(naive.states(m.W, m.W_in, X))
    errors = []
    for alpha in ridges:
        W_out = textbook(esn, [(X[:cut], y[:cut])], alpha)
        squared = np.nansum((y - rows @ W_out)[cut:] ** 2, axis=0)
        errors.append(np.mean(squared / np.nansum(y[cut:] ** 2, axis=0)))
    assert esn.ridge_ == ridges[int(np.argmin(errors))]
    assert_close(m.W_out, textbook(esn, [(X, y)], esn.ridge_))


def test_outputs_with_different_gaps_have_their_own_ridges():
    rng = np.random.default_rng(3)
    y = with_gaps(1, 2)
    y[:, 1] = np.where(np.isnan(y[:, 1]), np.nan, rng.normal(size=T))  # pure noise
    ridges = [1e-4, 1e5]
    alone = [network(ridge=ridges).fit(X, y[:, d]).ridge_ for d in range(2)]
    assert alone == ridges
    both = network(ridge=ridges).fit(X, y)
    np.testing.assert_array_equal(both.ridge_, ridges)
    for d in range(2):
        one = network(ridge=ridges[d]).fit(X, y[:, [d]])
        assert_close(both.W_out_[:, [d]], one.W_out_)
    found = ee.search(network(), {"ridge": ["auto"]}, X, y)
    np.testing.assert_allclose(found.best_estimator.ridge_, network(ridge="auto").fit(X, y).ridge_)


@pytest.mark.parametrize("chunk", [64 * 8, 1 << 24])
def test_gaps_at_the_edges_of_chunks(monkeypatch, chunk):
    monkeypatch.setattr(sys.modules["eigenecho.rows"], "CHUNK_BYTES", chunk)
    y = WHOLE.copy()
    y[:64] = y[126:130] = y[192:256] = y[-1:] = np.nan  # whole chunks, and a gap across two chunks
    for solver in SOLVERS:
        esn = network(solver=solver).fit(X, y)
        assert_close(esn.matrices("neuron").W_out, textbook(esn, [(X, y)]))


def test_single_precision_is_single_precision():
    esn, single = network().fit(X, MASKS["two groups"]), network(dtype="float32")
    single.fit(X, MASKS["two groups"])
    assert single.W_out_.dtype == np.float32
    assert_close(single.predict(X), esn.predict(X), 1e-5)


@pytest.mark.parametrize("solver", SOLVERS)
@pytest.mark.parametrize("ridge", [1e-2, [1e-2, 1.0]])
def test_missing_option_does_not_change_results_without_gaps(solver, ridge):
    options = {"solver": solver, "ridge": ridge, "standardize": True}
    skip, error = (network(missing=m, **options).fit(X, WHOLE) for m in ("skip", "error"))
    np.testing.assert_array_equal(skip.W_out_, error.W_out_)
    np.testing.assert_array_equal(skip.noise_covariance_, error.noise_covariance_)
    assert skip.solver_ == error.solver_
    assert skip.score(X, WHOLE) == error.score(X, WHOLE)


# Solvers ---------------------------------------------------------------------------------------


def test_sums_over_time_are_not_used_where_rows_are_missing(monkeypatch, prefer_sums):
    def larger(**options):
        return network(sr=0.5, **options).set_params(units=40)

    prefer_sums(True)
    assert larger().fit(X, WHOLE).solver_ == "normal"
    for y in MASKS.values():
        assert larger().fit(X, y).solver_ == "qr"
    monkeypatch.setattr(costs, "MAX_QR_FLOPS", 0)
    y = MASKS["two groups"]
    esn = larger().fit(X, y)
    assert esn.solver_ == "normal"
    assert_close(esn.matrices("neuron").W_out, textbook(esn, [(X, y)]))
    again = larger(solver=esn.solver_).fit(X, y)
    np.testing.assert_array_equal(again.W_out_, esn.W_out_)


def test_group_that_falls_back_does_so_again():
    # The refined solver gives up without a ridge when there are fewer rows than weights.
    y = WHOLE[:, :2].copy()
    y[30:, 1] = np.nan
    with pytest.warns(IllConditionedWarning, match="singular"):
        esn = network(solver="normal", ridge=0.0).fit(X, y)
    assert esn.solver_ == "normal"
    with pytest.warns(IllConditionedWarning, match="singular"):
        again = network(solver=esn.solver_, ridge=0.0).fit(X, y)
    np.testing.assert_array_equal(again.W_out_, esn.W_out_)


def test_few_rows_of_one_output_cause_a_warning():
    y = WHOLE[:, :2].copy()
    y[30:, 1] = np.nan
    with pytest.warns(IllConditionedWarning, match="21 weights for 15 training rows"):
        network(ridge=1e-8).fit(X, y)


# Results of a fit ------------------------------------------------------------------------------


@EACH_MASK
@pytest.mark.parametrize("solver", SOLVERS)
def test_noise_is_estimated_from_available_residuals(mask, solver):
    y = MASKS[mask]
    esn = network(solver=solver).fit(X, y)
    left = np.nan_to_num(y - esn.predict(X))[15:]
    m = esn.matrices("neuron")
    rows = naive.extended(naive.states(m.W, m.W_in, X))[15:]
    free = []
    for there in ~np.isnan(y[15:]).T:
        S = rows[there].T @ rows[there]
        freedom = np.trace(np.linalg.solve(S + 1e-2 * np.eye(len(S)), S))
        free.append(there.sum() - freedom)
    expected = left.T @ left / np.sqrt(np.outer(free, free))
    assert_close(esn.noise_covariance_, expected, 1e-8)
    assert np.linalg.eigvalsh(esn.noise_covariance_)[0] > 0


def test_forecast_continues_after_a_missing_last_target():
    waves = np.column_stack([ee.tasks.mso(2, 501)[:, 0], np.cos(0.3 * np.arange(501.0))])
    y = waves[1:].copy()
    y[50:70, 0] = y[200:230, 1] = y[-1] = np.nan
    for standardize in (False, True):
        options = {"ridge": 1e-9, "warmup": 50, "standardize": standardize}
        esn = network(**options).fit(waves[:-1], y)
        assert_close(esn.final_state_.y, esn.predict(waves[:-1])[-1], 1e-12)
        with warnings.catch_warnings():
            warnings.simplefilter("error")  # the model is trained on its own next step
            mean, lower, upper = esn.forecast(30, interval=0.9)
        context = np.concatenate([waves[:-1], esn.final_state_.y[None]])
        assert_close(mean, esn.forecast(30, context=context), 1e-9)
        assert np.all((lower <= mean) & (mean <= upper))


@pytest.mark.parametrize("mask", ["shared", "two groups"])
def test_files(tmp_path, mask):
    path = tmp_path / "esn.safetensors"
    esn = network().fit(X, MASKS[mask])
    esn.save(path)
    loaded = ee.load(path)
    assert loaded.missing == "skip"
    np.testing.assert_array_equal(loaded.predict(X), esn.predict(X))
    np.testing.assert_array_equal(loaded.noise_covariance_, esn.noise_covariance_)
    np.testing.assert_array_equal(loaded.fit(X, MASKS[mask]).W_out_, esn.W_out_)


# Further training ------------------------------------------------------------------------------


@pytest.mark.parametrize("solver", ["qr", "normal"])
def test_partial_fit_of_series_equals_one_fit(solver):
    y = MASKS["shared"].copy()
    pieces = [slice(0, 150), slice(150, 180), slice(180, T)]
    y[150:180] = np.nan  # a piece in which all targets are missing
    parts = network(solver=solver)
    for piece in pieces:
        parts.partial_fit(X[piece], y[piece])
    whole = network(solver=solver).fit([X[p] for p in pieces], [y[p] for p in pieces])
    assert_close(parts.W_out_, whole.W_out_)
    assert_close(parts.noise_covariance_, whole.noise_covariance_, 1e-8)
    expected = textbook(parts, [(X[p], y[p]) for p in pieces])
    assert_close(parts.matrices("neuron").W_out, expected)


def test_learner_continues_after_gaps():
    y = MASKS["shared"]
    esn = network().fit(X[:200], y[:200])
    learner = esn.learner(esn.final_state_)
    for u, target in zip(X[200:], WHOLE[200:], strict=True):
        learner.step(u, target)
    expected = textbook(esn, [(X, np.concatenate([y[:200], WHOLE[200:]]))])
    head = learner.model.matrices("neuron").W_out
    assert_close(head, expected)
    with pytest.raises(ValueError, match=r"target: got NaN in column 1"):
        learner.step(X[0], [1.0, np.nan, 1.0])


def test_partial_fit_after_gaps_is_rejected(tmp_path):
    said = "not available.*different rows.*Fit the network again"
    esn = network().fit(X, MASKS["two groups"])
    before = esn.W_out_.copy()
    for further in (
        lambda: esn.partial_fit(X, WHOLE),
        lambda: esn.learner(),
        lambda: esn.save(tmp_path / "esn.safetensors", statistics=True),
    ):
        with pytest.raises(ValueError, match=said):
            further()
    assert not list(tmp_path.iterdir())
    np.testing.assert_array_equal(esn.W_out_, before)
    shared = network().fit(X, WHOLE)
    with pytest.raises(ValueError, match="y: got missing values in different rows"):
        shared.partial_fit(X, MASKS["two groups"])


# Invalid input ---------------------------------------------------------------------------------


@pytest.mark.parametrize("missing", [None, True, "skipp", 0])
def test_invalid_value_of_missing(missing):
    with pytest.raises(ValueError, match=r"missing.*expected one of error, skip"):
        network(missing=missing).fit(X, WHOLE)


def test_gaps_are_an_error_by_default():
    assert ee.LinearESN().missing == "error"
    y = MASKS["one"]
    row = int(np.argmax(np.isnan(y[:, 0])))
    said = rf"y: got NaN in row {row}, column 0.*drop missing values first, or .*missing='skip'"
    with pytest.raises(ValueError, match=said):
        network(missing="error").fit(X, y)
    with pytest.raises(ValueError, match=said):
        network(missing="error").fit(X, WHOLE[:, :1]).partial_fit(X, y)


@pytest.mark.parametrize("value", [np.inf, -np.inf])
def test_infinity_is_never_missing(value):
    y = WHOLE.copy()
    y[7, 1] = value
    for call in (network().fit, network().fit(X, WHOLE).partial_fit, network().fit(X, WHOLE).score):
        with pytest.raises(
            ValueError, match=r"y: got -?infinity in row 7, column 1.*drop infinite"
        ):
            call(X, y)
    with pytest.raises(ValueError, match=r"X: got NaN in row 7, column 1"):
        network().fit(np.where(np.isinf(y[:, :2]), np.nan, X), WHOLE)


@pytest.mark.parametrize("option", ["feedback", "output_to_readout"])
def test_drive_of_the_network_cannot_be_missing(option):
    y = WHOLE[:, 0].copy()
    y[9] = np.nan
    message = r"y: got NaN in row 9.*feedback and output_to_readout require every y\(t−1\)"
    esn = network(**{option: True})
    with pytest.raises(ValueError, match=message):
        esn.fit(X, y)
    esn.fit(X, WHOLE[:, 0])
    with pytest.raises(ValueError, match=message):
        esn.partial_fit(X, y)
    assert np.isfinite(esn.score(X, y))  # score feeds back the network's own outputs
    with pytest.raises(ValueError, match=r"y: got NaN in row 9"):
        network(feedback=True).fit(None, y)


def test_column_without_any_values():
    y = WHOLE.copy()
    y[15:, 1] = np.nan
    said = r"y: got only NaN in column {}.*.*one observation in each column"
    with pytest.raises(ValueError, match=said.format(1)):
        network().fit(X, y)
    with pytest.raises(ValueError, match=said.format("'b'")):
        network().fit(X, pd.DataFrame(y, columns=["a", "b", "c"]))
    with pytest.raises(ValueError, match=said.format("'b'")):
        network().fit([X, X], [pd.DataFrame(y, columns=["a", "b", "c"])] * 2)
    with pytest.raises(ValueError, match="y: got only NaN after the warmup"):
        network().fit(X, y[:, 1])
    esn = network().fit(X, WHOLE)
    with pytest.raises(ValueError, match=said.format(1)):
        esn.score(X, y)
    network().fit([X, X], [y, WHOLE])  # the second series has values for it
    with pytest.raises(ValueError, match="warmup=400"):
        network(warmup=T).fit(X, y)


def test_ridge_selection_needs_validation_rows():
    y = WHOLE.copy()
    y[-100:, 1] = np.nan
    for targets in (y, y[:, 1]):
        with pytest.raises(ValueError, match=r"ridge.*missing in the last fifth"):
            network(ridge=[1e-2, 1.0]).fit(X, targets)


def test_scores_with_weights():
    y, weights = MASKS["two groups"], RNG.random(T)
    esn = network().fit(X, y)
    guess = esn.predict(X)
    expected = []
    for d in range(3):
        rows = [t for t in range(15, T) if not np.isnan(y[t, d])]
        expected.append(r2_score(y[rows, d], guess[rows, d], sample_weight=weights[rows]))
    assert esn.score(X, y, sample_weight=weights) == pytest.approx(np.mean(expected))


# Searches --------------------------------------------------------------------------------------


@EACH_MASK
@pytest.mark.parametrize("standardize", [False, True])
def test_search_scores_available_targets(mask, standardize):
    y, cut = MASKS[mask], 300
    grid = {"sr": [0.5, 0.9], "input_scaling": [0.5, 1.0], "ridge": [1e-2, 10.0]}
    result = ee.search(
        network(standardize=standardize), grid, X, y, validation=[(cut, T)], workers=1
    )
    for combination, errors in zip(result.params, result.errors, strict=True):
        esn = network(standardize=standardize, **combination).fit(X[:cut], y[:cut])
        left = (y - esn.predict(X))[cut:]
        assert errors[0, 0] == pytest.approx(np.sqrt(np.nanmean(left**2)), rel=1e-8)
    assert result.best_estimator.missing == "skip"


def test_search_without_targets_to_score_is_rejected():
    y = WHOLE.copy()
    y[:300, 1] = np.nan
    with pytest.raises(ValueError, match=r"y: got only NaN in column 1 before the validation"):
        ee.search(network(), {"sr": [0.5]}, X, y, validation=[(300, T)])
    y = WHOLE.copy()
    y[300:] = np.nan
    with pytest.raises(ValueError, match=r"y: got only NaN in a validation"):
        ee.search(network(), {"sr": [0.5]}, X, y, validation=[(300, T)])
    grid = {"missing": ["skip", "error"]}
    with pytest.raises(ValueError, match="missing='skip'"):
        ee.search(network(), grid, X, MASKS["one"])
    with pytest.raises(ValueError, match=r"output_to_readout require every y\(t−1\)"):
        ee.search(network(), {"output_to_readout": [False, True]}, X, MASKS["one"])
