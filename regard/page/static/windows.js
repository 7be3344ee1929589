// The window of local attention: how far each row of a map may look, and from where. arXiv:1508.04025

import { svg } from "regard/dom.js";

const LARGEST = 2.5; // pixels, the radius of a dot; less in low rows, so that it never hides the shade below

// Of a layer that has a window, that of each row: {from, to, centres, told}, where 0 is the left edge of the
// first column and 1 that of the second; null of any other layer. `rows` are {from, to}, the tokens of each
// row; `edges` says where each token begins, and where the last one ends.
//
// A window is so many tokens wide. Where columns are words it may end within one, between its tokens; where
// rows are words, it is all that one of their tokens may look at, with a centre for each.
export function windowsOf(look, layer, rows, edges) {
  const window = look.windows?.[layer];
  if (!window) return null;
  const last = edges.length - 2;
  return rows.map(({ from, to }) => {
    const centres = window.centres.slice(from, to);
    const [low, high] = [Math.min(...centres), Math.max(...centres)];
    return {
      from: edges[Math.max(Math.ceil(low - window.reach), 0)],
      to: edges[Math.min(Math.floor(high + window.reach), last) + 1],
      centres: centres.map((centre) => across(edges, centre)),
      told: tell(low, high, window.reach),
    };
  });
}

// The middle of token 4 is place 4. A centre may stand behind the last token: it is drawn at the end of that.
function across(edges, place) {
  const token = Math.min(Math.floor(place + 0.5), edges.length - 2);
  return edges[token] + Math.min(place + 0.5 - token, 1) * (edges[token + 1] - edges[token]);
}

function tell(low, high, reach) {
  const [from, to] = [low, high].map((place) => Number(place.toFixed(1)));
  const where = from === to ? `place ${from}` : `places ${from} to ${to}`;
  return `looks around ${where}, at most ${reach} ${reach === 1 ? "token" : "tokens"} away`;
}

// Lines around the windows and a dot at each centre of the rows that are seen, for a matrix laid out as `plan`.
// Lines run in the gaps between cells; between two rows only where one of them does not look, so that no shade
// is crossed out.
export function drawWindows(windows, plan) {
  const half = plan.gap / 2;
  const [x, y] = [(edge) => plan.x(edge) - half, (row) => plan.y(row) - half];
  const level = (row) => ([from, to]) => `M${x(from)},${y(row)}H${x(to)}`;
  const seen = windows.map((window, row) => ({ ...window, row })).filter(({ row }) => plan.shows(row, null));
  const lines = seen.map(({ from, to, row }) => {
    const sides = [from, to].map((edge) => `M${x(edge)},${y(row)}V${y(row + 1)}`);
    const above = apart(windows[row - 1], windows[row]).map(level(row));
    const below = row + 1 < windows.length ? [] : [level(row + 1)([from, to])];
    const d = [...sides, ...above, ...below].join("");
    return svg("path", { class: "window", d, dataset: { row, from, to } });
  });
  const r = Math.min(LARGEST, plan.down / 6);
  const dots = seen.flatMap(({ centres, row }) => centres.map((centre) => svg("circle", {
    class: "centre", r, cx: x(centre), cy: y(row + 0.5), "stroke-width": 0.4 * r, dataset: { row, centre },
  })));
  return [svg("g", { class: "windows" }, lines), ...dots];
}

// What only one of two spans has.
function apart(one, { from, to }) {
  if (!one) return [[from, to]];
  if (one.to < from || to < one.from) return [[one.from, one.to], [from, to]];
  return [[one.from, from], [one.to, to]];
}
