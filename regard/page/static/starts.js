// What each head reads from the token in front of a text, [CLS], which stands for all of it: layers × heads
// of small pictures, with a bar for every token.

import { h } from "regard/dom.js";
import { roam } from "regard/heads.js";
import { share } from "regard/text.js";
import { percent } from "regard/views.js";
import { mappedLayers, tokenLabel } from "regard/words.js";

const [BAR, HIGH] = [4, 40]; // pixels of a bar and of a picture
const TOLD = 4; // tokens that are told of a head
const COLOURS = ["--soft", "--data", "--second"]; // of the special tokens, the first text, the second

// The layers that have such a token, none where a model has not.
export function startLayers(look) {
  const whole = ({ name, role, rows, columns }) => role === "self" && rows === columns && look.has(name);
  return Number.isInteger(look.start) ? mappedLayers(look).filter(whole) : [];
}

// A grid of buttons, `.start-head[data-layer][data-head]`; `onOpen(layer, head)`. The highest bar of a word
// in any picture is as high as a picture; what a special token receives beyond that is cut.
export function drawStarts(look, { onOpen = null } = {}) {
  const layers = startLayers(look);
  const side = look.sides[layers[0].rows];
  const kinds = side.tokens.map((_, place) => kindOf(side, place));
  const rows = layers.map((layer) => ({ ...layer, heads: rowsOf(look, layer) }));
  const full = Math.max(1e-9, ...rows.flatMap(({ heads }) => heads.map((row) => mostOf(row, kinds))));
  const told = h("output", { class: "told", "aria-live": "polite" });
  const buttons = [];
  const lines = rows.map(({ name, index, heads }) => h("div", { class: "start-row" },
    h("span", { class: "layer-number" }, `${index}`), heads.map((row, head) => {
      const button = startButton(name, head, row, side, kinds, full, told);
      button.addEventListener("click", () => {
        for (const one of buttons) one.setAttribute("aria-pressed", one === button);
        onOpen?.(name, head);
      });
      buttons.push(button);
      return button;
    })));
  const most = Math.max(...rows.map(({ heads }) => heads.length));
  const grid = h("div", { class: "starts", style: { "--heads": most } }, lines);
  roam(grid, buttons);
  return h("figure", { class: "starts-place" }, h("p", { class: "hint" }, explained(side, look.start, full)),
    h("div", { class: "scroll" }, grid), h("figcaption", {}, told, legend(side)));
}

// For each head the row of that token: (heads, tokens).
function rowsOf(look, { name }) {
  const { shape: [heads, height, width], data } = look.array(name);
  const from = (head) => (head * height + look.start) * width;
  return Array.from({ length: heads }, (_, head) => data.subarray(from(head), from(head) + width));
}

// 0 for a special token, 1 for the first text or the only one, 2 for the second.
function kindOf({ word_of: wordOf, text_of: textOf }, place) {
  if (textOf?.length) return textOf[place] === null ? 0 : textOf[place] + 1;
  return wordOf[place] === null ? 0 : 1;
}

function mostOf(row, kinds) {
  return row.reduce((best, weight, place) => (kinds[place] && weight > best ? weight : best), 0);
}

function startButton(layer, head, row, side, kinds, full, told) {
  const best = [...row.keys()].sort((a, b) => row[b] - row[a]).slice(0, TOLD);
  const parts = best.map((place) => `${tokenLabel(side, place)} ${share(row[place])}`);
  const text = `${layer}, head ${head}: ${parts.join(", ")}${shares(row, kinds)}`;
  const canvas = h("canvas", { width: BAR * row.length, height: HIGH, "aria-hidden": true });
  paint(canvas, row, kinds, full);
  const tell = () => (told.textContent = text);
  return h("button", {
    type: "button", class: "start-head", tabindex: -1, title: text, "aria-label": text, "aria-pressed": false,
    dataset: { layer, head }, onpointerenter: tell, onfocus: tell,
  }, canvas);
}

// How the attention is shared out among two texts.
function shares(row, kinds) {
  if (!kinds.includes(2)) return "";
  const sums = [0, 0, 0];
  row.forEach((weight, place) => (sums[kinds[place]] += weight));
  return `; first text ${percent(sums[1])}, second ${percent(sums[2])}`;
}

function paint(canvas, row, kinds, full) {
  const style = getComputedStyle(document.documentElement);
  const colours = COLOURS.map((name) => style.getPropertyValue(name));
  const pen = canvas.getContext("2d");
  row.forEach((weight, place) => {
    const high = Math.min(weight / full, 1) * HIGH;
    pen.fillStyle = colours[kinds[place]];
    pen.globalAlpha = kinds[place] ? 1 : 0.45;
    pen.fillRect(BAR * place, HIGH - high, BAR - 1, high);
  });
}

function explained(side, start, full) {
  return `One picture for each head: how much ${tokenLabel(side, start)} takes from every token, from left `
    + `to right. A full bar is ${share(full)}. Choose one to see its whole map.`;
}

function legend({ text_of: texts }) {
  const names = texts?.length ? ["special tokens", "first text", "second text"] : ["special tokens", "words"];
  return h("span", { class: "names" }, names.map((name, i) => {
    const style = { background: `var(${COLOURS[i]})`, opacity: i ? 1 : 0.45 };
    return h("span", {}, h("i", { style }), name);
  }));
}
