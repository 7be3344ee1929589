// The picture of each kind of step of a way.

import { h } from "regard/dom.js";
import { digits, limitOf, percent, readable, scaleOf, slider } from "regard/views.js";
import { bars, cells, numberRows, strip } from "regard/way_pictures.js";
import { CELL_PICTURES } from "regard/way_cells.js";
import { probabilitiesAt } from "regard/way_stages.js";

const FEW = 6; // weights that are shown again where their values are mixed
const NOTE = "Exact at temperature 1; elsewhere all other tokens are counted as if each were as likely as "
  + "the last one shown.";

// Steps that differ from head to head.
export const PER_HEAD = new Set(["keys", "scores", "mask", "softmax", "mix"]);

// Draw `step`; `state` has head, numbers and temperature, and `change(part of it)` draws the step again.
export function drawStep(way, step, state, change) {
  return PICTURES[step.kind](way, step, state, change);
}

const PICTURES = {
  tokens, embedding, position, keys, scores, mask, softmax, mix, feedforward, logits, probabilities, ...CELL_PICTURES,
};

function tokens(way, { side, place }) {
  const { tokens: pieces, ids } = way.sides[side];
  return h("ol", { class: "pieces" }, pieces.map((token, i) =>
    h("li", { class: i === place ? "marked" : null }, h("b", {}, readable(token)), h("span", {}, ids[i]))));
}

function embedding(way, { stage, word }, { numbers }) {
  const values = way.array(stage.array).data;
  const limit = limitOf(values);
  return [strip(`Embedding of ${word}`, values, limit, { numbers }), scaleOf(-limit, limit)];
}

// Embedding + position = input, where it is a sum; positions that are concatenated have only a result.
function position(way, { stage, before }, { numbers }) {
  const after = way.array(stage.array).data;
  const from = way.array(before).data;
  const sum = from.length === after.length;
  const added = sum ? after.map((value, i) => value - from[i]) : [];
  const limit = limitOf(from, added, after);
  const parts = [["", "Embedding", from], ["+", "Position", added], ["=", "Input of the first block", after]];
  const term = ([sign, name, values]) => h("div", { class: "term" },
    h("span", { class: "sign", "aria-hidden": "true" }, sum ? sign : ""),
    strip(name, values, limit, { numbers }));
  return [...parts.filter(([, , values]) => values.length).map(term), scaleOf(-limit, limit)];
}

function keys(way, { stage, word, place, side }, { head, numbers }) {
  const width = way.array(stage.keys).shape.at(-1); // a query may have another
  const query = ofHead(way, stage.queries, head);
  const all = ofHead(way, stage.keys, head);
  const names = way.sides[stage.columns].tokens;
  const limit = limitOf(query, all);
  const tell = (row, column, value) => `Key of “${readable(names[row])}”, value ${column}: ${digits(value)}`;
  const mark = stage.columns === side ? place : -1;
  return [
    strip(`Query of ${word}`, query, limit, { numbers }),
    h("figure", { class: "strip" },
      h("figcaption", {}, h("b", {}, "Keys"), ` one for each token, ${width} values`),
      cells({ values: all, columns: width, names, limit, tell, mark, label: "Keys as colours" }),
      numbers && numberRows(all, names, width)),
    scaleOf(-limit, limit),
  ];
}

function scores(way, step, { head, numbers }) {
  return perColumn(way, step, ofHead(way, step.stage.scores, head), "Scores", { numbers });
}

function mask(way, step, { head, numbers }) {
  const options = { numbers, hidden: new Set(step.stage.hidden) };
  return perColumn(way, step, ofHead(way, step.stage.scores, head), "Scores after the mask", options);
}

function softmax(way, step, { head, numbers }, change) {
  const options = { share: true, numbers, hidden: new Set(step.stage.hidden) };
  const weights = perColumn(way, step, ofHead(way, step.stage.weights, head), "Weights", options);
  return [weights, step.stage.heads > 1 && allHeads(way, step.stage, head, change)];
}

