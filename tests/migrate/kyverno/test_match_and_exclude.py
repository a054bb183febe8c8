"""What a rule applies to."""

from __future__ import annotations

from typing import Any

import pytest

from celadon.admission import Operation
from celadon.kube import JsonObject, User
from celadon.migrate import translate_document
from celadon.migrate.kyverno.match_and_exclude import resource_rules
from tests.migrate.kyverno.policy_documents import (
    CATALOG,
    kyverno_policy,
    pod,
    result,
    rule,
    translated,
)

DENY: dict[str, Any] = {"message": "no", "deny": {}}


@pytest.mark.parametrize(
    ("kind", "rules"),
    [
        ("Pod", [("", "*", "pods")]),
        ("v1/Pod", [("", "v1", "pods")]),
        ("apps/v1/Deployment", [("apps", "v1", "deployments")]),
        ("apps/*/Deployment", [("apps", "*", "deployments")]),
        ("*/Deployment", [("apps", "*", "deployments")]),
        ("Pod/exec", [("", "*", "pods/exec")]),
        ("Pod.status", [("", "*", "pods/status")]),
        ("apps/v1/Deployment/scale", [("apps", "v1", "deployments/scale")]),
        ("HorizontalPodAutoscaler", [("autoscaling", "v2", "horizontalpodautoscalers")]),
        ("Widget", [("*", "*", "widgets")]),
        ("example.com/v1/NetworkPolicy", [("example.com", "v1", "networkpolicies")]),
        ("*", [("*", "*", "*")]),
        ("v1/Deployment", [("apps", "v1", "deployments")]),
        ("v1/Deployment/scale", [("apps", "v1", "deployments/scale")]),
        ("*/scale", [("*", "*", "*/scale")]),
        ("*/*", [("*", "*", "*/*")]),
        ("*/Deployment.scale", [("apps", "*", "deployments/scale")]),
    ],
)
def test_kinds(kind: str, rules: list[tuple[str, str, str]]) -> None:
    found = resource_rules(kind, CATALOG)
    assert [(one.group, one.version, one.resource) for one in found] == rules


def judged(match: dict[str, Any], obj: dict[str, Any], **more: Any) -> str:
    """What a rule says that denies all it matches."""
    exclude = more.pop("exclude", {})
    document = kyverno_policy({"name": "r", "match": match, "exclude": exclude, "validate": DENY})
    return result(translated(document), obj, **more)


PODS = {"kinds": ["Pod"]}


@pytest.mark.parametrize(
    ("kinds", "found"),
    [
        (["Pod"], "skip"),
        (["v1/Pod"], "skip"),
        (["*/Pod"], "skip"),
        (["*/v1/Pod"], "fail"),  # any version of a kind `v1`, below it `Pod`
        (["v2/Pod"], "fail"),
        (["example.com/v1/Pod"], "fail"),
        (["example.com/v1/Pod", "P*"], "skip"),
        (["Pod/exec"], "fail"),
        (["Service"], "fail"),
        (["*"], "skip"),
    ],
)
def test_excluded_kinds(kinds: list[str], found: str) -> None:
    exclude = {"any": [{"resources": {"kinds": kinds}}]}
    assert judged({"any": [{"resources": PODS}]}, pod(), exclude=exclude) == found


@pytest.mark.parametrize(
    ("resources", "obj", "found"),
    [
        (PODS, pod(), "fail"),
        ({**PODS, "names": ["a*"]}, pod(), "fail"),
        ({**PODS, "name": "b"}, pod(), "skip"),
        ({**PODS, "namespaces": ["kube-*", "default"]}, pod(), "fail"),
        ({**PODS, "namespaces": ["kube-*"]}, pod(), "skip"),
        ({**PODS, "selector": {"matchLabels": {"a": "b"}}}, pod(labels={"a": "b"}), "fail"),
        ({**PODS, "selector": {"matchLabels": {"a": "b"}}}, pod(), "skip"),
        ({**PODS, "selector": {"matchLabels": {"a*": "?*"}}}, pod(labels={"ab": "c"}), "fail"),
        ({**PODS, "annotations": {"a": "*"}}, pod(annotations={"a": ""}), "fail"),
        ({**PODS, "annotations": {"a": "x*"}}, pod(annotations={"a": "y"}), "skip"),
        ({**PODS, "operations": ["UPDATE"]}, pod(), "skip"),
    ],
)
def test_resources(resources: dict[str, Any], obj: dict[str, Any], found: str) -> None:
    assert judged({"any": [{"resources": resources}]}, obj) == found
    # As one block of two, where selectors have no field of their own.
    other = {"resources": {"kinds": ["ConfigMap"]}}
    assert judged({"any": [{"resources": resources}, other]}, obj) == found
    assert judged({"any": [{"resources": PODS}]}, obj, exclude={"resources": resources}) == (
        "skip" if found == "fail" else "fail"
    )


