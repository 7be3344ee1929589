// A prompt's way: one token followed from the text to the probabilities of what comes next, step by step.

import { postLook } from "regard/api.js";
import { debounce, h } from "regard/dom.js";
import { examplesOf, grow, typed, writing } from "regard/translate.js";
import { arrowKeys, field, newest, pressed, readable, showInside, statusLine } from "regard/views.js";
import { drawStep, PER_HEAD } from "regard/way_draw.js";
import { drawRail } from "regard/way_rail.js";
import { fullTitle, stepsOf } from "regard/way_stages.js";

const PAUSE = 400; // milliseconds without a key before the model is asked
const EXAMPLE = "The cat sleeps because it is tired.";

export async function show(place, { run, view: { takes }, params, signal, keep }) {
  const two = takes.some(({ field: name }) => name === "target");
  const state = startState(takes, params);
  const text = writing(params.get("text") ?? (examplesOf(run)[0] || EXAMPLE), "Type a sentence");
  const target = two ? writing(params.get("target") ?? "", "What the model writes itself") : null;
  const status = statusLine();
  const trip = h("div", { class: "trip" });
  let walk = null; // of the way that is drawn
  const read = newest(async (both) => {
    const body = { run: run.name, text: text.value, place: state.place, source_place: state.sourcePlace };
    if (target?.value.trim()) body.target = target.value;
    walk = drawTrip(trip, await postLook("/api/way", body, both), state, keep, move);
  }, signal, status, "Following the token through the model …");
  // Another token of one side: the same steps, with its numbers.
  const move = (side, at) => {
    if (side === "source") state.sourcePlace = at;
    else state.place = at;
    keep(side === "source" ? { source: at } : { place: at });
    read();
  };
  const ask = () => {
    state.place = state.sourcePlace = usualPlace(takes); // places of another text mean nothing here
    keep({ text: text.value, target: target?.value.trim(), place: null, source: null });
    return read();
  };
  place.append(
    h("header", {}, h("h1", {}, "A prompt’s way"), h("p", { class: "lead" },
      "One token, followed through ", h("b", {}, run.name), ": every step is what the model computes.")),
    h("div", { class: two ? "pair" : "pair single" }, field(two ? "Sentence" : "Text", text),
      target && field("Translation (where it should not write its own)", target)),
    status.node, trip,
  );
  for (const box of [text, target].filter(Boolean)) {
    grow(box);
    typed(box, debounce(ask, PAUSE));
  }
  arrowKeys((by) => walk?.(by), signal);
  await read();
}

function startState(takes, params) {
  const number = (name, otherwise) => {
    const value = Number.parseInt(params.get(name), 10);
    return Number.isNaN(value) ? otherwise : value;
  };
  return {
    step: number("step", 0), head: number("head", 0), temperature: 1, numbers: params.has("numbers"),
    place: number("place", usualPlace(takes)), sourcePlace: number("source", usualPlace(takes)),
  };
}

// The last token of a prompt says what comes next; elsewhere a word is more telling than the end.
function usualPlace([{ name }]) {
  return name === "prompt" ? -1 : 1;
}

// The tokens to choose from, the rail of steps, and the step itself. Returns how to go on by so many steps.
function drawTrip(trip, way, state, keep, move) {
  const steps = stepsOf(way);
  state.step = Math.min(Math.max(state.step, 0), steps.length - 1);
  const stage = h("section", { class: "card stage" });
  const announced = h("p", { class: "sr", "aria-live": "polite" });
  const chips = tokenRows(way, move);
  const go = (index) => {
    if (index < 0 || index >= steps.length) return;
    state.step = index;
    keep({ step: index || null });
    announced.textContent = `${fullTitle(steps[index])}. ${steps[index].says}`;
    draw();
  };
  const rail = drawRail(steps, go);
  const change = (part, again = true) => {
    Object.assign(state, part);
    keep({ head: state.head || null, numbers: state.numbers ? 1 : null });
    if (again) draw();
  };
  const draw = () => holdingFocus(stage, () => {
    const step = steps[state.step];
    if (step.stage.heads) state.head = Math.min(state.head, step.stage.heads - 1);
    stage.replaceChildren(...stageParts(way, steps, state, change, go));
    rail.mark(state.step);
    chips.mark(step.side);
  });
  holdingFocus(trip, () => {
    trip.replaceChildren(chips.node, h("div", { class: "walk" }, rail.node, stage), announced);
    draw();
  });
  const picked = chips.node.querySelectorAll("[aria-pressed=true]");
  for (const button of picked) showInside(button.parentNode, button);
  return (by) => go(state.step + by);
}