function mix(way, step, { head, numbers }) {
  const { stage } = step;
  const results = way.array(stage.mixed).data;
  const output = stage.output ? way.array(stage.output).data : []; // what is mixed may be all there is
  const [limit, most] = [limitOf(results), limitOf(output)];
  const together = { note: `all ${stage.heads} heads side by side`, numbers };
  return [
    perColumn(way, step, ofHead(way, stage.weights, head), "Weights", { share: true, numbers, most: FEW }),
    strip(stage.output ? `Result of head ${head}` : "Context vector", ofHead(way, stage.mixed, head), limit, { numbers }),
    stage.heads > 1 && strip("Results", results, limit, together),
    scaleOf(-limit, limit),
    output.length > 0 && strip("Output", output, most, { note: "added to the stream", numbers }),
    output.length > 0 && scaleOf(-most, most),
  ];
}

function feedforward(way, { stage, before }, { numbers }) {
  const [from, output, after] = [before, stage.output, stage.stream].map((name) => way.array(name).data);
  const limit = limitOf(from, output, after);
  return [
    strip("Stream before the block", from, limit, { numbers }),
    strip("Output of the feed-forward", output, limit, { numbers }),
    strip("Stream after the block", after, limit, { numbers }),
    scaleOf(-limit, limit),
  ];
}

function logits(way, step, { numbers }) {
  const { tokens: names, logits: values } = way.predictions;
  return bars({ names, values, numbers, label: "Logits of the likeliest tokens" });
}

function probabilities(way, step, { temperature, numbers }, change) {
  const names = [...way.predictions.tokens, "all others"];
  const list = h("div", {});
  const draw = (value) => {
    const { shown, others } = probabilitiesAt(way.predictions, value);
    const values = [...shown, others];
    list.replaceChildren(bars({ names, values, share: true, numbers, label: "Probability of each token" }));
  };
  const range = { min: 0.1, max: 3, step: 0.05, value: temperature, tell: (value) => value.toFixed(2) };
  const hot = slider("Temperature", range, (value) => {
    draw(value);
    change({ temperature: value }, false); // the slider must not be drawn anew while it is held
  });
  draw(temperature);
  return [hot.node, list, h("p", { class: "hint" }, NOTE)];
}

// The part of an array (H, …) that belongs to one head.
function ofHead(way, name, head) {
  const { shape, data } = way.array(name);
  const size = data.length / shape[0];
  return data.subarray(head * size, (head + 1) * size);
}

// A bar for each token that is looked at; `most` keeps only the largest, in their order.
function perColumn(way, { stage, side, place }, values, label, options) {
  const { most = Infinity, hidden = new Set(), ...others } = options;
  const all = way.sides[stage.columns].tokens;
  const largest = new Set(Array.from(all.keys()).sort((a, b) => values[b] - values[a]).slice(0, most));
  const kept = Array.from(all.keys()).filter((i) => largest.has(i));
  const rest = values.reduce((sum, value, i) => (largest.has(i) ? sum : sum + value), 0);
  const left = all.length - kept.length;
  const picture = bars({
    ...others, label, names: kept.map((i) => all[i]), values: kept.map((i) => values[i]),
    hidden: new Set(kept.flatMap((i, row) => (hidden.has(i) ? [row] : []))),
    mark: stage.columns === side ? kept.indexOf(place) : -1,
  });
  return h("figure", { class: "strip" },
    h("figcaption", {}, h("b", {}, label), ` of each token of the ${stage.columns}`), picture,
    left > 0 && h("p", { class: "hint" }, `and ${left} others with ${percent(rest)} together`));
}

// The weights of all heads at a glance; a press on one opens it.
function allHeads(way, stage, head, change) {
  const names = way.sides[stage.columns].tokens;
  const tell = (row, column, value) => `Head ${row}, “${readable(names[column])}”: ${percent(value)}`;
  const picture = cells({
    values: way.array(stage.weights).data, columns: names.length, limit: 1, signed: false, tell, mark: head,
    names: Array.from({ length: stage.heads }, (_, i) => `head ${i}`),
    label: "Weights of all heads as colours",
  });
  const canvas = picture.querySelector("canvas");
  canvas.addEventListener("click", ({ offsetY }) => {
    const row = Math.floor((offsetY / canvas.clientHeight) * stage.heads);
    change({ head: Math.min(Math.max(row, 0), stage.heads - 1) });
  });
  return h("figure", { class: "strip" },
    h("figcaption", {}, h("b", {}, "All heads"), " a row each, a column per token"), picture);
}
