"""Conversion of given networks, and the certificate of its accuracy."""

from fractions import Fraction

import numpy as np
import pytest
import scipy.sparse

import eigenecho as ee
import naive
from eigenecho import convert
from eigenecho.errors import IllConditionedWarning
from eigenecho.model import compare
from matrices import DIAGONAL, KINDS, matrix

RNG = np.random.default_rng(5)


def gaussian(N, radius=0.9):
    W = RNG.normal(size=(N, N))
    return W * (radius / np.abs(np.linalg.eigvals(W)).max())


def test_certificate_is_correct():
    N = 60
    W, W_in, W_out = gaussian(N), RNG.normal(size=(2, N)), RNG.normal(size=(N + 1, 3))
    model = ee.diagonalize(W, W_in, W_out)
    certificate = model.certificate
    assert certificate.form == "diagonal"
    assert certificate.condition == pytest.approx(np.linalg.cond(model.basis.Q))
    u = RNG.uniform(-1, 1, (certificate.steps, 2))
    expected = naive.predict(W, W_in, W_out, u)
    measured = np.abs(model.predict(u) - expected).max() / np.abs(expected).max()
    assert measured < 1e-12
    assert certificate.difference < 1e-12
    assert certificate.residual < 1e-13
    for word in ("diagonal", "cond(Q)", "difference", "fewer"):
        assert word in str(certificate)


@pytest.mark.parametrize("previous", [False, True])
@pytest.mark.parametrize("bias", [False, True])
def test_input_to_readout(previous, bias):
    N, D_in, D_out = 20, 2, 1
    W, W_in = gaussian(N), RNG.normal(size=(D_in, N))
    W_out = RNG.normal(size=(bias + previous * D_out + N + D_in, D_out)) / N
    u = RNG.normal(size=(50, D_in))
    before = RNG.normal(size=(50, D_out)) if previous else None
    model = ee.diagonalize(
        W, W_in, W_out, lr=0.7, output_to_readout=previous, input_to_readout=True
    )
    expected = u @ W_out[-D_in:] + naive.predict(
        W, W_in, W_out[:-D_in], u, lr=0.7, fit_bias=bias, output_to_readout=previous,
        y_previous=before,
    )  # fmt: skip
    np.testing.assert_allclose(model.predict(u, y_previous=before), expected, atol=1e-11)
    assert model.readout_bias == bias


def test_leak_of_each_unit():
    N = 12
    W, W_in, W_out = gaussian(N), RNG.normal(size=(1, N)), RNG.normal(size=(N, 1))
    rates = RNG.uniform(0.2, 1, N)
    model = ee.diagonalize(W, W_in, W_out, lr=rates, bias=np.ones(N))
    r, expected = np.zeros(N), []
    u = RNG.normal(size=(40, 1))
    for row in u:
        r = (1 - rates) * r + rates * (r @ W + row @ W_in + 1)
        expected.append(r @ W_out)
    np.testing.assert_allclose(model.predict(u), expected, atol=1e-11)


def test_without_readout_the_outputs_are_the_states():
    W, W_in = gaussian(9), RNG.normal(size=(1, 9))
    u = RNG.normal(size=(30, 1))
    np.testing.assert_allclose(
        ee.diagonalize(W, W_in).predict(u), naive.states(W, W_in, u), atol=1e-12
    )


