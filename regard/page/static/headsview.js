// The view of all heads: type a text, open a head, pick a word.

import { postLook } from "regard/api.js";
import { debounce, h } from "regard/dom.js";
import { drawHeads, drawOpened, firstHead } from "regard/heads.js";
import { exampleOf, grow, typed, writing } from "regard/translate.js";
import { choice, field, newest, statusLine } from "regard/views.js";

export async function show(place, { run, params, signal, keep }) {
  const text = writing(params.get("text") ?? (await exampleOf(run, signal)), "Type a sentence");
  const number = (name) => (params.has(name) ? Number(params.get(name)) : null);
  const state = {
    layer: params.get("layer"), head: number("head"), word: number("word"),
    words: params.get("units") !== "tokens",
  };
  const status = statusLine();
  const both = [["words", "words"], ["tokens", "tokens"]];
  const units = choice("Between", both, state.words ? "words" : "tokens", (value) => {
    state.words = value === "words";
    state.word = null;
    keep({ units: state.words ? null : "tokens", word: null });
    open();
  });
  const grid = h("section", { class: "card" });
  const opened = h("section", { class: "card opened-place" });
  const board = h("div", { class: "heads-board", hidden: true }, grid, opened);
  place.append(
    h("header", {}, h("h1", {}, "Heads"),
      h("p", { class: "lead" }, `${run.name}: every head of every layer on one sentence.`)),
    h("div", { class: "pair single" }, field("Sentence", text)), status.node, board);

  let look = null;
  let all = null;
  const open = () => {
    if (!look || state.layer === null) return;
    const title = `${state.layer}, head ${state.head}`;
    const onPick = (word) => {
      state.word = word;
      keep({ word });
    };
    opened.replaceChildren(h("div", { class: "opened-head" }, h("h2", {}, title), units.node),
      drawOpened(look, state.layer, state.head, { words: state.words, picked: state.word, onPick }));
  };
  const onOpen = (layer, head) => {
    [state.layer, state.head] = [layer, head];
    keep({ layer, head });
    open();
  };
  const refresh = newest(async (inTime) => {
    keep({ text: text.value });
    if (!text.value.trim()) return void (board.hidden = true);
    look = await postLook("/api/look", { run: run.name, text: text.value }, inTime);
    if (!look.layers.length) throw new Error("This model has no attention, so there are no heads to show.");
    const known = look.layers.some(({ name, heads }) => name === state.layer && state.head < heads);
    if (!known) [state.layer, state.head] = firstHead(look);
    board.hidden = false;
    all = drawHeads(look, { onOpen, opened: [state.layer, state.head] });
    grid.replaceChildren(all);
    open();
  }, signal, status, "The model is reading …");
  typed(text, debounce(() => {
    state.word = null;
    return refresh();
  }, 350));
  grow(text);
  await refresh();
}
