"""Networks fitted to tensors equal the textbook network and networks fitted to arrays."""

import itertools
import os
import pickle

import numpy as np
import pytest
from sklearn import config_context
from sklearn.base import clone
from sklearn.linear_model import Ridge
from sklearn.pipeline import make_pipeline

import eigenecho as ee
import naive
from test_agreement import RIDGE, Case, network, parameters_of

torch = pytest.importorskip("torch")

pytestmark = pytest.mark.tensors


def cases():
    """Return all options for one size, and a sample of them for other sizes."""
    both = (False, True)
    options = list(itertools.product(both, both, both, both, (0.3, 1.0), (1, 3), (1, 2), both))
    for N, every in {1: 17, 7: 1, 100: 29}.items():
        for i in range(0, len(options), every):
            yield pytest.param(Case(N, *options[i]), id=f"N{N}-{i}")


def to(device, data):
    return [torch.tensor(one, device=device) for one in data]


def assert_close(actual, expected, tolerance=1e-8):
    assert isinstance(actual, torch.Tensor)
    np.testing.assert_allclose(
        actual.cpu().numpy(), expected, rtol=0, atol=tolerance * np.abs(expected).max()
    )


@pytest.mark.parametrize("case", list(cases()))
def test_every_form_equals_the_textbook_network(case, device):
    W, series, rng = network(case)
    inputs, outputs = to(device, [u for u, _ in series]), to(device, [y for _, y in series])
    parameters = parameters_of(case, W)
    data = (inputs, outputs) if case.several else (inputs[0], outputs[0])
    neuron = ee.LinearESN(**parameters, basis="neuron").fit(*data)
    eigen = ee.LinearESN(**parameters, basis="eigen").fit(*data)
    drawn = neuron.matrices()
    bias = drawn.bias / case.lr if case.input_bias else None
    W_fb = drawn.W_fb / case.lr if case.feedback else None
    weights = dict(lr=case.lr, bias=bias, W_fb=W_fb)
    readout = dict(fit_bias=case.fit_bias, output_to_readout=case.previous)
    W_in = drawn.W_in / case.lr
    W_out = naive.fit(W, W_in, series, **weights, **readout, warmup=10, alpha=RIDGE)
    u = rng.normal(size=(80, case.D_in))
    before = rng.normal(size=(80, case.D_out)) if case.feedback or case.previous else None
    expected = naive.predict(W, W_in, W_out, u, **weights, **readout, y_previous=before)
    asked = torch.tensor(u, device=device)
    forced = None if before is None else torch.tensor(before, device=device)
    for model in (neuron, eigen):
        assert_close(model.predict(asked, y_previous=forced), expected)
    if before is not None:
        closed = naive.predict(W, W_in, W_out, u, **weights, **readout)
        if np.abs(closed).max() < 100:
            for model in (neuron, eigen):
                assert_close(model.predict(asked), closed)


OPTIONS = {
    "qr": {},
    "normal": dict(solver="normal", ridge=1e-3),
    "identity": dict(solver="normal", penalty="identity", ridge=1e-3),
    "without modes": dict(spectrum="matrix", basis="neuron", solver="normal", ridge=1e-3),
    "ridges": dict(ridge=[1e-6, 1.0]),
    "normal ridges": dict(solver="normal", ridge=[1e-4, 1.0]),
    "free bias": dict(penalize_bias=False, solver="normal", ridge=1e-3),
    "slow modes": dict(sr=0.999, solver="normal", ridge=1e-3),
    "standardised": dict(standardize=True),
    "float32": dict(dtype="float32", ridge=1e-2),
    "sparse": dict(spectrum="matrix", rc_connectivity=0.05),
    "auto": dict(ridge="auto"),
    "normal, auto": dict(ridge="auto", solver="normal"),
    "normal float32": dict(solver="normal", ridge=1e-2, dtype="float32"),
    "singular": dict(units=300, sr=0.1, ridge=0.0, solver="qr"),
    "skipped": dict(missing="skip"),
    "no ridge": dict(units=8, ridge=0.0, solver="normal"),
}