@pytest.mark.parametrize(
    ("name", "W"),
    [
        ("jordan", np.diag(np.ones(9), 1) + 0.5 * np.eye(10)),
        ("nilpotent", np.diag(np.ones(9), 1)),
        ("zero", np.zeros((4, 4))),
        ("identity", np.eye(4)),
        ("rotation", np.array([[0.6, -0.8], [0.8, 0.6]])),
        ("permutation", np.roll(np.eye(7), 1, axis=1)),
        ("one unit", np.array([[0.5]])),
        ("integers", np.array([[0, 1], [1, 0]])),
        ("booleans", np.eye(3, dtype=bool)),
        ("huge", 1e300 * gaussian(6)),
        ("tiny", 1e-300 * gaussian(6)),
        ("repeated", np.diag([0.5, 0.5, 0.5, -0.2])),
        ("sparse", scipy.sparse.random(80, 80, 0.02, random_state=0, format="csr")),
        ("triangular", np.triu(np.full((30, 30), 0.1))),
        ("radius 3", gaussian(8, 3.0)),
    ],
)
def test_every_matrix_converts(name, W):
    N = W.shape[0]
    W_in, W_out = RNG.normal(size=(1, N)), RNG.normal(size=(N, 1))
    model = ee.diagonalize(W, W_in, W_out)
    u = RNG.normal(size=(1 if name == "huge" else 40, 1))
    dense = W.toarray() if scipy.sparse.issparse(W) else W
    expected = naive.predict(dense, W_in, W_out, u, fit_bias=False)
    np.testing.assert_allclose(model.predict(u), expected, atol=1e-9 * np.abs(expected).max())
    defective = name in ("jordan", "nilpotent", "sparse", "triangular")
    assert (model.certificate.form == "diagonal") == (not defective)
    assert model.certificate.difference < 1e-9


def measured(model, W, W_in, W_out, **network):
    """Return the difference from the original on the certificate's probe, by the textbook loop."""
    u, before = ee.probe(model)
    expected = naive.predict(W, W_in, W_out, u, y_previous=before, **network)
    actual = model.predict(u, y_previous=before)
    return float(np.abs(actual - expected).max() / np.abs(expected).max())


def sweep(kind, N, seed):
    W = matrix(kind, N, seed)
    rng = np.random.default_rng(seed)
    W_in, W_out = rng.uniform(-1, 1, (2, N)), rng.normal(size=(N, 2))
    model = ee.diagonalize(W, W_in, W_out)
    certificate = model.certificate
    assert certificate.steps == 2000
    result = measured(model, W, W_in, W_out, fit_bias=False)
    assert result < 1e-8
    # The two reference solutions differ by rounding.
    assert certificate.difference == pytest.approx(result, rel=0.1, abs=1e-13)
    assert max(certificate.along) == certificate.difference
    if kind in DIAGONAL:
        assert certificate.form == "diagonal"


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("N", [1, 2, 50])
def test_outputs_equal_the_originals_and_the_certificate_is_correct(kind, N):
    sweep(kind, N, 0)


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("kind", KINDS)
def test_outputs_and_certificate_at_300_units(kind, seed):
    sweep(kind, 300, seed)


@pytest.mark.slow
@pytest.mark.parametrize("kind", KINDS)
def test_outputs_and_certificate_at_1000_units(kind):
    sweep(kind, 1000, 0)


@pytest.mark.parametrize("form", ["diagonal", "sparse", "dense"])
@pytest.mark.parametrize("inputs", [False, True])
def test_requested_form_works_with_every_option(form, inputs):
    N, D_in, D_out = 40, 2, 2
    W = matrix("sparse, degree 5", N, 1)
    W_in, W_fb = RNG.normal(size=(D_in, N)), RNG.normal(size=(D_out, N)) / N
    W_out = RNG.normal(size=(1 + D_out + N + D_in * inputs, D_out)) / N
    model = ee.diagonalize(
        W, W_in, W_out, W_fb, lr=0.7, bias=0.3, output_to_readout=True,
        input_to_readout=inputs, form=form,
    )  # fmt: skip
    assert model.certificate.form == form
    assert model.reservoir.transition.name == form
    u, before = RNG.normal(size=(60, D_in)), RNG.normal(size=(60, D_out))
    rows = W_out[: len(W_out) - D_in * inputs]
    network = dict(lr=0.7, bias=np.full(N, 0.3), W_fb=W_fb, output_to_readout=True)
    expected = naive.predict(W, W_in, rows, u, y_previous=before, **network)
    expected = expected + u @ W_out[len(rows) :] if inputs else expected
    np.testing.assert_allclose(model.predict(u, y_previous=before), expected, atol=1e-10)


