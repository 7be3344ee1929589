// Type a sentence and see its translation, the beam's alternatives, and where each word looks.

import { postJson, postLook, wasLeft } from "regard/api.js";
import { toggled } from "regard/changes.js";
import { debounce, h } from "regard/dom.js";
import { lookView, stateFrom, stateToKeep } from "regard/lookview.js";
import { figure, signed } from "regard/text.js";
import { drawTree } from "regard/tree.js";
import { field, newest, statusLine } from "regard/views.js";

const PAUSE = 350; // milliseconds without a key before the model is asked
const BEAM = 4;
const NOTHING = "(nothing)"; // shown for an empty translation

// A sentence that the run was validated on, so that the page has something to show at once; both of a run that
// reads two.
export function examplesOf({ samples: [sample = {}] }) {
  const { first, second, source, prompt, text } = sample;
  return [first ?? prompt ?? source ?? text ?? "", second ?? ""];
}

export async function show(place, { run, params, signal, keep }) {
  const state = {
    ...stateFrom(params), without: params.get("without")?.split(",") ?? [], target: params.get("target"),
  };
  const source = writing(params.get("text") ?? examplesOf(run)[0], "Type a sentence");
  const target = writing(state.target ?? "", "");
  const back = h("button", { type: "button", class: "quiet", hidden: true }, "Let the model write again");
  const status = statusLine();
  const tree = h("section", { class: "card", hidden: true });
  const view = lookView(state, {
    onState: () => keep(stateToKeep(state)),
    onOff: (layer, head, off) => switchHeads(toggled(state.without, `${layer}.${head}`, off)),
    onBack: (name) => switchHeads(toggled(state.without, name, false)),
  });
  const written = h("div", { class: "written" }, field("Translation", target), back);
  const lead = `${run.name}: type a sentence, or change its translation, and see the weights follow.`;
  place.append(
    h("header", {}, h("h1", {}, "Translate"), h("p", { class: "lead" }, lead)),
    h("div", { class: "pair" }, field("Sentence", source), written), status.node, view, tree);

  const look = newest(async (inTime) => {
    const body = {
      run: run.name, text: source.value, target: state.target, without: state.without, best: 5, beam: BEAM,
    };
    let found;
    try {
      found = await postLook("/api/look", body, inTime);
    } catch (error) {
      if (!wasLeft(error)) view.hidden = true; // what stands there is another sentence's
      throw error;
    }
    if (!source.value.trim()) return; // emptied meanwhile
    if (state.target === null) {
      target.value = found.sides.target.text;
      target.placeholder = NOTHING; // seen where that is empty
      grow(target);
    }
    back.hidden = state.target === null;
    view.show(found);
  }, signal, status, "The model is reading …");
  const search = newest(async (inTime) => {
    const body = { run: run.name, text: source.value, beam: BEAM, tree: true };
    try {
      showTree(tree, await postJson("/api/translate", body, inTime), (chosen) => force(chosen.text));
    } catch (error) {
      if (!wasLeft(error)) tree.hidden = true; // what stands there is another sentence's
      throw error;
    }
  }, signal, status, "The beam searches …");
  const refresh = async (anew) => {
    keep({ text: source.value, target: state.target, without: state.without.join(",") || null });
    if (!source.value.trim()) return clearAll();
    await look();
    if (anew && !signal.aborted) await search();
  };
  const clearAll = () => {
    view.hidden = true;
    tree.hidden = true;
    if (state.target === null) target.value = "";
    status.say("Type a sentence to see it translated.");
  };
  const force = (words) => {
    state.target = words;
    target.value = words ?? "";
    grow(target);
    return refresh(false);
  };
  const switchHeads = (names) => {
    state.without = names;
    refresh(false);
  };
  const retranslate = () => {
    state.target = null;
    return refresh(true);
  };
  typed(source, debounce(retranslate, PAUSE));
  target.addEventListener("input", () => (state.target = target.value)); // no answer overwrites it
  typed(target, debounce(() => force(target.value.trim() ? target.value : null), PAUSE));
  back.addEventListener("click", () => force(null));
  for (const box of [source, target]) grow(box);
  await refresh(true);
}

// A box for text that grows with it.
export function writing(value, placeholder) {
  const props = { class: "writing", dir: "auto", rows: 1, placeholder, spellcheck: "false", autocomplete: "off" };
  return h("textarea", { ...props, value });
}

export function grow(box) {
  box.style.height = "auto";
  box.style.height = `${box.scrollHeight + 2}px`;
}

// Ask when the typing pauses, and at once on Enter (Shift and Enter is a new line).
export function typed(box, later) {
  box.addEventListener("input", () => {
    grow(box);
    later();
  });
  box.addEventListener("keydown", (event) => {
    if (event.key !== "Enter" || event.shiftKey || event.isComposing) return;
    event.preventDefault();
    later.now();
  });
}

function showTree(section, { tree, translations, seconds }, onChoose) {
  const parts = translations?.[0]?.parts ?? 1;
  section.hidden = !tree && parts < 2;
  if (!tree) {
    const why = `The text is translated in ${parts} parts, each by a search of its own.`;
    return section.replaceChildren(h("h2", {}, "What else it considered"), h("p", { class: "hint" }, why));
  }
  const alternatives = tree.hypotheses.map((one, rank) => {
    const props = { type: "button", dir: "auto", class: rank === 0 ? "alternative chosen" : "alternative" };
    return h("li", {},
      h("button", { ...props, onclick: () => onChoose(one) }, one.text || NOTHING),
      h("span", { class: "number" }, signed(one.score.toFixed(2))));
  });
  section.replaceChildren(
    h("h2", {}, "What else it considered"),
    h("p", { class: "hint" },
      `A beam of ${BEAM}, in ${figure(Math.round(1000 * seconds))} ms; a branch is as thick as its token is `,
      "probable. Numbers are log-probabilities a token, by which translations are ranked. Choose an end to ",
      "look at it."),
    drawTree(tree, { onChoose }),
    h("ol", { class: "alternatives-list" }, alternatives));
}
