"""Complaints about the parts that all policies share, and about what a validating one adds."""

from __future__ import annotations

from typing import Any

import pytest

from celadon.admission.registration.decoding import decode_object
from celadon.admission.registration.registration_strategies import validate_create, validate_update
from celadon.admission.registration.registration_types import PolicySpec, ValidatingAdmissionPolicy
from celadon.kube import name_rules

RULE = {
    "apiGroups": [""],
    "apiVersions": ["v1"],
    "operations": ["CREATE"],
    "resources": ["pods"],
}
RULES = "spec.matchConstraints.resourceRules[0]"
LABEL = name_rules.dns1035_label("A")[0]
KEY = name_rules.qualified_name("a b")[0]


def policy(**changes: Any) -> ValidatingAdmissionPolicy:
    spec = {
        "matchConstraints": {"resourceRules": [RULE]},
        "validations": [{"expression": "true"}],
        **changes,
    }
    document = {"metadata": {"name": "config"}, "spec": spec}
    value = decode_object(document, "ValidatingAdmissionPolicy").value
    assert isinstance(value, ValidatingAdmissionPolicy)
    return value


def rule(**changes: Any) -> dict[str, Any]:
    return {"matchConstraints": {"resourceRules": [{**RULE, **changes}]}}


def kind(api_version: str, name: str = "K") -> dict[str, Any]:
    return {"paramKind": {"apiVersion": api_version, "kind": name}}


ROWS: list[tuple[dict[str, Any], str]] = [
    ({"matchConstraints": None}, "spec.matchConstraints: Required value"),
    (kind(""), "spec.paramKind.apiVersion: Required value"),
    (
        kind("apps/"),
        'spec.paramKind.apiVersion: Invalid value: "apps/": version must be specified',
    ),
    (kind("v1", ""), "spec.paramKind.kind: Required value"),
    (
        kind("v1", "My_Kind"),
        'spec.paramKind.kind: Invalid value: "My_Kind": may have mixed case, but should otherwise '
        f"match: {LABEL}",
    ),
    (kind("A"), f'spec.paramKind.apiVersion: Invalid value: "A": {LABEL}'),
    (
        {"variables": [{"name": " ", "expression": "1"}]},
        "spec.variables[0].name: Required value: name is not specified",
    ),
    (
        {"variables": [{"name": "4", "expression": "1"}]},
        'spec.variables[0].name: Invalid value: "4": must be a valid CEL identifier',
    ),
    (
        {"variables": [{"name": "v", "expression": " "}]},
        "spec.variables[0].expression: Required value: expression is not specified",
    ),
    (
        {"matchConditions": [{"name": "a", "expression": "true"}] * 2},
        'spec.matchConditions[1].name: Duplicate value: "a"',
    ),
    (
        {"matchConditions": [{"name": "a b", "expression": "true"}]},
        f'spec.matchConditions[0].name: Invalid value: "a b": {KEY}',
    ),
    (
        {"matchConditions": [{"name": "a", "expression": " "}]},
        "spec.matchConditions[0].expression: Required value",
    ),
    (
        {"validations": [{"expression": "'a'.matches('[')"}]},
        "spec.validations[0].expression: Invalid value: \"'a'.matches('[')\": compilation failed: "
        "ERROR: <input>:1:13: invalid matches argument\n | 'a'.matches('[')\n | ............^",
    ),
    (
        rule(resources=["a/*", "a/x"]),
        f"{RULES}.resources[1]: Invalid value: \"a/x\": if 'a/*' is present, must not specify a/x",
    ),
    (
        rule(resources=["*/x", "a/x"]),
        f"{RULES}.resources[1]: Invalid value: \"a/x\": if '*/x' is present, must not specify a/x",
    ),
    (rule(apiVersions=[""]), f"{RULES}.apiVersions[0]: Required value"),
    (
        rule(scope="Global"),
        f'{RULES}.scope: Unsupported value: "Global": supported values: "*", "Cluster", '
        '"Namespaced"',
    ),
]


@pytest.mark.parametrize(("changes", "message"), ROWS)
def test_one_complaint(changes: dict[str, Any], message: str) -> None:
    assert [str(error) for error in validate_create(policy(**changes))] == [message]


def test_conditions_are_left_alone_while_nothing_about_them_changes() -> None:
    old = policy(matchConditions=[{"name": "a", "expression": "params.x"}])
    assert len(validate_create(old)) == 1
    assert validate_update(old, old) == []
    assert validate_update(policy(**kind("v1")), policy(**kind("v1"))) == []
    conditions = [{"name": "a", "expression": "params.x == 1"}]
    with_kind = policy(matchConditions=conditions, **kind("v1"))
    assert validate_create(with_kind) == []
    assert len(validate_update(policy(matchConditions=conditions), with_kind)) == 1


def test_defaults_fill_what_validation_wants() -> None:
    assert validate_create(policy()) == []
    bare = ValidatingAdmissionPolicy({"name": "n"}, PolicySpec())
    assert str(validate_create(bare)[0]) == "spec.failurePolicy: Required value"