@pytest.mark.parametrize(
    ("match", "exclude", "found"),
    [
        ({"any": [{"resources": PODS}]}, {"any": [{"resources": {"namespaces": []}}]}, "fail"),
        ({"any": [{"resources": PODS}]}, {"any": [{"resources": {}}, {}]}, "fail"),
        ({"any": [{"resources": PODS}]}, {"all": [{"resources": {}}, {"resources": PODS}]}, "fail"),
        ({"any": [{"resources": {}}, {"resources": PODS}]}, {}, "fail"),
        ({"any": [{"resources": {}}, {"resources": {"kinds": ["Service"]}}]}, {}, "skip"),
    ],
)
def test_what_says_nothing_takes_nothing(
    match: dict[str, Any], exclude: dict[str, Any], found: str
) -> None:
    assert judged(match, pod(), exclude=exclude) == found


@pytest.mark.parametrize(
    "match", [{"any": [{"resources": {}}]}, {"all": [{}, {"resources": PODS}]}]
)
def test_a_match_that_says_nothing(match: dict[str, Any]) -> None:
    found = translated(kyverno_policy({"name": "r", "match": match, "validate": DENY}))
    assert found.reason == "a rule that matches nothing"


def test_a_block_without_operations_takes_all_of_them() -> None:
    of_pods = {"resources": {**PODS, "operations": ["CREATE"]}}
    match = {"any": [of_pods, {"resources": {"kinds": ["ConfigMap"]}}]}
    config_map = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "a"}}
    assert judged(match, config_map, operation=Operation.UPDATE) == "fail"
    assert judged(match, pod(), operation=Operation.UPDATE) == "skip"
    assert judged(match, pod()) == "fail"


@pytest.mark.parametrize("operations", [["DELETE"], ["CREATE", "DELETE"]])
@pytest.mark.parametrize(
    ("resources", "found"),
    [
        ({"names": ["a"]}, "fail"),
        ({"names": ["b"]}, "skip"),
        ({"annotations": {"a": "b*"}}, "fail"),
        ({"annotations": {"b": "*"}}, "skip"),
        ({"selector": {"matchLabels": {"a*": "b"}}}, "fail"),
        ({"selector": {"matchLabels": {"b*": "b"}}}, "skip"),
    ],
)
def test_what_is_deleted_is_matched_by_what_it_was(
    operations: list[str], resources: dict[str, Any], found: str
) -> None:
    given = {"resources": {**PODS, **resources, "operations": operations}}
    obj = pod(annotations={"a": "bc"}, labels={"ab": "b"})
    assert judged({"any": [given]}, obj, operation=Operation.DELETE) == found
    if "CREATE" in operations:
        assert judged({"any": [given]}, obj) == found


def test_rules_in_cel_judge_deletions() -> None:
    match = {"any": [{"resources": {**PODS, "names": ["a"]}}]}
    cel = {"cel": {"expressions": [{"expression": "request.operation != 'DELETE'"}]}}
    found = translated(kyverno_policy({"name": "r", "match": match, "validate": cel}))
    assert result(found, pod(), operation=Operation.DELETE) == "fail"
    assert result(found, pod(name="b"), operation=Operation.DELETE) == "skip"


@pytest.mark.parametrize(
    ("operator", "found"), [("In", "skip"), ("NotIn", "fail"), ("DoesNotExist", "fail")]
)
def test_what_is_in_no_namespace_is_in_one_without_labels(operator: str, found: str) -> None:
    values = {"values": ["true"]} if operator != "DoesNotExist" else {}
    selector = {"matchExpressions": [{"key": "frozen", "operator": operator, **values}]}
    everything = {"resources": {"kinds": ["*"]}}
    selected = {"resources": {"kinds": ["*"], "namespaceSelector": selector}}
    node = {"apiVersion": "v1", "kind": "Node", "metadata": {"name": "a"}}
    namespace = {**node, "kind": "Namespace"}
    assert judged({"any": [selected]}, node) == found
    assert judged({"any": [selected]}, namespace) == "skip"
    opposite = "skip" if found == "fail" else "fail"
    # As a condition, which is a variable of the validations, so that it passes where it is not met.
    judgements = [
        judged({"any": [everything]}, one, exclude={"any": [selected]}) for one in (node, namespace)
    ]
    assert judgements == [opposite.replace("skip", "pass"), "fail"]


