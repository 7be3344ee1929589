// A matrix of numbers as an image: one pixel a number, enlarged by the browser; axes named, values told.

import { h } from "regard/dom.js";
import { paintPixels } from "regard/matrix_cells.js";
import { scaleOf } from "regard/views.js";

const NOTHING = "\u00a0"; // keeps the height of an empty line
const MOVES = { ArrowUp: [-1, 0], ArrowDown: [1, 0], ArrowLeft: [0, -1], ArrowRight: [0, 1] };

// `value(i, j)` lies between low and high: two-sided colours where zero does too, else the higher the darker,
// so that small differences far from zero are seen. `tell(i, j, value)` puts a cell in words; `onPick(i, j)`
// is called on a click or Enter. The element has `mark(row)`, which outlines a row.
export function imageOf({
  height, width, value, low, high, down, across, label, tell, onPick = () => {}, square = false,
}) {
  const twoSided = low < 0 && high > 0;
  const [zero, full] = twoSided ? [0, Math.max(-low, high)] : [low, high - low || 1];
  const canvas = h("canvas", { width, height });
  paintPixels(canvas, width, height, (i, j) => value(i, j) - zero, full, twoSided);
  const told = h("output", { class: "told", "aria-live": "polite" }, NOTHING);
  const [spot, line] = ["spot", "line"].map((name) => h("span", { class: name, hidden: true }));
  const frame = h("div", { class: square ? "frame square" : "frame", tabindex: 0, role: "img",
    "aria-label": label, "aria-roledescription": "image; arrow keys tell values" }, canvas, line, spot);
  const put = (node, row, column, rows, columns) => Object.assign(node.style, {
    top: `${(100 * row) / height}%`, left: `${(100 * column) / width}%`,
    height: `${(100 * rows) / height}%`, width: `${(100 * columns) / width}%`,
  });
  let at = null;
  const point = (cell) => {
    at = cell && [within(cell[0], height), within(cell[1], width)];
    spot.hidden = !at;
    if (at) put(spot, ...at, 1, 1);
    told.textContent = at ? tell(...at, value(...at)) : NOTHING;
  };
  frame.addEventListener("pointermove", (event) => {
    const box = canvas.getBoundingClientRect();
    const [y, x] = [(event.clientY - box.top) / box.height, (event.clientX - box.left) / box.width];
    point([Math.floor(y * height), Math.floor(x * width)]);
  });
  for (const gone of ["pointerleave", "blur"]) frame.addEventListener(gone, () => point(null));
  frame.addEventListener("click", () => at && onPick(...at));
  frame.addEventListener("keydown", (event) => {
    const move = MOVES[event.key];
    if (event.key === "Enter" && at) onPick(...at);
    if (!move) return;
    event.preventDefault();
    point(at ? [at[0] + move[0], at[1] + move[1]] : [0, 0]);
  });
  const element = h("figure", { class: "image" },
    h("div", { class: "axes" },
      h("span", { class: "down" }, down), frame, h("span", { class: "across" }, across)),
    h("div", { class: "foot" }, told, twoSided ? scaleOf(-full, full) : scaleOf(low, high, false)));
  element.mark = (row) => {
    line.hidden = false;
    put(line, row, 0, 1, width);
  };
  return element;
}

function within(value, count) {
  return Math.min(Math.max(value, 0), count - 1);
}
