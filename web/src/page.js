// The page: a state, the panes it is typed into, and a worker that decides about it.
//
// On every keystroke the worker is asked for the verdict; while it is at work no second question is
// sent, only the last state is kept. Once nobody types, it is asked for the details. Proofs have a
// worker of their own.

import { Asker } from "./asker.js";
import { completer } from "./completion.js";
import { Editors } from "./editors.js";
import { element } from "./elements.js";
import { KeptModes } from "./kept_modes.js";
import { MODES, panesOf, RELEASES } from "./modes.js";
import { Proofs } from "./proofs.js";
import { details, marks, verdict } from "./results.js";
import { fragmentOf, stateOf } from "./state_link.js";

const GROUPS = ["policies", "request"];
const DETAILS_AFTER = 120; // milliseconds without a keystroke
const PATIENCE = 15_000; // milliseconds for one answer
const OUTDATED_AFTER = 1_500; // milliseconds after which nobody waits for what was asked before a keystroke
const HERE = new URL("./", import.meta.url).href;
const $ = (id) => document.getElementById(id);

const WORKER = new URL("worker.js", HERE);
const asker = new Asker(WORKER, {
  patience: PATIENCE,
  busy(is) {
    $("verdict").setAttribute("aria-busy", String(is));
    $("stop").hidden = !is;
  },
});
const ask = asker.ask.bind(asker);

let state = { version: 1, mode: "validating", release: "1.36", operation: "CREATE", panes: {} };
const selected = {};
const editors = new Editors(state.panes, typed, completer(ask, () => state));
let asking = false;
let changed = false;
let timer = 0;
let last = {};
let modes = new KeptModes([]);
const proofs = new Proofs(WORKER, () => state, go, openExample);

// --- deciding ---------------------------------------------------------------------------------

async function decide() {
  changed = true;
  clearTimeout(timer);
  if (asker.taken > OUTDATED_AFTER) asker.stop("stopped: something else is asked");
  if (asking) return;
  asking = true;
  while (changed) {
    changed = false;
    const asked = structuredClone(state);
    const found = await ask("verdict", asked);
    if (found.stopped && changed) continue;
    last = { asked, verdict: found };
    showVerdict(asked);
  }
  asking = false;
  timer = setTimeout(explain, DETAILS_AFTER);
}

async function explain() {
  const { asked } = last;
  const found = await ask("details", asked);
  if (asked !== last.asked || changed) return;
  last.details = found;
  const folded = new Set([...$("details").querySelectorAll(":scope > details:not([open])")].map((one) => one.dataset.section));
  $("details").replaceChildren(...details(found, go));
  for (const one of $("details").children) if (folded.has(one.dataset.section)) one.open = false;
  mark();
  history.replaceState(null, "", (await fragmentOf(asked)) ?? location.pathname);
  $("results").dataset.explained = String(Number($("results").dataset.explained ?? 0) + 1);
}

function showVerdict(asked) {
  const { style, body, said } = verdict(last.verdict, asked, go);
  const card = $("verdict");
  card.className = `verdict ${style}`;
  $("verdict-body").replaceChildren(...body.flat().filter(Boolean));
  card.dataset.decided = String(Number(card.dataset.decided ?? 0) + 1);
  clearTimeout(showVerdict.timer);
  showVerdict.timer = setTimeout(() => ($("announcement").textContent = said), 400);
  mark();
}

function mark() {
  const found = marks(last.verdict, last.details);
  editors.mark(found);
  const wrong = new Set(found.filter((one) => one.severity === "error").map((one) => one.file));
  for (const tab of document.querySelectorAll("[role=tab]")) {
    tab.classList.toggle("filled", Boolean(state.panes[tab.dataset.pane]?.trim()));
    tab.classList.toggle("wrong", wrong.has(tab.dataset.pane));
  }
}

function typed() {
  $("gallery").value = "";
  proofs.outdate();
  decide();
}

// --- panes ------------------------------------------------------------------------------------

