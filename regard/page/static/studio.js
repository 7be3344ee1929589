// The studio's frame: reads the address, shows the view that it names, and leaves it again.
//
//   #/runs   #/positions   #/compare/A/B   #/run/NAME/translate|heads|way|playback|training
//
// each with ?key=value&… behind it.
//
// A view module exports `async function show(place, {run, runs, params, signal, keep})`:
//   run     the run's entry of /api/runs: {name, family, status, …}; null where the view is not about one run
//   runs    all entries, newest first
//   params  URLSearchParams of what follows "?" in the address; for compare also "a" and "b", names of runs
//   signal  aborts when the person leaves
//   keep    keep({text: "…", layer: null}) writes into the address what one would share; draws nothing

import { getJson, wasLeft } from "regard/api.js";
import { onTheme, setTheme, theme } from "regard/colours.js";
import { clear, h } from "regard/dom.js";

const WORK = {
  "encoder-decoder": "Translate", decoder: "Generate", encoder: "Read", classifier: "Classify",
};
const writes = ({ family, least }) => family !== "classifier" && least < 2; // has a way to show

function workOf({ family, least }) {
  return family === "classifier" && least > 1 ? "Judge a pair" : WORK[family] ?? "Translate";
}

// Views of one run, by their place in the address; `fits` says of which. Each is fetched when it is opened.
const RUN_VIEWS = {
  translate: { title: workOf, load: () => import("regard/translate.js") },
  heads: { title: () => "Heads", fits: ({ heads }) => heads, load: () => import("regard/headsview.js") },
  way: { title: () => "A prompt’s way", fits: writes, load: () => import("regard/way.js") },
  playback: { title: () => "Playback", fits: writes, load: () => import("regard/playback.js") },
  training: { title: () => "Training", load: () => import("regard/training.js") },
};
const VIEWS = {
  runs: { title: () => "Runs", load: () => import("regard/runs.js") },
  positions: { title: () => "Positions", load: () => import("regard/positions.js") },
  compare: { title: () => "Compare", load: () => import("regard/compare.js") },
};

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
const wanted = /[#?&]theme=(light|dark)/.exec(location.hash);
if (wanted) setTheme(wanted[1]);
else open(false);

// Read "#/run/NAME/heads?text=…" into its parts.
function readAddress() {
  const [path, query = ""] = location.hash.replace(/^#/, "").split("?");
  const parts = path.split("/").filter(Boolean).map(decodeURIComponent);
  const params = new URLSearchParams(query);
  if (parts[0] === "run") return { name: parts[2] ?? "translate", runName: parts[1], params };
  if (parts[0] === "compare") {
    if (parts[1]) params.set("a", parts[1]);
    if (parts[2]) params.set("b", parts[2]);
  }
  return { name: parts[0] in VIEWS ? parts[0] : "runs", runName: null, params };
}

// Draw what the address names; `moved` is true when a person came from another view.
async function open(moved) {
  leaving.abort();
  leaving = new AbortController();
  const { signal } = leaving;
  shown = location.hash;
  const address = readAddress();
  const table = address.runName === null ? VIEWS : RUN_VIEWS;
  try {
    const { runs } = await getJson("/api/runs", signal);
    const run = address.runName === null ? null : runs.find((one) => one.name === address.runName);
    if (run === undefined) throw new Error(`There is no run named ${address.runName}.`);
    if (run?.status === "broken") throw new Error(`The run ${run.name} is broken: ${run.error}.`);
    if (!(address.name in table)) throw new Error(`There is no view named ${address.name}.`);
    drawLinks(runs, run, address);
    const { title, load } = table[address.name];
    document.title = [title(run), run?.name, "regard"].filter(Boolean).join(" · ");
    const { show } = await load();
    if (signal.aborted) return;
    const place = h("div", { class: `view view-${address.name}` });
    view.replaceChildren(place);
    if (moved) {
      view.focus({ preventScroll: true });
      window.scrollTo(0, 0);
    }
    await show(place, { run, runs, params: address.params, signal, keep });
  } catch (error) {
    if (wasLeft(error) || signal.aborted) return;
    if (!links.childElementCount) drawLinks([], null, address);
    const said = h("p", { class: "problem", role: "alert" }, error.message);
    view.replaceChildren(h("div", { class: "view" }, said));
  }
}

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
  const general = [
    h("a", { href: "#/runs", "aria-current": at("runs") }, "Runs"),
    h("a", { href: "#/compare", "aria-current": at("compare") }, "Compare"),
    h("a", { href: "#/positions", "aria-current": at("positions") }, "Positions"),
  ];
  clear(links).append(h("div", { class: "group" }, general));
  if (run) {
    const inside = [runSelect(runs, run, address), runLinks(run, address)];
    links.append(h("div", { class: "group of-run" }, inside));
  }
  links.append(themeButton());
}

function runLinks(run, address) {
  const fitting = Object.entries(RUN_VIEWS).filter(([, { fits }]) => fits?.(run) ?? true);
  return fitting.map(([name, { title }]) => {
    const current = address.name === name ? "page" : null;
    const data = { view: name, run: run.name };
    return h("a", { href: runAddress(run.name, name), "aria-current": current, dataset: data }, title(run));
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
