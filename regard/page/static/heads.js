// All layers and heads of a look as small pictures; one opened as lines between words, and where every head
// looks.

import { h } from "regard/dom.js";
import { drawLines } from "regard/lines.js";
import { drawMatrix } from "regard/matrix.js";
import { paintPixels } from "regard/matrix_cells.js";
import { between, breaksOf } from "regard/pairs.js";
import { figure, share } from "regard/text.js";
import { choice } from "regard/views.js";
import { groupName, mappedLayers, mergeWords, namesNext, oneMap, tokenMap } from "regard/words.js";

const SCALES = [["one", "one scale for all"], ["own", "each by itself"]];
let scale = "one"; // that a person chose last

// A grid of buttons, `.head[data-layer][data-head]`, one row a layer; `onOpen(layer, head)`. `opened` is
// [layer, head]. Each picture is drawn when it comes into sight, from a table of 256 shades: 144 heads of 200
// tokens stay quick. All have one scale, so that they can be compared, unless a person asks for each by itself.
export function drawHeads(look, { onOpen = null, opened = null } = {}) {
  const seen = new IntersectionObserver((entries) => {
    for (const { isIntersecting, target } of entries) {
      if (!isIntersecting) continue;
      seen.unobserve(target);
      target.repaint();
    }
  }, { rootMargin: "200px" });
  const many = look.layers.some(({ heads }) => heads > 6);
  const sections = byGroup(look).map(([title, layers]) => h("section", { class: "head-group" },
    h("h3", {}, title), h("div", { class: "head-rows" }, layers.map((layer) => headRow(look, layer)))));
  const common = Math.max(...headsOf(look).map(([layer, head]) => ownFull(oneMap(look, layer, head))));
  const told = h("p", { class: "hint" });
  const shades = choice("Shades", SCALES, scale, (value) => {
    scale = value;
    tellScale();
    repaintHeads(element);
  });
  const tellScale = () => {
    told.textContent = scale === "one" ? `The full shade is a weight of ${share(common)} in every picture.`
      : "Each picture has a scale of its own: patterns can be compared, shades cannot.";
  };
  tellScale();
  const element = h("div", { class: many ? "heads many" : "heads" },
    h("div", { class: "head-scale" }, shades.node, told), sections);
  const buttons = [...element.querySelectorAll(".head")];
  const mark = (layer, head) => buttons.forEach((button) => {
    button.setAttribute(
      "aria-pressed", button.dataset.layer === layer && Number(button.dataset.head) === head,
    );
  });
  for (const button of buttons) {
    const canvas = button.querySelector("canvas");
    canvas.repaint = () => paintHead(look, canvas, scale === "one" ? common : null);
    seen.observe(canvas);
    button.addEventListener("click", () => {
      mark(button.dataset.layer, Number(button.dataset.head));
      onOpen?.(button.dataset.layer, Number(button.dataset.head));
    });
  }
  roam(element, buttons);
  if (opened) mark(...opened);
  element.mark = mark;
  return element;
}

// Draw all pictures again, in the colours of another theme or because the page is printed.
export function repaintHeads(element) {
  for (const canvas of element.querySelectorAll(".head canvas")) canvas.repaint();
}

// One head opened: lines between words (or tokens), its matrix, and for a picked word a strip for every
// head. `picked` is a row; `onPick(row | null)` lets the address follow; `texts` singles out from which
// text to which, as in pairs.js.
export function drawOpened(
  look, layer, head, { words = true, picked = null, onPick = null, texts = null } = {},
) {
  const map = between(mapOf(look, layer, head, words), texts);
  const strips = h("div", { class: "strips" });
  const showStrips = (row) => strips.replaceChildren(
    ...(row === null ? [] : [drawStrips(look, layer, row, words, texts)]),
  );
  const hint = h(
    "p", { class: "hint" },
    "Pick a word on the left, with a click or the arrow keys, to see where each head looks from there.",
  );
  const pick = (row) => {
    hint.hidden = row !== null;
    showStrips(row);
    onPick?.(row);
  };
  const start = picked !== null && picked < map.rows.length ? picked : null;
  const lines = drawLines(
    { ...map, ...breaksOf(map), picked: start, onPick: pick,
      label: `${layer}, head ${head}: lines between words` },
  );
  hint.hidden = start !== null;
  showStrips(start);
  return h("div", { class: "opened" }, h("div", { class: "scroll lines-place" }, lines), hint, strips);
}

// The head that one would open first: [layer, head].
export function firstHead(look) {
  const layers = mappedLayers(look);
  const layer = layers.filter(({ role }) => role === "cross").at(-1) ?? layers.at(-1);
  return layer ? [layer.name, 0] : [null, 0];
}

