// Python that runs before Celadon: imports come from a dict of bytecode (python_pack.mjs).

export const LOADER = `
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
        exec(marshal.loads(self.files[module.__spec__.origin]), module.__dict__)

    def get_data(self, path):
        return self.files[path]

sys.meta_path.insert(0, Packed(marshal.loads(PACKED.to_bytes())))
gc.disable()
from celadon.cli.playing.browser_door import answer
gc.enable()
gc.freeze()
answer
`;
