"""Writes `data/releases/MINOR.json`: what a release has differently from the next newer one.

    python tools/import_release.py FOLDER GO_SOURCES NEWER_GO_SOURCES

reads `FOLDER/{version,discovery-all,discovery-default}.json` and `FOLDER/openapi/v3/*.json`, what a
server of that release answers with every API version enabled, and struct tags in the Go sources of
it and of the next newer release. Sources of newer releases have to be there already. The file is
written anew but for what it says that no document tells (`KEPT_PARTS`); make the packs afterwards.

What documents do not tell of a type or resource stays as the next newer release has it, or as the
next higher version of the same resource has it (`_sibling`). A resource that is only served with a
feature gate (`GATED`) is in no document: it stays as long as the Go sources have its type.
"""

from __future__ import annotations

import base64
import copy
import hashlib
import json
import re
import sys
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any, Final

from go_structs import GoFacts, GoSources
from pack_sources import (
    DETAILS,
    SOURCES,
    Sources,
    every_source,
    levels_of,
    published_details,
    structure,
    text_of,
    with_columns,
    with_details,
    with_words,
)
from release_sources import difference, release_changes, release_sources

from celadon.kube.defaulting.defaulting_context import Each, parse_path
from celadon.kube.schemas.schema_packs import pack

Json = Any

DOCUMENTED: Final = ("groups", "resources", "schemas", "defaulting", "defaults")
"""Parts of the sources that documents of a release tell something about."""

KEPT_PARTS: Final = ("columns", "messages", "unpublished", "more")
"""Parts of a file that no document tells. `more` is a patch of the sources that comes last."""

GATED: Final = {
    ("certificates.k8s.io", "clustertrustbundles"): ("certificates", "ClusterTrustBundle"),
    ("certificates.k8s.io", "podcertificaterequests"): ("certificates", "PodCertificateRequest"),
    ("storagemigration.k8s.io", "storageversionmigrations"): (
        "storagemigration",
        "StorageVersionMigration",
    ),
}
"""Resources that no document has, by group and name: the Go package and the kind."""

GATED_VERSIONS: Final = {"scheduling.k8s.io": "scheduling"}
"""Groups with alpha versions that no document has, and their Go packages. Each release has another
such version: those of older ones stand in `more`."""

_VERSION: Final = re.compile(r"v(\d+)(?:(alpha|beta)(\d+))?")
_STANDARD_LABELS: Final = ("metadata.name", "metadata.namespace")


def main(folder: Path, go: Path, newer_go: Path, data: Path = SOURCES) -> None:
    version = json.loads((folder / "version.json").read_text())
    release = version["release"]
    newer = every_source(data)
    kept: Json = {}
    for name, change in release_changes(data):
        if name == release:
            kept = change
            break
        newer = release_sources(newer, change)
    older = NeighbourRelease(newer, folder, GoSources(go), GoSources(newer_go)).sources()
    more = {part: kept[part] for part in KEPT_PARTS if part in kept}
    write_change(data, release, version["gitVersion"], changes(newer, older, DOCUMENTED) | more)


def changes(newer: Sources, older: Sources, parts: Iterable[str]) -> Json:
    """How these parts of a release's sources differ from those of the next newer one."""
    made = {part: difference(newer[part], older[part], is_ordered=True) for part in parts}
    return {part: dict(sorted(change.items())) for part, change in made.items() if change}


def write_change(data: Path, release: str, git_version: str, change: Json) -> None:
    """Writes `data/releases/MINOR.json`."""
    path = data / "releases" / f"{release}.json"
    path.parent.mkdir(exist_ok=True)
    text = text_of({"gitVersion": git_version, **change}, levels_of(path))
    path.write_text(text, encoding="utf-8")


