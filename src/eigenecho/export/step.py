"""The specification of an exported network: its order of operations, in plain Python.

``reference`` runs these functions, and ``translate`` writes the same statements in C and
JavaScript. Each operation is rounded to the dtype of the network, and sums are computed from left
to right, so that the results in all three languages agree bit for bit.

``c`` contains the constants (``program.StepProgram``), ``state.r`` the units, and ``state.y`` the
last output in the caller's units. Conditions and bounds of loops depend on ``c`` only and are
resolved by the translation: ``if c.bias:`` is true if the network has a bias. The functions may use
loops over ranges, assignments, +, −, *, / and calls of each other with arguments of the same names.
An annotation declares a variable.
"""

from __future__ import annotations

from typing import Any


def init(c: Any, state: Any) -> None:
    """Set the initial state."""
    for i in range(c.units):
        if c.initial_r:
            state.r[i] = c.initial_r[i]
        else:
            state.r[i] = 0.0
    for e in range(c.outputs):
        state.y[e] = c.initial_y[e]


def step(c: Any, state: Any, u: Any, y: Any) -> None:
    """Take one input row u and write the output y."""
    drive: list[float] = [0.0] * (c.inputs + c.outputs)
    standardize(c, state, u, drive)
    if c.scratch:
        multiply_matrix(c, state)
    else:
        advance_modes(c, state)
    add_drive(c, state, drive)
    read_out(c, state, drive, y)


def forecast_step(c: Any, state: Any, known: Any, y: Any) -> None:
    """Take a step with the last output as the first inputs and known values as the others."""
    if c.inputs:
        u: list[float] = [0.0] * c.inputs
        for e in range(c.outputs):
            u[e] = state.y[e]
        for d in range(c.known):
            u[c.outputs + d] = known[d]
        step(c, state, u, y)
    else:
        step(c, state, y, y)


def standardize(c: Any, state: Any, u: Any, drive: Any) -> None:
    """Write the inputs, and the last output if it is used, in the units of the network."""
    for d in range(c.inputs):
        drive[d] = u[d]
        if c.input_scale:
            drive[d] -= c.input_mean[d]
            if c.input_mean_low:
                drive[d] -= c.input_mean_low[d]
            drive[d] /= c.input_scale[d]
    if c.closed:
        for e in range(c.outputs):
            drive[c.inputs + e] = state.y[e]
            if c.output_scale:
                drive[c.inputs + e] -= c.output_mean[e]
                if c.output_mean_low:
                    drive[c.inputs + e] -= c.output_mean_low[e]
                drive[c.inputs + e] /= c.output_scale[e]


def advance_modes(c: Any, state: Any) -> None:
    """Multiply the modes by their eigenvalues, a pair as one complex number."""
    for i in range(len(c.values)):
        state.r[i] *= c.values[i]
    for i in range(len(c.pair_re)):
        p: float = state.r[c.first_pair + 2 * i]
        q: float = state.r[c.first_pair + 2 * i + 1]
        state.r[c.first_pair + 2 * i] = c.pair_re[i] * p - c.pair_im[i] * q
        state.r[c.first_pair + 2 * i + 1] = c.pair_im[i] * p + c.pair_re[i] * q


def multiply_matrix(c: Any, state: Any) -> None:
    """Multiply the units by their matrix."""
    for i in range(c.units):
        total: float = 0.0
        if c.dense:
            for j in range(c.units):
                total += state.r[j] * c.dense[i][j]
        else:
            for k in range(c.starts[i], c.starts[i + 1]):
                total += state.r[c.sources[k]] * c.connections[k]
        state.next[i] = total
    for i in range(c.units):
        state.r[i] = state.next[i]


def add_drive(c: Any, state: Any, drive: Any) -> None:
    """Add the weighted inputs, the last output if there is feedback, and the bias."""
    for i in range(c.units):
        total: float = state.r[i]
        for d in range(len(c.weights)):
            total += drive[d] * c.weights[d][i]
        if c.bias:
            total += c.bias[i]
        state.r[i] = total


def read_out(c: Any, state: Any, drive: Any, y: Any) -> None:
    """Write the output, in the caller's units."""
    for e in range(c.outputs):
        total: float = c.offset[e]
        if c.previous:
            for j in range(c.outputs):
                total += drive[c.inputs + j] * c.previous[e][j]
        for i in range(c.units):
            total += state.r[i] * c.readout[e][i]
        if c.output_scale:
            total *= c.output_scale[e]
            if c.output_mean_low:
                total += c.output_mean_low[e]
            total += c.output_mean[e]
        state.y[e] = total
        y[e] = total
