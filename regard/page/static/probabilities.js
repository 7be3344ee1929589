// How sure the model was of each token, and what else it might have written there.

import { wash } from "regard/colours.js";
import { h } from "regard/dom.js";
import { percent, readable } from "regard/views.js";

// Tokens as buttons, shaded by probability; pointing at one, or focusing it, shows its best alternatives as
// bars.
export function drawProbabilities(look, { onPoint = null } = {}) {
  const entries = look.predictions ?? [];
  if (!entries.length) return h("p", { class: "hint" }, "This model predicts no tokens.");
  const bars = h("div", { class: "alternatives", "aria-live": "polite" });
  const chips = entries.map((entry, place) => chip(entry, place));
  const point = (place) => {
    chips.forEach((one, i) => {
      one.classList.toggle("lit", i === place);
      one.tabIndex = i === place ? 0 : -1;
    });
    bars.replaceChildren(...alternatives(entries[place]));
    onPoint?.(place);
  };
  chips.forEach((one, place) => {
    for (const event of ["pointerenter", "focus", "click"]) one.addEventListener(event, () => point(place));
    one.addEventListener("keydown", (event) => {
      const next = chips[place + ({ ArrowRight: 1, ArrowLeft: -1 }[event.key] ?? NaN)];
      if (next) next.focus();
    });
  });
  point(leastSure(entries));
  return h(
    "div", { class: "probabilities" },
    h("div", { class: "chips", role: "group", "aria-label": "tokens by probability" }, chips), bars,
  );
}

// The log-probabilities of what was written, all together and on average; the end counts as a token.
export function totals(predictions) {
  const total = predictions.reduce((sum, { probability }) => sum + Math.log(Math.max(probability, 1e-30)), 0);
  return { total, perToken: predictions.length ? total / predictions.length : NaN };
}

function chip({ token, probability, rank }, place) {
  const style = { background: wash(probability) };
  const data = { place, probability: Number(probability.toPrecision(6)) };
  const told = `${readable(token)}, ${percent(probability)}, rank ${rank}`;
  const props = { type: "button", class: "chip", style, dataset: data, "aria-label": told };
  return h("button", { ...props, dir: "auto" }, readable(token));
}

function alternatives({ token, probability, rank, best }) {
  const listed = best.some((one) => one.token === token) ? best : [...best, { token, probability }];
  const rows = listed.map((one) => h("li", { class: one.token === token ? "chosen" : "" },
    h("span", { class: "name", dir: "auto" }, readable(one.token)),
    h("span", { class: "bar" }, h("i", { style: { width: `${100 * one.probability}%` } })),
    h("span", { class: "number" }, percent(one.probability))));
  const place = rank === 1 ? "the most probable token here" : `number ${rank} here`;
  return [h("p", { class: "hint" }, h("b", {}, readable(token)), ` is ${place}`), h("ol", {}, rows)];
}

function leastSure(entries) {
  return entries.reduce(
    (least, { probability }, place) => (probability < entries[least].probability ? place : least), 0,
  );
}
