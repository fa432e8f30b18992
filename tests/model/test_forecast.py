"""Compare forecasts, teacher forcing, continued states and streams with plain loops."""

from __future__ import annotations

import itertools
import pickle
import warnings

import numpy as np
import pytest

import naive
from crafted import change_file
from eigenecho import LinearESN, LinearModel, Spectrum, load
from eigenecho.errors import UnstableWarning
from eigenecho.model.forecast import closed_loop_radius
from eigenecho.reservoir import Reservoir
from optional import optional

pd = optional("pandas")

T = 300
RNG = np.random.default_rng(0)
T_AXIS = np.arange(T + 1.0)[:, None]
WAVES = np.sin(T_AXIS * [[0.2, 0.311]]) + 0.3 * np.sin(T_AXIS * [[0.42, 0.05]])
KNOWN = np.cos(T_AXIS * [[0.13, 0.7, 0.29]])
BOTH = (False, True)
LOOPS = pytest.mark.parametrize(("feedback", "previous"), list(itertools.product(BOTH, BOTH)))


def network(feedback=False, previous=False, **options):
    given = {"ridge": 1e-3, "fb_scaling": 0.2, "seed": 0, "solver": "qr", **options}
    return LinearESN(30, feedback=feedback, output_to_readout=previous, **given)


def textbook(esn):
    """Return the arguments of the plain loops for a fitted network without standardisation."""
    m = esn.matrices("neuron")
    readout = {"fit_bias": esn.fit_bias, "output_to_readout": esn.output_to_readout}
    return (m.W, m.W_in, m.W_out), {"bias": m.bias, "W_fb": m.W_fb, **readout}


def neuron_state(esn, state):
    return esn.model_.basis.states_to_neuron(state.r), state.y


def assert_close(actual, expected, tolerance=1e-8):
    assert np.shape(actual) == np.shape(expected)
    np.testing.assert_allclose(actual, expected, rtol=0, atol=tolerance * np.abs(expected).max())


# Comparison of forecasts with the plain loop ---------------------------------------------------


@LOOPS
@pytest.mark.parametrize("D", [1, 2])
@pytest.mark.parametrize("lr", [0.5, 1.0])
def test_forecast_equals_the_plain_loop(feedback, previous, D, lr):
    X = WAVES[:, :D]
    esn = network(feedback, previous, lr=lr, input_bias=True).fit(X[:-1], X[1:])
    weights, options = textbook(esn)
    assert_close(
        esn.forecast(40, context=X[:200]),
        naive.forecast(*weights, 40, context=X[:200], **options),
    )
    assert_close(
        esn.forecast(40),
        naive.forecast(*weights, 40, state=neuron_state(esn, esn.final_state_), **options),
    )


@LOOPS
@pytest.mark.parametrize("D_known", [1, 3])
@pytest.mark.parametrize("D", [1, 2])
def test_known_future_inputs(feedback, previous, D_known, D):
    X = np.concatenate([WAVES[:, :D], KNOWN[:, :D_known]], axis=1)
    esn = network(feedback, previous).fit(X[:200], X[1:201, :D])
    weights, options = textbook(esn)
    ahead = X[200:240, D:]
    actual = esn.forecast(40, context=X[:200], inputs=ahead)
    assert_close(actual, naive.forecast(*weights, 40, context=X[:200], inputs=ahead, **options))
    # The given rows have an effect from the second step on; the first needs only the context.
    other = esn.forecast(40, context=X[:200], inputs=ahead + 1.0)
    np.testing.assert_array_equal(other[0], actual[0])
    assert np.abs(other[1:] - actual[1:]).max() > 1e-6
    state = neuron_state(esn, esn.final_state_)
    assert_close(
        esn.forecast(40, inputs=ahead),
        naive.forecast(*weights, 40, state=state, inputs=ahead, **options),
    )


@pytest.mark.parametrize("standardize", BOTH)
def test_context_and_training_end_agree(standardize):
    esn = network(standardize=standardize).fit(WAVES[:-1], WAVES[1:])
    assert_close(esn.forecast(50, context=WAVES), esn.forecast(50), 1e-12)


@LOOPS
def test_context_and_training_end_agree_once_the_start_is_forgotten(feedback, previous):
    # Training has no y before its first row, but a context does: y(t−1) = u(t). 0.9^300 is 2e-14.
    esn = network(feedback, previous).fit(WAVES[:-1], WAVES[1:])
    assert_close(esn.forecast(50, context=WAVES), esn.forecast(50), 1e-10)


