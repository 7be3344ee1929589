// Compare: two runs on one input: what they write, how sure they are, where they look, and the difference.

import { getJson, postLook } from "regard/api.js";
import { drawDifference, markedWords } from "regard/compare_difference.js";
import { drawDocuments } from "regard/compare_documents.js";
import { drawDocument, judges } from "regard/document.js";
import { debounce, h } from "regard/dom.js";
import { drawMasks } from "regard/masked.js";
import { shareScale } from "regard/matrix_scale.js";
import { mapPanel } from "regard/panel.js";
import { figure, metricName, signed } from "regard/text.js";
import { examplesOf, grow, typed, writing } from "regard/translate.js";
import { choice, field, newest, percent, readable, statusLine } from "regard/views.js";
import { bars } from "regard/way_pictures.js";
import { mapsOf, writtenSide } from "regard/words.js";

const PAUSE = 400; // milliseconds without a key before the models are asked
const EXAMPLE = "The cat sleeps because it is tired.";
const WRITERS = [["own", "what it wants"], ["a", "what the first wrote"], ["b", "what the second wrote"],
  ["given", "this target"]];

export async function show(place, { runs, params, signal, keep }) {
  place.append(h("header", {}, h("h1", {}, "Compare"), h("p", { class: "lead" },
    "Two runs on one input: what they write, how sure they are, and where they look.")));
  const status = statusLine();
  const usable = runs.filter(({ status: how }) => how !== "broken");
  if (!usable.length) {
    place.append(status.node);
    return void status.say("There is no run to compare yet.");
  }
  const picked = pickRuns(usable, params);
  const chosen = await Promise.all(picked.map(({ name }) =>
    getJson(`/api/runs/${encodeURIComponent(name)}`, signal)));
  const taken = chosen.map(({ views }) => views[0].takes ?? []);
  const can = (asked) => taken.every((takes) => takes.some(({ field: name }) => name === asked));
  const two = can("target");
  const names = usable.map(({ name }) => [name, name]);
  const go = () => (location.hash = addressOf(first.value, second.value));
  const first = choice("First run", names, chosen[0].name, go);
  const second = choice("Second run", names, chosen[1].name, go);
  const seeing = chosen.find((_, i) => taken[i].some(({ field: name }) => name === "picture"));
  if (seeing) {
    place.append(h("div", { class: "controls" }, first.node, second.node), status.node);
    return void status.say(`${seeing.name} reads pictures: choose runs that read texts.`);
  }
  const pairs = can("second");
  const [text, other] = textBoxes(chosen[0], params);
  const behind = () => (pairs && other.value.trim() ? other.value : null);
  const target = writing(params.get("target") ?? "", "Type what both should write");
  const targetField = field("Target", target);
  const writer = choice("Each writes", WRITERS, params.get("writes") ?? "own", () => {
    targetField.hidden = writer.value !== "given";
    if (targetField.hidden || target.value.trim()) ask();
    else target.focus();
  });
  targetField.hidden = writer.value !== "given";
  const result = h("div", { class: "compared" });
  const states = startStates(params);
  const read = newest(async (both) => {
    const asked = { text: text.value, second: behind(), writer: two ? writer.value : "own", target: target.value };
    result.replaceChildren(...drawResult(chosen, await lookAt(chosen, asked, both), states, keep));
  }, signal, status, "Both are reading …");
  const ask = () => {
    const how = writer.value;
    const given = how === "given" ? target.value : null;
    keep({ text: text.value, second: behind(), writes: how === "own" ? null : how, target: given });
    return read();
  };
  place.append(
    h("div", { class: "controls" }, first.node, second.node, two && writer.node),
    h("div", { class: pairs ? "pair" : "pair single" },
      field(two ? "Sentence" : pairs ? "First text" : "Text", text), pairs && field("Second text", other),
      two && targetField),
    status.node, result);
  for (const box of [text, other, target]) {
    grow(box);
    typed(box, debounce(ask, PAUSE));
  }
  await read();
}

// The runs of the address; else the newest, and beside it another that was trained for the same.
function pickRuns(runs, params) {
  const named = (key) => runs.find(({ name }) => name === params.get(key));
  const first = named("a") ?? runs[0];
  const like = (one) => one !== first && one.task === first.task && (one.task || one.model === first.model);
  return [first, named("b") ?? runs.find(like) ?? first];
}

// The texts of the address, or else an example.
function textBoxes(run, params) {
  const examples = params.has("text") ? [params.get("text"), ""] : examplesOf(run);
  const second = params.get("second") ?? examples[1];
  return [writing(examples[0] || EXAMPLE, "Type a sentence"), writing(second, "Type the other text")];
}

function addressOf(a, b) {
  const query = location.hash.split("?")[1];
  return `#/compare/${encodeURIComponent(a)}/${encodeURIComponent(b)}${query ? `?${query}` : ""}`;
}

function startStates(params) {
  const layer = params.get("layer");
  const head = params.has("head") ? Number(params.get("head")) : null;
  const next = params.has("rows") ? params.get("rows") === "next" : null; // null: as suits each map
  const [words, texts] = [params.get("units") !== "tokens", params.get("texts")];
  return [0, 1].map(() => ({ layer, head, words, next, texts }));
}

