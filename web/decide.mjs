// The playground's Python without a page: states on standard input, one a line, verdicts on standard
// output. What it loads is what browsers load.
//
//   node decide.mjs SITE [--afresh] < states
//
// --afresh is what browsers do that cannot take the image of a memory.

import fs from "node:fs";
import path from "node:path";
import readline from "node:readline";
import { parseArgs } from "node:util";
import { gunzipSync } from "node:zlib";
import { loadPyodide } from "pyodide";
import { afresh, remembered } from "./src/python_loader.js";

const { values, positionals } = parseArgs({ options: { afresh: { type: "boolean" } }, allowPositionals: true });
const [site] = positionals;
const assets = path.join(site, fs.readdirSync(site).find((one) => one.startsWith("assets-")));
const answer = await (values.afresh ? fromModules() : fromImage());
for await (const line of readline.createInterface({ input: process.stdin })) {
  process.stdout.write(`${answer("verdict", line)}\n`);
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
