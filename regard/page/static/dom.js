// Elements made by a call: no framework, no markup in strings, so text can never become markup.

// The name of SVG's namespace looks like an address; it is asked of the browser, so that no file holds an
// address at all.
const SVG = Object.assign(
  document.createElement("template"), { innerHTML: "<svg/>" },
).content.firstChild.namespaceURI;

// An HTML element: h("button", {class: "quiet", onclick: f}, "Stop").
export function h(tag, props = {}, ...children) {
  return fill(document.createElement(tag), props, children);
}

// The same in SVG: svg("rect", {x: 1, class: "cell", dataset: {row: 3}}).
export function svg(tag, props = {}, ...children) {
  return fill(document.createElementNS(SVG, tag), props, children);
}

// Remove everything inside, and give the node back.
export function clear(node) {
  node.replaceChildren();
  return node;
}

// A function that waits until nothing has called it for `ms`; `.now(…)` does not wait, `.cancel()` forgets.
export function debounce(f, ms) {
  let timer = 0;
  const later = (...given) => {
    clearTimeout(timer);
    timer = setTimeout(() => f(...given), ms);
  };
  later.cancel = () => clearTimeout(timer);
  later.now = (...given) => {
    clearTimeout(timer);
    return f(...given);
  };
  return later;
}

// Call `f(width)` whenever the room across changes that an element has, first when it comes onto the page.
export function fitted(element, f) {
  let known = null;
  new ResizeObserver(([{ contentRect }]) => {
    const width = Math.floor(contentRect.width);
    if (width && width !== known) f((known = width));
  }).observe(element);
}

let made = 0;

// A fresh id, to tie a label to its input.
export function freshId(stem = "id") {
  made += 1;
  return `${stem}-${made}`;
}

function fill(node, props, children) {
  for (const [name, value] of Object.entries(props ?? {})) set(node, name, value);
  for (const child of children.flat(Infinity)) {
    if (child !== null && child !== undefined && child !== false) node.append(child);
  }
  return node;
}

function set(node, name, value) {
  if (value === null || value === undefined || value === false) return;
  if (name.startsWith("on") && typeof value === "function") node.addEventListener(name.slice(2), value);
  else if (name === "dataset") Object.assign(node.dataset, value);
  else if (name === "style" && typeof value === "object") setStyle(node, value);
  else if (name === "value" || name === "checked" || name === "selected") node[name] = value;
  else node.setAttribute(name, value === true ? "" : value);
}

// Custom properties ("--x") need setProperty; the rest may be written in either form.
function setStyle(node, style) {
  for (const [name, value] of Object.entries(style)) {
    if (value === null || value === undefined) continue;
    if (name.includes("-")) node.style.setProperty(name, value);
    else node.style[name] = value;
  }
}