// Both looks; where one is to write what the other wrote, the other goes first.
async function lookAt(runs, { text, second, writer, target }, signal) {
  const look = (run, given = null) =>
    postLook("/api/look", { run: run.name, text, second, target: given }, signal);
  if (writer === "given") {
    if (!target.trim()) throw new Error("Type the target that both should write.");
    return Promise.all(runs.map((run) => look(run, target)));
  }
  if (writer === "own") return Promise.all(runs.map((run) => look(run)));
  const leader = writer === "a" ? 0 : 1;
  const led = await look(runs[leader]);
  const other = await look(runs[1 - leader], led.sides.target.text);
  return leader === 0 ? [led, other] : [other, led];
}

function drawResult(runs, looks, states, keep) {
  const names = runs[0].name === runs[1].name ? ["the first", "the second"] : runs.map(({ name }) => name);
  const [subtract, panels] = [h("div", { class: "card" }), []];
  const sides = looks.map((look, i) => ({ name: names[i], look, state: states[i] }));
  let following = false;
  // The other panel follows to the same layer and head where it has them; else it stays with its own.
  const follow = (from) => {
    if (following || panels.length < 2) return;
    following = true;
    const [lead, other] = [states[from], states[1 - from]];
    const same = mapsOf(looks[1 - from]).find(({ name }) => name === lead.layer);
    if (same && (lead.head === null || lead.head < same.heads)) {
      Object.assign(other, { words: lead.words, next: lead.next, texts: lead.texts });
      panels[1 - from].open(lead.layer, lead.head);
    }
    const units = lead.words ? null : "tokens";
    const rows = lead.next === null ? null : lead.next ? "next" : "read";
    keep({ layer: lead.layer, head: lead.head, units, rows, texts: lead.texts });
    scaleAlike(panels);
    subtract.replaceChildren(drawDifference(...sides));
    following = false;
  };
  looks.forEach((look, i) => panels.push(mapPanel(look, states[i], { onState: () => follow(i) })));
  scaleAlike(panels);
  subtract.replaceChildren(drawDifference(...sides));
  const outputs = looks.map((look, i) => (judges(look)
    ? h("div", { class: "card" }, h("h3", {}, names[i]), drawDocument(look))
    : drawOutput(runs[i], names[i], look, looks[1 - i])));
  const told = looks.some(({ predictions }) => predictions.length); // an encoder may expect nothing
  const title = looks.some(judges) ? "What they make of it"
    : looks.some(({ sides }) => sides.target) ? "What they write" : "What they expect";
  const maps = panels.map((panel, i) => h("div", { class: "card" }, h("h3", {}, names[i]), panel));
  const judged = looks.every(judges);
  const mapped = !judged || looks.every((look) => mapsOf(look).length);
  return [
    judged && h("section", { "aria-live": "polite" },
      h("h2", {}, "What they take it for"), drawDocuments(looks, names)),
    told && h("section", { "aria-live": "polite" }, h("h2", {}, title), h("div", { class: "pair" }, outputs)),
    mapped && h("section", {}, h("h2", {}, "Where they look"), h("div", { class: "pair" }, maps)),
    mapped && h("section", {}, h("h2", {}, "The difference"), subtract),
  ].filter(Boolean);
}

// Both maps are shaded alike, so that the darker of two cells is the larger weight.
function scaleAlike(panels) {
  const matrices = panels.map(({ matrix }) => matrix);
  if (matrices.every(Boolean)) shareScale(matrices);
}

// What a run wrote, with the words marked that the other did not; how likely it found it, and where least.
function drawOutput(run, name, look, other) {
  const text = (one) => one.sides.target?.text ?? "";
  const words = other.sides.target ? markedWords(text(look), text(other)) : text(look);
  const figures = [...sureness(look), ...validation(run)];
  return h("div", { class: "card output" }, h("h3", {}, name),
    look.sides.target && h("p", { class: "large", dir: "auto" }, words),
    h("dl", { class: "figures" }, figures.map(([key, value]) =>
      h("div", {}, h("dt", {}, key), h("dd", {}, value)))),
    goesOn(look) && nextTokens(look), look.masks?.length > 0 && drawMasks(look));
}

// Whether a look is of a text that its model writes on: nothing stands after its last place yet.
function goesOn(look) {
  return writtenSide(look) === "text";
}

// How likely a model finds what was written.
function sureness(look) {
  const given = goesOn(look) ? look.predictions.slice(0, -1) : look.predictions;
  if (!given.length || writtenSide(look) === null) return [];
  const logs = given.map(({ probability }) => Math.log(Math.max(probability, 1e-30)));
  const sum = logs.reduce((total, value) => total + value, 0);
  const worst = given[logs.indexOf(Math.min(...logs))];
  return [
    ["log-probability, all tokens", signed(sum.toFixed(2))],
    ["log-probability a token", signed((sum / logs.length).toFixed(2))],
    [`least sure: ${readable(worst.token)}`, percent(worst.probability)],
  ];
}

function validation({ metrics }) {
  return Object.entries(metrics ?? {})
    .filter(([name, value]) => name !== "loss" && Number.isFinite(value))
    .map(([name, value]) => [`${metricName(name)}, validation`, figure(value)]);
}

function nextTokens({ predictions }) {
  const best = predictions.at(-1)?.best ?? [];
  const label = "What comes next";
  return h("div", {}, h("h3", {}, label), bars({ label, share: true, names: best.map(({ token }) => token),
    values: best.map(({ probability }) => probability) }));
}
