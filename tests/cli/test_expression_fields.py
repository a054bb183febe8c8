"""Every place of every kind that has expressions."""

from __future__ import annotations

from typing import Any

import pytest

from celadon.cli.fmt import expression_fields

REGISTRATION = "admissionregistration.k8s.io"
CONDITIONS = {"matchConditions": [{"name": "c", "expression": "EXPRESSION"}]}
SELECTORS = {"selectors": [{"cel": {"expression": "EXPRESSION"}}]}
RULES = {"x-kubernetes-validations": [{"rule": "EXPRESSION", "messageExpression": "EXPRESSION"}]}

ROWS: list[tuple[str, str, dict[str, Any], int]] = [
    (REGISTRATION, "ValidatingAdmissionPolicy", {"spec": CONDITIONS}, 1),
    (
        REGISTRATION,
        "ValidatingAdmissionPolicy",
        {
            "spec": {
                "variables": [{"name": "x", "expression": "EXPRESSION"}],
                "validations": [
                    {"expression": "EXPRESSION", "message": "expression"},
                    {"messageExpression": "EXPRESSION"},
                ],
                "auditAnnotations": [{"key": "expression", "valueExpression": "EXPRESSION"}],
            }
        },
        4,
    ),
    (
        REGISTRATION,
        "MutatingAdmissionPolicy",
        {
            "spec": {
                **CONDITIONS,
                "mutations": [
                    {"applyConfiguration": {"expression": "EXPRESSION"}},
                    {"jsonPatch": {"expression": "EXPRESSION"}},
                ],
            }
        },
        3,
    ),
    (REGISTRATION, "MutatingWebhookConfiguration", {"webhooks": [CONDITIONS, {}, CONDITIONS]}, 2),
    (REGISTRATION, "ValidatingWebhookConfiguration", {"webhooks": [CONDITIONS]}, 1),
    (
        "apiextensions.k8s.io",
        "CustomResourceDefinition",
        {
            "spec": {
                "versions": [
                    {"schema": {"openAPIV3Schema": {"properties": {"a": RULES}, **RULES}}},
                    {"schema": {"openAPIV3Schema": {"items": {"anyOf": [RULES]}}}},
                ]
            }
        },
        6,
    ),
    ("resource.k8s.io", "DeviceClass", {"spec": SELECTORS}, 1),
    (
        "resource.k8s.io",
        "ResourceClaim",
        {
            "spec": {
                "devices": {
                    "requests": [
                        SELECTORS,
                        {"exactly": SELECTORS},
                        {"firstAvailable": [SELECTORS, SELECTORS]},
                    ]
                }
            }
        },
        4,
    ),
    ("", "ConfigMap", {"spec": {"validations": [{"expression": "a"}]}}, 0),
    (REGISTRATION, "ValidatingAdmissionPolicy", {"spec": {"validations": {"expression": "a"}}}, 0),
    (REGISTRATION, "ValidatingAdmissionPolicy", {"spec": {"validations": [{"expression": 1}]}}, 0),
    (REGISTRATION, "ValidatingAdmissionPolicy", {"spec": None}, 0),
]


@pytest.mark.parametrize(("group", "kind", "value", "count"), ROWS)
def test_rows(group: str, kind: str, value: dict[str, Any], count: int) -> None:
    found = list(expression_fields((group, kind), value))
    assert [text for _, text in found] == ["EXPRESSION"] * count
    assert len({path for path, _ in found}) == count
    for path, text in found:
        at: Any = value
        for step in path:
            at = at[step]
        assert at is text
