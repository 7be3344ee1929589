// Weights between words as a matrix of shades. Up to 2,500 cells are SVG, more are drawn on a canvas; the
// words, the cursor and the gold outlines are SVG in both, so that pointer and keys behave the same.

import { diverging, divergingTable, shade, shadeTable } from "regard/colours.js";
import { fitted, h, svg } from "regard/dom.js";
import { share } from "regard/text.js";
import { drawWindows } from "regard/windows.js";

export { mergeWords } from "regard/words.js";

const MOST_SVG_CELLS = 2500;
const LONGEST_LABEL = 20;
const SMALLEST_LABELLED = 10; // narrower cells have no room for a word; then only the lit words are written
const TILT = -50;
const ROOM = 760; // pixels across that a matrix fills where the window has them
const MOVES = { ArrowUp: [-1, 0], ArrowDown: [1, 0], ArrowLeft: [0, -1], ArrowRight: [0, 1] };

// `weights(i, j)` is the weight of column j in row i; `gold` are [column, row]; `size` is the side of a
// cell in pixels; `rowHeight` where rows are lower than that, and then `rowMarks` the rows whose words are
// always written; `most` is the weight of the full shade (chosen if not given, and told in the legend);
// `rowBreaks` and `columnBreaks` are those before which a line parts two texts; `windows` those of the rows,
// as in windows.js. `onHover(i, j)` gets null, null when the pointer leaves. The element has
// `update(weights, gold, windows)` and `light(row, column)`, where null is "none".
export function drawMatrix({
  rows, columns, weights, gold = [], label = "weights", onHover = null, size = null, most = null,
  diverging: twoSided = false, rowHeight = null, rowMarks = null, rowBreaks = [], columnBreaks = [],
  windows = null,
}) {
  const state = {
    rows, columns, weights, gold, twoSided, most, rowBreaks, columnBreaks, windows, row: null, column: null,
  };
  const onCanvas = rows.length * columns.length > MOST_SVG_CELLS;
  const told = h("output", { class: "told", "aria-live": "polite" });
  const legend = h("span", { class: "legend" });
  const scroller = h("div", { class: "scroll" });
  const element = h("figure", { class: "matrix", dataset: { mode: onCanvas ? "canvas" : "svg" } }, scroller,
    h("figcaption", {}, told, legend));
  let drawn = null;

  const light = (row, column) => {
    [state.row, state.column] = [row, column];
    drawn.light(row, column);
    told.textContent = tell(state);
  };
  const point = (row, column) => {
    if (row === state.row && column === state.column) return;
    light(row, column);
    onHover?.(row, column);
  };
  const build = (room) => {
    const plan = layOut(rows, columns, { size, rowHeight, rowMarks }, room);
    if (drawn?.plan.across === plan.across) return;
    drawn = drawPicture(state, plan, onCanvas, label);
    listen(drawn.picture, plan, state, point);
    scroller.replaceChildren(drawn.frame);
    drawn.paint();
    drawn.light(state.row, state.column);
  };
  element.light = light;
  element.update = (weights = state.weights, gold = state.gold, windows = state.windows) => {
    Object.assign(state, { weights, gold, windows });
    state.full = fullShade(state);
    drawn?.paint();
    legend.replaceChildren(...legendOf(state));
    told.textContent = tell(state);
  };
  element.update();
  build(Math.min(ROOM, document.documentElement.clientWidth - 80));
  if (size === null) fitted(element, build); // the room is known only when it stands on the page
  return element;
}

function drawPicture(state, plan, onCanvas, label) {
  const cells = onCanvas ? canvasCells(state, plan) : svgCells(state, plan);
  const cursor = svg(
    "rect", { class: "cursor", width: plan.across, height: plan.down, visibility: "hidden" },
  );
  const words = wordLabels(state, plan);
  const windows = svg("g", { "pointer-events": "none" });
  const picture = svg(
    "svg",
    { class: "matrix-picture", width: plan.width, height: plan.height, tabindex: 0, role: "group",
      "aria-label": label, "aria-roledescription": "matrix; arrow keys move" },
    onCanvas ? null : cells.node, windows, cells.gold, breakLines(state, plan), words.node, cursor,
  );
  const light = (row, column) => {
    const both = row !== null && column !== null;
    cursor.setAttribute("visibility", both ? "visible" : "hidden");
    if (both) moveTo(cursor, plan, row, column);
    words.light(row, column);
    cells.light(row, column);
  };
  const frame = h("div", { class: "matrix-frame" }, onCanvas ? cells.node : null, picture);
  const paint = () => {
    cells.paint();
    windows.replaceChildren(...drawWindows(state.windows ?? [], plan, gap(plan)));
  };
  return { plan, picture, frame, paint, light };
}

