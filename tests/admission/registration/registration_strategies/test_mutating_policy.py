"""Complaints about mutating policies and their bindings, after the reference's examples."""

from __future__ import annotations

from typing import Any

import pytest

from celadon.admission.registration.decoding import decode_object
from celadon.admission.registration.policy_validation import (
    validate_binding,
    validate_mutating_policy,
)
from celadon.admission.registration.registration_types import (
    MutatingAdmissionPolicy,
    MutatingAdmissionPolicyBinding,
)

RULE = {
    "apiGroups": [""],
    "apiVersions": ["v1"],
    "operations": ["CREATE"],
    "resources": ["pods"],
}
APPLY = {"patchType": "ApplyConfiguration", "applyConfiguration": {"expression": "Object{}"}}
M = "spec.mutations[0]"


def policy(**changes: Any) -> MutatingAdmissionPolicy:
    spec = {
        "matchConstraints": {"resourceRules": [RULE]},
        "mutations": [APPLY],
        "reinvocationPolicy": "Never",
        **changes,
    }
    document = {"metadata": {"name": "config"}, "spec": spec}
    value = decode_object(document, "MutatingAdmissionPolicy").value
    assert isinstance(value, MutatingAdmissionPolicy)
    return value


def errors(**changes: Any) -> list[str]:
    return [str(error) for error in validate_mutating_policy(policy(**changes))]


def apply(expression: str) -> dict[str, Any]:
    return {"mutations": [{**APPLY, "applyConfiguration": {"expression": expression}}]}


def patch(expression: str) -> dict[str, Any]:
    return {"mutations": [{"patchType": "JSONPatch", "jsonPatch": {"expression": expression}}]}


GOOD = [
    {},
    apply("Object{metadata: Object.metadata{labels: {'a': variables.v}}}")
    | {"variables": [{"name": "v", "expression": "'x'"}]},
    apply("Object{metadata: 1}"),
    patch("[JSONPatch{op: 'add', path: jsonpatch.escapeKey('a/b'), value: Object.spec{x: 1}}]"),
    patch("[JSONPatch{nope: dyn(1)}]"),
]


@pytest.mark.parametrize("changes", GOOD)
def test_good_policies(changes: dict[str, Any]) -> None:
    assert errors(**changes) == []


ROWS: list[tuple[dict[str, Any], str]] = [
    ({"mutations": []}, "spec.mutations: Required value: mutations must contain at least one item"),
    ({"reinvocationPolicy": ""}, "spec.reinvocationPolicy: Required value"),
    (
        {"reinvocationPolicy": "z"},
        'spec.reinvocationPolicy: Unsupported value: "z": supported values: "IfNeeded", "Never"',
    ),
    (
        {"matchConstraints": {"resourceRules": [{**RULE, "operations": ["DELETE"]}]}},
        'spec.matchConstraints.resourceRules.operations: Unsupported value: "DELETE": supported '
        'values: "*", "CONNECT", "CREATE", "UPDATE"',
    ),
    ({"mutations": [{}]}, f"{M}.patchType: Required value"),
    (
        {"mutations": [{"patchType": "other"}]},
        f'{M}.patchType: Unsupported value: "other": supported values: "ApplyConfiguration", '
        '"JSONPatch"',
    ),
    (
        {"mutations": [{"patchType": "JSONPatch"}]},
        f"{M}.jsonPatch: Required value: must be specified when patchType is JSONPatch",
    ),
    (
        {"mutations": [{**APPLY, "jsonPatch": {"expression": "[]"}}]},
        f'{M}.jsonPatch: Invalid value: "{{jsonPatch}}": must not be specified when patchType is '
        "ApplyConfiguration",
    ),
    (apply(" "), f"{M}.applyConfiguration.expression: Required value"),
    (
        apply(" 1 < 2 "),
        f'{M}.applyConfiguration.expression: Invalid value: "1 < 2": must evaluate to Object but '
        "got bool",
    ),
    (
        apply("Object"),
        f'{M}.applyConfiguration.expression: Invalid value: "Object": must evaluate to Object but '
        "got type(Object)",
    ),
    (
        patch("[]"),
        f'{M}.jsonPatch.expression: Invalid value: "[]": must evaluate to list(JSONPatch) but got '
        "list(dyn)",
    ),
    (
        patch("[JSONPatch{nope: 1}]"),
        f'{M}.jsonPatch.expression: Invalid value: "[JSONPatch{{nope: 1}}]": compilation failed: '
        "ERROR: <input>:1:16: expected type of field 'nope' is '' but provided type is 'int'\n"
        " | [JSONPatch{nope: 1}]\n | ...............^",
    ),
    (
        {"variables": [{"name": "v", "expression": "Object{}"}]},
        'spec.variables[0].expression: Invalid value: "Object{}": compilation failed: ERROR: '
        "<input>:1:7: undeclared reference to 'Object' (in container '')\n"
        " | Object{}\n | ......^",
    ),
]


@pytest.mark.parametrize(("changes", "message"), ROWS)
def test_one_complaint(changes: dict[str, Any], message: str) -> None:
    assert errors(**changes) == [message]


def test_old_texts_are_those_of_apply_configurations() -> None:
    assert validate_mutating_policy(policy(), policy()) == []
    bad = policy(**apply("nope"))
    assert len(validate_mutating_policy(bad, bad)) == 1


def test_bindings_have_no_actions_and_no_deletions() -> None:
    spec = {
        "policyName": "p",
        "matchResources": {"resourceRules": [{**RULE, "operations": ["DELETE"]}]},
    }
    document = {"metadata": {"name": "b"}, "spec": spec}
    binding = decode_object(document, "MutatingAdmissionPolicyBinding").value
    assert isinstance(binding, MutatingAdmissionPolicyBinding)
    assert [str(error) for error in validate_binding(binding)] == [
        'spec.matchResources.resourceRules.operations: Unsupported value: "DELETE": supported '
        'values: "*", "CONNECT", "CREATE", "UPDATE"'
    ]


def test_an_expression_is_complained_of_before_what_stands_beside_it() -> None:
    empty = {"expression": " "}
    found = errors(mutations=[{**APPLY, "applyConfiguration": empty, "jsonPatch": empty}])
    assert [one.partition(":")[0] for one in found] == [
        f"{M}.applyConfiguration.expression",
        f"{M}.jsonPatch",
    ]