def test_inaccurate_requested_form_causes_a_warning_with_the_error():
    N = 60
    W, W_in, W_out = matrix("sparse, degree 3", N), np.ones((1, N)), RNG.normal(size=(N, 1))
    with pytest.warns(IllConditionedWarning, match=r"diagonal form.*not accurate.*form='auto'"):
        model = ee.diagonalize(W, W_in, W_out, form="diagonal")
    certificate = model.certificate
    assert certificate.form == "diagonal"
    assert certificate.condition > 1e8
    assert certificate.difference == pytest.approx(
        measured(model, W, W_in, W_out, fit_bias=False), rel=1e-3
    )
    with pytest.raises(ValueError, match=r"form='diagnal'.*Did you mean 'diagonal'"):
        ee.diagonalize(W, W_in, W_out, form="diagnal")


def test_form_that_fails_the_probe_is_not_used(monkeypatch):
    """The probe overrules a form that is accurate according to its conditioning."""
    monkeypatch.setattr(convert, "EXACT", 1e-15)
    W, W_in, W_out = gaussian(40), RNG.normal(size=(1, 40)), RNG.normal(size=(40, 1))
    certificate = ee.diagonalize(W, W_in, W_out).certificate
    assert certificate.form == "dense"
    assert certificate.difference == 0


def test_matrix_with_transient_growth():
    W = np.triu(np.full((60, 60), 1e9))
    np.fill_diagonal(W, 0.9)
    model = ee.diagonalize(W, np.ones((1, 60)), np.ones((60, 1)))
    assert 1 <= model.certificate.steps < 2000
    assert measured(model, W, np.ones((1, 60)), np.ones((60, 1)), fit_bias=False) < 1e-12


FORMS = ["diagonal", "sparse", "dense"]

needs_long_double = pytest.mark.skipif(
    np.finfo(np.longdouble).eps == np.finfo(float).eps, reason="no number has more digits here"
)


def exact(values):
    """Return an array of fractions, whose sums and products are not rounded."""
    return np.vectorize(Fraction, otypes=[object])(values)


@needs_long_double
@pytest.mark.parametrize("form", FORMS)
def test_error_is_the_distance_from_exact_arithmetic(form, monkeypatch):
    steps, N = 12, 6
    monkeypatch.setattr(compare, "PRECISE_STEPS", steps)
    rng = np.random.default_rng(0)
    W, W_in, W_fb = matrix("sparse, degree 3", N, 4), *rng.normal(size=(2, 1, N))
    bias, W_out = rng.normal(size=N), rng.normal(size=(2 + N, 1))
    model = ee.diagonalize(W, W_in, W_out, W_fb, bias=bias, output_to_readout=True, form=form)
    u, before = ee.probe(model)
    r, expected = exact(np.zeros(N)), []
    for a, y in zip(exact(u[:steps]), exact(before[:steps]), strict=True):
        r = r @ exact(W) + a @ exact(W_in) + exact(bias) + y @ exact(W_fb)
        expected.append(np.concatenate([exact([1.0]), y, r]) @ exact(W_out))
    distance = np.abs(exact(model.predict(u, y_previous=before)[:steps]) - expected).max()
    assert model.certificate.error_steps == steps
    assert model.certificate.error > 0
    assert model.certificate.error == pytest.approx(
        float(distance / np.abs(expected).max()), rel=0.01
    )
    assert f"error          {model.certificate.error:.2e}" in str(model.certificate)


@pytest.mark.parametrize("form", ["sparse", "dense"])
def test_unchanged_network_is_not_compared_with_itself(form):
    W = gaussian(20) if form == "dense" else matrix("sparse, degree 2", 20)
    certificate = ee.diagonalize(W, np.ones((1, 20)), np.ones((20, 1)), form=form).certificate
    assert certificate.kept
    assert "difference     none: W is unchanged\n" in str(certificate)
    assert certificate.error is None or 0 < certificate.error < 1e-13


