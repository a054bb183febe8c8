// Celadon for the browser: every module as bytecode of the very Python that will run it, in one file,
// and an image of that Python's memory once it has decided everything in the gallery. What only proofs
// need is in a file of its own, with the solver.
//
// Imports from a file system that lives in JavaScript are slow; python_loader.js takes modules from a
// dict instead. It holds what the page's door imports, at once or later, without rooms that need sockets,
// processes or a terminal.

import nodeCrypto from "node:crypto";
import fs from "node:fs";
import { gzipSync } from "node:zlib";
import { loadPyodide } from "pyodide";
import { loaded } from "./src/python_loader.js";

const PACKER = String.raw`
import ast, json, marshal, os, yaml, zipfile
from importlib.util import MAGIC_NUMBER

DOOR = "celadon.cli.playground.browser_api"
OUT = ("apiserver", "cli.audit", "cli.bootstrap", "cli.commands", "cli.replay", "migrate", "storage",
    "testing", "webhook")
PROVING = ("cli.diff", "cli.playground.proving", "cli.proof", "cli.property_proofs",
    "cli.report.proof_view", "prove")

def files(root, package):
    for parent, folders, names in os.walk(root):
        folders.sort()
        for name in sorted(names):
            if not name.endswith((".so", ".pyc", ".typed")) and "/playground/site" not in parent:
                below = os.path.relpath(os.path.join(parent, name), root)
                with open(os.path.join(root, below), "rb") as stream:
                    yield f"{package}/{below}", stream.read()

def module(file):
    return file.removesuffix(".py").removesuffix("/__init__").replace("/", ".")

def named(source):
    """Modules that a module may import, now or later."""
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Import):
            yield from (one.name for one in node.names)
        elif isinstance(node, ast.ImportFrom):
            yield from (f"{node.module}.{one.name}" for one in node.names)
        elif isinstance(node, ast.Constant) and str(node.value).startswith("celadon."):
            yield node.value

def reached(sources, out):
    """The modules that the page can need."""
    waiting, found = [DOOR], set()
    while waiting:
        name = waiting.pop()
        while name and not name.startswith(tuple(f"celadon.{one}" for one in out)):
            if name in sources and name not in found:
                found.add(name)
                waiting += named(sources[name])
            name = name.rpartition(".")[0]
    return found

def modules(everything, needed):
    for file, content in everything.items():
        if not file.endswith(".py"):
            package = file.rpartition("/")[0]
            while f"{package}/__init__.py" not in everything:
                package = package.rpartition("/")[0]
            if module(package) in needed:
                yield f"/packed/{file}", content
        elif module(file) in needed:
            yield f"/packed/{file}", bytecode(f"/packed/{file}", content)

def bytecode(file, source):
    return marshal.dumps(compile(source, file, "exec", dont_inherit=True, optimize=2))

def solver():
    """The modules of z3 and its library, as files."""
    with zipfile.ZipFile("/solver.whl") as wheel:
        for name in sorted(wheel.namelist()):
            if name.startswith("z3/") and name.endswith(".py"):
                code = bytecode(f"/solver/{name}", wheel.read(name))
                yield f"/solver/{name}c", MAGIC_NUMBER + bytes(12) + code
        yield "/solver/z3/lib/libz3.so", wheel.read("z3/lib/libz3.so")

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

def sources(everything):
    return {module(file): text for file, text in everything.items() if file.endswith(".py")}

CELADON, YAML = dict(files("/celadon", "celadon")), dict(files("/yaml", "yaml"))
NEEDED = reached(sources(CELADON), (*OUT, *PROVING))
MODULES = marshal.dumps(dict([*modules(CELADON, NEEDED), *modules(YAML, {*sources(YAML)})]))
GALLERY = gallery()
PROVER = b""
if os.path.exists("/solver.whl"):
    code = [one for one in modules(CELADON, reached(sources(CELADON), OUT) - NEEDED) if one[0].endswith(".py")]
    PROVER = marshal.dumps(dict([*code, *solver()]))
`;

/** Code says its lines, and no columns: a quarter less to fetch. */
const LEAN = { PYTHONNODEBUGRANGES: "1", PYTHONHASHSEED: "0" };

/** {modules, gallery, prover}; `solver` is the wheel of z3, without which there is no prover. */
export async function packed(celadon, yaml, gallery, solver) {
  const python = await loadPyodide({ env: LEAN });
  const mounts = { "/celadon": celadon, "/yaml": yaml, "/gallery": gallery, "/examples": `${celadon}/../../examples` };
  for (const [place, folder] of Object.entries(mounts)) {
    python.FS.mkdir(place);
    python.mountNodeFS(place, fs.realpathSync(folder));
  }
  if (solver) python.FS.writeFile("/solver.whl", fs.readFileSync(solver));
  python.runPython("import sys, os; sys.dont_write_bytecode = True; os.makedirs('/lib/more'); os.symlink('/yaml', '/lib/more/yaml'); sys.path.append('/lib/more')");
  python.runPython(PACKER);
  const [modules, prover] = ["MODULES", "PROVER"].map((name) => python.globals.get(name).toJs());
  return { modules, gallery: python.globals.get("GALLERY"), prover: solver && gzipSync(prover, { level: 9 }) };
}

/** The memory of a Python that has decided everything in the gallery, its first entry last; packed
 * by gzip. The same modules and gallery give the same bytes, whatever the hour, the folder and chance. */
export async function remembering(modules, gallery) {
  process.argv[1] = "build.mjs"; // which Python is told as its own name
  Date.now = () => 1767225600000; // the first second of 2026
  performance.now = () => 0;
  globalThis.crypto.getRandomValues = nodeCrypto.randomFillSync = (array) => array.fill(7);
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
