"""Writes the sources in `data/` anew, from OpenAPI documents and reference tables of a release.

    python tools/import_upstream.py FOLDER

reads `FOLDER/reference/{defaults,resources}.json` and `FOLDER/openapi/v3/*.json`. `make packs` then
builds the packs. What OpenAPI documents do not say of a type stays as `data/schemas` has it: the
order of its fields and the columns beside their structure (`pack_sources.COLUMNS`). So do the cells
of printer columns in `data/resources`. Other
corrections made in `data/` by hand are lost unless the tables have them too: read the diff.
"""

from __future__ import annotations

import json
import shutil
import sys
from collections import defaultdict
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

from pack_sources import (
    SOURCES,
    published_details,
    read,
    text_of,
    with_columns,
    with_details,
    with_words,
)

from celadon.kube.schemas.schema_packs import pack

Json = Any
Files = Mapping[str, dict[str, Json]]

_DEFAULTING: Final = ("gates", "allBeta", "sets")


def main(folder: Path, sources: Path = SOURCES) -> None:
    defaults = json.loads((folder / "reference" / "defaults.json").read_text())
    resources = json.loads((folder / "reference" / "resources.json").read_text())
    write(sources / "groups.json", {key: resources[key] for key in ("legacy", "groups")})
    write(sources / "defaulting.json", {key: defaults[key] for key in _DEFAULTING})
    write_all(sources / "resources", resource_files(resources["resources"]))
    write_all(sources / "defaults", default_files(defaults["kinds"]))
    paths = sorted((folder / "openapi" / "v3").glob("*__*.json"))
    documents = [json.loads(path.read_text()) for path in paths]
    files = schema_files(pack(documents, defaults["types"]))
    for type_, details in published_details(documents).items():
        package, _, kind = type_.rpartition(".")
        files[package][kind] = with_details(files[package][kind], details)
    for name, kinds in read(SOURCES / "schemas"):
        for kind, known in kinds.items():
            if kind in files.get(name, {}):
                files[name][kind] = with_columns(files[name][kind], known)
    write_all(sources / "schemas", files)


def write(path: Path, value: Json) -> None:
    path.write_text(text_of(value), encoding="utf-8")


def write_all(folder: Path, files: Files) -> None:
    """The only files of a folder, with what they say sorted by name."""
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    for name, value in files.items():
        write(folder / f"{name}.json", dict(sorted(value.items())))


def resource_files(resources: list[Json]) -> Files:
    found: dict[str, dict[str, Json]] = defaultdict(dict)
    for entry in resources:
        group, version, name = (entry.pop(key) for key in ("group", "version", "resource"))
        found[f"{group or 'core'}.{version}"][name] = entry
    for file, known in read(SOURCES / "resources"):
        for name, entry in found[file].items():
            keep_cells(entry, known.get(name, {}))
    return found


def keep_cells(entry: Json, known: Json) -> None:
    """Gives columns the cells and descriptions that they have in `data/resources`; the reference
    tables only tell in words (`from`) what a cell shows. New columns keep their words."""
    columns = {column["name"]: column for column in known.get("columns", ())}
    for column in entry.get("columns", ()):
        if column["name"] in columns:
            del column["from"]
            kept = columns[column["name"]]
            column.update({key: kept[key] for key in ("cell", "description") if key in kept})
    if "extraCells" in entry:
        entry["extraCells"] = known.get("extraCells", entry["extraCells"])


def default_files(kinds: Mapping[str, Json]) -> Files:
    found: dict[str, dict[str, Json]] = defaultdict(dict)
    for name, rules in kinds.items():
        group, version, kind = ["core", *name.split("/")][-3:]
        found[f"{group}.{version}"][kind] = rules
    return found


def schema_files(types: Mapping[str, Json]) -> Files:
    found: dict[str, dict[str, Json]] = defaultdict(dict)
    for name, entry in types.items():
        package, _, kind = name.rpartition(".")
        entry.pop("complete", None)  # follows from the others
        found[package][kind] = with_words(entry)
    return found


if __name__ == "__main__":
    main(Path(sys.argv[1]))