@pytest.mark.parametrize(
    ("subject", "user", "found"),
    [
        ({"kind": "User", "name": "ann"}, User("ann"), "fail"),
        ({"kind": "User", "name": "ann"}, User("bob"), "skip"),
        ({"kind": "Group", "name": "dev*"}, User("bob", ("developers",)), "fail"),
        (
            {"kind": "ServiceAccount", "namespace": "ci", "name": "bot"},
            User("system:serviceaccount:ci:bot"),
            "fail",
        ),
    ],
)
def test_subjects(subject: dict[str, str], user: User, found: str) -> None:
    assert judged({"any": [{"resources": PODS, "subjects": [subject]}]}, pod(), user=user) == found


def test_roles_are_not_seen_by_policies() -> None:
    match = {"any": [{"resources": PODS, "clusterRoles": ["edit"]}]}
    found = translated(kyverno_policy({"name": "r", "match": match, "validate": DENY}))
    assert found.reason == "roles of the user, which admission policies do not see"
    assert found.instead


def test_a_policy_of_a_namespace_stays_in_it() -> None:
    document = kyverno_policy(rule(DENY), kind="Policy")
    document["metadata"]["namespace"] = "shop"
    found = translated(document)
    assert result(found, pod()) == "skip"
    assert result(found, pod(namespace="shop")) == "fail"


def test_a_policy_of_a_namespace_with_a_rule_for_another() -> None:
    match = {"any": [{"resources": {**PODS, "namespaces": ["default"]}}]}
    document = kyverno_policy({**rule(DENY), "match": match}, kind="Policy")
    document["metadata"]["namespace"] = "shop"
    assert result(translated(document), pod()) == "skip"
    assert result(translated(document), pod(namespace="shop")) == "skip"


def test_what_mutates_comes_before_names_are_generated() -> None:
    match = {"any": [{"resources": {**PODS, "names": ["web-*"]}}]}
    mutate = {"patchStrategicMerge": {"metadata": {"labels": {"a": "b"}}}}
    found = translated(kyverno_policy({"name": "r", "match": match, "mutate": mutate}))
    unnamed = pod(generateName="web-")
    del unnamed["metadata"]["name"]
    assert result(found, unnamed) == "pass"
    assert result(found, pod(name="web-1")) == "pass"
    assert result(found, pod(generateName="web-")) == "skip"


def test_rules_for_pods_are_for_controllers_too() -> None:
    document = kyverno_policy(rule({"pattern": {"spec": {"hostNetwork": False}}}), annotations={})
    found = translated(document)
    names = [one["metadata"]["name"] for one in found.policies]
    assert names == ["p", "p-controllers", "p-cronjobs"]
    assert [one["spec"]["validations"][0]["expression"] for one in found.policies] == [
        "has(object.spec.hostNetwork) && !object.spec.hostNetwork",
        "has(object.spec.template.spec.hostNetwork) && !object.spec.template.spec.hostNetwork",
        "has(object.spec.jobTemplate.spec.template.spec.hostNetwork) && "
        "!object.spec.jobTemplate.spec.template.spec.hostNetwork",
    ]
    resources = [
        name
        for one in found.policies[1]["spec"]["matchConstraints"]["resourceRules"]
        for name in one["resources"]
    ]
    assert sorted(resources) == [
        *("daemonsets", "deployments", "jobs", "replicasets"),
        *("replicationcontrollers", "statefulsets"),
    ]


@pytest.mark.parametrize(
    "validate",
    [
        {"cel": {"expressions": [{"expression": "true &&\nobject.spec.hostNetwork == false"}]}},
        {
            "deny": {
                "conditions": {
                    "any": [
                        {
                            "key": "{{ `true` &&\nrequest.object.spec.hostNetwork }}",
                            "operator": "Equals",
                            "value": True,
                        }
                    ]
                }
            }
        },
    ],
)
def test_paths_at_the_begin_of_a_line_are_moved(validate: dict[str, Any]) -> None:
    found = translated(kyverno_policy(rule(validate), annotations={}))
    paths = ("", "template.spec.", "jobTemplate.spec.template.spec.")
    for policy, path in zip(found.policies, paths, strict=True):
        assert f"object.spec.{path}hostNetwork" in policy["spec"]["validations"][0]["expression"]


