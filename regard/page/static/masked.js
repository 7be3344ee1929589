// Masked words: a text of which some are hidden, and what the model expects behind each mask.

import { h } from "regard/dom.js";
import { percent, readable } from "regard/views.js";

// The text, with the likeliest word at each mask. `onMask(word)` is given where a word can be masked by a
// click, and shown again by another.
export function drawMaskedText(look, { onMask = null } = {}) {
  const { text } = look.sides;
  const found = look.masks.map(({ place }) => text.word_of[place]);
  const words = text.words.map((word, number) => {
    const masks = look.masks.filter((_, i) => found[i] === number);
    return [shownWord(look, word, number, masks, onMask), parted(text, number) ? h("br", {}) : " "];
  });
  const told = onMask
    ? "Choose a word to mask it, or write [MASK] in the text."
    : "The likeliest word stands at each mask.";
  return h("div", { class: "masked" },
    h("p", { class: "large masked-text", dir: "auto" }, words), h("p", { class: "hint" }, told));
}

// For each mask its likeliest words as bars, and where the hidden one stands among them.
export function drawMasks(look) {
  return h("div", { class: "masks" }, look.masks.map((mask, i) => {
    const { best, token, probability, rank } = look.predictions[mask.place];
    const known = mask.was !== null;
    const there = !known || best.some((one) => one.token === token);
    const listed = there ? best : [...best, { token, probability }];
    const place = rank === 1 ? "the likeliest here" : `number ${rank} here`;
    const title = look.masks.length > 1 ? `Mask ${i + 1}` : "The mask";
    return h("div", { class: "alternatives", dataset: { place: mask.place } },
      h("h3", {}, known ? [`${title}: `, h("b", { class: "lit" }, bare(token)), ` is ${place}`] : title),
      h("ol", {}, listed.map((one) => bar(one, known && one.token === token))));
  }));
}

// A piece of a word as a person reads it.
export function bare(token) {
  return readable(token.replace(/^##/, ""));
}

function shownWord(look, word, number, masks, onMask) {
  const shown = masks.length ? filled(look, number) : word;
  const written = masks.length && masks[0].was === null; // in the text itself: it is taken back there
  const told = masks.map(({ place }) => percent(look.predictions[place].best[0].probability)).join(", ");
  const label = masks.length ? h("span", { class: "sure" }, told) : null;
  if (!onMask || written) {
    return masks.length ? h("mark", { class: "masked-word" }, shown, label) : h("span", {}, word);
  }
  const name = masks.length ? `${masks.map(({ was }) => bare(was)).join("")}, masked` : `mask ${word}`;
  return h("button", {
    type: "button", class: masks.length ? "masked-word" : "plain-word", dataset: { word: number },
    "aria-pressed": masks.length > 0, "aria-label": name, onclick: () => onMask(number),
  }, shown, label);
}

// The pieces of a word, with the likeliest at its masks.
function filled(look, number) {
  const { tokens, word_of: wordOf } = look.sides.text;
  const hidden = new Set(look.masks.map(({ place }) => place));
  const piece = (token, place) => bare(hidden.has(place) ? look.predictions[place].best[0].token : token);
  return tokens.map((token, place) => (wordOf[place] === number ? piece(token, place) : "")).join("");
}

// Whether the second text begins after this word.
function parted({ word_of: wordOf, text_of: textOf = [] }, number) {
  const of = (word) => textOf[wordOf.indexOf(word)];
  return textOf.length > 0 && of(number) === 0 && of(number + 1) === 1;
}

function bar({ token, probability }, chosen) {
  return h("li", { class: chosen ? "chosen" : "" },
    h("span", { class: "name", dir: "auto" }, bare(token)),
    h("span", { class: "bar" }, h("i", { style: { width: `${100 * probability}%` } })),
    h("span", { class: "number" }, percent(probability)));
}
