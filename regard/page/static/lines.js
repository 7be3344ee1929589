// One map as lines between two columns of words: the stronger the weight, the more solid the line.

import { wash } from "regard/colours.js";
import { fitted, h, svg } from "regard/dom.js";
import { textWidth } from "regard/matrix_words.js";
import { share } from "regard/text.js";

const LEAST = 0.02; // weaker lines cannot be seen anyway
const ROOM = 620; // pixels across at most: lines that are too long say less
const MOST_LINES = 1500; // the strongest are kept, so that a long text stays quick
const GAP = 18; // pixels between two texts

// Rows stand left, columns right; `weights(i, j)`. `picked` is a row, or null for all; `onPick(row | null)`
// is called when a person picks; before `rowBreaks` and `columnBreaks` another text begins. The element has
// `pick(row)`.
export function drawLines({
  rows, columns, weights, picked = null, onPick = null, label = "lines", rowBreaks = [], columnBreaks = [],
}) {
  const element = h("div", { class: "lines-fit" });
  let show = null;
  const pick = (row) => {
    picked = row;
    show(row);
  };
  const choose = (row) => {
    pick(row === picked ? null : row);
    onPick?.(picked);
  };
  const build = (room) => {
    const plan = { ...layOut(rows, columns, room), rowBreaks, columnBreaks };
    plan.height += GAP * Math.max(rowBreaks.length, columnBreaks.length);
    const drawn = svg("g", { class: "strokes" });
    const left = rows.map((word, i) => rowWord(word, i, plan));
    const right = columns.map((word, j) => columnWord(word, j, plan));
    const size = { width: plan.width, height: plan.height };
    element.replaceChildren(svg("svg", { class: "lines", ...size, role: "group", "aria-label": label },
      drawn, svg("g", {}, right), svg("g", {}, left)));
    listen(left, () => picked, choose);
    show = (row) => {
      left.forEach((word, i) => {
        word.classList.toggle("lit", i === row);
        word.setAttribute("aria-pressed", i === row);
        word.setAttribute("tabindex", i === (row ?? 0) ? 0 : -1);
      });
      right.forEach((word, j) => showReceived(word, row === null ? null : weights(row, j)));
      drawn.replaceChildren(...strokes(rows, columns, weights, row, plan));
    };
    show(picked);
  };
  element.pick = pick;
  build(ROOM);
  fitted(element, (room) => build(Math.min(room, ROOM)));
  return element;
}

// A word is picked by a click, Enter or Space; the arrow keys go on to its neighbours.
function listen(left, picked, choose) {
  left.forEach((word, i) => {
    word.addEventListener("click", () => choose(i));
    word.addEventListener("keydown", (event) => {
      if (event.key === "Enter" || event.key === " ") choose(i);
      else if (event.key === "Escape") choose(picked());
      else if (event.key === "ArrowDown" || event.key === "ArrowUp") {
        const next = Math.min(Math.max(i + (event.key === "ArrowDown" ? 1 : -1), 0), left.length - 1);
        if (next !== picked()) choose(next);
        left[next].focus();
      } else return;
      event.preventDefault();
    });
  });
}

function layOut(rows, columns, room) {
  const widest = (words) => Math.ceil(
    Math.max(0, ...words.map((word) => textWidth(word, "15px system-ui, sans-serif"))),
  );
  const step = Math.max(rows.length, columns.length) > 40 ? 20 : 28;
  const [from, to] = [widest(rows) + 16, widest(columns) + 22];
  const span = Math.max(90, room - from - to);
  const count = Math.max(rows.length, columns.length);
  return {
    step, from, to: from + span, width: from + span + to, height: count * step + 8, rowBox: widest(rows) + 14,
    box: widest(columns) + 14,
  };
}

function middle(place, { step }, breaks) {
  return 4 + (place + 0.5) * step + GAP * breaks.filter((before) => before <= place).length;
}

function rowWord(word, i, plan) {
  const props = { class: "word pickable", role: "button", "aria-pressed": false, "aria-label": word };
  return svg("g", { ...props, dataset: { row: i } },
    svg("rect", { ...band(i, plan, plan.rowBreaks), x: plan.from - plan.rowBox - 2, width: plan.rowBox }),
    svg("text", {
      x: plan.from - 9, y: middle(i, plan, plan.rowBreaks), dy: "0.34em", "text-anchor": "end",
    }, word));
}

function columnWord(word, j, plan) {
  return svg("g", { class: "word", dataset: { column: j } },
    svg("rect", { ...band(j, plan, plan.columnBreaks), x: plan.to + 2, width: plan.box }),
    svg("text", { x: plan.to + 9, y: middle(j, plan, plan.columnBreaks), dy: "0.34em" }, word),
    svg("title", {}, word));
}

// The height of one word, for what lies behind it.
function band(place, plan, breaks) {
  return { y: middle(place, plan, breaks) - plan.step / 2 + 1, height: plan.step - 2, rx: 5 };
}

// What a word receives from the picked row, as the shade behind it.
function showReceived(word, weight) {
  const box = word.querySelector("rect");
  box.style.fill = weight === null || weight < LEAST ? "none" : wash(weight);
  word.classList.toggle("faint", weight !== null && weight < LEAST);
  word.querySelector("title").textContent = weight === null ? "" : share(weight);
}

function strokes(rows, columns, weights, picked, plan) {
  const found = [];
  for (let i = 0; i < rows.length; i += 1) {
    if (picked !== null && picked !== i) continue;
    for (let j = 0; j < columns.length; j += 1) {
      const weight = weights(i, j);
      if (weight >= LEAST) found.push([weight, i, j]);
    }
  }
  found.sort((a, b) => b[0] - a[0]);
  const bend = (plan.to - plan.from) * 0.45;
  return found.slice(0, MOST_LINES).reverse().map(([weight, i, j]) => {
    const [y1, y2] = [middle(i, plan, plan.rowBreaks), middle(j, plan, plan.columnBreaks)];
    const path = `M${plan.from},${y1} C${plan.from + bend},${y1} ${plan.to - bend},${y2} ${plan.to},${y2}`;
    const look = {
      class: "stroke", d: path, "stroke-opacity": weight.toFixed(3),
      "stroke-width": (1 + 2.5 * weight).toFixed(2),
    };
    return svg("path", { ...look, dataset: { row: i, column: j, weight: Number(weight.toPrecision(6)) } },
      svg("title", {}, `${rows[i]} ← ${columns[j]}: ${share(weight)}`));
  });
}