def version_rank(version: str) -> tuple[int, int, int]:
    """The place of a version among those of its group: later and more stable ones are higher."""
    match = _VERSION.fullmatch(version)
    if match is None:
        return (0, 0, 0)
    stability = {None: 2, "beta": 1, "alpha": 0}[match[2]]
    return (stability, int(match[1]), int(match[3] or 0))


def nearest_version(version: str, versions: Iterable[str]) -> str | None:
    """The next higher of other versions; where there is none, the highest lower one."""
    others = sorted(versions, key=version_rank)
    higher = [one for one in others if version_rank(one) > version_rank(version)]
    lower = [one for one in others if version_rank(one) < version_rank(version)]
    return higher[0] if higher else (lower[-1] if lower else None)


def storage_version(hash_: str, kind: str, group_versions: list[tuple[str, str]]) -> str:
    """The version that makes this hash, the one that objects are stored in; empty for none."""
    for group, version in group_versions:
        digest = hashlib.sha256(f"{group}/{version}/{kind}".encode()).digest()
        if base64.b64encode(digest[:8]).decode() == hash_:
            return version
    return ""


class NeighbourRelease:
    """The sources of a release, made of those of a neighbour, `base`, and of its own documents.
    Without Go sources of both, all that stands only there stays as the neighbour has it."""

    def __init__(
        self,
        base: Sources,
        folder: Path,
        go: GoSources | None = None,
        base_go: GoSources | None = None,
    ) -> None:
        self._base = base
        self._go, self._base_go = go, base_go
        files = sorted((folder / "openapi" / "v3").glob("*__*.json"))
        documents = [json.loads(path.read_text()) for path in files]
        self._types = pack(documents, {})
        self._details = published_details(documents)
        self._all = json.loads((folder / "discovery-all.json").read_text())["legacy"]
        self._default = json.loads((folder / "discovery-default.json").read_text())["legacy"]

    def sources(self) -> Sources:
        resources = self._resources()
        schemas = self._schemas(resources)
        rules = KnownFields(schemas, self._base["defaulting"]["sets"])
        defaults = rules.of_kinds(self._defaults(resources))
        return {
            **self._base,
            "groups": self._groups(resources),
            "resources": resources,
            "schemas": schemas,
            "defaulting": {**self._base["defaulting"], "sets": rules.sets()},
            "defaults": defaults,
        }

    # Groups

    def _groups(self, resources: Json) -> Json:
        served = {group["name"]: group for group in self._all["/apis"]["groups"]}
        default = {group["name"]: group for group in self._default["/apis"]["groups"]}
        groups = []
        known = {group["name"]: group for group in self._base["groups"]["groups"]}
        names = [*served, *(name for name in known if name not in served)]
        for name in names:
            ordered = [one["version"] for one in served.get(name, {}).get("versions", ())]
            files = (file.rpartition(".") for file in resources)
            gated = {version for group, _, version in files if group == name} - set(ordered)
            if gated:
                ordered = sorted({*ordered, *gated}, key=version_rank, reverse=True)
            if not ordered:
                continue
            preferred = served.get(name, {}).get("preferredVersion", {}).get("version", ordered[0])
            groups.append(
                {
                    "name": name,
                    "versions": ordered,
                    "preferred": preferred,
                    "defaultVersions": [
                        one["version"] for one in default.get(name, {}).get("versions", ())
                    ],
                }
            )
        return {"legacy": self._base["groups"]["legacy"], "groups": groups}

    # Resources

    def _resources(self) -> dict[str, dict[str, Json]]:
        files: dict[str, dict[str, Json]] = {}
        for path, listed in self._all.items():
            if path == "/apis":
                continue
            group, _, version = listed["groupVersion"].rpartition("/")
            defaults = {one["name"] for one in self._default.get(path, {}).get("resources", ())}
            entries = files.setdefault(f"{group or 'core'}.{version}", {})
            for one in listed["resources"]:
                name, _, sub = one["name"].partition("/")
                if not sub:
                    entries[name] = self._resource(group, version, one, is_default=name in defaults)
            for one in listed["resources"]:
                name, _, sub = one["name"].partition("/")
                if sub:
                    entry = entries.setdefault(name, {})
                    known = self._known(group, version, name) or {}
                    entry.setdefault("subresources", []).append(_subresource(sub, one, known))
        for group, name in GATED:
            for version in self._gated_versions(group, name):
                file = f"{group}.{version}"
                files.setdefault(file, {})[name] = self._gated(group, version, name)
        self._add_equivalents(files)
        return {
            name: {resource: _in_order(entry) for resource, entry in sorted(entries.items())}
            for name, entries in sorted(files.items())
        }

    def _known(self, group: str, version: str, name: str) -> Json:
        """The same resource in the neighbour, or another version of it there."""
        own = self._base["resources"].get(f"{group or 'core'}.{version}", {}).get(name)
        if own is not None:
            return own
        sibling = self._sibling(group, version, name)
        return None if sibling is None else self._base["resources"][f"{group}.{sibling}"][name]

    def _sibling(self, group: str, version: str, name: str) -> str | None:
        versions = [
            file.rpartition(".")[2]
            for file, entries in self._base["resources"].items()
            if file.rpartition(".")[0] == (group or "core") and name in entries
        ]
        return nearest_version(version, versions)

    def _resource(self, group: str, version: str, one: Json, *, is_default: bool) -> Json:
        known = self._known(group, version, one["name"]) or {}
        entry = {
            "kind": one["kind"],
            "singular": one["singularName"],
            "namespaced": one["namespaced"],
            "verbs": one["verbs"],
            "default": is_default,
        }
        for key in ("shortNames", "categories"):
            if one.get(key):
                entry[key] = one[key]
        hash_ = one.get("storageVersionHash")
        if hash_:
            places = [tuple(file.rpartition("/")[::2]) for file in _group_versions(self._all)]
            stored = storage_version(hash_, one["kind"], places)
            entry["storageVersion"] = stored or known.get("storageVersion", "")
            entry["storageVersionHash"] = hash_
        labels = _STANDARD_LABELS if one["namespaced"] else _STANDARD_LABELS[:1]
        if "fieldSelectors" in known or "list" in one["verbs"]:
            entry["fieldSelectors"] = known.get("fieldSelectors", list(labels))
        for key in ("columns", "extraCells"):
            if key in known:
                entry[key] = known[key]
        return entry

    def _gated(self, group: str, version: str, name: str) -> Json:
        known = copy.deepcopy(self._known(group, version, name))
        known.pop("equivalent", None)
        # Those resources were never stored in a lower version than the highest.
        stored = self._gated_versions(group, name)[-1]
        text = f"{group}/{stored}/{known['kind']}".encode()
        hash_ = base64.b64encode(hashlib.sha256(text).digest()[:8]).decode()
        return {**known, "storageVersion": stored, "storageVersionHash": hash_}

    def _gated_versions(self, group: str, name: str) -> list[str]:
        """Those that have the type: in the Go sources, or without any in the neighbour."""
        package, kind = GATED[group, name]

        def has(version: str) -> bool:
            if self._go is None:
                return name in self._base["resources"].get(f"{group}.{version}", {})
            return self._go.facts(f"io.k8s.api.{package}.{version}.{kind}") is not None

        return [version for version in ("v1alpha1", "v1beta1") if has(version)]

    def _add_equivalents(self, files: Mapping[str, dict[str, Json]]) -> None:
        for file, entries in files.items():
            group = file.rpartition(".")[0]
            for name, entry in entries.items():
                known = self._base["resources"].get(file, {}).get(name, {}).get("equivalent", [])
                foreign = [one for one in known if one.rpartition("/")[0] != group]
                own = sorted(
                    (
                        other.rpartition(".")[2]
                        for other, found in files.items()
                        if other != file and other.rpartition(".")[0] == group and name in found
                    ),
                    key=version_rank,
                    reverse=True,
                )
                equivalent = [f"{group}/{one}" for one in own] + foreign
                if equivalent:
                    entry["equivalent"] = equivalent

    # Types

    def _schemas(self, resources: Json) -> dict[str, dict[str, Json]]:
        files: dict[str, dict[str, Json]] = {}
        types = {**dict(self._gated_types(resources)), **self._types}
        for name, found in types.items():
            package, _, kind = name.rpartition(".")
            entry = {key: value for key, value in found.items() if key != "complete"}
            made = with_details(self._type(name, with_words(entry)), self._details.get(name, {}))
            files.setdefault(package, {})[kind] = made
        return {
            package: dict(sorted(entries.items())) for package, entries in sorted(files.items())
        }

    def _gated_types(self, resources: Json) -> Iterator[tuple[str, Json]]:
        """Types of gated resources, as the neighbour or another version there has them."""
        for (group, name), (package, kind) in GATED.items():
            for file, entries in resources.items():
                if file.rpartition(".")[0] != group or name not in entries:
                    continue
                version = file.rpartition(".")[2]
                for suffix in ("", "List", "Spec", "Status"):
                    found = self._base_type(f"io.k8s.api.{package}.{version}.{kind}{suffix}")
                    if found is not None:
                        made = structure(found)
                        yield (
                            f"io.k8s.api.{package}.{version}.{kind}{suffix}",
                            {key: made[key] for key in made if key not in ("always", "ptr")},
                        )

    def _base_type(self, name: str) -> Json:
        """The type in the neighbour; where there is none, that of the next higher version there, or
        of the highest lower one, with its own version in its place."""
        package, _, kind = name.rpartition(".")
        above, _, version = package.rpartition(".")
        own = self._base["schemas"].get(package, {}).get(kind)
        if own is not None:
            return own
        versions = [
            file.rpartition(".")[2]
            for file, entries in self._base["schemas"].items()
            if file.rpartition(".")[0] == above and kind in entries
        ]
        sibling = nearest_version(version, versions)
        if sibling is None:
            return None
        text = json.dumps(self._base["schemas"][f"{above}.{sibling}"][kind])
        made = json.loads(text.replace(f"{above}.{sibling}.", f"{package}."))
        if "gvk" in made:
            made["gvk"][1] = version
        return made

    def _type(self, name: str, entry: Json) -> Json:
        package, _, kind = name.rpartition(".")
        own = self._base["schemas"].get(package, {}).get(kind)
        known = own if own is not None else (self._base_type(name) or {})
        made = with_columns(entry, known)
        fields = made.get("fields", {})
        go = None if self._go is None else self._go.facts(name)
        if go is not None and name not in self._types:
            fields = made["fields"] = {one: fields[one] for one in fields if one in go.fields}
            made["required"] = [one for one in made.get("required", ()) if one in fields]
            if not made["required"]:
                del made["required"]
        _drop_lost(made, known)
        if go is None:
            for key in ("always", "ptr"):
                if key in known:
                    made[key] = known[key]
            return _type_in_order(made)
        has_base_go = own is not None and self._base_go is not None
        newer_go = self._base_go.facts(name) if has_base_go else None
        if fields and list(go.fields) != [name for name in go.fields if name in fields]:
            sys.stderr.write(f"{name}: Go has {[one for one in go.fields if one not in fields]}\n")
        ordered = [one for one in go.fields if one in fields]
        ordered += [one for one in fields if one not in go.fields]
        if fields:
            made["fields"] = {one: _numbered(one, fields[one], go, newer_go) for one in ordered}
        always = _merged_always(known, go, newer_go)
        ptr = _merged_ptr(known, go, newer_go)
        embeds = go.embeds if newer_go is None or go.embeds != newer_go.embeds else None
        if embeds is None:
            embeds = known.get("embeds", {})
        for key, value in (("always", always), ("ptr", ptr), ("embeds", embeds)):
            made.pop(key, None)
            if value:
                made[key] = value
        return _type_in_order(made, known)

    # Defaults

    def _defaults(self, resources: Json) -> dict[str, dict[str, Json]]:
        """Kinds that went lose theirs, kinds that came have those of a sibling."""
        files = {name: dict(kinds) for name, kinds in self._base["defaults"].items()}
        for file, entries in self._base["resources"].items():
            for name, entry in entries.items():
                if name not in resources.get(file, {}):
                    files.get(file, {}).pop(entry["kind"], None)
        for file, entries in resources.items():
            for name, entry in entries.items():
                if name in self._base["resources"].get(file, {}):
                    continue
                group, _, version = file.rpartition(".")
                sibling = self._sibling(group, version, name)
                rules = self._base["defaults"].get(f"{group}.{sibling}", {}).get(entry["kind"])
                if rules is not None:
                    files.setdefault(file, {})[entry["kind"]] = rules
        return {name: dict(sorted(kinds.items())) for name, kinds in sorted(files.items()) if kinds}


