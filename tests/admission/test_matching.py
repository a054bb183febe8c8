"""Rules, scopes, equivalents and selectors."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import pytest

from celadon.admission.activation import MatchError
from celadon.admission.policies.matching import Target, is_exempt, matches, plan
from celadon.admission.registration.registration_types import (
    EQUIVALENT,
    EXACT,
    MatchResources,
    Rule,
)
from celadon.kube import GroupResource, GroupVersionKind, GroupVersionResource, status
from celadon.kube.resources import known_resources

CATALOG = known_resources(all_versions=True)
PODS = GroupVersionResource("", "v1", "pods")
POD = GroupVersionKind("", "v1", "Pod")
HPAS = GroupVersionResource("autoscaling", "v2", "horizontalpodautoscalers")
HPA = GroupVersionKind("autoscaling", "v2", "HorizontalPodAutoscaler")
NAMESPACES = GroupVersionResource("", "v1", "namespaces")
NAMESPACE = GroupVersionKind("", "v1", "Namespace")
ANY = Rule(("*",), ("*",), ("*",), ("*",), "*")


@dataclass
class FakeLabels:
    name: str = "n"
    namespace: Mapping[str, str] | None = None
    objects: Sequence[Mapping[str, str]] = ()
    missing: bool = False

    def namespace_labels(self) -> Mapping[str, str] | None:
        if self.missing:
            raise MatchError(status.not_found(GroupResource("", "namespaces"), "gone"))
        return self.namespace

    def object_labels(self) -> Sequence[Mapping[str, str]]:
        return self.objects


def target(
    resource: GroupVersionResource = PODS,
    kind: GroupVersionKind = POD,
    subresource: str = "",
    operation: str = "CREATE",
    in_namespace: bool = True,
) -> Target:
    return Target(resource, kind, subresource, operation, in_namespace)


def rule(*resources: str, **given: Any) -> Rule:
    values: dict[str, Any] = {
        "operations": ("*",),
        "api_groups": ("*",),
        "api_versions": ("*",),
        "resources": resources,
        "scope": "*",
    }
    values.update(given)
    return Rule(**values)


def match(*rules: Rule, **given: Any) -> MatchResources:
    values: dict[str, Any] = {
        "resource_rules": rules,
        "namespace_selector": {},
        "object_selector": {},
        "match_policy": EQUIVALENT,
    }
    values.update(given)
    return MatchResources(**values)


def matched(given: MatchResources, where: Target, labels: FakeLabels | None = None) -> bool:
    found = plan(given, where, CATALOG)
    return found is not None and matches(found, labels or FakeLabels()) is not None


RESOURCES = [
    ("pods", "", True),
    ("pods", "status", False),
    ("pods/status", "status", True),
    ("pods/status", "", False),
    ("pods/*", "", True),
    ("pods/*", "status", True),
    ("*", "", True),
    ("*", "status", False),
    ("*/*", "", True),
    ("*/*", "exec", True),
    ("*/exec", "exec", True),
    ("*/exec", "attach", False),
    ("services", "", False),
]


@pytest.mark.parametrize(("entry", "subresource", "expected"), RESOURCES)
def test_resources(entry: str, subresource: str, expected: bool) -> None:
    assert matched(match(rule(entry)), target(subresource=subresource)) is expected


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        ({"operations": ("UPDATE",)}, False),
        ({"operations": ("UPDATE", "CREATE")}, True),
        ({"api_groups": ("apps",)}, False),
        ({"api_groups": ("apps", "")}, True),
        ({"api_versions": ("v2",)}, False),
        ({"resource_names": ("n",)}, True),
        ({"resource_names": ("other",)}, False),
    ],
)
def test_the_other_parts_of_a_rule(given: dict[str, Any], expected: bool) -> None:
    assert matched(match(rule("pods", **given)), target()) is expected


SCOPES = [
    ("*", target(), True),
    ("Namespaced", target(), True),
    ("Cluster", target(), False),
    ("Namespaced", target(NAMESPACES, NAMESPACE), False),
    ("Cluster", target(NAMESPACES, NAMESPACE), True),
    ("Namespaced", target(NAMESPACES._replace(group="example.com"), NAMESPACE), True),
    ("Cluster", target(in_namespace=False), True),
    ("Elsewhere", target(), False),
    (None, target(), True),
]


@pytest.mark.parametrize(("scope", "where", "expected"), SCOPES)
def test_scopes(scope: str | None, where: Target, expected: bool) -> None:
    assert matched(match(rule("*", scope=scope)), where) is expected


def test_an_equivalent_version_matches_as_what_it_is() -> None:
    old = rule("horizontalpodautoscalers", api_groups=("autoscaling",), api_versions=("v1",))
    found = plan(match(old), target(HPAS, HPA), CATALOG)
    assert found is not None
    assert found.direct is not None
    assert found.direct.kind == HPA._replace(version="v1")
    assert found.direct.resource == HPAS._replace(version="v1")
    assert plan(match(old, match_policy=EXACT), target(HPAS, HPA), CATALOG) is None
    assert plan(match(old, match_policy=None), target(HPAS, HPA), CATALOG) is None


def test_the_request_version_wins_over_an_earlier_equivalent_rule() -> None:
    rules = [rule("*", api_groups=("autoscaling",), api_versions=(v,)) for v in ("v1", "v2")]
    found = plan(match(*rules), target(HPAS, HPA), CATALOG)
    assert found is not None
    assert found.direct is not None
    assert found.direct.kind == HPA


def test_names_hold_for_equivalents_too() -> None:
    old = rule("*", api_groups=("autoscaling",), api_versions=("v1",), resource_names=("x",))
    where = target(HPAS, HPA)
    assert matched(match(old), where, FakeLabels("x"))
    assert not matched(match(old), where, FakeLabels("y"))


def test_exclusion_wins() -> None:
    excluded = (rule("pods", resource_names=("golden",)),)
    given = match(ANY, exclude_resource_rules=excluded)
    assert matched(given, target(), FakeLabels("plain"))
    assert not matched(given, target(), FakeLabels("golden"))
    assert plan(match(ANY, exclude_resource_rules=(rule("pods"),)), target(), CATALOG) is None


def test_an_equivalent_can_exclude() -> None:
    old = rule("*", api_groups=("autoscaling",), api_versions=("v1",))
    where = target(HPAS, HPA)
    assert not matched(match(ANY, exclude_resource_rules=(old,)), where)
    assert matched(match(ANY, exclude_resource_rules=(old,), match_policy=EXACT), where)


def test_nothing_to_match_is_everything() -> None:
    assert matched(match(), target())
    found = plan(None, target(), CATALOG)
    assert found is not None
    assert found.direct is not None
    assert not matched(match(Rule()), target())


SELECTOR = {"matchLabels": {"env": "prod"}}


@pytest.mark.parametrize(
    ("labels", "expected"),
    [
        (FakeLabels(namespace={"env": "prod"}), True),
        (FakeLabels(namespace={"env": "test"}), False),
        (FakeLabels(namespace={}), False),
        (FakeLabels(namespace=None), True),
    ],
)
def test_namespace_selectors(labels: FakeLabels, expected: bool) -> None:
    assert matched(match(ANY, namespace_selector=SELECTOR), target(), labels) is expected


@pytest.mark.parametrize(
    ("objects", "expected"),
    [
        ([{"env": "prod"}], True),
        ([{}, {"env": "prod"}], True),
        ([{}], False),
        ([], False),
    ],
)
def test_object_selectors(objects: list[dict[str, str]], expected: bool) -> None:
    given = match(ANY, object_selector=SELECTOR)
    assert matched(given, target(), FakeLabels(objects=objects)) is expected


def test_a_missing_namespace_is_an_error_only_where_rules_match() -> None:
    labels = FakeLabels(missing=True)
    with pytest.raises(MatchError, match='namespaces "gone" not found'):
        matched(match(ANY, namespace_selector=SELECTOR), target(), labels)
    assert not matched(match(rule("services"), namespace_selector=SELECTOR), target(), labels)
    named = rule("pods", resource_names=("other",))
    assert not matched(match(named, namespace_selector=SELECTOR), target(), labels)


def test_a_broken_selector_is_an_error_only_where_rules_match() -> None:
    broken = {"matchLabels": {"env": "not a value"}}
    for selector in ("namespace_selector", "object_selector"):
        with pytest.raises(MatchError, match=r"^Internal error occurred: "):
            matched(match(ANY, **{selector: broken}), target(), FakeLabels(namespace={}))
        assert not matched(match(rule("services"), **{selector: broken}), target())


def test_a_missing_selector_is_an_error() -> None:
    with pytest.raises(MatchError, match=r"^a nil object selector was passed"):
        matched(match(ANY, object_selector=None), target())


REVIEWS = {
    "authentication.k8s.io": "selfsubjectreviews tokenreviews",
    "authorization.k8s.io": "localsubjectaccessreviews selfsubjectaccessreviews "
    "selfsubjectrulesreviews subjectaccessreviews",
}
POLICIES = "validatingadmissionpolicies validatingadmissionpolicybindings "
POLICIES += "mutatingadmissionpolicies mutatingadmissionpolicybindings"
EXEMPT = [
    *((group, name, True, True) for group, names in REVIEWS.items() for name in names.split()),
    *(("admissionregistration.k8s.io", name, True, False) for name in POLICIES.split()),
    ("admissionregistration.k8s.io", "validatingwebhookconfigurations", False, False),
    ("admissionregistration.k8s.io", "mutatingwebhookconfigurations", False, False),
    ("authorization.k8s.io", "tokenreviews", False, False),
    ("", "tokenreviews", False, False),
    ("", "bindings", False, False),
    ("", "events", False, False),
]


@pytest.mark.parametrize(("group", "name", "of_objects", "of_files"), EXEMPT)
def test_what_policies_never_see(group: str, name: str, of_objects: bool, of_files: bool) -> None:
    for version in ("v1", "v7"):
        resource = GroupVersionResource(group, version, name)
        assert is_exempt(resource) is of_objects
        assert is_exempt(resource, static=True) is of_files
