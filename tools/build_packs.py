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

from celadon.kube.schemas.schema_packing import pack

DATA = Path(__file__).resolve().parent.parent / "src" / "celadon" / "kube" / "data"


def schemas(folder: Path, encodings: dict[str, Any]) -> dict[str, Any]:
    paths = sorted((folder / "openapi" / "v3").glob("*__*.json"))
    return pack((json.loads(path.read_text()) for path in paths), encodings)


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
