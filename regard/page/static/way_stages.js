// A way as the steps that a person takes: each with its block, a title, a plain sentence and a formula in
// words.

import { readable } from "regard/views.js";
import { cell, encoded, looked, state, written } from "regard/way_cells.js";

const PARTS = { self: "Self-attention", cross: "Cross-attention" };

// From text to prediction: [{kind, title, group, part, says, formulas, stage, side, place, word, before}],
// where `before` names the array that holds the residual stream when the stage begins.
export function stepsOf(way) {
  const steps = [];
  let before = null;
  for (const stage of way.stages) {
    if (stage.stage === "tokens") before = null; // another side begins
    const at = whereIs(way, stage);
    for (const step of split(way, stage, at)) steps.push({ part: "", ...at, stage, before, ...step });
    if (stage.stage === "embedding" || stage.stage === "position") before = stage.array;
    else before = stage.stream ?? before;
  }
  return steps;
}

// "Encoder block 2 · Self-attention · Softmax"
export function fullTitle({ group, part, title }) {
  return [group, part === title ? "" : part, title].filter(Boolean).join(" · ");
}

// Stack, block and role of a stage, and the token that is followed there. The last belong to the written
// side.
function whereIs(way, stage) {
  const [stack, index, role] = (stage.name ?? stage.array ?? "").split(".");
  const side = stage.side ?? Object.keys(way.sides).at(-1);
  const place = side === "source" ? way.source_place : way.place;
  const token = way.sides[side].tokens[place];
  const two = "source" in way.sides;
  const block = `${two ? `${capital(stack)} block` : "Block"} ${Number(index) + 1}`;
  const inBlock = stage.name && stage.stage !== "looked"; // a recurrent decoder has none
  const group = inBlock ? block : stage.stage === "logits" ? "The output" : `The ${side}`;
  return { stack, role, side, place, token, group, word: `“${readable(token)}”` };
}

function split(way, stage, at) {
  switch (stage.stage) {
    case "tokens": return [tokens(way, at)];
    case "embedding": return [embedding(way, stage, at)];
    case "position": return [position(way, stage, at)];
    case "attention": return attention(way, stage, at);
    case "feedforward": return [feedForward(at)];
    case "encoded": return [encoded(way, stage, at)];
    case "state": return [state(stage, at)];
    case "looked": return looked(way, stage, at);
    case "cell": return [cell(stage, at)];
    case "output": return [written(way, stage, at)];
    case "logits": return output(way, at);
    default: return []; // a newer record may have stages that this page does not know
  }
}

function tokens(way, { side, place, word }) {
  const count = way.sides[side].tokens.length;
  return {
    kind: "tokens", title: "Tokens",
    says: `The text is cut into ${count} pieces that the model knows, and each piece has a number. `
      + `We follow ${word}, at place ${place}.`,
    formulas: ["text → pieces → numbers"],
  };
}

function embedding(way, stage, { side, place, word }) {
  const width = way.array(stage.array).data.length;
  return {
    kind: "embedding", title: "Embedding",
    says: `The number of ${word} picks a row of a learnt table: ${width} values that stand for the piece, `
      + "the same wherever it appears.",
    formulas: [`vector = row ${way.sides[side].ids[place]} of the embedding table`],
  };
}

function position(way, stage, { place, word }) {
  const embedded = stage.array.replace(/[^.]*$/, "embedding");
  const before = way.has(embedded) ? way.array(embedded).data : [];
  const changed = way.array(stage.array).data.some((value, i) => value !== before[i]);
  return {
    kind: "position", title: "Position",
    says: changed
      ? `Attention by itself knows no order, so the place of ${word}, number ${place}, goes into its vector.`
      : `This model adds nothing to the vector of ${word} here: it brings order into the attention instead.`,
    formulas: [changed ? `input = embedding + position ${place}` : "input = embedding"],
  };
}