@pytest.mark.parametrize(
    ("annotation", "resources", "names"),
    [
        ("none", PODS, ["p"]),
        ("Deployment", PODS, ["p", "p-controllers"]),
        ("CronJob", PODS, ["p", "p-cronjobs"]),
        ("all", {**PODS, "names": ["a"]}, ["p"]),
        ("all", {"kinds": ["Pod", "Service"]}, ["p"]),
        ("all", {"kinds": ["Service"]}, ["p"]),
    ],
)
def test_which_rules_are_for_controllers(
    annotation: str, resources: dict[str, Any], names: list[str]
) -> None:
    annotations = {"pod-policies.kyverno.io/autogen-controllers": annotation}
    match = {"any": [{"resources": resources}]}
    document = kyverno_policy(
        {"name": "r", "match": match, "validate": DENY}, annotations=annotations
    )
    (found,) = translate_document(document, CATALOG)
    assert [one["metadata"]["name"] for one in found.policies] == names


@pytest.mark.parametrize(
    ("of_policy", "of_rule", "actions"),
    [
        ({}, {}, ["Warn", "Audit"]),
        ({"validationFailureAction": "Enforce"}, {}, ["Deny"]),
        ({"validationFailureAction": "enforce"}, {"failureAction": "Audit"}, ["Warn", "Audit"]),
        ({}, {"failureAction": "Enforce"}, ["Deny"]),
    ],
)
def test_what_is_enforced_is_denied(
    of_policy: dict[str, Any], of_rule: dict[str, Any], actions: list[str]
) -> None:
    found = translated(kyverno_policy(rule({**DENY, **of_rule}), **of_policy))
    assert found.documents[1]["spec"]["validationActions"] == actions


def named(operator: str, *names: str) -> dict[str, Any]:
    return {"key": "kubernetes.io/metadata.name", "operator": operator, "values": [*names]}


TEAM = {"key": "team", "operator": "In", "values": ["a"]}
NO_TEAM = {**TEAM, "operator": "NotIn"}


@pytest.mark.parametrize(
    ("overrides", "bindings"),
    [
        ([{"action": "audit", "namespaces": ["prod"]}], [("p", "Warn", [])]),
        (
            [{"action": "Enforce", "namespaces": ["prod", "live"]}],
            [
                ("p-enforce", "Deny", [named("In", "prod", "live")]),
                ("p", "Warn", [named("NotIn", "prod", "live")]),
            ],
        ),
        # The first that fits counts.
        (
            [
                {"action": "audit", "namespaces": ["prod"]},
                {"action": "enforce", "namespaceSelector": {"matchLabels": {"team": "a"}}},
            ],
            [
                ("p-audit", "Warn", [named("In", "prod")]),
                ("p-enforce", "Deny", [TEAM, named("NotIn", "prod")]),
                ("p", "Warn", [named("NotIn", "prod"), NO_TEAM]),
            ],
        ),
    ],
)
def test_actions_that_differ_by_namespace_are_bindings(
    overrides: list[dict[str, Any]], bindings: list[Any]
) -> None:
    policy = kyverno_policy(rule(DENY), validationFailureActionOverrides=overrides)
    own = kyverno_policy(rule({**DENY, "failureActionOverrides": overrides}))
    for one in (policy, own):
        _, *found = translated(one).documents
        assert bindings == [
            (
                binding["metadata"]["name"],
                binding["spec"]["validationActions"][0],
                (binding["spec"].get("matchResources") or {})
                .get("namespaceSelector", {})
                .get("matchExpressions", []),
            )
            for binding in found
        ]


@pytest.mark.parametrize(
    ("overrides", "kind", "reason"),
    [
        ([{"action": "enforce", "namespaces": ["p*"]}], "Pod", "named by wildcards"),
        (
            [
                {
                    "action": "enforce",
                    "namespaces": ["prod"],
                    "namespaceSelector": {"matchLabels": {"a": "b"}},
                }
            ],
            "Pod",
            "several things",
        ),
        ([{"action": "enforce", "namespaces": ["prod"]}], "Node", "in none"),
        ([{"action": "enforce", "namespaces": ["prod"]}], "Namespace", "in none"),
    ],
)
def test_actions_that_bindings_cannot_tell_apart(
    overrides: list[dict[str, Any]], kind: str, reason: str
) -> None:
    given = kyverno_policy(rule(DENY, [kind]), validationFailureActionOverrides=overrides)
    assert reason in translated(given).reason


