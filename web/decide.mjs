// The playground's Python without a page: states on standard input, one a line, verdicts on standard
// output. What it loads is what browsers load.
//
//   node decide.mjs SITE [--afresh] [--keystrokes] < states
//
// --afresh is what browsers do that cannot take the image of a memory. --keystrokes writes, instead of
// verdicts, how many milliseconds of processor time the verdict takes after a keystroke in each pane
// of a state: the slowest pane, the best of some keystrokes.

import fs from "node:fs";
import path from "node:path";
import readline from "node:readline";
import { parseArgs } from "node:util";
import { gunzipSync } from "node:zlib";
import { loadPyodide } from "pyodide";
import { afresh, remembered } from "./src/python_loader.js";

const { values, positionals } = parseArgs({ options: { afresh: { type: "boolean" }, keystrokes: { type: "boolean" } }, allowPositionals: true });
const [site] = positionals;
const assets = path.join(site, fs.readdirSync(site).find((one) => one.startsWith("assets-")));
const answer = await (values.afresh ? fromModules() : fromImage());
for await (const line of readline.createInterface({ input: process.stdin })) {
  process.stdout.write(`${values.keystrokes ? slowestPane(JSON.parse(line)) : answer("verdict", line)}\n`);
}

function slowestPane(state) {
  answer("verdict", JSON.stringify(state));
  return Math.max(...Object.keys(state.panes).map((pane) => {
    const times = Array.from({ length: 6 }, (_, n) => {
      const text = `${state.panes[pane]}${pane === "expression" ? " ".repeat(n + 1) : `\n#${"x".repeat(n)}`}`;
      const typed = JSON.stringify({ ...state, panes: { ...state.panes, [pane]: text } });
      const before = process.cpuUsage();
      answer("verdict", typed);
      const { user, system } = process.cpuUsage(before);
      return (user + system) / 1000;
    });
    return Math.min(...times);
  }));
}

function read(name) {
  return fs.readFileSync(path.join(assets, name));
}

function fromModules() {
  return afresh(loadPyodide, {}, new Uint8Array(read("modules.bin")));
}

async function fromImage() {
  const { default: create } = await import(path.join(fs.realpathSync(assets), "pyodide.asm.mjs"));
  return remembered(loadPyodide, {}, create, new Uint8Array(gunzipSync(read("memory.bin"))));
}
