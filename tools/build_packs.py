"""Builds the data packs of `celadon.kube` from reference tables and OpenAPI documents.

    python tools/build_packs.py FOLDER

reads `FOLDER/reference/{defaults,resources}.json` and `FOLDER/openapi/v3/*.json` and writes
`src/celadon/kube/data/<name>.json.z` (JSON, compressed with zlib):

    defaults    defaulting rules per kind: see kube/defaulting/rules.py
    resources   groups and resources a server knows: see kube/resources.py
    columns     printer columns per resource, in the order of `resources`
    schemas     structure of every API type: see kube/schema.py

The same input gives the same bytes.
"""

from __future__ import annotations

import json
import sys
import zlib
from pathlib import Path
from typing import Any

DATA = Path(__file__).resolve().parent.parent / "src" / "celadon" / "kube" / "data"
REFERENCE_PREFIX = "#/components/schemas/"
SCALARS = {
    ("string", ""): "s",
    ("string", "byte"): "y",
    ("integer", "int32"): "i",
    ("integer", "int64"): "l",
    ("number", "double"): "d",
    ("boolean", ""): "b",
}
KEPT = {
    "enum": "enum",
    "x-kubernetes-list-type": "list",
    "x-kubernetes-list-map-keys": "keys",
    "x-kubernetes-map-type": "map",
    "x-kubernetes-patch-merge-key": "mergeKey",
    "x-kubernetes-patch-strategy": "patch",
}
ZERO_MARKERS: tuple[Any, ...] = ({}, "", 0, False)


def node(schema: dict[str, Any]) -> Any:
    """A field: a scalar's letter, or an object with what else there is to know about it."""
    made: dict[str, Any] = {}
    reference = schema.get("$ref") or next((x["$ref"] for x in schema.get("allOf", ())), None)
    if reference:
        made["ref"] = reference.removeprefix(REFERENCE_PREFIX)
    elif schema.get("type") == "array":
        made["items"] = node(schema["items"])
    elif schema.get("type") == "object":
        made["values"] = node(schema["additionalProperties"])
    else:
        made["type"] = SCALARS[schema["type"], schema.get("format", "")]
    for key, short in KEPT.items():
        if key in schema:
            made[short] = schema[key]
    default = schema.get("default")
    if default is not None and default not in ZERO_MARKERS:
        made["default"] = default
    return made["type"] if list(made) == ["type"] else made


def component(schema: dict[str, Any], encoding: dict[str, Any]) -> dict[str, Any]:
    made: dict[str, Any] = {}
    if "properties" in schema:
        made["fields"] = {name: node(field) for name, field in schema["properties"].items()}
    if "required" in schema:
        made["required"] = schema["required"]
    kinds = schema.get("x-kubernetes-group-version-kind", ())
    if len(kinds) == 1:
        made["gvk"] = [kinds[0]["group"], kinds[0]["version"], kinds[0]["kind"]]
    if "x-kubernetes-map-type" in schema:
        made["map"] = schema["x-kubernetes-map-type"]
    return made | encoding


def schemas(folder: Path, encodings: dict[str, Any]) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for path in sorted((folder / "openapi" / "v3").glob("*__*.json")):
        for name, schema in json.loads(path.read_text())["components"]["schemas"].items():
            found[name] = component(schema, encodings.get(name, {}))
    mark_incomplete(found)
    return dict(sorted(found.items()))


def mark_incomplete(components: dict[str, Any]) -> None:
    """`complete`: encoding must look for fields that are always written, here or further below."""
    marked = {
        name
        for name, made in components.items()
        if any(zero != {} for zero in made.get("always", {}).values())
    }
    grown = True
    while grown:
        above = {
            name
            for name, made in components.items()
            if name not in marked and any(map(marked.__contains__, references(made)))
        }
        marked |= above
        grown = bool(above)
    for name in marked:
        components[name]["complete"] = True


def references(made: dict[str, Any]) -> list[str]:
    """The components that the fields of one hold, directly, in lists or in maps."""
    found = []
    for field in made.get("fields", {}).values():
        while isinstance(field, dict) and ("items" in field or "values" in field):
            field = field.get("items") or field.get("values")
        if isinstance(field, dict) and "ref" in field:
            found.append(field["ref"])
    return found


def write(name: str, value: Any) -> None:
    text = json.dumps(value, ensure_ascii=False, separators=(",", ":"))
    packed = zlib.compress(text.encode(), 9)
    (DATA / f"{name}.json.z").write_bytes(packed)
    sys.stdout.write(f"{name}: {len(text)} characters, {len(packed)} bytes packed\n")


def main(folder: Path) -> None:
    defaults = json.loads((folder / "reference" / "defaults.json").read_text())
    resources = json.loads((folder / "reference" / "resources.json").read_text())
    columns = [
        {"columns": entry.pop("columns", []), "extraCells": entry.pop("extraCells", [])}
        for entry in resources["resources"]
    ]
    encodings = defaults.pop("types")
    DATA.mkdir(exist_ok=True)
    write("defaults", {key: defaults[key] for key in ("gates", "allBeta", "sets", "kinds")})
    write("resources", {key: resources[key] for key in ("legacy", "groups", "resources")})
    write("columns", columns)
    write("schemas", schemas(folder, encodings))


if __name__ == "__main__":
    main(Path(sys.argv[1]))
