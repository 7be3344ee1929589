// The view of all heads: type a text or two, open a head, pick a word.

import { postLook } from "regard/api.js";
import { debounce, h } from "regard/dom.js";
import { drawHeads, drawOpened, firstHead, mapOf } from "regard/heads.js";
import { textChoices } from "regard/pairs.js";
import { fieldsOf, given, missing, textBoxes } from "regard/readview.js";
import { grow, typed } from "regard/translate.js";
import { choice, newest, statusLine } from "regard/views.js";
import { mappedLayers } from "regard/words.js";

export async function show(place, { run, view: { takes }, params, signal, keep }) {
  const boxes = textBoxes(run, takes, params);
  const number = (name) => (params.has(name) ? Number(params.get(name)) : null);
  const state = {
    layer: params.get("layer"), head: number("head"), word: number("word"),
    words: params.get("units") !== "tokens", texts: params.get("texts"),
  };
  const status = statusLine();
  const both = [["words", "words"], ["tokens", "tokens"]];
  const units = choice("Between", both, state.words ? "words" : "tokens", (value) => {
    state.words = value === "words";
    state.word = null;
    keep({ units: state.words ? null : "tokens", word: null });
    open();
  });
  const blocks = choice("From text to text", [], "", (value) => {
    [state.texts, state.word] = [value || null, null];
    keep({ texts: state.texts, word: null });
    open();
  });
  const grid = h("section", { class: "card" });
  const opened = h("section", { class: "card opened-place" });
  const board = h("div", { class: "heads-board", hidden: true }, grid, opened);
  const input = takes[1]?.needed ? "pair" : "sentence";
  place.append(
    h("header", {}, h("h1", {}, "Heads"),
      h("p", { class: "lead" }, `${run.name}: every head of every layer on one ${input}.`)),
    fieldsOf(takes, boxes), status.node, board);

  let look = null;
  let all = null;
  const open = () => {
    if (!look || state.layer === null) return;
    const title = `${state.layer}, head ${state.head}`;
    const onPick = (word) => {
      state.word = word;
      keep({ word });
    };
    const choices = textChoices(mapOf(look, state.layer, state.head, state.words));
    const texts = choices && state.texts;
    if (choices) blocks.fill(choices, texts ?? "");
    const controls = h("div", { class: "controls" }, choices && blocks.node, units.node);
    opened.replaceChildren(h("div", { class: "opened-head" }, h("h2", {}, title), controls),
      drawOpened(look, state.layer, state.head, { words: state.words, picked: state.word, onPick, texts }));
  };
  const onOpen = (layer, head) => {
    [state.layer, state.head] = [layer, head];
    keep({ layer, head });
    open();
  };
  const refresh = newest(async (inTime) => {
    keep(given(boxes));
    if (missing(takes, boxes)) return void (board.hidden = true);
    look = await postLook("/api/look", { run: run.name, ...given(boxes) }, inTime);
    if (!mappedLayers(look).length) {
      throw new Error("This model has no attention, so there are no heads to show.");
    }
    const known = look.layers.some(({ name, heads }) => name === state.layer && state.head < heads);
    if (!known) [state.layer, state.head] = firstHead(look);
    board.hidden = false;
    all = drawHeads(look, { onOpen, opened: [state.layer, state.head] });
    grid.replaceChildren(all);
    open();
  }, signal, status, "The model is reading …");
  for (const box of boxes) {
    typed(box, debounce(() => {
      state.word = null;
      return refresh();
    }, 350));
    grow(box);
  }
  await refresh();
}
