// Which weight of a matrix gets the full shade, and the legend that tells it.

import { diverging, shade } from "regard/colours.js";
import { h } from "regard/dom.js";

// 1 for ordinary maps, a round number for those that are spread thin. What counts is the strongest weight of a
// row, on average: a decoder's first row is always 1, and would leave all others pale.
export function fullShade({ rows, columns, values, twoSided, most }) {
  if (most !== null) return most || 1;
  const strengths = rows.map((_, i) => {
    let best = 0;
    for (let k = i * columns.length; k < (i + 1) * columns.length; k += 1) {
      const size = Math.abs(values[k]);
      if (size > best) best = size;
    }
    return best;
  });
  if (twoSided) return roundUp(strengths.reduce((best, one) => Math.max(best, one), 0), true);
  return roundUp(strengths.reduce((sum, one) => sum + one, 0) / Math.max(rows.length, 1));
}

// The next of 1, 2, 5, 10, … above; weights from 0.5 on are shown against 1.
export function roundUp(largest, twoSided = false) {
  if (largest === 0) return 1;
  if (largest <= 1 && largest > 0.5) return 1;
  if (largest > 1 && !twoSided) return largest;
  const size = 10 ** Math.floor(Math.log10(largest));
  return [1, 2, 5, 10].map((factor) => factor * size).find((value) => value >= largest * 0.999);
}

// Maps that stand side by side are shaded alike: the weakest shade serves all of them.
export function shareScale(matrices) {
  const most = Math.max(...matrices.map(({ full }) => full));
  for (const matrix of matrices) matrix.share(most);
}

export function legendOf({ full, twoSided, values, shared }) {
  const beyond = values.some((value) => Math.abs(value) > 1.001 * full);
  const end = (beyond ? "≥ " : "") + Number(full.toPrecision(2));
  const stops = Array.from({ length: 9 }, (_, i) => (twoSided ? diverging(i / 4 - 1) : shade(i / 8)));
  const bar = h("i", { style: { background: `linear-gradient(to right, ${stops.join(", ")})` } });
  const low = twoSided ? `−${Number(full.toPrecision(2))}` : "0";
  const words = shared === null ? null : h("span", { class: "shared" }, "one scale for both maps");
  return [h("span", {}, low), bar, h("span", {}, end), words].filter(Boolean);
}
