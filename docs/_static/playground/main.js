// The page of the playground: controls, the disc and the charts.

import { compareWithPython } from "./check.js";
import { LIMIT, Disc, allowed } from "./disc.js";
import { LAWS, memoryCurve, realFirst, unitCount } from "./spectra.js";
import { drawChart, rangeOf } from "./svg.js";
import { DELAYS, TASKS, solve } from "./tasks.js";

const TITLES = {
    golden: "golden: evenly in the disk",
    ring: "ring: on a circle",
    log_ring: "log_ring: short to long time constants",
    uniform: "uniform: random in the disk",
    time_constants: "time_constants: real, no oscillation",
};
const MOST = 60;

const options = (names) =>
    Object.entries(names).map(([name, title]) => `<option value="${name}">${title}</option>`).join("");
const slider = (name, title, low, high, step, value) => `
    <label><span>${title} <b data-of="${name}"></b></span>
    <input type="range" name="${name}" min="${low}" max="${high}" step="${step}" value="${value}"></label>`;
const chart = (name, title, full) => `
    <figure${full ? ' class="full"' : ""} data-chart="${name}"><figcaption>${title}</figcaption>
    <svg role="img"></svg></figure>`;

const PAGE = `
<form class="controls" aria-label="Network and task">
  <label><span>Task</span><select name="task">${options(Object.fromEntries(
      Object.entries(TASKS).map(([name, { title }]) => [name, title])))}</select></label>
  <label><span>Law of the eigenvalues</span><select name="law">${options(TITLES)}
    <option value="own" hidden>my own</option></select></label>
  ${slider("units", "Units", 2, MOST, 1, 20)}
  ${slider("sr", "Spectral radius", 0.1, LIMIT, 0.001, 0.9)}
  <span class="full">${slider("ridge", "Ridge", -12, 0, 1, -10)}</span>
  <span class="full" data-only="memory">${slider("delay", "Delay shown", 1, DELAYS, 1, 10)}</span>
</form>
<div class="plane">
  <svg class="plane-disc" tabindex="0" role="application" aria-roledescription="unit disk with eigenvalues"></svg>
  <p class="hint">Drag an eigenvalue. Keys: arrows move it (Shift: faster), Page Up and Page Down select another.</p>
  <div class="editor full">
    <label><span>Eigenvalue</span><select name="selected"></select></label>
    <label><span>Modulus</span><input type="number" name="modulus" min="0" max="${LIMIT}" step="0.01"></label>
    <label><span>Angle (rad)</span><input type="number" name="angle" min="0" max="3.142" step="0.01"></label>
    <span class="buttons">
      <button type="button" name="pair">Add pair</button>
      <button type="button" name="real">Add real</button>
      <button type="button" name="remove">Remove</button>
    </span>
    <p class="meaning"></p>
  </div>
</div>
<div class="charts">
  ${chart("states", '<span class="key state">Selected mode</span> (scaled) and <span class="key truth">input</span>', true)}
  ${chart("memory", 'Memory capacity by delay: <span class="key exact">exact</span><span data-only="memory">, <span class="key measured">measured</span></span>')}
  ${chart("fit", '<span data-only="series">Next step</span><span data-only="memory">Recall</span>: <span class="key truth">truth</span>, <span class="key fit">output</span>', true)}
  ${chart("free", 'Free run: <span class="key truth">truth</span>, <span class="key free">forecast</span>')}
</div>
<p class="summary" role="status" aria-live="polite"></p>
<p class="full"><button type="button" name="check">Compare with Python</button> <span class="checked" role="status"></span></p>`;

