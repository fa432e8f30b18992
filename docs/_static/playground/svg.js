// Small helpers for SVG: elements, and line charts that fit the width of the page.

const NAMESPACE = "http://www.w3.org/2000/svg";

/** Return a new SVG element with attributes, appended to a parent. */
export function draw(parent, name, attributes = {}, text = "") {
    const element = document.createElementNS(NAMESPACE, name);
    for (const [key, value] of Object.entries(attributes)) element.setAttribute(key, value);
    element.textContent = text;
    parent.append(element);
    return element;
}

const MARGIN = { left: 34, right: 8, top: 6, bottom: 30 };

/** Draw lines into an SVG element. `lines` are {values, kind}, where kind is a class name; values
 * that are not finite, or far outside of the range [low, high], interrupt a line. */
export function drawChart(svg, lines, { low, high, start = 0, label, ticks = [low, high], marked }) {
    const width = Math.max(svg.clientWidth, 160), height = svg.clientHeight || 150;
    const count = Math.max(...lines.map(({ values }) => values.length), 2);
    const x = (i) => MARGIN.left + (i / (count - 1)) * (width - MARGIN.left - MARGIN.right);
    const y = (value) =>
        height - MARGIN.bottom - ((value - low) / (high - low)) * (height - MARGIN.top - MARGIN.bottom);
    svg.replaceChildren();
    svg.setAttribute("viewBox", `0 0 ${width} ${height}`);
    for (const tick of ticks) {
        draw(svg, "line", { class: "grid", x1: MARGIN.left, x2: width - MARGIN.right, y1: y(tick), y2: y(tick) });
        draw(svg, "text", { x: MARGIN.left - 5, y: y(tick) + 4, "text-anchor": "end" }, tidy(tick));
    }
    for (const [i, anchor] of [[0, "start"], [count - 1, "end"]]) {
        draw(svg, "text", { x: x(i), y: height - 14, "text-anchor": anchor }, String(start + i));
    }
    draw(svg, "text", { x: (MARGIN.left + width) / 2, y: height - 4, "text-anchor": "middle" }, label);
    if (marked !== undefined) {
        draw(svg, "line", { class: "grid", x1: x(marked), x2: x(marked), y1: y(low), y2: y(high) });
    }
    const reach = 3 * (high - low);
    for (const { values, kind } of lines) {
        let path = "", pen = "M";
        values.forEach((value, i) => {
            const visible = Number.isFinite(value) && Math.abs(value - low) < reach;
            if (visible) path += `${pen}${x(i).toFixed(1)} ${y(value).toFixed(1)}`;
            pen = visible ? "L" : "M";
        });
        draw(svg, "path", { class: kind, d: path });
    }
}

const tidy = (value) => String(Number(value.toPrecision(2)));

/** Return the range of values, a little wider than they are. */
export function rangeOf(values) {
    const low = Math.min(...values), high = Math.max(...values);
    const margin = 0.08 * (high - low) || 1;
    return { low: low - margin, high: high + margin, ticks: [low, high] };
}
