// The tasks: what a network is trained on, and what is shown of it.

import { FREQUENCIES, MACKEY_GLASS, NOISE } from "./data.js";
import { forecast, reservoir, run, train } from "./network.js";

const WARMUP = 100, TRAINED = 600, SHOWN = 200;
const MEMORY = { train: 800, test: 800 };

/** Largest delay of the memory curve. */
export const DELAYS = 60;

/** Names of the tasks; those with a series predict its next value and can continue it. */
export const TASKS = {
    mso: { title: "Sum of five sines (MSO5)", series: mso(5, TRAINED + SHOWN + 1) },
    mackey_glass: { title: "Mackey–Glass (chaotic)", series: MACKEY_GLASS },
    memory: { title: "Memory: recall noise" },
};

/** Return the sum of the first k sines at steps 0, 1, … */
export function mso(k, steps) {
    const value = (_, t) => FREQUENCIES.slice(0, k).reduce((sum, w) => sum + Math.sin(w * t), 0);
    return Float64Array.from({ length: steps }, value);
}

/** Train a network on a task and return what the page shows. */
export function solve(points, task, ridge, delay) {
    const { series } = TASKS[task];
    return series ? predictNext(points, series, ridge) : recall(points, ridge, delay);
}

/** Predict the next value of a series, and continue the series without it. */
function predictNext(points, series, ridge) {
    const target = series.subarray(1);
    const c = train(reservoir(points), series, [target.subarray(0, TRAINED)], WARMUP, ridge);
    const { states, outputs } = run(c, series.subarray(0, TRAINED + SHOWN));
    const truth = target.subarray(TRAINED, TRAINED + SHOWN);
    const fit = outputs[0].subarray(TRAINED);
    const free = forecast(c, series.subarray(0, TRAINED + 1), SHOWN);
    return {
        states: states.map((values) => values.subarray(TRAINED)),
        input: series.subarray(TRAINED, TRAINED + SHOWN),
        truth,
        fit,
        error: nrmse(truth, fit),
        free,
        freeError: nrmse(truth, free),
        followed: stepsFollowed(truth, free),
    };
}

/** Recall the input of every delay from white noise. */
function recall(points, ridge, delay) {
    const { train: trained, test } = MEMORY, end = WARMUP + trained + test;
    const delayed = (k) => Float64Array.from({ length: end }, (_, t) => (t < k ? 0 : NOISE[t - k]));
    const targets = Array.from({ length: DELAYS }, (_, k) => delayed(k + 1));
    const first = targets.map((target) => target.subarray(0, WARMUP + trained));
    const c = train(reservoir(points), NOISE, first, WARMUP, ridge);
    const { states, outputs } = run(c, NOISE.subarray(0, end));
    const last = (values) => values.subarray(WARMUP + trained);
    const measured = targets.map((target, k) => squaredCorrelation(last(target), last(outputs[k])));
    const shown = (values) => values.subarray(end - SHOWN, end);
    const truth = shown(targets[delay - 1]), fit = shown(outputs[delay - 1]);
    return {
        states: states.map(shown),
        input: shown(NOISE.subarray(0, end)),
        truth,
        fit,
        error: nrmse(last(targets[delay - 1]), last(outputs[delay - 1])),
        measured,
    };
}

const mean = (values) => values.reduce((sum, value) => sum + value, 0) / values.length;

/** Return the root mean square error, divided by the standard deviation of the truth. */
export function nrmse(truth, values) {
    const center = mean(truth);
    const squares = truth.map((value, t) => (value - values[t]) ** 2);
    return Math.sqrt(mean(squares) / mean(truth.map((value) => (value - center) ** 2)));
}

/** Return the squared correlation of two series. */
export function squaredCorrelation(a, b) {
    const ma = mean(a), mb = mean(b);
    let ab = 0, aa = 0, bb = 0;
    a.forEach((value, t) => {
        ab += (value - ma) * (b[t] - mb);
        aa += (value - ma) ** 2;
        bb += (b[t] - mb) ** 2;
    });
    return aa && bb ? (ab * ab) / (aa * bb) : 0;
}

/** Return the number of steps until an error exceeds half of the standard deviation. */
function stepsFollowed(truth, values) {
    const center = mean(truth);
    const limit = 0.5 * Math.sqrt(mean(truth.map((value) => (value - center) ** 2)));
    const first = truth.findIndex((value, t) => !(Math.abs(value - values[t]) <= limit));
    return first < 0 ? truth.length : first;
}
