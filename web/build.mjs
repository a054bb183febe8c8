// Builds the playground: a folder of static files that asks nothing of any other host.
//
//   node build.mjs --out DIR --yaml DIR [--solver WHEEL]
//
// --yaml is the folder of PyYAML, which Celadon reads some YAML with; --solver is the wheel of z3 for
// Pyodide (solver.txt), without which the page proves nothing. All files but index.html are in a folder
// whose name is a hash of what is in it, so that a server may let browsers keep it for good.

import { build } from "esbuild";
import { createHash } from "node:crypto";
import fs from "node:fs";
import path from "node:path";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import { packed, remembering } from "./python_pack.mjs";

const HERE = path.dirname(fileURLToPath(import.meta.url));
const PYODIDE = path.join(HERE, "node_modules/pyodide");
const RUNTIME = ["pyodide.asm.mjs", "pyodide.asm.wasm", "python_stdlib.zip"];

const text = { type: "string" };
const { values } = parseArgs({ options: { out: text, yaml: text, solver: text } });
const draft = fs.mkdtempSync(path.join(path.dirname(path.resolve(values.out)), ".site-"));
try {
  fs.chmodSync(draft, 0o755);
  await write(draft, values.yaml, values.solver);
  fs.rmSync(values.out, { recursive: true, force: true });
  fs.renameSync(draft, values.out);
} finally {
  fs.rmSync(draft, { recursive: true, force: true });
}

async function write(out, yaml, solver) {
  const assets = path.join(out, "assets");
  fs.mkdirSync(assets);
  const { modules, gallery, prover } = await packed(path.join(HERE, "../src/celadon"), yaml, path.join(HERE, "gallery"), solver);
  if (prover) {
    fs.writeFileSync(path.join(assets, "prover.bin"), prover);
    fs.copyFileSync(path.join(HERE, "solver-license.txt"), path.join(assets, "prover-license.txt"));
  }
  fs.writeFileSync(path.join(assets, "modules.bin"), modules);
  fs.writeFileSync(path.join(assets, "gallery.json"), gallery);
  fs.writeFileSync(path.join(assets, "memory.bin"), await remembering(modules, gallery));
  for (const name of RUNTIME) fs.copyFileSync(path.join(PYODIDE, name), path.join(assets, name));
  const lock = JSON.parse(fs.readFileSync(path.join(PYODIDE, "pyodide-lock.json"), "utf8"));
  fs.writeFileSync(path.join(assets, "pyodide-lock.json"), JSON.stringify({ ...lock, packages: {} }));
  await build({
    entryPoints: [path.join(HERE, "src/page.js"), path.join(HERE, "src/worker.js")],
    outdir: assets,
    bundle: true,
    minify: true,
    format: "esm",
    target: "es2022",
    external: ["node:*"],
    legalComments: "linked",
    logLevel: "warning",
  });
  fs.copyFileSync(path.join(HERE, "src/page.css"), path.join(assets, "page.css"));
  fs.copyFileSync(path.join(HERE, "src/icon.svg"), path.join(assets, "icon.svg"));
  const name = `assets-${digest(assets)}`;
  fs.renameSync(assets, path.join(out, name));
  const page = fs.readFileSync(path.join(HERE, "src/index.html"), "utf8");
  fs.writeFileSync(path.join(out, "index.html"), page.replaceAll("assets/", `${name}/`));
}

/** Of all files of a folder, names included. */
function digest(folder) {
  const hash = createHash("sha256");
  for (const name of fs.readdirSync(folder).sort()) {
    hash.update(name).update(fs.readFileSync(path.join(folder, name)));
  }
  return hash.digest("hex").slice(0, 12);
}