def test_difference_is_measured_if_the_form_of_a_matrix_changes():
    W = gaussian(20)
    certificate = ee.diagonalize(W, np.ones((1, 20)), np.ones((20, 1)), form="sparse").certificate
    assert not certificate.kept
    assert f"difference     {certificate.difference:.2e}  of the largest" in str(certificate)


@needs_long_double
def test_error_of_very_large_networks_is_not_measured(monkeypatch):
    network = gaussian(20), np.ones((1, 20)), np.ones((20, 1))
    monkeypatch.setattr(compare, "PRECISE_WORK", 7 * (400 + 40))
    assert ee.diagonalize(*network).certificate.error_steps == 7
    monkeypatch.setattr(compare, "PRECISE_WORK", 439)
    certificate = ee.diagonalize(*network).certificate
    assert certificate.error is None
    assert "error          not measured\n" in str(certificate)


@pytest.mark.parametrize("radius", [1.1, 1.43, 1.5, 2.0, 10.0, 100.0, 1e3])
@pytest.mark.parametrize("form", ["auto", *FORMS])
@pytest.mark.parametrize("kind", ["dense Gaussian", "sparse, degree 5"])
def test_growing_networks_convert_with_bias_and_feedback(kind, form, radius):
    N = 12
    W = matrix(kind, N, 3)
    W *= radius / np.abs(np.linalg.eigvals(W)).max()
    rng = np.random.default_rng(1)
    W_in, W_fb, bias = rng.normal(size=(1, N)), rng.normal(size=(1, N)), rng.normal(size=N)
    W_out = rng.normal(size=(2 + N, 1))
    network = dict(bias=bias, output_to_readout=True)
    model = ee.diagonalize(W, W_in, W_out, W_fb, **network, form=form)
    certificate = model.certificate
    assert certificate.radius == pytest.approx(radius)
    assert certificate.difference < 1e-9
    assert 2 <= certificate.steps <= 2000
    again = ee.diagonalize(W, W_in, W_out, W_fb, **network, form=form)
    assert str(again.certificate) == str(certificate)
    if kind == "dense Gaussian":
        assert certificate.products_before == N**2 + 4 * N
    assert measured(model, W, W_in, W_out, W_fb=W_fb, **network) < 1e-9


def test_probe_is_always_the_same():
    model = ee.diagonalize(gaussian(5), np.ones((2, 5)), np.ones((5, 1)))
    u, before = ee.probe(model)
    assert u.shape == (2000, 2)
    assert before is None
    np.testing.assert_array_equal(ee.probe(model, 7)[0], u[:7])
    with pytest.raises(ValueError, match="converted network"):
        ee.probe(ee.LinearESN(5, seed=0).fit(u[:50], u[:50]).model_)


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (dict(W=np.ones((2, 3))), r"W[=:].*square"),
        (dict(W=np.ones(3)), r"W[=:].*square"),
        (dict(W=np.array([[None, 1], [1, 1]])), r"W[=:].*real"),
        (dict(W=scipy.sparse.csr_matrix((2, 3))), r"W[=:].*square"),
        (dict(W=np.full((3, 3), np.inf)), r"W[=:].*finite"),
        (dict(W=np.full((3, 3), np.nan)), r"W[=:].*finite"),
        (dict(W=np.ones((3, 3), complex)), r"W[=:].*real"),
        (dict(W=np.array([["a"]])), r"W[=:].*real"),
        (dict(W=np.empty((0, 0))), r"W[=:].*square"),
        (dict(W_in=np.ones((1, 4))), r"W_in[=:].*shape \(D, 3\)"),
        (dict(W_fb=np.ones((2, 3))), r"W_fb[=:].*\(1, 3\), one row for each output"),
        (dict(W_out=np.ones((5, 1))), r"W_out[=:].*3 in total"),
        (dict(W_out=np.ones((3, 1)), readout_bias=True), r"W_out[=:].*4 in total"),
        (dict(W_out=np.full((3, 1), np.inf)), r"W_out[=:].*finite"),
        (dict(lr=0.0), r"lr[=:].*\(0, 1\]"),
        (dict(lr=[0.5, 0.5]), r"lr[=:].*array .3,."),
        (dict(bias=np.ones(2)), r"bias[=:].*shape \(3,\)"),
    ],
)
def test_bad_input_is_rejected_with_a_reason(change, words):
    given = dict(W=np.eye(3) * 0.5, W_in=np.ones((1, 3)), W_out=np.ones((3, 1))) | change
    with pytest.raises(ValueError, match=words):
        ee.diagonalize(**given)


