// What a model says of the words of a text: the tag of each, or which of them answer a question.

import { wash } from "regard/colours.js";
import { h } from "regard/dom.js";
import { percent } from "regard/views.js";

const ANSWER = "answer";
const NO_ANSWER = "no answer";

// The answer, of a look at something that answers; null of any other.
export function answerOf({ marks }) {
  return marks?.length && [ANSWER, NO_ANSWER].includes(marks[0].label) ? marks[0] : null;
}

export function drawMarks(look) {
  const found = answerOf(look);
  return h("div", { class: "marks" }, found ? answered(look, found) : tagged(look));
}

// The text, with the words that are the answer underlined.
function answered({ sides: { text } }, { first, last, label, probability, text: answer }) {
  const found = label === ANSWER;
  const inside = new Set(found ? text.word_of.slice(first, last + 1) : []);
  const read = (number) => text.text_of[text.word_of.indexOf(number)] === 1;
  const shown = text.words.flatMap((word, number) => {
    if (!read(number)) return [];
    return [inside.has(number) ? h("mark", { class: "answer" }, word) : h("span", {}, word), " "];
  });
  const sure = `with a probability of ${percent(probability)} against ${found ? "no answer" : "any"}`;
  return [
    h("h2", {}, "What it answers"),
    h("p", { class: "large", dir: "auto" }, h("b", {}, answer || NO_ANSWER), " ", h("span", { class: "hint" }, sure)),
    h("p", { class: "marked-text" }, shown),
  ];
}

// Each word above its tag; the surer, the darker the ground behind the tag. Its letters stay as dark as they are.
function tagged({ marks }) {
  const words = marks.map(({ text, label, probability }) => {
    const name = h("span", { class: "tag-name", style: { background: wash(probability) } }, label);
    return h("span", { class: "tagged", title: percent(probability) }, h("span", {}, text), " ", name);
  });
  return [
    h("h2", {}, "What it says of each word"), h("p", { class: "marked-text" }, words),
    h("p", { class: "hint" }, "The darker behind a tag, the surer it is. Point at a word for the probability."),
  ];
}
