"""The packs of older releases: what servers of these releases say of their API."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from celadon.kube.releases import PATCHES
from celadon.kube.schemas.schema_packs import (
    as_of,
    encodings_of,
    pack,
    pack_of,
    patched,
    resources_by_key,
)
from tests.paths import shared

RELEASES = ("1.30", "1.31", "1.32", "1.33", "1.34", "1.35")

GATED = {
    ("certificates.k8s.io", "ClusterTrustBundle"),
    ("certificates.k8s.io", "PodCertificateRequest"),
    ("scheduling.k8s.io", "PodGroup"),
    ("scheduling.k8s.io", "Workload"),
    ("storagemigration.k8s.io", "StorageVersionMigration"),
}
"""Kinds that a server only shows with a feature gate, which no recorded one had."""
GATED_PACKAGES = ("io.k8s.api.scheduling.v1alpha",)
"""Versions that have no others."""


def facts_of(release: str) -> Path:
    return shared("releases", release)


def json_of(path: Path) -> Any:
    return json.loads(path.read_text(encoding="utf-8"))


@pytest.mark.parametrize("release", RELEASES)
def test_the_patch_release_is_the_one_that_was_looked_at(release: str) -> None:
    version = json_of(facts_of(release) / "version.json")["gitVersion"]
    assert version == f"v{release}.{PATCHES[release]}"


@pytest.mark.parametrize("release", RELEASES)
def test_the_types_of_a_release_are_those_of_its_documents(release: str) -> None:
    documents = sorted((facts_of(release) / "openapi" / "v3").glob("*__*.json"))
    ours = pack_of("schemas", release)
    theirs = pack(map(json_of, documents), encodings_of(ours))
    assert theirs.keys() - ours.keys() == set()
    different = [name for name in theirs if comparable(theirs[name]) != comparable(ours[name])]
    assert different == UNWRITABLE.get(release, [])
    extra = (name for name in ours.keys() - theirs.keys() if not name.startswith(GATED_PACKAGES))
    more = {name.rpartition(".")[2] for name in extra}
    assert {name for name in more if not name.startswith(gated_prefixes())} <= UNPUBLISHED


UNWRITABLE = {"1.30": ["io.k8s.apimachinery.pkg.apis.meta.v1.Status"]}
"""Types that have a kind in the documents, of which no server of the release makes a message."""

UNPUBLISHED = {
    *("AdmissionRequest", "AdmissionResponse", "AdmissionReview"),
    *("ConversionRequest", "ConversionResponse", "ConversionReview"),
    *("GroupVersionKind", "GroupVersionResource"),
}


def gated_prefixes() -> tuple[str, ...]:
    return (*(kind for _, kind in GATED), "MigrationCondition", "GroupResource")


def comparable(entry: Mapping[str, Any]) -> Mapping[str, Any]:
    """Without what follows from types that documents lack."""
    return {key: value for key, value in entry.items() if key != "complete"}


@pytest.mark.parametrize("release", RELEASES)
def test_the_resources_of_a_release_are_those_of_its_discovery(release: str) -> None:
    folder = facts_of(release)
    served = json_of(folder / "discovery-all.json")["legacy"]
    default = json_of(folder / "discovery-default.json")["legacy"]
    theirs = [line for path in served if path != "/apis" for line in listed(served[path])]
    assert [line for line in described(release) if not is_gated(line)] == theirs
    usual = [line for path in default if path != "/apis" for line in listed(default[path])]
    resources = {line[:3] for line in described(release, by_default=True) if not is_gated(line)}
    assert resources == {line[:3] for line in usual}


def listed(discovery: Any) -> list[tuple[Any, ...]]:
    group, _, version = discovery["groupVersion"].rpartition("/")
    return [
        (
            group,
            version,
            one["name"],
            one["kind"],
            one["namespaced"],
            one["singularName"],
            tuple(one["verbs"]),
            tuple(one.get("shortNames", ())),
            tuple(one.get("categories", ())),
            one.get("storageVersionHash", ""),
        )
        for one in discovery["resources"]
    ]


def is_gated(line: tuple[Any, ...]) -> bool:
    return (line[0], line[3]) in GATED


def described(release: str, *, by_default: bool = False) -> list[tuple[Any, ...]]:
    lines: list[tuple[Any, ...]] = []
    for entry in pack_of("resources", release)["resources"]:
        if by_default and not entry["default"]:
            continue
        group, version, name = entry["group"], entry["version"], entry["resource"]
        hash_ = entry.get("storageVersionHash", "")
        names = tuple(entry.get("shortNames", ())), tuple(entry.get("categories", ()))
        verbs = tuple(entry["verbs"])
        place = (group, version, name, entry["kind"], entry["namespaced"], entry["singular"])
        lines.append((*place, verbs, *names, hash_))
        for sub in entry.get("subresources", ()):
            named = f"{name}/{sub['name']}"
            where = (group, version, named, sub["kind"], entry["namespaced"], "")
            lines.append((*where, tuple(sub["verbs"]), (), (), ""))
    return lines


@pytest.mark.parametrize("release", RELEASES)
def test_the_groups_of_a_release_are_those_of_its_discovery(release: str) -> None:
    folder = facts_of(release)
    ours = {group["name"]: group for group in pack_of("resources", release)["groups"]}
    served = json_of(folder / "discovery-all.json")["legacy"]["/apis"]["groups"]
    default = json_of(folder / "discovery-default.json")["legacy"]["/apis"]["groups"]
    assert [name for name in ours if name != "storagemigration.k8s.io"] == [
        group["name"] for group in served
    ]
    for group in served:
        known = ours[group["name"]]
        versions = [one["version"] for one in group["versions"]]
        assert [one for one in known["versions"] if one in versions] == versions
        assert known["preferred"] == group["preferredVersion"]["version"]
    assert {
        name: group["defaultVersions"] for name, group in ours.items() if group["defaultVersions"]
    } == {group["name"]: [one["version"] for one in group["versions"]] for group in default}


def test_a_patch_changes_nothing_of_the_newer_release() -> None:
    newer = {"kept": {"a": 1}, "changed": {"b": 2, "c": 3}, "gone": 4}
    older = patched(newer, {"changed": {"b": None, "d": 5}, "gone": None, "new!": {"e": None}})
    assert older == {"kept": {"a": 1}, "changed": {"c": 3, "d": 5}, "new": {"e": None}}
    assert older["kept"] is newer["kept"]
    assert newer == {"kept": {"a": 1}, "changed": {"b": 2, "c": 3}, "gone": 4}


def test_resources_come_in_the_order_of_their_groups() -> None:
    pods = {"group": "", "version": "v1", "resource": "pods"}
    newer = {"legacy": {"versions": ["v1"]}, "groups": [{"name": "apps", "versions": ["v1"]}]}
    newer["resources"] = [pods, {"group": "apps", "version": "v1", "resource": "jobs"}]
    bindings = {"group": "", "version": "v1", "resource": "bindings"}
    patch = {"resources": {"/v1/bindings": bindings, "apps/v1/jobs": {"kind": "Job"}}}
    older = as_of("resources", newer, patch)
    assert [entry["resource"] for entry in older["resources"]] == ["bindings", "pods", "jobs"]
    assert older["resources"][1] is pods
    assert resources_by_key(older)["resources"]["apps/v1/jobs"]["kind"] == "Job"


def test_unknown_releases_are_as_the_nearest_known_one() -> None:
    assert pack_of("schemas", "1.99") is pack_of("schemas", "1.36")
    assert pack_of("schemas", "1.3") == pack_of("schemas", "1.30")