// Between two texts, beyond the cells on the side of the words.
function breakLines({ rows, columns, rowBreaks, columnBreaks }, plan) {
  const { top, left, across, down } = plan;
  const [right, bottom] = [left + columns.length * across, top + rows.length * down];
  const half = gap(plan) / 2;
  return svg("g", { class: "breaks" },
    rowBreaks.map((row) => top + row * down - half)
      .map((y) => svg("line", { x1: 0, x2: right, y1: y, y2: y })),
    columnBreaks.map((column) => left + column * across - half)
      .map((x) => svg("line", { x1: x, x2: x, y1: top - 16, y2: bottom })));
}

// Where everything stands. Cells take the room that the window leaves, within what looks right.
function layOut(rows, columns, { size, rowHeight, rowMarks }, room) {
  const widest = (words) => Math.max(0, ...words.map((word) => textWidth(shorten(word))));
  const left = Math.ceil(widest(rows)) + 12;
  const high = Math.ceil(widest(columns) * Math.sin((-TILT * Math.PI) / 180)) + 18;
  const [least, largest] = rows.length * columns.length > MOST_SVG_CELLS ? [3, 14] : [14, 40];
  const fitting = (over) => Math.floor((room - left - over) / Math.max(columns.length, 1));
  const within = (over) => size ?? Math.min(Math.max(fitting(over), least), largest);
  const over = overhang(columns, within(0));
  const across = within(over);
  const down = rowHeight ?? across;
  const [height, width] = [high + down * rows.length + 2, left + across * columns.length + over + 4];
  const everyRow = rows.map((_, i) => i);
  return {
    across, down, left, width, height, top: high, font: Math.min(13, Math.max(9.5, across - 3)),
    rowWords: rowMarks ?? (down >= SMALLEST_LABELLED ? everyRow : []),
    columnWords: across >= SMALLEST_LABELLED ? columns.map((_, j) => j) : [],
  };
}

// How far the tilted words reach beyond the last column.
function overhang(columns, cell) {
  const across = Math.cos((TILT * Math.PI) / 180);
  const room = (j) => (columns.length - j - 0.6) * cell;
  return Math.ceil(Math.max(0, ...columns.map((word, j) => across * textWidth(shorten(word)) - room(j))));
}

function svgCells(state, plan) {
  const all = state.rows.map((_, row) => state.columns.map((_, column) => svg("rect", {
    class: "cell", dataset: { row, column }, width: plan.across - gap(plan), height: plan.down - gap(plan),
    x: plan.left + column * plan.across, y: plan.top + row * plan.down, rx: gap(plan) > 1 ? 2 : 0,
  })));
  let lit = null;
  return {
    node: svg("g", { class: "cells" }, all),
    gold: null,
    paint() {
      const marked = new Set(state.gold.map(([column, row]) => `${row} ${column}`));
      all.forEach((line, row) => line.forEach((cell, column) => {
        const weight = state.weights(row, column);
        cell.style.fill = colourOf(state, weight);
        cell.dataset.weight = Number(weight.toPrecision(6));
        cell.classList.toggle("gold", marked.has(`${row} ${column}`));
      }));
    },
    light(row, column) {
      lit?.classList.remove("lit");
      lit = row === null || column === null ? null : all[row][column];
      lit?.classList.add("lit");
    },
  };
}