/** A playground inside an element. With the attribute data-compact, only a part is shown. */
class Playground {
    constructor(root) {
        root.innerHTML = PAGE;
        this.root = root;
        this.fields = root.querySelector("form").elements;
        this.editor = Object.fromEntries(
            [...root.querySelectorAll(".plane [name], [name=check]")].map((field) => [field.name, field]));
        this.disc = new Disc(root.querySelector(".plane-disc"), (what) => this.edited(what));
        root.querySelector("form").addEventListener("input", (event) => this.changed(event.target.name));
        root.querySelector("form").addEventListener("submit", (event) => event.preventDefault());
        this.editor.selected.addEventListener("change", () => this.disc.select(Number(this.editor.selected.value)));
        for (const name of ["modulus", "angle"]) {
            this.editor[name].addEventListener("change", () => this.type());
        }
        this.editor.pair.addEventListener("click", () => this.add(allowed(0.5, 0.5, true)));
        this.editor.real.addEventListener("click", () => this.add(allowed(0.5, 0, false)));
        this.editor.remove.addEventListener("click", () => this.remove());
        this.editor.check.addEventListener("click", () => this.check());
        new ResizeObserver(() => this.request()).observe(root);
        this.changed("law");
    }

    get settings() {
        const { task, law, units, sr, ridge, delay } = this.fields;
        return {
            task: task.value, law: law.value, units: Number(units.value), sr: Number(sr.value),
            ridge: 10 ** Number(ridge.value), delay: Number(delay.value),
        };
    }

    /** Take a change of the controls. */
    changed(name) {
        const { law, units, sr } = this.settings;
        if (["law", "units", "sr"].includes(name)) {
            if (law === "own") this.fields.law.value = "golden";
            const points = realFirst(LAWS[this.fields.law.value](units, sr));
            const moduli = points.map(({ re, im }) => Math.hypot(re, im) + (im > 0));
            this.disc.show(points, moduli.indexOf(Math.max(...moduli)));
            this.describePoints();
        }
        this.request();
    }

    /** Take a change in the disc. */
    edited(what) {
        if (what !== "selected") this.fields.law.value = "own";
        this.describePoints();
        this.request();
    }

    type() {
        const { modulus, angle } = this.editor;
        const point = this.disc.points[this.disc.selected];
        const rho = Number(modulus.value), theta = Number(angle.value);
        this.disc.move(point.im ? rho * Math.cos(theta) : rho * (theta > Math.PI / 2 ? -1 : 1), rho * Math.sin(theta));
    }

    add(point) {
        if (unitCount([...this.disc.points, point]) > MOST) return;
        const points = realFirst([...this.disc.points, point]);
        this.disc.show(points, points.indexOf(point));
        this.edited("added");
    }

    remove() {
        if (this.disc.points.length < 2) return;
        this.disc.show(this.disc.points.filter((_, i) => i !== this.disc.selected));
        this.edited("removed");
    }

    /** Describe the eigenvalues in words and numbers. */
    describePoints() {
        const { points, selected } = this.disc, { re, im } = points[selected];
        const modulus = Math.hypot(re, im), angle = im ? Math.atan2(im, re) : re < 0 ? Math.PI : 0;
        const names = points.map((point, i) => `${i + 1}: ${point.im ? "pair" : "real"}`);
        this.editor.selected.innerHTML = options(Object.fromEntries(names.map((name, i) => [`${i}`, name])));
        this.editor.selected.value = String(selected);
        this.editor.modulus.value = modulus.toFixed(3);
        this.editor.angle.value = angle.toFixed(3);
        this.editor.angle.disabled = !im && re === 0;
        const constant = modulus > 0 ? -1 / Math.log(modulus) : 0;
        const meaning = `Decays to 1/e in ${short(constant)} steps` +
            (angle > 0.001 ? `, period ${short((2 * Math.PI) / angle)} steps.` : ", without oscillation.");
        this.root.querySelector(".meaning").textContent = meaning;
        this.disc.svg.setAttribute("aria-label", `Eigenvalue ${names[selected]}, modulus ${short(modulus)}, angle ${short(angle)} rad. ${meaning}`);
    }

    /** Update the page once, after all changes of this moment. */
    request() {
        clearTimeout(this.requested);
        this.requested = setTimeout(() => this.update());
    }

