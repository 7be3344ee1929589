// Steps of a way through a recurrent translator, and their pictures: states before and after, and what is seen of the
// source between them. The decoder's attention is drawn as that of any other model.

import { limitOf, scaleOf } from "regard/views.js";
import { strip } from "regard/way_pictures.js";

const BESIDE = {
  context: "the context vector", output: "the last output", summary: "the summary of the source",
};
const CELLS = { gru: "GRU", lstm: "LSTM", rnn: "RNN" };

export function encoded(way, { array, directions }, { word, place }) {
  const count = way.sides.source.tokens.length;
  const other = directions > 1 ? ` and from the end back to it, ${count - place}` : "";
  return {
    kind: "encoded", title: "State of the encoder",
    says: `The encoder reads token by token. This is its state at ${word}, after ${place + 1} from the start${other}: `
      + `${way.array(array).data.length} values, which the decoder can look at.`,
    formulas: [directions > 1
      ? "state = [state from the left, state from the right]" : "state = cell( vector, state before )"],
  };
}

export function state({ first }, { word }) {
  return {
    kind: "state", title: "State before the step",
    says: first
      ? `Nothing is written yet: the decoder starts from what the encoder made of the source, and now reads ${word}.`
      : `All that the decoder keeps of what it has written so far stands in one vector; now it reads ${word}.`,
    formulas: [first ? "state = what the encoder hands over" : "state = state after the token before"],
  };
}

// The decoder's look at the source, as the steps of attention.
export function looked(way, { hidden, columns }, { word }) {
  const seen = way.sides[columns].tokens.length - hidden.length;
  const steps = [
    {
      kind: "keys", title: "Query and keys",
      says: `The state at ${word} asks; each state of the encoder answers with a key.`,
      formulas: ["query = state of the decoder", "key = state of the encoder"],
    },
    {
      kind: "scores", title: "Scores", says: "How well does each state of the encoder answer?",
      formulas: ["score = how well query and key agree"],
    },
    hidden.length > 0 && {
      kind: "mask", title: "Window",
      says: `Attention is local here: only ${seen} of ${way.sides[columns].tokens.length} tokens are in its window.`,
      formulas: ["weight = 0 outside the window"],
    },
    {
      kind: "softmax", title: "Softmax",
      says: "The scores become weights: all positive, and the higher the score the higher.",
      formulas: ["weight = e^score ÷ sum of e^score over all tokens"],
    },
    {
      kind: "mix", title: "Context vector",
      says: "The states of the encoder, each as much as its weight says, make one vector: what the decoder sees of the "
        + "source now.",
      formulas: ["context vector = sum of weight × state of the encoder"],
    },
  ];
  return steps.filter(Boolean).map((step) => ({ part: "Attention to the source", ...step }));
}

export function cell({ cell: kind, beside, layers }, { word }) {
  const [others, entering] = beside ? [` and ${BESIDE[beside]}`, `, ${BESIDE[beside].replace("the ", "")}`] : ["", ""];
  const above = layers > 1 ? ` Its ${layers} layers stand above each other; the last one is shown.` : "";
  return {
    kind: "cell", title: "New state",
    says: `The ${CELLS[kind]} reads the vector of ${word}${others}, and makes a new state of the one before.${above}`,
    formulas: [`new state = ${CELLS[kind]}( vector${entering}, state before )`],
  };
}

export function written(way, stage, { word }) {
  return {
    kind: "output", title: "Output",
    says: `What has become of the step that read ${word}: the vector that is compared with every token of the `
      + "vocabulary.",
    formulas: [way.stages.some(({ stage: name }) => name === "looked")
      ? "output = a layer of( new state, context vector )" : "output = a layer of( new state )"],
  };
}

// --- pictures ---------------------------------------------------------------------------------------------------------

function one(way, { stage }, { numbers }) {
  const values = way.array(stage.array).data;
  const limit = limitOf(values);
  const [first, ...others] = stage.stage;
  return [strip(`${first.toUpperCase()}${others.join("")}`, values, limit, { numbers }), scaleOf(-limit, limit)];
}

// What enters, the state before and the new one; an LSTM keeps a memory beside its state.
function newState(way, { stage }, { numbers }) {
  const beside = stage.beside ? [titled(BESIDE[stage.beside])] : [];
  const names = ["Vector of the token", ...beside, "State before", "New state"];
  const memories = ["Memory of the cell before", "New memory of the cell"];
  const named = (titles, arrays) => arrays.map((name, i) => [titles[i], name]);
  const entering = named(names, stage.arrays);
  const rows = [...entering.slice(0, -1), ...named(memories, stage.memories), entering.at(-1)];
  const limit = limitOf(...rows.map(([, name]) => way.array(name).data));
  return [...rows.map(([title, name]) => strip(title, way.array(name).data, limit, { numbers })), scaleOf(-limit, limit)];
}

function titled(text) {
  return text.replace(/^the (.)/, (_, letter) => letter.toUpperCase());
}

export const CELL_PICTURES = { encoded: one, state: one, output: one, cell: newState };
