// A map with its controls: which layer, which head, words or tokens. The same in the studio and in a page on
// disk.

import { SHARES } from "regard/document.js";
import { h } from "regard/dom.js";
import { drawMatrix } from "regard/matrix.js";
import { between, breaksOf, textChoices } from "regard/pairs.js";
import { drawReading, reads } from "regard/reader.js";
import { field } from "regard/views.js";
import { firstMap, goldCells, mapsOf, mergeWords, namesNext, tokenMap, writtenSide } from "regard/words.js";

// `state` is {layer, head, words, next, view, texts}, changed in place (`next` null: as suits the map;
// `view` is "map" or "reading", for layers that look at earlier words; `texts` singles out from which text
// to which, as in pairs.js); `onState(state)` lets the address follow; `onOff(layer, head, off)` is given
// where heads can be switched off. The element has `show(look)`, for the next look at the same model,
// `open(layer, head)`, `light(place)`, which points at the row of a token, and `matrix`, null while it is read
// step by step.
export function mapPanel(look, state, { onState = null, onOff = null } = {}) {
  const layers = h("select", { name: "layer" });
  const heads = h("select", { name: "head" });
  const units = h("select", { name: "units" }, options({ words: "words", tokens: "tokens" }));
  const naming = h("select", { name: "rows" },
    options({ read: "the word just read", next: "the word written next" }));
  const namingField = field("A row is", naming);
  const views = h("select", { name: "view" }, options({ map: "a map", reading: "it reads, step by step" }));
  const viewField = field("Shown as", views);
  const blocks = h("select", { name: "texts" });
  const blocksField = field("From text to text", blocks);
  const off = h("input", { type: "checkbox", name: "off" });
  const offField = h("label", { class: "check" }, off, "switch this head off");
  const place = h("div", { class: "matrix-place" });
  const note = h("p", { class: "hint" });
  const headField = field("Head", heads);
  const element = h("div", { class: "panel" },
    h("div", { class: "controls" },
      field("Layer", layers), headField, field("Between", units), blocksField, viewField, namingField,
      onOff ? offField : null),
    place, note);

  let words = null; // that are drawn
  let rowOf = null; // the row of each token, where all of them are shown
  const draw = () => {
    const entry = mapsOf(look).find(({ name }) => name === state.layer);
    element.firstChild.hidden = !entry;
    if (!entry) return void (note.textContent = withoutMaps(look));
    headField.hidden = entry.heads === 1;
    units.disabled = entry.words ?? false;
    units.value = state.words || entry.words ? "words" : "tokens";
    viewField.hidden = !reads(look, entry);
    const reading = !viewField.hidden && state.view === "reading";
    views.value = reading ? "reading" : "map";
    namingField.hidden = reading || entry.rows !== writtenSide(look) || (entry.words ?? false);
    const next = !reading && (state.next ?? namesNext(look, entry));
    naming.value = next ? "next" : "read";
    offField.hidden = !entry.role || state.head === null;
    off.checked = (look.without ?? []).includes(`${state.layer}.${state.head}`);
    const mapped = state.words || entry.words ? mergeWords : tokenMap;
    const whole = mapped(look, state.layer, state.head, { next });
    const choices = textChoices(whole);
    blocksField.hidden = !choices;
    blocks.replaceChildren(...(choices ?? []).map(([value, text]) => h("option", { value }, text)));
    blocks.value = choices && state.texts ? state.texts : "";
    const map = between(whole, blocks.value);
    rowOf = map === whole ? whole.rowOf ?? null : null;
    const gold = entry.columns === "source" && entry.rows === "target" ? goldCells(look, map) : [];
    const label = titleOf(entry, state.head);
    const drawn = { ...map, ...breaksOf(map), gold, label };
    const alike = JSON.stringify([map.rows, map.columns]);
    const view = words === alike ? element.matrix?.view : null; // another head of the same words: the same part
    words = alike;
    element.matrix = reading ? null : drawMatrix({ ...drawn, view });
    place.replaceChildren(element.matrix ?? drawReading(drawn));
    note.textContent = reading ? "" : noteFor(look, entry, gold, map.windows);
    onState?.(state);
  };
  const change = () => {
    const moved = layers.value !== state.layer;
    state.layer = layers.value;
    if (moved) fillHeads();
    state.head = heads.value === "" ? null : Number(heads.value);
    if (!units.disabled) state.words = units.value === "words";
    if (!viewField.hidden) state.view = views.value;
    if (!blocksField.hidden) state.texts = blocks.value || null;
    draw();
  };
  const fillHeads = () => {
    const count = mapsOf(look).find(({ name }) => name === state.layer)?.heads ?? 1;
    if (state.head !== null && state.head >= count) state.head = null;
    heads.replaceChildren(h("option", { value: "" }, "mean of all"),
      ...Array.from({ length: count }, (_, head) => h("option", { value: head }, `head ${head}`)));
    heads.value = state.head ?? "";
  };
  const show = (another) => {
    look = another;
    const maps = mapsOf(look);
    if (!maps.some(({ name }) => name === state.layer)) state.layer = firstMap(look)?.name ?? null;
    layers.replaceChildren(...byGroup(maps).map(([title, entries]) => h("optgroup", { label: title },
      entries.map(({ name, title: text }) => h("option", { value: name }, text)))));
    layers.value = state.layer;
    fillHeads();
    draw();
  };
  for (const control of [layers, heads, units, views, blocks]) control.addEventListener("change", change);
  naming.addEventListener("change", () => {
    state.next = naming.value === "next";
    draw();
  });
  off.addEventListener("change", () => onOff?.(state.layer, state.head, off.checked));
  element.show = show;
  element.open = (layer, head) => {
    [state.layer, state.head] = [layer, head];
    show(look);
  };
  element.light = (token) => {
    if (rowOf) element.matrix?.light(rowOf[token], null);
  };
  show(look);
  return element;
}

function withoutMaps(look) {
  if (!look.has(SHARES)) return "This model has no attention to show.";
  return "This model weighs words one by one: they are shaded where it says what it takes the text for.";
}

function byGroup(maps) {
  const groups = new Map();
  for (const map of maps) groups.set(map.group, [...(groups.get(map.group) ?? []), map]);
  return [...groups];
}

function options(texts) {
  return Object.entries(texts).map(([value, text]) => h("option", { value }, text));
}

function titleOf({ title, heads }, head) {
  if (heads === 1) return title;
  return head === null ? `${title}, mean of its heads` : `${title}, head ${head}`;
}

function noteFor(look, entry, gold, windows) {
  const error = look.alignment?.error_rate;
  const outlined = gold.length ? "Outlined: the gold alignment." : "";
  const rated = gold.length && Number.isFinite(error) ? ` Alignment error rate ${error.toFixed(2)}.` : "";
  const writes = entry.rows === writtenSide(look) && !entry.words;
  // What falls off around a centre need not add up to 1.
  const rows = writes ? `Each row is one step of writing${windows ? "." : " and adds up to 1."}` : "";
  const window = windows ? "The thin lines enclose where it may look; a dot is the centre of a step." : "";
  return [outlined + rated, rows, window].filter(Boolean).join(" ");
}
