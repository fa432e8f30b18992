$about

export const inputs = $inputs;
export const outputs = $outputs;
export const units = $units;

$constants

/** Return the initial state: the units r and the last output y. To feed back a measured value
 * instead of the last output, assign it to the elements of y. */
export function init() {
@if scratch
    const state = { r: new $real(units), y: new $real(outputs), next: new $real($scratch) };
@end
@if no_scratch
    const state = { r: new $real(units), y: new $real(outputs) };
@end
$init
    return state;
}

@if inputs
/** Take an input row u[$inputs], write the output to y and return it. */
@end
@if generator
/** Write the next output to y and return it. The network has no inputs, so u is not used. */
@end
export function step(state, u, y = new $real(outputs)) {
@if inputs
    if (u.length !== inputs) {
        throw new RangeError(`u has $${u.length} numbers, expected $${inputs}`);
    }
@end
$step
    return y;
}

@if autonomous
/** Closed loop: take the last output as the input, write the next output to y and return it. */
export function forecastStep(state, y = new $real(outputs)) {
$forecast_step
    return y;
}

@end
@if known
/** Closed loop: take the last output as the first inputs and known[$known] as the others, write the
 * next output to y and return it. */
export function forecastStep(state, known, y = new $real(outputs)) {
    if (known.length !== $known) {
        throw new RangeError(`known has $${known.length} numbers, expected $known`);
    }
$forecast_step
    return y;
}

@end
function compare(y, expected, largest) {
    return Math.max(largest, ...y.map((value, e) => Math.abs(value - expected[e])));
}

/** Run the test vector and return the largest difference from the expected outputs. */
export function selftest() {
    const state = init();
    let largest = 0;
    for (let t = 0; t < $test_steps; t++) {
@if generator
        largest = compare(step(state), test_outputs[t], largest);
@end
@if inputs
        largest = compare(step(state, test_inputs[t]), test_outputs[t], largest);
@end
    }
@if test_forecasts
    for (let t = 0; t < $test_forecasts; t++) {
@if autonomous
        largest = compare(forecastStep(state), test_forecasts[t], largest);
@end
@if known
        largest = compare(forecastStep(state, test_known[t]), test_forecasts[t], largest);
@end
    }
@end
    return largest;
}
