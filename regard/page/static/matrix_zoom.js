// The buttons that zoom a map.

import { h } from "regard/dom.js";

export const STEP = 1.5; // a button or a key enlarges by so much

// {node, show(plan)}; `zoom(by)` gets a factor, 0 for the whole.
export function zoomButtons(zoom) {
  const button = (sign, name, by) =>
    h("button", { type: "button", class: "tool", "aria-label": name, title: name, onclick: () => zoom(by) }, sign);
  const smaller = button("−", "Zoom out", 1 / STEP);
  const larger = button("+", "Zoom in", STEP);
  const all = button("Whole", "Show the whole map", 0);
  const show = ({ view, layout }) => {
    smaller.disabled = all.disabled = view.zoom <= layout.least * 1.0001;
    larger.disabled = view.zoom >= layout.largest * 0.9999;
  };
  return { node: h("span", { class: "zoom", role: "group", "aria-label": "Zoom" }, smaller, larger, all), show };
}
