"""What an expression may name at a place of a document that is being typed."""

from __future__ import annotations

from typing import Any

import pytest

from celadon.admission.lint import TypedScopes
from celadon.admission.lint.lint_context import Settings
from celadon.kube.names import GroupVersionKind

Json = dict[str, Any]
DEFINITION: Json = {
    "apiVersion": "apiextensions.k8s.io/v1",
    "kind": "CustomResourceDefinition",
    "spec": {
        "group": "x.io",
        "names": {"kind": "Box", "plural": "boxes"},
        "scope": "Namespaced",
        "versions": [
            {
                "name": name,
                "served": True,
                "storage": name == "v1",
                "schema": {
                    "openAPIV3Schema": {
                        "type": "object",
                        "properties": {
                            "size": {"type": kind},
                            "list": {"type": "array", "items": {"type": "boolean"}},
                            "map": {"type": "object", "additionalProperties": {"type": "string"}},
                        },
                    }
                },
            }
            for name, kind in (("v1", "integer"), ("v2", "string"))
        ],
    },
}
SCOPES = TypedScopes([DEFINITION], Settings("1.36"))


def rule(*resources: str, group: str = "") -> Json:
    return {
        "apiGroups": [group],
        "apiVersions": ["v1"],
        "operations": ["CREATE"],
        "resources": list(resources),
    }


def policy(*rules: Json, **spec: Any) -> Json:
    return {
        "apiVersion": "admissionregistration.k8s.io/v1",
        "kind": "ValidatingAdmissionPolicy",
        "spec": {"matchConstraints": {"resourceRules": list(rules)}, **spec},
    }


VALIDATION = ("spec", "validations", 0, "expression")


def types_at(document: Json, path: tuple[str | int, ...], expression: str) -> list[str]:
    """The type of the expression in each scope, or the first line of what is wrong."""
    found = []
    for scope in SCOPES.at(document, path):
        compiled = scope.environment.compile(expression)
        found.append(
            str(compiled.ast.type)
            if compiled.ast is not None
            else str(compiled.issues).partition("\n")[0].partition("> : ")[2]
            or str(compiled.issues).partition("\n")[0]
        )
    return found


def test_a_policy_has_a_scope_for_each_of_its_kinds() -> None:
    document = policy(rule("pods", "services"), rule("boxes", group="x.io"))
    scopes = SCOPES.at(document, VALIDATION)
    assert [scope.kind for scope in scopes] == [
        GroupVersionKind("", "v1", "Pod"),
        GroupVersionKind("", "v1", "Service"),
        GroupVersionKind("x.io", "v1", "Box"),
    ]
    assert all(scope.object_type is not None for scope in scopes)
    (box,) = SCOPES.at(policy(rule("boxes", group="x.io")), VALIDATION)
    assert box.environment.compile("object.size + 1").ast is not None
    assert box.environment.compile("object.size + 'a'").ast is None


@pytest.mark.parametrize(
    "document",
    [
        policy(rule("pods", "services", "secrets", "configmaps", "nodes")),
        policy(rule("unheard")),
        policy(),
        policy({"resources": 5}),
        {"kind": "ValidatingAdmissionPolicy"},
    ],
)
def test_with_many_kinds_or_none_the_object_may_be_anything(document: Json) -> None:
    (scope,) = SCOPES.at(document, VALIDATION)
    assert (scope.kind, scope.object_type) == (None, None)
    assert types_at(document, VALIDATION, "object.unheard") == ["dyn"]


VARIABLES = [
    {"name": "a", "expression": "1"},
    {"name": "b", "expression": "'x' + string(variables.a)"},
    {"name": "c", "expression": "1 +"},
    {"name": 5, "expression": "1"},
    {"expression": "1"},
    "d",
    {"name": "e"},
]
WITH_VARIABLES = policy(rule("pods"), variables=VARIABLES)


@pytest.mark.parametrize(
    ("path", "known", "unknown"),
    [
        (VALIDATION, {"a": "int", "b": "string", "c": "dyn", "e": "dyn"}, ["d", "f"]),
        (("spec", "variables", 0, "expression"), {}, ["a", "b"]),
        (("spec", "variables", 1, "expression"), {"a": "int"}, ["b", "c"]),
        (("spec", "variables", 2, "expression"), {"a": "int", "b": "string"}, ["c"]),
    ],
)
def test_variables_are_those_before_the_expression(
    path: tuple[str | int, ...], known: dict[str, str], unknown: list[str]
) -> None:
    for name, kind in known.items():
        assert types_at(WITH_VARIABLES, path, f"variables.{name}") == [kind]
    (scope,) = SCOPES.at(WITH_VARIABLES, path)
    for name in unknown:
        assert scope.environment.compile(f"variables.{name}").ast is None


