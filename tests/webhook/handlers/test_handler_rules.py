"""Names of resources become rules."""

from __future__ import annotations

import pytest

from celadon.webhook.handlers import rules_of


@pytest.mark.parametrize(
    ("resource", "group", "version", "name"),
    [
        ("pods", "", "v1", "pods"),
        ("pods/exec", "", "v1", "pods/exec"),
        ("deployments.apps", "apps", "v1", "deployments"),
        ("deployments.apps/scale", "apps", "v1", "deployments/scale"),
        ("horizontalpodautoscalers.autoscaling", "autoscaling", "v2", "horizontalpodautoscalers"),
        ("horizontalpodautoscalers.v1.autoscaling", "autoscaling", "v1", None),
        ("widgets.v1alpha2.example.com", "example.com", "v1alpha2", "widgets"),
    ],
)
def test_one_resource(resource: str, group: str, version: str, name: str | None) -> None:
    (rule,) = rules_of([resource])
    assert rule["apiGroups"] == [group]
    assert rule["apiVersions"] == [version]
    assert rule["resources"] == [name or resource.partition(".")[0]]
    assert rule["operations"] == ["CREATE", "UPDATE"]
    assert rule["scope"] == "*"


def test_a_rule_for_each_group_and_version() -> None:
    found = rules_of(["pods", "deployments.apps", "services", "daemonsets.apps"], ["delete"])
    assert [(rule["apiGroups"], rule["resources"]) for rule in found] == [
        ([""], ["pods", "services"]),
        (["apps"], ["deployments", "daemonsets"]),
    ]
    assert found[0]["operations"] == ["DELETE"]


def test_groups_and_versions_given_apart() -> None:
    (rule,) = rules_of(["*"], groups=["apps", "batch"])
    assert (rule["apiGroups"], rule["apiVersions"]) == (["apps", "batch"], ["*"])
    (rule,) = rules_of(["widgets.example.com"], versions=["v1", "v2"])
    assert (rule["apiGroups"], rule["apiVersions"]) == (["example.com"], ["v1", "v2"])


@pytest.mark.parametrize(
    ("resources", "message"),
    [
        ([], "say which resources"),
        (["widgets"], "no resource `widgets`: say its group, e.g. 'widgets.example.com'"),
        (["widgets.example.com"], "write 'widgets.v1.example.com'"),
        (["widgets.example.com/status"], "write 'widgets.v1.example.com/status'"),
    ],
)
def test_resources_nobody_knows(resources: list[str], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        rules_of(resources)


def test_a_group_said_twice() -> None:
    with pytest.raises(ValueError, match="names a group, and so does `groups`"):
        rules_of(["deployments.apps"], groups=["apps"])
