// Pictures of vectors and of numbers per token: coloured cells on a canvas, and bars; each tells its values.

import { divergingTable, shadeTable } from "regard/colours.js";
import { h } from "regard/dom.js";
import { digits, percent, readable } from "regard/views.js";

const FOLD = 64; // values in a row of a vector's strip; a longer vector goes on in the next row
const NOTHING = "\u00a0"; // keeps the height of an empty line

// Rows of values as coloured cells, with a name before each row if given. The pointer, or the arrow keys,
// pick a cell, and the line below says what `tell(row, column, value)` puts in words.
//   values   row after row                          columns   how many in a row
//   limit    the value with the strongest colour    signed    false for weights, which begin at 0
export function cells({
  values, columns, limit, label, tell, names = null, mark = -1, signed = true, height = 20,
}) {
  const rows = Math.ceil(values.length / columns);
  const told = h("output", { class: "told", "aria-live": "polite" }, NOTHING);
  const canvas = h("canvas", { class: "cells", role: "img", tabindex: 0, "aria-label": label,
    style: { height: `${rows * height}px` } });
  let picked = -1;
  const paint = () => paintCells(canvas, { values, columns, rows, limit, signed, picked });
  const pick = (i) => {
    const next = i >= 0 && i < values.length ? i : -1;
    if (next === picked) return; // painting thousands of cells anew for nothing would be slow
    picked = next;
    const [row, column] = [Math.floor(picked / columns), picked % columns];
    told.textContent = picked < 0 ? NOTHING : tell(row, column, values[picked]);
    paint();
  };
  const at = ({ offsetX, offsetY }) => {
    const column = Math.min(Math.floor((offsetX / canvas.clientWidth) * columns), columns - 1);
    return Math.floor(offsetY / height) * columns + column;
  };
  canvas.addEventListener("pointermove", (event) => pick(at(event)));
  canvas.addEventListener("pointerleave", () => pick(-1));
  canvas.addEventListener("blur", () => pick(-1));
  canvas.addEventListener("keydown", (event) => {
    const step = { ArrowRight: 1, ArrowLeft: -1, ArrowDown: columns, ArrowUp: -columns }[event.key];
    if (!step) return;
    event.preventDefault(); // here the arrows move over cells, not from step to step
    const next = picked < 0 ? 0 : picked + step;
    if (next >= 0 && next < values.length) pick(next);
  });
  new ResizeObserver(paint).observe(canvas); // sharp at every size
  const named = names?.map((name, i) =>
    h("span", { class: i === mark ? "marked" : null, style: { height: `${height}px` } }, readable(name)));
  const side = named && h("div", { class: "row-names" }, named);
  const picture = h("div", { class: side ? "with-names" : null }, side, canvas);
  return h("div", { class: "cells-box" }, picture, told);
}

// Every cell as a rectangle, at the resolution of the screen; the picked one outlined.
function paintCells(canvas, { values, columns, rows, limit, signed, picked }) {
  const scale = window.devicePixelRatio || 1;
  const width = Math.max(Math.round(canvas.clientWidth * scale), 1);
  const height = Math.round(canvas.clientHeight * scale);
  if (canvas.width !== width) canvas.width = width;
  if (canvas.height !== height) canvas.height = height;
  const pen = canvas.getContext("2d");
  const table = signed ? divergingTable() : shadeTable();
  const gap = width / columns > 5 * scale ? scale : 0;
  const box = (i) => {
    const [row, column] = [Math.floor(i / columns), i % columns];
    const [left, right] = [column, column + 1].map((x) => Math.round((x * width) / columns));
    const [top, bottom] = [row, row + 1].map((y) => Math.round((y * height) / rows));
    return [left, top, right - left - gap, bottom - top - scale];
  };
  pen.clearRect(0, 0, width, height);
  values.forEach((value, i) => {
    const part = value / (limit || 1);
    const entry = 4 * Math.round(255 * Math.min(Math.max(signed ? (part + 1) / 2 : part, 0), 1));
    pen.fillStyle = `rgb(${table[entry]} ${table[entry + 1]} ${table[entry + 2]})`;
    pen.fillRect(...box(i));
  });
  if (picked < 0) return;
  const [x, y, across, down] = box(picked);
  pen.strokeStyle = getComputedStyle(canvas).color;
  pen.lineWidth = 2 * scale;
  pen.strokeRect(x + scale, y + scale, across - 2 * scale, down - 2 * scale);
}

// A vector as a strip of cells under its name.
export function strip(name, values, limit, { note = "", numbers = false } = {}) {
  const columns = Math.min(values.length, FOLD);
  const tell = (row, column, value) => `${name}, value ${row * columns + column}: ${digits(value)}`;
  return h("figure", { class: "strip" },
    h("figcaption", {}, h("b", {}, name), ` ${values.length} values`, note && h("span", {}, note)),
    cells({ values, columns, limit, tell, label: `${name}: ${values.length} values as colours` }),
    numbers && numberList(values));
}

// The values themselves, to three digits.
function numberList(values) {
  return h("div", { class: "numbers", tabindex: 0, role: "group", "aria-label": "the numbers" },
    Array.from(values, (value) => h("span", {}, digits(value))));
}

// Rows of values, each after its name.
export function numberRows(values, names, columns) {
  const shown = names.map(readable);
  const widest = Math.max(...shown.map((name) => name.length));
  const row = (i) => Array.from(values.slice(i * columns, (i + 1) * columns), (value) => digits(value));
  const line = (name, i) => [name.padEnd(widest), ...row(i).map((value) => value.padStart(7))].join(" ");
  const text = shown.map(line).join("\n");
  return h("pre", { class: "number-rows", tabindex: 0, "aria-label": "the numbers" }, text);
}

// A bar per token. Values below zero go to the left of the axis; hidden places have no bar.
//   share    values are parts of 1, and told as such     mark    the place to print bold
//   numbers  tell the values of others as well, and shares to three digits
export function bars({
  names, values, label, hidden = new Set(), mark = -1, share = false, numbers = false,
}) {
  const seen = Array.from(values).filter((_, i) => !hidden.has(i));
  const [low, high] = share ? [0, 1] : [Math.min(0, ...seen), Math.max(0, ...seen)];
  const percentOf = (value) => (100 * value) / (high - low || 1);
  const axis = () => low < 0 && h("span", { class: "axis", style: { left: `${percentOf(-low)}%` } });
  const bar = (value) => value !== 0 && h("span", { class: value < 0 ? "bar below" : "bar",
    style: { left: `${percentOf(Math.min(value, 0) - low)}%`, width: `${percentOf(Math.abs(value))}%` } });
  const rows = names.map((name, i) => {
    const off = hidden.has(i);
    const said = off ? "hidden" : share && !numbers ? percent(values[i]) : digits(values[i]);
    const classes = [i === mark && "marked", off && "hidden-bar"].filter(Boolean).join(" ");
    const data = { place: i, value: String(values[i]) };
    const inside = off ? h("span", { class: "none" }, share ? "" : "−∞") : bar(values[i]);
    return h("li", { class: classes || null, title: `${readable(name)}: ${said}`, dataset: data },
      h("span", { class: "name", dir: "auto" }, readable(name)), h("span", { class: "lane" }, inside, axis()),
      h("span", { class: numbers || share ? "value" : "value sr" }, said));
  });
  return h("ol", { class: "bars", "aria-label": label, tabindex: names.length > 14 ? 0 : null }, rows);
}
