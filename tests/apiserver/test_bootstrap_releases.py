"""What a new server of an older release has: what servers of these releases had."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from typing import Any

import pytest

from celadon.apiserver.bootstrap_objects import (
    api_services,
    flow_schemas,
    initial_namespaces,
    initial_priority_classes,
    priority_levels,
)
from celadon.kube import metadata
from celadon.kube.rbac import bootstrap_roles
from celadon.kube.releases import answering_as
from celadon.kube.resources import known_resources
from tests.paths import shared

RELEASES = ("1.30", "1.31", "1.32", "1.33", "1.34", "1.35")
RBAC = "/apis/rbac.authorization.k8s.io/v1"
FLOW_CONTROL = "/apis/flowcontrol.apiserver.k8s.io/v1"
PLACES = {
    "ClusterRole": f"{RBAC}/clusterroles",
    "ClusterRoleBinding": f"{RBAC}/clusterrolebindings",
    "Role": f"{RBAC}/roles",
    "RoleBinding": f"{RBAC}/rolebindings",
    "Namespace": "/api/v1/namespaces",
    "PriorityClass": "/apis/scheduling.k8s.io/v1/priorityclasses",
    "FlowSchema": f"{FLOW_CONTROL}/flowschemas",
    "PriorityLevelConfiguration": f"{FLOW_CONTROL}/prioritylevelconfigurations",
    "APIService": "/apis/apiregistration.k8s.io/v1/apiservices",
}
MAKERS: tuple[Callable[[], Iterator[dict[str, Any]]], ...] = (
    bootstrap_roles,
    initial_namespaces,
    initial_priority_classes,
    flow_schemas,
    priority_levels,
    lambda: api_services(known_resources()),
)


def named(obj: Mapping[str, Any]) -> str:
    return f"{metadata.namespace(obj)}/{metadata.name(obj)}"


def told(obj: Mapping[str, Any], *, is_aggregated: bool) -> Any:
    """What counts: other fields are filled in by a server, rules of aggregated roles as well."""
    meta = {key: obj["metadata"].get(key) for key in ("labels", "annotations")}
    (meta["labels"] or {}).pop("kubernetes.io/metadata.name", None)
    parts = ("spec", "rules", "roleRef", "subjects", "value", "description")
    members = {key: obj.get(key) for key in parts if key != "rules" or not is_aggregated}
    if obj.get("kind") == "Namespace" or "finalizers" in (obj.get("spec") or {}):
        members["spec"] = None
    return [{key: value or None for key, value in meta.items()}, members]


@pytest.mark.parametrize("release", RELEASES)
@pytest.mark.parametrize("kind", PLACES)
def test_a_server_of_the_release_has_them(kind: str, release: str) -> None:
    path = shared("releases", release, "bootstrap.json")
    theirs = {named(obj): obj for obj in json.loads(path.read_text("utf-8"))[PLACES[kind]]}
    with answering_as(release):
        made = [obj for maker in MAKERS for obj in maker() if obj["kind"] == kind]
    ours = {named(obj): obj for obj in made}
    assert ours.keys() == theirs.keys()
    for name, obj in ours.items():
        is_aggregated = "aggregationRule" in obj
        wanted = told(theirs[name], is_aggregated=is_aggregated)
        assert told(obj, is_aggregated=is_aggregated) == wanted


def test_priorities_of_versions_that_older_releases_have() -> None:
    with answering_as("1.31"):
        made = list(api_services(known_resources(all_versions=True)))
    specs = {metadata.name(obj): obj["spec"] for obj in made}
    alpha = specs["v1alpha3.resource.k8s.io"]
    assert (alpha["groupPriorityMinimum"], alpha["versionPriority"]) == (15900, 9)
    assert specs["v1alpha1.authentication.k8s.io"]["versionPriority"] == 1
