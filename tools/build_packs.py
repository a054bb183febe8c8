"""Builds the data packs of `celadon.kube` from the sources in `data/`: `make packs`.

    python tools/build_packs.py [SOURCES [PACKS]]

writes `src/celadon/kube/data/<name>.json.z` (JSON, compressed with zlib):

    resources   groups and resources a server knows: see kube/resources/api_resources.py
    columns     printer columns per resource: see kube/resources/api_resources.py
    texts       what documents say in words: see kube/resources/api_resources.py
    defaults    defaulting rules per kind: see kube/defaulting/defaulting_rules.py
    schemas     structure of every API type: see kube/schemas/schema_packs.py
    messages    the same types in protobuf: see kube/protobuf/message_table.py
    rules       simple rules for their fields: see kube/validation/field_checks.py
    internals   some of them as they are inside of a server: see
                kube/validation/pods/internal_types.py
    gates       the stages of feature gates: see kube/resources/feature_gates.py
    releases    how the packs of older releases differ: see kube/schemas/schema_packs.py

The same sources give the same JSON. A pack that already says it is left as it is, for not every
zlib compresses to the same bytes.
"""

from __future__ import annotations

import json
import sys
import zlib
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

from field_rule_sources import rule_pack
from internal_sources import internal_pack
from message_sources import message_pack
from pack_sources import ROOT, SOURCES, Sources, every_source, structure
from release_sources import pack_change, release_changes, release_sources

from celadon.kube.schemas.schema_packs import completed

Json = Any

PACKS: Final = ROOT / "src" / "celadon" / "kube" / "data"
_COLUMNS: Final = ("columns", "extraCells")


def texts(sources: Path) -> dict[str, str]:
    """The JSON of each pack."""
    every = every_source(sources)
    packs = packs_of(every)
    packs["releases"] = release_pack(packs, every, sources)
    gates = sources / "feature_gates.json"
    packs["gates"] = json.loads(gates.read_text(encoding="utf-8"))
    return {
        name: json.dumps(pack, ensure_ascii=False, separators=(",", ":"))
        for name, pack in packs.items()
    }


def packs_of(sources: Sources) -> dict[str, Json]:
    """The packs of one release."""
    resources = _resources(sources)
    return {
        "resources": {
            **sources["groups"],
            "resources": [_without(one, _COLUMNS) for one in resources],
        },
        "texts": sources["texts"],
        "columns": {**sources["columns"], "resources": _columns(resources)},
        "defaults": {**sources["defaulting"], "kinds": _defaults(sources)},
        "schemas": _schemas(sources),
        "messages": message_pack(sources),
        "internals": internal_pack(sources),
        "rules": rule_pack(sources),
    }


def release_pack(packs: Mapping[str, Json], sources: Sources, folder: Path) -> Json:
    """By release, from the newest to the oldest, how its packs differ from those of the release
    after it."""
    differences = {}
    for release, change in release_changes(folder):
        sources = release_sources(sources, change)
        newer, packs = packs, packs_of(sources)
        made = {name: pack_change(name, newer[name], pack) for name, pack in packs.items()}
        kept = {name: one for name, one in made.items() if one}
        differences[release] = {"gitVersion": change["gitVersion"], "packs": kept}
    return differences


def _without(entry: Json, keys: tuple[str, ...]) -> Json:
    return {key: value for key, value in entry.items() if key not in keys}


def _columns(resources: list[Json]) -> dict[str, Json]:
    return {
        _name(one): {key: one[key] for key in _COLUMNS if key in one}
        for one in resources
        if "columns" in one
    }


def _name(resource: Json) -> str:
    return "/".join((resource["group"], resource["version"], resource["resource"]))


def _resources(sources: Sources) -> list[Json]:
    """In the order of discovery: groups and versions as `groups.json` has them."""
    files = dict(sources["resources"])
    groups = sources["groups"]
    found = []
    for group in (groups["legacy"], *groups["groups"]):
        for version in group["versions"]:
            name = group.get("group", group.get("name"))
            for resource, entry in sorted(files.pop(f"{name or 'core'}.{version}", {}).items()):
                found.append({"group": name, "version": version, "resource": resource, **entry})
    assert not any(files.values()), f"not in groups.json: {', '.join(files)}"
    return found


def _defaults(sources: Sources) -> dict[str, Json]:
    found = {}
    for name, kinds in sources["defaults"].items():
        group, _, version = name.rpartition(".")
        prefix = version if group == "core" else f"{group}/{version}"
        found.update({f"{prefix}/{kind}": rules for kind, rules in kinds.items()})
    return found


def _schemas(sources: Sources) -> dict[str, Json]:
    return completed(
        {
            f"{package}.{name}": structure(entry)
            for folder in ("schemas", "unpublished")
            for package, types in sources[folder].items()
            for name, entry in types.items()
        }
    )


def main(sources: Path = SOURCES, packs: Path = PACKS) -> None:
    for name, text in texts(sources).items():
        path = packs / f"{name}.json.z"
        if not path.exists() or zlib.decompress(path.read_bytes()) != text.encode():
            path.write_bytes(zlib.compress(text.encode(), 9))
            sys.stdout.write(f"{path.name}: {len(text)} characters\n")


if __name__ == "__main__":
    main(*map(Path, sys.argv[1:]))
