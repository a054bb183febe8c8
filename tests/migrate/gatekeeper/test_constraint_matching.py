"""What constraints apply to."""

from __future__ import annotations

from typing import Any

import pytest

from celadon.kube import JsonObject
from celadon.migrate.gatekeeper.constraint_translation import matching
from celadon.migrate.translations import NotTranslated
from tests.migrate.gatekeeper.gatekeeper_documents import (
    CATALOG,
    constraint,
    of_kind,
    pod,
    refusal,
    says,
    template,
    translated,
)

NEVER = template(says("false"))


@pytest.mark.parametrize(
    ("kinds", "found"),
    [
        ([], [(["*"], ["*"])]),
        ([{"apiGroups": ["*"], "kinds": ["*"]}], [(["*"], ["*"])]),
        ([{"apiGroups": ["apps"]}], [(["apps"], ["*"])]),
        ([{"kinds": ["Deployment"]}], [(["*"], ["deployments"])]),
        (
            [{"apiGroups": [""], "kinds": ["Pod", "Service"]}],
            [([""], ["pods", "pods/ephemeralcontainers", "services", "services/status"])],
        ),
        (
            [{"apiGroups": ["", "apps"], "kinds": ["Pod", "Deployment"]}],
            [([""], ["pods", "pods/ephemeralcontainers"]), (["apps"], ["deployments"])],
        ),
        (
            [{"apiGroups": ["extensions", "networking.k8s.io"], "kinds": ["Ingress"]}],
            [(["extensions", "networking.k8s.io"], ["ingresses"])],
        ),
        ([{"apiGroups": ["x.io"], "kinds": ["Policy"]}], [(["x.io"], ["policies"])]),
        (
            [
                {"apiGroups": [""], "kinds": ["Secret"]},
                {"apiGroups": [""], "kinds": ["ConfigMap", "Secret"]},
            ],
            [([""], ["secrets", "configmaps"])],
        ),
    ],
)
def test_kinds(kinds: list[JsonObject], found: list[tuple[list[str], list[str]]]) -> None:
    rules: Any = matching({"kinds": kinds}, CATALOG).constraints(["CREATE"])["resourceRules"]
    assert [(one["apiGroups"], one["resources"]) for one in rules] == found
    assert {one["apiVersions"][0] for one in rules} == {"*"}


@pytest.mark.parametrize(
    ("match", "namespace", "refused"),
    [
        ({}, "shop", True),
        ({"namespaces": ["shop"]}, "shop", True),
        ({"namespaces": ["shop"]}, "bar", False),
        ({"namespaces": ["sho*", "bar"]}, "shop", True),
        ({"namespaces": ["sho*", "bar"]}, "bar", True),
        ({"namespaces": ["sho*", "bar"]}, "barn", False),
        ({"namespaces": ["*op"]}, "shop", True),
        ({"namespaces": ["*ho*"]}, "shop", True),
        ({"namespaces": ["*hi*"]}, "shop", False),
        ({"excludedNamespaces": ["shop"]}, "shop", False),
        ({"excludedNamespaces": ["shop"]}, "bar", True),
        ({"excludedNamespaces": ["kube-*", "shop"]}, "shop", False),
        ({"excludedNamespaces": ["kube-*", "shop"]}, "kube-system", False),
        ({"excludedNamespaces": ["kube-*", "shop"]}, "bar", True),
        ({"excludedNamespaces": ["a", "b", "c*"]}, "b", False),
        ({"namespaces": ["s*"], "excludedNamespaces": ["shop"]}, "shop", False),
        ({"name": "p"}, "shop", True),
        ({"name": "p*"}, "shop", True),
        ({"name": "q*"}, "shop", False),
        ({"scope": "Namespaced"}, "shop", True),
        ({"scope": "Cluster"}, "shop", False),
        ({"scope": "*"}, "shop", True),
        ({"source": "Original"}, "shop", True),
        ({"labelSelector": {"matchLabels": {"a": "b"}}}, "shop", False),
        ({"namespaceSelector": {"matchLabels": {"team": "x"}}}, "shop", True),
        ({"namespaceSelector": {"matchLabels": {"team": "y"}}}, "shop", False),
        (
            {"namespaceSelector": {"matchLabels": {"team": "x"}}, "namespaces": ["bar"]},
            "shop",
            False,
        ),
    ],
)
def test_objects(match: JsonObject, namespace: str, refused: bool) -> None:
    pods = {"kinds": [{"apiGroups": [""], "kinds": ["Pod"]}]}
    (found,) = translated(NEVER, constraint({**pods, **match}))
    obj = pod()
    obj["metadata"]["namespace"] = namespace
    around = {
        "apiVersion": "v1",
        "kind": "Namespace",
        "metadata": {"name": namespace, "labels": {"team": "x"}},
    }
    assert bool(refusal(found, obj, [around])) is refused