class KnownFields:
    """Takes defaulting rules for fields that a release does not have. Sets lose the rules that are
    about no field wherever they are used."""

    def __init__(self, schemas: Json, sets: Mapping[str, Json]) -> None:
        self._types = {
            f"{package}.{name}": entry
            for package, types in schemas.items()
            for name, entry in types.items()
        }
        self._kinds = {
            tuple(entry["gvk"]): entry for entry in self._types.values() if "gvk" in entry
        }
        self._sets = sets
        self._used: dict[str, set[int]] = {}

    def of_kinds(self, files: Mapping[str, Json]) -> dict[str, Json]:
        made: dict[str, Json] = {}
        for file, kinds in files.items():
            group, _, version = file.rpartition(".")
            for kind, phases in kinds.items():
                type_ = self._kinds.get(("" if group == "core" else group, version, kind))
                made.setdefault(file, {})[kind] = (
                    phases if type_ is None else self._phases(phases, type_)
                )
        return made

    def sets(self) -> dict[str, Json]:
        """Those that are used, without the rules that are about no field."""
        return {
            name: [rule for place, rule in enumerate(rules) if place in self._used[name]]
            for name, rules in self._sets.items()
            if name in self._used
        }

    def _phases(self, phases: Mapping[str, Json], type_: Json) -> dict[str, Json]:
        kept = {
            phase: self._known(rules, type_) if isinstance(rules, list) else rules
            for phase, rules in phases.items()
        }
        return {phase: rules for phase, rules in kept.items() if rules or not phases[phase]}

    def _known(self, rules: list[Json], type_: Json) -> list[Json]:
        return [rule for rule in rules if self._is_known(rule, type_)]

    def _is_known(self, rule: Json, type_: Json) -> bool:
        target = self._target(rule["path"], type_)
        if target is not None and "use" in rule:
            used = self._used.setdefault(rule["use"], set())
            for place, inner in enumerate(self._sets[rule["use"]]):
                if self._is_known(inner, target):
                    used.add(place)
        return target is not None

    def _target(self, path: str, type_: Json) -> Json:
        node = self._resolved(type_)
        for step in parse_path(path) if path else ():
            if not isinstance(node, dict):
                return None
            if "values" in node:
                node = self._resolved(node["values"])
                continue
            node = self._resolved(node.get("fields", {}).get(step.name))
            if node is not None and step.each is not Each.FIELD:
                node = self._resolved(node.get("items", node.get("values")))
        return node

    def _resolved(self, node: Json) -> Json:
        while isinstance(node, dict) and "ref" in node:
            node = self._types.get(node["ref"])
        return node


