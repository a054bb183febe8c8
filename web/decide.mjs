// The playground's Python without a page: states on standard input, one a line, verdicts on standard
// output. What it loads is what browsers load.
//
//   node decide.mjs SITE [--afresh] [--keystrokes | --proofs] < states
//
// --afresh is what browsers do that cannot take the image of a memory. --keystrokes writes, instead of
// verdicts, how many milliseconds of processor time the verdict takes after a keystroke in each pane
// of a state: the slowest pane, the best of some keystrokes. --proofs takes [question, what is given]
// in place of states, and writes {news, answer, seconds, megabytes}: all that is heard, how much of a
// processor it took, and how large the memory is then.

import fs from "node:fs";
import path from "node:path";
import readline from "node:readline";
import { parseArgs } from "node:util";
import { gunzipSync } from "node:zlib";
import { loadPyodide } from "pyodide";
import { learnToProve, loaded, remembered } from "./src/python_loader.js";

const flag = { type: "boolean" };
const { values, positionals } = parseArgs({ options: { afresh: flag, keystrokes: flag, proofs: flag }, allowPositionals: true });
const [site] = positionals;
const assets = path.join(site, fs.readdirSync(site).find((one) => one.startsWith("assets-")));
const python = await (values.afresh ? fromModules() : fromImage());
const answer = python.globals.get("answer");
const proof = values.proofs && learnToProve(python, new Uint8Array(gunzipSync(read("prover.bin"))));
for await (const line of readline.createInterface({ input: process.stdin })) {
  process.stdout.write(`${said(line)}\n`);
}

function said(line) {
  if (values.proofs) return JSON.stringify(proved(...JSON.parse(line)));
  return values.keystrokes ? slowestPane(JSON.parse(line)) : answer("verdict", line);
}

function proved(question, given) {
  const news = [];
  const before = process.cpuUsage();
  const found = proof(question, JSON.stringify(given), (one) => news.push(JSON.parse(one)));
  const { user, system } = process.cpuUsage(before);
  return { news, answer: JSON.parse(found), seconds: (user + system) / 1e6, megabytes: Math.round(process.memoryUsage().rss / 1e6) };
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
  return loaded(loadPyodide, {}, new Uint8Array(read("modules.bin")));
}

async function fromImage() {
  const { default: create } = await import(path.join(fs.realpathSync(assets), "pyodide.asm.mjs"));
  return remembered(loadPyodide, {}, create, new Uint8Array(gunzipSync(read("memory.bin"))));
}