    update() {
        const { points, selected } = this.disc, { task, ridge, delay } = this.settings;
        const units = unitCount(points), compact = this.root.hasAttribute("data-compact");
        const isMemory = task === "memory";
        const solved = solve(points, task, ridge, delay);
        const curve = memoryCurve(points, DELAYS);
        const outputs = {
            units: units, sr: short(Math.max(...points.map(({ re, im }) => Math.hypot(re, im)))),
            ridge: ridge.toExponential(0), delay,
        };
        for (const output of this.root.querySelectorAll("[data-of]")) {
            output.textContent = outputs[output.dataset.of];
        }
        for (const part of this.root.querySelectorAll("[data-only]")) {
            part.hidden = (part.dataset.only === "memory") !== isMemory;
        }
        this.find("free").hidden = isMemory;
        // The states of reals come first, then two for each pair.
        const place = points.slice(0, selected).reduce((sum, point) => sum + (point.im ? 2 : 1), 0);
        const state = solved.states[place], size = Math.max(...state.map(Math.abs)) || 1;
        const extent = Math.max(...solved.input.map(Math.abs));
        const scaled = state.map((value) => (value / size) * extent);
        const range = rangeOf(solved.truth), seconds = { label: "step", start: 0 };
        if (!compact) {
            this.draw("states", [{ values: solved.input, kind: "truth" }, { values: scaled, kind: "state" }],
                { ...rangeOf(solved.input), ...seconds });
            this.draw("fit", [{ values: solved.truth, kind: "truth" }, { values: solved.fit, kind: "fit" }],
                { ...range, ...seconds });
        }
        const measured = isMemory ? [{ values: [NaN, ...solved.measured], kind: "measured" }] : [];
        this.draw("memory", [{ values: curve, kind: "exact" }, ...measured],
            { low: 0, high: 1.05, ticks: [0, 0.5, 1], label: "delay (steps)", marked: isMemory ? delay : Math.min(units, DELAYS) });
        if (!isMemory) {
            this.draw("free", [{ values: solved.truth, kind: "truth" }, { values: solved.free, kind: "free" }],
                { ...range, ...seconds });
        }
        this.summarise(units, solved, curve, delay);
    }

    /** Say the results in words, when the page has been quiet for a moment. */
    summarise(units, solved, curve, delay) {
        const total = curve.reduce((sum, value) => sum + value, 0);
        const result = solved.measured
            ? `Recall after ${delay} steps: error ${short(solved.error)} of the standard deviation, ` +
              `capacity ${solved.measured[delay - 1].toFixed(3)} measured, ${curve[delay].toFixed(3)} exact.`
            : `Next step: error ${short(solved.error)} of the standard deviation. Free run: accurate ` +
              `for ${solved.followed} of ${solved.truth.length} steps.`;
        const text = `${units} units. ${result} Memory up to delay ${DELAYS}: ${total.toFixed(2)} of ${units}.`;
        clearTimeout(this.timer);
        this.timer = setTimeout(() => (this.root.querySelector(".summary").textContent = text), 150);
    }

    check() {
        const results = compareWithPython();
        const largest = Math.max(...results.map(({ difference }) => difference));
        this.root.querySelector(".checked").textContent =
            `Largest difference from Python in ${results.length} stored networks: ${largest.toExponential(1)}.`;
    }

    find(name) {
        return this.root.querySelector(`[data-chart=${name}]`);
    }

    draw(name, lines, options) {
        const svg = this.find(name).querySelector("svg");
        drawChart(svg, lines, options);
        svg.setAttribute("aria-label", this.find(name).querySelector("figcaption").textContent);
    }
}

/** Return a number with three digits. */
function short(value) {
    if (!Number.isFinite(value)) return "unbounded";
    if (value !== 0 && (Math.abs(value) < 1e-3 || Math.abs(value) >= 1e5)) return value.toExponential(1);
    return String(Number(value.toPrecision(3)));
}

for (const root of document.querySelectorAll(".playground")) new Playground(root);
