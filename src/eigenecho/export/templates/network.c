$about
#include "$name.h"

#include <stddef.h>
#include <stdint.h>

/* Fails to compile, as an array of negative size, unless $real has $bytes bytes. */
typedef char ${name}_size_of_$real[sizeof($real) == $bytes ? 1 : -1];

$constants

void ${name}_init(${name}_state *state)
{
$init
}

void ${name}_step(${name}_state *state, const ${name}_real *u, ${name}_real *y)
{
@if generator
    (void)u;
@end
$step
}

@if autonomous
void ${name}_forecast_step(${name}_state *state, ${name}_real *y)
{
$forecast_step
}

@end
@if known
void ${name}_forecast_step(${name}_state *state, const ${name}_real *known, ${name}_real *y)
{
$forecast_step
}

@end
/* Update the largest difference, which becomes NaN if an output is NaN. */
static void ${name}_compare(
    const ${name}_real *y, const ${name}_real *expected, ${name}_real *largest)
{
    for (size_t e = 0; e < $outputs; e++) {
        ${name}_real difference = y[e] < expected[e] ? expected[e] - y[e] : y[e] - expected[e];
        if (difference > *largest || difference != difference) {
            *largest = difference;
        }
    }
}

${name}_real ${name}_selftest(void)
{
    ${name}_state state;
    ${name}_real y[$outputs] = {0};
    ${name}_real largest = 0;
    ${name}_init(&state);
    for (size_t t = 0; t < $test_steps; t++) {
@if generator
        ${name}_step(&state, y, y);
@end
@if inputs
        ${name}_step(&state, ${name}_test_inputs[t], y);
@end
        ${name}_compare(y, ${name}_test_outputs[t], &largest);
    }
@if test_forecasts
    for (size_t t = 0; t < $test_forecasts; t++) {
@if autonomous
        ${name}_forecast_step(&state, y);
@end
@if known
        ${name}_forecast_step(&state, ${name}_test_known[t], y);
@end
        ${name}_compare(y, ${name}_test_forecasts[t], &largest);
    }
@end
    return largest;
}
