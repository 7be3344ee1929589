// Two texts that are read as one: where the second begins in a map, and what goes from which to which.

import { percent } from "regard/views.js";

const NAMES = ["first", "second"];

// Lines for drawMatrix and gaps for drawLines: before which row and which column the second text begins.
export function breaksOf({ rowTexts, columnTexts }) {
  return { rowBreaks: beginning(rowTexts), columnBreaks: beginning(columnTexts) };
}

// Of a map the part from one text to one text: `block` is "00", "01", "10" or "11", or empty for all of it.
export function between(map, block) {
  if (!block || !map.rowTexts || !map.columnTexts) return map;
  const [from, to] = [...block].map(Number);
  const [rows, columns] = [placesOf(map.rowTexts, from), placesOf(map.columnTexts, to)];
  return {
    rows: rows.map((i) => map.rows[i]),
    columns: columns.map((j) => map.columns[j]),
    weights: (i, j) => map.weights(rows[i], columns[j]),
    rowTexts: null,
    columnTexts: null,
  };
}

// What a person can choose, [block, words], each with the share of a row's attention that goes there on
// average; null of a single text.
export function textChoices(map) {
  if (!map.rowTexts || !map.columnTexts) return null;
  const told = (from, to) => {
    const share = percent(shareOf(between(map, `${from}${to}`)));
    return [`${from}${to}`, `${NAMES[from]} → ${NAMES[to]}: ${share}`];
  };
  return [["", "all of both"], told(0, 0), told(0, 1), told(1, 0), told(1, 1)];
}

function shareOf({ rows, columns, weights }) {
  let sum = 0;
  for (const i of rows.keys()) for (const j of columns.keys()) sum += weights(i, j);
  return sum / Math.max(rows.length, 1);
}

function placesOf(texts, number) {
  return texts.flatMap((one, place) => (one === number ? [place] : []));
}

function beginning(texts) {
  const at = texts?.indexOf(1) ?? -1;
  return at > 0 ? [at] : [];
}
