// From a look to one map: any layer, one head or the mean of all, between tokens or merged to words.

import { windowsOf } from "regard/windows.js";

const ALIGNMENT = "alignment"; // the array of the alignment, between words

// What can be asked for by name: [{name, group, heads, rows, columns}], in the order of a list for people.
export function mapsOf(look) {
  const found = [];
  if (look.alignment && look.has(ALIGNMENT)) {
    const told = { title: `alignment (${look.alignment.layer})`, group: "As recorded" };
    found.push({ name: ALIGNMENT, ...told, heads: 1, rows: "target", columns: "source", words: true });
  }
  for (const layer of mappedLayers(look)) {
    if (look.has(layer.name)) found.push({ ...layer, title: layer.name, group: groupName(layer) });
  }
  for (const entry of look.rollout ?? []) {
    const told = { title: entry.name, group: "Rollout: all layers together" };
    if (look.has(entry.name)) found.push({ ...entry, ...told, heads: 1 });
  }
  return found;
}

// The layers that are shown as maps; what makes one vector of a text is shown in the text itself.
export function mappedLayers({ layers }) {
  return layers.filter(({ stack }) => stack !== "pool");
}

// "Decoder, attention to the source", for headings.
export function groupName({ stack, role, columns }) {
  const where = stack.charAt(0).toUpperCase() + stack.slice(1);
  return role === "cross" ? `${where}, looking at the ${columns}` : `${where}, looking at itself`;
}

// The map that one would want to see first.
export function firstMap(look) {
  const maps = mapsOf(look);
  const crossing = maps.filter((map) => map.role === "cross");
  return maps.find((map) => map.name === ALIGNMENT) ?? crossing.at(-2) ?? crossing[0] ?? maps[0] ?? null;
}

// The side that a model writes, where it writes one: its rows read a token and predict the next. Looks that were
// saved before they said so are all of models that write.
export function writtenSide({ writes, sides }) {
  if (writes !== undefined) return writes;
  return sides.target ? "target" : "text";
}

// Whether the rows of a map are better named by the word that is written next than by the one just read: so
// where one side looks at the other, if the run's alignment was found to follow what is written.
export function namesNext(look, { rows, columns }) {
  return rows !== columns && rows === writtenSide(look) && look.alignment?.shift === 0;
}

// Tokens as read: {rows, columns, weights(i, j)}. `head` null is the mean of all. `next` names rows by what
// they predict. `windows` are those of local attention.
export function tokenMap(look, name, head = null, { next = false } = {}) {
  const { values, height, width, rows, columns } = oneMap(look, name, head);
  const rowSide = next ? predicted(look, rows) : look.sides[rows];
  const each = (count) => Array.from({ length: count }, (_, place) => place);
  const steps = each(height).map((place) => ({ from: place, to: place + 1 }));
  return {
    rows: labels(rowSide, height),
    columns: labels(look.sides[columns], width),
    weights: (i, j) => values[i * width + j],
    rowOf: each(height),
    rowTexts: textsAlong(rowSide, each(height)),
    columnTexts: textsAlong(look.sides[columns], each(width)),
    windows: windowsOf(look, name, steps, each(width + 1)),
  };
}

// Merged to words: what a word's tokens receive is added, what they give is averaged. Special tokens stay
// by themselves. `rowOfWord` and `columnOfWord` say where a word of the side stands, for gold links,
// `rowOf` where a token does; `rowTexts` and `columnTexts` which of two texts each is of (null: none, or
// there is only one).
export function mergeWords(look, name, head = null, { next = false } = {}) {
  const { values, height, width, rows, columns, words } = oneMap(look, name, head);
  if (words) return alignmentWords(look, values, width);
  const [rowSide, columnSide] = [next ? predicted(look, rows) : look.sides[rows], look.sides[columns]];
  const [down, across] = [groups(rowSide, height), groups(columnSide, width)];
  const merged = new Float32Array(down.length * across.length);
  const columnOf = Int32Array.from(
    { length: width }, (_, j) => across.findIndex((g) => j >= g.from && j < g.to),
  );
  down.forEach(({ from, to }, row) => {
    for (let i = from; i < to; i += 1) {
      for (let j = 0; j < width; j += 1) {
        merged[row * across.length + columnOf[j]] += values[i * width + j] / (to - from);
      }
    }
  });
  return {
    rows: down.map((g) => g.label),
    columns: across.map((g) => g.label),
    weights: (i, j) => merged[i * across.length + j],
    rowOfWord: whereWords(down),
    columnOfWord: whereWords(across),
    rowOf: down.flatMap(({ from, to }, row) => Array(to - from).fill(row)),
    rowTexts: textsAlong(rowSide, down.map(({ from }) => from)),
    columnTexts: textsAlong(columnSide, across.map(({ from }) => from)),
    windows: windowsOf(look, name, down, edgesOf(across)),
  };
}

