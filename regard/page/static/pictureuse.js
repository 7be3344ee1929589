// Dropping, pasting or choosing a picture, and seeing what a model makes of it and where it looks. A picture is made
// small in the page before it is sent, so that nothing but its colours leaves the page: no place, no date, no camera.

import { postLook, wasLeft } from "regard/api.js";
import { toggled } from "regard/changes.js";
import { debounce, h } from "regard/dom.js";
import { lookView, stateFrom, stateToKeep } from "regard/lookview.js";
import { titled } from "regard/readview.js";
import { grow, typed, writing } from "regard/translate.js";
import { field, newest, statusLine } from "regard/views.js";

const PAUSE = 350; // milliseconds without a key before the model is asked
const LONGEST = 640; // pixels of what is sent

export async function show(place, { run, view: { title, takes }, params, signal, keep }) {
  const state = { ...stateFrom(params), without: [] };
  const writes = takes.find(({ field: name }) => name === "target");
  const words = writing(params.get("target") ?? "", "Leave it empty for the model’s own");
  const status = statusLine();
  const input = h("input", { type: "file", accept: "image/*", "aria-label": "Choose a picture" });
  const preview = h("img", { alt: "", hidden: true });
  const drop = h("label", { class: "picture-drop" }, input, preview,
    h("span", {}, "Drop a picture here, paste one, or ", h("u", {}, "choose a file"), "."));
  const change = (off) => {
    state.without = off;
    if (state.sent) look();
  };
  const seen = lookView(state, {
    onState: () => keep(stateToKeep(state)),
    onOff: (layer, head, off) => change(toggled(state.without, `${layer}.${head}`, off)),
    onBack: (name) => change(toggled(state.without, name, false)),
  });
  place.append(h("header", {}, h("h1", {}, title),
    h("p", { class: "lead" }, `${run.name}: give a picture and see what the model makes of it.`)), drop,
    writes ? h("div", { class: "pair single" }, field(titled(writes.name), words)) : "", status.node, seen);
  grow(words);
  typed(words, debounce(() => {
    keep({ target: words.value });
    if (state.sent) look();
  }, PAUSE));

  const look = newest(async (inTime) => {
    const target = writes && words.value.trim() ? words.value : null;
    const body = { run: run.name, picture: state.sent, without: state.without, target };
    try {
      seen.show(await postLook("/api/look", body, inTime));
    } catch (error) {
      if (!wasLeft(error)) seen.hidden = true;
      throw error;
    }
  }, signal, status, "The model is looking …");
  const take = async (file) => {
    if (!file) return;
    try {
      const address = await smaller(file);
      [preview.src, preview.hidden, state.sent] = [address, false, address.slice(address.indexOf(",") + 1)];
    } catch {
      return void status.say(`${file.name || "What was pasted"} is no picture that this browser can read.`, true);
    }
    await look();
  };
  input.addEventListener("change", () => take(input.files[0]));
  const over = (on) => (event) => {
    event.preventDefault();
    drop.classList.toggle("over", on);
  };
  drop.addEventListener("dragover", over(true));
  drop.addEventListener("dragleave", over(false));
  drop.addEventListener("drop", (event) => {
    over(false)(event);
    take(event.dataTransfer.files[0]);
  });
  document.addEventListener("paste", ({ clipboardData }) => {
    const file = [...clipboardData.files].find(({ type }) => type.startsWith("image/"));
    if (file) take(file);
  }, { signal });
}

// A picture file as the address of a PNG whose longer side has at most so many pixels, upright.
async function smaller(file) {
  const image = await createImageBitmap(file);
  const scale = Math.min(1, LONGEST / Math.max(image.width, image.height));
  const width = Math.max(1, Math.round(scale * image.width));
  const height = Math.max(1, Math.round(scale * image.height));
  const canvas = h("canvas", { width, height });
  const pen = canvas.getContext("2d");
  pen.imageSmoothingQuality = "high";
  pen.drawImage(image, 0, 0, width, height);
  return canvas.toDataURL("image/png");
}