def test_known_inputs_with_and_without_context():
    X = np.concatenate([WAVES[:, :1], KNOWN[:, :1]], axis=1)
    esn = network().fit(X[:200], X[1:201, :1])
    # Training ends before row 200, so the known column of this row is still in the future.
    without = esn.forecast(20, inputs=X[200:220, 1:])
    assert_close(esn.forecast(20, context=X[:201], inputs=X[201:221, 1:]), without, 1e-12)


@LOOPS
def test_forecast_equals_predict_step_by_step(feedback, previous):
    esn = network(feedback, previous).fit(WAVES[:-1], WAVES[1:])
    rows = WAVES[:200]
    for actual in esn.forecast(5, context=rows):
        before = {"y_previous": rows} if feedback or previous else {}
        assert_close(actual, esn.predict(rows, **before)[-1], 1e-10)
        rows = np.concatenate([rows, actual[None]])


def test_forecast_continues_the_waves():
    esn = network(ridge=1e-10, warmup=50).fit(WAVES[:250], WAVES[1:251])
    assert_close(esn.forecast(50), WAVES[251:301], 1e-3)


@LOOPS
def test_one_dimensional_targets(feedback, previous):
    X = WAVES[:, :1]
    flat = network(feedback, previous).fit(X[:-1], X[1:, 0])
    column = network(feedback, previous).fit(X[:-1], X[1:])
    assert flat.forecast(9).shape == (9,)
    assert column.forecast(9).shape == (9, 1)
    np.testing.assert_array_equal(flat.forecast(9), column.forecast(9)[:, 0])
    np.testing.assert_array_equal(flat.forecast(9, context=X), column.forecast(9, context=X)[:, 0])


def test_forecasting_changes_nothing():
    esn = network(feedback=True).fit(WAVES[:-1], WAVES[1:])
    first = esn.forecast(20)
    esn.predict(WAVES)
    esn.forecast(7, context=WAVES[:50])
    np.testing.assert_array_equal(esn.forecast(20), first)
    np.testing.assert_array_equal(esn.forecast(5), first[:5])


# Generators -----------------------------------------------------------------------------------


@pytest.mark.parametrize("previous", BOTH)
@pytest.mark.parametrize("D", [1, 2])
def test_generator_equals_the_plain_loop(previous, D):
    y = WAVES[:, :D]
    esn = network(True, previous).fit(None, y)
    assert esn.n_features_in_ == 0
    weights, options = textbook(esn)
    assert weights[1].shape == (0, 30)
    state = neuron_state(esn, esn.final_state_)
    assert_close(esn.forecast(40), naive.forecast(*weights, 40, state=state, **options))
    assert_close(
        esn.forecast(40, context=y[:200]),
        naive.forecast(*weights, 40, context=y[:200], **options),
    )
    expected = naive.fit(
        weights[0], weights[1], [(np.empty((len(y), 0)), y)], W_fb=options["W_fb"],
        output_to_readout=previous, alpha=1e-3,
    )  # fmt: skip
    assert_close(weights[2], expected, 1e-6)


def test_flat_generator():
    y = WAVES[:, 0]
    esn = network(True).fit(None, y)
    assert esn.forecast(9).shape == (9,)
    np.testing.assert_array_equal(esn.forecast(9, context=y), esn.forecast(9, context=y[:, None]))
    before = naive.shifted(y)
    weights, options = textbook(esn)
    expected = naive.predict(*weights, np.empty((len(y), 0)), y_previous=before[:, None], **options)
    assert_close(esn.predict(None, y_previous=before), expected[:, 0])


def test_generator_of_several_series():
    parts = [WAVES[:120], WAVES[100:]]
    esn = network(True).fit(None, parts)
    np.testing.assert_array_equal(esn.final_state_.y, parts[-1][-1])
    assert esn.forecast(9).shape == (9, 2)


# Standardised data ----------------------------------------------------------------------------