@pytest.mark.parametrize("name", list(OPTIONS))
def test_tensors_give_the_same_weights_as_arrays(name, device):
    rng = np.random.default_rng(3)
    X = rng.uniform(-1, 1, (3000, 2))
    y = np.cumsum(X, axis=0)[:, :1] * 0.1 + X[:, 1:] + 0.01 * rng.normal(size=(3000, 1))
    parameters = dict(units=60, warmup=50, seed=0) | OPTIONS[name]
    arrays = ee.LinearESN(**parameters).fit(X, y)
    tensors = ee.LinearESN(**parameters).fit(*to(device, (X, y)))
    assert tensors.solver_ == arrays.solver_
    assert tensors.ridge_ == pytest.approx(arrays.ridge_, rel=1e-5)
    digits = {"auto": 1e-7, "singular": 1e-3}.get(name, 1e-8)
    digits = 1e-5 if "dtype" in parameters else digits
    asked = torch.tensor(X, device=device)
    assert_close(tensors.predict(asked), arrays.predict(X), digits)
    assert_close(tensors.transform(asked), arrays.transform(X), digits)
    np.testing.assert_allclose(
        tensors.noise_covariance_, arrays.noise_covariance_, rtol=100 * digits
    )
    assert tensors.score(*to(device, (X, y))) == pytest.approx(arrays.score(X, y), abs=digits)
    np.testing.assert_allclose(tensors.final_state_.r, arrays.final_state_.r, atol=digits)


STAYING = {
    "qr": dict(solver="qr"),
    "normal": dict(solver="normal"),
    "normal without modes": dict(solver="normal", spectrum="matrix", basis="neuron"),
    "ridges": dict(ridge=[1e-3, 1.0]),
    "auto": dict(ridge="auto"),
    "standardised": dict(standardize=True),
    "fed back": dict(feedback=True, fb_scaling=0.1),
    "sparse": dict(spectrum="matrix", rc_connectivity=0.05),
}


@pytest.mark.parametrize("name", list(STAYING))
def test_no_data_of_series_length_leaves_the_device(name, device, crossings):
    # The first rows are copied, because they show how targets relate to inputs.
    rng = np.random.default_rng(0)
    X = torch.tensor(rng.uniform(-1, 1, (6000, 1)), device=device)
    y = X + 0.5 * X.roll(2, 0) + 0.1 * torch.tensor(rng.normal(size=(6000, 1)), device=device)
    esn = ee.LinearESN(20, **{"ridge": 1e-2, "warmup": 10, "seed": 0} | STAYING[name]).fit(X, y)
    esn.partial_fit(X, y)
    before = y.roll(1, 0) if "feedback" in STAYING[name] else None
    esn.predict(X, y_previous=before, return_std=True)
    if before is None:
        esn.transform(X)
    assert crossings
    assert max(crossings) <= 4096


def test_no_data_of_series_length_leaves_the_device_in_a_search(device, crossings):
    rng = np.random.default_rng(0)
    X = torch.tensor(rng.uniform(-1, 1, (6000, 1)), device=device)
    y = X + 0.1 * torch.tensor(rng.normal(size=(6000, 1)), device=device)
    grid = {"sr": [0.5, 0.9], "ridge": [1e-3, 1e-1], "output_to_readout": [False]}
    ee.search(ee.LinearESN(20, warmup=10, seed=0), grid, X, y, refit=False)
    assert max(crossings) < 500


