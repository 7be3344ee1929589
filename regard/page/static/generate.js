// A prompt, and how a decoder goes on from it, token by token as they come.

import { postLines, postLook, wasLeft } from "regard/api.js";
import { toggled } from "regard/changes.js";
import { wash } from "regard/colours.js";
import { debounce, h } from "regard/dom.js";
import { lookView, stateFrom, stateToKeep } from "regard/lookview.js";
import { examplesOf, grow, typed, writing } from "regard/translate.js";
import { field, newest, percent, statusLine } from "regard/views.js";

const SETTINGS = [
  { name: "max_tokens", title: "Tokens at most", value: 40, min: 1, max: 512, step: 1 },
  { name: "temperature", title: "Temperature", value: 0.8, min: 0, max: 5, step: 0.1 },
  { name: "top_k", title: "Best k only (0: all)", value: 0, min: 0, max: 1000, step: 1 },
  { name: "top_p", title: "Share of probability", value: 1, min: 0.01, max: 1, step: 0.01 },
  { name: "seed", title: "Seed", value: 0, min: 0, max: 1e9, step: 1 },
];
const ENDINGS = {
  end: "It wrote its end.", max_tokens: "It wrote as many tokens as it may.", full: "It can read no more.",
};

export async function show(place, { run, params, signal, keep }) {
  const state = { ...stateFrom(params), without: params.get("without")?.split(",") ?? [] };
  const prompt = writing(params.get("text") ?? examplesOf(run)[0], "Type a beginning");
  const inputs = SETTINGS.map((one) => {
    const { name, min, max, step, value } = one;
    return [one, h("input", { type: "number", min, max, step, value: params.get(name) ?? value })];
  });
  const start = h("button", { type: "submit", class: "main" }, "Write on");
  const stop = h("button", { type: "button", class: "quiet", hidden: true }, "Stop");
  const status = statusLine();
  const output = h("p", { class: "large stream", dir: "auto", "aria-live": "polite" });
  const view = lookView(state, {
    onState: () => keep(stateToKeep(state)),
    onOff: (layer, head, off) => switchHeads(toggled(state.without, `${layer}.${head}`, off)),
    onBack: (name) => switchHeads(toggled(state.without, name, false)),
  });
  const form = h("form", {}, h("div", { class: "pair single" }, field("Prompt", prompt)),
    h("div", { class: "controls" }, inputs.map(([one, input]) => field(one.title, input)), start, stop));
  const lead = h("p", { class: "lead" }, `${run.name}: type a beginning; it writes on.`);
  place.append(h("header", {}, h("h1", {}, "Generate"), lead), form, status.node, output, view);

  let whole = prompt.value; // what is looked at: the prompt, then with what was written
  const look = newest(async (inTime) => {
    if (!whole.trim()) return void (view.hidden = true);
    const body = { run: run.name, text: whole, without: state.without, best: 5 };
    view.show(await postLook("/api/look", body, inTime));
  }, signal, status, "The model is reading …");
  const switchHeads = (names) => {
    state.without = names;
    keep({ without: state.without.join(",") || null });
    look();
  };
  const lookAtPrompt = () => {
    whole = prompt.value;
    keep({ text: whole });
    output.replaceChildren();
    return look();
  };
  let running = null;
  const write = async () => {
    running?.abort();
    const own = new AbortController();
    running = own;
    const both = AbortSignal.any([signal, own.signal]);
    const settings = Object.fromEntries(inputs.map(([one, input]) => [one.name, Number(input.value)]));
    keep({ text: prompt.value, ...settings });
    output.replaceChildren(h("span", { class: "soft" }, prompt.value));
    [start.disabled, stop.hidden] = [true, false];
    let [written, ended, wrong] = ["", "", false];
    try {
      const body = { run: run.name, prompt: prompt.value, ...settings };
      await postLines("/api/generate", body, (line) => {
        if (line.error) throw new Error(line.error);
        // The last line has the text by itself: a special token among the others is none of it.
        if (line.done) return void ([written, ended] = [line.text, ENDINGS[line.reason] ?? ""]);
        written += line.token;
        output.append(streamed(line));
      }, both);
    } catch (error) {
      if (!wasLeft(error)) [ended, wrong] = [error.message, true];
    }
    if (signal.aborted || running !== own) return;
    [start.disabled, stop.hidden] = [false, true];
    whole = prompt.value + written;
    if (written) await look();
    if (ended) status.say(ended, wrong); // last, since a look that succeeds clears the line
  };
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    write();
  });
  stop.addEventListener("click", () => running?.abort());
  const later = debounce(lookAtPrompt, 350);
  typed(prompt, Object.assign(() => later(), { now: () => (later.cancel(), write()) }));
  grow(prompt);
  await look();
}

// A token of the stream, shaded by how probable it was.
function streamed({ token, probability }) {
  const sure = probability ?? 0;
  return h("span", { class: "streamed", title: percent(sure), style: { background: wash(sure) } }, token);
}
