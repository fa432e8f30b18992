// Eigenvalues: the laws of eigenecho.spectra with seed=0, and the exact memory curve.
// A spectrum is a list of points {re, im}: im = 0 is a real eigenvalue, and im > 0 is a conjugate
// pair, which counts as two units.

import { DRAWS } from "./data.js";

export const LAWS = { golden, ring, log_ring: logRing, uniform, time_constants: timeConstants };

/** Return the number of units of a spectrum. */
export function unitCount(points) {
    return points.reduce((total, point) => total + (point.im ? 2 : 1), 0);
}

/** Return points with the real eigenvalues first, the order of the states. */
export function realFirst(points) {
    return [...points.filter((point) => !point.im), ...points.filter((point) => point.im)];
}

const real = (value) => ({ re: value, im: 0 });
const polar = (modulus, angle) => ({ re: modulus * Math.cos(angle), im: modulus * Math.sin(angle) });
const scaled = (points, factor) => points.map(({ re, im }) => ({ re: re * factor, im: im * factor }));

/** The number of real eigenvalues of a random matrix, at the parity of n. */
function realCount(n) {
    const count = Math.floor(Math.sqrt(Math.floor((2 * n) / Math.PI)));
    return count + ((n - count) % 2);
}

/** Pairs on a sunflower spiral, which cover the half disc evenly. */
function golden(n, sr) {
    const count = realCount(n), m = (n - count) / 2, start = 2 * DRAWS[count];
    const points = Array.from({ length: count }, (_, i) => real(2 * DRAWS[i] - 1));
    for (let k = 1; points.length < count + m; k++) {
        const v = (start + k * (3 - Math.sqrt(5))) % 2;
        if (v > 0 && v < 1) points.push(polar(Math.sqrt(k / (2 * m)), Math.PI * v));
    }
    const radius = Math.max(...points.map(({ re, im }) => Math.hypot(re, im)));
    return scaled(points, sr / radius);
}

/** Random points, uniform in the disc. */
function uniform(n, sr) {
    const count = realCount(n), m = (n - count) / 2;
    const points = Array.from({ length: count }, (_, i) => real(2 * DRAWS[i] - 1));
    for (let i = 0; i < m; i++) {
        const modulus = Math.sqrt(DRAWS[count + i]);
        points.push(polar(modulus, Math.PI * (1 - DRAWS[count + m + i])));
    }
    return scaled(points, sr);
}

/** Points evenly spaced on a circle. */
function ring(n, sr) {
    const points = [real(sr)];
    if (n % 2 === 0) points.push(real(-sr));
    for (let k = 1; k < n / 2; k++) points.push(polar(sr, (2 * Math.PI * k) / n));
    return points;
}

/** Pairs with geometrically spaced time constants, at multiples of the golden angle. */
function logRing(n, sr) {
    const m = Math.floor(n / 2), modulus = moduli(Math.max(m, 1), sr);
    const margin = Math.PI / (4 * Math.max(m, 1));
    const points = n % 2 ? [real(sr)] : [];
    for (let k = 0; k < m; k++) {
        const angle = (Math.PI * DRAWS[0] + ((Math.PI * (Math.sqrt(5) - 1)) / 2) * k) % Math.PI;
        points.push(polar(modulus[k], Math.min(Math.max(angle, margin), Math.PI - margin)));
    }
    return points;
}

/** Real points with geometrically spaced time constants. */
function timeConstants(n, sr) {
    return moduli(n, sr).map(real);
}

/** Return exp(-1/tau) for n time constants from -1/ln(sr) to 1 step, the slowest first. */
function moduli(n, sr) {
    const longest = -1 / Math.log(sr);
    const shortest = longest < 1 ? Math.max(longest ** 2, 1e-3) : 1;
    const ratio = n > 1 ? (shortest / longest) ** (1 / (n - 1)) : 1;
    return Array.from({ length: n }, (_, k) => Math.exp(-1 / (longest * ratio ** k)));
}

/** Return the exact memory capacity of delays 0 to `delays`, as eigenecho.spectra.memory_curve. */
export function memoryCurve(points, delays) {
    const curve = new Float64Array(delays + 1);
    const passed = { re: new Float64Array(delays + 1), im: new Float64Array(delays + 1) };
    passed.re[0] = 1;
    const values = points.flatMap(({ re, im }) => (im ? [[re, im], [re, -im]] : [[re, 0]]));
    for (const [a, b] of values) {
        const gain = 1 - a * a - b * b;
        let modeRe = 0, modeIm = 0, delayedRe = 0, delayedIm = 0;
        for (let k = 0; k <= delays; k++) {
            const re = a * modeRe - b * modeIm + passed.re[k];
            const im = b * modeRe + a * modeIm + passed.im[k];
            curve[k] += gain * (re * re + im * im);
            // The all-pass filter of this mode, which the next ones are driven by.
            passed.re[k] = delayedRe - (a * re + b * im);
            passed.im[k] = delayedIm - (a * im - b * re);
            modeRe = delayedRe = re;
            modeIm = delayedIm = im;
        }
    }
    return curve;
}
