"""How the objects of a new server differ from those that a server of that release had.

    python -m tests.apiserver.bootstrap_differences FILE RELEASE

prints it, one object a line, of a file as `bootstrap.json` in `../shared/releases/MINOR`.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

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


def differences(recorded: Path, release: str, kind: str) -> Iterator[str]:
    """Objects of that kind that are missing, too many or not the same."""
    theirs = {named(obj): obj for obj in json.loads(recorded.read_text("utf-8"))[PLACES[kind]]}
    with answering_as(release):
        made = [obj for maker in MAKERS for obj in maker() if obj["kind"] == kind]
    ours = {named(obj): obj for obj in made}
    for name in sorted(ours.keys() ^ theirs.keys()):
        yield f"{kind} {name} is {'missing' if name in theirs else 'not there'}"
    for name in sorted(ours.keys() & theirs.keys()):
        is_aggregated = "aggregationRule" in ours[name]
        sides = [told(side[name], is_aggregated=is_aggregated) for side in (ours, theirs)]
        if sides[0] != sides[1]:
            yield f"{kind} {name}: {json.dumps(sides[1])} instead of {json.dumps(sides[0])}"


def main(recorded: str, release: str) -> None:
    for kind in PLACES:
        for line in differences(Path(recorded), release, kind):
            sys.stdout.write(f"{line}\n")


if __name__ == "__main__":
    main(*sys.argv[1:])
