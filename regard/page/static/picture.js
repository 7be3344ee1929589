// A picture and where a model looks at it: one large view, and a strip of small ones, a word or a head each. What is
// attended to stays light, the rest goes dark; smoothly, or cell by cell as the model sees it.

import { SHARES } from "regard/document.js";
import { fitted, h } from "regard/dom.js";
import { choice, percent } from "regard/views.js";
import { groupName, oneMap, predicted } from "regard/words.js";

const SMALL = 96; // pixels of a small picture's longer side
const LARGE = 448; // and of the large one's, at most
const DARKEST = 0.82; // of what is not attended to
const BEAT = 900; // milliseconds of a picture in the animation

// Whether a look is one of a picture.
export function hasPicture({ grid }) {
  return Boolean(grid);
}

// `state` is {picture, pictureHead, smooth}, changed in place; the element has `show(look)`.
export function pictureView(state = {}, { onState = null } = {}) {
  state.smooth ??= true;
  let [look, image, frames, chosen, from, timer] = [null, null, [], 0, null, 0];
  const what = choice("Shown", [], "", (value) => {
    [state.picture, state.pictureHead, from] = [value, null, null];
    draw();
  });
  const head = choice("Head", [], "", (value) => {
    state.pictureHead = value === "" ? null : Number(value);
    draw();
  });
  const shading = choice("Shading", [["smooth", "smooth"], ["cells", "by cells"]], "smooth", (value) => {
    state.smooth = value === "smooth";
    draw();
  });
  const play = h("button", { type: "button", class: "quiet", onclick: () => (timer ? stop() : start()) }, "Play");
  const large = h("canvas", { class: "picture-large", tabindex: 0, role: "img", onclick: (event) => pick(event) });
  const told = h("p", { class: "hint", "aria-live": "polite" });
  const strip = h("div", { class: "picture-strip" });
  const element = h("div", { class: "picture-view" },
    h("div", { class: "controls" }, what.node, head.node, shading.node, play),
    h("div", { class: "picture-board" }, h("div", {}, large, told), strip));

  const paint = () => {
    const frame = frames[chosen];
    const cell = from === null ? null : from - look.grid.own;
    paintPicture(large, image, frame?.weights, look.grid, { ...state, cell, longest: room() });
    strip.querySelectorAll("button").forEach((button, i) => button.setAttribute("aria-pressed", String(i === chosen)));
    told.textContent = frame ? tellOf(frame, look) : "This model has no attention to show.";
    large.setAttribute("aria-label", `${look.sides[look.grid.side].text}: ${told.textContent}`);
  };
  const room = () => Math.min(LARGE, large.parentElement.clientWidth || LARGE);
  const draw = () => {
    const sources = sourcesOf(look);
    const source = sources.find(({ name }) => name === state.picture) ?? sources[0];
    state.picture = source?.name ?? null;
    what.fill(sources.map(({ name, title }) => [name, title]), state.picture);
    const heads = source?.words && source.heads > 1 ? source.heads : 0;
    head.node.hidden = !heads;
    head.fill([["", "mean of all"], ...Array.from({ length: heads }, (_, i) => [String(i), `head ${i}`])],
      state.pictureHead === null || state.pictureHead === undefined ? "" : String(state.pictureHead));
    shading.value = state.smooth ? "smooth" : "cells";
    frames = source ? framesOf(look, source, { head: state.pictureHead ?? null, from }) : [];
    chosen = Math.min(chosen, Math.max(frames.length - 1, 0));
    play.hidden = strip.hidden = frames.length < 2;
    strip.replaceChildren(...frames.map((frame, i) => {
      const canvas = h("canvas", {});
      paintPicture(canvas, image, frame.weights, look.grid, { ...state, longest: SMALL });
      const onclick = () => {
        stop();
        chosen = i;
        paint();
      };
      return h("button", { type: "button", onclick, onpointerenter: () => timer || (chosen = i, paint()) },
        canvas, h("span", { dir: "auto" }, frame.label));
    }));
    paint();
    onState?.(state);
  };
  const pick = ({ offsetX, offsetY }) => {
    const { rows, columns, own } = look.grid;
    if (!sourcesOf(look).some(({ name, inner }) => inner && name === state.picture)) return;
    const column = Math.floor((offsetX / large.clientWidth) * columns);
    const cell = own + Math.floor((offsetY / large.clientHeight) * rows) * columns + column;
    from = from === cell ? null : cell;
    draw();
  };
  const stop = () => {
    clearInterval(timer);
    timer = 0;
    play.textContent = "Play";
  };
  const start = () => {
    play.textContent = "Stop";
    timer = setInterval(() => {
      if (!element.isConnected) return stop();
      chosen = (chosen + 1) % frames.length;
      paint();
    }, BEAT);
  };
  element.show = (another) => {
    stop();
    [look, chosen, from] = [another, 0, null];
    image = imageOf(look);
    draw();
  };
  fitted(element, () => look && paint());
  return element;
}

