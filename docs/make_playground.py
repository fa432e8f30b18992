"""Write the generated modules of the playground: ``make playground``.

step.js   one step of a network: the library's specification (``eigenecho.export.step``), translated
          to JavaScript as by ``export``, but with the constants of the network as an argument
data.js   the series of the tasks, and the random numbers that the laws draw with ``seed=0``
cases.js  three networks with the numbers that the library computes for them
"""

from __future__ import annotations

import ast
import json
from pathlib import Path
from typing import Any

import numpy as np

import eigenecho as ee
from eigenecho.export import step
from eigenecho.export.program import NONE
from eigenecho.export.translate import Language, _statements, _Translator
from eigenecho.reservoir import Reservoir
from eigenecho.types import Array

FOLDER = Path(__file__).parent / "_static" / "playground"

JAVASCRIPT = Language("let", "let", "const {name} = new Float64Array({size});", "state.", "c.")

NUMBERS = {"inputs": 1, "drives": 1, "row": 1, "fed_back": 1, "known": 0, "closed": 0, "scratch": 0}
"""Sizes that all networks of the playground share: one input, and modes instead of a matrix."""

PARAMETERS = {
    *("units", "outputs", "first_pair", "values", "pair_re", "pair_im"),
    *("weights", "offset", "readout", "initial_y"),
}
"""Sizes and arrays that are properties of the argument c."""

ROWS = 1700
"""Length of the stored series."""

WARMUP, TRAINED, SHOWN, DELAYS = 100, 600, 200, 60
MEMORY_TRAINED = MEMORY_TESTED = 800
"""Rows of the tasks, as in tasks.js."""

CASES = (
    {"law": "golden", "units": 20, "sr": 0.9, "task": "mso", "ridge": 1e-6},
    {"law": "log_ring", "units": 31, "sr": 0.95, "task": "mackey_glass", "ridge": 1e-6},
    {"law": "ring", "units": 30, "sr": 0.9, "task": "memory", "ridge": 1e-8},
)
"""Networks whose numbers are stored."""

DRAWS = 120
"""Number of stored random numbers; a law draws at most one for each eigenvalue."""


class Parameter:
    """A constant that the translation keeps as a name."""

    shape, size = (), 1


class Parameters:
    """Stands for a ``StepProgram`` whose constants are known when the code runs."""

    def constant(self, name: str) -> Any:
        """Return a number, a name, or an empty array for a part that is missing."""
        return Parameter() if name in PARAMETERS else NUMBERS.get(name, NONE)


class Translator(_Translator):
    """The translator of ``export``, with lengths of arrays as expressions."""

    def visit_Call(self, node: ast.Call) -> ast.expr:
        """Return the length of an array."""
        array = self.visit(node.args[0])
        return ast.Name(f"{array.id}.length")


def translated(function: Any) -> str:
    """Return the body of a function of ``export.step``, as lines of code."""
    lines = Translator(Parameters(), JAVASCRIPT).block(_statements(function))  # type: ignore[arg-type]
    # forecast_step calls the function step, which takes the constants here.
    return "\n".join(f"    {line}".replace("c.step(", "step(c, ") for line in lines)


def step_module() -> str:
    """Return step.js."""
    return f"""\
// Written by `make playground` from src/eigenecho/export/step.py; do not edit.
// c holds the constants of a network, state.r its units, and state.y its last output.

/** Set the initial state. */
export function init(c, state) {{
{translated(step.init)}
}}

/** Take one input row u and write the output y. */
export function step(c, state, u, y) {{
{translated(step.step)}
}}

/** Take the last output as the input and write the next output y. */
export function forecastStep(c, state, y) {{
{translated(step.forecast_step)}
}}
"""


def series() -> dict[str, Array]:
    """Return the stored series and random numbers, rounded as in data.js."""
    glass = ee.tasks.mackey_glass(ROWS)[:, 0]
    noise = np.random.default_rng(1).uniform(-1, 1, ROWS)
    return {
        "MACKEY_GLASS": np.array([float(f"{value:.9g}") for value in glass - glass.mean()]),
        "NOISE": np.array([float(f"{value:.6g}") for value in noise]),
        "DRAWS": np.random.default_rng(0).random(DRAWS),
    }