@pytest.mark.parametrize("sines", [5, 8])
@pytest.mark.parametrize("ridge", [1e-8, 1e-6])
def test_refined_weights_of_noise_free_series_equal_those_of_the_host(ridge, sines, device):
    # Predictions must also agree on the warmup rows, which are not used for training.
    X = ee.tasks.mso(sines, steps=8001)
    t = torch.tensor(X, device=device)
    options = dict(solver="normal", penalty="identity", ridge=ridge, warmup=100, seed=0)
    arrays = ee.LinearESN(300, **options).fit(X[:-1], X[1:])
    tensors = ee.LinearESN(300, **options).fit(t[:-1], t[1:])
    assert tensors.solver_ == arrays.solver_ == "normal"
    assert_close(tensors.predict(t), arrays.predict(X), 1e-10)


def test_stacks_and_lists_keep_their_container(device):
    X = np.random.default_rng(0).uniform(-1, 1, (3, 400, 1))
    esn = ee.LinearESN(30, seed=0).fit(X, X[..., 0])
    stack = torch.tensor(X, device=device)
    fitted = ee.LinearESN(30, seed=0).fit(stack, stack[..., 0])
    expected = esn.predict(X)
    assert expected.shape == (3, 400)
    assert_close(fitted.predict(stack), expected)
    for actual, one in zip(fitted.predict(list(stack)), expected, strict=True):
        assert_close(actual, one)
    outputs, states = fitted.predict(stack[:, :200], return_state=True)
    rest = fitted.predict(stack[:, 200:], initial_state=states)
    assert_close(torch.cat([outputs, rest], dim=1), expected)
    reservoir = ee.DiagonalReservoir(30, seed=0).fit(stack)
    states = ee.DiagonalReservoir(30, seed=0).fit(X).transform(X)
    assert_close(reservoir.transform(stack), states)
    out = torch.empty(400, 30, dtype=torch.float64, device=device)
    assert reservoir.transform(stack[1], out=out) is out
    assert_close(out, states[1])


def test_standard_deviations_are_tensors(device):
    X = np.random.default_rng(0).uniform(-1, 1, (300, 1))
    t = torch.tensor(X, device=device)
    outputs, spread = ee.LinearESN(20, seed=0).fit(t, t).predict(t, return_std=True)
    _, expected = ee.LinearESN(20, seed=0).fit(X, X).predict(X, return_std=True)
    assert isinstance(outputs, torch.Tensor)
    assert_close(spread, expected, 1e-4)


def test_many_forecasts_are_one_product_of_tensors(device):
    X = ee.tasks.mso(3, steps=801)
    esn = ee.LinearESN(40, ridge=1e-6, warmup=50, seed=0).fit(X[:-1], X[1:])
    contexts = np.stack([X[i : i + 200] for i in range(0, 500, 50)])
    stack = torch.tensor(contexts, device=device)
    assert_close(esn.forecast(50, context=stack), esn.forecast(50, context=contexts))
    bounds = esn.forecast(5, context=list(stack), interval=0.9)
    assert_close(bounds.upper[3], esn.forecast(5, context=contexts, interval=0.9).upper[3])
    one = esn.forecast(50, context=stack[2])
    assert_close(one, esn.forecast(50, context=contexts[2]))


@pytest.mark.parametrize(
    "options", [{"spectrum": "matrix", "basis": "neuron"}, {"features": "quadratic", "units": 5}]
)
def test_several_contexts_of_loops_that_run_on_the_host(device, options):
    X = ee.tasks.mso(2, steps=301)
    esn = ee.LinearESN(**{"units": 20, "ridge": 1e-2, "seed": 0} | options).fit(X[:-1], X[1:])
    stack = np.stack([X[i : i + 100] for i in range(3)])
    expected = esn.forecast(9, context=stack, clip="features" in options)
    actual = esn.forecast(9, context=torch.tensor(stack, device=device), clip="features" in options)
    assert actual.device == torch.empty(0, device=device).device
    np.testing.assert_array_equal(actual.cpu().numpy(), expected)


