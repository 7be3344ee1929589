// A text as a classifier reads it: what it takes it for, its words shaded by how much they count in that, and
// its sentences, where it weighs those too.

import { wash } from "regard/colours.js";
import { h } from "regard/dom.js";
import { figure } from "regard/text.js";
import { percent } from "regard/views.js";

export const SHARES = "shares"; // the array of how much each token counts
export const SENTENCES = "pool.1.sentences"; // and each sentence
const MOST = 8; // labels and words that are listed
const TOKENS_A_WORD = 4; // on average, from which on single tokens are shaded: a script without spaces

// Whether a look is one of something that judges texts.
export function judges({ sides }) {
  return Boolean(sides.label);
}

// `scale` of scaleOf() gives several of them one scale.
export function drawDocument(look, scale = look.grid ? null : scaleOf([look])) {
  const called = look.grid ? "the picture" : look.sides.text.texts?.length > 1 ? "the pair" : "the text";
  const title = `What it takes ${called} for`;
  const verdict = look.score ? gauge(look.score) : look.verdicts?.length ? labels(look) : said(look);
  const parts = [h("div", { class: "verdicts" }, h("h3", {}, title), verdict)];
  if (look.grid) return h("div", { class: "document" }, h("div", { class: "boards" }, parts));
  const units = unitsOf(look);
  if (look.has(SHARES)) parts.push(h("div", {}, h("h3", {}, "What it attends to most"), mostRead(units, scale.listed)));
  const board = h("div", { class: "boards" }, parts);
  return h("div", { class: "document" }, board, reading(look, units, scale), hint(look, units));
}

// What fills a bar, and what gets the full shade, of texts that stand side by side: {listed, word, sentence}.
export function scaleOf(looks) {
  const most = (values) => values.reduce((best, value) => Math.max(best, value), 1e-9);
  const scales = looks.map((look) => {
    const units = unitsOf(look);
    const sentences = sentenceShares(look, units);
    const shades = units.flatMap((words, i) => words.map(({ share }) => shadeOf(look, share, sentences[i])));
    return { listed: most(units.flat().map(({ share }) => share)), word: most(shades), sentence: most(sentences) };
  });
  return Object.fromEntries(["listed", "word", "sentence"].map((key) => [key, most(scales.map((one) => one[key]))]));
}

// Each sentence, or each text, as a list of {text, share}, its words or tokens; `share` of all the
// attention. Special tokens are none of them; where sentences are weighed, one ends each sentence.
function unitsOf(look) {
  const { text } = look.sides;
  const wordy = text.tokens.length < TOKENS_A_WORD * text.words.length;
  const shares = look.has(SHARES) ? look.array(SHARES).data : null;
  const found = [[]];
  text.tokens.forEach((token, place) => {
    const word = text.word_of[place];
    if (word === null) return void (look.has(SENTENCES) && found.push([]));
    if (text.text_of?.[place] === 1 && found.length === 1) found.push([]);
    const share = shares ? shares[place] : 0;
    const before = found.at(-1).at(-1);
    if (wordy && before?.word === word) before.share += share;
    else found.at(-1).push({ text: wordy ? text.words[word] : token, word, share });
  });
  return found;
}

function labels({ verdicts }) {
  return bars(verdicts.slice(0, MOST).map(({ label, probability }) => [label, probability]));
}

// What is said where that is neither a label nor a score.
function said({ sides }) {
  return h("p", { class: "large" }, h("b", {}, sides.label.text));
}

// A score as a place on its scale.
function gauge({ value, low, high }) {
  const share = Math.min(Math.max((value - low) / (high - low), 0), 1);
  return h("div", { class: "gauge" }, h("p", { class: "large" }, h("b", {}, figure(value))),
    h("span", { class: "track" }, h("i", { style: { width: `${100 * share}%` } })),
    h("p", { class: "hint ends" }, h("span", {}, figure(low)), h("span", {}, figure(high))));
}

function mostRead(units, full) {
  const listed = units.flat().filter(({ share }) => share > 0).sort((a, b) => b.share - a.share);
  return bars(listed.slice(0, MOST).map(({ text, share }) => [bare(text), share]), full);
}

// Without the marks around it.
function bare(text) {
  return text.replace(/^[\p{P}\s]+|[\p{P}\s]+$/gu, "") || text;
}

// Sentences below each other with their weights beside them, as in figure 5 of Yang et al. 2016; running text
// where sentences have none. Words are shaded by √p_s · p_w there: only important words of important
// sentences stand out, and those of the others can still be told.
function reading(look, units, scale) {
  const weighed = look.has(SENTENCES);
  const shares = sentenceShares(look, units);
  const two = look.sides.text.texts?.length > 1;
  const sentences = units.map((words, i) => {
    if (!words.length) return null;
    const told = words.flatMap((unit) => [word(unit, shadeOf(look, unit.share, shares[i]) / scale.word), " "]);
    if (!weighed) return h(two ? "p" : "span", { class: "sentence-run" }, told);
    const title = `this sentence: ${percent(shares[i])}`;
    return h("p", { class: "weighed" },
      h("span", { class: "weight", title, style: { background: wash(shares[i] / scale.sentence) } },
        percent(shares[i])),
      h("span", {}, told));
  });
  const rest = look.unread ? h("span", { class: "soft unread" }, look.unread) : null;
  return h("div", { class: weighed ? "reading by-sentence" : "reading", dir: "auto" }, sentences, rest);
}

function sentenceShares(look, units) {
  const weights = look.has(SENTENCES) ? look.array(SENTENCES).data : [];
  return units.map((words, i) => (weights.length && words.length ? weights[i] : 0));
}

function shadeOf(look, share, sentence) {
  return look.has(SENTENCES) ? share / Math.sqrt(Math.max(sentence, 1e-9)) : share;
}

function word({ text, share }, shade) {
  return h("span", { class: "word", title: percent(share), style: { background: wash(shade) } }, text);
}

function hint(look, units) {
  const told = [];
  if (!look.has(SHARES)) told.push("This model makes one vector of its states without attention.");
  if (look.has(SENTENCES)) told.push("On the left: the share of each sentence.");
  if (look.has(SHARES)) told.push("Point at a word for its share of the attention.");
  if (look.shares === "rollout") {
    const rest = 1 - units.flat().reduce((sum, { share }) => sum + share, 0);
    told.push(`It is followed through all layers (rollout); ${percent(rest)} stays with special tokens.`);
  }
  if (look.unread) told.push("The model does not read as far as the grey end.");
  return h("p", { class: "hint" }, told.join(" "));
}

// Names with shares as bars; `full` is what fills a whole bar.
function bars(entries, full = 1) {
  return h("div", { class: "alternatives" }, h("ol", {}, entries.map(([name, share]) => h("li", {},
    h("span", { class: "name", dir: "auto", title: name }, name),
    h("span", { class: "bar" }, h("i", { style: { width: `${(100 * share) / full}%` } })),
    h("span", { class: "number" }, percent(share))))));
}