def _group_versions(discovery: Mapping[str, Json]) -> Iterator[str]:
    return (one["groupVersion"] for path, one in discovery.items() if path != "/apis")


def _subresource(sub: str, one: Json, known: Json) -> Json:
    found = {"name": sub, "kind": one["kind"], "verbs": one["verbs"]}
    same = next((other for other in known.get("subresources", ()) if other["name"] == sub), {})
    if one.get("version"):
        group, version = one.get("group", ""), one["version"]
        named = f"{group}/{version}" if group else version
        if same.get("groupVersion", named) == named:
            found["groupVersion"] = named
    more = {key: value for key, value in same.items() if key not in found}
    more.pop("groupVersion", None)
    if "groupVersion" in found and not same.get("groupVersion"):
        del found["groupVersion"]
    return {**found, **more} if not same else {key: {**more, **found}[key] for key in same}


_ENTRY_ORDER: Final = (
    *("kind", "singular", "namespaced", "verbs", "shortNames", "categories", "default"),
    *("storageVersion", "storageVersionHash", "equivalent", "subresources", "fieldSelectors"),
    *("columns", "extraCells"),
)


def _in_order(entry: Json) -> Json:
    return {key: entry[key] for key in _ENTRY_ORDER if key in entry}


def _drop_lost(made: Json, known: Json) -> None:
    """Takes rules and internal fields that are about fields which the type does not have."""
    fields, lost = (
        made.get("fields", {}),
        set(known.get("fields", {})) - set(made.get("fields", {})),
    )
    if "rules" in made:
        made["rules"] = [rule for rule in made["rules"] if not _mentions(rule, lost)]
    if "immutable" in made:
        made["immutable"] = [name for name in made["immutable"] if name in fields]
    if "internal" in made:
        from internal_sources import json_name

        def key_of(text: str) -> str:
            name, _, key = text.partition(" ")[0].partition("=")
            return key or json_name(name)

        made["internal"] = [text for text in made["internal"] if key_of(text) not in lost]
    for key in ("rules", "immutable", "internal"):
        if key in made and not made[key]:
            del made[key]


