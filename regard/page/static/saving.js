// Buttons that save a picture as SVG or PNG. Whoever draws need not know of them: they are put behind each
// picture as soon as it stands on the page. A saved picture looks as it does on the page, in colours of its own.

import { h, svg } from "regard/dom.js";

const PICTURES = "figure, svg.tree, .lines-fit, .head-rows, .curves-place, .probabilities, .document";
const LEFT_OUT = "button.quiet, .save, .tools, select, input, .sr";
const PIXELS = 2; // of a PNG, for each pixel on the page
const MARGIN = 8; // pixels around a saved picture
const PAINT = ["fill", "fill-opacity", "stroke", "stroke-width", "stroke-opacity", "stroke-dasharray", "opacity",
  "visibility", "font-family", "font-size", "font-weight", "font-style", "text-anchor"];

// Keep every picture inside `place` with its buttons.
export function savePictures(place) {
  const find = () => {
    for (const picture of place.querySelectorAll(PICTURES)) {
      if (picture.parentElement.closest(PICTURES) || hasButtons(picture)) continue;
      picture.after(buttonsFor(picture));
    }
    for (const buttons of place.querySelectorAll(".save")) {
      if (!buttons.previousElementSibling?.matches(PICTURES)) buttons.remove();
    }
  };
  find();
  new MutationObserver(find).observe(place, { childList: true, subtree: true });
}

function hasButtons(picture) {
  return picture.nextElementSibling?.matches(".save") ?? false;
}

function buttonsFor(picture) {
  const button = (format, save) => h("button", {
    type: "button", class: "quiet", "aria-label": `Save this picture as ${format}`, onclick: () => save(picture),
  }, format);
  return h("div", { class: "save" }, "Save as ", button("SVG", saveSvg), button("PNG", savePng));
}

function saveSvg(picture) {
  download(new Blob([textOf(picture)], { type: "image/svg+xml" }), "svg");
}

async function savePng(picture) {
  const image = new Image();
  image.src = `data:image/svg+xml;charset=utf-8,${encodeURIComponent(textOf(picture))}`;
  await image.decode();
  const canvas = h("canvas", { width: PIXELS * image.width, height: PIXELS * image.height });
  canvas.getContext("2d").drawImage(image, 0, 0, canvas.width, canvas.height);
  canvas.toBlob((blob) => download(blob, "png"), "image/png");
}

function download(blob, ending) {
  const name = `${document.title.replaceAll(/[^\p{L}\p{N}]+/gu, "-").replaceAll(/^-|-$/g, "") || "picture"}.${ending}`;
  const href = URL.createObjectURL(blob);
  h("a", { href, download: name }).click();
  setTimeout(() => URL.revokeObjectURL(href), 10_000);
}

function textOf(picture) {
  return new XMLSerializer().serializeToString(asSvg(picture));
}

// What stands on the page as one drawing: SVG as it is, canvases as images, HTML as rectangles and words.
export function asSvg(picture) {
  const box = picture.getBoundingClientRect();
  const drawn = svg("svg", { ...sizeOf(picture, box) });
  drawn.append(svg("rect", { width: "100%", height: "100%", fill: groundOf(picture) }));
  const origin = { x: box.x - MARGIN, y: box.y - MARGIN };
  const add = (node) => {
    if (node instanceof Text) return drawn.append(...wordsOf(node, origin));
    if (!(node instanceof Element) || node.matches(LEFT_OUT)) return undefined;
    const style = getComputedStyle(node);
    if (style.display === "none" || style.visibility === "hidden" || style.opacity === "0") return undefined;
    const at = placed(node.getBoundingClientRect(), origin);
    if (node instanceof SVGSVGElement) return drawn.append(copyOf(node, at));
    if (node instanceof HTMLCanvasElement) {
      return drawn.append(svg("image", { ...at, href: node.toDataURL(), preserveAspectRatio: "none",
        "image-rendering": "pixelated" }));
    }
    drawn.append(...groundsOf(style, at));
    return node.childNodes.forEach(add);
  };
  add(picture);
  return drawn;
}

function sizeOf(picture, box) {
  const width = Math.max(box.width, picture.scrollWidth ?? 0);
  const height = Math.max(box.height, picture.scrollHeight ?? 0);
  return { width: Math.ceil(width + 2 * MARGIN), height: Math.ceil(height + 2 * MARGIN) };
}

function placed({ x, y, width, height }, origin) {
  return { x: x - origin.x, y: y - origin.y, width, height };
}

// The colour behind a picture: of the nearest element that has one.
function groundOf(node) {
  for (let one = node; one; one = one.parentElement) {
    const colour = getComputedStyle(one).backgroundColor;
    if (!isClear(colour)) return colour;
  }
  return "white";
}

function isClear(colour) {
  return colour === "transparent" || /, 0\)$|\/ 0\)$/.test(colour);
}

// A copy of an SVG with its colours and fonts inside, which style sheets gave it.
function copyOf(node, at) {
  const copy = node.cloneNode(true);
  const [own, copies] = [[node, ...node.querySelectorAll("*")], [copy, ...copy.querySelectorAll("*")]];
  own.forEach((one, i) => {
    const style = getComputedStyle(one);
    for (const name of PAINT) copies[i].setAttribute(name, style.getPropertyValue(name));
    for (const name of ["class", "style", "tabindex", "role"]) copies[i].removeAttribute(name);
  });
  for (const [name, value] of Object.entries(at)) copy.setAttribute(name, value);
  copy.setAttribute("overflow", "visible");
  return copy;
}

// What is painted behind an element: its colour or a gradient's colours, and its border.
function groundsOf({ backgroundColor, backgroundImage, borderRadius, borderTopWidth, borderTopColor }, at) {
  const line = Number.parseFloat(borderTopWidth) > 0 ? { stroke: borderTopColor, "stroke-width": borderTopWidth } : {};
  const rx = Number.parseFloat(borderRadius) || null;
  const stops = backgroundImage.match(/rgba?\([^)]*\)/g) ?? [];
  if (stops.length) {
    const width = at.width / stops.length;
    return stops.map((fill, i) => svg("rect", { ...at, x: at.x + i * width, width, fill }));
  }
  if (isClear(backgroundColor) && !line.stroke) return [];
  return [svg("rect", { ...at, rx, fill: isClear(backgroundColor) ? "none" : backgroundColor, ...line })];
}

// The words of a text where they stand, each by itself: a line may be broken anywhere between two.
function wordsOf(node, origin) {
  const style = getComputedStyle(node.parentElement);
  return [...node.data.matchAll(/\S+/g)].map(({ 0: word, index }) => {
    const range = document.createRange();
    range.setStart(node, index);
    range.setEnd(node, index + word.length);
    const { x, y, width, height } = placed(range.getBoundingClientRect(), origin);
    const size = Number.parseFloat(style.fontSize);
    return width && svg("text", {
      x, y: y + (height + 0.7 * size) / 2, fill: style.color, textLength: width, "font-family": style.fontFamily,
      "font-size": size, "font-weight": style.fontWeight,
    }, word);
  }).filter(Boolean);
}
