"""What is given of releases, in the form that `tools/next_release.py` reads, and `data/` as it was
before a release came.

Of 1.36 there is no folder below `../shared/releases`: its discovery documents are made of the
reference table of resources, without those of which no OpenAPI document has the kind.
"""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from tests.paths import shared
from tests.recorded.scenarios import USUAL

Json = Any


def given(release: str, folder: Path) -> Path:
    """The folder of that release; skips the test where it is not there."""
    if release != USUAL:
        return shared("releases", release)
    documents = shared("openapi", "v3")
    table = json.loads(shared("reference", "resources.json").read_text(encoding="utf-8"))
    kinds = frozenset(_kinds(documents))
    known = [one for one in table["resources"] if _kind(one) in kinds]
    folder.mkdir(parents=True)
    (folder / "openapi").symlink_to(documents.parent)
    version = {"release": release, "gitVersion": f"v{release}.0"}
    (folder / "version.json").write_text(json.dumps(version))
    for name, resources, versions in (
        ("discovery-all.json", known, "versions"),
        ("discovery-default.json", [one for one in known if one["default"]], "defaultVersions"),
    ):
        legacy = {"/apis": _groups(table["groups"], versions), **_lists(resources)}
        (folder / name).write_text(json.dumps({"legacy": legacy}))
    return folder


def _kinds(documents: Path) -> Iterator[tuple[str, str, str]]:
    for path in documents.glob("*.json"):
        for schema in (
            json.loads(path.read_text()).get("components", {}).get("schemas", {}).values()
        ):
            for one in schema.get("x-kubernetes-group-version-kind", ()):
                yield one["group"], one["version"], one["kind"]


def _kind(entry: Json) -> tuple[str, str, str]:
    return entry["group"], entry["version"], entry["kind"]


def _groups(groups: list[Json], key: str) -> Json:
    found = []
    for group in groups:
        versions = [
            {"groupVersion": f"{group['name']}/{version}", "version": version}
            for version in group[key]
        ]
        if versions:
            preferred = next(one for one in versions if one["version"] == group["preferred"])
            found.append(
                {"name": group["name"], "versions": versions, "preferredVersion": preferred}
            )
    return {"kind": "APIGroupList", "groups": found}


def _lists(resources: list[Json]) -> dict[str, Json]:
    lists: dict[str, Json] = {}
    for entry in resources:
        group, version = entry["group"], entry["version"]
        named = f"{group}/{version}" if group else version
        path = f"/apis/{named}" if group else f"/api/{named}"
        members = lists.setdefault(path, {"groupVersion": named, "resources": []})["resources"]
        members += _listed(entry)
    return lists


def _listed(entry: Json) -> Iterator[Json]:
    keys = ("namespaced", "kind", "verbs", "shortNames", "categories", "storageVersionHash")
    same = {key: entry[key] for key in keys if key in entry}
    yield {"name": entry["resource"], "singularName": entry["singular"], **same}
    for sub in entry.get("subresources", ()):
        group, _, version = sub.get("groupVersion", "").rpartition("/")
        yield {
            "name": f"{entry['resource']}/{sub['name']}",
            "singularName": "",
            "namespaced": entry["namespaced"],
            "kind": sub["kind"],
            "verbs": sub["verbs"],
            **({"group": group, "version": version} if version else {}),
        }


def rolled_back(tools: Any, data: Path, release: str) -> None:
    """Makes `data` describe an older release, of which it has a file: as if no newer one was ever
    known. `tools` has what `tools/next_release.py` has."""
    sources = tools.every_source(data)
    for name, change in tools.release_changes(data):
        sources = tools.release_sources(sources, change)
        (data / "releases" / f"{name}.json").unlink()
        if name == release:
            break
    for part in tools.FOLDERS:
        shutil.rmtree(data / part)
        (data / part).mkdir()
    for part in (*tools.FILES, *tools.FOLDERS):
        tools.write_part(data, part, sources[part])
    path = data / "feature_gates.json"
    histories = json.loads(path.read_text(encoding="utf-8"))
    path.write_text(
        json.dumps(
            {name: kept for name, all_ in histories.items() if (kept := until(all_, release))}
        )
    )


def until(history: list[Json], release: str) -> list[Json]:
    """The stages of a gate that began in that release or before."""
    return [stage for stage in history if numbers(stage["since"]) <= numbers(release)]


def numbers(release: str) -> tuple[int, ...]:
    return tuple(map(int, release.split(".")))