def _mentions(rule: Json, lost: set[str]) -> bool:
    if isinstance(rule, list):
        return any(_mentions(one, lost) for one in rule[1:])
    return isinstance(rule, str) and rule.rstrip("?") in lost


def _numbered(name: str, field: Json, go: GoFacts, newer: GoFacts | None) -> Json:
    number = go.fields.get(name)
    if newer is not None and newer.fields.get(name) == number:
        return field
    node = {"type": field} if isinstance(field, str) else field
    node = {key: value for key, value in node.items() if key != "number"}
    if number is not None:
        return {"number": number, **node}
    return node["type"] if list(node) == ["type"] else node


def _merged_always(known: Json, go: GoFacts, newer: GoFacts | None) -> Json:
    if newer is None:
        return go.always
    missing = object()
    before, made = known.get("always", {}), {}
    for name in [*(one for one in before if one in go.fields), *go.fields]:
        if name not in newer.fields or go.always.get(name, missing) != newer.always.get(
            name, missing
        ):
            if name in go.always:
                made[name] = go.always[name]
        elif name in before:
            made[name] = before[name]
    return made


def _merged_ptr(known: Json, go: GoFacts, newer: GoFacts | None) -> list[str]:
    if newer is None:
        return go.ptr
    before = known.get("ptr", [])
    made = [
        name for name in before if name in go.fields and (name in go.ptr or name not in newer.ptr)
    ]
    return made + [
        name for name in go.ptr if name not in made and (name not in newer.ptr or name in before)
    ]


_TYPE_ORDER: Final = ("fields", "required", "gvk", "map", "always", "ptr", "embeds", *DETAILS)


def _type_in_order(made: Json, known: Json | None = None) -> Json:
    order = list(known) if known and set(made) <= set(known) else list(_TYPE_ORDER)
    names = [name for name in order if name in made]
    return {name: made[name] for name in [*names, *(one for one in made if one not in names)]}


if __name__ == "__main__":
    main(*map(Path, sys.argv[1:4]))
