// Curves over one axis that move: drawn anew from records as they come. Pointing tells the values at a step.

import { CATEGORIES } from "regard/colours.js";
import { fitted, h, svg } from "regard/dom.js";
import { figure, signed } from "regard/text.js";

const HEIGHT = 220;
const EDGE = { left: 46, right: 14, top: 10, bottom: 30 };

// `curves` are [{name, points: [[x, y], …], colour?, faint?}]; the element has `update(curves)`.
export function drawCurves({ curves, label, xLabel = "step", lowest = null }) {
  const picture = svg(
    "svg", { class: "curves", height: HEIGHT, role: "img", "aria-label": label, tabindex: 0 },
  );
  const legend = h("span", { class: "names" });
  const told = h("output", { class: "told" });
  const element = h(
    "figure", { class: "curves-place" }, h("figcaption", {}, h("b", {}, label), legend), picture, told,
  );
  const rule = svg("line", { class: "rule", y1: EDGE.top, y2: HEIGHT - EDGE.bottom, visibility: "hidden" });
  let width = 460;
  let frame = null;
  let drawn = [];
  let at = null; // the step that is told

  const tell = (x) => {
    at = x;
    rule.setAttribute("visibility", x === null ? "hidden" : "visible");
    if (x === null || !frame) return void (told.textContent = drawn.map(newest).filter(Boolean).join(" · "));
    for (const end of ["x1", "x2"]) rule.setAttribute(end, frame.x(x));
    const values = drawn.map((curve) => [curve.name, nearest(curve.points, x)]).filter(([, point]) => point);
    const said = values.map(([name, [, y]]) => `${name} ${figure(y)}`).join(" · ");
    told.textContent = `${xLabel} ${figure(x)}: ${said}`;
  };
  element.update = (given) => {
    drawn = given.map(
      (curve, i) => ({ colour: CATEGORIES[i % CATEGORIES.length], ...curve, points: finite(curve.points) }),
    );
    frame = frameOf(drawn, lowest, width);
    legend.replaceChildren(...(drawn.length > 1 ? drawn.map(key) : []));
    picture.setAttribute("width", width);
    picture.replaceChildren(
      ...(frame ? [axes(frame, xLabel), ...drawn.map((curve) => line(curve, frame)), rule] : []),
    );
    tell(at);
  };
  picture.addEventListener("pointermove", (event) => {
    const box = picture.getBoundingClientRect();
    if (frame) tell(closest(drawn, frame.back(event.clientX - box.left)));
  });
  picture.addEventListener("pointerleave", () => tell(null));
  picture.addEventListener("blur", () => tell(null));
  picture.addEventListener("keydown", (event) => {
    const move = { ArrowLeft: -1, ArrowRight: 1 }[event.key];
    if (!move || !frame) return;
    event.preventDefault();
    const steps = allSteps(drawn);
    const place = at === null ? (move > 0 ? -1 : steps.length) : steps.indexOf(at);
    tell(steps[Math.min(Math.max(place + move, 0), steps.length - 1)]);
  });
  element.update(curves);
  fitted(element, (room) => {
    width = room;
    element.update(drawn);
  });
  return element;
}

// Round numbers between low and high, about `count` of them.
export function ticks(low, high, count = 5) {
  if (!(high > low)) return [low];
  const rough = (high - low) / count;
  const size = 10 ** Math.floor(Math.log10(rough));
  const step = [1, 2, 5, 10].map((factor) => factor * size).find((one) => one >= rough * 0.999999);
  const [first, last] = [Math.ceil(low / step - 1e-9), Math.floor(high / step + 1e-9)];
  return Array.from({ length: last - first + 1 }, (_, i) => Number(((first + i) * step).toPrecision(12)));
}

function frameOf(curves, lowest, width) {
  const points = curves.flatMap((curve) => curve.points);
  if (!points.length) return null;
  const [xs, ys] = [0, 1].map((axis) => points.map((point) => point[axis]));
  const ends = (values) => values.reduce(
    ([low, high], value) => [Math.min(low, value), Math.max(high, value)], [Infinity, -Infinity],
  );
  const [[x0, x1], [least, most]] = [ends(xs), ends(ys)];
  const margin = (most - least) * 0.06 || Math.abs(most) * 0.1 || 1;
  const [y0, y1] = [lowest ?? (least >= 0 ? Math.max(least - margin, 0) : least - margin), most + margin];
  const [across, down] = [width - EDGE.left - EDGE.right, HEIGHT - EDGE.top - EDGE.bottom];
  return {
    x: (value) => EDGE.left + ((value - x0) / (x1 - x0 || 1)) * across,
    y: (value) => HEIGHT - EDGE.bottom - ((value - y0) / (y1 - y0 || 1)) * down,
    back: (pixels) => x0 + ((pixels - EDGE.left) / across) * (x1 - x0),
    right: width - EDGE.right, xTicks: ticks(x0, x1), yTicks: ticks(y0, y1),
  };
}

function axes(frame, xLabel) {
  const across = frame.yTicks.flatMap((value) => [
    svg("line", { class: "grid", x1: EDGE.left, x2: frame.right, y1: frame.y(value), y2: frame.y(value) }),
    svg(
      "text", { class: "tick", x: EDGE.left - 7, y: frame.y(value), dy: "0.34em", "text-anchor": "end" },
      tick(value),
    ),
  ]);
  const base = HEIGHT - EDGE.bottom + 15;
  const along = frame.xTicks.map(
    (value) => svg(
      "text", { class: "tick", x: frame.x(value), y: base, "text-anchor": "middle" }, tick(value),
    ),
  );
  const name = svg("text", { class: "tick", x: frame.right, y: HEIGHT - 2, "text-anchor": "end" }, xLabel);
  return svg("g", {}, across, along, name);
}

function tick(value) {
  return Number.isInteger(value) ? figure(value) : signed(String(value));
}

function line({ points, colour, faint }, frame) {
  const places = points.map(([x, y]) => `${frame.x(x).toFixed(1)},${frame.y(y).toFixed(1)}`);
  const dots = points.length <= 30 && !faint
    ? places.map((place) => place.split(",")).map(
      ([cx, cy]) => svg("circle", { cx, cy, r: 2.6, style: { fill: lifted(colour) } }),
    )
    : [];
  return svg(
    "g", { class: faint ? "curve faint" : "curve" },
    svg("polyline", { points: places.join(" "), style: { stroke: lifted(colour) } }), dots,
  );
}

function key({ name, colour }) {
  return h("span", {}, h("i", { style: { background: lifted(colour) } }), name);
}

// Lighter on a dark page, by as much as the page's style says.
function lifted(colour) {
  return `color-mix(in oklab, ${colour}, white var(--lift))`;
}

function finite(points) {
  return points.filter(([, y]) => Number.isFinite(y));
}

function newest({ name, points }) {
  return points.length ? `${name} ${figure(points.at(-1)[1])}` : "";
}

function nearest(points, x) {
  return points.reduce(
    (best, point) => (best && Math.abs(best[0] - x) <= Math.abs(point[0] - x) ? best : point), null,
  );
}

function allSteps(curves) {
  return [...new Set(curves.flatMap(({ points }) => points.map(([x]) => x)))].sort((a, b) => a - b);
}

function closest(curves, x) {
  return allSteps(curves).reduce((best, step) => (Math.abs(step - x) < Math.abs(best - x) ? step : best));
}
