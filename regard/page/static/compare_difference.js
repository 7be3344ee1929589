// What two runs do differently: words of their outputs, and weights between words that both have.

import { h } from "regard/dom.js";
import { drawMatrix } from "regard/matrix.js";
import { between } from "regard/pairs.js";
import { differences } from "regard/text.js";
import { percent } from "regard/views.js";
import { mapsOf, mergeWords, namesNext, tokenMap } from "regard/words.js";

// The words of `own`, with those marked that `other` has not.
export function markedWords(own, other) {
  return differences(other, own).filter(({ kind }) => kind !== "gone")
    .flatMap(({ word, kind }) => [kind === "new" ? h("mark", {}, word) : word, " "]);
}

// The matrix of weights of A minus weights of B, or a sentence why there is none. Each is {name, look,
// state}, with state {layer, head, words, next} as in panel.js.
export function drawDifference(a, b) {
  const [first, second] = [a, b].map(({ look, state }) =>
    mapsOf(look).find(({ name }) => name === state.layer));
  const why = whyNot(first, second);
  if (why) return hint(why);
  const aligned = Boolean(first.words || second.words); // an alignment's rows are the words that are written
  const words = aligned || a.state.words || b.state.words || !cutAlike(a.look, b.look, first);
  const next = aligned || (a.state.next ?? namesNext(a.look, first)); // both are named as the first is
  const read = ({ look, state }) =>
    between((words ? mergeWords : tokenMap)(look, state.layer, state.head, { next }), a.state.texts);
  const [one, other] = [read(a), read(aligned ? b : inWordsOf(a, b, first))];
  const [rows, columns] = [common(one.rows, other.rows), common(one.columns, other.columns)];
  if (!rows.length || !columns.length) return hint("The two have no word in common here.");
  const weights = (i, j) => one.weights(rows[i][0], columns[j][0]) - other.weights(rows[i][1], columns[j][1]);
  const matrix = drawMatrix({
    rows: rows.map(([i]) => one.rows[i]), columns: columns.map(([j]) => one.columns[j]), weights,
    diverging: true, label: `${a.name} minus ${b.name}`,
  });
  const left = one.rows.length + other.rows.length - 2 * rows.length;
  const share = percent(moved(rows, columns, weights));
  return h("div", { class: "difference" }, h("div", {}, matrix), h("div", {},
    h("p", {}, `Orange: ${a.name} looks there more. Blue: ${b.name} does.`),
    h("p", {}, `On average ${share} of a row’s attention goes to other places.`),
    left > 0 && h("p", {}, `Left out: ${left} ${words ? "words" : "tokens"} that only one of them has.`)));
}

// Where both read the same tokens, the words of the one serve the other too: a run that knows the gold
// alignment of a sentence may part its words in other places.
function inWordsOf(a, b, { rows, columns }) {
  const same = [rows, columns].every((side) =>
    a.look.sides[side].tokens.join("\n") === b.look.sides[side].tokens.join("\n"));
  return same ? { ...b, look: { ...b.look, sides: a.look.sides } } : b;
}

function whyNot(first, second) {
  if (!first || !second) return "One of the two has no map of attention between words to subtract.";
  if (first.rows === second.rows && first.columns === second.columns) return null;
  return `These maps cannot be subtracted: one goes from ${first.rows} to ${first.columns}, `
    + `the other from ${second.rows} to ${second.columns}.`;
}

// The part of its attention that a row places elsewhere, on average: half the sum of all differences.
function moved(rows, columns, weights) {
  let sum = 0;
  for (const i of rows.keys()) for (const j of columns.keys()) sum += Math.abs(weights(i, j));
  return sum / 2 / rows.length;
}

// Pairs [place in a, place in b] of what two lists have in common, in order: the longest such list.
export function common(a, b) {
  const longest = Array.from({ length: a.length + 1 }, () => new Int32Array(b.length + 1));
  for (let i = a.length - 1; i >= 0; i -= 1) {
    for (let j = b.length - 1; j >= 0; j -= 1) {
      longest[i][j] = a[i] === b[j]
        ? longest[i + 1][j + 1] + 1 : Math.max(longest[i + 1][j], longest[i][j + 1]);
    }
  }
  const pairs = [];
  for (let i = 0, j = 0; i < a.length && j < b.length;) {
    if (a[i] === b[j]) pairs.push([i++, j++]);
    else if (longest[i + 1][j] >= longest[i][j + 1]) i += 1;
    else j += 1;
  }
  return pairs;
}

// Whether both tokenizers cut the words that both have in the same places, so that tokens can be compared.
function cutAlike(a, b, { rows, columns }) {
  return [rows, columns].every((side) => {
    const known = new Map(pieces(a.sides[side]));
    return pieces(b.sides[side]).every(([word, cut]) => !known.has(word) || known.get(word) === cut);
  });
}

function pieces({ words, tokens, word_of: wordOf }) {
  const cut = (word) => tokens.filter((_, k) => wordOf[k] === word).map((token) => token.trim()).join(" ");
  return words.map((word, i) => [word, cut(i)]);
}

function hint(text) {
  return h("p", { class: "hint" }, text);
}
