"""Small fleets of dumps, and policies for them."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import yaml

from tests.cli.audit.dumps import Json, json_lines, written
from tests.cli.files import Celadon, binding, policy, write


def config_map(name: str, value: str = "no", namespace: str = "default") -> Json:
    return written("ConfigMap", name, namespace, data={"x": value})


def fleet_file(folder: Path, **sources: list[Json]) -> Path:
    """A fleet with a dump as JSON lines for each source, and `p.json` with a policy beside."""
    write(folder / "p.json", policy(), binding())
    given = []
    for name, objects in sources.items():
        (folder / f"{name}.jsonl").write_bytes(json_lines(objects))
        given.append({"name": name, "dumps": [f"{name}.jsonl"]})
    return written_fleet(folder, given)


def written_fleet(folder: Path, sources: list[Json]) -> Path:
    """The file itself."""
    fleet = {"apiVersion": "celadon.dev/v1", "kind": "Fleet", "sources": sources}
    path = folder / "fleet.yaml"
    path.write_text(yaml.safe_dump(fleet), encoding="utf-8")
    return path


def report(celadon: Celadon, folder: Path, *words: str) -> tuple[int, Any]:
    """What `celadon audit --fleet` says as JSON."""
    base = ("audit", "-f", str(folder / "p.json"), "--fleet", str(folder / "fleet.yaml"))
    code, out, err = celadon(*base, "-o", "json", *words)
    assert err == "", err
    return code, json.loads(out)