function canvasCells(state, plan) {
  const [height, width] = [state.rows.length, state.columns.length];
  const style = { left: plan.left, top: plan.top, width: width * plan.across, height: height * plan.down };
  for (const side of Object.keys(style)) style[side] = `${style[side]}px`;
  const node = h("canvas", { width, height, style, "aria-hidden": true });
  const gold = svg("g", {});
  return {
    node,
    gold,
    paint() {
      paintPixels(node, width, height, state.weights, state.full, state.twoSided);
      gold.replaceChildren(...state.gold.map(([column, row]) => svg("rect", {
        class: "gold", width: plan.across, height: plan.down,
        x: plan.left + column * plan.across, y: plan.top + row * plan.down,
      })));
    },
    light() {},
  };
}

// One pixel a weight: the browser enlarges it, so a map of 40,000 weights is drawn in a millisecond or two.
// `weights` are the numbers row by row, or a function of row and column.
export function paintPixels(canvas, width, height, weights, full = 1, twoSided = false) {
  if (!width || !height) return;
  const values = typeof weights === "function" ? allOf(weights, height, width) : weights;
  const table = new Uint32Array((twoSided ? divergingTable() : shadeTable()).buffer);
  const image = new ImageData(width, height);
  const pixels = new Uint32Array(image.data.buffer);
  const [zero, slope] = twoSided ? [128, 127.5 / full] : [0.5, 255 / full];
  for (let i = 0; i < pixels.length; i += 1) {
    const entry = zero + slope * values[i]; // whole numbers by cutting: rounding is in `zero`
    pixels[i] = table[entry > 255 ? 255 : entry > 0 ? entry | 0 : 0];
  }
  canvas.getContext("2d").putImageData(image, 0, 0);
}

function allOf(weights, height, width) {
  return Float32Array.from(
    { length: height * width }, (_, place) => weights(Math.floor(place / width), place % width),
  );
}

// Words that have room are always there; of the others only those that are lit.
function wordLabels(state, plan) {
  const rowLabel = (row) => svg("text", {
    class: "word", dataset: { row }, x: plan.left - 7, y: plan.top + (row + 0.5) * plan.down - gap(plan) / 2,
    dy: "0.33em", "text-anchor": "end", "font-size": plan.font,
  }, ...named(state.rows[row]));
  const columnLabel = (column) => svg("text", {
    class: "word", dataset: { column }, "font-size": plan.font,
    transform: `translate(${plan.left + (column + 0.55) * plan.across},${plan.top - 7}) rotate(${TILT})`,
  }, ...named(state.columns[column]));
  const rows = new Map(plan.rowWords.map((row) => [row, rowLabel(row)]));
  const columns = new Map(plan.columnWords.map((column) => [column, columnLabel(column)]));
  const node = svg("g", { class: "words" }, [...rows.values()], [...columns.values()]);
  let lit = [];
  return {
    node,
    light(row, column) {
      for (const word of lit) {
        word.classList.remove("lit");
        if (word.dataset.extra) word.remove();
      }
      lit = [
        row === null ? null : (rows.get(row) ?? extra(rowLabel(row))),
        column === null ? null : (columns.get(column) ?? extra(columnLabel(column))),
      ].filter(Boolean);
      for (const word of lit) word.classList.add("lit");
      node.append(...lit.filter((word) => word.dataset.extra));
    },
  };
}

function extra(word) {
  word.dataset.extra = "1";
  return word;
}

// Pointer and keys, by arithmetic on the place: one listener however many cells.
function listen(picture, plan, state, point) {
  const inside = (value, count) => (value >= 0 && value < count ? value : null);
  picture.addEventListener("pointermove", (event) => {
    const box = picture.getBoundingClientRect();
    const column = Math.floor((event.clientX - box.left - plan.left) / plan.across);
    const row = Math.floor((event.clientY - box.top - plan.top) / plan.down);
    const [i, j] = [inside(row, state.rows.length), inside(column, state.columns.length)];
    const named = event.target.closest?.("text.word");
    if (i !== null && j !== null) point(i, j);
    else if (named) point(numberOf(named.dataset.row), numberOf(named.dataset.column));
    else point(null, null);
  });
  picture.addEventListener("pointerleave", () => point(null, null));
  picture.addEventListener("blur", () => point(null, null));
  picture.addEventListener("keydown", (event) => {
    const move = MOVES[event.key];
    if (!move || !state.rows.length || !state.columns.length) return;
    event.preventDefault();
    if (state.row === null || state.column === null) return point(...strongest(state));
    const within = (value, count) => Math.min(Math.max(value, 0), count - 1);
    const row = within(state.row + move[0], state.rows.length);
    point(row, within(state.column + move[1], state.columns.length));
  });
}