// Gold links [source word, target word] as [column, row] of a merged map.
export function goldCells(look, map) {
  const gold = look.alignment?.gold;
  if (!gold || !map.rowOfWord) return [];
  return gold
    .map(([source, target]) => [map.columnOfWord.get(source), map.rowOfWord.get(target)])
    .filter(([column, row]) => column !== undefined && row !== undefined);
}

// One head's weights, or the mean of all heads: {values, height, width, rows, columns}. The mean is computed
// once.
export function oneMap(look, name, head = null) {
  const entry = mapsOf(look).find((map) => map.name === name);
  if (!entry) throw new Error(`There is no map named ${name} here.`);
  const { shape: [heads, height, width], data } = look.array(name);
  const size = height * width;
  const at = (head ?? 0) * size;
  const values = head === null && heads > 1 ? meanOf(look, name) : data.subarray(at, at + size);
  return { values, height, width, rows: entry.rows, columns: entry.columns, words: entry.words ?? false };
}

const means = new WeakMap(); // of each look: name → mean map

function meanOf(look, name) {
  if (!means.has(look)) means.set(look, new Map());
  const known = means.get(look);
  if (!known.has(name)) {
    const { shape: [heads, height, width], data } = look.array(name);
    const mean = new Float32Array(height * width);
    for (let i = 0; i < data.length; i += 1) mean[i % mean.length] += data[i] / heads;
    known.set(name, mean);
  }
  return known.get(name);
}

// A token as a label: without its space; "‧" (the hyphenation point of dictionaries) before one that
// continues a word.
export function tokenLabel(side, place) {
  const token = side.tokens[place] ?? "";
  const word = side.word_of?.[place];
  const goesOn = place > 0 && word !== null && word !== undefined && side.word_of[place - 1] === word;
  const text = token.trim() || (token.includes("\n") ? "↵" : token ? "␣" : "");
  return goesOn ? `‧${text}` : text;
}

export function labels(side, count = side.tokens.length) {
  return Array.from({ length: count }, (_, place) => tokenLabel(side, place));
}

// The side as the rows predict it: everything one place earlier, and the end last.
export function predicted(look, name) {
  const side = look.sides[name];
  if (name !== writtenSide(look)) return side;
  const last = look.predictions?.at(-1)?.token ?? "</s>";
  return { ...side, tokens: [...side.tokens.slice(1), last], word_of: [...side.word_of.slice(1), null] };
}

// Neighbouring tokens of one word: [{label, word, from, to}].
function groups(side, count) {
  const found = [];
  for (let place = 0; place < count; place += 1) {
    const word = side.word_of[place] ?? null;
    const before = found.at(-1);
    if (word !== null && before?.word === word) before.to = place + 1;
    else {
      const label = word === null ? tokenLabel(side, place) : side.words[word];
      found.push({ word, label, from: place, to: place + 1 });
    }
  }
  return found;
}

// Where each token begins, in columns as wide as their groups are, and where the last one ends.
function edgesOf(found, wide = () => 1) {
  let column = 0;
  const edges = [];
  for (const group of found) {
    const { from, to } = group;
    for (let k = from; k < to; k += 1) edges.push(column + (wide(group) * (k - from)) / (to - from));
    column += wide(group);
  }
  return [...edges, column];
}

function textsAlong({ text_of: textOf }, places) {
  return textOf?.length ? places.map((place) => textOf[place]) : null;
}

function whereWords(found) {
  return new Map(found.flatMap(({ word }, place) => (word === null ? [] : [[word, place]])));
}

function alignmentWords(look, values, width) {
  const { source, target } = look.sides;
  const same = (words) => new Map(words.map((_, place) => [place, place]));
  return {
    rows: target.words,
    columns: source.words,
    weights: (i, j) => values[i * width + j],
    rowOfWord: same(target.words),
    columnOfWord: same(source.words),
    windows: alignmentWindows(look),
  };
}

// Those of the layer that is read. What is no word has no column, and no row; where a word has no token, its
// column could not be told.
function alignmentWindows(look) {
  const { alignment: { layer, shift }, sides: { source, target } } = look;
  const inWords = ({ word }) => word !== null;
  const written = shift === 0 ? predicted(look, "target") : target;
  const down = groups(written, written.tokens.length).filter(inWords);
  const across = groups(source, source.tokens.length);
  const whole = down.length === target.words.length
    && across.filter(inWords).length === source.words.length;
  return whole ? windowsOf(look, layer, down, edgesOf(across, (group) => (inWords(group) ? 1 : 0))) : null;
}
