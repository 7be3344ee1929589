// The rail beside a step: all steps in their groups. Only the group that one is in is unfolded, so that even
// the steps of a deep model fit.

import { h } from "regard/dom.js";
import { showInside } from "regard/views.js";
import { fullTitle } from "regard/way_stages.js";

// {node, mark(index)}; `go(index)` is called for the step that was chosen.
export function drawRail(steps, go) {
  const numbered = steps.map((step, index) => ({ ...step, index }));
  const together = Map.groupBy(numbered, ({ side, group }) => `${side} ${group}`);
  const groups = [...together.values()].map((members) => ({ members, node: drawGroup(members, go) }));
  const list = h("ol", {}, groups.map((group) => group.node));
  const node = h("nav", { class: "rail", "aria-label": "Steps" }, list);
  const mark = (index) => {
    for (const { node: own, members } of groups) {
      own.classList.toggle("open", members.some((step) => step.index === index));
    }
    for (const button of node.querySelectorAll("[data-step]")) {
      const here = Number(button.dataset.step) === index;
      button.setAttribute("aria-current", here ? "step" : "false");
      if (here) showInside(node, button);
    }
  };
  return { node, mark };
}

function drawGroup(members, go) {
  const [{ group, index }] = members;
  const open = h("button", { type: "button", class: "block", onclick: () => go(index) }, group);
  return h("li", {}, open, h("ol", {}, members.map((step, i) => entry(step, members[i - 1], go))));
}

// A step's button, after the name of its part where a new one begins.
function entry(step, before, go) {
  const alone = step.part === step.title; // a part of one step needs no heading
  const heading = step.part && !alone && step.part !== before?.part;
  const button = h("button", { type: "button", dataset: { step: step.index }, "aria-label": fullTitle(step),
    onclick: () => go(step.index) }, step.title);
  return [
    heading && h("li", { class: "part" }, step.part), h("li", { class: alone ? "alone" : null }, button),
  ];
}
