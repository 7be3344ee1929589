// Pointer, wheel, fingers and keys on a matrix, by arithmetic on the place: one listener however many cells.

import { within } from "regard/matrix_plan.js";
import { STEP } from "regard/matrix_zoom.js";

const MOVES = { ArrowUp: [-1, 0], ArrowDown: [1, 0], ArrowLeft: [0, -1], ArrowRight: [0, 1] };
const FACTORS = { "+": STEP, "=": STEP, "-": 1 / STEP, _: 1 / STEP, 0: 0 };
const DRAG = 4; // pixels from which on a press is a drag
const WHEEL = 0.0025; // how much of a pixel of the wheel goes into the logarithm of the zoom

// `plan()` is what is drawn now; `point(row, column)` lights a cell, `reveal(row, column)` moves it into sight,
// `look({row, column})` shows from there on, `zoom(factor, x, y)` enlarges around a place of the picture.
export function listen(picture, state, given) {
  listenToPointer(picture, state, given);
  listenToDrags(picture, given);
  listenToKeys(picture, state, given);
  picture.addEventListener("wheel", (event) => {
    if (!event.ctrlKey && !event.metaKey) return; // the wheel alone scrolls the page
    event.preventDefault();
    const lines = event.deltaMode === 1 ? 16 : 1;
    given.zoom(Math.exp(-WHEEL * lines * event.deltaY), ...placeOf(picture, event));
  }, { passive: false });
}

function listenToPointer(picture, state, { plan, point }) {
  const light = (event) => {
    const { left, top, across, down, seen } = plan();
    const [x, y] = placeOf(picture, event);
    const inside = (value, first, count) => (value >= 0 && value < count ? first + value : null);
    const i = inside(Math.floor((y - top) / down), seen.row, seen.rowCount);
    const j = inside(Math.floor((x - left) / across), seen.column, seen.columnCount);
    const named = event.target.closest?.("text.word");
    if (i !== null && j !== null) point(i, j);
    else if (named) point(numberOf(named.dataset.row), numberOf(named.dataset.column));
    else point(null, null);
  };
  picture.addEventListener("pointermove", light);
  picture.addEventListener("pointerdown", light); // a finger has no other way to point
  picture.addEventListener("pointerleave", () => point(null, null));
  picture.addEventListener("blur", () => point(null, null));
}

// One pointer drags the map where only a part of it is seen; two of them zoom.
function listenToDrags(picture, { plan, look, zoom }) {
  const held = new Map();
  let from = null; // where the drag began: the place, and the first row and column there
  let apart = 0; // of two fingers
  const begin = () => {
    const [first] = held.values();
    from = held.size === 1 ? { place: first, view: plan().view, dragging: false } : null;
    apart = held.size === 2 ? distance(...held.values()) : 0;
  };
  picture.addEventListener("pointerdown", (event) => {
    if (event.button !== 0) return;
    held.set(event.pointerId, placeOf(picture, event));
    begin();
  });
  picture.addEventListener("pointermove", (event) => {
    if (!held.has(event.pointerId)) return;
    held.set(event.pointerId, placeOf(picture, event));
    if (held.size === 2) {
      picture.setPointerCapture(event.pointerId); // the cell below the finger is drawn anew
      const [[x1, y1], [x2, y2]] = held.values();
      const now = distance(...held.values());
      if (apart > 0 && now > 0) zoom(now / apart, (x1 + x2) / 2, (y1 + y2) / 2);
      apart = now;
    } else if (from && !plan().whole) drag(event);
  });
  const drag = (event) => {
    const [x, y] = held.get(event.pointerId);
    const [dx, dy] = [x - from.place[0], y - from.place[1]];
    if (!from.dragging && Math.hypot(dx, dy) < DRAG) return;
    from.dragging = true;
    if (!picture.hasPointerCapture(event.pointerId)) picture.setPointerCapture(event.pointerId);
    const { across, down } = plan();
    look({ row: from.view.row - dy / down, column: from.view.column - dx / across });
  };
  for (const end of ["pointerup", "pointercancel", "lostpointercapture", "pointerleave"]) {
    picture.addEventListener(end, (event) => {
      if (end === "pointerleave" && picture.hasPointerCapture(event.pointerId)) return;
      if (held.delete(event.pointerId)) begin();
    });
  }
}

function listenToKeys(picture, state, { plan, point, reveal, look, zoom }) {
  const step = ([down, across], event) => {
    const { rows, columns } = state;
    if (!rows.length || !columns.length) return;
    if (event.shiftKey) {
      const { row, column, rowCount, columnCount } = plan().seen;
      const half = (count) => Math.max(Math.round(count / 2), 1);
      return look({ row: row + down * half(rowCount), column: column + across * half(columnCount) });
    }
    const lit = state.row !== null && state.column !== null;
    const [row, column] = lit
      ? [within(state.row + down, 0, rows.length - 1), within(state.column + across, 0, columns.length - 1)]
      : strongest(state);
    reveal(row, column);
    point(row, column);
  };
  picture.addEventListener("keydown", (event) => {
    if (event.altKey || event.ctrlKey || event.metaKey) return;
    const move = MOVES[event.key];
    if (!move && !(event.key in FACTORS)) return;
    event.preventDefault();
    if (move) return void step(move, event);
    const { x, y, across, down, shows } = plan();
    const lit = state.row !== null && state.column !== null && shows(state.row, state.column);
    zoom(FACTORS[event.key], ...(lit ? [x(state.column) + across / 2, y(state.row) + down / 2] : []));
  });
}

function strongest({ columns, values }) {
  let best = 0;
  for (let k = 1; k < values.length; k += 1) if (values[k] > values[best]) best = k;
  return [Math.floor(best / columns.length), best % columns.length];
}

function placeOf(picture, event) {
  const box = picture.getBoundingClientRect();
  return [event.clientX - box.left, event.clientY - box.top];
}

function distance([x1, y1], [x2, y2]) {
  return Math.hypot(x1 - x2, y1 - y2);
}

function numberOf(text) {
  return text === undefined ? null : Number(text);
}
