// What the playback shows of a step: the map, and the scores of the newest validation.

import { getJson } from "regard/api.js";
import { drawCurves } from "regard/curves.js";
import { h } from "regard/dom.js";
import { drawMatrix } from "regard/matrix.js";
import { figure, metricName } from "regard/text.js";
import { goldCells, mapsOf, mergeWords } from "regard/words.js";

// The matrix; while its words stay the same only its colours change, so nothing flickers and the pointer
// keeps its cell. `update(look, {layer, head})`, where head null is the mean of all; `reading` is the layer
// that the run recorded as its alignment, if any.
export function drawFilm(reading) {
  const [title, box, note] = [h("h2", {}), h("div", { class: "matrix-place" }), h("p", { class: "hint" })];
  let drawn = null;
  const update = (look, { layer, head }) => {
    const entry = mapsOf(look).find(({ name }) => name === layer);
    const next = entry.role === "cross" && !(layer === reading?.layer && reading.shift === 1);
    const map = mergeWords(look, layer, head, { next });
    const gold = entry.rows === "target" && entry.columns === "source" ? goldCells(look, map) : [];
    const words = JSON.stringify([map.rows, map.columns]);
    if (drawn?.words === words) drawn.matrix.update(map.weights, gold, map.windows);
    else {
      drawn = { words, matrix: drawMatrix({ ...map, gold, label: "Attention between words", most: 1 }) };
      box.replaceChildren(drawn.matrix);
    }
    const whose = head === null ? "mean of its heads" : `head ${head}`;
    title.textContent = entry.heads === 1 ? entry.title : `${entry.title}, ${whose}`;
    note.textContent = noteOn(entry, next, map, gold);
  };
  return { node: h("div", {}, title, box, note), update };
}

function noteOn({ role }, next, map, gold) {
  return [
    role === "cross" && `A row is the word ${next ? "that is written next" : "just read"}.`,
    gold.length && "Outlined: the gold alignment.",
    gold.length && `Alignment error rate of this map at this step: ${errorRate(map, gold).toFixed(2)}.`,
  ].filter(Boolean).join(" ");
}

// 1 - 2 · agreeing links ÷ all links, where each target word links to the source word that it looks at most.
function errorRate(map, gold) {
  const [rows, columns] = [[...map.rowOfWord.values()], [...map.columnOfWord.values()]];
  const best = (row) => columns.reduce((a, b) => (map.weights(row, b) > map.weights(row, a) ? b : a));
  const found = new Map(rows.map((row) => [row, best(row)]));
  const agree = gold.filter(([column, row]) => found.get(row) === column).length;
  return 1 - (2 * agree) / (rows.length + gold.length);
}

// The scores of the newest validation up to a step, and their curve with the step marked. `follow(address)`
// reads the records that have come since it was last called; `update(step)` draws.
export function drawScores() {
  const figures = h("dl", { class: "figures" });
  const hint = h("p", { class: "hint" });
  const curve = h("div", { class: "score-curve" });
  const validations = [];
  let [after, at, chart] = [0, null, null];
  const draw = () => {
    const now = validations.findLast(({ step }) => step <= at);
    const names = Object.keys(now?.metrics ?? {});
    figures.replaceChildren(...names.map((name) =>
      h("div", {}, h("dt", {}, metricName(name)), h("dd", {}, figure(now.metrics[name])))));
    hint.textContent = validations.length ? "Before the first validation." : "No validation was recorded.";
    hint.hidden = Boolean(now);
    const lines = curvesOf(validations, now);
    if (!lines.length) return;
    if (chart) return void chart.update(lines);
    chart = drawCurves({ curves: lines, label: "Over the steps" });
    curve.replaceChildren(chart);
  };
  const update = (step) => {
    at = step;
    draw();
  };
  const follow = async (address, signal) => {
    const { records, next } = await getJson(`${address}/records?after=${after}`, signal);
    after = next;
    validations.push(...records.filter(({ event }) => event === "validation"));
    draw();
  };
  return { node: h("div", {}, h("h2", {}, "Validation"), figures, hint, curve), update, follow };
}

// The first score that is not the loss, over all steps, and a dot where we are.
function curvesOf(validations, now) {
  const names = Object.keys(validations.at(-1)?.metrics ?? {});
  const shown = names.find((name) => name !== "loss") ?? names[0];
  if (!shown) return [];
  const whole = { name: metricName(shown), points: validations.map(({ step, metrics }) => [step, metrics[shown]]) };
  const here = now && { name: `step ${figure(now.step)}`, points: [[now.step, now.metrics[shown]]] };
  return here ? [whole, here] : [whole];
}
