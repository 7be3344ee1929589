// The logit lens: what the model would write if it stopped at each depth.

import { wash } from "regard/colours.js";
import { h } from "regard/dom.js";
import { share } from "regard/text.js";
import { readable } from "regard/views.js";
import { writtenSide } from "regard/words.js";

// A table, depth by place; a word is shaded by its probability and set bold where it is the one that was
// really written.
export function drawLens(look) {
  const { lens } = look;
  if (!lens) return h("p", { class: "hint" }, "This model has no output layer to read its depths with.");
  const side = look.sides[writtenSide(look) ?? Object.keys(look.sides)[0]];
  const written = (look.predictions ?? []).map(({ token }) => token);
  const told = h("output", { class: "told", "aria-live": "polite" });
  const count = lens.tokens[0]?.length ?? 0;
  const head = Array.from(
    { length: count }, (_, place) => h("th", { scope: "col" }, readable(side.tokens[place] ?? "")),
  );
  const rows = lens.layers.map((layer, depth) => h("tr", {},
    h("th", { scope: "row" }, layer),
    Array.from({ length: count }, (_, place) => cell(lens, depth, place, written[place]))));
  const corner = h("th", { scope: "col" }, writtenSide(look) ? "having read" : "place");
  const table = h("table", { class: "lens", dir: "auto" },
    h("thead", {}, h("tr", {}, corner, head)), h("tbody", {}, rows));
  const tell = (event) => {
    const at = event.target.closest("td");
    if (!at) return;
    const { depth, place } = at.dataset;
    const top = `“${readable(lens.tokens[depth][place])}” ${share(lens.probabilities[depth][place])}`;
    const real = `“${readable(written[place] ?? "")}” ${share(lens.chosen[depth][place])}`;
    told.textContent = `${lens.layers[depth]}: ${top}${written[place] === undefined ? "" : `; ${real}`}`;
  };
  table.addEventListener("pointerover", tell);
  table.addEventListener("focusin", tell);
  walk(table);
  return h(
    "figure", { class: "lens-place" }, h("div", { class: "scroll" }, table), h("figcaption", {}, told),
  );
}

function cell(lens, depth, place, written) {
  const probability = lens.probabilities[depth][place];
  const token = lens.tokens[depth][place];
  return h("td", {
    class: token === written ? "right" : "", tabindex: depth + place === 0 ? 0 : -1,
    dataset: { depth, place }, style: { background: wash(probability) },
  }, readable(token));
}

// Arrow keys go from cell to cell.
function walk(table) {
  table.addEventListener("keydown", (event) => {
    const move = { ArrowUp: [-1, 0], ArrowDown: [1, 0], ArrowLeft: [0, -1], ArrowRight: [0, 1] }[event.key];
    const at = event.target.closest("td");
    if (!move || !at) return;
    const [depth, place] = [Number(at.dataset.depth) + move[0], Number(at.dataset.place) + move[1]];
    const next = table.querySelector(`td[data-depth="${depth}"][data-place="${place}"]`);
    event.preventDefault();
    if (!next) return;
    at.tabIndex = -1;
    next.tabIndex = 0;
    next.focus();
  });
}
