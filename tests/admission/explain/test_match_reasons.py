"""Why matching says what it says: the reason is there, and it is the engine's."""

from __future__ import annotations

from typing import Any

import pytest

from celadon.admission import Operation, Request
from celadon.admission.cluster_lookups import ObjectWorld
from celadon.admission.explain import MatchReason
from celadon.admission.explanation_values import ObservedContext, match_reason
from celadon.admission.policies.matching import target_of
from celadon.kube import GroupVersionKind, GroupVersionResource
from tests.admission.building import RULE, WORLD, config_map, policy, request

DEPLOYMENTS = GroupVersionResource("apps", "v1", "deployments")
DEPLOYMENT = GroupVersionKind("apps", "v1", "Deployment")


def reason(
    constraints: dict[str, Any], asked: Request | None = None, world: ObjectWorld = WORLD
) -> MatchReason:
    asked = asked or request()
    resources = policy(matchConstraints=constraints).spec.match_constraints
    return match_reason(resources, target_of(asked), ObservedContext(asked, world))


@pytest.mark.parametrize(
    ("changed", "uncovered"),
    [
        ({}, ""),
        ({"apiGroups": ["apps"]}, "apiGroups"),
        ({"apiVersions": ["v2"]}, "apiVersions"),
        ({"operations": ["UPDATE"]}, "operations"),
        ({"resources": ["configmaps/status"]}, "resources"),
        ({"scope": "Cluster"}, "scope"),
        ({"resourceNames": ["other"]}, "resourceNames"),
        ({"resourceNames": ["other", "c"]}, ""),
    ],
)
def test_rules(changed: dict[str, Any], uncovered: str) -> None:
    found = reason({"resourceRules": [{**RULE, **changed}]})
    (rule,) = found.rules
    assert rule.uncovered == uncovered
    assert (found.hit is None) is bool(uncovered)
    expected = uncovered if uncovered == "resourceNames" else "resourceRules"
    assert found.missed == (expected if uncovered else "")


@pytest.mark.parametrize(
    ("changed", "missed"),
    [
        ({}, "excludeResourceRules"),
        ({"resourceNames": ["c"]}, "excludeResourceRules"),
        ({"resourceNames": ["other"]}, ""),
        ({"operations": ["DELETE"]}, ""),
    ],
)
def test_exclusions(changed: dict[str, Any], missed: str) -> None:
    found = reason({"resourceRules": [RULE], "excludeResourceRules": [{**RULE, **changed}]})
    assert found.missed == missed
    (excluded,) = found.excludes
    assert (excluded.uncovered == "") is bool(missed)


def test_object_selectors() -> None:
    constraints = {"resourceRules": [RULE], "objectSelector": {"matchLabels": {"a": "b"}}}
    found = reason(constraints, request(config_map(labels={"a": "c"})))
    assert found.missed == "objectSelector"
    assert found.object_selector is not None
    assert found.object_selector.selects is False
    assert list(found.object_selector.labels) == [{"a": "c"}]
    chosen = reason(constraints, request(config_map(labels={"a": "b"})))
    assert chosen.hit is not None
    assert chosen.object_selector is not None
    assert chosen.object_selector.selects is True


def test_namespace_selectors() -> None:
    name = {"kubernetes.io/metadata.name": "other"}
    found = reason({"resourceRules": [RULE], "namespaceSelector": {"matchLabels": name}})
    assert found.missed == "namespaceSelector"
    assert found.namespace_selector is not None
    assert list(found.namespace_selector.labels) == [{"kubernetes.io/metadata.name": "ns"}]


def test_namespaces_that_are_not_there() -> None:
    name = {"kubernetes.io/metadata.name": "other"}
    found = reason(
        {"resourceRules": [RULE], "namespaceSelector": {"matchLabels": name}}, world=ObjectWorld()
    )
    assert found.hit is None
    assert 'namespaces "ns" not found' in found.error
    assert found.namespace_selector is not None
    assert found.namespace_selector.selects is None


@pytest.mark.parametrize("policy_name", ["Exact", "Equivalent"])
def test_equivalent_resources(policy_name: str) -> None:
    rule = {**RULE, "apiGroups": ["events.k8s.io"], "resources": ["events"]}
    asked = request(
        {"apiVersion": "v1", "kind": "Event", "metadata": {"name": "c", "namespace": "ns"}},
        Operation.CREATE,
        kind=GroupVersionKind("", "v1", "Event"),
        resource=GroupVersionResource("", "v1", "events"),
    )
    found = reason({"resourceRules": [rule], "matchPolicy": policy_name}, asked)
    (one,) = found.rules
    if policy_name == "Exact":
        assert (found.hit, one.uncovered) == (None, "apiGroups")
    else:
        assert one.uncovered == ""
        assert one.resource == GroupVersionResource("events.k8s.io", "v1", "events")
        assert found.hit is not None
        assert found.hit.kind == GroupVersionKind("events.k8s.io", "v1", "Event")


def test_everything_matches_without_parts() -> None:
    asked = request()
    found = match_reason(None, target_of(asked), ObservedContext(asked, WORLD))
    assert found.hit is not None
    assert (found.rules, found.excludes, found.object_selector) == ((), (), None)
