// A text as it is read, one line a step: the current word red, those before it shaded by how much it looks at
// them. Figure 1 of Cheng et al. 2016, arXiv:1601.06733.

import { wash } from "regard/colours.js";
import { h } from "regard/dom.js";
import { share } from "regard/text.js";

const MOST = 80; // steps that are drawn: their words grow with the square
const TOLD = 3; // words that a line tells of

// Whether a layer looks at earlier words alone: then it can be shown as it reads.
export function reads(look, { name, role }) {
  if (role !== "self") return false;
  const { shape: [, , width], data } = look.array(name); // as many rows as columns
  return data.every((weight, at) => weight === 0 || at % width <= Math.floor(at / width) % width);
}

// `rows` are the words and `weights(i, j)` how much word i looks at word j. Pointing at a word, or focusing a
// line, tells the weights; the darkest word of a line is the one it looks at most.
export function drawReading({ rows, weights, label = "reading" }) {
  const told = h("p", { class: "told", "aria-live": "polite" });
  const lines = rows.slice(0, MOST).map((_, i) => readLine(rows, weights, i, told));
  lines.forEach((line, i) => {
    line.tabIndex = i ? -1 : 0;
    line.addEventListener("keydown", (event) => {
      const next = lines[i + ({ ArrowDown: 1, ArrowUp: -1 }[event.key] ?? NaN)];
      if (!next) return;
      event.preventDefault();
      line.tabIndex = -1;
      next.tabIndex = 0;
      next.focus();
    });
  });
  const cut = rows.length > MOST ? `The first ${MOST} of ${rows.length} steps. ` : "";
  return h("figure", { class: "reading", "aria-label": label },
    h("ol", { dir: "auto" }, lines), told,
    h("p", { class: "hint" }, cut, "Each line is one step: ", h("b", { class: "now" }, "the word being read"),
      ", and behind the words before it how much it looks at them."));
}

function readLine(rows, weights, i, told) {
  const before = rows.slice(0, i).map((_, j) => weights(i, j));
  const most = Math.max(...before, 1e-9);
  const tell = (j) => {
    const chosen = j === null ? strongest(before) : [j];
    const words = chosen.map((k) => `${rows[k]} ${share(before[k])}`);
    told.textContent = words.length ? `${rows[i]} ← ${words.join(", ")}` : `${rows[i]}: nothing before it`;
  };
  const words = before.map((weight, j) => h("span", {
    style: { background: wash(weight / most) }, title: `${rows[i]} ← ${rows[j]}: ${share(weight)}`,
    dataset: { row: i, column: j, weight: Number(weight.toPrecision(6)) },
    onpointerenter: () => tell(j),
  }, rows[j]));
  const now = h("b", { class: "now", onpointerenter: () => tell(null) }, rows[i]);
  return h("li", { onfocus: () => tell(null) }, words.flatMap((word) => [word, " "]), now);
}

function strongest(weights) {
  return weights.map((weight, j) => [weight, j]).sort((a, b) => b[0] - a[0]).slice(0, TOLD).map(([, j]) => j);
}
