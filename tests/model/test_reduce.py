"""Reduced networks meet their error bounds, and keep the properties that must not change."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import crafted
import eigenecho as ee
from eigenecho.errors import IllConditionedWarning, StorageError, UnstableWarning
from eigenecho.model.certificate import Reduction
from eigenecho.model.forecast import closed_loop_radius
from eigenecho.model.weighting import Weighting

NOISE = np.random.default_rng(9)
OPTIONS = {
    "plain": {},
    "identity": {"penalty": "identity", "fit_bias": False},
    "standardized": {"standardize": True},
    "bias": {"input_bias": True},
    "bias, none in the readout": {"input_bias": True, "fit_bias": False},
    "leaky": {"lr": 0.5},
    "previous": {"output_to_readout": True},
    "feedback": {"feedback": True, "fb_scaling": 0.1, "input_bias": True, "standardize": True},
}


def series(columns=2, steps=900, seed=0):
    rng = np.random.default_rng(seed)
    t = np.arange(steps)[:, None]
    waves = np.sin(t * np.array([0.21, 0.33, 0.08])[:columns]) + 0.3 * rng.normal(
        size=(steps, columns)
    )
    return 4.0 + 2.0 * waves


def fitted(columns=2, units=60, **options):
    u = series(columns)
    options = {"sr": 0.9, "warmup": 50, "ridge": 1e-2, "seed": 0} | options
    return ee.LinearESN(units, **options).fit(u[:-1], u[1:])


def own(model, u):
    return u if model.inputs is None else model.inputs.forward(u)


def scaled(model, y):
    return y if model.outputs is None else y / model.outputs.scale


def previous(model, steps, seed=4):
    """Return arbitrary outputs that drive a network with y(t−1)."""
    y = np.random.default_rng(seed).normal(size=(steps, model.D_out))
    return model.to_user(y) if model.closed else None


def ran(model, u, before):
    return model.predict(u) if before is None else model.predict(u, y_previous=before)


@pytest.mark.parametrize("options", OPTIONS.values(), ids=OPTIONS)
@pytest.mark.parametrize("tol", [1e-1, 1e-4, 1e-9])
def test_white_bound_holds_for_unseen_inputs(options, tol):
    model = fitted(**options).model_
    small = model.reduce(tol=tol)
    certificate = small.certificate
    assert small.units < model.units
    assert certificate.weighting == "white"
    assert certificate.gain_error <= certificate.bound <= tol
    assert certificate.probe_error <= certificate.bound
    t = np.arange(2000)[:, None]
    for u in (NOISE.normal(size=(2000, 2)), np.hstack([np.sin(0.3 * t), np.cos(1.2 * t)])):
        u = u if model.inputs is None else model.inputs.backward(u)
        before = previous(model, len(u))
        error = np.linalg.norm(scaled(model, ran(model, u, before) - ran(small, u, before)))
        drive = [own(model, u)]
        if model.reservoir.W_fb is not None:
            drive.append(model.from_user(before))
        size = np.sqrt(sum(np.sum(d**2) for d in drive) + (model.reservoir.bias is not None))
        assert error <= certificate.bound * certificate.gain * size * (1 + 1e-6)


def test_gain_of_the_bound_does_not_exceed_the_true_gain():
    model = fitted(1).model_
    certificate = model.reduce(tol=1e-3).certificate
    fine = np.linspace(0, np.pi, 20001)
    modes = model.spectrum.values
    b = model.reservoir.W_in[0]
    n = model.spectrum.real.size
    weights = model.readout.weights[0]
    b = np.concatenate([b[:n], np.ravel(np.stack([b[n::2] + 1j * b[n + 1 :: 2],
                                                  b[n::2] - 1j * b[n + 1 :: 2]], 1))])  # fmt: skip
    c = (weights[n::2] - 1j * weights[n + 1 :: 2]) / 2
    c = np.concatenate([weights[:n], np.ravel(np.stack([c, c.conj()], 1))])
    gains = np.abs((b * c / (1 - np.exp(-1j * fine)[:, None] * modes)).sum(axis=1))
    assert certificate.gain <= gains.max() * (1 + 1e-6)
    assert certificate.gain >= 0.99 * gains.max()


@pytest.mark.parametrize("options", OPTIONS.values(), ids=OPTIONS)
def test_bound_holds_for_given_and_new_rows(options):
    model = fitted(**options).model_
    u, new = series(), series(seed=1)
    small = model.reduce(tol=1e-3, data=(u[:-1], u[1:]))
    certificate = small.certificate
    assert certificate.weighting == "rows"
    assert max(certificate.rows_error, certificate.held_out_error) == certificate.promise <= 1e-3
    assert small.spectrum.radius < 1
    for rows, slack in ((u, 1.0), (new, 1.5)):
        before = None
        if model.closed:
            zero = model.to_user(np.zeros((1, 2)))
            before = np.concatenate([zero, rows[1:-1]])
        off = ran(model, rows[:-1], before) - ran(small, rows[:-1], before)
        assert np.all(np.sqrt(np.mean(off**2, axis=0)) <= slack * 1e-3 * u[1:].std(axis=0))


def test_row_weighting_needs_fewer_modes_than_white_weighting():
    esn = fitted(1, units=100, sr=0.95)
    u = series(1)
    white = esn.model_.reduce(tol=1e-3).units
    rows = esn.model_.reduce(tol=1e-3, data=u[:-1]).units
    assert rows < white
    assert rows <= esn.reduce(tol=1e-3).units < 100


@pytest.mark.parametrize("solver", ["qr", "normal"])
@pytest.mark.parametrize(
    "options",
    [
        {},
        {"standardize": True},
        {"input_bias": True},
        {"input_bias": True, "fit_bias": False, "standardize": True},
    ],
)
def test_bound_from_statistics_holds_on_training_rows(solver, options):
    esn = fitted(solver=solver, warmup=0, **options)
    small = esn.reduce(tol=1e-4)
    assert small.certificate_.weighting == "statistics"
    assert small.certificate_.promise <= 1e-4
    u = series()
    off = esn.predict(u[:-1]) - small.predict(u[:-1])
    assert np.all(np.sqrt(np.mean(off**2, axis=0)) <= 1.001e-4 * u[1:].std(axis=0))


@pytest.mark.parametrize("solver", ["qr", "normal"])
@pytest.mark.parametrize("level", [0.0, 300.0])
def test_weighting_by_statistics_includes_the_input_bias(solver, level):
    """White weighting would miss tol on these rows, because the targets are much smaller than u."""
    u = level + 10 * ee.tasks.mackey_glass(steps=1000, seed=0)
    u, y = u[:-1], np.diff(u, axis=0)
    options = {"input_bias": True, "fit_bias": False, "solver": solver}
    esn = ee.LinearESN(60, sr=0.95, ridge=1e-4, seed=0, **options).fit(u, y)
    small = esn.reduce(tol=0.03)
    certificate = small.certificate_
    assert (certificate.weighting, certificate.size) == ("statistics", "root mean square")
    error = np.sqrt(np.mean((esn.predict(u) - small.predict(u)) ** 2))
    assert error <= certificate.promise * np.sqrt(np.mean(y**2))
    assert certificate.promise <= 0.03
    rest = np.zeros((3000, 1))
    expected = esn.predict(rest)[-1]
    np.testing.assert_allclose(small.predict(rest)[-1], expected, atol=1e-9 * level + 1e-10)


@pytest.mark.parametrize("options", [{"input_bias": True}, {"input_bias": True, "fit_bias": False}])
def test_static_gain_is_kept_for_any_number_of_modes(options):
    model = fitted(1, **options).model_
    rest = np.zeros((3000, 1))
    for small in (model.reduce(units=2), model.reduce(units=3, data=series(1)[:-1])):
        difference = model.predict(rest)[-1] - small.predict(rest)[-1]
        assert abs(difference) < 1e-10 * abs(model.predict(rest)[-1])


@pytest.mark.parametrize("columns", [1, 2])
def test_loop_radius_before_reduction_equals_that_of_the_network(columns):
    for options in ({}, {"standardize": True}, {"output_to_readout": True, "feedback": True}):
        model = fitted(columns, **options).model_
        certificate = model.reduce(tol=1e-6).certificate
        assert certificate.radius_before == pytest.approx(closed_loop_radius(model), rel=1e-8)
        assert certificate.radius_after == pytest.approx(certificate.radius_before, rel=1e-3)


def test_error_decreases_with_more_units():
    model = fitted(1).model_
    errors = [model.reduce(units=k).certificate.gain_error for k in (2, 6, 12, 24)]
    assert errors == sorted(errors, reverse=True)
    assert model.reduce(units=7).units == 7
    limited = model.reduce(units=40, tol=1e-3)
    assert limited.units == model.reduce(tol=1e-3).units


def test_exact_delay_without_eigenvectors_is_kept():
    u, y = ee.tasks.delayed_recall(1500, [5], seed=0)
    esn = ee.LinearESN(60, sr=0.8, ridge=1e-10, warmup=50, seed=0).fit(u, y)
    small = esn.model_.reduce(tol=1e-3)
    off = esn.model_.predict(u) - small.predict(u)
    assert np.linalg.norm(off) <= 1e-3 * small.certificate.gain * np.linalg.norm(u)
    assert small.certificate.gain_error <= 1e-3


def test_single_precision_is_kept():
    esn = fitted(1, dtype="float32")
    small = esn.model_.reduce(tol=1e-3, data=series(1))
    assert small.reservoir.dtype == small.W_out.dtype == np.float32
    u = series(1)[:-1].astype(np.float32)
    assert np.abs(small.predict(u) - esn.predict(u)).max() < 1e-2


@pytest.mark.parametrize("options", [{}, {"standardize": True, "input_bias": True}])
def test_files_keep_the_network_and_its_certificate(options, tmp_path):
    small = fitted(**options).model_.reduce(tol=1e-4)
    path = tmp_path / "small.safetensors"
    small.save(path)
    loaded = ee.load(path)
    u = series()[:-1]
    assert np.array_equal(loaded.predict(u), small.predict(u))
    assert str(loaded.certificate) == str(small.certificate)
    assert np.array_equal(loaded.certificate.values, small.certificate.values)
    assert loaded.certificate.before == small.certificate.before


@pytest.mark.parametrize(
    "wrong",
    [{"weighting": "grey"}, {"units": 0}, {"gain": -1.0}, {"bound": "low"}, {"steps": None},
     {"more": 1}],
)  # fmt: skip
def test_files_with_another_certificate_are_rejected(wrong, tmp_path):
    path = tmp_path / "wrong.safetensors"
    fitted(1).model_.reduce(units=5).save(path)
    crafted.change_file(path, lambda values, _: values["certificate"].update(wrong))
    with pytest.raises(StorageError):
        ee.load(path)


def test_text_of_certificates():
    esn = fitted(1)
    white, data = esn.model_.reduce(tol=1e-3), esn.reduce(tol=1e-3)
    assert "for every input" in str(white.certificate)
    assert "proven from the rows" in str(data.certificate_)
    rows = str(esn.reduce(tol=1e-3, data=series(1)[:-1]).certificate_)
    assert "measured on the rows" in rows
    assert "held out" in rows
    assert "closed loop" in rows


# Rejected input -----------------------------------------------------------------------------------


def test_other_forms_and_radii_are_rejected_with_a_reason():
    rng = np.random.default_rng(0)
    W, W_in, W_out = 0.2 * rng.normal(size=(6, 6)), np.ones((1, 6)), np.ones((6, 1))
    dense = ee.diagonalize(W, W_in, W_out, form="dense")
    with pytest.raises(ValueError, match=r"dense form.*diagonal form"):
        dense.reduce(tol=1e-3)
    model = fitted(1).model_
    wide = replace(model, basis=None, reservoir=replace(model.reservoir,
                   transition=model.reservoir.transition.times(1.2)))  # fmt: skip
    with pytest.raises(ValueError, match=r"effective radius of 1\.\d+.*radius below 1"):
        wide.reduce(tol=1e-3)


@pytest.mark.parametrize(
    ("asked", "words"),
    [
        ({}, "units, tol"),
        ({"tol": 0.0}, "tol=0.0"),
        ({"tol": 1.0}, "tol=1.0"),
        ({"tol": float("nan")}, "tol=nan"),
        ({"tol": "small"}, "tol='small'"),
        ({"units": 0}, "units=0"),
        ({"units": 2.5}, "units=2.5"),
        ({"units": 61}, "at most 60"),
        ({"units": 2, "tol": 1e-6}, "the error of 2 modes"),
        ({"tol": 1e-3, "data": np.ones((5, 3))}, "data.*1 column"),
        ({"tol": 1e-3, "data": (np.ones((5, 1)), np.ones(4))}, "inconsistent lengths"),
        ({"tol": 1e-3, "data": np.full((5, 1), np.nan)}, "data"),
        ({"tol": 1e-3, "data": np.zeros((0, 1))}, "data: got a series without rows"),
        ({"tol": 1e-3, "data": np.zeros((5, 1))}, "data: got inputs without effect"),
        (
            {"tol": 1e-3, "data": (None, np.ones((5, 1)))},
            "data: got no inputs.*this network has inputs",
        ),
        (
            {"tol": 1e-3, "data": (np.ones((5, 1)), np.full(5, np.nan))},
            "only NaN in column 0",
        ),
        ({"tol": 1e-17}, "tol=1e-17"),
    ],
)
def test_invalid_arguments(asked, words):
    with pytest.raises(ValueError, match=words):
        fitted(1).model_.reduce(**asked)


def test_network_with_feedback_needs_targets():
    with pytest.raises(ValueError, match=r"data.*\(X, y\)"):
        fitted(1, feedback=True).model_.reduce(tol=1e-3, data=series(1)[:-1])


def test_readout_of_zeros_is_rejected():
    model = fitted(1).model_
    with pytest.raises(ValueError, match="inputs without effect"):
        replace(model, W_out=np.zeros_like(model.W_out)).reduce(tol=1e-3)


def test_certificates_are_checked():
    certificate = fitted(1).model_.reduce(units=3).certificate
    with pytest.raises(ValueError, match="values"):
        replace(certificate, values=[[1.0]])
    with pytest.raises(ValueError, match="weighting"):
        replace(certificate, weighting="blue")
    assert isinstance(certificate, Reduction)
    with pytest.raises(ValueError, match="read-only"):
        certificate.values[0] = 0.0


def test_rounding_of_the_smallest_states_does_not_enter_the_loop():
    # The ring has hundreds of singular values, the last of which are rounding.
    u = ee.tasks.mackey_glass(1501, seed=0)
    esn = ee.LinearESN(400, spectrum="ring", sr=0.93, standardize=True, warmup=100, seed=0)
    model = esn.fit(u[:-1], u[1:]).model_
    certificate = model.reduce(units=20).certificate
    assert certificate.radius_before == pytest.approx(closed_loop_radius(model), rel=1e-6)


def test_fewer_units_than_requested_cause_a_warning():
    model = fitted(1, units=100, sr=0.5).model_
    with pytest.warns(
        IllConditionedWarning, match=r"units=99 exceeds the number of usable modes, \d+\. The"
    ):
        small = model.reduce(units=99)
    assert small.units == small.certificate.units < 99


def test_missing_targets_have_no_weight():
    model, u = fitted(1).model_, series(1)
    y = u[1:].copy()
    whole = model.reduce(tol=1e-3, data=(u[:-1], y))
    y[::7] = np.nan
    small = model.reduce(tol=1e-3, data=(u[:-1], y))
    assert small.units == whole.units
    assert small.certificate.promise == pytest.approx(whole.certificate.promise, rel=0.05)
    with pytest.raises(ValueError, match="data: got infinity"):
        model.reduce(tol=1e-3, data=(u[:-1], np.where(np.isnan(y), np.inf, y)))
    with pytest.raises(ValueError, match="data: got NaN"):
        fitted(1, feedback=True).model_.reduce(tol=1e-3, data=(u[:-1], y))


def test_reduced_network_has_no_neuron_basis():
    small = fitted(1).model_.reduce(units=5)
    with pytest.raises(ValueError, match=r"reduced networks have no neuron basis.*basis='work'"):
        small.matrices()
    assert small.matrices("work").W.shape == (5, 5)


def test_values_are_those_that_determined_the_order(monkeypatch):
    """If the rows distinguish too few states, modes are sorted as for white inputs."""
    true = Weighting.error

    def error(weighting, reduced):
        is_white = weighting.balanced is weighting.space.balanced
        return true(weighting, reduced) if is_white else np.inf

    monkeypatch.setattr(Weighting, "error", error)
    model = fitted(1, units=40).model_
    certificate = model.reduce(tol=1e-3, data=series(1)[:-1]).certificate
    assert certificate.weighting == "rows"
    assert certificate.promise <= 1e-3
    white = model.reduce(tol=1e-6).certificate.values
    np.testing.assert_allclose(
        certificate.values[:20] / certificate.values[0], white[:20] / white[0], rtol=1e-6
    )


@pytest.mark.parametrize("seed", range(12))
def test_bounds_from_statistics_hold_for_hard_networks(seed):
    """With a small ridge, weights of 1e5 multiply rounding errors of the reduced modes."""
    rng = np.random.default_rng(seed)
    u = rng.normal(size=(501, 1))
    options = {"lr": 0.7, "sr": 0.99, "ridge": 10.0 ** rng.integers(-12, -9), "seed": seed}
    esn = ee.LinearESN(60, **options).fit(u[:-1], u[1:])
    for tol in (1e-7, 5e-7, 1e-4):
        try:
            small = esn.reduce(tol=tol)
        except ValueError:  # the statistics do not have enough digits
            continue
        error = esn.predict(u[:-1]) - small.predict(u[:-1])
        assert np.sqrt(np.mean(error**2)) <= tol * u[1:].std()


def test_networks_that_cannot_be_reduced_get_no_contradicting_advice():
    rng = np.random.default_rng(0)
    level = 1000 + rng.normal(size=(62, 1))
    options = {"spectrum": "matrix", "lr": 0.4, "sr": 0.5, "dtype": "float32", "ridge": 1e-10}
    esn = ee.LinearESN(60, seed=0, **options).fit(level[:-1], level[1:])
    with pytest.raises(ValueError, match=r"tol.*the error of \d+ modes"):
        esn.reduce(tol=0.01, data=(level[:-1], level[1:]))


def test_reduced_networks_whose_forecasts_grow_are_reported():
    x = ee.tasks.mackey_glass(2001)
    esn = ee.LinearESN(200, ridge=1e-8, warmup=100, seed=0).fit(x[:-1], x[1:])
    with pytest.warns(UnstableWarning, match="closed loop"):
        small = esn.reduce(tol=1e-2, data=(x[:-1], x[1:]))
    assert small.closed_loop_radius_ > 1 > esn.closed_loop_radius_