def test_forecasts_of_a_stack_do_not_split_it(device, monkeypatch):
    """Splitting a stack of 10 000 series takes longer than their forecasts."""
    X = ee.tasks.mso(2, steps=301)
    esn = ee.LinearESN(20, ridge=1e-8, seed=0).fit(X[:-1], X[1:])
    stack = torch.tensor(np.stack([X[i : i + 100] for i in range(5)]), device=device)
    expected = esn.forecast(9, context=stack)

    def split(tensor, *_):
        raise AssertionError(f"a tensor of shape {tuple(tensor.shape)} was split")

    monkeypatch.setattr(torch.Tensor, "__iter__", split)
    monkeypatch.setattr(torch.Tensor, "unbind", split)
    assert torch.equal(esn.forecast(9, context=stack), expected)


@pytest.mark.skipif(
    os.environ.get("SCIPY_ARRAY_API") != "1", reason="scikit-learn asks for SCIPY_ARRAY_API=1"
)
def test_scikit_learn_pipeline_stays_on_the_device(device):
    X = np.random.default_rng(0).uniform(-1, 1, (500, 1))
    y = np.roll(X[:, 0], 3)
    pipeline = make_pipeline(ee.DiagonalReservoir(30, seed=0), Ridge(solver="svd"))
    expected = pipeline.fit(X, y).predict(X)
    with config_context(array_api_dispatch=True):
        actual = pipeline.fit(*to(device, (X, y))).predict(torch.tensor(X, device=device))
    assert actual.device.type == device.type
    assert_close(actual, expected)


def test_network_fitted_to_tensors_can_be_updated_and_saved(device, tmp_path):
    X = ee.tasks.mso(3, steps=1201)
    t = torch.tensor(X, device=device)
    options = dict(ridge=1e-3, solver="normal", seed=0)
    half = ee.LinearESN(40, **options).fit(t[:600], t[1:601])
    half.save(tmp_path / "half", statistics=True)
    half.partial_fit(t[600:-1], t[601:], initial_state=half.final_state_)
    whole = ee.LinearESN(40, **options).fit(X[:-1], X[1:])
    assert_close(half.predict(t), whole.predict(X), 1e-6)
    loaded = ee.load(tmp_path / "half")
    loaded.partial_fit(X[600:-1], X[601:], initial_state=loaded.final_state_)
    np.testing.assert_allclose(loaded.predict(X), half.predict(t).cpu().numpy(), atol=1e-9)


@pytest.mark.parametrize("options", [{}, {"standardize": True}, {"solver": "normal"}], ids=str)
def test_arrays_are_moved_to_the_device_of_tensors(options, device):
    rng = np.random.default_rng(0)
    X, Y = rng.uniform(-1, 1, (200, 2)), rng.uniform(-1, 1, (200, 2))
    t, s = to(device, (X, Y))
    esn = ee.LinearESN(12, **{"ridge": 1e-3, "seed": 0} | options)
    outputs = esn.fit(X, Y).predict(X)
    for given in ((t, Y), (X, s), (t, Y.tolist())):
        assert_close(clone(esn).fit(*given).predict(t), outputs)
        assert_close(clone(esn).partial_fit(*given).predict(t), outputs)
        actual = ee.search(esn, {"sr": [0.5, 0.9]}, *given)
        np.testing.assert_allclose(
            actual.errors, ee.search(esn, {"sr": [0.5, 0.9]}, X, Y).errors, rtol=1e-8
        )
    model = clone(esn).fit(X, Y).model_
    expected = model.forecast(3, [X, X[:50]])
    for result, one in zip(model.forecast(3, [t, X[:50]]), expected, strict=True):
        assert_close(result, one)
    several = clone(esn).fit([t, X], [Y, s]).predict(t)
    assert_close(several, clone(esn).fit([X, X], [Y, Y]).predict(X))


def test_given_outputs_are_moved_to_the_device_of_inputs(device):
    rng = np.random.default_rng(0)
    X, Y = rng.uniform(-1, 1, (200, 2)), rng.uniform(-1, 1, (200, 2))
    t, s = to(device, (X, Y))
    esn = ee.LinearESN(12, feedback=True, fb_scaling=0.1, ridge=1e-3, seed=0).fit(X, Y)
    mean, deviation = esn.predict(X, y_previous=Y, return_std=True)
    for given in ((t, Y), (X, s)):
        result = esn.predict(given[0], y_previous=given[1], return_std=True)
        assert_close(result[0], mean)
        assert_close(result[1], deviation)