@LOOPS
def test_standardize_equals_manual_scaling(feedback, previous):
    X = 50.0 + WAVES * [[3.0, 0.01]]
    u, y = X[:-1], X[1:]
    esn = network(feedback, previous, standardize=True).fit(u, y)
    mean_u, std_u, mean_y, std_y = u.mean(0), u.std(0), y.mean(0), y.std(0)
    plain = network(feedback, previous).fit((u - mean_u) / std_u, (y - mean_y) / std_y)
    assert_close(esn.W_out_, plain.W_out_, 1e-6)
    weights, options = textbook(plain)

    before = {"y_previous": u} if feedback or previous else {}
    scaled_before = {"y_previous": (u - mean_y) / std_y} if before else {}
    expected = plain.predict((u - mean_u) / std_u, **scaled_before) * std_y + mean_y
    assert_close(esn.predict(u, **before), expected)

    # This loop converts every output from the units of y to the units of u.
    W, W_in, W_out = weights
    r = np.zeros(30)
    rows, outputs = list(X[:100]), []
    for t in range(130):
        now = rows[t]
        own, last = (now - mean_u) / std_u, (now - mean_y) / std_y
        r = r @ W + own @ W_in + (last @ options["W_fb"] if feedback else 0.0)
        z = naive.extended(r[None], last[None], True, previous)[0] @ W_out
        if t >= 99:
            outputs.append(z * std_y + mean_y)
            rows.append(outputs[-1])
    assert_close(esn.forecast(31, context=X[:100]) - 50, np.array(outputs) - 50, 1e-7)


def test_standardize_handles_different_units():
    esn = network(standardize=True).fit(WAVES[:-1], WAVES[1:])
    far = network(standardize=True).fit(1e6 + 1e3 * WAVES[:-1], 1e6 + 1e3 * WAVES[1:])
    assert_close((far.forecast(20) - 1e6) / 1e3, esn.forecast(20), 1e-5)


# Teacher forcing and states -------------------------------------------------------------------


@LOOPS
@pytest.mark.parametrize("D_out", [1, 2])
def test_predict_closed_and_teacher_forced(feedback, previous, D_out):
    u, y = KNOWN[:, :2], WAVES[:, :D_out]
    esn = network(feedback, previous, ridge=1.0).fit(u, y)
    weights, options = textbook(esn)
    assert_close(esn.predict(u), naive.predict(*weights, u, **options))
    if feedback or previous:
        forced = esn.predict(u, y_previous=naive.shifted(y))
        expected = naive.predict(*weights, u, y_previous=naive.shifted(y), **options)
        assert_close(forced, expected)
        assert np.abs(forced - esn.predict(u)).max() > 1e-6


@LOOPS
@pytest.mark.parametrize("standardize", BOTH)
@pytest.mark.parametrize("cut", [1, 120, T])
def test_split_series_equals_one_run(feedback, previous, standardize, cut):
    u, y = KNOWN[:, :2], WAVES
    esn = network(feedback, previous, ridge=1.0, standardize=standardize).fit(u, y)
    whole, end = esn.predict(u, return_state=True)
    first, state = esn.predict(u[:cut], return_state=True)
    second, final = esn.predict(u[cut:], initial_state=state, return_state=True)
    assert_close(np.concatenate([first, second]), whole, 1e-12)
    assert_close(final.r, end.r, 1e-12)
    assert_close(final.y, end.y, 1e-12)
    np.testing.assert_array_equal(end.y, whole[-1])


def test_predict_is_stateless():
    esn = network(True, ridge=1.0).fit(KNOWN, WAVES)
    once, state = esn.predict(KNOWN, return_state=True)
    kept = state.r.copy()
    np.testing.assert_array_equal(esn.predict(KNOWN), once)
    esn.predict(KNOWN, initial_state=state)
    np.testing.assert_array_equal(state.r, kept)
    assert np.abs(esn.predict(KNOWN, initial_state=state) - once).max() > 1e-6


@LOOPS
def test_final_state_belongs_to_the_last_series(feedback, previous):
    parts, targets = [KNOWN[:100], KNOWN[100:]], [WAVES[:100], WAVES[100:]]
    esn = network(feedback, previous).fit(parts, targets)
    (W, W_in, _), options = textbook(esn)
    r = naive.states(
        W, W_in, parts[1], bias=options["bias"], W_fb=options["W_fb"],
        y_previous=naive.shifted(targets[1]),
    )[-1]  # fmt: skip
    actual = neuron_state(esn, esn.final_state_)
    assert_close(actual[0], r)
    np.testing.assert_array_equal(actual[1], targets[1][-1])