def test_conditions_have_no_variables() -> None:
    path = ("spec", "matchConditions", 0, "expression")
    (scope,) = SCOPES.at(WITH_VARIABLES, path)
    assert scope.environment.compile("variables.a").ast is None
    assert scope.environment.compile("object.metadata.name == request.name").ast is not None
    assert SCOPES.at(policy(rule("pods"), variables=5), VALIDATION)[0].environment.compile("1").ast


def test_messages_have_no_authorizer() -> None:
    document = policy(rule("pods"))
    (scope,) = SCOPES.at(document, ("spec", "validations", 0, "messageExpression"))
    assert scope.environment.compile("authorizer.path('/x')").ast is None
    assert SCOPES.at(document, VALIDATION)[0].environment.compile("authorizer.path('/x')").ast


@pytest.mark.parametrize(
    ("param_kind", "expression", "fits"),
    [
        (None, "params.a", False),
        ({"apiVersion": "v1", "kind": "ConfigMap"}, "params.data['a'].size() == 1", True),
        ({"apiVersion": "v1", "kind": "ConfigMap"}, "params.unheard", False),
        ({"apiVersion": "x.io/v1", "kind": "Box"}, "params.size + 1 == 2", True),
        ({"apiVersion": "x.io/v9", "kind": "Box"}, "params.unheard", True),
        ({"apiVersion": "a/b/c", "kind": "Box"}, "params.unheard", True),
    ],
)
def test_parameters(param_kind: Json | None, expression: str, fits: bool) -> None:
    document = policy(rule("pods"), **({"paramKind": param_kind} if param_kind else {}))
    (scope,) = SCOPES.at(document, VALIDATION)
    assert (scope.environment.compile(expression).ast is not None) is fits


def test_webhooks_have_rules_of_their_own() -> None:
    document = {
        "apiVersion": "admissionregistration.k8s.io/v1",
        "kind": "ValidatingWebhookConfiguration",
        "webhooks": [{"rules": [rule("pods")]}, {"rules": [rule("services")]}],
    }
    for i, kind in enumerate(("Pod", "Service")):
        path = ("webhooks", i, "matchConditions", 0, "expression")
        (scope,) = SCOPES.at(document, path)
        assert scope.kind == GroupVersionKind("", "v1", kind)


SCHEMA = ("schema", "openAPIV3Schema")
RULE = ("x-kubernetes-validations", 0, "rule")


@pytest.mark.parametrize(
    ("place", "expression", "wanted"),
    [
        (("spec", "versions", 0, *SCHEMA, *RULE), "self.size", "int"),
        (("spec", "versions", 1, *SCHEMA, *RULE), "oldSelf.size", "string"),
        (("spec", "versions", 1, *SCHEMA, "properties", "size", *RULE), "self", "string"),
        (("spec", "versions", 0, *SCHEMA, "properties", "list", "items", *RULE), "self", "bool"),
        (
            ("spec", "versions", 0, *SCHEMA, "properties", "map", "additionalProperties", *RULE),
            "self",
            "string",
        ),
        (("spec", "versions", 0, *SCHEMA, "properties", "unheard", *RULE), "self", "dyn"),
        (("spec", "versions", 0, *SCHEMA, "not", *RULE), "self", "dyn"),
    ],
)
def test_rules_of_definitions(place: tuple[str | int, ...], expression: str, wanted: str) -> None:
    assert types_at(DEFINITION, place, expression) == [wanted]


def test_a_definition_that_is_half_written_is_left_out() -> None:
    half = {"apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition", "spec": 5}
    scopes = TypedScopes([half, DEFINITION, {"kind": "Pod"}], Settings("1.36"))
    (scope,) = scopes.at(policy(rule("boxes", group="x.io")), VALIDATION)
    assert scope.kind == GroupVersionKind("x.io", "v1", "Box")


@pytest.mark.parametrize(("release", "there"), [("1.33", False), ("1.34", True)])
def test_fields_are_those_of_the_release(release: str, *, there: bool) -> None:
    """`hostnameOverride` of pods came with 1.34."""
    rule = {"apiGroups": [""], "apiVersions": ["v1"], "operations": ["*"], "resources": ["pods"]}
    policy = {
        "apiVersion": "admissionregistration.k8s.io/v1",
        "kind": "ValidatingAdmissionPolicy",
        "spec": {"matchConstraints": {"resourceRules": [rule]}},
    }
    path = ("spec", "validations", 0, "expression")
    (scope,) = TypedScopes([], Settings(release)).at(policy, path)
    issues = scope.environment.compile("object.spec.?hostnameOverride.orValue('') == ''").issues
    assert (not issues) is there