// One attention layer is five steps; the mask is one of them only where something could be hidden.
function attention(way, stage, { stack, role, side, word }) {
  const own = side === stage.columns;
  const maskable = stage.hidden.length > 0 || (stack === "decoder" && own);
  const steps = [
    {
      kind: "keys", title: "Queries and keys",
      says: `${word} asks a question, its query; every token of the ${own ? "same text" : stage.columns} `
        + "offers a key. Each head has its own.",
      formulas: ["query = vector × query weights", "key = vector × key weights"],
    },
    {
      kind: "scores", title: "Scores",
      says: `How well does each key answer the query of ${word}? Where both point the same way, `
        + "the score is high.",
      formulas: [scoreRule(way, stage)],
    },
    maskable && {
      kind: "mask", title: "Mask",
      says: stage.hidden.length
        ? `${word} may not see what comes after it: ${stage.hidden.length} of its `
          + `${way.sides[stage.columns].tokens.length} scores become minus infinity.`
        : `${word} may see everything up to itself, and nothing comes after it: no score is hidden here.`,
      formulas: ["score = −∞ where the token is hidden"],
    },
    {
      kind: "softmax", title: "Softmax",
      says: "The scores become weights: all positive, together 1. A slightly higher score is a clearly "
        + "higher weight.",
      formulas: ["weight = e^score ÷ sum of e^score over all tokens"],
    },
    {
      kind: "mix", title: "Weighted values",
      says: `${word} takes from each token’s value as much as its weight says. The heads’ results stand side `
        + "by side, are mixed once more, and are added to the stream.",
      formulas: ["result = sum of weight × value", "output = all heads’ results × output weights"],
    },
  ];
  return steps.filter(Boolean).map((step) => ({ part: PARTS[role] ?? capital(role), ...step }));
}

// Says "query · key ÷ √K" only where that is what was computed; anything else is said as such.
function scoreRule(way, stage) {
  const { shape: [heads, width], data: queries } = way.array(stage.queries);
  const keys = way.array(stage.keys).data;
  const { shape: [, columns], data: scores } = way.array(stage.scores);
  const product = (head, column) => {
    let sum = 0;
    const [query, key] = [head * width, (head * columns + column) * width];
    for (let k = 0; k < width; k += 1) sum += queries[query + k] * keys[key + k];
    return sum / Math.sqrt(width);
  };
  for (let head = 0; head < heads; head += 1) {
    for (let column = 0; column < columns; column += 1) {
      const score = scores[head * columns + column];
      const off = Math.abs(product(head, column) - score) / (1 + Math.abs(score));
      if (!(off < 0.01)) return "score = how well query and key agree, and what their distance adds";
    }
  }
  return `score = query · key ÷ √${width}`;
}

function feedForward({ word }) {
  return {
    kind: "feedforward", title: "Feed-forward", part: "Feed-forward",
    says: `${word} now thinks for itself: its vector goes through two layers, with no look at any other `
      + "token, and the result is added to the stream.",
    formulas: ["output = second layer( activation( first layer( vector ) ) )", "stream = stream + output"],
  };
}

function output(way, { word }) {
  return [
    {
      kind: "logits", title: "Logits",
      says: `What has become of ${word} is compared with every token of the vocabulary; the higher the `
        + `logit, the better it fits. These are the best ${way.predictions.tokens.length}.`,
      formulas: ["logit = last vector · output vector of each token"],
    },
    {
      kind: "probabilities", title: way.writes === null ? "Token here" : "Next token",
      says: "Another softmax turns logits into probabilities. A low temperature sharpens them, a high one "
        + "levels them.",
      formulas: ["probability = e^(logit ÷ temperature) ÷ sum of the same over all tokens"],
    },
  ];
}

// Probabilities of the shown tokens and of all others together, at a temperature, from the best logits and
// the logsumexp of all. Each of the others is counted as likely as the last one shown: exact at temperature
// 1.
export function probabilitiesAt({ logits, total }, temperature) {
  const [top, last] = [logits[0], logits.at(-1)];
  const sum = (values) => values.reduce((all, value) => all + value, 0);
  const rest = Math.max(Math.exp(total - top) - sum(logits.map((logit) => Math.exp(logit - top))), 0);
  const shown = logits.map((logit) => Math.exp((logit - top) / temperature));
  const others = rest * Math.exp((last - top) * (1 / temperature - 1));
  const whole = sum(shown) + others;
  return { shown: shown.map((value) => value / whole), others: others / whole };
}

function capital(word) {
  return word.charAt(0).toUpperCase() + word.slice(1);
}
