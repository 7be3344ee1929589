// All pieces of one look below each other: what changed, what a text was taken for, what is said of its words
// or masked in it, the map, the probabilities, what stands for the whole text, the depths.

import { drawChanges } from "regard/changes.js";
import { drawDocument, judges } from "regard/document.js";
import { h } from "regard/dom.js";
import { drawLens } from "regard/lens.js";
import { drawMarks } from "regard/marks.js";
import { drawMaskedText, drawMasks } from "regard/masked.js";
import { mapPanel } from "regard/panel.js";
import { hasPicture, pictureView } from "regard/picture.js";
import { drawProbabilities, totals } from "regard/probabilities.js";
import { drawStarts, startLayers } from "regard/starts.js";
import { signed } from "regard/text.js";
import { percent } from "regard/views.js";
import { mapsOf, tokenLabel, writtenSide } from "regard/words.js";

// Of the map, of how sure the model is, and of its depths.
function titlesOf(look) {
  const map = hasPicture(look) && judges(look) ? "Where its cells look"
    : judges(look) ? "Where its words look" : "Where it looks";
  const written = writtenSide(look);
  if (written === null) {
    return { map, sure: "What it expects at each place", depth: "What each depth expects there" };
  }
  if (written === "target") return { map, sure: "How sure it is", depth: "What each depth would write" };
  return { map, sure: "How sure it is of each token", depth: "What each depth would write next" };
}

// `state`, `onState` and `onOff` as in panel.js; `onBack(head)` switches a head on again, `onMask(word)`
// masks a word or shows it again. The element has `show(look)`.
export function lookView(state, { onState = null, onOff = null, onBack = null, onMask = null } = {}) {
  const changes = h("div", {});
  const [read, seen, marked, masked, map, sure, starts, depth] = Array.from(
    { length: 8 }, () => h("section", { class: "card" }),
  );
  const grid = h("div", { class: "look-grid" }, map, sure);
  const element = h("div", { class: "look-view" }, changes, read, seen, marked, masked, grid, starts, depth);
  const picture = pictureView(state, { onState });
  seen.append(h("h2", {}, "Where it looks on the picture"), picture);
  let panel = null;
  // The map of a head, at the row of the token from which it was chosen.
  const openAt = (layer, head, place) => {
    panel.open(layer, head);
    panel.light(place);
    map.scrollIntoView({ block: "nearest" });
  };
  element.show = (look) => {
    const titles = titlesOf(look);
    changes.replaceChildren(...[drawChanges(look, { onBack })].filter(Boolean));
    if (panel) panel.show(look);
    else {
      panel = mapPanel(look, state, { onState, onOff });
      map.replaceChildren(h("h2", {}, titles.map), panel);
    }
    const behind = "What it expects at the masks";
    if (look.masks?.length) sure.replaceChildren(h("h2", {}, behind), drawMasks(look));
    else sure.replaceChildren(h("h2", {}, titles.sure), ...expectations(look));
    marked.hidden = !look.marks?.length;
    if (!marked.hidden) marked.replaceChildren(drawMarks(look));
    masked.hidden = !look.masks || !(look.masks.length || onMask);
    if (!masked.hidden) masked.replaceChildren(drawMaskedText(look, { onMask }));
    starts.hidden = !startLayers(look).length;
    if (!starts.hidden) {
      const name = tokenLabel(look.sides.text, look.start);
      const onOpen = (layer, head) => openAt(layer, head, look.start);
      starts.replaceChildren(h("h2", {}, `What each head reads from ${name}`), drawStarts(look, { onOpen }));
    }
    depth.replaceChildren(h("h2", {}, titles.depth), drawLens(look));
    seen.hidden = !hasPicture(look);
    if (!seen.hidden) picture.show(look);
    read.hidden = !judges(look);
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
    view: params.get("view") === "reading" ? "reading" : "map", texts: params.get("texts"),
  };
}

export function stateToKeep({ layer, head, words, next, view, texts }) {
  const rows = next === null ? null : next ? "next" : "read";
  return { layer, head, rows, texts, units: words ? null : "tokens", view: view === "reading" ? view : null };
}

// What is expected at each place; from either side, where a model reads from both ends.
function expectations(look) {
  const { predictions = [], backward = [] } = look;
  const board = (entries) => drawProbabilities({ predictions: entries });
  if (!backward.length) return [...(writtenSide(look) === null ? [] : sureness(predictions)), board(predictions)];
  const ways = [["By what stands before it", predictions], ["By what stands behind it", backward]];
  return ways.flatMap(([title, entries]) => [h("h3", {}, title), ...sureness(entries), board(entries)]);
}

function sureness(predictions) {
  if (!predictions.length) return [];
  const { perToken } = totals(predictions);
  const told = `Log-probability a token ${signed(perToken.toFixed(2))}, which is ${percent(Math.exp(perToken))}. `;
  return [h("p", { class: "hint" }, told, "Point at a token for its alternatives.")];
}
