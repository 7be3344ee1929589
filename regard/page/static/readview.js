// Texts that a model only reads: one or two. An encoder says what it expects, at masks above all; a
// classifier what it takes them for.

import { postLook, wasLeft } from "regard/api.js";
import { toggled } from "regard/changes.js";
import { debounce, h } from "regard/dom.js";
import { lookView, stateFrom, stateToKeep } from "regard/lookview.js";
import { examplesOf, grow, typed, writing } from "regard/translate.js";
import { field, newest, statusLine } from "regard/views.js";

const PAUSE = 350; // milliseconds without a key before the model is asked
const BEST = 8; // words at each mask

export async function showTexts(place, { run, params, signal, keep }) {
  const numbers = params.get("mask")?.split(",").filter(Boolean).map(Number) ?? [];
  const state = { ...stateFrom(params), without: params.get("without")?.split(",") ?? [], mask: numbers };
  const boxes = await textBoxes(run, params, signal);
  const status = statusLine();
  const view = lookView(state, {
    onState: () => keep(stateToKeep(state)),
    onOff: (layer, head, off) => change({ without: toggled(state.without, `${layer}.${head}`, off) }),
    onBack: (name) => change({ without: toggled(state.without, name, false) }),
    onMask: (word) => change({ mask: toggled(state.mask, word, !state.mask.includes(word)) }),
  });
  place.append(headerOf(run), fieldsOf(run, boxes), status.node, view);

  const look = newest(async (inTime) => {
    const { without, mask } = state;
    const body = { run: run.name, ...given(boxes), without, mask, best: BEST };
    try {
      const found = await postLook("/api/look", body, inTime);
      if (!missing(run, boxes)) view.show(found); // else emptied meanwhile
    } catch (error) {
      if (!wasLeft(error)) view.hidden = true; // what stands there is another text's
      throw error;
    }
  }, signal, status, "The model is reading …");
  const refresh = async () => {
    keep({ ...given(boxes), without: state.without.join(",") || null, mask: state.mask.join(",") || null });
    const lacking = missing(run, boxes);
    if (!lacking) return look();
    view.hidden = true;
    status.say(`Type the ${lacking} to see what the model makes of it.`);
  };
  const change = (changes) => {
    Object.assign(state, changes);
    return refresh();
  };
  for (const box of boxes) {
    typed(box, debounce(() => change({ mask: [] }), PAUSE)); // the words have other numbers now
    grow(box);
  }
  await refresh();
}

function headerOf({ name, family, least }) {
  const judges = family === "classifier";
  const title = judges ? (least > 1 ? "Judge a pair" : "Classify") : "Read";
  const [typing, them] = least > 1 ? ["both texts", "them"] : ["a text", "it"];
  const seen = judges ? `takes ${them} for, and what it attends to` : "attends to, and what it expects";
  return h("header", {}, h("h1", {}, title),
    h("p", { class: "lead" }, `${name}: type ${typing} and see what the model ${seen}.`));
}

// A box for each text that the run reads, with what the address or an example says.
export async function textBoxes(run, params, signal) {
  const examples = params.has("text") ? [params.get("text"), ""] : await examplesOf(run, signal);
  const texts = [examples[0], params.get("second") ?? examples[1]];
  const hints = ["Type a text", run.least > 1 ? "Type the other text" : "Leave it empty to read one text"];
  return run.texts.map((_, i) => writing(texts[i], hints[i]));
}

export function fieldsOf({ family, texts }, boxes) {
  const names = family === "encoder-decoder" ? ["sentence"] : texts;
  const named = boxes.map((box, i) => field(names[i].charAt(0).toUpperCase() + names[i].slice(1), box));
  return h("div", { class: boxes.length > 1 ? "pair" : "pair single" }, named);
}

// As a request has them: no second text where its box is empty.
export function given([first, second]) {
  return { text: first.value, second: second?.value.trim() ? second.value : null };
}

// The name of the first text that has to be typed yet.
export function missing({ texts, least }, boxes) {
  return texts.find((_, i) => i < least && !boxes[i].value.trim()) ?? null;
}
