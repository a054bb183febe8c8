"""The data packs that ship with this room: compressed JSON beside the code, read when first needed.

This is the one place of `kube` that reads files, and it reads only what belongs to the package
itself, through the loader that also found the code. `make packs` builds them from the sources in
`data/` at the root of the repository. What `load` returns is shared: nobody may change it.
"""

from __future__ import annotations

import functools
import json
import pkgutil
import zlib
from typing import Any


@functools.cache
def load(name: str) -> Any:
    """The JSON of `resources`, `columns`, `defaults`, `schemas`, `messages`, `internals` or
    `rules`. Raises FileNotFoundError for others."""
    packed = pkgutil.get_data("celadon.kube", f"data/{name}.json.z")
    if packed is None:
        raise ImportError(f"the data pack {name} of celadon.kube cannot be read")
    return json.loads(zlib.decompress(packed))
