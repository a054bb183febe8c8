"""What violated a rule before it is changed (`allowExistingViolations`)."""

from __future__ import annotations

from typing import Any

import pytest

from celadon.admission import Operation
from celadon.kube import JsonObject, User
from celadon.migrate import translate_document
from tests.migrate.kyverno.policy_documents import (
    CATALOG,
    kyverno_policy,
    pod,
    result,
    rule,
    translated,
)

LATEST = pod({"containers": [{"name": "c", "image": "nginx:latest"}]})
TAGGED = pod()
PATTERN = {"spec": {"containers": [{"image": "!*:latest"}]}}
ALLOWED: JsonObject = {"allowExistingViolations": True, "failureAction": "Enforce"}
DENY = {
    "conditions": {
        "any": [
            {
                "key": "{{ request.object.spec.containers[].image }}",
                "operator": "AnyIn",
                "value": ["*:latest"],
            }
        ]
    }
}
EACH = [
    {
        "list": "request.object.spec.containers",
        "deny": {
            "conditions": {
                "any": [{"key": "{{element.image}}", "operator": "Equals", "value": "*:latest"}]
            }
        },
    }
]


def _updated(document: JsonObject, old: JsonObject, new: JsonObject) -> str:
    return result(translated(document), new, operation=Operation.UPDATE, old=old)


@pytest.mark.parametrize(
    "demand",
    [{"pattern": PATTERN}, {"anyPattern": [PATTERN]}, {"deny": DENY}, {"foreach": EACH}],
    ids=["pattern", "anyPattern", "deny", "foreach"],
)
def test_what_violated_a_rule_before_may_be_changed(demand: JsonObject) -> None:
    document = kyverno_policy(rule({**ALLOWED, **demand}))
    assert _updated(document, LATEST, LATEST) == "pass"
    assert _updated(document, TAGGED, LATEST) == "fail"
    assert _updated(document, LATEST, TAGGED) == "pass"
    assert result(translated(document), LATEST) == "fail"


def test_pod_security() -> None:
    given = {"level": "baseline", "version": "latest"}
    document = kyverno_policy(rule({**ALLOWED, "podSecurity": given}))
    on_host, on_ipc = pod({"hostNetwork": True}), pod({"hostIPC": True})
    assert _updated(document, on_host, on_ipc) == "pass"
    assert _updated(document, pod(), on_host) == "fail"
    assert result(translated(document), on_host) == "fail"


def _matching(**resources: Any) -> JsonObject:
    match = {"any": [{"resources": {"kinds": ["Pod"], **resources}}]}
    return {**rule({**ALLOWED, "pattern": PATTERN}), "match": match}


def test_it_was_matched_before_by_its_labels() -> None:
    document = kyverno_policy(_matching(selector={"matchLabels": {"a": "b"}}))
    labelled = {**LATEST, "metadata": {**LATEST["metadata"], "labels": {"a": "b"}}}
    assert _updated(document, labelled, labelled) == "pass"
    assert _updated(document, LATEST, labelled) == "fail"


def test_it_was_not_excluded_before() -> None:
    excluded = {"any": [{"resources": {"annotations": {"skip": "yes"}}}]}
    document = kyverno_policy({**_matching(), "exclude": excluded})
    skipped = {**LATEST, "metadata": {**LATEST["metadata"], "annotations": {"skip": "yes"}}}
    assert _updated(document, LATEST, LATEST) == "pass"
    assert _updated(document, skipped, LATEST) == "fail"


def test_rules_of_subresources_never_matched_it() -> None:
    pattern = {"spec": {"replicas": "<9"}}
    scaled = kyverno_policy(rule({**ALLOWED, "pattern": pattern}, ["Deployment/scale"]))
    (policy,) = translated(scaled).policies
    (one,) = policy["spec"]["matchConstraints"]["resourceRules"]
    assert one["resources"] == ["deployments/scale"]
    assert "oldObject" not in str(policy["spec"])


def test_rules_of_users_never_matched_it_and_excluded_nobody() -> None:
    eve = [{"kind": "User", "name": "eve"}]
    matched = {"any": [{"resources": {"kinds": ["Pod"]}, "subjects": eve}]}
    given = rule({**ALLOWED, "pattern": PATTERN})
    for one, expected in (
        ({**given, "match": matched}, "fail"),
        ({**given, "exclude": {"any": [{"subjects": eve}]}}, "pass"),
    ):
        case = translated(kyverno_policy(one))
        user = User("eve" if expected == "fail" else "adam")
        found = result(case, LATEST, operation=Operation.UPDATE, old=LATEST, user=user)
        assert found == expected


def test_rules_that_are_not_for_creation_never_matched_it() -> None:
    document = kyverno_policy(_matching(operations=["UPDATE"]))
    assert _updated(document, LATEST, LATEST) == "fail"


def test_preconditions_are_asked_of_what_it_was() -> None:
    condition = {"key": "{{ request.object.metadata.name }}", "operator": "Equals", "value": "a"}
    document = kyverno_policy(
        rule({**ALLOWED, "pattern": PATTERN}, preconditions={"all": [condition]})
    )
    assert _updated(document, LATEST, LATEST) == "pass"
    operation = {"key": "{{ request.operation }}", "operator": "Equals", "value": "UPDATE"}
    document = kyverno_policy(
        rule({**ALLOWED, "pattern": PATTERN}, preconditions={"all": [operation]})
    )
    assert _updated(document, LATEST, LATEST) == "fail"


@pytest.mark.parametrize(
    ("own", "is_wished", "verdict"),
    [
        ({"failureAction": "Enforce"}, True, "pass"),
        ({"failureAction": "Enforce"}, False, "fail"),
        ({"failureAction": "Audit"}, True, "fail"),
        ({"failureAction": "Enforce", "allowExistingViolations": False}, True, "fail"),
    ],
)
def test_rules_that_say_nothing(own: JsonObject, verdict: str, *, is_wished: bool) -> None:
    document = kyverno_policy(rule({**own, "pattern": PATTERN}))
    (found,) = translate_document(document, CATALOG, allows_existing=is_wished)
    assert result(found, LATEST, operation=Operation.UPDATE, old=LATEST) == verdict
