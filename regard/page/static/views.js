// Small parts that several views share: labelled controls, a line that tells how things stand, values told.

import { AGAIN, isAway, isGone, wait, wasLeft } from "regard/api.js";
import { diverging, shade } from "regard/colours.js";
import { freshId, h } from "regard/dom.js";

// A label above its control.
export function field(label, control, extra = {}) {
  control.id ||= freshId("field");
  return h("div", { class: "field", ...extra }, h("label", { for: control.id }, label), control);
}

// A labelled select; options are [value, text]. `.fill(options, value)` replaces them.
export function choice(label, options, value, onchange) {
  const select = h("select", { onchange: () => onchange(select.value) });
  const node = field(label, select);
  const fill = (entries, chosen) => {
    select.replaceChildren(...entries.map(([own, text]) => h("option", { value: own }, text)));
    select.value = chosen;
    if (select.selectedIndex < 0) select.selectedIndex = 0;
  };
  fill(options, value);
  return {
    node, select, fill,
    get value() { return select.value; },
    set value(chosen) { select.value = chosen; },
  };
}

// A labelled slider that tells its value beside its label; `tell` puts the value in words.
export function slider(label, { min, max, step = 1, value, tell = String }, oninput) {
  const told = h("output", {});
  const input = h("input", { type: "range", min, max, step, id: freshId("slider") });
  const set = (next) => {
    input.value = next;
    told.textContent = tell(Number(input.value));
    input.setAttribute("aria-valuetext", told.textContent);
  };
  input.addEventListener("input", () => {
    set(input.value);
    oninput(Number(input.value));
  });
  set(value);
  const node = h("div", { class: "field slide" }, h("label", { for: input.id }, label, " ", told), input);
  return { node, input, set, get value() { return Number(input.value); } };
}

// Buttons of which exactly one is pressed: heads, tokens. Options are [value, text].
export function pressed(label, options, value, onpick) {
  const press = (own) => {
    buttons.forEach((button, i) => button.setAttribute("aria-pressed", String(options[i][0] === own)));
  };
  const buttons = options.map(([own, text]) => {
    const click = () => {
      press(own);
      onpick(own);
    };
    return h("button", { type: "button", class: "pick", onclick: click }, text);
  });
  press(value);
  return { node: h("div", { class: "picks", role: "group", "aria-label": label }, buttons), buttons };
}

// One line that screen readers announce: "Reading …", an error, or nothing.
export function statusLine() {
  const node = h("p", { class: "status", role: "status", "aria-live": "polite" });
  const say = (text, wrong = false) => {
    node.textContent = text;
    node.classList.toggle("wrong", wrong);
    node.hidden = !text;
  };
  say("");
  return { node, say, fail: (error) => wasLeft(error) || say(toldOf(error), true) };
}

function toldOf(error) {
  return isGone(error) ? `${error.message.replace(/[.:].*/s, "")}: it was deleted.` : error.message;
}

// A task of which only the newest counts: a new call stops the old one, and leaving the view stops both. While
// the server does not answer, it is tried again.
export function newest(task, signal, status, waiting) {
  let running = null;
  const ask = async (...given) => {
    running?.abort();
    const own = new AbortController();
    running = own;
    const both = AbortSignal.any([signal, own.signal]);
    const slow = setTimeout(() => status.say(waiting), 150); // a quick answer needs no "please wait"
    try {
      await task(both, ...given);
      if (running === own) status.say("");
    } catch (error) {
      if (running !== own || both.aborted) return;
      status.fail(error);
      if (isAway(error)) wait(AGAIN, both).then(() => ask(...given), () => null);
    } finally {
      clearTimeout(slow);
    }
  };
  return ask;
}

// Left and right go a step back and on, wherever the focus is, unless something there wants these keys.
export function arrowKeys(go, signal) {
  document.addEventListener("keydown", (event) => {
    const by = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
    if (!by || event.altKey || event.ctrlKey || event.metaKey || event.defaultPrevented) return;
    if (event.target.closest?.("input:not([type=checkbox]), select, textarea, [contenteditable]")) return;
    event.preventDefault();
    go(by);
  }, { signal });
}

// Scroll a box, and only the box, so that something inside is seen.
export function showInside(box, node) {
  const [outer, inner] = [box.getBoundingClientRect(), node.getBoundingClientRect()];
  if (inner.top < outer.top || inner.bottom > outer.bottom) {
    box.scrollTop += inner.top - outer.top - outer.height / 3;
  }
  if (inner.left < outer.left || inner.right > outer.right) {
    box.scrollLeft += inner.left - outer.left - outer.width / 3;
  }
}

// A token as a person reads it: its leading space is not shown, a lone space or line break is.
export function readable(token) {
  return token.trim() || token.replaceAll("\n", "⏎").replaceAll(" ", "␣") || "∅";
}

// 0.123, −1.5e−5, 1234.000: three digits after the point, or as many as it takes to see something.
export function digits(value, count = 3) {
  if (!Number.isFinite(value)) return value < 0 ? "−∞" : String(value);
  const size = Math.abs(value);
  const tiny = size && size < 0.5 * 10 ** -count;
  return (tiny || size >= 1e5 ? value.toExponential(1) : value.toFixed(count)).replaceAll("-", "−");
}

// A share: 93 %, 0.4 %, and "< 0.1 %" where rounding would say that there is none.
export function percent(share) {
  if (!Number.isFinite(share)) return "–";
  if (share > 0 && share < 0.0005) return "< 0.1 %";
  return `${(100 * share).toFixed(share < 0.0995 && share > 0 ? 1 : 0)} %`;
}

// What the colours mean: from `low` to `high`; two-sided where zero lies between them.
export function scaleOf(low, high, twoSided = true) {
  const colour = (i) => (twoSided ? diverging(i / 4 - 1) : shade(i / 8));
  const stops = Array.from({ length: 9 }, (_, i) => colour(i)).join(", ");
  const bar = h("span", { style: { background: `linear-gradient(to right, ${stops})` } });
  return h("div", { class: "scale" }, digits(low, 2), bar, digits(high, 2));
}

// The largest distance from zero among some vectors, so that they can share one scale of colours.
export function limitOf(...vectors) {
  let limit = 0;
  for (const values of vectors) {
    for (const value of values) if (Number.isFinite(value)) limit = Math.max(limit, Math.abs(value));
  }
  return limit || 1;
}