@pytest.mark.parametrize(
    ("match", "refused"),
    [
        ({"namespaces": ["shop"]}, True),
        ({"namespaces": ["sh*"]}, True),
        ({"excludedNamespaces": ["sh*"]}, True),
        ({"namespaceSelector": {"matchLabels": {"team": "y"}}}, True),
        ({"scope": "Cluster"}, True),
        ({"scope": "Namespaced"}, False),
    ],
)
def test_objects_outside_of_namespaces_are_not_judged_by_namespaces(
    match: JsonObject,
    refused: bool,
) -> None:
    nodes = {"kinds": [{"apiGroups": [""], "kinds": ["Node"]}]}
    (found,) = translated(NEVER, constraint({**nodes, **match}))
    node = {"apiVersion": "v1", "kind": "Node", "metadata": {"name": "n"}}
    assert bool(refusal(found, node)) is refused


@pytest.mark.parametrize(("name", "refused"), [("shop", True), ("shopping", True), ("bar", False)])
def test_a_namespace_is_in_itself(name: str, refused: bool) -> None:
    match = {
        "kinds": [{"apiGroups": [""], "kinds": ["Namespace"]}],
        "namespaces": ["shop*"],
    }
    (found,) = translated(NEVER, constraint(match))
    obj = {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": name}}
    assert bool(refusal(found, obj)) is refused


@pytest.mark.parametrize("match", [{"source": "Generated"}, {"unheard": 1}])
def test_what_is_not_translated(match: JsonObject) -> None:
    with pytest.raises(NotTranslated):
        matching(match, CATALOG)


def test_several_constraints_share_a_policy_and_differ_in_their_bindings() -> None:
    services = {"kinds": [{"apiGroups": [""], "kinds": ["Service"]}]}
    first, second = translated(NEVER, constraint(), constraint(services, name="services"))
    policy = of_kind(first, "Policy")
    assert policy == of_kind(second, "Policy")
    (both,) = policy["spec"]["matchConstraints"]["resourceRules"]
    assert both["resources"] == ["pods", "pods/ephemeralcontainers", "services", "services/status"]
    binding = of_kind(second, "PolicyBinding")
    assert binding["metadata"]["name"] == "demand-services"
    (own,) = binding["spec"]["matchResources"]["resourceRules"]
    assert own["resources"] == ["services", "services/status"]
    assert refusal(first, pod())
    assert not refusal(second, pod())


def test_wildcards_make_a_policy_of_their_own() -> None:
    excluding = constraint({"excludedNamespaces": ["kube-*"]}, name="wild")
    first, second = translated(NEVER, constraint(), excluding)
    assert of_kind(first, "Policy")["metadata"]["name"] == "demand"
    policy = of_kind(second, "Policy")
    assert policy["metadata"]["name"] == "demand-wild"
    assert policy["spec"]["matchConditions"] == [
        {
            "name": "is-in-no-excluded-namespace",
            "expression": "!request.namespace.startsWith('kube-')",
        }
    ]