def test_series_without_rows_or_columns_are_rejected(device):
    t = torch.zeros(30, 2, dtype=torch.float64, device=device)
    t[:, 0] = torch.linspace(0, 1, 30)
    esn = ee.LinearESN(10, seed=0).fit(t, t)
    for wrong in (lambda: esn.predict(t[:0]), lambda: esn.fit(t[:0], t[:0])):
        with pytest.raises(ValueError, match=r"X.* 0 (rows|sample)"):
            wrong()
    with pytest.raises(ValueError, match=r"0 (columns|feature)"):
        esn.fit(t[:, :0], t)
    with pytest.raises(ValueError, match=r"y.* 0 (columns|feature)"):
        esn.fit(t, t[:, :0])
    with pytest.raises(ValueError, match="X: got 0 rows in series 0"):
        esn.predict(t[None, :0])
    with pytest.raises(ValueError, match=r"0 (columns|feature)"):
        esn.fit(t[None, :, :0], t[None])
    assert esn.predict(t).shape == (30, 2)


def test_invalid_data_is_reported_on_the_device(device):
    X = np.random.default_rng(0).uniform(-1, 1, (100, 2))
    t = torch.tensor(X, device=device)
    esn = ee.LinearESN(10, seed=0).fit(t, t[:, 0])
    broken = t.clone()
    broken[7, 1] = torch.nan
    with pytest.raises(ValueError, match="NaN in row 7, column 1"):
        esn.predict(broken)
    with pytest.raises(ValueError, match="3 features"):
        esn.predict(torch.zeros(5, 3, dtype=torch.float64, device=device))
    with pytest.raises(ValueError, match="Reshape your data"):
        esn.predict(t[:, 0])
    with pytest.raises(ValueError, match="inconsistent lengths"):
        ee.LinearESN(10, seed=0).fit(t, t[:50, 0])
    loud = ee.DiagonalReservoir(spectrum=[3.0], seed=0).fit(t)
    with pytest.raises(ee.errors.UnstableError, match="states overflowed at step"):
        loud.transform(t.repeat(20, 1))


@pytest.mark.parametrize("solver", ["qr", "normal"])
@pytest.mark.parametrize("ridge", [1e-3, [1e-3, 1.0], "auto"])
def test_missing_targets_of_tensors_are_skipped(ridge, solver, device):
    rng = np.random.default_rng(0)
    X = rng.uniform(-1, 1, (400, 1))
    noisy = X + np.roll(X, 2, axis=0) + 0.1 * rng.normal(size=X.shape)
    y = np.where(np.arange(400)[:, None] % 7, noisy, np.nan)
    apart = np.concatenate([y, np.where(np.arange(400)[:, None] % 5, -noisy, np.nan)], axis=1)
    for targets in (y, apart):
        made = ee.LinearESN(20, missing="skip", solver=solver, ridge=ridge, seed=0)
        arrays = clone(made).fit(X, targets)
        tensors = clone(made).fit(*to(device, (X, targets)))
        assert tensors.ridge_ == pytest.approx(arrays.ridge_, rel=1e-5)
        assert_close(tensors.predict(torch.tensor(X, device=device)), arrays.predict(X), 1e-6)
        np.testing.assert_allclose(
            tensors.noise_covariance_, arrays.noise_covariance_, rtol=1e-5, atol=1e-9
        )
    with pytest.raises(ValueError, match="only NaN"):
        made.fit(*to(device, (X, np.full_like(apart, np.nan))))


