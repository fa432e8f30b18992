"""Exported code agrees with the reference bit for bit, and with a stream up to rounding."""

from __future__ import annotations

from collections import Counter
from operator import attrgetter

import numpy as np
import pytest

from eigenecho.export import Reference
from exported import (
    SANITIZED,
    Bound,
    assert_same_bits,
    compile_c,
    need_program,
    prepare_javascript,
    random_network,
    run_program,
    run_reference,
)

SIZES = "seed", "steps", "largest"
SMALL = [(seed, 50, 40) for seed in (*range(8), 20)]
"""Networks of the fast tests, of at most 40 units: one of each kind, and a sparse one with 26
connections."""

LARGE = [pytest.param(seed, 1000, 300, marks=pytest.mark.slow) for seed in range(200)]
"""Networks of the slow tests, of at most 300 units."""


def known_inputs(network, horizon):
    """Return known inputs (H, D_known) of a closed loop, none if it cannot be closed."""
    known = network.program.known
    if known is None:
        return np.empty((0, 0))
    return np.resize(network.rows[:horizon, network.model.D_out :], (horizon, known))


def check_bits(seed, steps, largest, path, prepare):
    network = random_network(seed, steps, largest)
    report = network.model.export(path, dtype=network.dtype, state=network.state)
    assert report.difference == 0
    program, known = network.program, known_inputs(network, steps // 5)
    expected = run_reference(Reference(program), network.rows, known)
    assert np.isfinite(expected.outputs).all()
    assert np.isfinite(expected.forecasts).all()
    for command in prepare(path):
        assert_same_bits(run_program(command, program, network.rows, known), expected)


@pytest.mark.parametrize(SIZES, SMALL)
def test_c_equals_the_reference(seed, steps, largest, tmp_path):
    compiler = need_program("cc", "gcc", "clang")

    def prepare(path):
        yield compile_c(path, compiler)
        yield compile_c(path, compiler, "-O2")

    check_bits(seed, steps, largest, tmp_path / "network.c", prepare)


@pytest.mark.parametrize(SIZES, LARGE)
@pytest.mark.parametrize("compiler", ["gcc", "clang"])
def test_sanitized_and_optimized_c_equals_the_reference(seed, steps, largest, compiler, tmp_path):
    need_program(compiler)

    def prepare(path):
        yield compile_c(path, compiler, "-O3")
        yield compile_c(path, compiler, "-O1", *SANITIZED)

    check_bits(seed, steps, largest, tmp_path / "network.c", prepare)


@pytest.mark.parametrize(SIZES, [*SMALL, *LARGE])
def test_javascript_equals_the_reference(seed, steps, largest, tmp_path):
    need_program("node")
    path = tmp_path / "network.js"
    check_bits(seed, steps, largest, path, lambda path: [prepare_javascript(path)])


# Streams --------------------------------------------------------------------------------------


def drive_of(model, u, before):
    """Return the columns [u, 1, y(t−1)] that drive the reservoir."""
    constant = [] if model.reservoir.bias is None else [1.0]
    fed_back = [] if model.reservoir.W_fb is None else before
    return np.concatenate([u, constant, fed_back])


def start_together(reference, stream):
    """Put both in the same state, that of the reference in the dtype of the stream; return it."""
    stream.state = reference.state.r, reference.state.y
    for name, part in stream.state._asdict().items():
        part = part.astype(reference.program.dtype)
        setattr(reference.state, name, list(part) if part.dtype == np.float32 else part.tolist())
    return (part.astype(float) for part in stream.state)


@pytest.mark.parametrize(SIZES, [*SMALL, *LARGE])
def test_stream_agrees_up_to_rounding(seed, steps, largest):
    """Compare with a stream that runs by itself, and with one from the same state in each step."""
    network = random_network(seed, steps, largest)
    model, bound = network.model, Bound(network.model, network.dtype)
    reference = Reference(network.program)
    apart, together = model.stream(network.state), model.stream(network.state)
    for row in network.rows:
        r, y = start_together(reference, together)
        u, before = model.own_inputs(row.astype(float)), model.from_user(y)
        drift = np.abs(model.from_user(apart.state.y.astype(float)) - before)
        output = reference.step(row).astype(float)
        states = np.array(reference.state.r, float)
        row = row if model.D_in else None
        local = bound.local_error(r, drive_of(model, u, before))
        assert (np.abs(together.step(row) - output) <= bound.of_output(states, before, local)).all()
        assert (np.abs(together.state.r - states) <= local).all()
        difference = np.abs(apart.step(row) - output)
        error = np.abs(apart.state.r - states)
        assert (difference <= bound.of_output(states, before, error, drift)).all()


@pytest.mark.parametrize(SIZES, [*SMALL, *LARGE])
def test_closed_loop_agrees_with_a_forecast_of_each_step(seed, steps, largest):
    """Compare each step of a closed loop with a forecast of one step from the same state."""
    network = random_network(seed, steps, largest)
    model, bound = network.model, Bound(network.model, network.dtype)
    reference, stream = Reference(network.program), model.stream(network.state)
    D, inputs, outputs = model.D_out, model.inputs, model.outputs
    for known in known_inputs(network, steps // 5):
        r, y = start_together(reference, stream)
        before = model.from_user(y)
        row = np.concatenate([y, known])[: model.D_in]
        u = np.abs(model.own_inputs(row.astype(float)))
        if inputs is not None and len(u):
            # A forecast converts units in its weights: u = y σ_y / σ_u + (μ_y − μ_u) / σ_u.
            u[:D] = np.abs(before * outputs.scale / inputs.scale[:D])
            u[:D] += np.abs((outputs.mean - inputs.mean[:D]) / inputs.scale[:D])
        output = reference.forecast_step(known).astype(float)
        expected = model.forecast(1, inputs=known[None], state=(r, y))[0]
        local = bound.local_error(r, drive_of(model, u, before))
        states = np.array(reference.state.r, float)
        assert (np.abs(expected - output) <= bound.of_output(states, before, local)).all()


def test_random_networks_have_all_forms_and_options():
    networks = [random_network(seed, 2) for seed in range(200)]
    models = [network.model for network in networks]
    forms = Counter(model.reservoir.transition.name for model in models)
    assert min(forms[form] for form in ("diagonal", "dense", "sparse")) >= 10
    for flag in ("closed", "output_to_readout", "readout_bias", "can_forecast"):
        assert 20 < sum(getattr(model, flag) for model in models) < 180
    for part in ("inputs", "certificate", "reservoir.bias", "reservoir.W_fb"):
        assert 20 < sum(attrgetter(part)(model) is None for model in models) < 180
    assert {model.D_in for model in models} == {0, 1, 2, 3}
    assert {model.D_out for model in models} == {1, 2, 3}
    assert {network.dtype for network in networks} == {"float32", "float64"}
    units = [model.units for model in models]
    assert min(units) == 1
    assert 250 < max(units) <= 300
