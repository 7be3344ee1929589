// Positions: what each scheme adds to the input, and what distance means in it.

import { getJson, getLook } from "regard/api.js";
import { debounce, h } from "regard/dom.js";
import { drawScheme, titleOf } from "regard/positions_scheme.js";
import { choice, newest, slider, statusLine } from "regard/views.js";

const FIRST = "sinusoidal"; // the scheme that one meets first
const PAUSE = 60; // milliseconds that a slider rests before the pictures follow

export async function show(place, { params, signal, keep }) {
  const { kinds } = await getJson("/api/positions", signal);
  const state = startState(kinds, params);
  const status = statusLine();
  const panels = h("div", { class: "schemes" });
  let schemes = [];

  const read = newest(async (both) => {
    const query = `length=${state.length}&width=${state.width}&heads=${state.heads}`;
    const wanted = [state.kind, state.other].filter(Boolean);
    const pictures = await Promise.all(wanted.map((kind) =>
      getLook(`/api/positions/${encodeURIComponent(kind)}?${query}`, both)));
    state.from = Math.min(state.from ?? Math.floor(state.length / 2), state.length - 1);
    from.input.max = state.length - 1;
    from.set(state.from);
    const differ = pictures.some((picture) => picture.array(picture.products).shape[0] > 1);
    heads.node.hidden = !differ && state.heads > 1;
    schemes = pictures.map((picture) => drawScheme(picture, state.from, seeFrom));
    panels.classList.toggle("two", schemes.length > 1);
    panels.replaceChildren(...schemes.map(({ node }) => node));
  }, signal, status, "Drawing the positions …");
  const soon = debounce(read, PAUSE);
  const seeFrom = (next) => {
    state.from = next;
    from.set(next);
    keep({ from: next });
    for (const scheme of schemes) scheme.seeFrom(next);
  };
  // Change a part of the state, and the address with it.
  const set = (name, key = name) => (value) => {
    state[name] = value;
    keep({ [key]: value });
    soon();
  };
  const size = (label, name, range) => slider(label, { ...range, value: state[name] }, set(name));
  const names = kinds.map(({ kind }) => [kind, titleOf(kind)]);
  const kind = choice("Scheme", names, state.kind, set("kind"));
  const other = choice("Beside it", [["", "nothing"], ...names], state.other, set("other", "with"));
  const length = size("Length", "length", { min: 8, max: 256, step: 8 });
  const width = size("Width", "width", { min: 8, max: 256, step: 8 });
  const heads = size("Heads", "heads", { min: 1, max: 16 });
  const from = slider("From place", { min: 0, max: state.length - 1, value: state.from ?? 0 }, seeFrom);

  place.append(
    h("header", {}, h("h1", {}, "Positions"), h("p", { class: "lead" },
      "Attention by itself knows no order. Each scheme brings it in another way; here is what it does.")),
    h("div", { class: "controls card" }, [kind, other, length, width, heads, from].map(({ node }) => node)),
    status.node, panels,
  );
  await read();
}

function startState(kinds, params) {
  const number = (name, otherwise) => (params.has(name) ? Number(params.get(name)) || 0 : otherwise);
  const known = (name) => kinds.some(({ kind }) => kind === name);
  const first = known(FIRST) ? FIRST : kinds[0].kind;
  return {
    kind: known(params.get("kind")) ? params.get("kind") : first, other: params.get("with") ?? "",
    length: number("length", 64), width: number("width", 64), heads: number("heads", 4),
    from: number("from", null),
  };
}
