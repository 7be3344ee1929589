// The words beside a matrix, and the sentence below it.

import { h, svg } from "regard/dom.js";
import { share } from "regard/text.js";

const LONGEST_LABEL = 20;
export const TILT = -50; // degrees by which the words of columns are turned

// Words that have room are always there; of the others only those that are lit.
export function wordLabels(state, plan) {
  const rowLabel = (row) => svg("text", {
    class: "word", dataset: { row }, x: plan.left - 7, y: plan.y(row + 0.5) - plan.gap / 2,
    dy: "0.33em", "text-anchor": "end", "font-size": plan.font,
  }, ...named(state.rows[row]));
  const columnLabel = (column) => svg("text", {
    class: "word", dataset: { column }, "font-size": plan.font,
    transform: `translate(${plan.x(column + 0.55)},${plan.top - 7}) rotate(${TILT})`,
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
      const inside = [plan.shows(row, null) ? row : null, plan.shows(null, column) ? column : null];
      lit = [
        inside[0] === null ? null : (rows.get(row) ?? extra(rowLabel(row))),
        inside[1] === null ? null : (columns.get(column) ?? extra(columnLabel(column))),
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

// What is lit, in words: parts of a line.
export function tell(state) {
  const around = state.windows?.[state.row]?.told;
  const parts = tellWeights(state);
  return around && parts.length ? [...parts, `; ${around}`] : [...parts, around].filter(Boolean);
}

function tellWeights({ rows, columns, weights, row, column }) {
  const both = row !== null && column !== null;
  if (both) return [word(rows[row]), " ← ", word(columns[column]), `: ${share(weights(row, column))}`];
  const line = row !== null ? columns.map((name, j) => [name, weights(row, j)]) : [];
  const stack = column !== null ? rows.map((name, i) => [name, weights(i, column)]) : [];
  const best = [...line, ...stack].sort((a, b) => b[1] - a[1]).slice(0, 3);
  if (!best.length) return [];
  const said = best.flatMap(([name, weight], i) => [i ? ", " : "", word(name), ` ${share(weight)}`]);
  return row !== null ? [word(rows[row]), " ← ", ...said] : [word(columns[column]), " → ", ...said];
}

// In its own direction, whatever the words beside it are.
function word(text) {
  return h("bdi", {}, text);
}

function named(text) {
  const short = shorten(text);
  return short === text ? [text] : [short, svg("title", {}, text)];
}

export function shorten(text) {
  const letters = [...text];
  return letters.length > LONGEST_LABEL ? `${letters.slice(0, LONGEST_LABEL - 1).join("")}…` : text;
}

let ruler = null;

// How wide a label will be; asked of the browser, since scripts differ.
export function textWidth(text, font = "13px system-ui, sans-serif") {
  ruler ??= document.createElement("canvas").getContext("2d");
  ruler.font = font;
  return ruler.measureText(text).width;
}