@LOOPS
def test_several_series_are_run_separately(feedback, previous):
    parts = [KNOWN[:120], KNOWN[50:90], KNOWN[200:]]
    targets = [WAVES[:120], WAVES[50:90], WAVES[200:]]
    esn = network(feedback, previous, ridge=1.0).fit(parts, targets)
    answers, states = esn.predict(parts, return_state=True)
    for part, answer, state in zip(parts, answers, states, strict=True):
        alone, end = esn.predict(part, return_state=True)
        np.testing.assert_array_equal(answer, alone)
        np.testing.assert_array_equal(state.r, end.r)
    onward = esn.predict(parts, initial_state=states)
    for part, answer, state in zip(parts, onward, states, strict=True):
        np.testing.assert_array_equal(answer, esn.predict(part, initial_state=state))
    if feedback or previous:
        before = [naive.shifted(y) for y in targets]
        forced = esn.predict(parts, y_previous=before)
        for part, y, answer in zip(parts, before, forced, strict=True):
            np.testing.assert_array_equal(answer, esn.predict(part, y_previous=y))


# Streams --------------------------------------------------------------------------------------


@LOOPS
@pytest.mark.parametrize("standardize", BOTH)
@pytest.mark.parametrize("basis", ["eigen", "neuron"])
def test_stream_equals_predict_row_by_row(feedback, previous, standardize, basis):
    u, y = KNOWN[:, :2], WAVES
    esn = network(feedback, previous, ridge=1.0, standardize=standardize, basis=basis).fit(u, y)
    stream = esn.stream()
    assert_close(np.array([stream.step(row) for row in u]), esn.predict(u), 1e-11)
    _, end = esn.predict(u, return_state=True)
    assert_close(stream.state.r, end.r, 1e-11)
    if feedback or previous:
        before = naive.shifted(y)
        forced = esn.stream()
        rows = [forced.step(a, y_previous=b) for a, b in zip(u, before, strict=True)]
        assert_close(np.array(rows), esn.predict(u, y_previous=before), 1e-11)


def test_stream_continues_from_a_state():
    esn = network(True, ridge=1.0).fit(KNOWN, WAVES)
    _, state = esn.predict(KNOWN[:100], return_state=True)
    stream = esn.stream(state)
    actual = np.array([stream.step(row) for row in KNOWN[100:]])
    assert_close(actual, esn.predict(KNOWN[100:], initial_state=state), 1e-11)
    stream.state = state
    assert_close(stream.step(KNOWN[100]), actual[0], 1e-14)


def test_streams_are_independent():
    esn = network(True, ridge=1.0).fit(KNOWN, WAVES)
    one, two = esn.stream(), esn.stream()
    first = one.step(KNOWN[0])
    one.step(KNOWN[1])
    np.testing.assert_array_equal(two.step(KNOWN[0]), first)
    copy = one.state
    copy.r[:] = 99.0
    assert not np.any(one.state.r == 99.0)


def test_stream_of_a_generator_equals_its_forecast():
    esn = network(True).fit(None, WAVES)
    stream = esn.stream(esn.final_state_)
    assert_close(np.array([stream.step() for _ in range(30)]), esn.forecast(30), 1e-10)


# Growth ---------------------------------------------------------------------------------------


def constructed(radius, angle=0.3):
    """Return a model with one undriven pair, whose loop has the radius of the reservoir."""
    reservoir = Reservoir(Spectrum([], [radius * np.exp(1j * angle)]), np.zeros((1, 2)))
    return LinearModel(reservoir, np.array([[1.0], [0.0]]), readout_bias=False)


@pytest.mark.parametrize("radius", [0.5, 0.99, 1.0, 1.05])
def test_closed_loop_radius_without_a_loop(radius):
    assert closed_loop_radius(constructed(radius)) == pytest.approx(radius, rel=1e-12)


@pytest.mark.parametrize(("weight", "readout"), [(0.5, 1.0), (2.0, 0.4), (-1.0, 0.7)])
def test_closed_loop_radius_of_one_unit(weight, readout):
    # r ← a r + w y, y ← c r: by hand, r ← (a + w c) r, whose one eigenvalue is a + w c.
    a = 0.6
    model = LinearModel(
        Reservoir(Spectrum([a]), np.array([[weight]])), np.array([[readout]]), readout_bias=False
    )
    assert closed_loop_radius(model) == pytest.approx(abs(a + weight * readout), rel=1e-12)


