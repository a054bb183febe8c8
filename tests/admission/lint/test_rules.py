"""Texts and names, bindings, effects, costs, and what the API server says."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from celadon.admission.lint.findings import FieldPosition, Removal, Replacement, Severity
from celadon.admission.lint.linter import chosen, lint
from celadon.kube.fieldpath import FieldPath
from tests.admission.lint.linting import (
    GROUP,
    SETTINGS,
    about,
    about_rules,
    binding,
    definition,
    found,
    policy,
)

AT = "spec.validations[0].expression"
ANY = {"apiGroups": ["*"], "apiVersions": ["*"], "operations": ["*"], "resources": ["*"]}
NARROW = {"matchLabels": {"checked": "yes"}}


# --- API ---


@pytest.mark.parametrize(
    ("spec", "spots"),
    [
        ({"validations": [{"expression": "object.x ="}]}, [(AT, 9)]),
        ({"validations": [{"expression": "a &&\n  b"}]}, [(AT, 0), (AT, 7)]),
        ({"validations": [{"expression": "1"}]}, [(AT, None)]),
        ({"validations": []}, [("spec.auditAnnotations", None), ("spec.validations", None)]),
        (
            {
                "validations": [{"expression": "true"}],
                "matchConditions": [{"name": "c", "expression": "\n\n  a"}],
            },
            [("spec.matchConditions[0].expression", 4)],
        ),
        ({"validations": [{"expression": "true", "reason": "No"}]}, None),
    ],
)
def test_invalid(spec: dict[str, Any], spots: list[tuple[str, int | None]] | None) -> None:
    expected = [("spec.validations[0].reason", None)] if spots is None else spots
    findings = found("CEL001", policy(**spec))
    assert [(one.spot.field, one.spot.offset) for one in findings] == expected


def test_what_is_wrong_without_a_place() -> None:
    given = policy(validations=[{"expression": "object" + "[0]" * 3000 + " == 1"}])
    (one,) = found("CEL001", given)
    assert (one.spot.field, one.spot.offset) == (AT, None)


def test_what_cannot_be_decoded() -> None:
    given = policy(validations=[{"expression": 1}])
    (one,) = found("CEL001", given)
    assert "cannot unmarshal number into Go struct field" in one.message
    assert one.spot.field == "spec.validations[0].expression"
    webhooks = {"apiVersion": GROUP, "kind": "ValidatingWebhookConfiguration", "webhooks": 1}
    assert found("CEL001", {**webhooks, "metadata": {"name": "x"}})


def test_other_kinds_of_the_group() -> None:
    hook = {"apiVersion": GROUP, "kind": "MutatingWebhookConfiguration", "metadata": {"name": "x"}}
    given = {**hook, "webhooks": [{"name": "a.b.c", "nope": 1}]}
    assert [one.spot.field for one in found("CEL002", given)] == ["webhooks[0].nope"]
    assert found("CEL001", given)


def test_expressions_of_other_kinds_have_places_too() -> None:
    """White space at the ends is not compiled, but counts."""
    hook = {"name": "a.b.c", "matchConditions": [{"name": "c", "expression": "\n  a"}]}
    given = {"apiVersion": GROUP, "kind": "ValidatingWebhookConfiguration"}
    found_in_hook = found("CEL001", {**given, "metadata": {"name": "x"}, "webhooks": [hook]})
    spots = {(one.spot.field, one.spot.offset) for one in found_in_hook}
    assert ("webhooks[0].matchConditions[0].expression", 3) in spots
    mutation = {"patchType": "JSONPatch", "jsonPatch": {"expression": "  [a]"}}
    mutating = {
        "apiVersion": GROUP,
        "kind": "MutatingAdmissionPolicy",
        "metadata": {"name": "x"},
        "spec": {**policy()["spec"], "reinvocationPolicy": "Never", "mutations": [mutation]},
    }
    (one,) = found("CEL001", mutating)
    assert (one.spot.field, one.spot.offset) == ("spec.mutations[0].jsonPatch.expression", 3)


def test_old_versions_are_fixed() -> None:
    given = {**binding(), "apiVersion": "admissionregistration.k8s.io/v1alpha1"}
    (one,) = found("CEL004", given)
    assert isinstance(one.fix, Replacement)
    assert one.fix.text == GROUP


# --- texts and names ---


def test_variables_that_only_unused_ones_use() -> None:
    variables = [
        {"name": "a", "expression": "1"},
        {"name": "b", "expression": "variables.a"},
        {"name": "c", "expression": "2"},
    ]
    given = policy(variables=variables, validations=[{"expression": "variables.c == 2"}])
    assert [one.spot.field for one in found("CEL040", given)] == [
        "spec.variables[0].name",
        "spec.variables[1].name",
    ]


@pytest.mark.parametrize("use", ["matchConditions", "auditAnnotations", "messageExpression"])
def test_variables_used_elsewhere(use: str) -> None:
    spec: dict[str, Any] = {"validations": [{"expression": "true"}]}
    if use == "matchConditions":
        return  # the API server refuses variables there
    if use == "auditAnnotations":
        spec[use] = [{"key": "k", "valueExpression": "variables.a"}]
    else:
        spec["validations"][0][use] = "variables.a"
    assert found("CEL040", policy(variables=[{"name": "a", "expression": "'x'"}], **spec)) == []


@pytest.mark.parametrize(
    ("validation", "speaks"),
    [
        ({"expression": "true &&\ntrue"}, True),
        ({"expression": "true\n"}, False),
        ({"expression": "true" + " && true" * 20}, True),
        ({"expression": "true &&\ntrue", "message": "m"}, False),
        ({"expression": "true &&\ntrue", "messageExpression": "'m'"}, False),
    ],
)
def test_missing_messages(validation: dict[str, str], speaks: bool) -> None:
    assert bool(found("CEL041", policy(validations=[validation]))) is speaks


# --- bindings ---

POLICY = policy(validations=[{"expression": "true"}])
WITH_PARAMS = policy(
    validations=[{"expression": "true"}], paramKind={"apiVersion": "v1", "kind": "ConfigMap"}
)
LIMITS = {
    "apiVersion": "v1",
    "kind": "ConfigMap",
    "metadata": {"name": "limits", "namespace": "ns", "labels": {"for": "web"}},
}


def test_bindings_and_policies_that_are_given_alone() -> None:
    assert found("CEL050", POLICY) == []
    assert found("CEL051", binding()) == []


def test_misspelt_policy() -> None:
    (one,) = found("CEL051", policy("limits", validations=[]), binding("b", "limit"))
    assert one.help == "did you mean `limits`?"


@pytest.mark.parametrize(
    ("ref", "speaks"),
    [
        ({"name": "limits", "namespace": "ns"}, False),
        ({"name": "limits"}, False),
        ({"name": "limit"}, True),
        ({"name": "limits", "namespace": "other"}, True),
        ({"selector": {"matchLabels": {"for": "web"}}}, False),
        ({"selector": {"matchLabels": {"for": "batch"}}}, True),
        ({"selector": {"matchExpressions": [{"key": "a", "operator": "?"}]}}, False),
    ],
)
def test_params(ref: dict[str, Any], speaks: bool) -> None:
    given = binding(paramRef={**ref, "parameterNotFoundAction": "Deny"})
    assert bool(found("CEL052", WITH_PARAMS, given, LIMITS)) is speaks
    assert found("CEL052", WITH_PARAMS, given) == []


def test_deny_and_warn_is_said_once_and_can_be_fixed() -> None:
    given = binding("b", "p", "Deny", "Warn", "Audit")
    (one,) = found("CEL054", given)
    assert isinstance(one.fix, Removal)
    assert one.fix.spot.field == "spec.validationActions[1]"
    assert found("CEL001", given) == []


# --- effects ---


@pytest.mark.parametrize(
    ("spec", "actions", "speaks"),
    [
        ({"failurePolicy": "Ignore"}, "Deny", True),
        ({"failurePolicy": "Ignore"}, "", True),
        ({"failurePolicy": "Ignore"}, "Audit", False),
        ({"failurePolicy": "Fail"}, "Deny", False),
        ({"failurePolicy": "Ignore", "text": "object.spec.replicas > 1"}, "Deny", False),
    ],
)
def test_ignored_failures(spec: dict[str, Any], actions: str, speaks: bool) -> None:
    text = spec.pop("text", "object.spec.template.spec.hostNetwork != true")
    given = [policy(validations=[{"expression": text}], **spec)]
    given += [binding("b", "p", actions)] if actions else []
    assert bool(found("CEL060", *given)) is speaks


@pytest.mark.parametrize(
    "field",
    [
        *("hostIPC", "hostNetwork", "hostPID", "hostPath", "hostPort", "hostUsers"),
        *("allowPrivilegeEscalation", "capabilities", "privileged", "procMount"),
        *("readOnlyRootFilesystem", "runAsNonRoot", "runAsUser", "seLinuxOptions"),
        *("seccompProfile", "securityContext", "sysctls"),
        *("automountServiceAccountToken", "serviceAccountName", "image"),
    ],
)
def test_fields_that_are_about_security(field: str) -> None:
    text = f"object.spec.template.spec.{field} != dyn(1)"
    (one,) = found("CEL060", policy(validations=[{"expression": text}], failurePolicy="Ignore"))
    assert one.message.startswith(f"the policy is about `{field}`, ")


def test_policies_about_roles_are_about_security() -> None:
    rule = {**ANY, "apiGroups": ["rbac.authorization.k8s.io"], "resources": ["roles"]}
    given = policy(
        matchConstraints={"resourceRules": [rule]},
        failurePolicy="Ignore",
        validations=[{"expression": "true"}],
    )
    assert found("CEL060", given)


SENSITIVE = ("admissionregistration.k8s.io", "certificates.k8s.io", "rbac.authorization.k8s.io")


@pytest.mark.parametrize(
    ("groups", "subject"),
    [
        *(([group], group) for group in SENSITIVE),
        (SENSITIVE[::-1], ", ".join(SENSITIVE)),
        (["rbac.authorization.k8s.io", "apps"], ""),
        (["apps"], ""),
    ],
)
def test_groups_that_are_about_security(groups: list[str], subject: str) -> None:
    rule = {**ANY, "apiGroups": list(groups)}
    given = policy(
        matchConstraints={"resourceRules": [rule]},
        failurePolicy="Ignore",
        validations=[{"expression": "true"}],
    )
    text = f"the policy is about {subject}, and an error in it lets the request pass"
    assert [one.message for one in found("CEL060", given)] == ([text] if subject else [])


LEASES = "leases, by which nodes and controllers stay alive"


@pytest.mark.parametrize(
    ("rule", "threatened"),
    [
        ({}, "everything"),
        ({"operations": ["CREATE"]}, "everything"),
        ({"operations": ["UPDATE"]}, "everything"),
        ({"operations": ["CONNECT", "DELETE"]}, ""),
        ({"apiGroups": [""]}, "nodes"),
        ({"apiGroups": ["", "coordination.k8s.io"], "resources": ["nodes", "leases"]}, LEASES),
        ({"apiGroups": ["coordination.k8s.io"], "resources": ["leases"]}, LEASES),
        ({"apiGroups": ["coordination.k8s.io"], "resources": ["leases/status"]}, ""),
        ({"apiGroups": [""], "resources": ["nodes"]}, ""),
        ({"resources": ["nodes"]}, "nodes"),
        ({"resources": ["pods"]}, ""),
        ({"apiGroups": ["apps"]}, ""),
    ],
)
def test_what_a_rule_threatens(rule: dict[str, Any], threatened: str) -> None:
    rules = [{**ANY, "apiGroups": ["apps"]}, {**ANY, **rule}, ANY if threatened else {}]
    given = policy(
        matchConstraints={"resourceRules": [one for one in rules if one]},
        validations=[{"expression": "true"}],
    )
    text = f"this rule matches {threatened}, in every namespace, kube-system included"
    assert [(one.spot.field, one.message) for one in found("CEL061", given)] == (
        [("spec.matchConstraints.resourceRules[1]", text)] if threatened else []
    )


@pytest.mark.parametrize(
    ("bindings", "speaks"),
    [
        ([binding("b"), binding("c", "p", "Warn")], True),
        ([binding("b", matchResources={"objectSelector": NARROW})], False),
        ([binding("b", matchResources={"resourceRules": [{**ANY, "resources": ["pods"]}]})], False),
        ([binding("b", matchResources={"namespaceSelector": {"matchLabels": {}}})], True),
        ([binding("b", matchResources={"objectSelector": NARROW}), binding("c")], True),
    ],
)
def test_bindings_that_are_narrow(bindings: list[dict[str, Any]], speaks: bool) -> None:
    given = policy(matchConstraints={"resourceRules": [ANY]}, validations=[{"expression": "true"}])
    assert bool(found("CEL061", given, *bindings)) is speaks


@pytest.mark.parametrize(
    ("changes", "bindings", "speaks"),
    [
        ({}, [], True),
        ({}, [binding()], True),
        ({}, [binding("b", "p", "Warn")], False),
        ({}, [binding(matchResources={"namespaceSelector": NARROW})], False),
        ({"failurePolicy": "Ignore"}, [], False),
        ({"matchConditions": [{"name": "c", "expression": "true"}]}, [], False),
        ({"matchConstraints": {"resourceRules": [ANY], "namespaceSelector": NARROW}}, [], False),
        ({"matchConstraints": {"resourceRules": [ANY], "objectSelector": NARROW}}, [], False),
        ({"matchConstraints": {"resourceRules": [{**ANY, "apiGroups": ["apps"]}]}}, [], False),
        ({"matchConstraints": {"resourceRules": [{**ANY, "operations": ["DELETE"]}]}}, [], False),
        ({"matchConstraints": {"resourceRules": [{**ANY, "resourceNames": ["x"]}]}}, [], False),
        (
            {
                "matchConstraints": {
                    "resourceRules": [
                        {**ANY, "apiGroups": ["coordination.k8s.io"], "resources": ["leases"]}
                    ]
                }
            },
            [],
            True,
        ),
        (
            {
                "matchConstraints": {
                    "resourceRules": [ANY],
                    "excludeResourceRules": [
                        {**ANY, "apiGroups": ["coordination.k8s.io"]},
                        {**ANY, "apiGroups": [""], "resources": ["nodes"]},
                    ],
                }
            },
            [],
            False,
        ),
    ],
)
def test_lock_out(changes: dict[str, Any], bindings: list[dict[str, Any]], speaks: bool) -> None:
    spec = {
        "matchConstraints": {"resourceRules": [ANY]},
        "validations": [{"expression": "true"}],
        **changes,
    }
    assert bool(found("CEL061", policy(**spec), *bindings)) is speaks


CONTAINERS = "object.spec.template.spec.containers"


@pytest.mark.parametrize(
    ("text", "speaks"),
    [
        (f"{CONTAINERS}.all(c, c.name.matches('^a+$'))", False),
        (f"{CONTAINERS}.all(c, c.ports.all(p, p.hostPort == 0))", False),
        (f"{CONTAINERS}.all(a, {CONTAINERS}.all(b, {CONTAINERS}.all(c, a.name != c.name)))", True),
        (" && ".join(["authorizer.requestResource.check('a').allowed()"] * 3), False),
        ("1 +", False),
    ],
)
def test_expensive(text: str, speaks: bool) -> None:
    assert bool(about("CEL070", text)) is speaks


def test_what_is_expensive_is_said_in_numbers() -> None:
    given = policy(
        validations=[
            {
                "expression": f"{CONTAINERS}.all(a, {CONTAINERS}.all(b, "
                f"{CONTAINERS}.all(c, true)))",
                "message": "m",
                "messageExpression": f"{CONTAINERS}.map(a, {CONTAINERS}.map(b, "
                f"{CONTAINERS}.map(c, 'x'))).size() > 0 ? 'a' : 'b'",
            }
        ]
    )
    (one,) = found("CEL070", given)
    assert one.spot.field == AT
    assert one.message.startswith("for an object of 256 KiB this may cost ")
    assert one.message.endswith(", more than the 1e+06 at which evaluation stops")


LOOPS = f"{CONTAINERS}.all(a, {CONTAINERS}.all(b, {CONTAINERS}.all(c, a.name != c.name)))"
CHECK = "authorizer.requestResource.check('a').allowed()"


@pytest.mark.parametrize(
    ("validations", "costs"),
    [
        ([f"{CONTAINERS}.all(c, c.ports.all(p, {CONTAINERS}.all(d, d.name != '')))"], ["7e+06"]),
        (
            [f"{CONTAINERS}.all(c, c.env.all(e, c.volumeMounts.all(v, v.name != e.name)))"],
            ["1e+06"],
        ),
        ([f"[{CHECK}, {CHECK}, {CHECK}].all(x, x)"], ["1e+06"]),
        ([f"[{CHECK}, {CHECK}].all(x, x)"], []),
        (["true", LOOPS, "true", LOOPS], ["9e+08", "9e+08"]),
    ],
)
def test_the_lower_of_two_bounds_counts(validations: list[str], costs: list[str]) -> None:
    given = policy(validations=[{"expression": text} for text in validations])
    told = [one.message for one in found("CEL070", given)]
    assert told == [
        f"for an object of 256 KiB this may cost {cost}, more than the 1e+06 at which evaluation "
        "stops"
        for cost in costs
    ]


def test_messages_may_be_expensive_and_what_follows_them_may_not() -> None:
    message = f"string({LOOPS})"
    expressions = [
        {"expression": "true", "messageExpression": message},
        {"expression": LOOPS, "messageExpression": message},
    ]
    annotations = [{"key": "k", "valueExpression": message}]
    given = policy(validations=expressions, auditAnnotations=annotations)
    assert [one.spot.field for one in found("CEL070", given)] == [
        "spec.auditAnnotations[0].valueExpression",
        "spec.validations[1].expression",
    ]


def test_smaller_objects_cost_less() -> None:
    given = policy(validations=[{"expression": LOOPS}])
    assert found("CEL070", given, settings=replace(SETTINGS, large_object=4096)) == []


# --- the linter ---


def test_choice_of_rules() -> None:
    assert {rule.code for rule in chosen(["CEL02"], ["object-on-delete"])} == {
        f"CEL02{digit}" for digit in range(1, 7)
    }
    assert [rule.name for rule in chosen(["lock-out"], [])] == ["lock-out"]


def test_order_and_severity() -> None:
    given = policy(validations=[{"expression": "object.spec.replica == 'x' && b"}])
    findings = lint([given], SETTINGS)
    spots = [(one.spot.document, one.spot.field, one.spot.offset or -1) for one in findings]
    assert spots == sorted(spots)
    assert {one.severity for one in findings} <= set(Severity)


def test_objects_of_other_kinds_are_only_looked_up() -> None:
    assert lint([LIMITS, {"apiVersion": "v1", "kind": "List"}], SETTINGS) == []


# --- rules of definitions ---


@pytest.mark.parametrize(
    ("more", "speaks"),
    [({}, True), ({"message": "no"}, False), ({"messageExpression": "''"}, False)],
)
def test_rules_without_messages(more: dict[str, str], speaks: bool) -> None:
    spots = about_rules("CEL041", {"rule": "1 == 1 &&\n2 == 2", **more})
    assert spots == ([(0, "rule", None)] if speaks else [])


def test_newer_functions_in_rules() -> None:
    given = definition("isSemver('1.0.0')")
    settings = replace(SETTINGS, further_releases=("1.30",))
    assert [one.spot.path.steps[-1] for one in found("CEL005", given, settings=settings)] == [
        "rule"
    ]
    assert found("CEL005", given, settings=replace(SETTINGS, further_releases=("1.35",))) == []


def test_rules_that_are_none() -> None:
    given = definition("true")
    version = given["spec"]["versions"][0]
    version["schema"]["openAPIV3Schema"]["x-kubernetes-validations"] = [1]
    assert [one.message for one in lint([given], SETTINGS)] == [
        'CustomResourceDefinition in version "v1" cannot be handled as a CustomResourceDefinition: '
        "json: cannot unmarshal number into Go struct field JSONSchemaProps.spec.versions.schema."
        "openAPIV3Schema.x-kubernetes-validations of type v1.ValidationRule"
    ]


HOISTED = FieldPath("spec", "versions", 0, "schema", "openAPIV3Schema", "properties", "spec")


@pytest.mark.parametrize(
    ("rule", "schema", "place", "offset"),
    [
        ("1 == 1", {"type": "objects"}, HOISTED.child("type"), None),
        (
            {"rule": "1 == 1 &&\n  nothing", "message": "m"},
            {},
            HOISTED.child("x-kubernetes-validations").index(0).child("rule"),
            12,
        ),
    ],
)
def test_mistakes_of_a_definition_are_where_it_has_them(
    rule: str | dict[str, Any], schema: dict[str, Any], place: FieldPath, offset: int | None
) -> None:
    """The server sees a schema that all versions share in one place; the document has it in its
    versions. A mistake in an expression has a position in it."""
    given = definition(rule, **schema)
    [version] = given["spec"]["versions"]
    for versions in ([version], [version, {**version, "name": "v2", "storage": False}]):
        given["spec"]["versions"] = versions
        spots = [one.spot for one in found("CEL001", given)]
        spots += [one.spot for one in found("CEL011", given)]
        assert FieldPosition(0, place, offset) in spots
