$about
#ifndef EIGENECHO_${NAME}_H
#define EIGENECHO_${NAME}_H

#ifdef __cplusplus
extern "C" {
#endif

typedef $real ${name}_real;

enum { ${name}_inputs = $inputs, ${name}_outputs = $outputs, ${name}_units = $units };

typedef struct {
    ${name}_real r[$units]; /* the units */
    ${name}_real y[$outputs]; /* the last output; assign a measured value to feed that back */
@if block
    ${name}_real next[$block]; /* scratch */
@end
} ${name}_state;

/* Set the initial state. */
void ${name}_init(${name}_state *state);

/* Take an input row u[$inputs] and write the output y[$outputs]; both may be the same array. */
void ${name}_step(${name}_state *state, const ${name}_real *u, ${name}_real *y);

@if autonomous
/* Take the last output as the input, and write the next output y[$outputs]. */
void ${name}_forecast_step(${name}_state *state, ${name}_real *y);

@end
@if known
/* Take the last output as the first inputs and known[$known] as the others, and write the next
 * output y[$outputs]. */
void ${name}_forecast_step(${name}_state *state, const ${name}_real *known, ${name}_real *y);

@end
/* Run the test vector, and return the largest difference from its outputs, or NaN. */
${name}_real ${name}_selftest(void);

#ifdef __cplusplus
}
#endif

#endif
