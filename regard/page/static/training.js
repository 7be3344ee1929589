// One run as it trains: curves of loss and scores, and what it says now. Asks for what is new every two
// seconds.

import { getJson, isGone, wait, wasLeft } from "regard/api.js";
import { drawCurves } from "regard/curves.js";
import { h } from "regard/dom.js";
import { statusTag } from "regard/runs.js";
import { differences, duration, figure, metricName } from "regard/text.js";

const EVERY = 2000;
const ERRORS = /loss|error|perplexity/; // metrics of which less is better share no axis with scores

export async function show(place, { run, signal, relink }) {
  const address = `/api/runs/${encodeURIComponent(run.name)}`;
  const about = await getJson(address, signal);
  const page = layOut(place, about);
  const story = { steps: [], validations: [], end: null };
  let [next, linked] = [0, run.views.length];
  for (;;) {
    try {
      const before = next;
      const answer = await getJson(`${address}/records?after=${next}`, signal);
      next = answer.next;
      if (answer.records.length) follow(page, story, answer.records);
      if (next !== before && answer.records.length) continue; // there may be more to read
      page.problem.textContent = "";
      const now = await getJson(address, signal);
      page.state.replaceChildren(statusTag(now.status));
      if (now.views.length !== linked) {
        linked = now.views.length; // the first weights can be looked at
        relink(now);
      }
      if (now.status !== "training") await wait(4 * EVERY, signal); // it may be resumed
    } catch (error) {
      if (wasLeft(error) || signal.aborted) return;
      if (isGone(error)) return void (page.problem.textContent = `The run ${run.name} was deleted.`);
      page.problem.textContent = error.message;
    }
    if (await wait(EVERY, signal).then(() => false, () => true)) return;
  }
}

function layOut(place, about) {
  const figures = h("dl", { class: "figures" });
  const [charts, samples] = [
    h("div", { class: "grid" }), h("div", { class: "samples", "aria-live": "polite" }),
  ];
  const state = h("span", {}, statusTag(about.status));
  const problem = h("p", { class: "problem", role: "status" });
  const size = about.parameters ? `${figure(about.parameters)} parameters` : null;
  const lead = [about.task, about.model, size].filter(Boolean).join(", ");
  place.append(
    h("header", {}, h("h1", {}, about.name, " ", state), h("p", { class: "lead" }, lead)),
    problem, figures, charts,
    h("section", {}, h("h2", {}, "Samples"), samples),
    h("details", {}, h("summary", {}, "Configuration"), h("pre", {}, JSON.stringify(about.config, null, 2))));
  return { figures, charts, samples, problem, state, most: about.max_steps, drawn: new Map() };
}

function follow(page, story, records) {
  for (const record of records) {
    if (record.event === "step") story.steps.push(record);
    else if (record.event === "validation") story.validations.push(record);
    else if (record.event === "end") story.end = record;
  }
  drawFigures(page, story);
  for (const [name, given] of Object.entries(curvesOf(story))) {
    if (!given.curves.some(({ points }) => points.length)) continue;
    if (page.drawn.has(name)) page.drawn.get(name).update(given.curves);
    else {
      page.drawn.set(name, drawCurves(given));
      page.charts.append(h("div", { class: "card" }, page.drawn.get(name)));
    }
  }
  const samples = story.validations.findLast(({ samples }) => samples?.length)?.samples;
  if (samples) page.samples.replaceChildren(...samples.map(sampleOf));
}

function drawFigures({ figures, most }, { steps, validations }) {
  const last = steps.at(-1);
  const entries = [];
  if (last) {
    entries.push(["step", most ? `${figure(last.step)} / ${figure(most)}` : figure(last.step)]);
    entries.push(["loss", figure(last.loss)]);
  }
  for (const [name, value] of Object.entries(validations.at(-1)?.metrics ?? {})) {
    if (name !== "loss") entries.push([metricName(name), figure(value)]);
  }
  if (last) {
    entries.push(["tokens a second", figure(Math.round(last.tokens_per_second))]);
    entries.push(["so far", duration(last.seconds)]);
  }
  figures.replaceChildren(
    ...entries.map(([name, value]) => h("div", {}, h("dt", {}, name), h("dd", {}, value))),
  );
}

// By name of the chart: loss in training and validation together, scores together, the rate and the speed.
function curvesOf({ steps, validations }) {
  const of = (records, value) => records.map((record) => [record.step, value(record)]);
  const names = [...new Set(validations.flatMap(({ metrics }) => Object.keys(metrics)))];
  const scores = names.filter((name) => !ERRORS.test(name));
  const other = names.filter((name) => ERRORS.test(name) && name !== "loss");
  const metric = (name) => {
    const points = of(validations, ({ metrics }) => metrics[name]);
    return { name: metricName(name), points };
  };
  return {
    loss: { label: "Loss", curves: [{ name: "training", points: of(steps, ({ loss }) => loss) },
      { name: "validation", points: of(validations, ({ metrics }) => metrics.loss) }] },
    scores: { label: "Scores on validation data", curves: scores.map(metric) },
    ...Object.fromEntries(other.map((name) => [name, { label: metricName(name), curves: [metric(name)] }])),
    rate: {
      label: "Learning rate", lowest: 0, curves: [{ name: "rate", points: of(steps, ({ rate }) => rate) }],
    },
    speed: {
      label: "Tokens a second", lowest: 0,
      curves: [{ name: "tokens a second", points: of(steps, (one) => one.tokens_per_second) }],
    },
  };
}

// What went in, what came out, and what differs from the reference.
function sampleOf({ source, output, reference }) {
  const same = !reference || reference === output;
  const words = same ? [output] : differences(reference, output).filter(({ kind }) => kind !== "gone")
    .flatMap(({ word, kind }) => [kind === "new" ? h("ins", {}, word) : word, " "]);
  return h("div", { class: "sample" },
    h("p", { class: "soft", dir: "auto" }, source), h("p", { class: "large", dir: "auto" }, words),
    same ? null : h("p", { class: "soft", dir: "auto" }, "Reference: ", h("bdi", {}, reference)));
}