def test_closed_loop_radius_with_the_last_output_in_the_readout():
    # The loop is y ← p y.
    model = LinearModel(
        Reservoir(Spectrum([0.1]), np.zeros((1, 1))), np.array([[0.8], [0.0]]),
        readout_bias=False, output_to_readout=True,
    )  # fmt: skip
    assert closed_loop_radius(model) == pytest.approx(0.8, rel=1e-12)


@LOOPS
@pytest.mark.parametrize("standardize", BOTH)
def test_closed_loop_radius_is_the_growth_of_the_forecast(feedback, previous, standardize):
    growing = 1.02 ** np.arange(200.0)[:, None]
    esn = network(feedback, previous, standardize=standardize, ridge=1e-8)
    esn.fit(growing[:-1], growing[1:])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UnstableWarning)
        ahead = esn.forecast(2000)[:, 0]
    growth = (ahead[-1] / ahead[-501]) ** (1 / 500)
    assert esn.closed_loop_radius_ == pytest.approx(abs(growth), rel=1e-6)
    assert esn.closed_loop_radius_ > 1.01


def test_closed_loop_radius_of_an_oscillator_is_one():
    esn = network(ridge=1e-12, warmup=50).fit(WAVES[:-1], WAVES[1:])
    assert esn.closed_loop_radius_ == pytest.approx(1.0, abs=1e-3)
    assert esn.closed_loop_radius_ is esn.closed_loop_radius_


def test_growing_forecast_causes_a_warning():
    growing = 1.1 ** np.arange(60.0)[:, None]
    esn = network(ridge=1e-8).fit(growing[:-1], growing[1:])
    with pytest.warns(
        UnstableWarning, match=r"output grew from .* to .*e\+.*unstable.*larger ridge"
    ):
        esn.forecast(200)


def test_stable_forecast_causes_no_warning():
    esn = network(ridge=1e-10, warmup=50).fit(WAVES[:-1], WAVES[1:])
    with warnings.catch_warnings():
        warnings.simplefilter("error", UnstableWarning)
        esn.forecast(300)
        esn.forecast(300, context=WAVES)


def test_generator_accepts_outputs_in_every_container():
    y = np.sin(0.3 * np.arange(300))[:, None]
    options = dict(feedback=True, warmup=20, ridge=1e-6, seed=0)
    expected = LinearESN(20, **options).fit(None, y).forecast(10)
    np.testing.assert_array_equal(
        LinearESN(20, **options).fit(None, y.tolist()).forecast(10), expected
    )
    flat = LinearESN(20, **options).fit(None, y[:, 0].tolist())
    np.testing.assert_array_equal(flat.forecast(10), expected[:, 0])
    stack = LinearESN(20, **options).fit(None, np.stack([y[:150], y[150:]]))
    listed = LinearESN(20, **options).fit(None, [y[:150], y[150:]])
    np.testing.assert_array_equal(stack.forecast(10), listed.forecast(10))
    before = np.concatenate([[0.0], y[:-1, 0]])
    np.testing.assert_allclose(
        flat.predict(None, y_previous=before.tolist())[50:], y[50:, 0], atol=0.01
    )


def test_parameters_changed_after_the_fit_have_no_effect():
    W = np.random.default_rng(0).normal(size=(10, 10)) / 4
    esn = LinearESN(spectrum=W, basis="neuron", lr=0.5, seed=0).fit(WAVES[:-1], WAVES[1:])
    esn.set_params(lr=1.0)
    assert esn.spectrum_.radius == pytest.approx(np.abs(np.linalg.eigvals(W)).max())


# Training targets -----------------------------------------------------------------------------

NEXT = r"fit\(series\[:-1\], series\[1:\]\)"
NOISE = RNG.normal(size=WAVES.shape)
SEGMENTS = [WAVES[k : k + 50] + 100.0 * k for k in range(0, 300, 50)]


