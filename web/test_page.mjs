// The page in a real browser: everything that tests want to know, as one JSON document.
//
//   node test_page.mjs --url URL --chromium PATH --pictures DIR --profile DIR [--kept DIR] [--proofs]
//
// tests/playground/test_page.py runs it once, and looks at what it has seen. --kept has the pictures to
// compare with; new ones, to be kept in their place, are among the others. --proofs asks the page's
// solver, too.

import fs from "node:fs";
import { createRequire } from "node:module";
import { parseArgs } from "node:util";
import { deflateRawSync } from "node:zlib";
import { chromium } from "playwright-core";
import { hostility } from "./test_hostility.mjs";
import { proofs } from "./test_proofs.mjs";
import { distance, shrunk } from "./test_pictures.mjs";

const AXE = fs.readFileSync(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");
const PATIENCE = 300_000;
const PHONE = { width: 390, height: 844 };
const DESK = { width: 1360, height: 900 };
const { values } = parseArgs({
  options: { url: { type: "string" }, chromium: { type: "string" }, pictures: { type: "string" }, profile: { type: "string" }, kept: { type: "string" }, proofs: { type: "boolean" } },
});

const POLICY = `apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingAdmissionPolicy
metadata: {name: labelled}
spec:
  matchConstraints:
    resourceRules:
    - {apiGroups: [apps], apiVersions: [v1], operations: [CREATE], resources: [deployments]}
  validations:
  - expression: `;
const BINDING = `apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingAdmissionPolicyBinding
metadata: {name: labelled}
spec: {policyName: labelled, validationActions: [Deny]}
`;
const OBJECT = `apiVersion: apps/v1
kind: Deployment
metadata: {name: dropped, labels: {team: a}}
spec:
  selector: {matchLabels: {app: a}}
  template:
    metadata: {labels: {app: a}}
    spec: {containers: [{name: a, image: a}]}
`;
const seen = { console: [], hosts: [], gallery: {}, links: {}, axe: {}, pictures: {}, regions: {}, wide: [] };
const context = await chromium.launchPersistentContext(values.profile, {
  executablePath: values.chromium,
  viewport: DESK,
  bypassCSP: false,
  args: ["--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking",
    "--disable-component-update", "--disable-sync"],
});
const page = context.pages()[0] ?? (await context.newPage());
page.setDefaultTimeout(PATIENCE);
const blank = await context.newPage(); // where pictures are compared
await page.bringToFront();
page.on("console", (message) => seen.console.push(`${message.type()}: ${message.text()}`));
page.on("pageerror", (error) => seen.console.push(`exception: ${error}`));
context.on("request", (request) => {
  const { host, protocol } = new URL(request.url());
  if (protocol !== "data:" && protocol !== "blob:" && !seen.hosts.includes(host)) seen.hosts.push(host);
});

try {
  await look();
} finally {
  await context.close();
}
process.stdout.write(JSON.stringify(seen));

async function look() {
  await decides(() => page.goto(values.url));
  seen.started = await page.evaluate(() => document.documentElement.dataset.started);
  await explained();
  await accessibility("first");
  const entries = await page.$$eval("#gallery option", (all) => all.map((one) => one.value).filter(Boolean));
  const pictured = new Set();
  for (const id of entries) {
    await changing(() => page.selectOption("#gallery", id));
    const mode = await page.$eval("#mode", (one) => one.value);
    seen.gallery[id] = { mode, said: await page.innerText("#verdict-body") };
    await keystroke();
    if (pictured.has(mode)) continue;
    pictured.add(mode);
    await pictures(mode);
  }
  const [one, other] = ["validating-light", "rules-light"].map((name) => fs.readFileSync(`${values.pictures}/${name}.webp`));
  seen.apart = await distance(blank, one, other);
  await completes(entries);
  await compares();
  await links(entries.at(-1));
  await keyboard();
  await files(entries);
  seen.hostile = await hostility(page, open, changing);
  if (values.proofs) seen.proofs = await proofs(page, { entry: "13-proofs", open, changing, looks: pictures });
  await decides(() => page.reload());
}

/** Loads the page, and waits for its first verdict. */
async function decides(load) {
  await load();
  await page.waitForSelector("#verdict[data-decided]");
}

function count(id, name) {
  return page.$eval(id, (one, name) => Number(one.dataset[name] ?? 0), name);
}

async function explained(after = 0) {
  await page.waitForFunction((after) => Number(document.getElementById("results").dataset.explained ?? 0) > after, after);
}

/** Does something, and waits for what the page makes of it. */
async function changing(act) {
  const before = await count("#results", "explained");
  await act();
  await explained(before);
}

/** Puts a state into the page by its link. */
async function open(state) {
  const fragment = `#1.${deflateRawSync(JSON.stringify(state)).toString("base64url")}`;
  await page.evaluate((hash) => { location.hash = hash; }, fragment);
}

/** A comment at the end of the first editor is decided anew. */
async function keystroke() {
  const before = [await count("#verdict", "decided"), await count("#results", "explained")];
  await page.locator("#editor-request .cm-content").click();
  await page.keyboard.press("Control+End");
  await page.keyboard.type("#");
  await page.waitForFunction((n) => Number(document.getElementById("verdict").dataset.decided) > n, before[0]);
  await explained(before[1]);
}

async function pictures(mode) {
  for (const [name, size, colors] of [["light", DESK, "light"], ["dark", DESK, "dark"], ["phone", PHONE, "light"]]) {
    await page.setViewportSize(size);
    await page.emulateMedia({ colorScheme: colors, reducedMotion: "reduce" });
    await page.evaluate(() => { scrollTo(0, 0); document.activeElement?.blur(); });
    await picture(`${mode}-${name}`);
    await accessibility(`${mode} ${name}`);
    if (await page.evaluate(() => document.documentElement.scrollWidth > innerWidth + 1)) seen.wide.push(`${mode} ${name}`);
  }
  await page.setViewportSize(DESK);
  await page.emulateMedia({ colorScheme: "light" });
}

/** What is to be seen at once, in full and small, and where its parts are, in shares of the window. */
async function picture(name) {
  const png = await page.screenshot({ path: `${values.pictures}/${name}.png` });
  const small = await shrunk(blank, png);
  fs.writeFileSync(`${values.pictures}/${name}.webp`, small);
  const kept = values.kept && `${values.kept}/${name}.webp`;
  seen.pictures[name] = kept && fs.existsSync(kept) ? await distance(blank, small, fs.readFileSync(kept)) : null;
  seen.regions[name] = await page.evaluate(() => Object.fromEntries(
    ["header", "#question", "#editor-policies", "#editor-request", "#verdict", "#details"].map((one) => {
      const { left, top, width } = document.querySelector(one).getBoundingClientRect();
      return [one, [left / innerWidth, top / innerHeight, width / innerWidth].map((each) => Math.round(each * 1000) / 1000)];
    })));
}

/** In a world of its own, where the policy of the page does not count. */
async function accessibility(where) {
  const session = await context.newCDPSession(page);
  const { frameTree } = await session.send("Page.getFrameTree");
  const { executionContextId: contextId } = await session.send("Page.createIsolatedWorld", { frameId: frameTree.frame.id });
  await session.send("Runtime.evaluate", { expression: AXE, contextId });
  const expression = "axe.run(document, {resultTypes: ['violations']}).then(found => JSON.stringify(found.violations))";
  const { result } = await session.send("Runtime.evaluate", { expression, contextId, awaitPromise: true, returnByValue: true });
  seen.axe[where] = JSON.parse(result.value).map((one) => ({
    id: one.id, impact: one.impact, help: one.help, nodes: one.nodes.slice(0, 3).map((node) => node.html.slice(0, 200)),
  }));
  await session.detach();
}

async function links(entry) {
  const earlier = await page.evaluate(() => location.hash);
  await changing(() => page.selectOption("#gallery", entry));
  await page.waitForFunction((earlier) => location.hash !== earlier, earlier);
  const before = await page.innerText("#verdict-body");
  const fragment = await page.evaluate(() => location.hash);
  const texts = await page.$$eval("[role=tab]", (all) => all.length);
  await page.goto("about:blank");
  await decides(() => page.goto(`${values.url}${fragment}`));
  await explained();
  seen.links.same = { before, after: await page.innerText("#verdict-body"), length: fragment.length, texts };
  for (const [name, broken] of Object.entries({
    cut: fragment.slice(0, Math.floor(fragment.length / 2)),
    changed: `${fragment.slice(0, 40)}AAAA${fragment.slice(44)}`,
    version: `#9${fragment.slice(2)}`,
    nonsense: "#hello",
    json: "#1.AwA",
  })) {
    await changing(() => page.evaluate((hash) => { location.hash = hash; }, broken));
    seen.links[name] = await page.innerText("#banner");
  }
}

/** A field of the object; in an expression, one of the kind that the policy matches, without any
 * object, and a function. */
async function completes(entries) {
  seen.completions = {};
  await changing(() => page.selectOption("#gallery", entries[1]));
  await offered("request", "spec:\n\n", "  hostN", "field");
  await changing(() => open({ version: 1, mode: "validating", panes: { policy: `${POLICY}object.spec.repl` } }));
  await offered("policies", "", "i", "kind");
  await changing(() => open({ version: 1, mode: "expression", panes: { expression: "'a'.lowerA" } }));
  await offered("policies", "", "s", "function");
}

/** What is offered behind a text that is typed at the end, or on the line before the end of `lines`. */
async function offered(group, lines, text, name) {
  await page.locator(`#editor-${group} .cm-content`).click();
  await page.keyboard.press(lines ? "Control+Home" : "Control+End");
  if (lines) {
    await page.keyboard.insertText(lines);
    await page.keyboard.press("ArrowUp");
  }
  await page.keyboard.insertText(text);
  await page.keyboard.press("Control+Space");
  await page.locator(`#editor-${group} .cm-tooltip-autocomplete`).waitFor();
  seen.completions[name] = await page.locator(`#editor-${group} .cm-completionLabel`).allInnerTexts();
  await page.keyboard.press("Escape");
}

/** Another release says something else. */
async function compares() {
  await changing(() => open({ version: 1, mode: "expression", panes: { expression: "[3, 1].sortBy(x, x)" } }));
  await changing(() => page.selectOption("#compared", "1.30"));
  seen.compared = await page.innerText("#details");
}

/** Files that are dropped fill the panes; what is exported is downloaded. */
async function files(entries) {
  await changing(() => page.evaluate((texts) => {
    const dropped = new DataTransfer();
    for (const [name, text] of Object.entries(texts)) dropped.items.add(new File([text], name));
    document.body.dispatchEvent(new DragEvent("drop", { dataTransfer: dropped, bubbles: true, cancelable: true }));
  }, { "all.yaml": `${POLICY}has(object.metadata.labels.app)\n---\n${BINDING}---\n${OBJECT}` }));
  seen.dropped = await page.innerText("#verdict-body");
  await changing(() => page.selectOption("#gallery", entries[0]));
  const downloads = [];
  page.on("download", (one) => downloads.push(one));
  await page.click("#export");
  await page.waitForFunction(() => document.getElementById("banner").textContent.startsWith("Saved"));
  while (!downloads.some((one) => one.suggestedFilename().endsWith(".policytest.yaml"))) await page.waitForTimeout(50);
  seen.exported = {};
  for (const one of downloads) seen.exported[one.suggestedFilename()] = fs.readFileSync(await one.path(), "utf8");
}

/** Everything with the keyboard: from the top to a pane by its tab, and to the verdict. */
async function keyboard() {
  await page.evaluate(() => document.activeElement?.blur());
  await page.locator("#tab-request-object").focus();
  await page.keyboard.press("ArrowRight");
  seen.tab = await page.evaluate(() => document.activeElement.id);
  seen.label = await page.$eval("#editor-request", (one) => one.shadowRoot.querySelector(".cm-content").getAttribute("aria-label"));
  await page.waitForFunction(() => document.getElementById("announcement").textContent);
  seen.heard = await page.textContent("#announcement");
}