OF_PROD: dict[str, Any] = {
    "any": [{"resources": {"namespaceSelector": {"matchLabels": {"env": "prod"}}}}]
}


def test_what_asks_for_the_namespace_is_no_match_condition() -> None:
    """An API server does not give the namespace to match conditions, so that all of them would
    fail."""
    found = translated(kyverno_policy(rule(DENY, exclude=OF_PROD)))
    (policy,) = found.policies
    assert "matchConditions" not in policy["spec"]
    assert [one["name"] for one in policy["spec"]["variables"]] == ["isNotExcluded"]
    (validation,) = policy["spec"]["validations"]
    assert validation["expression"] == "!variables.isNotExcluded || (false)"
    prod = {"default": {"env": "prod"}}
    assert result(found, pod(), namespaces=prod) == "pass"
    assert result(found, pod()) == "fail"


def test_mutations_by_what_the_namespace_is_like() -> None:
    mutate = {"patchStrategicMerge": {"metadata": {"labels": {"+(a)": "b"}}}}
    given = {**rule({}, exclude=OF_PROD), "mutate": mutate}
    del given["validate"]
    assert translated(kyverno_policy(given)).reason.startswith("a mutation by what the namespace")


@pytest.mark.parametrize("kinds", [["*"], ["Pod", "Namespace"]])
def test_no_namespace_has_a_namespace_with_labels(kinds: list[str]) -> None:
    labels = {"env": "prod"}
    namespace = {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "a"}}
    match = {"any": [{"resources": {"kinds": kinds, "namespaceSelector": {"matchLabels": labels}}}]}
    assert judged(match, namespace, namespaces={"a": labels}) == "skip"
    assert judged(match, pod(), namespaces={"default": labels}) == "fail"


def test_what_may_have_no_namespace_is_asked_for_it_with_care() -> None:
    match = {"any": [{"resources": {"kinds": ["*"], "namespaces": ["a"]}}]}
    validate = {"pattern": {"metadata": {"labels": {"team": "?*"}}}}
    (policy,) = translated(kyverno_policy({**rule(validate), "match": match})).policies
    assert policy["spec"]["matchConditions"] == [
        {"name": "is-in-namespace", "expression": "request.?namespace.orValue('') == 'a'"}
    ]


@pytest.mark.parametrize("validate", [None, {}])
def test_a_rule_with_an_empty_validation_says_nothing(validate: Any) -> None:
    match = {"any": [{"resources": PODS}]}
    found = translated(kyverno_policy({"name": "r", "match": match, "validate": validate}))
    assert found.reason == "it says nothing that is known"


@pytest.mark.parametrize(
    ("resources", "expected"),
    [
        ({"kinds": ["Pod"]}, ["pods", "pods/ephemeralcontainers"]),
        ({"kinds": ["v1/Pod"]}, ["pods", "pods/ephemeralcontainers"]),
        ({"kinds": ["*"]}, ["*", "pods/ephemeralcontainers"]),
        ({"kinds": ["Pod"], "operations": ["CREATE"]}, ["pods"]),
        ({"kinds": ["Service"]}, ["services"]),
        ({"kinds": ["Pod/eviction"]}, ["pods/eviction"]),
    ],
)
def test_rules_for_pods_are_for_ephemeral_containers(
    resources: JsonObject, expected: list[str]
) -> None:
    match = {"any": [{"resources": resources}]}
    (policy,) = translated(kyverno_policy({**rule({"deny": {}}), "match": match})).policies
    (one,) = policy["spec"]["matchConstraints"]["resourceRules"]
    assert one["resources"] == expected


def test_ephemeral_containers_beside_a_rule_for_subresources() -> None:
    match = {
        "any": [
            {"resources": {"kinds": ["Pod"], "names": ["a"]}},
            {"resources": {"kinds": ["Deployment/scale"], "names": ["b"]}},
        ]
    }
    (policy,) = translated(kyverno_policy({**rule({"deny": {}}), "match": match})).policies
    (one,) = policy["spec"]["matchConditions"]
    assert "request.?subResource.orValue('') in ['', 'ephemeralcontainers']" in one["expression"]
