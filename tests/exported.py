"""Random networks, drivers that run exported code, and bounds of rounding errors."""

from __future__ import annotations

import shutil
import subprocess
import warnings
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
import pytest

import eigenecho as ee
from eigenecho.model.export import step_program
from eigenecho.reservoir import Reservoir
from eigenecho.scaling import Scaling

STRICT = ("-std=c99", "-Wall", "-Wextra", "-Wpedantic", "-Werror", "-ffp-contract=off")
SANITIZED = ("-g", "-fsanitize=address,undefined", "-fno-sanitize-recover=all")


def need_program(*names):
    """Return the first of these programs that is installed, or skip the test."""
    for name in names:
        if shutil.which(name):
            return name
    return pytest.skip(f"{' or '.join(names)} is not installed")


# Random networks ------------------------------------------------------------------------------


class Network(NamedTuple):
    """A model, the dtype of its export, its initial state, and inputs (T, D_in)."""

    model: ee.LinearModel
    dtype: str
    state: Any
    rows: np.ndarray

    @property
    def program(self):
        return step_program(self.model, self.dtype, self.state)


KINDS = ("law", "matrix", "dense", "sparse", "defective", "reduced", "generator")


def random_network(seed, steps, largest=300):
    """Return a network with random options. Seven successive seeds draw one of each kind."""
    rng = np.random.default_rng([seed, 28])
    kind = KINDS[seed % len(KINDS)]
    units = int(np.exp(rng.uniform(0, np.log(largest + 1))))
    D_in, D_out = (int(n) for n in rng.integers(1, 4, 2))
    bias, feedback, fit_bias, previous, standardize, start, other = rng.random(7) < 0.5
    u = rng.uniform(-1, 1, (steps, 0 if kind == "generator" else D_in))
    options = {
        "lr": float(rng.choice([1.0, 0.3])),
        "input_bias": bool(bias),
        "feedback": bool(feedback) or kind == "generator",
        "fit_bias": bool(fit_bias),
        "output_to_readout": bool(previous),
    }
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        if kind == "defective":
            model = _converted(units, u, D_out, options, rng)
        else:
            model = _trained(kind, units, u, D_out, options, rng)
    dtype, second = rng.permutation(["float64", "float32"])
    reservoir = model.reservoir
    single = Reservoir(reservoir.transition, *reservoir.weights(lambda A: A.astype(dtype)))
    model = replace(model, reservoir=single, W_out=model.W_out.astype(dtype))
    if standardize:
        inputs, outputs = (_random_scaling(n, rng) for n in (model.D_in, D_out))
        if model.can_forecast and model.D_in:  # of a series as its own input, or loops would grow
            inputs.mean[:D_out] = outputs.mean + 0.1 * outputs.scale
            inputs.scale[:D_out] = 1.1 * outputs.scale
        model = replace(model, inputs=inputs, outputs=outputs)
        u = u * inputs.scale + inputs.mean
    state = None
    if start:
        state = ee.State(rng.normal(size=model.units), model.to_user(rng.normal(size=D_out)))
    return Network(model, str(second if other else dtype), state, u.astype(np.float32))


def _random_scaling(columns, rng):
    scale = 10.0 ** rng.uniform(-3, 3, columns)
    return Scaling(scale * rng.normal(size=columns) * rng.choice([0.0, 1.0, 300.0]), scale)


