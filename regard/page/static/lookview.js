// All pieces of one look below each other: what changed, the map, the probabilities, the depths.

import { drawChanges } from "regard/changes.js";
import { drawDocument } from "regard/document.js";
import { h } from "regard/dom.js";
import { drawLens } from "regard/lens.js";
import { mapPanel } from "regard/panel.js";
import { drawProbabilities, totals } from "regard/probabilities.js";
import { percent } from "regard/views.js";
import { signed } from "regard/text.js";
import { mapsOf } from "regard/words.js";

const TITLES = {
  "encoder-decoder": { map: "Where it looks", sure: "How sure it is", depth: "What each depth would write" },
  decoder: {
    map: "Where it looks", sure: "How sure it is of each token", depth: "What each depth would write next",
  },
  encoder: {
    map: "Where it looks", sure: "What it expects at each place", depth: "What each depth expects there",
  },
  classifier: { map: "Where its words look", sure: "", depth: "" },
};

// `state`, `onState` and `onOff` as in panel.js; `onBack(head)` switches a head on again. The element has
// `show(look)`.
export function lookView(state, { onState = null, onOff = null, onBack = null } = {}) {
  const changes = h("div", {});
  const [read, map, sure, depth] = [0, 1, 2, 3].map(() => h("section", { class: "card" }));
  const element = h(
    "div", { class: "look-view" }, changes, read, h("div", { class: "look-grid" }, map, sure), depth,
  );
  let panel = null;
  element.show = (look) => {
    const titles = TITLES[look.family];
    changes.replaceChildren(...[drawChanges(look, { onBack })].filter(Boolean));
    if (panel) panel.show(look);
    else {
      panel = mapPanel(look, state, { onState, onOff });
      map.replaceChildren(h("h2", {}, titles.map), panel);
    }
    sure.replaceChildren(h("h2", {}, titles.sure), ...sureness(look), drawProbabilities(look));
    depth.replaceChildren(h("h2", {}, titles.depth), drawLens(look));
    read.hidden = !look.verdicts?.length;
    if (!read.hidden) read.replaceChildren(drawDocument(look));
    map.hidden = !read.hidden && !mapsOf(look).length;
    sure.hidden = !look.predictions?.length;
    depth.hidden = !look.lens;
    element.hidden = false;
  };
  element.open = (layer, head) => panel?.open(layer, head);
  element.hidden = true;
  return element;
}

// What of a look's state belongs into the address, and back from there.
export function stateFrom(params) {
  const head = params.get("head");
  return {
    layer: params.get("layer"), head: head === null || head === "" ? null : Number(head),
    words: params.get("units") !== "tokens", next: params.has("rows") ? params.get("rows") === "next" : null,
    view: params.get("view") === "reading" ? "reading" : "map",
  };
}

export function stateToKeep({ layer, head, words, next, view }) {
  const rows = next === null ? null : next ? "next" : "read";
  return { layer, head, rows, units: words ? null : "tokens", view: view === "reading" ? view : null };
}

function sureness({ predictions = [], family }) {
  if (!predictions.length || family === "encoder") return [];
  const { total, mean } = totals(predictions);
  const told = `Log-probability ${signed(total.toFixed(2))}: ${percent(mean)} a token. `;
  return [h("p", { class: "hint" }, told, "Point at a token for its alternatives.")];
}