function tell(state) {
  return [tellWeights(state), state.windows?.[state.row]?.told].filter(Boolean).join("; ");
}

function tellWeights({ rows, columns, weights, row, column }) {
  const both = row !== null && column !== null;
  if (both) return `${rows[row]} ← ${columns[column]}: ${share(weights(row, column))}`;
  const line = row !== null ? columns.map((word, j) => [word, weights(row, j)]) : [];
  const stack = column !== null ? rows.map((word, i) => [word, weights(i, column)]) : [];
  const best = [...line, ...stack].sort((a, b) => b[1] - a[1]).slice(0, 3);
  if (!best.length) return "";
  const told = best.map(([word, weight]) => `${word} ${share(weight)}`).join(", ");
  return row !== null ? `${rows[row]} ← ${told}` : `${columns[column]} → ${told}`;
}

// The weight that gets the full shade: 1 for ordinary maps, a round number for those that are spread thin.
// What counts is the strongest weight of a row, on average: a decoder's first row is always 1, and would
// leave all others pale.
function fullShade({ rows, columns, weights, twoSided, most }) {
  if (most !== null) return most || 1;
  const size = (i, j) => Math.abs(weights(i, j)) || 0;
  const strengths = rows.map((_, i) => columns.reduce((best, _, j) => Math.max(best, size(i, j)), 0));
  if (twoSided) return roundUp(Math.max(0, ...strengths), true);
  return roundUp(strengths.reduce((sum, one) => sum + one, 0) / Math.max(rows.length, 1));
}

// The next of 1, 2, 5, 10, … above; weights from 0.5 on are shown against 1.
export function roundUp(largest, twoSided = false) {
  if (largest === 0) return 1;
  if (largest <= 1 && largest > 0.5) return 1;
  if (largest > 1 && !twoSided) return largest;
  const size = 10 ** Math.floor(Math.log10(largest));
  return [1, 2, 5, 10].map((factor) => factor * size).find((value) => value >= largest * 0.999);
}

function strongest({ rows, columns, weights }) {
  let best = [0, 0];
  rows.forEach((_, i) => columns.forEach((_, j) => {
    if (weights(i, j) > weights(...best)) best = [i, j];
  }));
  return best;
}

function legendOf({ full, twoSided, rows, columns, weights }) {
  const beyond = rows.some((_, i) => columns.some((_, j) => Math.abs(weights(i, j)) > 1.001 * full));
  const end = (beyond ? "≥ " : "") + Number(full.toPrecision(2));
  const stops = Array.from({ length: 9 }, (_, i) => (twoSided ? diverging(i / 4 - 1) : shade(i / 8)));
  const bar = h("i", { style: { background: `linear-gradient(to right, ${stops.join(", ")})` } });
  return [h("span", {}, twoSided ? `−${Number(full.toPrecision(2))}` : "0"), bar, h("span", {}, end)];
}

function colourOf({ full, twoSided }, weight) {
  return twoSided ? diverging(weight / full) : shade(weight / full);
}

function moveTo(cursor, plan, row, column) {
  cursor.setAttribute("x", plan.left + column * plan.across - gap(plan) / 2);
  cursor.setAttribute("y", plan.top + row * plan.down - gap(plan) / 2);
}

function gap({ across, down }) {
  const least = Math.min(across, down);
  return least > 16 ? 2 : least > 8 ? 1 : 0;
}

function numberOf(text) {
  return text === undefined ? null : Number(text);
}

function named(word) {
  const short = shorten(word);
  return short === word ? [word] : [short, svg("title", {}, word)];
}

function shorten(word) {
  return word.length > LONGEST_LABEL ? `${word.slice(0, LONGEST_LABEL - 1)}…` : word;
}

let ruler = null;

// How wide a label will be; asked of the browser, since scripts differ.
export function textWidth(text, font = "13px system-ui, sans-serif") {
  ruler ??= document.createElement("canvas").getContext("2d");
  ruler.font = font;
  return ruler.measureText(text).width;
}
