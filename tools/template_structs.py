"""Write `celadon/kube/data/template_structs.txt`: the Go structures below a pod template.

    python -m tools.template_structs 1.35=FOLDER 1.36=FOLDER ...

Each folder is a repository of Kubernetes, of which `api/core/v1` and
`apimachinery/pkg/apis/meta/v1` are read. The last release is described whole; of older ones
the fields that differ.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Final

from tools.go_structs import GoSources

OUTPUT: Final = Path("src/celadon/kube/data/template_structs.txt")
CORE: Final = "io.k8s.api.core.v1"
META: Final = "io.k8s.apimachinery.pkg.apis.meta.v1"
ROOT: Final = "PodTemplateSpec"
_OPAQUE: Final = {"Time", "FieldsV1"}
_JSON: Final = re.compile(r'json:"([^",]*)')
HEAD: Final = """\
# The Go structures below v1.PodTemplateSpec, of which hashes of templates are made: the names and
# types of all fields in their order, from k8s.io/api core/v1 and k8s.io/apimachinery meta/v1.
# Written by tools/template_structs.py, read by template_hashes.py.
#
#   STRUCT
#    FIELD NAME TYPE [FROM-UNTIL]
#
# NAME is that in JSON, + for a structure whose fields stand in the same JSON object, - for none.
# Releases are those that have a field or a structure so; all where nothing is said.
"""

Line = tuple[str, str, str]
Structs = Mapping[str, Sequence[Line]]


def structs_of(sources: GoSources) -> dict[str, list[Line]]:
    """All that are below a pod template, by name."""
    known = {**sources.structs(META), **sources.structs(CORE)}
    found: dict[str, list[Line]] = {}
    waiting = [ROOT]
    while waiting:
        name = waiting.pop()
        if name in found or name not in known:
            continue
        found[name] = list(_lines(known[name]))
        for _, _, type_ in found[name]:
            inner = re.sub(r"^(\*|\[\]|map\[string\])+", "", type_).removeprefix("v1.")
            if inner not in _OPAQUE:
                waiting.append(inner)
    return found


def _lines(fields: Sequence[tuple[str, str, str]]) -> Iterator[Line]:
    for name, go_type, tag in fields:
        bare = go_type.lstrip("*[]").removeprefix("map[string]").replace("metav1.", "v1.")
        prefix = go_type.removesuffix(go_type.lstrip("*[]").removeprefix("map[string]"))
        if "." not in bare and bare[0].isupper():
            bare = f"v1.{bare}"
        json = _JSON.search(tag)
        key = json[1] if json else ""
        yield name or bare.rpartition(".")[2], key or "+", prefix + bare


def merged(releases: Mapping[str, Structs]) -> Iterator[str]:
    """The lines of the file."""
    every = list(releases)
    for name in sorted({one for found in releases.values() for one in found}):
        having = [release for release in every if name in releases[release]]
        yield name
        order: list[Line] = []
        for release in having:
            _insert(order, releases[release][name])
        for line in order:
            present = [one for one in having if line in releases[one][name]]
            mark = "" if present == having else f" {present[0]}-{present[-1]}"
            yield f" {' '.join(line)}{mark}"


def _insert(order: list[Line], lines: Sequence[Line]) -> None:
    """Add lines that are new after the ones that stand before them."""
    place = 0
    for line in lines:
        if line in order:
            place = order.index(line) + 1
        else:
            order.insert(place, line)
            place += 1


def main(arguments: Sequence[str]) -> None:
    """Read the folders that are named, and write the file."""
    named = (one.partition("=") for one in arguments)
    releases = {name: structs_of(GoSources(Path(folder))) for name, _, folder in named}
    OUTPUT.write_text(HEAD + "\n".join(merged(releases)) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main(sys.argv[1:])