@pytest.mark.parametrize("solver", ["qr", "normal"])
def test_partial_fit_on_the_device(solver, device):
    rng = np.random.default_rng(1)
    X = rng.uniform(-1, 1, (900, 1))
    y = X + np.roll(X, 3, axis=0) + 0.1 * rng.normal(size=X.shape)
    t, u = to(device, (X, y))
    made = ee.LinearESN(30, solver=solver, ridge=1e-3, seed=0)
    arrays, tensors = clone(made), clone(made)
    for rows in (slice(0, 400), slice(400, 700), slice(700, 900)):
        arrays.partial_fit(X[rows], y[rows])
        tensors.partial_fit(t[rows], u[rows])
    assert_close(tensors.predict(t), arrays.predict(X), 1e-9)
    np.testing.assert_allclose(tensors.noise_, arrays.noise_, rtol=1e-8)
    mixed = clone(made).partial_fit(X[:400], y[:400])  # on the host, the device, the host
    mixed.partial_fit(t[400:700], u[400:700]).partial_fit(X[700:], y[700:])
    np.testing.assert_allclose(mixed.predict(X), arrays.predict(X), atol=1e-9)


@pytest.mark.parametrize("option", [dict(feedback=True, fb_scaling=0.1), dict(output_to_readout=1)])
def test_given_outputs_keep_a_loop_on_the_device(option, device):
    option = {name: bool(value) if value == 1 else value for name, value in option.items()}
    X = np.random.default_rng(0).uniform(-1, 1, (3, 300, 1))
    y = 0.5 * np.roll(X, 1, axis=1)
    esn = ee.LinearESN(20, ridge=1e-3, seed=0, **option).fit(X, y)
    stack, before = torch.tensor(X, device=device), np.roll(y, 1, axis=1)
    forced = torch.tensor(before, device=device)
    assert_close(esn.predict(stack, y_previous=forced), esn.predict(X, y_previous=before))
    assert_close(
        esn.model_.predict(stack[0], y_previous=forced[0]),
        esn.predict(X[0], y_previous=before[0]),
    )
    outputs, spread = esn.predict(stack, y_previous=forced, return_std=True)
    expected = esn.predict(X, y_previous=before, return_std=True)
    assert_close(outputs, expected[0])
    assert_close(spread, expected[1])
    assert_close(esn.predict(stack), esn.predict(X))


@pytest.mark.parametrize("solver", ["qr", "normal"])
def test_pickle_needs_neither_the_device_nor_torch(solver, device):
    X = ee.tasks.mso(3, steps=600)
    t = torch.tensor(X, device=device)
    esn = ee.LinearESN(30, solver=solver, ridge=1e-3, seed=0).fit(t[:-1], t[1:])
    expected = [part.cpu().numpy() for part in esn.predict(t, return_std=True)]
    kept = pickle.dumps(esn.to(None))
    assert b"torch" not in kept
    for part, other in zip(pickle.loads(kept).predict(X, return_std=True), expected, strict=True):
        np.testing.assert_allclose(part, other, atol=1e-8)


def test_network_on_the_device_can_be_reduced_and_updated(device):
    X = ee.tasks.mso(3, steps=900)
    t = torch.tensor(X, device=device)
    esn = ee.LinearESN(60, ridge=1e-4, warmup=50, seed=0).fit(t[:-1], t[1:])
    small = esn.reduce(units=20)
    assert_close(small.predict(t[:200]), esn.predict(X[:200]), 0.05)
    assert_close(small.forecast(3), small.model_.forecast(3, state=small.final_state_), 1e-12)
    weighed = esn.reduce(units=20, data=(t[:-1], t[1:]))
    assert_close(weighed.predict(t[:200]), esn.predict(X[:200]), 0.05)
    learnt = ee.spectra.from_data(t[:-1], t[1:], units=5)
    assert learnt == ee.spectra.from_data(X[:-1], X[1:], units=5)
    learner = esn.learner()
    assert isinstance(learner.step(t[0], t[1]), torch.Tensor)


