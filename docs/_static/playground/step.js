// Written by `make playground` from src/eigenecho/export/step.py; do not edit.
// c holds the constants of a network, state.r its units, and state.y its last output.

/** Set the initial state. */
export function init(c, state) {
    for (let i = 0; i < c.units; i++) {
        state.r[i] = 0.0;
    }
    for (let e = 0; e < c.outputs; e++) {
        state.y[e] = c.initial_y[e];
    }
}

/** Take one input row u and write the output y. */
export function step(c, state, u, y) {
    const drive = new Float64Array(1 + c.outputs);
    /* Write the inputs, and the last output if it is used, in the units of the network. */
    for (let d = 0; d < 1; d++) {
        drive[d] = u[d];
    }
    /* Multiply the modes by their eigenvalues, a pair as one complex number. */
    for (let i = 0; i < c.values.length; i++) {
        state.r[i] = state.r[i] * c.values[i];
    }
    for (let i = 0; i < c.pair_re.length; i++) {
        let p = state.r[c.first_pair + 2 * i];
        let q = state.r[c.first_pair + 2 * i + 1];
        state.r[c.first_pair + 2 * i] = c.pair_re[i] * p - c.pair_im[i] * q;
        state.r[c.first_pair + 2 * i + 1] = c.pair_im[i] * p + c.pair_re[i] * q;
    }
    /* Add the weighted inputs, the last output if there is feedback, and the bias. */
    for (let i = 0; i < c.units; i++) {
        let total = state.r[i];
        for (let d = 0; d < c.weights.length; d++) {
            total = total + drive[d] * c.weights[d][i];
        }
        state.r[i] = total;
    }
    /* Write the output, in the caller's units. */
    for (let e = 0; e < c.outputs; e++) {
        let total = c.offset[e];
        for (let i = 0; i < c.units; i++) {
            total = total + state.r[i] * c.readout[e][i];
        }
        state.y[e] = total;
        y[e] = total;
    }
}

/** Take the last output as the input and write the next output y. */
export function forecastStep(c, state, y) {
    const u = new Float64Array(1);
    for (let e = 0; e < c.outputs; e++) {
        u[e] = state.y[e];
    }
    step(c, state, u, y);
}
