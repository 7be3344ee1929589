// A text as a classifier reads it: what it takes it for, its words shaded by how much it attends to them, and
// its sentences, where it weighs those too.

import { wash } from "regard/colours.js";
import { h } from "regard/dom.js";
import { percent } from "regard/views.js";

const [WORDS, SENTENCES] = ["pool.0.words", "pool.1.sentences"]; // the layers that make one vector of a text
const END = 2; // the token behind every sentence
const MOST = 8; // labels and words that are listed
const TOKENS_A_WORD = 4; // on average, from which on single tokens are shaded: a script without spaces

export function drawDocument(look) {
  const named = look.verdicts.slice(0, MOST).map(({ label, probability }) => [label, probability]);
  const parts = [h("div", { class: "verdicts" }, h("h3", {}, "What it takes the text for"), bars(named))];
  const units = unitsOf(look);
  const listed = units.flat().filter(({ share }) => share > 0).sort((a, b) => b.share - a.share);
  if (look.has(WORDS)) {
    parts.push(h("div", {}, h("h3", {}, "What it attends to most"),
      bars(listed.slice(0, MOST).map(({ text, share }) => [bare(text), share]), listed[0]?.share)));
  }
  const board = h("div", { class: "boards" }, parts);
  return h("div", { class: "document" }, board, reading(look, units), hint(look));
}

// Each sentence as a list of {text, share}, its words or tokens; `share` of all the attention to the text.
function unitsOf(look) {
  const { text } = look.sides;
  const wordy = text.tokens.length < TOKENS_A_WORD * text.words.length;
  const weights = look.has(WORDS) ? look.array(WORDS) : null;
  const sentences = [[]];
  text.ids.forEach((id, place) => {
    if (id === END) return void sentences.push([]);
    const word = text.word_of[place];
    const share = weights ? shareOf(look, weights, sentences.length - 1, place) : 0;
    const before = sentences.at(-1).at(-1);
    if (wordy && word !== null && before?.word === word) before.share += share;
    else {
      const shown = wordy && word !== null ? text.words[word] : text.tokens[place];
      sentences.at(-1).push({ text: shown, word, share });
    }
  });
  return sentences;
}

// Without the marks around it.
function bare(text) {
  return text.replace(/^[\p{P}\s]+|[\p{P}\s]+$/gu, "") || text;
}

function shareOf(look, { shape: [, rows, columns], data }, sentence, place) {
  if (!look.has(SENTENCES)) return data[place];
  return sentence < rows ? data[sentence * columns + place] * sentenceShare(look, sentence) : 0;
}

function sentenceShare(look, sentence) {
  return look.array(SENTENCES).data[sentence];
}

// Sentences below each other with their weights beside them, as in figure 5 of Yang et al. 2016; running text
// where sentences have none. Words are shaded by √p_s · p_w there: only important words of important
// sentences stand out, and those of the others can still be told.
function reading(look, units) {
  const weighed = look.has(SENTENCES);
  const shares = units.map((words, i) => (weighed && words.length ? sentenceShare(look, i) : 0));
  const shade = (share, i) => (weighed ? share / Math.sqrt(Math.max(shares[i], 1e-9)) : share);
  const most = Math.max(1e-9, ...units.flatMap((words, i) => words.map(({ share }) => shade(share, i))));
  const heaviest = Math.max(1e-9, ...shares);
  const sentences = units.map((words, i) => {
    if (!words.length) return null;
    const told = words.flatMap((unit) => [word(unit, shade(unit.share, i) / most), " "]);
    if (!weighed) return h("span", { class: "sentence-run" }, told);
    const title = `this sentence: ${percent(shares[i])}`;
    return h("p", { class: "weighed" },
      h("span", { class: "weight", title, style: { background: wash(shares[i] / heaviest) } },
        percent(shares[i])),
      h("span", {}, told));
  });
  const rest = look.unread ? h("span", { class: "soft unread" }, look.unread) : null;
  return h("div", { class: weighed ? "reading by-sentence" : "reading" }, sentences, rest);
}

function word({ text, share }, shade) {
  return h("span", { class: "word", title: percent(share), style: { background: wash(shade) } }, text);
}

function hint(look) {
  const told = [];
  if (!look.has(WORDS)) told.push("This model makes one vector of its states without attention.");
  if (look.has(SENTENCES)) told.push("On the left: the share of each sentence.");
  if (look.has(WORDS)) told.push("Point at a word for its share of the attention.");
  if (look.unread) told.push("The model does not read as far as the grey end.");
  return h("p", { class: "hint" }, told.join(" "));
}

// Names with shares as bars; `full` is what fills a whole bar.
function bars(entries, full = 1) {
  return h("div", { class: "alternatives" }, h("ol", {}, entries.map(([name, share]) => h("li", {},
    h("span", { class: "name", title: name }, name),
    h("span", { class: "bar" }, h("i", { style: { width: `${(100 * share) / full}%` } })),
    h("span", { class: "number" }, percent(share))))));
}