def data_module() -> str:
    """Return data.js."""
    arrays = {name: texts(values.tolist()) for name, values in series().items()}
    return f"""\
// Written by `make playground`; do not edit.

/** Angular frequencies of the multiple superimposed oscillators. */
export const FREQUENCIES = [{texts(ee.tasks.MSO_FREQUENCIES)}];

/** ee.tasks.mackey_glass({ROWS}) without its mean, to nine digits. */
export const MACKEY_GLASS = new Float64Array([
{arrays["MACKEY_GLASS"]}]);

/** White noise, uniform in [-1, 1], to six digits. */
export const NOISE = new Float64Array([
{arrays["NOISE"]}]);

/** numpy.random.default_rng(0).random({DRAWS}): the random numbers of a law with seed=0. */
export const DRAWS = new Float64Array([
{arrays["DRAWS"]}]);
"""


def cases_module() -> str:
    """Return cases.js."""
    stored = [case | {"expected": expected(case)} for case in CASES]
    return f"""\
// Written by `make playground`; do not edit.

/** Networks, and what the library computes for them in Python. */
export const CASES = {json.dumps(stored)};
"""


def expected(case: dict[str, Any]) -> dict[str, Any]:
    """Return the numbers of a case, computed by the library."""
    spectrum = ee.spectra.law(case["law"])(case["units"], sr=case["sr"], seed=0)
    numbers = {"memory": ee.spectra.memory_curve(spectrum, DELAYS)}
    if case["task"] == "memory":
        u = series()["NOISE"][: WARMUP + MEMORY_TRAINED + MEMORY_TESTED, None]
        y = np.hstack([np.vstack([np.zeros((k, 1)), u[:-k]]) for k in range(1, DELAYS + 1)])
        split = WARMUP + MEMORY_TRAINED
        outputs = fitted(spectrum, u[:split], y[:split], case["ridge"]).predict(u)[split:]
        numbers["measured"] = ee.metrics.squared_correlation(y[split:], outputs)
        return {name: values.tolist() for name, values in numbers.items()}
    rows = TRAINED + SHOWN + 1
    glass = series()["MACKEY_GLASS"][:rows, None]
    u = ee.tasks.mso(5, rows) if case["task"] == "mso" else glass
    model = fitted(spectrum, u[:TRAINED], u[1 : TRAINED + 1], case["ridge"])
    numbers["fit"] = model.predict(u[:-1])[TRAINED:, 0]
    numbers["free"] = model.forecast(SHOWN, context=u[: TRAINED + 1])[:, 0]
    return {name: values.tolist() for name, values in numbers.items()}


def fitted(spectrum: ee.Spectrum, u: Array, y: Array, ridge: float) -> ee.LinearModel:
    """Return a network with input weights √(1 − |λ|²), trained with a ridge on all weights."""
    weights = np.sqrt(1 - np.abs(np.concatenate([spectrum.real, spectrum.pairs])) ** 2)
    count = spectrum.real.size
    W_in = np.concatenate([weights[:count], *([weight, 0] for weight in weights[count:])])
    reservoir = Reservoir(spectrum, W_in[None])
    states = reservoir.scan(reservoir.drive(u, None))[0]
    X = np.column_stack([np.ones(len(u)), states])[WARMUP:]
    root = np.sqrt(ridge) * np.eye(X.shape[1])
    targets = np.vstack([y[WARMUP:], np.zeros((len(root), y.shape[1]))])
    W_out = np.linalg.lstsq(np.vstack([X, root]), targets, rcond=None)[0]
    return ee.LinearModel(reservoir, W_out)


def texts(values: Any) -> str:
    """Return numbers separated by commas, in lines."""
    numbers = [repr(value) for value in values]
    return ",\n".join(",".join(numbers[i : i + 10]) for i in range(0, len(numbers), 10))


MODULES = {"step.js": step_module, "data.js": data_module, "cases.js": cases_module}


def main() -> None:
    """Write the modules."""
    for name, module in MODULES.items():
        path = FOLDER / name
        path.write_text(module(), encoding="utf-8")
        print(f"{path}: {path.stat().st_size / 1000:.1f} kB")


if __name__ == "__main__":
    main()
