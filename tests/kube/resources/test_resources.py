"""The table of resources, and what CustomResourceDefinitions add to it."""

from __future__ import annotations

from typing import Any

import pytest

from celadon.kube.names import GroupVersionKind, GroupVersionResource
from celadon.kube.releases import answering_as
from celadon.kube.resources.api_resources import (
    SCALE,
    api_groups,
    custom_resources,
    guess_resource,
    known_resources,
)

WIDGETS: dict[str, Any] = {
    "spec": {
        "group": "example.com",
        "scope": "Namespaced",
        "names": {"plural": "widgets", "kind": "Widget", "shortNames": ["wd"]},
        "versions": [
            {
                "name": "v2",
                "served": True,
                "storage": True,
                "subresources": {"status": {}, "scale": {"specReplicasPath": ".spec.n"}},
                "selectableFields": [{"jsonPath": ".spec.color"}],
            },
            {"name": "v1", "served": False, "storage": False},
        ],
    }
}


def gvr(group: str, version: str, resource: str) -> GroupVersionResource:
    return GroupVersionResource(group, version, resource)


@pytest.mark.parametrize(
    ("where", "subresource", "kind"),
    [
        (gvr("", "v1", "pods"), "", ("", "v1", "Pod")),
        (gvr("", "v1", "pods"), "status", ("", "v1", "Pod")),
        (gvr("", "v1", "pods"), "exec", ("", "v1", "PodExecOptions")),
        (gvr("", "v1", "pods"), "eviction", ("policy", "v1", "Eviction")),
        (gvr("", "v1", "pods"), "binding", ("", "v1", "Binding")),
        (gvr("apps", "v1", "deployments"), "scale", SCALE),
        (
            gvr("", "v1", "serviceaccounts"),
            "token",
            ("authentication.k8s.io", "v1", "TokenRequest"),
        ),
        (gvr("", "v1", "pods"), "nope", None),
        (gvr("", "v2", "pods"), "", None),
    ],
)
def test_kinds(where: GroupVersionResource, subresource: str, kind: object) -> None:
    assert known_resources().kind_of(where, subresource) == kind


def test_resource_of_a_kind() -> None:
    found = known_resources().by_gvk(GroupVersionKind("networking.k8s.io", "v1", "Ingress"))
    assert found is not None
    assert found.gvr == ("networking.k8s.io", "v1", "ingresses")
    assert found.namespaced
    assert found.list_kind == "IngressList"
    assert known_resources().by_gvk(SCALE) is None


def test_equivalents_only_among_what_is_there() -> None:
    events = gvr("", "v1", "events")
    other = (gvr("events.k8s.io", "v1", "events"), ("events.k8s.io", "v1", "Event"))
    assert known_resources().equivalents(events) == (other,)
    claims = gvr("resource.k8s.io", "v1", "resourceclaims")
    assert known_resources().equivalents(claims) == ()
    versions = [
        where.version for where, _ in known_resources(all_versions=True).equivalents(claims)
    ]
    assert versions == ["v1beta2", "v1beta1"]
    assert known_resources().equivalents(gvr("x", "v1", "y")) == ()


def test_custom_resources() -> None:
    catalog = known_resources().with_crds([WIDGETS])
    new, old = gvr("example.com", "v2", "widgets"), gvr("example.com", "v1", "widgets")
    resource = catalog.by_gvr(new)
    assert resource is not None
    assert (resource.singular, resource.list_kind) == ("widget", "WidgetList")
    assert resource.field_labels == ("metadata.name", "metadata.namespace", "spec.color")
    assert catalog.kind_of(new, "scale") == SCALE
    assert catalog.kind_of(new, "status") == ("example.com", "v2", "Widget")
    assert catalog.equivalents(new) == ((old, ("example.com", "v1", "Widget")),)
    assert catalog.equivalents(new, "status") == ()
    unserved = catalog.by_gvr(old)
    assert unserved is not None
    assert not unserved.served
    assert catalog.by_gvk(GroupVersionKind("example.com", "v2", "Widget")) is resource
    assert known_resources().by_gvr(new) is None


def test_a_definition_replaces_its_earlier_self() -> None:
    catalog = known_resources().with_crds([WIDGETS]).with_crds([WIDGETS])
    assert sum(resource.custom for resource in catalog) == 2


def test_groups() -> None:
    groups = {group.name: group for group in api_groups()}
    assert groups["autoscaling"].versions == ("v2", "v1")


@pytest.mark.parametrize(
    ("kind", "plural"),
    [
        ("Widget", "widgets"),
        ("Policy", "policies"),
        ("Ingress", "ingresses"),
        ("Endpoints", "endpoints"),
        ("", ""),
    ],
)
def test_guess(kind: str, plural: str) -> None:
    assert guess_resource(GroupVersionKind("g", "v1", kind)) == ("g", "v1", plural)


def test_versions_of_a_definition_share_what_is_equivalent() -> None:
    """A tuple for each would be gigabytes for a definition of a megabyte."""
    versions = [{"name": f"v{number}", "served": True} for number in range(1, 50)]
    definition = {**WIDGETS, "spec": {**WIDGETS["spec"], "versions": versions}}
    found = custom_resources(definition)
    assert len({id(one.equivalents) for one in found}) == 1
    catalog = known_resources().with_crds([definition])
    others = [where.version for where, _ in catalog.equivalents(found[1].gvr)]
    assert others == [one["name"] for one in versions if one["name"] != "v2"]


@pytest.mark.parametrize(
    ("release", "kind", "served"),
    [
        ("1.33", GroupVersionKind("certificates.k8s.io", "v1beta1", "ClusterTrustBundle"), False),
        ("1.36", GroupVersionKind("certificates.k8s.io", "v1beta1", "ClusterTrustBundle"), False),
        ("1.36", GroupVersionKind("resource.k8s.io", "v1beta1", "ResourceClaim"), True),
        ("1.36", GroupVersionKind("", "v1", "Pod"), True),
    ],
)
def test_kinds_behind_gates_are_not_there(
    release: str, kind: GroupVersionKind, *, served: bool
) -> None:
    with answering_as(release):
        assert known_resources(all_versions=True).by_gvk(kind) is not None
        open_kinds = known_resources(all_versions=True, behind_gates=False)
        assert (open_kinds.by_gvk(kind) is not None) == served
