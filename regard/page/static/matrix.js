// Weights between words as a matrix of shades, which can be zoomed and panned. Only the cells that are seen are
// drawn: up to 2,500 as SVG, more on a canvas; words, cursor and gold outlines are SVG in both, so that pointer
// and keys behave the same.

import { fitted, h, svg } from "regard/dom.js";
import { canvasCells, svgCells, valuesOf } from "regard/matrix_cells.js";
import { listen } from "regard/matrix_input.js";
import { drawOverview } from "regard/matrix_overview.js";
import { isLarge, layOut, planOf, within } from "regard/matrix_plan.js";
import { fullShade, legendOf } from "regard/matrix_scale.js";
import { tell, wordLabels } from "regard/matrix_words.js";
import { zoomButtons } from "regard/matrix_zoom.js";
import { drawWindows } from "regard/windows.js";

const MOST_SVG_CELLS = 2500;
const ROOM = 760; // pixels across that a matrix fills where the window has them

// `weights(i, j)` is the weight of column j in row i; `gold` are [column, row]; `size` is the side of a
// cell in pixels; `rowHeight` where rows are lower than that, and then `rowMarks` the rows whose words are
// always written; `most` is the weight of the full shade (chosen if not given, and told in the legend);
// `rowBreaks` and `columnBreaks` are those before which a line parts two texts; `windows` those of the rows,
// as in windows.js; `view` is what another matrix of the same words showed. `onHover(i, j)` gets null, null when
// the pointer leaves. The element has `update(weights, gold, windows)`, `light(row, column)`, where null is
// "none", `view`, `full`, the weight that its own weights ask the full shade for, and `share(most)`, which
// gives it the scale of the maps beside it.
export function drawMatrix({
  rows, columns, weights, gold = [], label = "weights", onHover = null, size = null, most = null,
  diverging: twoSided = false, rowHeight = null, rowMarks = null, rowBreaks = [], columnBreaks = [],
  windows = null, view = null,
}) {
  const state = {
    rows, columns, weights, gold, twoSided, most, rowBreaks, columnBreaks, windows, row: null, column: null,
    shared: null, view: { zoom: 1, row: 0, column: 0, ...view },
  };
  const [told, legend] = [h("output", { class: "told", "aria-live": "polite" }), h("span", { class: "legend" })];
  const picture = svg("svg", {
    class: "matrix-picture", tabindex: 0, role: "group", "aria-label": label,
    "aria-roledescription": "matrix; arrow keys move, plus and minus zoom, 0 shows all, Shift and arrow keys pan",
  });
  const frame = h("div", { class: "matrix-frame" }, picture);
  const overview = drawOverview((row, column) => look({ row, column }));
  const tools = zoomButtons((by) => zoom(by));
  const element = h("figure", { class: isLarge(columns, size) ? "matrix large" : "matrix" },
    h("div", { class: "matrix-board" }, h("div", { class: "scroll" }, frame), overview.node),
    h("figcaption", {}, told, legend, h("span", { class: "tools" }, tools.node)));
  let [layout, drawn] = [null, null];

  // Show another part of the map; what is not given stays.
  const look = (part) => {
    const plan = planOf(layout, { ...state.view, ...part });
    const same = drawn && ["across", "down"].every((side) => drawn.plan[side] === plan[side])
      && plan.view.row === drawn.plan.view.row && plan.view.column === drawn.plan.view.column
      && plan.layout === drawn.plan.layout;
    state.view = plan.view;
    if (same) return;
    drawn = drawSeen(state, plan, picture, frame);
    element.dataset.mode = drawn.mode;
    drawn.paint();
    drawn.light(state.row, state.column);
    overview.show(plan);
    tools.show(plan);
  };
  // Larger or smaller by a factor, 0 for the whole; the cell at (x, y) of the picture stays where it is.
  const zoom = (by, x = layout.left + layout.box.width / 2, y = layout.top + layout.box.height / 2) => {
    const { plan } = drawn;
    const wanted = by === 0 ? layout.least : within(state.view.zoom * by, layout.least, layout.largest);
    const next = planOf(layout, { ...state.view, zoom: wanted });
    const held = (at, first, cell, nextCell) => Math.round(first + at / cell - at / nextCell);
    look({
      zoom: wanted, row: held(y - plan.top, plan.view.row, plan.down, next.down),
      column: held(x - plan.left, plan.view.column, plan.across, next.across),
    });
  };
  const light = (row, column) => {
    [state.row, state.column] = [row, column];
    drawn.light(row, column);
    told.replaceChildren(...tell(state));
  };
  const reveal = (row, column) => look(drawn.plan.viewWith(row, column));
  const point = (row, column) => {
    if (row === state.row && column === state.column) return;
    light(row, column);
    onHover?.(row, column);
  };
  const build = (room) => {
    const next = layOut(rows, columns, { size, rowHeight, rowMarks }, room, window.innerHeight);
    if (JSON.stringify(next) === JSON.stringify(layout)) return;
    layout = next;
    look({});
  };
  const paint = () => {
    state.full = state.shared ?? state.most ?? element.full;
    drawn?.paint();
    overview.paint(state);
    legend.replaceChildren(...legendOf(state));
  };
  element.light = (row, column) => {
    reveal(row, column);
    light(row, column);
  };
  element.share = (full) => {
    state.shared = full;
    paint();
  };
  element.update = (weights = state.weights, gold = state.gold, windows = state.windows) => {
    Object.assign(state, { weights, gold, windows, values: valuesOf(weights, rows.length, columns.length) });
    element.full = fullShade(state);
    paint();
    told.replaceChildren(...tell(state));
  };
  Object.defineProperty(element, "view", { get: () => state.view });
  element.update();
  build(Math.min(ROOM, document.documentElement.clientWidth - 80));
  listen(picture, state, { plan: () => drawn.plan, point, reveal, look, zoom });
  fitted(element, build); // the room is known only when it stands on the page
  return element;
}

