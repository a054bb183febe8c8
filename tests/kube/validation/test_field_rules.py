"""Simple rules for fields: what each says, in which order, and that the data use no others."""

from __future__ import annotations

from typing import Any

import pytest

from celadon.kube.fieldpath import FieldPath
from celadon.kube.schemas import schema_packs
from celadon.kube.schemas.schema_packs import component
from celadon.kube.validation.field_checks import broken_rules, changed_fields, rules_of

AT = FieldPath("a")

ROWS: list[tuple[str, dict[str, Any], list[str]]] = [
    ("core.v1.ScaleIOVolumeSource", {"gateway": "g", "system": "s", "volumeName": "v"}, []),
    (
        "core.v1.ScaleIOVolumeSource",
        {"system": ""},
        ["a.gateway: Required value", "a.system: Required value", "a.volumeName: Required value"],
    ),
    ("core.v1.ImageVolumeSource", {"pullPolicy": "Never"}, []),
    ("core.v1.ImageVolumeSource", {}, ["a.pullPolicy: Required value"]),
    (
        "core.v1.ImageVolumeSource",
        {"pullPolicy": "Odd"},
        [
            'a.pullPolicy: Unsupported value: "Odd": supported values: "Always", '
            '"IfNotPresent", "Never"'
        ],
    ),
    (
        "autoscaling.v2.HPAScalingPolicy",
        {"value": -1, "periodSeconds": 1801},
        [
            'a.type: Unsupported value: "": supported values: "Percent", "Pods"',
            "a.value: Invalid value: -1: must be greater than zero",
            "a.periodSeconds: Invalid value: 1801: must be less than or equal to 1800",
        ],
    ),
    ("autoscaling.v2.HPAScalingPolicy", {"type": "Pods", "value": 1, "periodSeconds": 1800}, []),
    (
        "autoscaling.v2.HPAScalingRules",
        {"stabilizationWindowSeconds": -1, "selectPolicy": "Odd"},
        [
            "a.stabilizationWindowSeconds: Invalid value: -1: must be greater than or equal to "
            "zero",
            'a.selectPolicy: Unsupported value: "Odd": supported values: "Disabled", "Max", "Min"',
            "a.policies: Required value: must specify at least one Policy",
        ],
    ),
    (
        "autoscaling.v2.CrossVersionObjectReference",
        {"kind": "a/b"},
        ["a.kind: Invalid value: \"a/b\": may not contain '/'", "a.name: Required value"],
    ),
    ("coordination.v1.LeaseSpec", {}, []),
    (
        "coordination.v1.LeaseSpec",
        {"leaseDurationSeconds": 0, "leaseTransitions": -1},
        [
            "a.leaseDurationSeconds: Invalid value: 0: must be greater than 0",
            "a.leaseTransitions: Invalid value: -1: must be greater than or equal to 0",
        ],
    ),
]


@pytest.mark.parametrize(("type_", "obj", "errors"), ROWS)
def test_rules(type_: str, obj: dict[str, Any], errors: list[str]) -> None:
    assert [str(error) for error in broken_rules(type_, obj, AT)] == errors


def test_immutable_fields() -> None:
    old = {"storageClassName": "a", "capacity": "1"}
    type_ = "storage.v1.CSIStorageCapacity"
    assert changed_fields(type_, {"storageClassName": "a", "capacity": "2"}, old, AT) == []
    (error,) = changed_fields(type_, {}, old, AT)
    assert str(error) == 'a.storageClassName: Invalid value: "": field is immutable'


def openapi_name(type_: str) -> str:
    is_meta = type_.startswith("meta.")
    return f"io.k8s.apimachinery.pkg.apis.{type_}" if is_meta else f"io.k8s.api.{type_}"


def test_the_data_are_about_fields_that_exist() -> None:
    for type_, entry in schema_packs.load("rules").items():
        fields = component(openapi_name(type_)).properties
        if "rules" in entry:
            assert {rule.field for rule in rules_of(type_)} <= set(fields), type_
        assert set(entry.get("immutable", ())) <= set(fields), type_
