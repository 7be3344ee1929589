// One position scheme: what it adds to the input, and what it adds to the scores, as images and as curves.

import { drawCurves } from "regard/curves.js";
import { h } from "regard/dom.js";
import { imageOf } from "regard/positions_image.js";
import { choice, digits } from "regard/views.js";

const TITLES = {
  none: "No positions", sinusoidal: "Sinusoidal", learned: "Learned", relative: "Relative vectors",
  alibi: "ALiBi", t5: "T5 buckets", rotary: "Rotary", order: "Order number", fraction: "Fraction of the length",
};
const LEARNT = " Its numbers are learnt; these are the ones that training starts from.";
const MOST_CURVES = 6; // more lines than colours could not be told apart

export function titleOf(kind) {
  return TITLES[kind] ?? kind;
}

// {node, seeFrom(place)}; `onFrom(place)` is called when a person picks a place in the image.
export function drawScheme(picture, from, onFrom) {
  const distance = drawDistance(picture, from, onFrom);
  const node = h("section", { class: "scheme" },
    h("h2", {}, titleOf(picture.kind)),
    h("p", { class: "says" }, picture.about, picture.learnt && LEARNT),
    h("div", { class: "pictures" }, drawInput(picture), distance.nodes));
  return { node, seeFrom: distance.seeFrom };
}

// What is added to the input; a click on a column of the image draws its curve as well.
function drawInput(picture) {
  if (!picture.image) return nothingAdded(picture);
  const { shape: [length, width], data } = picture.array(picture.image);
  const value = (i, j) => data[i * width + j];
  const columns = usualColumns(width);
  const lines = () => columns.map((j) => ({
    name: `value ${j}`, points: Array.from({ length }, (_, i) => [i, value(i, j)]),
  }));
  const curves = drawCurves({ curves: lines(), label: "Over the places", xLabel: "place" });
  const toggle = (_, j) => {
    const at = columns.indexOf(j);
    if (at < 0) columns.push(j);
    else if (columns.length > 1) columns.splice(at, 1);
    if (columns.length > MOST_CURVES) columns.shift();
    curves.update(lines());
  };
  const image = imageOf({
    height: length, width, value, ...ends(data), down: "place", across: "value", onPick: toggle,
    label: `${picture.kind}: what is added to the input`,
    tell: (i, j, number) => `place ${i}, value ${j}: ${digits(number)}`,
  });
  return [
    h("div", { class: "card" }, h("h3", {}, "Added to the input"), image),
    h("div", { class: "card" }, curves,
      h("p", { class: "hint" }, "A click on a column of the image adds its curve, another takes it away.")),
  ];
}

function nothingAdded({ kind }) {
  const why = kind === "none" ? "Without positions, a sentence is a bag of words."
    : "This scheme leaves the input alone and works inside attention, on queries, keys or scores.";
  return h("div", { class: "card nothing" }, h("h3", {}, "Added to the input: nothing"), h("p", {}, why));
}

// Fast and slow ones: the first, and some at even distances.
function usualColumns(width) {
  return [...new Set([0, width / 8, width / 4, width / 2].map((j) => 2 * Math.floor(j / 2)))];
}

// What position alone adds to a score: for all pairs of places, and from one place to all others.
function drawDistance(picture, from, onFrom) {
  const { shape: [heads, length], data } = picture.array(picture.products);
  const score = (head, i, j) => data[(head * length + i) * length + j];
  const drawn = evenly(heads);
  const lines = (place) => drawn.map((head) => ({
    name: heads > 1 ? `head ${head}` : "score",
    points: Array.from({ length }, (_, j) => [j - place, score(head, place, j)]),
  }));
  const curves = drawCurves({ curves: lines(from), label: "Over the distance", xLabel: "distance" });
  const box = h("div", {});
  const range = ends(data);
  let [image, head, at] = [null, 0, from];
  const drawImage = () => {
    image = imageOf({
      height: length, width: length, value: (i, j) => score(head, i, j), ...range, square: true,
      down: "from place", across: "to place", onPick: (i) => onFrom(i),
      label: `${picture.kind}: what position adds to the score of each pair of places`,
      tell: (i, j, number) => `from ${i} to ${j}: ${digits(number)}`,
    });
    image.mark(at);
    box.replaceChildren(image);
  };
  const seeFrom = (place) => {
    at = place;
    image.mark(place);
    curves.update(lines(place));
  };
  const options = Array.from({ length: heads }, (_, k) => [k, String(k)]);
  const pick = heads > 1 && choice("Head", options, 0, (chosen) => {
    head = Number(chosen);
    drawImage();
  });
  drawImage();
  const nodes = [
    h("div", { class: "card" },
      h("div", { class: "card-head" }, h("h3", {}, "Between any two places"), pick && pick.node), box),
    h("div", { class: "card" }, curves, h("p", { class: "hint" },
      "What position alone adds to the score. A click on a row of the image sees it from there.")),
  ];
  return { nodes, seeFrom };
}

// At most as many heads as there are colours, at even distances.
function evenly(heads) {
  const every = Math.ceil(heads / MOST_CURVES);
  return Array.from({ length: heads }, (_, head) => head).filter((head) => head % every === 0);
}

function ends(values) {
  return { low: values.reduce((a, b) => Math.min(a, b)), high: values.reduce((a, b) => Math.max(a, b)) };
}
