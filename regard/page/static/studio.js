// The studio's frame: reads the address, shows the view that it names, and leaves it again.
//
//   #/runs   #/positions   #/compare/A/B   #/run/NAME/translate|heads|way|playback|training
//
// each with ?key=value&… behind it.
//
// Which views a run has, it says itself: `views` of /api/runs/NAME. A view module exports
// `async function show(place, {run, view, runs, params, signal, keep, relink})`:
//   run     what /api/runs/NAME says of the run; null where the view is not about one run
//   view    its record {name, title, draws, takes}, of which `takes` are the texts that it is about
//   runs    all entries of /api/runs, newest first
//   params  URLSearchParams of what follows "?" in the address; for compare also "a" and "b", names of runs
//   signal  aborts when the person leaves
//   keep    keep({text: "…", layer: null}) writes into the address what one would share; draws nothing
//   relink  relink(run) draws the links anew, of a run that has other views by now

import { AGAIN, getJson, isAway, wait, wasLeft } from "regard/api.js";
import { onTheme, setTheme, theme } from "regard/colours.js";
import { clear, h } from "regard/dom.js";
import { savePictures } from "regard/saving.js";

// Modules by what a view `draws`; each is fetched when it is opened.
const DRAWN = {
  sentence: () => import("regard/translate.js"),
  prompt: () => import("regard/generate.js"),
  texts: () => import("regard/readview.js"),
  picture: () => import("regard/pictureuse.js"),
  heads: () => import("regard/headsview.js"),
  way: () => import("regard/way.js"),
  playback: () => import("regard/playback.js"),
  training: () => import("regard/training.js"),
  runs: () => import("regard/runs.js"),
  positions: () => import("regard/positions.js"),
  compare: () => import("regard/compare.js"),
};
const VIEWS = [
  { name: "runs", title: "Runs", draws: "runs" },
  { name: "compare", title: "Compare", draws: "compare" },
  { name: "positions", title: "Positions", draws: "positions" },
]; // of no single run

const view = document.getElementById("view");
const links = document.getElementById("links");
let leaving = new AbortController();
let shown = null; // the address that is drawn, so that keep() does not draw it again