OWN = {
    "next step": (WAVES[:-1], WAVES[1:]),
    "with rounding": (WAVES[:-1] / 3.0 * 3.0 + 1e-12, WAVES[1:]),
    "float32": (WAVES[:-1].astype(np.float32), WAVES[1:]),
    "noise in the inputs": (WAVES[:-1] + 0.1 * NOISE[:-1], WAVES[1:]),
    "known columns": (np.hstack([WAVES, KNOWN])[:-1], WAVES[1:]),
    "several series": ([WAVES[:100], WAVES[100:200]], [WAVES[1:101], WAVES[101:201]]),
    "every other row": ([WAVES[:-2:2], WAVES[1:-2:2]], [WAVES[2::2], WAVES[3::2]]),
    "segments end to end": (
        np.concatenate([s[:-1] for s in SEGMENTS]),
        np.concatenate([s[1:] for s in SEGMENTS]),
    ),
    "a constant": (np.ones((50, 1)), np.ones((50, 1))),
    "a single row": (WAVES[:1], WAVES[:1]),
}
OTHER = {
    "another series": (WAVES[:, :1], WAVES[:, 1]),
    "the series comes second": (np.hstack([KNOWN[:, :1], WAVES[:, :1]])[:-1], WAVES[1:, :1]),
    "columns in another order": (WAVES[:-1], WAVES[1:, ::-1]),
    "two steps ahead": (WAVES[:-2], WAVES[2:]),
    "the step before": (WAVES[1:], WAVES[:-1]),
    "differences": (WAVES[:-1], np.diff(WAVES, axis=0)),
    "other units": (WAVES[:-1], 20.0 * WAVES[1:] + 3.0),
    "itself with noise": (WAVES + 0.01 * NOISE, WAVES),
    "most of several series": ([WAVES[:50], WAVES], [WAVES[1:51], WAVES]),
}


def ahead(esn):
    """Return the inputs that a forecast of three steps needs."""
    columns = esn.model_.D_in - esn.model_.D_out
    return np.zeros((3, columns)) if columns else None


@pytest.mark.parametrize("case", OWN)
def test_model_of_the_next_step_causes_no_warning(case):
    esn = network(ridge=1.0).fit(*OWN[case])
    with warnings.catch_warnings():
        warnings.simplefilter("error", UserWarning)
        esn.forecast(3, inputs=ahead(esn))


@pytest.mark.parametrize("case", OTHER)
def test_model_of_other_targets_causes_a_warning(case, tmp_path):
    esn = network(ridge=1.0).fit(*OTHER[case])
    esn.save(tmp_path / "esn.safetensors")
    for candidate in (esn, pickle.loads(pickle.dumps(esn)), load(tmp_path / "esn.safetensors")):
        with pytest.warns(UserWarning, match=f"not the first columns of X, one row ahead.*{NEXT}"):
            candidate.forecast(3, inputs=ahead(esn))
        # The model itself does not store what it was trained on.
        with warnings.catch_warnings():
            warnings.simplefilter("error", UserWarning)
            candidate.model_.forecast(3, inputs=ahead(esn), state=candidate.final_state_)


@pytest.mark.parametrize("context", [None, WAVES])
def test_model_that_repeats_its_input_is_rejected(context, tmp_path):
    esn = network(ridge=1.0).fit(WAVES, WAVES)
    esn.save(tmp_path / "esn.safetensors")
    for one in (esn, load(tmp_path / "esn.safetensors")):
        with pytest.raises(ValueError, match=f"forecast.*{NEXT}"):
            one.forecast(3, context)


def test_files_without_target_information_cause_no_warning(tmp_path):
    path = tmp_path / "esn.safetensors"
    network(ridge=1.0).fit(WAVES, WAVES).save(path)
    change_file(path, lambda values, tensors: values["fitted"].update(target=None))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert load(path).forecast(3).shape == (3, 2)


def test_partial_fit_to_other_targets_causes_a_warning():
    esn = network(ridge=1.0).fit(WAVES[:-1], WAVES[1:])
    esn.partial_fit(WAVES[:-1], WAVES[1:])
    with warnings.catch_warnings():
        warnings.simplefilter("error", UserWarning)
        esn.forecast(3)
    esn.partial_fit(WAVES, WAVES)
    with pytest.warns(UserWarning, match=NEXT):
        esn.forecast(3)
    esn.fit(WAVES[:-1], WAVES[1:])
    with warnings.catch_warnings():
        warnings.simplefilter("error", UserWarning)
        esn.forecast(3)


# Continuing from a state ----------------------------------------------------------------------


