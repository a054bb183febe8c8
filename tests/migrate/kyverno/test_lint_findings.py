"""What is written has no findings of the linter: a table of rules, translated and linted."""

from __future__ import annotations

from typing import Any

import pytest

from celadon.admission.lint import Settings, lint
from celadon.kube import Json, JsonObject
from tests.migrate.kyverno.policy_documents import kyverno_policy, rule, translated
from tests.migrate.kyverno.test_mutate_rules import MERGES, PATCHES, mutating


def denying(key: Json, operator: str, value: Json, **more: Json) -> dict[str, Any]:
    """A rule that denies what fulfils a condition."""
    condition = {"key": key, "operator": operator, "value": value}
    return {"deny": {"conditions": {"all": [condition]}}, "message": "no", **more}


def wanting(pattern: JsonObject) -> dict[str, Any]:
    return {"message": "no", "pattern": pattern}


def each(**entry: Json) -> dict[str, Any]:
    return {"message": "no", "foreach": [{"list": "request.object.spec.containers", **entry}]}


IMAGE = "{{ request.object.spec.containers[].image }}"
ANNOTATIONS = "{{ request.object.metadata.annotations.values(@)[].regex_match('a.*b', @) }}"
VALIDATIONS: list[JsonObject] = [
    wanting({"metadata": {"labels": {"team": "?*"}}}),
    wanting({"metadata": {"=(labels)": {"X(a)": "null"}}}),
    wanting({"spec": {"containers": [{"image": "!*:latest & *:*"}]}}),
    wanting({"spec": {"=(hostNetwork)": False, "=(volumes)": [{"X(hostPath)": "null"}]}}),
    wanting({"spec": {"containers": [{"(image)": "*:1", "imagePullPolicy": "Always"}]}}),
    wanting({"spec": {"^(containers)": [{"name": "a"}]}}),
    wanting({"spec": {"<(hostNetwork)": True, "containers": [{"tty": False}]}}),
    wanting({"spec": {"containers": [{"resources": {"limits": {"memory": "<=1Gi"}}}]}}),
    {"message": "no", "anyPattern": [{"spec": {"hostPID": False}}, {"spec": {"hostIPC": False}}]},
    denying(IMAGE, "AnyIn", ["*:latest", "a*"]),
    denying(IMAGE, "AnyNotIn", ["registry.example.com/*"]),
    denying(IMAGE, "AllNotIn", ["a:1", "b:1"]),
    denying("{{ request.object.metadata.labels.a || '' }}", "Equals", ""),
    denying("{{ length(request.object.spec.containers) }}", "GreaterThan", 3),
    denying("{{ request.operation }}", "NotEquals", "CREATE"),
    denying(ANNOTATIONS, "AnyIn", [True]),
    denying("{{ request.object.spec.volumes[?hostPath].name }}", "AnyNotIn", ["a"]),
    each(pattern={"image": "a*"}),
    each(deny={"conditions": {"any": [
        {"key": "{{ element.securityContext.capabilities.add[] || `[]` }}",
         "operator": "AnyNotIn", "value": ["NET_RAW"]}]}}),
    {"podSecurity": {"level": "restricted", "version": "latest"}},
]  # fmt: skip


@pytest.mark.parametrize("validate", VALIDATIONS)
@pytest.mark.parametrize("annotations", [None, {}], ids=["pods", "controllers"])
def test_a_rule_that_validates(validate: JsonObject, annotations: JsonObject | None) -> None:
    not_deleted = {"any": [{"resources": {"operations": ["DELETE"]}}]}
    given = rule(validate, exclude=not_deleted)
    assert_clean(kyverno_policy(given, annotations=annotations))


@pytest.mark.parametrize("mutate", [one for one, _, _ in [*MERGES, *PATCHES]])
def test_a_rule_that_mutates_pods(mutate: JsonObject) -> None:
    assert_clean(mutating(mutate))


def test_rules_that_mutate_controllers() -> None:
    (given,) = mutating({"patchStrategicMerge": {"spec": {"hostNetwork": True}}})["spec"]["rules"]
    assert_clean(kyverno_policy(given, annotations={}))


def test_rules_for_different_namespaces() -> None:
    rules = []
    for size in ("small", "large"):
        block = {"kinds": ["Pod"], "namespaceSelector": {"matchLabels": {"size": size}}}
        patch = {"spec": {"priorityClassName": size}}
        rules.append(
            {"name": size, "match": {"any": [{"resources": block}]},
             "mutate": {"patchStrategicMerge": patch}}
        )  # fmt: skip
    assert_clean(kyverno_policy(*rules))


def assert_clean(policy: JsonObject) -> None:
    """Assert that a policy is translated, and that nothing is to be said of what it becomes."""
    found = translated(policy)
    assert not found.reason, found.reason
    findings = lint(list(found.documents), Settings(version="1.36"))
    assert [(one.code, one.message) for one in findings] == []