function showTabs() {
  for (const group of GROUPS) {
    const panes = panesOf(state, group);
    const names = panes.map((one) => one.name);
    if (!names.includes(selected[group])) selected[group] = names[0];
    $(`tabs-${group}`).replaceChildren(...panes.map((one) => element("button", {
      type: "button", role: "tab", id: `tab-${group}-${one.name}`, "data-pane": one.name, "aria-controls": `editor-${group}`,
      "aria-selected": String(one.name === selected[group]), tabindex: one.name === selected[group] ? "0" : "-1",
      onclick: () => select(group, one.name),
      onkeydown: (event) => toNext(event, $(`tabs-${group}`), names, one.name, (name) => select(group, name)),
    }, one.label)));
    $(`editor-${group}`).setAttribute("aria-labelledby", `tab-${group}-${selected[group]}`);
    editors.show(group, panes.find((one) => one.name === selected[group]));
  }
  if (last.verdict) mark();
}

/** Arrows go from one tab to the next. */
function toNext(event, tabs, names, name, choose) {
  const step = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
  if (!step) return;
  event.preventDefault();
  choose(names[(names.indexOf(name) + step + names.length) % names.length]);
  tabs.querySelector("[aria-selected=true]").focus();
}

function select(group, name) {
  selected[group] = name;
  showTabs();
}

const VIEWS = ["verdict", "proofs"];

/** Verdicts or proofs: whichever the state names, where the mode has both. */
function showView() {
  const view = state.view ?? "verdict";
  $("tabs-answers").hidden = !MODES[state.mode].proofs;
  for (const one of VIEWS) {
    $(`tab-${one}`).setAttribute("aria-selected", String(one === view));
    $(`tab-${one}`).tabIndex = one === view ? 0 : -1;
  }
  $("decided").hidden = view === "proofs";
  $("proofs").hidden = view !== "proofs";
  $("claim").hidden = !MODES[state.mode].proofs?.includes("properties");
  $("request-name").textContent = view === "proofs" ? "What it is compared with" : "What is asked";
  $("compared").parentElement.hidden = view === "proofs";
  for (const one of document.querySelectorAll(".of-request")) one.hidden = state.mode === "expression" || view === "proofs";
}

function choose(view) {
  state.view = view;
  showView();
  showTabs();
  decide();
}

for (const view of VIEWS) {
  $(`tab-${view}`).addEventListener("click", () => choose(view));
  $(`tab-${view}`).addEventListener("keydown", (event) => toNext(event, $("tabs-answers"), VIEWS, view, choose));
}

/** A request that a proof has found, to be decided; the browser goes back to what was there. */
function openExample({ operation, panes }) {
  history.pushState(null, "", location.href);
  delete selected.request;
  open({ ...state, view: "verdict", operation, subresource: "", panes: { ...state.panes, ...panes } });
  $("verdict").focus();
}

/** To a place in a pane, wherever it is. */
function go(file, line, column) {
  for (const group of GROUPS) {
    if (panesOf(state, group).some((one) => one.name === file)) {
      select(group, file);
      editors.go(group, line, column);
    }
  }
}

/** Another state: the first panes are shown, whatever was shown before. */
function replace(next) {
  modes.forget();
  for (const group of GROUPS) delete selected[group];
  open(next);
}

function open(next) {
  state = { version: 1, mode: "validating", release: "1.36", operation: "CREATE", ...next, panes: { ...next.panes } };
  for (const name of ["mode", "release", "operation"]) $(name).value = state[name];
  $("compared").value = state.compared ?? "";
  $("subresource").value = state.subresource ?? "";
  $("dryRun").checked = state.dryRun ?? false;
  $("verdict-name").textContent = state.mode === "expression" ? "Value" : "Verdict";
  if (!MODES[state.mode].proofs) delete state.view;
  showView();
  proofs.outdate();
  delete last.details;
  $("details").replaceChildren();
  editors.replace(state.panes);
  showTabs();
  decide();
}

// --- the bar ----------------------------------------------------------------------------------

function banner(text, bad = false) {
  $("banner").hidden = !text;
  $("banner").classList.toggle("bad", bad);
  $("banner").textContent = text;
}

for (const [name, { label }] of Object.entries(MODES)) $("mode").append(element("option", { value: name }, label));
for (const one of RELEASES) $("release").append(element("option", one));
$("compared").append(element("option", { value: "" }, "none"), ...RELEASES.map((one) => element("option", one)));
$("question").addEventListener("submit", (event) => event.preventDefault());
$("question").addEventListener("input", () => {
  Object.assign(state, {
    release: $("release").value, compared: $("compared").value, operation: $("operation").value,
    subresource: $("subresource").value.trim(), dryRun: $("dryRun").checked,
  });
  const next = modes.changed(state, $("mode").value);
  if (next !== state) $("gallery").value = "";
  open(next);
});