// What is seen of the map, in the picture that has the listeners and the focus.
function drawSeen(state, plan, picture, frame) {
  const { rowCount, columnCount } = plan.seen;
  const onCanvas = rowCount * columnCount > MOST_SVG_CELLS;
  const cells = onCanvas ? canvasCells(state, plan) : svgCells(state, plan);
  const cursor = svg("rect", { class: "cursor", width: plan.across, height: plan.down, visibility: "hidden" });
  const words = wordLabels(state, plan);
  const windows = svg("g", { "pointer-events": "none" });
  const { x, y, width, height } = plan.area;
  const clipped = { ...plan.area, viewBox: `${x} ${y} ${width} ${height}`, overflow: "hidden" };
  const inside = plan.whole ? svg("g", {}) : svg("svg", clipped);
  inside.append(windows, ...[cells.gold].filter(Boolean));
  for (const side of ["width", "height"]) picture.setAttribute(side, plan[side]);
  picture.classList.toggle("part", !plan.whole);
  picture.replaceChildren(...[onCanvas ? null : cells.node, inside].filter(Boolean), breakLines(state, plan),
    words.node, cursor);
  frame.querySelector("canvas")?.remove(); // the picture stays where it is: moved, it would lose the focus
  if (onCanvas) frame.prepend(cells.node);
  const light = (row, column) => {
    const both = row !== null && column !== null && plan.shows(row, column);
    cursor.setAttribute("visibility", both ? "visible" : "hidden");
    if (both) {
      cursor.setAttribute("x", plan.x(column) - plan.gap / 2);
      cursor.setAttribute("y", plan.y(row) - plan.gap / 2);
    }
    words.light(row, column);
    cells.light(row, column);
  };
  const paint = () => {
    cells.paint();
    windows.replaceChildren(...drawWindows(state.windows ?? [], plan));
  };
  return { plan, paint, light, mode: onCanvas ? "canvas" : "svg" };
}

// Between two texts, beyond the cells on the side of the words.
function breakLines({ rowBreaks, columnBreaks }, plan) {
  const { row, column, rowCount, columnCount } = plan.seen;
  const half = plan.gap / 2;
  const inRows = rowBreaks.filter((place) => place >= row && place <= row + rowCount);
  const inColumns = columnBreaks.filter((place) => place >= column && place <= column + columnCount);
  return svg("g", { class: "breaks" },
    inRows.map((place) => plan.y(place) - half)
      .map((y) => svg("line", { x1: 0, x2: plan.x(column + columnCount), y1: y, y2: y })),
    inColumns.map((place) => plan.x(place) - half)
      .map((x) => svg("line", { x1: x, x2: x, y1: plan.top - 16, y2: plan.y(row + rowCount) })));
}
