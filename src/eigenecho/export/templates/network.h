$about
#ifndef EIGENECHO_${name}_H
#define EIGENECHO_${name}_H

#ifdef __cplusplus
extern "C" {
#endif

typedef $real ${name}_real;

enum { ${name}_inputs = $inputs, ${name}_outputs = $outputs, ${name}_units = $units };

typedef struct {
    ${name}_real r[$units]; /* the units */
    ${name}_real y[$outputs]; /* the last output; assign a measured value to feed it back instead */
@if scratch
    ${name}_real next[$scratch]; /* scratch */
@end
} ${name}_state;

/* Set the initial state. */
void ${name}_init(${name}_state *state);

@if inputs
/* Take an input row u[$inputs] and write the output y[$outputs]. Both may be the same array. */
@end
@if generator
/* Write the next output y[$outputs]. The network has no inputs, so u is not used and may be NULL. */
@end
void ${name}_step(${name}_state *state, const ${name}_real *u, ${name}_real *y);

@if autonomous
/* Closed loop: take the last output as the input, and write the next output y[$outputs]. */
void ${name}_forecast_step(${name}_state *state, ${name}_real *y);

@end
@if known
/* Closed loop: take the last output as the first inputs and known[$known] as the others, and write
 * the next output y[$outputs]. */
void ${name}_forecast_step(${name}_state *state, const ${name}_real *known, ${name}_real *y);

@end
/* Run the test vector and return the largest difference from the expected outputs. */
${name}_real ${name}_selftest(void);

#ifdef __cplusplus
}
#endif

#endif