document.querySelector(".skip").addEventListener("click", (event) => {
  event.preventDefault(); // the address names the view, so it cannot name a place on the page
  view.focus();
});
window.addEventListener("hashchange", () => location.hash !== shown && open(true));
onTheme(() => open(false));
savePictures(view);
const wanted = /[#?&]theme=(light|dark)/.exec(location.hash);
if (wanted) setTheme(wanted[1]);
else open(false);

// Read "#/run/NAME/heads?text=…" into its parts.
function readAddress() {
  const [path, query = ""] = location.hash.replace(/^#/, "").split("?");
  const parts = path.split("/").filter(Boolean).map(decodeURIComponent);
  const params = new URLSearchParams(query);
  if (parts[0] === "run") return { name: parts[2] ?? null, runName: parts[1], params };
  if (parts[0] === "compare") {
    if (parts[1]) params.set("a", parts[1]);
    if (parts[2]) params.set("b", parts[2]);
  }
  return { name: VIEWS.some(({ name }) => name === parts[0]) ? parts[0] : "runs", runName: null, params };
}

// Draw what the address names; `moved` is true when a person came from another view.
async function open(moved) {
  leaving.abort();
  leaving = new AbortController();
  const { signal } = leaving;
  shown = location.hash;
  const address = readAddress();
  try {
    const { runs } = await getJson("/api/runs", signal);
    const run = await openedRun(runs, address.runName, signal);
    const views = run?.views ?? VIEWS;
    if (run) address.name ??= views[0].name;
    drawLinks(runs, run, address);
    const shownView = views.find(({ name }) => name === address.name);
    if (!shownView) throw new Error(whyAbsent(address.name, run));
    document.title = [shownView.title, run?.name, "regard"].filter(Boolean).join(" · ");
    const { show } = await DRAWN[shownView.draws]();
    if (signal.aborted) return;
    const place = h("div", { class: `view view-${address.name}` });
    view.replaceChildren(place);
    if (moved) {
      view.focus({ preventScroll: true });
      window.scrollTo(0, 0);
    }
    const relink = (now) => drawLinks(runs, now, address);
    await show(place, { run, view: shownView, runs, params: address.params, signal, keep, relink });
  } catch (error) {
    if (wasLeft(error) || signal.aborted) return;
    if (!links.childElementCount) drawLinks([], null, address);
    const said = h("p", { class: "problem", role: "alert" }, error.message);
    view.replaceChildren(h("div", { class: "view" }, said));
    if (isAway(error)) await wait(AGAIN, signal).then(() => open(false), () => null);
  }
}

// What the server says of the run of an address; null where the address names none.
async function openedRun(runs, name, signal) {
  if (name === null) return null;
  const entry = runs.find((one) => one.name === name);
  if (entry === undefined) throw new Error(`There is no run named ${name}.`);
  if (entry.status === "broken") throw new Error(`The run ${name} is broken: ${entry.error}.`);
  return getJson(`/api/runs/${encodeURIComponent(name)}`, signal);
}

// Why a run has no view of this name.
function whyAbsent(name, run) {
  const early = run && run.status !== "finished" && !run.views.some(({ takes }) => takes?.length);
  if (name in ABSENT && early) return `${run.name} cannot be looked at before its first validation.`;
  return ABSENT[name] ?? `There is no view named ${name}.`;
}

// Where others have one.
const ABSENT = {
  translate: "This model cannot be looked at yet.",
  heads: "This model has no attention, so there are no heads to show.",
  way: "There is no way of a single token to show through this model.",
  playback: "This run saved no looks while it was training.",
};

// Write values into the address, null to take one out; the view stays as it is.
function keep(changes) {
  const [path, query = ""] = location.hash.split("?");
  const params = new URLSearchParams(query);
  for (const [key, value] of Object.entries(changes)) {
    if (value === null || value === undefined || value === "") params.delete(key);
    else params.set(key, value);
  }
  const text = params.toString();
  shown = (path || "#/runs") + (text ? `?${text}` : "");
  history.replaceState(null, "", shown);
  for (const link of links.querySelectorAll("a[data-view]")) {
    link.href = runAddress(link.dataset.run, link.dataset.view);
  }
}

function drawLinks(runs, run, address) {
  const at = (name) => (address.runName === null && address.name === name ? "page" : null);
  const general = VIEWS.map(({ name, title }) =>
    h("a", { href: `#/${name}`, "aria-current": at(name) }, title));
  clear(links).append(h("div", { class: "group" }, general));
  if (run) {
    const inside = [runSelect(runs, run, address), runLinks(run, address)];
    links.append(h("div", { class: "group of-run" }, inside));
  }
  links.append(themeButton());
}

function runLinks(run, address) {
  return run.views.map(({ name, title }) => {
    const current = address.name === name ? "page" : null;
    const data = { view: name, run: run.name };
    return h("a", { href: runAddress(run.name, name), "aria-current": current, dataset: data }, title);
  });
}

// The sentence and the theme go along from view to view; what belongs to one view stays behind.
function runAddress(run, name) {
  const params = new URLSearchParams(location.hash.split("?")[1] ?? "");
  const shared = ["text", "second", "theme"].filter((key) => params.has(key));
  const kept = new URLSearchParams(shared.map((key) => [key, params.get(key)]));
  return `#/run/${encodeURIComponent(run)}/${name}${kept.size ? `?${kept}` : ""}`;
}

function runSelect(runs, run, address) {
  const usable = runs.filter(({ name, status }) => status !== "broken" || name === run.name);
  const options = usable.map(({ name }) => h("option", { value: name, selected: name === run.name }, name));
  const go = (event) => (location.hash = runAddress(event.target.value, address.name));
  return h("label", { class: "run-select" }, h("span", {}, "Run"), h("select", { onchange: go }, options));
}

function themeButton() {
  const other = theme() === "dark" ? "light" : "dark";
  const press = () => {
    setTheme(other);
    keep({ theme: other });
  };
  const title = other === "dark" ? "Dark" : "Light";
  return h("button", { class: "theme quiet", type: "button", onclick: press }, title);
}