// What can be seen on the picture: [{name, title, heads, words, inner}]; `words` where the rows are of another side,
// `inner` where they are its own cells.
function sourcesOf(look) {
  const { side } = look.grid;
  const onto = look.layers.filter(({ columns, name }) => columns === side && look.has(name));
  const layers = onto.map((layer) => {
    const pooled = layer.stack === "pool";
    const title = pooled ? "what the pool weighs" : `${groupName(layer)}, layer ${layer.index}`;
    return { ...layer, title, words: layer.rows !== side, inner: layer.rows === side };
  });
  const rolled = (look.rollout ?? []).filter(({ columns, name }) => columns === side && look.has(name)).map((entry) =>
    ({ ...entry, heads: 1, title: `${entry.name}: all layers together`, words: entry.rows !== side,
      inner: entry.rows === side }));
  const shares = look.has(SHARES) ? [{ name: SHARES, title: "what counts in the verdict", heads: 1, words: false }] : [];
  const crossing = layers.filter(({ words, stack }) => words && stack !== "pool").reverse();
  return [...shares, ...crossing, ...layers.filter((layer) => !crossing.includes(layer)), ...rolled];
}

// A picture of each word of the other side, or of each head from one cell.
function framesOf(look, source, { head, from }) {
  const { own } = look.grid;
  if (source.name === SHARES) return [{ label: look.sides.label.text, weights: look.array(SHARES).data.slice(own) }];
  if (source.words) {
    const { values, width } = oneMap(look, source.name, head);
    return wordsOf(predicted(look, source.rows)).map(({ label, places }) => {
      const weights = new Float32Array(width - own);
      for (const place of places) weights.forEach((_, i) => { weights[i] += values[place * width + own + i] / places.length; });
      return { label, weights };
    });
  }
  const start = from ?? (own ? 0 : null);
  return Array.from({ length: source.heads }, (_, number) => {
    const { values, width } = oneMap(look, source.name, number);
    const weights = new Float32Array(width - own);
    const rows = start === null ? Array.from({ length: values.length / width }, (_row, i) => i) : [start];
    for (const row of rows) weights.forEach((_, i) => { weights[i] += values[row * width + own + i] / rows.length; });
    const cell = start === null ? "the mean of all cells" : look.sides[look.grid.side].tokens[start];
    return { label: source.heads > 1 ? `head ${number}` : source.name, weights, from: cell };
  });
}

// The words of a side with the places of their tokens; a token of no word stands alone.
function wordsOf({ tokens, words, word_of: wordOf }) {
  const found = [];
  tokens.forEach((token, place) => {
    const word = wordOf[place];
    if (word !== null && found.at(-1)?.word === word) found.at(-1).places.push(place);
    else found.push({ word, label: word === null ? token : words[word], places: [place] });
  });
  return found;
}

function tellOf({ label, weights, from }, look) {
  const { rows, columns } = look.grid;
  const most = weights.reduce((best, weight, i) => (weight > weights[best] ? i : best), 0);
  const where = `row ${Math.floor(most / columns) + 1} of ${rows}, column ${(most % columns) + 1} of ${columns}`;
  const of = from ? `${label}, from ${from}` : label;
  const click = from ? " Click a cell to see where it looks from there." : "";
  return `${of}: most, ${percent(weights[most])}, at ${where}.${click}`;
}

// The pixels of a look as a canvas.
function imageOf(look) {
  const { shape: [height, width], data } = look.array(look.grid.side);
  const canvas = h("canvas", { width, height });
  const painted = new ImageData(width, height);
  for (let i = 0; i < width * height; i += 1) {
    for (let colour = 0; colour < 3; colour += 1) painted.data[4 * i + colour] = data[3 * i + colour];
    painted.data[4 * i + 3] = 255;
  }
  canvas.getContext("2d").putImageData(painted, 0, 0);
  return canvas;
}

// The picture, dark where the weights are small; they fill the scale from 0 to their highest.
function paintPicture(canvas, image, weights, { rows, columns }, { smooth, longest, cell = null }) {
  const scale = longest / Math.max(image.width, image.height);
  [canvas.width, canvas.height] = [Math.round(scale * image.width), Math.round(scale * image.height)];
  const pen = canvas.getContext("2d");
  pen.imageSmoothingEnabled = scale < 3; // a small picture is shown pixel by pixel
  pen.drawImage(image, 0, 0, canvas.width, canvas.height);
  if (!weights) return;
  const mask = h("canvas", { width: columns, height: rows });
  const shadow = new ImageData(columns, rows);
  const most = Math.max(...weights, 1e-9);
  weights.forEach((weight, i) => { shadow.data[4 * i + 3] = 255 * DARKEST * (1 - weight / most); });
  mask.getContext("2d").putImageData(shadow, 0, 0);
  pen.imageSmoothingEnabled = smooth;
  pen.imageSmoothingQuality = "high";
  pen.drawImage(mask, 0, 0, canvas.width, canvas.height);
  if (cell === null) return;
  const [wide, high] = [canvas.width / columns, canvas.height / rows];
  pen.strokeStyle = "#e69f00";
  pen.lineWidth = 2;
  pen.strokeRect((cell % columns) * wide + 1, Math.floor(cell / columns) * high + 1, wide - 2, high - 2);
}
