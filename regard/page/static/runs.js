// All runs of the folder, newest first; while one trains, its line moves.

import { getJson, wait, wasLeft } from "regard/api.js";
import { h } from "regard/dom.js";
import { ago, figure, metricName } from "regard/text.js";

const EVERY = 2000; // milliseconds between two questions while something trains

export async function show(place, { runs, signal }) {
  const list = h("ul", { class: "runs" });
  const lead = h("p", { class: "lead" }, "What has been trained here, newest first.");
  place.append(h("header", {}, h("h1", {}, "Runs"), lead), list);
  draw(list, runs);
  for (;;) {
    const busy = runs.some(({ status }) => status === "training");
    await wait(busy ? EVERY : 5 * EVERY, signal).catch(() => null);
    if (signal.aborted) return;
    try {
      ({ runs } = await getJson("/api/runs", signal));
      draw(list, runs);
    } catch (error) {
      if (wasLeft(error)) return; // a server that is away for a moment is asked again
    }
  }
}

// Rows are drawn anew only where something has changed, so that a focused link stays focused.
function draw(list, runs) {
  if (!runs.length) {
    const how = h("code", {}, "regard demo");
    const said = ["There is no run in this folder yet. ", how, " trains a small translator in minutes."];
    return list.replaceChildren(h("li", { class: "empty" }, said));
  }
  const known = new Map([...list.children].map((row) => [row.dataset.run, row]));
  const rows = runs.map((run) => {
    const [before, now] = [known.get(run.name), JSON.stringify([run, ago(run.updated)])];
    if (before?.dataset.now === now) return before;
    const row = runRow(run, now);
    before?.replaceWith(row);
    return row;
  });
  const moved = rows.length !== list.children.length || rows.some((row, i) => list.children[i] !== row);
  if (moved) list.replaceChildren(...rows);
}

function runRow(run, now) {
  const first = run.status === "training" ? "/training" : ""; // or the first view that it has
  const name = h("a", { class: "name", href: `#/run/${encodeURIComponent(run.name)}${first}` }, run.name);
  return h("li", { class: `run ${run.status}`, dataset: { run: run.name, now } },
    h("div", { class: "who" }, run.status === "broken" ? h("span", { class: "name" }, run.name) : name,
      h("span", { class: "soft" }, [run.task, run.model].filter(Boolean).join(", "))),
    h(
      "div", { class: "state" }, statusTag(run.status),
      h("span", { class: "soft" }, run.updated ? ago(run.updated) : ""),
    ),
    run.error ? h("p", { class: "soft why" }, run.error) : [metricOf(run), progressOf(run)]);
}

export function statusTag(status) {
  return h("span", { class: `status-tag ${status}` }, status);
}

// The figure one would ask for first: a score, else the loss.
function metricOf({ metrics = {} }) {
  const known = ["bleu", "chrf", "accuracy"].find((one) => Number.isFinite(metrics?.[one]));
  const name = known ?? Object.keys(metrics ?? {})[0];
  if (!name) return h("div", { class: "metric" });
  return h(
    "div", { class: "metric" }, h("b", {}, figure(metrics[name])),
    h("span", { class: "soft" }, metricName(name)),
  );
}

function progressOf({ step, max_steps: most }) {
  if (!step && !most) return h("div", { class: "progress" });
  const done = h("i", { style: { width: `${(100 * step) / (most || step)}%` } });
  const track = h("span", { class: "track", "aria-hidden": true }, done);
  return h("div", { class: "progress" }, most ? track : null,
    h("span", { class: "soft" }, most ? `step ${figure(step)} of ${figure(most)}` : `step ${figure(step)}`));
}
