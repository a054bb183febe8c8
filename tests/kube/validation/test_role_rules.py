"""What is said against roles and their bindings."""

from __future__ import annotations

from typing import Any

from tests.kube.validation.objects import complaints, obj

GROUP = "rbac.authorization.k8s.io/v1"


def cluster_role(*selectors: dict[str, Any]) -> dict[str, Any]:
    rule = {"clusterRoleSelectors": list(selectors)}
    return obj(GROUP, "ClusterRole", aggregationRule=rule)


def test_selectors_that_select_nothing_are_blamed_twice() -> None:
    assert complaints(cluster_role({"matchLabels": {"a": "b"}})) == []
    found = complaints(cluster_role({"matchLabels": {"a": "-"}}))
    assert found[0].startswith("aggregationRule.clusterRoleSelectors[0].matchLabels: Invalid value")
    assert found[1:] == [
        "aggregationRule.clusterRoleSelectors[0]: Invalid value: null: invalid label selector."
    ]


def test_an_empty_group_is_defaulted() -> None:
    role = {"apiGroup": "", "kind": "ClusterRole", "name": "view"}
    assert complaints(obj(GROUP, "ClusterRoleBinding", roleRef=role)) == []