@pytest.mark.parametrize("form", ["diagonal", "sparse", "dense"])
def test_converted_network_forecasts_streams_and_saves(form, tmp_path):
    X = ee.tasks.mso(2, 300)
    esn = ee.LinearESN(30, basis="neuron", spectrum="matrix", warmup=50, seed=0, solver="qr")
    esn.fit(X[:-1], X[1:])
    W, W_in, _, _, W_out = esn.matrices()
    model = ee.diagonalize(W, W_in, W_out, form=form)
    result = model.matrices().W
    np.testing.assert_allclose(
        result.toarray() if scipy.sparse.issparse(result) else result, W, rtol=0, atol=1e-12
    )
    np.testing.assert_allclose(model.forecast(20, X), esn.forecast(20, X), atol=1e-8)
    stream = model.stream()
    np.testing.assert_allclose([stream.step(u) for u in X], model.predict(X), atol=1e-12)
    model.save(tmp_path / "model.safetensors")
    loaded = ee.load(tmp_path / "model.safetensors")
    np.testing.assert_array_equal(loaded.predict(X), model.predict(X))
    assert loaded.certificate == model.certificate


def test_arrays_of_a_file_are_arguments(tmp_path):
    """Files of other languages contain numbers as arrays with one element."""
    W, W_in, W_out = gaussian(12), np.ones((1, 12)), np.ones((13, 1))
    plain = {"W": W, "W_in": W_in, "W_out": W_out}
    np.savez(tmp_path / "network.npz", lr=[0.5], bias=np.array(0.1), **plain)
    model = ee.diagonalize(**np.load(tmp_path / "network.npz"))
    u = RNG.normal(size=(30, 1))
    expected = ee.diagonalize(**plain, lr=0.5, bias=0.1).predict(u)
    np.testing.assert_array_equal(model.predict(u), expected)


@pytest.mark.parametrize("name", ["readout_bias", "output_to_readout", "input_to_readout"])
def test_flags_are_booleans_also_as_read_from_a_file(name, tmp_path):
    W, W_in = np.diag([0.5, -0.5, 0.1]), np.ones((1, 3))
    W_out = np.ones((4, 1))
    np.savez(tmp_path / "network.npz", W=W, W_in=W_in, W_out=W_out, **{name: True})
    read = ee.diagonalize(**np.load(tmp_path / "network.npz"))
    given = ee.diagonalize(W, W_in, W_out, **{name: True})
    np.testing.assert_array_equal(read.W_out, given.W_out)
    for wrong in ("no", 1, np.array([True, False])):
        with pytest.raises(ValueError, match=name):
            ee.diagonalize(W, W_in, W_out, **{name: wrong})


def test_numbers_may_have_one_element_but_no_other_shape():
    W, W_in = np.diag([0.5, -0.5, 0.1]), np.ones((1, 3))
    one = ee.diagonalize(W, W_in, bias=[0.3], lr=[0.5])
    np.testing.assert_array_equal(
        one.reservoir.B, ee.diagonalize(W, W_in, bias=0.3, lr=0.5).reservoir.B
    )
    wrong = {"lr": [np.array([[0.5]]), np.ones(2)], "bias": [[[1, 2], [3]], np.ones(2)]}
    wrong["bias"].append(np.ma.masked_array([1.0], mask=[True]))
    for name, values in wrong.items():
        for value in values:
            with pytest.raises(ValueError, match=name):
                ee.diagonalize(W, W_in, **{name: value})
