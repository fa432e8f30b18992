// Comparison with the library: the stored cases are solved again, here.

import { CASES } from "./cases.js";
import { LAWS, memoryCurve } from "./spectra.js";
import { DELAYS, solve } from "./tasks.js";

/** Return the largest difference of each case from the numbers that Python computed. */
export function compareWithPython() {
    return CASES.map(({ law, units, sr, task, ridge, expected }) => {
        const points = LAWS[law](units, sr);
        const solved = { ...solve(points, task, ridge, 1), memory: memoryCurve(points, DELAYS) };
        const differences = Object.entries(expected).map(([name, values]) =>
            Math.max(...values.map((value, i) => Math.abs(value - solved[name][i]))),
        );
        return { name: `${law}, ${units} units, ${task}`, difference: Math.max(...differences) };
    });
}