def test_steps_and_bounds_are_computed_on_the_device(device):
    X = ee.tasks.mso(3, steps=900)
    t = torch.tensor(X, device=device)
    esn = ee.LinearESN(40, ridge=1e-4, warmup=50, seed=0).fit(t[:-1], t[1:])
    arrays = ee.LinearESN(40, ridge=1e-4, warmup=50, seed=0).fit(X[:-1], X[1:])
    for part, expected in zip(
        esn.forecast(9, interval=0.9), arrays.forecast(9, interval=0.9), strict=True
    ):
        assert part.device.type == device.type
        assert_close(part, expected, 1e-6)
    noise = torch.tensor([[0.04]], dtype=torch.float64, device=device)
    bounds = arrays.model_.forecast(3, t, interval=0.9, noise=noise)
    expected = arrays.model_.forecast(3, X, interval=0.9, noise=0.04)
    assert_close(bounds.upper, expected.upper)
    stream = esn.stream()
    assert_close(stream.step(t[0]), arrays.stream().step(X[0]))
    assert_close(stream.run(t[1:50]), arrays.predict(X[:50])[1:])


def matrix_of(form, rng):
    """Return a stable W that runs in the given form, and the basis to request."""
    N = 40 if form == "sparse" else 12
    W = rng.normal(size=(N, N))
    if form == "sparse":
        W *= rng.uniform(size=(N, N)) < 0.05
        np.fill_diagonal(W, rng.uniform(-1, 1, N))
    W *= 0.8 / np.abs(np.linalg.eigvals(W)).max()
    return W, "eigen" if form == "diagonal" else "neuron"


@pytest.mark.parametrize("dtype", ["float64", "float32"])
@pytest.mark.parametrize("loop", ["open", "feedback", "previous"])
@pytest.mark.parametrize("lr", [0.4, 1.0])
@pytest.mark.parametrize("form", ["diagonal", "dense", "sparse"])
def test_every_form_and_precision_equals_the_textbook_network(form, lr, loop, dtype, device):
    rng = np.random.default_rng([ord(form[0]), len(loop)])
    W, basis = matrix_of(form, rng)
    series = [(rng.normal(size=(T, 2)), rng.normal(size=(T, 2))) for T in (150, 90)]
    ridge = 1e-2
    esn = ee.LinearESN(
        spectrum=W, basis=basis, lr=lr, input_bias=True, feedback=loop == "feedback",
        fb_scaling=0.1, output_to_readout=loop == "previous", ridge=ridge, warmup=10, dtype=dtype,
        seed=1,
    ).fit(*(to(device, part) for part in zip(*series, strict=True)))  # fmt: skip
    assert esn.model_.reservoir.transition.name == form
    drawn = esn.matrices()
    W_in, bias = drawn.W_in / lr, drawn.bias / lr
    W_fb = None if drawn.W_fb is None else drawn.W_fb / lr
    weights = dict(lr=lr, bias=bias, W_fb=W_fb)
    readout = dict(fit_bias=True, output_to_readout=loop == "previous")
    W_out = naive.fit(W, W_in, series, **weights, **readout, warmup=10, alpha=ridge)
    u = rng.normal(size=(80, 2))
    before = None if loop == "open" else rng.normal(size=(80, 2))
    expected = naive.predict(W, W_in, W_out, u, **weights, **readout, y_previous=before)
    asked, forced = torch.tensor(u, device=device), None
    if before is not None:
        forced = torch.tensor(before, device=device)
    digits = 1e-9 if dtype == "float64" else 1e-3
    actual = esn.predict(asked, y_previous=forced)
    assert actual.dtype == getattr(torch, dtype)
    assert_close(actual, expected, digits)
    assert_close(esn.predict(torch.stack([asked, -asked]))[0], esn.predict(u), digits)
    closed = naive.predict(W, W_in, W_out, u, **weights, **readout)
    if np.abs(closed).max() < 100:
        assert_close(esn.predict(asked), closed, digits)
