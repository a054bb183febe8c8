// How Python begins, in a browser's worker as in node: from an image of its memory, or afresh.
//
// The image (python_pack.mjs) was made when Celadon was loaded and had decided something, so that
// nothing is imported and no data is decoded while somebody waits. Afresh, imports come from a dict
// of bytecode.

const LOADER = `
import gc, marshal, sys
from importlib.machinery import ModuleSpec

class Packed:
    """Finds, loads and reads what is packed."""

    def __init__(self, files):
        self.files = files

    def find_spec(self, name, path=None, target=None):
        place = "/packed/" + name.replace(".", "/")
        for file, package in ((place + "/__init__.py", True), (place + ".py", False)):
            if file in self.files:
                spec = ModuleSpec(name, self, origin=file, is_package=package)
                spec.has_location = True
                if package:
                    spec.submodule_search_locations = [place]
                return spec
        return None

    def create_module(self, spec):
        return None

    def exec_module(self, module):
        exec(marshal.loads(self.files.pop(module.__spec__.origin)), module.__dict__)

    def get_data(self, path):
        return self.files[path]

packed = Packed(marshal.loads(PACKED.to_bytes()))
sys.meta_path.insert(0, packed)
del PACKED
gc.disable()
from celadon.cli.playground.browser_api import answer, proof
gc.enable()
gc.freeze()
`;

const PROVER_LOADER = `
import os
for place, content in marshal.loads(PROVER.to_bytes()).items():
    if place.startswith("/packed/"):
        packed.files[place] = content
    else:
        os.makedirs(os.path.dirname(place), exist_ok=True)
        with open(place, "wb") as stream:
            stream.write(content)
del PROVER, place, content
sys.path.append("/solver")
`;

/** Adds what proofs need, the solver included, to a Python with Celadon; its `proof(question, given, tell)`. */
export function learnToProve(python, pack) {
  python.globals.set("PROVER", pack);
  python.runPython(PROVER_LOADER);
  return python.globals.get("proof");
}

/** Python with Celadon loaded from a pack. `options` are those of loadPyodide. */
export async function loaded(loadPyodide, options, pack) {
  const python = await loadPyodide(options);
  python.globals.set("PACKED", await pack);
  python.runPython(LOADER);
  return python;
}

/** The same from an image; `create` is the default export of pyodide.asm.mjs. Throws where an engine
 * cannot take it. */
export async function remembered(loadPyodide, options, create, image) {
  const memory = await image;
  return loadPyodide({
    ...options,
    _loadSnapshot: memory,
    async createPyodideModule(settings) {
      const module = await create(settings);
      module._free(module._malloc(memory.length)); // the memory grows, or the image would not fit
      return module;
    },
  });
}