// What is drawn again gives the focus back to the control that had it, by its name in data-focus.
function holdingFocus(node, redraw) {
  const held = node.contains(document.activeElement) ? document.activeElement.dataset.focus : null;
  redraw();
  if (held) node.querySelector(`[data-focus="${held}"]`)?.focus();
}

function stageParts(way, steps, state, change, go) {
  const step = steps[state.step];
  const arrow = (name, sign, by) => h("button", { type: "button", class: "quiet", dataset: { focus: name },
    disabled: !steps[state.step + by], onclick: () => go(state.step + by) }, sign);
  const [heads, numbers] = [headPicks(step, state, change), numbersToggle(step, state, change)];
  return [
    h("div", { class: "stage-top" },
      h("p", { class: "where" }, [step.group, step.part].filter(Boolean).join(" · ")),
      h("p", {}, `${state.step + 1} of ${steps.length}`),
      h("div", { class: "steps" }, arrow("previous", "← Previous", -1), arrow("next", "Next →", 1))),
    h("h2", {}, step.title),
    h("p", { class: "says" }, step.says),
    h("p", { class: "formula" }, step.formulas.map((formula) => h("span", {}, raised(formula)))),
    h("div", { class: "options" }, heads, numbers),
    h("div", { class: `picture ${step.kind}` }, drawStep(way, step, state, change)),
  ];
}

function headPicks(step, state, change) {
  const { heads } = step.stage;
  if (!PER_HEAD.has(step.kind) || heads < 2) return null;
  const options = Array.from({ length: heads }, (_, i) => [i, String(i)]);
  const picks = pressed("Head", options, state.head, (head) => change({ head }));
  picks.buttons.forEach((button, i) => (button.dataset.focus = `head ${i}`));
  return h("div", { class: "head-picks" }, h("span", {}, "Head"), picks.node);
}

function numbersToggle(step, state, change) {
  if (step.kind === "tokens") return null;
  const box = h("input", { type: "checkbox", checked: state.numbers, dataset: { focus: "numbers" },
    onchange: () => change({ numbers: box.checked }) });
  return h("label", { class: "toggle" }, box, " Numbers");
}

// "e^x" and "e^(x ÷ y)" with what follows the sign written above the line.
function raised(formula) {
  return formula.split(/(\^\([^)]*\)|\^\w+)/).map((part) =>
    (part.startsWith("^") ? h("sup", {}, part.replace(/^\^\(?|\)$/g, "")) : part));
}

// The sides with their tokens as buttons; the followed one is pressed.
function tokenRows(way, move) {
  const rows = Object.entries(way.sides).map(([side, { tokens }]) => {
    const at = side === "source" ? way.source_place : way.place;
    const options = tokens.map((token, i) => [i, readable(token)]);
    const picks = pressed(`Token of the ${side}`, options, at, (i) => move(side, i));
    picks.buttons.forEach((button, i) => (button.dataset.focus = `${side} ${i}`));
    const name = h("span", { class: "side-name" }, side);
    return h("div", { class: "token-row", dataset: { side } }, name, picks.node);
  });
  const mark = (side) => rows.forEach((row) => row.classList.toggle("active", row.dataset.side === side));
  return { node: h("div", { class: "token-rows" }, rows), mark };
}
