"""Expressions that choose devices: what they may say, and what is said against them."""

from __future__ import annotations

from typing import Any

import pytest

from celadon.kube.validation.field_checks import CONSUMABLE_CAPACITY
from tests.kube.validation.objects import complaints, obj, update_complaints

AT = "spec.selectors[0].cel.expression"


def device_class(text: str) -> dict[str, Any]:
    return obj(
        "resource.k8s.io/v1", "DeviceClass", spec={"selectors": [{"cel": {"expression": text}}]}
    )


@pytest.mark.parametrize(
    "text",
    [
        "true",
        'device.driver == "x"',
        'device.attributes["x"].y == 1',
        'device.attributes["x"].y',
        'device.capacity["x"].memory.compareTo(quantity("1Gi")) >= 0',
        'cel.bind(dra, device.attributes["x"], dra.one && dra.two)',
        "device.allowMultipleAllocations",
    ],
)
def test_good_expressions(text: str) -> None:
    assert complaints(device_class(text)) == []


@pytest.mark.parametrize(
    ("text", "why"),
    [
        (
            "web",
            "compilation failed: ERROR: <input>:1:1: undeclared reference to 'web' (in container "
            "'')\n | web\n | ^",
        ),
        ("1", "must evaluate to bool or the unknown type, not int"),
        ("'a'", "must evaluate to bool or the unknown type, not string"),
        ("device.attributes", "must evaluate to bool or the unknown type, not map(string, map("),
        ("device.x", "compilation failed: ERROR: <input>:1:7: undefined field 'x'"),
    ],
)
def test_bad_expressions(text: str, why: str) -> None:
    (found,) = complaints(device_class(text))
    assert found.startswith(f'{AT}: Invalid value: "{text}": {why}')


def test_what_compiles_and_is_no_program() -> None:
    assert complaints(device_class("type(1) == duration")) == [
        f"{AT}: Internal error: program instantiation failed: reference to undefined type: duration"
    ]


def test_an_empty_expression_does_not_compile() -> None:
    (found,) = complaints(device_class(""))
    assert found.startswith(
        f'{AT}: Invalid value: "": compilation failed: ERROR: <input>:1:0: Syntax'
    )


def test_cost_is_bounded() -> None:
    each = "device.attributes.exists(a, device.attributes.exists(b, {}))"
    text = "true"
    for _ in range(4):
        text = each.format(text)
    assert complaints(device_class(text)) == [f"{AT}: Forbidden: too complex, exceeds cost limit"]


def test_a_field_of_devices_hangs_on_a_gate() -> None:
    value = device_class("device.allowMultipleAllocations")
    (found,) = complaints(value, CONSUMABLE_CAPACITY)
    assert "undefined field 'allowMultipleAllocations'" in found


def test_selectors_of_changed_classes_are_looked_at() -> None:
    assert len(update_complaints(device_class("web"), device_class("true"))) == 1
