// The unit disc: eigenvalues that can be dragged, or moved with the arrow keys.

import { draw } from "./svg.js";

/** Largest modulus, and smallest imaginary part of a pair. */
export const LIMIT = 0.999;
const AXIS = 0.005;
const KEYS = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, 1], ArrowDown: [0, -1] };
const STEP = 0.01;

/** Return the nearest place that an eigenvalue may have: a real one stays real. */
export function allowed(re, im, isPair) {
    const b = isPair ? Math.max(Math.abs(im), AXIS) : 0;
    const factor = Math.min(1, LIMIT / Math.hypot(re, b));
    return { re: re * factor, im: b * factor };
}

/** An SVG element that shows `points` and calls `changed` when one was moved or selected. */
export class Disc {
    constructor(svg, changed) {
        Object.assign(this, { svg, changed, points: [], selected: 0, dragged: null });
        svg.addEventListener("keydown", (event) => this.press(event));
        svg.addEventListener("pointerdown", (event) => this.grab(event));
        svg.addEventListener("pointermove", (event) => this.drag(event));
        for (const name of ["pointerup", "pointercancel"]) {
            svg.addEventListener(name, () => (this.dragged = null));
        }
        svg.setAttribute("viewBox", "-1.12 -1.12 2.24 2.24");
        draw(svg, "circle", { class: "disc", r: 1 });
        for (const radius of [0.25, 0.5, 0.75]) draw(svg, "circle", { class: "grid", r: radius });
        draw(svg, "line", { class: "grid", x1: -1, x2: 1 });
        draw(svg, "line", { class: "grid", y1: -1, y2: 1 });
        this.layer = draw(svg, "g");
    }

    /** Show other eigenvalues. */
    show(points, selected = Math.min(this.selected, points.length - 1)) {
        this.points = points;
        this.selected = selected;
        this.layer.replaceChildren();
        points.forEach(({ re, im }, i) => {
            const kind = `${im ? "pair" : "real"}${i === selected ? " selected" : ""}`;
            for (const y of im ? [im, -im] : [0]) {
                // A larger, invisible circle is easier to hit with a finger.
                draw(this.layer, "circle", { class: "target", cx: re, cy: -y, r: 0.09, "data-i": i });
                draw(this.layer, "circle", { class: kind, cx: re, cy: -y, r: i === selected ? 0.045 : 0.032 });
            }
        });
    }

    /** Move the selected eigenvalue. */
    move(re, im) {
        const isPair = this.points[this.selected].im > 0;
        this.points[this.selected] = allowed(re, im, isPair);
        this.show(this.points);
        this.changed("moved");
    }

    select(i) {
        this.show(this.points, (i + this.points.length) % this.points.length);
        this.changed("selected");
    }

    press(event) {
        if (event.key in KEYS) {
            const [x, y] = KEYS[event.key], size = event.shiftKey ? 10 * STEP : STEP;
            const { re, im } = this.points[this.selected];
            this.move(re + x * size, Math.max(im + y * size, 0));
        } else if (event.key === "PageDown" || event.key === "PageUp") {
            this.select(this.selected + (event.key === "PageDown" ? 1 : -1));
        } else {
            return;
        }
        event.preventDefault();
    }

    grab(event) {
        const i = event.target.getAttribute("data-i");
        if (i === null) return;
        this.svg.focus({ preventScroll: true });
        this.svg.setPointerCapture(event.pointerId);
        this.dragged = event.pointerId;
        this.select(Number(i));
        event.preventDefault();
    }

    drag(event) {
        if (this.dragged !== event.pointerId) return;
        const place = new DOMPoint(event.clientX, event.clientY);
        const { x, y } = place.matrixTransform(this.svg.getScreenCTM().inverse());
        this.move(x, -y);
    }
}
