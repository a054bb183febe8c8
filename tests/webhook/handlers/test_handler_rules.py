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
        ([], "say which resources, e.g. 'deployments.apps'"),
        (
            ["widgets"],
            "no resource `widgets`: say its group, e.g. 'widgets.example.com', or `groups`",
        ),
        (
            ["widgets.example.com"],
            "no version of `widgets.example.com` is known: write 'widgets.v1.example.com', or "
            "`versions`",
        ),
        (
            ["pods", "widgets.example.com/status"],
            "no version of `widgets.example.com/status` is known: write "
            "'widgets.v1.example.com/status', or `versions`",
        ),
    ],
)
def test_resources_nobody_knows(resources: list[str], message: str) -> None:
    with pytest.raises(ValueError, match=r"^(say|no)") as caught:
        rules_of(resources)
    assert str(caught.value) == message


@pytest.mark.parametrize("version", ["v1", "v2alpha1", "v10beta12"])
def test_versions_between_a_resource_and_its_group(version: str) -> None:
    (rule,) = rules_of([f"widgets.{version}.example.com"])
    assert (rule["apiVersions"], rule["apiGroups"]) == ([version], ["example.com"])


@pytest.mark.parametrize("name", ["v0", "v1gamma1", "v1beta0", "v1beta", "v", "xv1", "v1x"])
def test_groups_that_begin_like_versions(name: str) -> None:
    (rule,) = rules_of([f"widgets.{name}.example.com"], versions=["v1"])
    assert (rule["apiVersions"], rule["apiGroups"]) == (["v1"], [f"{name}.example.com"])


def test_a_group_said_twice() -> None:
    twice = "^`deployments.apps` names a group, and so does `groups`$"
    with pytest.raises(ValueError, match=twice):
        rules_of(["deployments.apps"], groups=["apps"])
