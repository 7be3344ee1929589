// The cells of a matrix that are seen, as SVG or as the pixels of a canvas.

import { diverging, divergingTable, shade, shadeTable } from "regard/colours.js";
import { h, svg } from "regard/dom.js";

export function svgCells(state, plan) {
  const { row: firstRow, column: firstColumn, rowCount, columnCount } = plan.seen;
  const [rx, width, height] = [plan.gap > 1 ? 2 : 0, plan.across - plan.gap, plan.down - plan.gap];
  const all = Array.from({ length: rowCount }, (_, i) => Array.from({ length: columnCount }, (_, j) => {
    const [row, column] = [firstRow + i, firstColumn + j];
    return svg("rect", {
      class: "cell", dataset: { row, column }, width, height, x: plan.x(column), y: plan.y(row), rx,
    });
  }));
  let lit = null;
  return {
    node: svg("g", { class: "cells" }, all),
    gold: null,
    paint() {
      const marked = new Set(state.gold.map(([column, row]) => `${row} ${column}`));
      const colour = state.twoSided ? diverging : shade;
      all.forEach((line, i) => line.forEach((cell, j) => {
        const [row, column] = [firstRow + i, firstColumn + j];
        const weight = state.weights(row, column);
        cell.style.fill = colour(weight / state.full);
        cell.dataset.weight = Number(weight.toPrecision(6));
        cell.classList.toggle("gold", marked.has(`${row} ${column}`));
      }));
    },
    light(row, column) {
      lit?.classList.remove("lit");
      lit = row === null || column === null ? null : all[row - firstRow]?.[column - firstColumn] ?? null;
      lit?.classList.add("lit");
    },
  };
}

export function canvasCells(state, plan) {
  const { row, column, rowCount, columnCount } = plan.seen;
  const { x, y, width, height } = plan.area;
  const style = { left: `${x}px`, top: `${y}px`, width: `${width}px`, height: `${height}px` };
  const node = h("canvas", { width: columnCount, height: rowCount, style, "aria-hidden": true });
  const gold = svg("g", {});
  node.repaint = () => {
    const total = state.columns.length;
    const weight = (i, j) => state.values[(row + i) * total + column + j];
    paintPixels(node, columnCount, rowCount, weight, state.full, state.twoSided);
  };
  return {
    node,
    gold,
    paint() {
      node.repaint();
      const seen = state.gold.filter(([j, i]) => plan.shows(i, j));
      gold.replaceChildren(...seen.map(([j, i]) => svg("rect", {
        class: "gold", width: plan.across, height: plan.down, x: plan.x(j), y: plan.y(i),
      })));
    },
    light() {},
  };
}

// One pixel a weight: the browser enlarges it, so a map of 40,000 weights is drawn in a millisecond or two.
// `weights` are the numbers row by row, or a function of row and column.
export function paintPixels(canvas, width, height, weights, full = 1, twoSided = false) {
  if (!width || !height) return;
  const values = typeof weights === "function" ? valuesOf(weights, height, width) : weights;
  const table = new Uint32Array((twoSided ? divergingTable() : shadeTable()).buffer);
  const image = new ImageData(width, height);
  const pixels = new Uint32Array(image.data.buffer);
  const [zero, slope] = twoSided ? [128, 127.5 / full] : [0.5, 255 / full];
  for (let i = 0; i < pixels.length; i += 1) {
    const entry = zero + slope * values[i]; // whole numbers by cutting: rounding is in `zero`
    pixels[i] = table[entry > 255 ? 255 : entry > 0 ? entry | 0 : 0];
  }
  canvas.getContext("2d").putImageData(image, 0, 0);
}

// The weights row by row.
export function valuesOf(weights, height, width) {
  const values = new Float32Array(height * width);
  for (let i = 0; i < height; i += 1) {
    for (let j = 0; j < width; j += 1) values[i * width + j] = weights(i, j);
  }
  return values;
}
