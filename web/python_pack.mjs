// Celadon for the browser: every module as bytecode of the very Python that will run it, in one file,
// and an image of that Python's memory once it has decided everything in the gallery.
//
// Imports from a file system that lives in JavaScript are slow; python_loader.js takes modules from a
// dict instead. Rooms that need sockets, processes or a terminal stay out.

import fs from "node:fs";
import { gzipSync } from "node:zlib";
import { loadPyodide } from "pyodide";
import { loaded } from "./src/python_loader.js";

const PACKER = String.raw`
import json, marshal, os, yaml

OUT = {"celadon": ("apiserver", "cel/protobuf", "cli/audit", "cli/bootstrap", "cli/claims", "cli/commands",
    "cli/envtest", "cli/fleets", "cli/library", "cli/playground/site", "cli/replay", "migrate", "prove",
    "storage", "testing", "webhook"), "yaml": ()}

def modules(root, package):
    for parent, folders, files in os.walk(root):
        below = os.path.relpath(parent, root)
        below = "" if below == "." else below + "/"
        folders[:] = sorted(f for f in folders if f != "__pycache__" and below + f not in OUT[package])
        for file in sorted(files):
            place = f"/packed/{package}/{below}{file}"
            with open(os.path.join(parent, file), "rb") as stream:
                content = stream.read()
            if file.endswith(".py"):
                code = compile(content, place, "exec", dont_inherit=True, optimize=2)
                yield place, marshal.dumps(code)
            elif not file.endswith((".so", ".pyc", ".typed")):
                yield place, content

def gallery():
    found = []
    for name in sorted(os.listdir("/gallery")):
        with open(f"/gallery/{name}", encoding="utf-8") as stream:
            one = yaml.safe_load(stream)
        for pane, text in one["state"]["panes"].items():
            if isinstance(text, dict):
                one["state"]["panes"][pane] = "---\n".join(
                    open(f"/examples/{file}", encoding="utf-8").read() for file in text["files"])
        found.append({"id": name.removesuffix(".yaml"), **one})
    return json.dumps(found)

MODULES = marshal.dumps(dict([*modules("/celadon", "celadon"), *modules("/yaml", "yaml")]))
GALLERY = gallery()
`;

/** Code says its lines, and no columns: a quarter less to fetch. */
const LEAN = { PYTHONNODEBUGRANGES: "1", PYTHONHASHSEED: "0" };

export async function packed(celadon, yaml, gallery) {
  const python = await loadPyodide({ env: LEAN });
  const mounts = { "/celadon": celadon, "/yaml": yaml, "/gallery": gallery, "/examples": `${celadon}/../../examples` };
  for (const [place, folder] of Object.entries(mounts)) {
    python.FS.mkdir(place);
    python.mountNodeFS(place, fs.realpathSync(folder));
  }
  python.runPython("import sys, os; sys.dont_write_bytecode = True; os.makedirs('/lib/more'); os.symlink('/yaml', '/lib/more/yaml'); sys.path.append('/lib/more')");
  python.runPython(PACKER);
  const bytes = python.globals.get("MODULES");
  return { modules: bytes.toJs(), gallery: python.globals.get("GALLERY") };
}

/** The memory of a Python that has decided everything in the gallery, its first entry last; packed
 * by gzip. The same modules and gallery give the same bytes, whatever the hour, the folder and chance. */
export async function remembering(modules, gallery) {
  process.argv[1] = "build.mjs"; // which Python is told as its own name
  Date.now = () => 1767225600000; // the first second of 2026
  performance.now = () => 0;
  crypto.getRandomValues = (array) => array.fill(7);
  const python = await loaded(loadPyodide, { _makeSnapshot: true, env: LEAN }, modules);
  const answer = python.globals.get("answer");
  for (const { state } of JSON.parse(gallery).reverse()) {
    for (const question of ["details", "files", "verdict"]) check(answer(question, JSON.stringify(state)));
  }
  answer.destroy();
  python.runPython("import gc, random; random.seed(0); gc.collect(); gc.freeze(); [bytes(1 << 16) for _ in range(256)]; None"); // zeros pack well
  return gzipSync(python.makeMemorySnapshot(), { level: 9 });
}

function check(text) {
  const { error } = JSON.parse(text);
  if (error) throw new Error(`the gallery cannot be decided: ${error}`);
}
