// The page that `regard look` writes: the looks are inside, and no server is asked.
//
// The page holds, besides style.css and the modules, one or more
//   <script type="application/octet-stream;base64" class="look">…</script>   (or type="application/json")
// and calls showLooks(element), the element to draw in.

import { onTheme, setTheme } from "regard/colours.js";
import { h } from "regard/dom.js";
import { drawHeads, drawOpened, firstHead, repaintHeads } from "regard/heads.js";
import { lookView, stateFrom, stateToKeep } from "regard/lookview.js";
import { answerOf } from "regard/marks.js";
import { savePictures } from "regard/saving.js";
import { fromJson, readLook } from "regard/tensors.js";
import { figure } from "regard/text.js";
import { field, percent } from "regard/views.js";
import { mappedLayers } from "regard/words.js";

export function showLooks(place) {
  const wanted = /[#?&]theme=(light|dark)/.exec(location.hash);
  if (wanted) setTheme(wanted[1]);
  const looks = [...document.querySelectorAll("script.look")].map(readScript);
  if (looks.length) show(place, looks);
  else place.append(h("p", { class: "problem" }, "There is no look in this page."));
}

function readScript(script) {
  const text = script.textContent.trim();
  if (script.type === "application/json") return fromJson(JSON.parse(text));
  return readLook(Uint8Array.from(atob(text), (letter) => letter.charCodeAt(0)).buffer);
}

function show(place, looks) {
  const state = { ...stateFrom(addressed()), look: Number(addressed().get("look") ?? 0) };
  const title = h("header", {});
  const choose = h("select", { onchange: () => draw(Number(choose.value)) },
    looks.map((look, number) => h("option", { value: number }, textOf(look))));
  const view = lookView(state, { onState: () => keep({ ...stateToKeep(state), look: state.look || null }) });
  const heads = h("section", { class: "card" });
  place.classList.add("view");
  place.append(
    title, looks.length > 1 ? h("div", { class: "controls" }, field("Text", choose)) : "", view, heads,
  );
  const draw = (number) => {
    state.look = number < looks.length ? number : 0;
    const look = looks[state.look];
    choose.value = state.look;
    title.replaceChildren(...heading(look));
    view.show(look);
    heads.hidden = !mappedLayers(look).length;
    if (!heads.hidden) heads.replaceChildren(h("h2", {}, "All heads"), headsOf(look));
  };
  draw(state.look);
  savePictures(place);
  onTheme(() => draw(state.look));
  window.addEventListener("beforeprint", () => repaintHeads(heads));
}

function headsOf(look) {
  const opened = h("div", { class: "opened-place", "aria-live": "polite" });
  const onOpen = (layer, head) => opened.replaceChildren(
    h("h3", {}, `${layer}, head ${head}`), drawOpened(look, layer, head),
  );
  const first = firstHead(look);
  if (first[0] !== null) onOpen(...first);
  return h("div", { class: "heads-board" }, drawHeads(look, { onOpen, opened: first }), opened);
}

function heading(look) {
  const { sides, verdicts, score } = look;
  if (score) {
    const lead = `on a scale from ${figure(score.low)} to ${figure(score.high)}`;
    return [h("h1", {}, figure(score.value)), h("p", { class: "lead" }, lead)];
  }
  if (verdicts?.length) {
    const [{ label, probability }] = verdicts;
    return [h("h1", {}, label), h("p", { class: "lead" }, `with a probability of ${percent(probability)}`)];
  }
  if (sides.label) return [h("h1", {}, sides.label.text)];
  const answer = answerOf(look);
  if (answer) {
    return [h("h1", {}, answer.text || answer.label), h("p", { class: "lead" }, sides.text.texts[0])];
  }
  if (sides.text?.texts?.length > 1) {
    const [first, second] = sides.text.texts;
    return [h("h1", { class: "sentence", dir: "auto" }, first), h("p", { class: "sentence", dir: "auto" }, second)];
  }
  if (sides.picture && sides.target) return [h("h1", { class: "sentence", dir: "auto" }, sides.target.text)];
  if (!sides.target) return [h("h1", { class: "sentence", dir: "auto" }, sides.text.text)];
  return [
    h("h1", { class: "sentence", dir: "auto" }, sides.source.text),
    h("p", { class: "sentence written", dir: "auto" }, sides.target.text),
  ];
}

function textOf(look) {
  const { text } = Object.values(look.sides)[0];
  const off = look.without?.length ? ` (without ${look.without.join(", ")})` : "";
  return (text.length > 60 ? `${text.slice(0, 59)}…` : text) + off;
}

// The address keeps what is looked at, so that a page can be shared open at one head.
function addressed() {
  return new URLSearchParams(location.hash.replace(/^#/, ""));
}

function keep(changes) {
  const params = addressed();
  for (const [name, value] of Object.entries(changes)) {
    if (value === null || value === undefined) params.delete(name);
    else params.set(name, value);
  }
  try {
    history.replaceState(null, "", `#${params}`);
  } catch {
    // A notebook's frame has no address of its own, so there is nothing to share.
  }
}
