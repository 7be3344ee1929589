// The whole of a map beside the part that is seen, with a rectangle around that part; it can be dragged.

import { h } from "regard/dom.js";
import { paintPixels } from "regard/matrix_cells.js";

const SIDE = 168; // pixels of the longer side
const LEAST = 28; // and of the shorter one, at least

// {node, paint(state), show(plan)}; `onMove(row, column)` gets the first row and column that are to be seen.
export function drawOverview(onMove) {
  const canvas = h("canvas", { "aria-hidden": true });
  const seen = h("span", { class: "seen" });
  const node = h("div", {
    class: "overview", hidden: true, role: "img", "aria-label": "The whole map; the rectangle is the part that is seen",
    title: "The whole map: drag to see another part",
  }, canvas, seen);
  let plan = null;
  const move = (event) => {
    const box = canvas.getBoundingClientRect();
    const { counts } = plan.layout;
    onMove(
      ((event.clientY - box.top) / box.height) * counts.rows - plan.seen.rowCount / 2,
      ((event.clientX - box.left) / box.width) * counts.columns - plan.seen.columnCount / 2,
    );
  };
  node.addEventListener("pointerdown", (event) => {
    if (event.button !== 0) return;
    event.preventDefault(); // no text is selected by a drag
    node.setPointerCapture(event.pointerId);
    move(event);
  });
  node.addEventListener("pointermove", (event) => node.hasPointerCapture(event.pointerId) && move(event));
  const show = (next) => {
    plan = next;
    node.hidden = plan.whole;
    const { counts, ratio } = plan.layout;
    const [height, width] = [counts.rows * ratio, counts.columns];
    const side = (length) => `${Math.max((SIDE * length) / Math.max(height, width), LEAST)}px`;
    Object.assign(node.style, { height: side(height), width: side(width) });
    const percent = (part, count) => `${(100 * part) / count}%`;
    Object.assign(seen.style, {
      top: percent(plan.seen.row, counts.rows), height: percent(plan.seen.rowCount, counts.rows),
      left: percent(plan.seen.column, counts.columns), width: percent(plan.seen.columnCount, counts.columns),
    });
  };
  const paint = (state) => {
    canvas.repaint = () => {
      const { values, height, width } = coarse(state);
      [canvas.height, canvas.width] = [height, width];
      paintPixels(canvas, width, height, values, state.full, state.twoSided);
    };
    canvas.repaint();
  };
  return { node, paint, show };
}

// The strongest weight of each block, so that a thin line is seen however large the map is.
function coarse({ rows, columns, values }) {
  const by = (count) => Math.max(Math.ceil(count / (2 * SIDE)), 1);
  const [down, across] = [by(rows.length), by(columns.length)];
  const [height, width] = [Math.ceil(rows.length / down), Math.ceil(columns.length / across)];
  if (down === 1 && across === 1) return { values, height, width };
  const found = new Float32Array(height * width);
  for (let i = 0; i < rows.length; i += 1) {
    for (let j = 0; j < columns.length; j += 1) {
      const place = Math.floor(i / down) * width + Math.floor(j / across);
      const value = values[i * columns.length + j];
      if (Math.abs(value) > Math.abs(found[place])) found[place] = value;
    }
  }
  return { values: found, height, width };
}