@LOOPS
@pytest.mark.parametrize("D_known", [0, 2])
def test_forecast_continues_from_a_state(feedback, previous, D_known):
    X = np.concatenate([WAVES, KNOWN[:, :D_known]], axis=1)
    esn = network(feedback, previous).fit(X[:200], WAVES[1:201])
    rows = X[200:240, 2:] if D_known else None
    np.testing.assert_array_equal(
        esn.forecast(40, inputs=rows, state=esn.final_state_), esn.forecast(40, inputs=rows)
    )
    _, state = esn.predict(X[:120], return_state=True)
    for given in (state, tuple(state), (state.r.tolist(), state.y.tolist())):
        np.testing.assert_array_equal(
            esn.forecast(40, inputs=rows, state=given),
            esn.model_.forecast(40, inputs=rows, state=state),
        )


def test_intervals_from_a_state_of_a_flat_series():
    esn = network().fit(WAVES[:-1, :1], WAVES[1:, 0])
    assert esn.forecast(9, state=esn.final_state_).shape == (9,)
    for actual, expected in zip(
        esn.forecast(9, state=esn.final_state_, interval=0.9),
        esn.forecast(9, interval=0.9),
        strict=True,
    ):
        np.testing.assert_array_equal(actual, expected)


def test_first_row_is_the_step_after_the_output_of_the_state():
    esn = network(ridge=1e-10, warmup=50).fit(WAVES[:250], WAVES[1:251])
    seen, state = esn.predict(WAVES[:200], return_state=True)  # seen[-1] predicts row 200
    assert_close(esn.forecast(20, state=state), WAVES[201:221], 1e-3)
    assert_close(seen[-1], WAVES[200], 1e-3)


@pytest.mark.parametrize("owner", ["estimator", "model"])
def test_state_and_context_exclude_each_other(owner):
    esn = network().fit(WAVES[:-1], WAVES[1:])
    one = esn if owner == "estimator" else esn.model_
    with pytest.raises(ValueError, match=r"state: got both a context and a state"):
        one.forecast(3, WAVES, state=esn.final_state_)
    with pytest.raises(ValueError, match=r"state=3.*pair \(r, y\)"):
        one.forecast(3, state=3)
    with pytest.raises(ValueError, match=r"state: got shapes \(2,\) and \(2,\)"):
        one.forecast(3, state=(np.ones(2), np.ones(2)))


# Exogenous columns ----------------------------------------------------------------------------


@pytest.mark.parametrize("with_context", BOTH)
def test_known_row_affects_the_next_row(with_context):
    n, h = 200, 12
    X = np.concatenate([WAVES[:, :1], KNOWN[:, :1]], axis=1)
    esn = network().fit(X[:n], WAVES[1 : n + 1, :1])
    context = X[:n] if with_context else None
    known = X[n : n + h, 1:]
    plain = esn.forecast(h, context, known)
    for j in range(h):
        moved = known.copy()
        moved[j] += 1.0
        changed = np.flatnonzero(np.any(esn.forecast(h, context, moved) != plain, axis=1))
        # known(n+j) affects ŝ(n+j+1): row j+1 after a context, row j after the training data.
        first = j + 1 if with_context else j
        assert list(changed[:1]) == ([first] if first < h else [])


def test_labels_of_known_columns_are_checked():
    frame = pd.DataFrame(np.hstack([WAVES[:, :1], KNOWN[:, :2]]), columns=["s", "day", "price"])
    esn = network().fit(frame[:200], WAVES[1:201, 0])
    rows = frame[200:210][["day", "price"]]
    actual = esn.forecast(10, inputs=rows)
    np.testing.assert_array_equal(actual, esn.forecast(10, inputs=rows.to_numpy()))
    said = r"feature names.*inputs has \['price', 'day'\], but fit had \['day', 'price'\]"
    with pytest.raises(ValueError, match=said):
        esn.forecast(10, inputs=rows[["price", "day"]])


@pytest.mark.parametrize("order", [1, -1])
def test_one_series_with_other_targets_is_reported(order):
    right, wrong = WAVES[1:], np.random.default_rng(0).normal(size=WAVES[1:].shape)
    inputs, targets = [WAVES[:-1], WAVES[:-1]], [right, wrong][::order]
    esn = LinearESN(20, ridge=1e-3, seed=0).fit(inputs, targets)
    with pytest.warns(UserWarning, match="not the first columns of X"):
        esn.forecast(5)
    with pytest.warns(UserWarning, match="ridge='loop'"):
        LinearESN(20, ridge="loop", seed=0).fit(inputs, targets)
