// Networks of the playground: one input, and a readout of the modes. Steps are those of the library.

import { leastSquares } from "./least_squares.js";
import { realFirst, unitCount } from "./spectra.js";
import { forecastStep, init, step } from "./step.js";

/** Return the constants of an untrained network.
 *
 * The input weight of a mode is √(1 - |λ|²), so that white noise excites all modes equally. */
export function reservoir(points) {
    const ordered = realFirst(points), pairs = ordered.filter((point) => point.im);
    const weight = ({ re, im }) => Math.sqrt(1 - re * re - im * im);
    return {
        units: unitCount(points),
        outputs: 0,
        values: Float64Array.from(ordered.filter((point) => !point.im), (point) => point.re),
        pair_re: Float64Array.from(pairs, (point) => point.re),
        pair_im: Float64Array.from(pairs, (point) => point.im),
        first_pair: ordered.length - pairs.length,
        weights: [Float64Array.from(ordered.flatMap((p) => (p.im ? [weight(p), 0] : [weight(p)])))],
        offset: new Float64Array(0),
        readout: [],
        initial_y: new Float64Array(0),
    };
}

/** Run a network over inputs; return its states, one array per unit, its outputs and its state. */
export function run(c, inputs) {
    const state = { r: new Float64Array(c.units), y: new Float64Array(c.outputs) };
    const states = Array.from(state.r, () => new Float64Array(inputs.length));
    const outputs = Array.from(state.y, () => new Float64Array(inputs.length));
    const u = new Float64Array(1), y = new Float64Array(c.outputs);
    init(c, state);
    for (let t = 0; t < inputs.length; t++) {
        u[0] = inputs[t];
        step(c, state, u, y);
        states.forEach((values, i) => (values[t] = state.r[i]));
        outputs.forEach((values, e) => (values[t] = y[e]));
    }
    return { states, outputs, state };
}

/** Return the constants of a network trained on rows `warmup` to the end of the targets. */
export function train(c, inputs, targets, warmup, ridge) {
    const rows = targets[0].length;
    const { states } = run(c, inputs.subarray(0, rows));
    const columns = [new Float64Array(rows - warmup).fill(1), ...states.map((s) => s.subarray(warmup))];
    const weights = leastSquares(columns, targets.map((target) => target.subarray(warmup)), ridge);
    return {
        ...c,
        outputs: targets.length,
        offset: Float64Array.from(weights, (w) => w[0]),
        readout: weights.map((w) => w.subarray(1)),
        initial_y: new Float64Array(targets.length),
    };
}

/** Continue a series for `horizon` steps: each output becomes the next input. */
export function forecast(c, inputs, horizon) {
    const { state } = run(c, inputs), y = new Float64Array(1);
    const result = new Float64Array(horizon);
    result[0] = state.y[0];
    for (let t = 1; t < horizon; t++) {
        forecastStep(c, state, y);
        result[t] = y[0];
    }
    return result;
}