def _trained(kind, units, u, D_out, options, rng):
    """Return a trained network. Its large ridge keeps closed loops from growing."""
    if kind in ("dense", "sparse", "matrix"):
        options["spectrum"] = "matrix"
        options["basis"] = "eigen" if kind == "matrix" else "neuron"
        options["rc_connectivity"] = {"dense": 1.0, "sparse": 0.1, "matrix": 0.3}[kind]
    esn = ee.LinearESN(units, ridge=100.0, fb_scaling=0.1, seed=int(rng.integers(1000)), **options)
    y = rng.uniform(-1, 1, (len(u), D_out))
    model = esn.fit(u if u.size else None, y + u[:, :1].sum(axis=1, keepdims=True)).model_
    return model.reduce(units=max(1, units // 2)) if kind == "reduced" else model


def _converted(units, u, D_out, options, rng):
    """Return a converted network whose matrix has no eigenbasis."""
    W = np.triu(rng.normal(size=(units, units)) * (rng.random((units, units)) < 0.2), 1)
    W = W / (2 + 2 * np.abs(W).sum(axis=1, keepdims=True))
    W += np.diag(rng.choice([0.5, -0.3], units))
    rows = units + options["fit_bias"] + D_out * options["output_to_readout"]
    return ee.diagonalize(
        W,
        rng.normal(size=(u.shape[1], units)),
        rng.normal(size=(rows, D_out)) * 0.2 / rows,
        0.1 * rng.normal(size=(D_out, units)) if options["feedback"] else None,
        lr=options["lr"],
        bias=rng.normal(size=units) if options["input_bias"] else None,
        readout_bias=options["fit_bias"],
        output_to_readout=options["output_to_readout"],
    )


# Drivers --------------------------------------------------------------------------------------

C_DRIVER = """\
#include <stdio.h>
#include <stdlib.h>
#include "{name}.h"
int main(int count, char **words)
{{
    {name}_state state;
    {name}_real u[{name}_inputs + 1], y[{name}_outputs];
    long steps = atol(words[count - 2]), forecasts = atol(words[count - 1]);
    {name}_init(&state);
    for (long t = 0; t < steps; t++) {{
        if (fread(u, sizeof u[0], {name}_inputs, stdin) != {name}_inputs) return 1;
        {name}_step(&state, u, y);
        fwrite(y, sizeof y[0], {name}_outputs, stdout);
    }}
    fwrite(state.r, sizeof state.r[0], {name}_units, stdout);
    for (long t = 0; t < forecasts; t++) {{
        if (fread(u, sizeof u[0], {known}, stdin) != {known}) return 1;
        {forecast};
        fwrite(y, sizeof y[0], {name}_outputs, stdout);
    }}
    y[0] = {name}_selftest();
    fwrite(y, sizeof y[0], 1, stdout);
    return 0;
}}
"""

JS_DRIVER = """\
import {{ readFileSync, writeFileSync }} from "node:fs";
import * as network from "./network.mjs";
const [steps, forecasts] = process.argv.slice(2).map(Number);
const bytes = new Uint8Array(readFileSync(0));
const given = new {real}(bytes.buffer);
let at = 0;
const take = (count) => given.subarray(at, (at += count));
const parts = [];
const state = network.init();
for (let t = 0; t < steps; t++) parts.push(network.step(state, take(network.inputs)));
parts.push(state.r.slice());
for (let t = 0; t < forecasts; t++) parts.push({forecast});
parts.push({real}.of(network.selftest()));
writeFileSync(1, Buffer.concat(parts.map((part) => Buffer.from({real}.from(part).buffer))));
"""


class Run(NamedTuple):
    """Outputs of steps (T, D_out), the units after them (N,), outputs of a closed loop, a test."""

    outputs: np.ndarray
    units: np.ndarray
    forecasts: np.ndarray
    selftest: float


def compile_c(path, compiler, *flags):
    """Compile an exported network with a driver, and return the program."""
    name, header = path.stem, path.with_suffix(".h").read_text()
    known = 0
    forecast = "(void)0"
    if "_forecast_step" in header:
        forecast = f"{name}_forecast_step(&state, y)"
    if "*known" in header:
        known = int(header.split("known[")[1].split("]")[0])
        forecast = f"{name}_forecast_step(&state, u, y)"
    driver = path.with_name("driver.c")
    driver.write_text(C_DRIVER.format(name=name, known=known, forecast=forecast))
    program = path.with_name(f"driver-{compiler}")
    command = [compiler, *STRICT, *flags, path.name, driver.name, "-o", program.name]
    done = subprocess.run(command, cwd=path.parent, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return [str(program)]


def prepare_javascript(path):
    """Write a driver for an exported module, and return the command that runs it."""
    text = path.read_text()
    path.with_name("network.mjs").write_text(text)
    real = "Float32Array" if "new Float32Array" in text else "Float64Array"
    forecast = "network.forecastStep(state)"
    if "state, known" in text:
        known = int(text.split("known[")[1].split("]")[0])
        forecast = f"network.forecastStep(state, take({known}))"
    driver = path.with_name("driver.mjs")
    driver.write_text(JS_DRIVER.format(real=real, forecast=forecast))
    return ["node", str(driver)]


def run_program(command, program, rows, known):
    """Run a driver on input rows, then in a closed loop with known inputs (H, D_known)."""
    data = rows.astype(program.dtype).tobytes() + known.astype(program.dtype).tobytes()
    command = [*command, str(len(rows)), str(len(known))]
    done = subprocess.run(command, input=data, capture_output=True, check=False)
    assert done.returncode == 0, done.stderr.decode()
    numbers = np.frombuffer(done.stdout, program.dtype)
    T, H, D, N = len(rows), len(known), program.outputs, program.units
    outputs, units, forecasts, test = np.split(numbers, np.cumsum([T * D, N, H * D]))
    return Run(outputs.reshape(T, D), units, forecasts.reshape(H, D), float(test[0]))


def run_reference(reference, rows, known):
    """Run the reference on the same inputs as ``run_program``."""
    dtype = reference.program.dtype
    outputs = np.array([reference.step(row) for row in rows])
    units = np.array(reference.state.r, dtype)
    forecasts = np.array([reference.forecast_step(row) for row in known], dtype)
    return Run(outputs, units, forecasts.reshape(len(known), reference.program.outputs), 0.0)


def assert_same_bits(run, expected):
    for part, other in zip(run[:3], expected[:3], strict=True):
        assert part.dtype == other.dtype
        assert part.tobytes() == other.tobytes()
    assert run.selftest == 0


# Bounds ---------------------------------------------------------------------------------------


class Bound:
    """Bound of the differences between two computations of a step, in the caller's units.

    It is 4 N' eps Σ |w_i r_i| for the readout, and the error of the states for the rest.
    """

    def __init__(self, model, dtype):
        reservoir = model.reservoir
        self.model = model
        coarse = max((np.finfo(d) for d in (dtype, reservoir.dtype)), key=lambda kind: kind.eps)
        self.eps, self.tiny = coarse.eps, coarse.smallest_subnormal
        self.W = np.abs(reservoir.transition.dense)
        self.B = np.abs(reservoir.B.astype(np.float64))
        self.terms = np.count_nonzero(self.W, axis=0) + len(self.B) + 8
        self.readout = [np.abs(np.asarray(part, np.float64)) for part in model.readout[:3]]

    def local_error(self, r, drive):
        """Return the error of each unit in a step from the same state r under a drive."""
        size = np.abs(r) @ self.W + np.abs(drive) @ self.B
        return self.terms * (self.eps * size + self.tiny)

    def of_output(self, r, before, state_error, before_error=0.0):
        """Return the bound for the output of states r (N,) and y(t−1) with these errors."""
        offset, previous, weights = self.readout
        size = offset + np.abs(before) @ previous + weights @ np.abs(r)
        total = 4 * len(self.model.W_out) * (self.eps * size + self.tiny) + weights @ state_error
        total = total + (before_error + 4 * self.eps * np.abs(before)) @ previous
        if self.model.outputs is None:
            return total
        mean, scale = np.abs(self.model.outputs.mean), self.model.outputs.scale
        return scale * (total + 4 * self.eps * size) + 4 * self.eps * mean
