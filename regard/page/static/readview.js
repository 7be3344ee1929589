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

export async function show(place, { run, view: { title, takes }, params, signal, keep }) {
  const numbers = params.get("mask")?.split(",").filter(Boolean).map(Number) ?? [];
  const state = { ...stateFrom(params), without: params.get("without")?.split(",") ?? [], mask: numbers };
  const boxes = textBoxes(run, takes, params);
  const status = statusLine();
  const seen = lookView(state, {
    onState: () => keep(stateToKeep(state)),
    onOff: (layer, head, off) => change({ without: toggled(state.without, `${layer}.${head}`, off) }),
    onBack: (name) => change({ without: toggled(state.without, name, false) }),
    onMask: (word) => change({ mask: toggled(state.mask, word, !state.mask.includes(word)) }),
  });
  place.append(headerOf(run, title, takes), fieldsOf(takes, boxes), status.node, seen);

  const look = newest(async (inTime) => {
    const { without, mask } = state;
    const body = { run: run.name, ...given(boxes), without, mask, best: BEST };
    try {
      const found = await postLook("/api/look", body, inTime);
      if (!missing(takes, boxes)) seen.show(found); // else emptied meanwhile
    } catch (error) {
      if (!wasLeft(error)) seen.hidden = true; // what stands there is another text's
      throw error;
    }
  }, signal, status, "The model is reading …");
  const refresh = async () => {
    keep({ ...given(boxes), without: state.without.join(",") || null, mask: state.mask.join(",") || null });
    const lacking = missing(takes, boxes);
    if (!lacking) return look();
    seen.hidden = true;
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

function headerOf({ name }, title, takes) {
  const [typing, them] = takes.filter(({ needed }) => needed).length > 1 ? ["both texts", "them"] : ["a text", "it"];
  return h("header", {}, h("h1", {}, title),
    h("p", { class: "lead" }, `${name}: type ${typing} and see what the model makes of ${them}.`));
}

// A box for each text that a view takes and the model reads, with what the address or an example says.
export function textBoxes(run, takes, params) {
  const examples = params.has("text") ? [params.get("text"), ""] : examplesOf(run);
  const texts = [examples[0], params.get("second") ?? examples[1]];
  const hints = ["Type a text", takes[1]?.needed ? "Type the other text" : "Leave it empty to read one text"];
  return takes.map((_, i) => writing(texts[i], hints[i]));
}

export function fieldsOf(takes, boxes) {
  const named = boxes.map((box, i) => field(titled(takes[i].name), box));
  return h("div", { class: boxes.length > 1 ? "pair" : "pair single" }, named);
}

// "first text" → "First text".
export function titled(name) {
  return name.charAt(0).toUpperCase() + name.slice(1);
}

// As a request has them: no second text where its box is empty.
export function given([first, second]) {
  return { text: first.value, second: second?.value.trim() ? second.value : null };
}

// The name of the first text that has to be typed yet.
export function missing(takes, boxes) {
  return takes.find(({ needed }, i) => needed && !boxes[i].value.trim())?.name ?? null;
}
