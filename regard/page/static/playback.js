// Training playback: one sentence looked at again and again while a model learnt; a slider goes through time.

import { AGAIN, getJson, getLook, isAway, isGone, wait, wasLeft } from "regard/api.js";
import { h } from "regard/dom.js";
import { drawFilm, drawScores } from "regard/playback_pictures.js";
import { figure } from "regard/text.js";
import { arrowKeys, choice, slider, statusLine } from "regard/views.js";
import { firstMap, mapsOf } from "regard/words.js";

const PACE = 650; // milliseconds that each step is shown while playing
const AHEAD = 3; // steps before and after that are fetched before they are asked for
const FOLLOW = 10_000; // milliseconds after which a run that is training is asked for new steps

export async function show(place, { run, params, signal, keep }) {
  const address = `/api/runs/${encodeURIComponent(run.name)}`;
  const status = statusLine();
  place.append(h("header", {}, h("h1", {}, "Playback"), h("p", { class: "lead" },
    "One sentence, looked at again and again while ", h("b", {}, run.name), " was learning.")), status.node);
  const { steps, probes } = await saved(address, run, status, signal);
  if (!steps.length) return;
  const { alignment } = await getJson(address, signal); // the layer that was found to align best, in the end
  const frames = store(address, signal);
  const [film, scores] = [drawFilm(alignment), drawScores()];
  const state = startState(steps, probes, params);

  // Draw the chosen step, if it is still the chosen one when it has come; what is drawn stays until then.
  const draw = async () => {
    const { index, probe } = state;
    const slow = setTimeout(() => status.say("Fetching the step …"), 300);
    try {
      const look = await frames.get(steps[index], probe);
      if (index !== state.index || probe !== state.probe || signal.aborted) return;
      fillChoices(look);
      film.update(look, state);
      scores.update(steps[index]);
      status.say("");
      for (let k = 1; k <= AHEAD; k += 1) {
        for (const near of [index + k, index - k]) frames.ask(steps[near], probe);
      }
    } catch (error) {
      status.fail(error);
      if (isAway(error)) wait(AGAIN, signal).then(draw, () => null);
    } finally {
      clearTimeout(slow);
    }
  };
  const go = (index) => {
    if (index < 0 || index >= steps.length) return undefined;
    state.index = index;
    time.set(index);
    keep({ step: steps[index] });
    return draw();
  };
  const fillChoices = (look) => {
    const maps = mapsOf(look);
    const known = (layer) => maps.some(({ name }) => name === layer);
    if (!known(state.layer)) state.layer = known(alignment?.layer) ? alignment.layer : firstMap(look).name;
    const { heads } = maps.find(({ name }) => name === state.layer);
    if (state.head !== null && state.head >= heads) state.head = null;
    // Refilled only when it must be: a list that is open would close.
    const names = maps.map(({ name, title }) => [name, title]);
    if (layer.select.length !== names.length) layer.fill(names, state.layer);
    if (head.select.length !== heads + 1) head.fill(headOptions(heads), state.head ?? "");
    head.node.hidden = heads === 1;
  };
  const pause = () => {
    state.playing = false;
    button.textContent = "▶ Play";
  };
  const play = async () => {
    state.playing = true;
    button.textContent = "❚❚ Pause";
    if (state.index === steps.length - 1) await go(0);
    while (state.playing && state.index < steps.length - 1) {
      await wait(PACE, signal);
      if (state.playing) await go(state.index + 1);
    }
    pause();
  };
  const button = h("button", { type: "button", class: "main play" }, "▶ Play");
  button.addEventListener("click", () => (state.playing ? pause() : play().catch(status.fail)));
  const range = { min: 0, max: steps.length - 1, value: state.index, tell: (i) => figure(steps[i]) };
  const time = slider("Step", range, (index) => {
    pause();
    go(index);
  });
  // Change a part of the state by hand, and the address with it.
  const set = (name, value) => {
    state[name] = value;
    keep({ [name]: value });
    draw();
  };
  const sentences = probes.map(({ source, text }, i) => [i, source ?? text]);
  const probe = choice("Sentence", sentences, state.probe, (value) => set("probe", Number(value)));
  const layer = choice("Layer", [], "", (value) => {
    state.head = null;
    head.fill([], ""); // another layer may have other heads
    keep({ head: null });
    set("layer", value);
  });
  const head = choice("Head", [], "", (value) => set("head", value === "" ? null : Number(value)));
  place.append(
    h("div", { class: "controls card" }, probe.node, layer.node, head.node,
      h("div", { class: "player" }, button, time.node)),
    h("div", { class: "screen" },
      h("section", { class: "card film" }, film.node), h("section", { class: "card scores" }, scores.node)));
  arrowKeys((by) => {
    pause();
    go(state.index + by);
  }, signal);
  await Promise.all([draw(), scores.follow(address, signal)]);
  if (run.status === "training") follow({ run, address, status }, steps, time, () => state.index, go, scores, signal);
}

function startState(steps, probes, params) {
  const asked = params.has("step") ? steps.indexOf(Number(params.get("step"))) : -1;
  return {
    index: asked < 0 ? steps.length - 1 : asked,
    probe: Math.min(Number(params.get("probe")) || 0, probes.length - 1),
    layer: params.get("layer"), head: params.has("head") ? Number(params.get("head")) : null, playing: false,
  };
}

// The steps that were saved; a run that is training has some soon.
async function saved(address, run, status, signal) {
  for (;;) {
    const found = await getJson(`${address}/playback`, signal);
    if (found.steps.length) return found;
    if (run.status !== "training") {
      status.say("This run saved no looks while it was training.");
      return found;
    }
    status.say("Nothing has been saved yet: the first look comes with the first validation.");
    await wait(FOLLOW, signal);
  }
}

// Looks by step and probe: each is fetched once, whoever asks first.
function store(address, signal) {
  const kept = new Map();
  const get = (step, probe) => {
    const key = `${step} ${probe}`;
    if (!kept.has(key)) {
      const coming = getLook(`${address}/playback/${step}?probe=${probe}`, signal);
      coming.catch(() => kept.delete(key)); // so that asking again tries again
      kept.set(key, coming);
    }
    return kept.get(key);
  };
  const ask = (step, probe) => {
    if (step !== undefined) get(step, probe).catch(() => {});
  };
  return { get, ask };
}

// While a run is training, new steps join the slider's end; who stands at the end moves on with it.
async function follow({ run, address, status }, steps, time, at, go, scores, signal) {
  while (!signal.aborted) {
    try {
      await wait(FOLLOW, signal);
      const { steps: now } = await getJson(`${address}/playback`, signal);
      await scores.follow(address, signal);
      const last = at() === steps.length - 1;
      const more = now.length > steps.length;
      steps.splice(0, steps.length, ...now);
      time.input.max = steps.length - 1;
      if (more && last) go(steps.length - 1);
    } catch (error) {
      if (wasLeft(error)) return;
      if (isGone(error)) return status.say(`The run ${run.name} was deleted.`, true);
      // anything else may be better the next time
    }
  }
}

function headOptions(heads) {
  return [["", "mean of all"], ...Array.from({ length: heads }, (_, i) => [i, `head ${i}`])];
}
