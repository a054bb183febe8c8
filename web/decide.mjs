// The playground's Python without a page: states on standard input, one a line, verdicts on standard
// output. What it loads is what browsers load.
//
//   node decide.mjs SITE < states

import fs from "node:fs";
import path from "node:path";
import readline from "node:readline";
import { loadPyodide } from "pyodide";
import { LOADER } from "./src/python_loader.js";

const site = process.argv[2];
const assets = path.join(site, fs.readdirSync(site).find((one) => one.startsWith("assets-")));
const python = await loadPyodide();
python.globals.set("PACKED", new Uint8Array(fs.readFileSync(path.join(assets, "modules.bin"))));
const answer = python.runPython(LOADER);
for await (const line of readline.createInterface({ input: process.stdin })) {
  process.stdout.write(`${answer("verdict", line)}\n`);
}
