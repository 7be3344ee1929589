// One text as two classifiers read it: what each takes it for, what each attends to, and where they differ.

import { diverging } from "regard/colours.js";
import { drawDocument, scaleOf, SENTENCES, SHARES } from "regard/document.js";
import { h } from "regard/dom.js";
import { percent } from "regard/views.js";

export function drawDocuments(looks, names) {
  const alike = looks.every((look) => look.has(SENTENCES) === looks[0].has(SENTENCES));
  const both = scaleOf(looks);
  // Bars are shares of all attention in either; words of weighed sentences are shaded by another quantity.
  const scales = looks.map((look) => (alike ? both : { ...scaleOf([look]), listed: both.listed }));
  const cards = looks.map((look, i) =>
    h("div", { class: "card" }, h("h3", {}, names[i]), drawDocument(look, scales[i])));
  const told = alike ? "Both texts have one scale of shades and bars."
    : "Bars have one scale. Shades do not: one of the two weighs sentences, and its words within them.";
  const shift = drawShift(looks, names);
  const title = "Who attends to which word more";
  return [h("div", { class: "pair" }, cards), h("p", { class: "hint" }, told),
    shift && h("div", { class: "card below" }, h("h3", {}, title), shift)];
}

// The words of a text that two models read, orange where the first attends to them more, blue where the
// second does; null where one of them does not tell. Each one's shares are counted among the words that
// both read.
function drawShift(looks, names) {
  if (!looks.every((look) => look.has(SHARES))) return null;
  const { words } = looks[0].sides.text;
  const shares = looks.map((look) => wordShares(look));
  const count = Math.min(...looks.map((look) => look.sides.text.words.length));
  const sums = shares.map((one) => one.slice(0, count).reduce((sum, share) => sum + share, 0) || 1);
  const moved = words.slice(0, count).map((_, i) => shares[0][i] / sums[0] - shares[1][i] / sums[1]);
  const most = Math.max(1e-9, ...moved.map(Math.abs));
  const shown = moved.flatMap((value, i) => {
    const title = names.map((name, k) => `${name} ${percent(shares[k][i] / sums[k])}`).join(", ");
    const style = { background: diverging((0.45 * value) / most) };
    const data = { moved: value.toPrecision(4) };
    return [h("span", { class: "word", title, style, dataset: data }, words[i]), " "];
  });
  const share = percent(moved.reduce((sum, value) => sum + Math.abs(value), 0) / 2);
  return h("div", { class: "documents" }, h("div", { class: "reading", dir: "auto" }, shown),
    h("p", { class: "hint" }, `Orange: ${names[0]} attends to it more. Blue: ${names[1]} does. `
      + `${share} of the attention goes to other words. Point at a word for both shares.`));
}

// How much each word counts: the sum of its tokens.
function wordShares(look) {
  const { words, word_of: wordOf } = look.sides.text;
  const found = new Float64Array(words.length);
  look.array(SHARES).data.forEach((share, place) => {
    if (wordOf[place] !== null) found[wordOf[place]] += share;
  });
  return found;
}