// For one row, every head of every layer with the same two sides: a matrix with a line for each head.
export function drawStrips(look, layer, row, words = true, texts = null) {
  const { rows, columns } = look.layers.find(({ name }) => name === layer);
  const like = look.layers.filter(
    (one) => one.rows === rows && one.columns === columns && look.has(one.name),
  );
  const strips = like.flatMap(({ name, index, heads }) => Array.from({ length: heads }, (_, head) => {
    const map = between(mapOf(look, name, head, words), texts);
    const values = map.columns.map((_, j) => map.weights(row, j));
    return {
      title: `${index}.${head}`, first: head === 0, columns: map.columns, from: map.rows[row], values,
      columnBreaks: breaksOf(map).columnBreaks,
    };
  }));
  const many = strips.length > 40; // then strips are thin, and only each layer's first is named
  const [{ from, columns: seen, columnBreaks }] = strips;
  return h("div", {},
    h("h3", {}, "Where every head looks from ", h("b", { class: "lit" }, from)),
    h("p", { class: "hint" }, "One line for each head, named layer.head."),
    drawMatrix({
      rows: strips.map(({ title }) => title), columns: seen, columnBreaks,
      weights: (i, j) => strips[i].values[j],
      label: `where every head looks from ${from}`, size: many ? null : 22, rowHeight: many ? 5 : null,
      rowMarks: many ? strips.flatMap(({ first }, i) => (first ? [i] : [])) : null,
    }));
}

// One head's map, with the rows named as suits it.
export function mapOf(look, layer, head, words) {
  const next = namesNext(look, look.layers.find(({ name }) => name === layer));
  return (words ? mergeWords : tokenMap)(look, layer, head, { next });
}

function byGroup(look) {
  const groups = new Map();
  for (const layer of mappedLayers(look)) {
    if (!look.has(layer.name)) continue;
    const title = groupName(layer);
    groups.set(title, [...(groups.get(title) ?? []), layer]);
  }
  return [...groups];
}

function headRow(look, layer) {
  const { shape: [heads] } = look.array(layer.name);
  const buttons = Array.from({ length: heads }, (_, head) => headButton(look, layer, head));
  return h("div", { class: "head-row", style: { "--heads": heads } },
    h("span", { class: "layer-number" }, `${layer.index}`), h("div", { class: "head-line" }, buttons));
}

// Where the look says what each head is worth, a bar below its picture shows it.
function headButton(look, { name, rows, columns }, head) {
  const { shape: [, height, width] } = look.array(name);
  const cuts = [cutOf(look.sides[rows], "top"), cutOf(look.sides[columns], "left")];
  const worth = look.importance?.[name]?.[head];
  const lost = worth === undefined ? "" : `; without it the log-probability falls by ${figure(worth)}`;
  const most = Math.max(1e-9, ...Object.values(look.importance ?? {}).flat());
  const bar = worth === undefined ? null : { width: `${Math.max(0, (100 * worth) / most)}%` };
  const off = (look.without ?? []).includes(`${name}.${head}`);
  const title = `${name}, head ${head}${off ? ", off" : ""}${lost}`;
  return h("button", {
    type: "button", class: off ? "head off" : "head", tabindex: -1, title,
    "aria-label": title, "aria-pressed": false, dataset: { layer: name, head },
  }, h("span", { class: "picture" }, h("canvas", { width, height, dataset: { layer: name, head } }), cuts),
  bar && h("i", { class: "worth", style: bar }));
}

// A line across a picture where the second text begins.
function cutOf({ text_of: texts = [], tokens }, edge) {
  const at = texts.indexOf(1);
  const style = { [edge]: `${(100 * at) / tokens.length}%` };
  return at > 0 ? h("i", { class: `cut ${edge}`, style }) : null;
}

// Without `full` the picture has the scale that suits it.
function paintHead(look, canvas, full) {
  const map = oneMap(look, canvas.dataset.layer, Number(canvas.dataset.head));
  paintPixels(canvas, map.width, map.height, map.values, full ?? ownFull(map));
}

// The strongest weight of a row, on average: so a picture shows the pattern, however thinly it is spread.
function ownFull({ values, height, width }) {
  let sum = 0;
  for (let i = 0; i < height; i += 1) {
    let best = 0;
    for (let j = i * width; j < (i + 1) * width; j += 1) if (values[j] > best) best = values[j];
    sum += best;
  }
  return sum / height || 1;
}

// [layer, head] of all that have a picture.
function headsOf(look) {
  return mappedLayers(look).filter(({ name }) => look.has(name))
    .flatMap(({ name }) => Array.from({ length: look.array(name).shape[0] }, (_, head) => [name, head]));
}

// One stop for the Tab key; arrow keys go from head to head, up and down from layer to layer.
export function roam(element, buttons) {
  if (buttons.length) buttons[0].tabIndex = 0;
  const centre = (button) => {
    const box = button.getBoundingClientRect();
    return [box.left + box.width / 2, box.top + box.height / 2];
  };
  const vertical = (from, down) => {
    const [x, y] = centre(from);
    const beyond = buttons.filter((one) => (centre(one)[1] - y) * down > 2);
    const far = ([px, py]) => Math.abs(py - y) * 1000 + Math.abs(px - x);
    return beyond.sort((a, b) => far(centre(a)) - far(centre(b)))[0];
  };
  element.addEventListener("keydown", (event) => {
    const place = buttons.indexOf(event.target);
    if (place < 0) return;
    const next = {
      ArrowRight: () => buttons[place + 1],
      ArrowLeft: () => buttons[place - 1],
      ArrowDown: () => vertical(buttons[place], 1),
      ArrowUp: () => vertical(buttons[place], -1),
    }[event.key]?.();
    if (!next) return;
    event.preventDefault();
    for (const button of buttons) button.tabIndex = -1;
    next.tabIndex = 0;
    next.focus();
  });
}