$("copy-link").addEventListener("click", async () => {
  const fragment = await fragmentOf(state);
  if (!fragment) return banner("This is too much for a link: export it as files instead.", true);
  history.replaceState(null, "", fragment);
  try {
    await navigator.clipboard.writeText(location.href);
    banner("The link is copied. It holds everything; opening it sends nothing to anyone.");
  } catch {
    banner(`This link holds everything:\n${location.href}`);
  }
});

$("export").addEventListener("click", async () => {
  const { files, error } = await ask("files", state);
  if (error) return banner(error, true);
  for (const [name, text] of Object.entries(files)) {
    const link = element("a", { href: URL.createObjectURL(new Blob([text], { type: "text/plain" })), download: name });
    link.click();
    URL.revokeObjectURL(link.href);
  }
  const test = Object.keys(files).find((one) => one.endsWith(".policytest.yaml"));
  banner(`Saved: ${Object.keys(files).join(", ")}.${test ? ` In their folder, run: celadon test ${test}` : ""}`);
});

$("stop").addEventListener("click", () => asker.stop("stopped"));
$("import").addEventListener("click", () => $("files").click());
$("files").addEventListener("change", () => take($("files").files));
addEventListener("dragover", (event) => {
  event.preventDefault();
  document.body.classList.add("dropping");
});
addEventListener("dragleave", () => document.body.classList.remove("dropping"));
addEventListener("drop", (event) => {
  event.preventDefault();
  document.body.classList.remove("dropping");
  take(event.dataTransfer.files);
});

async function take(list) {
  const texts = {};
  for (const file of list) texts[file.name] = await file.text();
  const found = await ask("import", texts);
  if (found.error) return banner(found.error, true);
  banner(found.problems.join("\n"), true);
  replace({ ...state, mode: found.mode, panes: found.panes });
}

const THEMES = { system: "◐", light: "☀", dark: "☾" };
const WORDS = { system: "as the system has them", light: "light", dark: "dark" };
const prefers = matchMedia("(prefers-color-scheme: dark)");
let theme = "system";
try {
  theme = localStorage.getItem("celadon-theme") ?? "system";
} catch { /* storage is switched off */ }
function paint() {
  document.documentElement.classList.toggle("dark", theme === "dark" || (theme === "system" && prefers.matches));
  $("theme").textContent = THEMES[theme];
  $("theme").setAttribute("aria-label", `Colours: ${WORDS[theme]}`);
}
$("theme").addEventListener("click", () => {
  const names = Object.keys(THEMES);
  theme = names[(names.indexOf(theme) + 1) % names.length];
  try {
    localStorage.setItem("celadon-theme", theme);
  } catch { /* it lasts as long as the page */ }
  paint();
});
prefers.addEventListener("change", paint);
paint();

// --- the beginning ----------------------------------------------------------------------------

async function begin() {
  for (const group of GROUPS) editors.mount(group, $(`editor-${group}`));
  const gallery = await (await fetch(`${HERE}gallery.json`)).json();
  modes = new KeptModes(gallery);
  $("gallery").replaceChildren(element("option", { value: "" }, "choose one …"),
    ...gallery.map((one) => element("option", { value: one.id }, one.title)));
  $("gallery").addEventListener("change", () => {
    const one = gallery.find((each) => each.id === $("gallery").value);
    if (!one) return;
    banner(one.about);
    replace(one.state);
    $("gallery").value = one.id;
  });
  const first = () => {
    banner(gallery[0].about);
    replace(gallery[0].state);
    $("gallery").value = gallery[0].id;
  };
  const follow = async () => {
    if (location.hash.length < 2) return first();
    try {
      const found = await stateOf(location.hash);
      const { error } = await ask("state", found);
      if (error) throw new Error(`This link cannot be opened: ${error}.`);
      banner("");
      replace(found);
    } catch (error) {
      first();
      banner(error.message, true);
    }
  };
  addEventListener("hashchange", follow);
  await follow();
}

begin();
