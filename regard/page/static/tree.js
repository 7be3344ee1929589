// The beam's alternatives as a tree that grows to the right: what was kept at each step, and what won.

import { h, svg } from "regard/dom.js";
import { textWidth } from "regard/matrix_words.js";
import { signed } from "regard/text.js";
import { percent, readable } from "regard/views.js";

const STEP = 30; // pixels between neighbouring branches
const LEAD = 28; // and before each word

// `tree` is {nodes, hypotheses}, the first hypothesis the chosen one; `onChoose(hypothesis)` when an end is
// pressed. A branch is as thick as its token is probable; pointing at it, or focusing it, tells the numbers.
export function drawTree(tree, { onChoose = null } = {}) {
  const { nodes, width, height } = layOut(tree);
  const told = h("output", { class: "told", "aria-live": "polite" });
  const drawn = new Map([...nodes.values()].map((node) => [node.id, drawNode(node)]));
  const joined = [...nodes.values()].filter(({ up }) => up);
  const branches = joined.sort((a, b) => a.chosen - b.chosen).map(drawBranch); // the chosen lie on top
  const props = { role: "group", "aria-label": "beam alternatives; arrow keys move" };
  const picture = svg("svg", { class: "tree", width, height, ...props },
    branches, [...drawn.values()], ends(tree, nodes, onChoose));
  const point = (node) => (told.textContent = node ? tell(node, tree) : "");
  for (const node of nodes.values()) {
    const one = drawn.get(node.id);
    one.addEventListener("pointerenter", () => point(node));
    one.addEventListener("focus", () => point(node));
    one.addEventListener("keydown", (event) => {
      const next = neighbour(node, event.key);
      if (!next) return;
      event.preventDefault();
      one.setAttribute("tabindex", -1);
      drawn.get(next.id).setAttribute("tabindex", 0);
      drawn.get(next.id).focus();
    });
  }
  drawn.get([...nodes.keys()][0])?.setAttribute("tabindex", 0);
  return h(
    "figure", { class: "tree-place" }, h("div", { class: "scroll" }, picture), h("figcaption", {}, told),
  );
}

// Every end gets a line of its own; a parent stands level with its most promising child, so the chosen text
// is straight.
function layOut(tree) {
  const nodes = new Map(tree.nodes.map((node) => [node.id, { ...node, down: [], up: null }]));
  for (const node of nodes.values()) {
    node.chosen = node.hypotheses.includes(0) ? 1 : 0;
    node.alive = node.hypotheses.length > 0;
    if (node.parent === null || node.parent === undefined) continue;
    node.up = nodes.get(node.parent);
    node.up.down.push(node);
  }
  const promise = (node) => Math.min(...node.hypotheses, Infinity);
  let lines = 0;
  const widths = [];
  const place = (node, depth) => {
    node.depth = depth;
    widths[depth] = Math.max(widths[depth] ?? 0, wordWidth(node));
    node.down.sort((a, b) => promise(a) - promise(b) || b.log_prob - a.log_prob);
    if (!node.down.length) {
      node.line = lines;
      lines += 1;
    }
    for (const child of node.down) place(child, depth + 1);
    if (node.down.length) node.line = node.down[0].line;
  };
  for (const node of nodes.values()) if (!node.up) place(node, 0);
  const starts = widths.map(
    (_, depth) => widths.slice(0, depth).reduce((sum, width) => sum + width + LEAD, 8),
  );
  for (const node of nodes.values()) {
    node.x = starts[node.depth];
    node.y = (node.line + 0.7) * STEP;
    node.end = node.x + wordWidth(node) + 4;
  }
  const right = Math.max(0, ...[...nodes.values()].map(({ end }) => end));
  return { nodes, width: right + 90, height: (lines + 0.4) * STEP };
}

function wordWidth({ token, chosen }) {
  return textWidth(readable(token), `${chosen ? 600 : 400} 14px system-ui, sans-serif`);
}

function drawNode(node) {
  const kind = node.chosen ? "node chosen" : node.alive ? "node" : "node dropped";
  const data = { id: node.id, probability: node.probability };
  const size = { width: node.end - node.x + 4, height: STEP - 6, rx: 5 };
  const box = { ...size, x: node.x - 3, y: node.y - STEP / 2 + 3 };
  return svg("g", { class: kind, tabindex: -1, role: "img", "aria-label": tell(node), dataset: data },
    svg("rect", box), svg("text", { x: node.x, y: node.y, dy: "0.34em" }, readable(node.token)));
}

// Down beside the parent first, then along: branches that start together stay apart.
function drawBranch({ up, x, y, chosen, alive, probability }) {
  const [from, to] = [up.end + 2, x - 5];
  const bend = up.y === y ? 0 : Math.min(26, to - from);
  const curve = `C${from + bend * 0.6},${up.y} ${from + bend * 0.2},${y} ${from + bend},${y}`;
  const kind = chosen ? "branch chosen" : alive ? "branch" : "branch dropped";
  const path = `M${from},${up.y} ${bend ? curve : ""} H${to}`;
  return svg("path", { class: kind, d: path, "stroke-width": (1 + 4 * probability).toFixed(2) });
}

// At each finished end, its score; a button where it can be chosen.
function ends(tree, nodes, onChoose) {
  return tree.hypotheses.map((hypothesis, rank) => {
    const node = nodes.get(hypothesis.leaf);
    if (!node) return null;
    const label = svg(
      "text", { x: node.end + 10, y: node.y, dy: "0.34em" }, signed(hypothesis.score.toFixed(2)),
    );
    const press = onChoose && {
      role: "button", tabindex: 0, "aria-label": `${label.textContent}: look at ${hypothesis.text}`,
      onclick: () => onChoose(hypothesis),
      onkeydown: (event) => {
        if (event.key !== "Enter" && event.key !== " ") return;
        event.preventDefault();
        onChoose(hypothesis);
      },
    };
    return svg(
      "g", { class: rank === 0 ? "end chosen" : "end", ...press }, svg("title", {}, hypothesis.text), label,
    );
  });
}

function neighbour(node, key) {
  if (key === "ArrowLeft") return node.up;
  if (key === "ArrowRight") return node.down[0] ?? null;
  const beside = node.up?.down ?? [];
  if (key === "ArrowDown") return beside[beside.indexOf(node) + 1] ?? null;
  if (key === "ArrowUp") return beside[beside.indexOf(node) - 1] ?? null;
  return null;
}

// The log-probability of the text up to a node.
function soFar(node) {
  return node.log_prob + (node.up ? soFar(node.up) : 0);
}

function tell(node) {
  const fate = node.chosen ? "in the chosen translation" : node.alive ? "in an alternative" : "given up";
  const sum = signed(soFar(node).toFixed(2));
  return `“${readable(node.token)}” ${percent(node.probability)}, log-probability ${sum} up to here, ${fate}`;
}
