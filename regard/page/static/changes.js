// What a model writes without some of its heads, beside what it writes with all.

import { h } from "regard/dom.js";
import { differences, signed } from "regard/text.js";

// `onBack(head)` is given where a head can be switched on again.
export function drawChanges(look, { onBack = null } = {}) {
  const off = look.without ?? [];
  if (!off.length) return null;
  const chips = off.map((name) => {
    if (!onBack) return h("span", { class: "tag" }, name);
    const props = { type: "button", class: "tag", "aria-label": `switch ${name} on again` };
    return h("button", { ...props, onclick: () => onBack(name) }, name, " ×");
  });
  return h(
    "section", { class: "card changes" }, h("h2", {}, "Without ", chips),
    look.changes ? told(look.changes) : null,
  );
}

function told({ text, before, log_prob: now, before_log_prob: earlier }) {
  const same = before === undefined || before === null || before === text;
  const words = same
    ? h("p", { class: "large", dir: "auto" }, text)
    : h(
      "p", { class: "large", dir: "auto" },
      differences(before, text).flatMap(({ word, kind }) => [marked(word, kind), " "]),
    );
  const probability = Number.isFinite(now) && Number.isFinite(earlier)
    ? `Log-probability of the whole text ${signed(now.toFixed(2))}, with all heads ${signed(earlier.toFixed(2))}.`
    : "";
  return [words, h("p", { class: "hint" }, same ? "The text stays the same. " : "", probability)];
}

function marked(word, kind) {
  return kind === "same" ? word : h(kind === "new" ? "ins" : "del", {}, word);
}

// The names of silent heads with one more, or one fewer.
export function toggled(names, name, off) {
  const others = names.filter((one) => one !== name);
  return off ? [...others, name] : others;
}
