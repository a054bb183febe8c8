"""The status of a policy: what its type checker writes, and its conditions."""

from __future__ import annotations

from typing import Any

import pytest

from celadon.admission.registration.registration_strategies import validate_status

SINCE = "2025-01-01T00:00:00Z"


def condition(**members: Any) -> dict[str, Any]:
    return {
        "type": "Ready",
        "status": "True",
        "reason": "Because",
        "message": "",
        "lastTransitionTime": SINCE,
        **members,
    }


CONDITIONS: list[tuple[dict[str, Any], str]] = [
    ({}, ""),
    ({"status": "False"}, ""),
    ({"status": "Unknown"}, ""),
    ({"type": "example.com/Ready"}, ""),
    ({"observedGeneration": 0}, ""),
    ({"reason": "R" * 1024}, ""),
    ({"message": "m" * 32768}, ""),
    (
        {"status": "true"},
        '.status: Unsupported value: "true": supported values: "False", "True", "Unknown"',
    ),
    (
        {"observedGeneration": -1},
        ".observedGeneration: Invalid value: -1: must be greater than or equal to zero",
    ),
    ({"lastTransitionTime": None}, ".lastTransitionTime: Required value"),
    ({"reason": ""}, ".reason: Required value"),
    ({"reason": "R" * 1025}, ".reason: Too long: may not be more than 1024 bytes"),
    ({"message": "m" * 32767 + "é"}, ".message: Too long: may not be more than 32768 bytes"),
]


@pytest.mark.parametrize(("members", "message"), CONDITIONS)
def test_conditions(members: dict[str, Any], message: str) -> None:
    expected = [f"status.conditions[0]{message}"] if message else []
    assert list(map(str, validate_status({"conditions": [condition(**members)]}))) == expected


def test_names_and_reasons_have_their_letters() -> None:
    wrong = condition(type="not a name", reason="1st")
    first, second = validate_status({"conditions": [condition(), wrong]})
    assert str(first).startswith('status.conditions[1].type: Invalid value: "not a name": ')
    assert str(second).startswith('status.conditions[1].reason: Invalid value: "1st": ')


def test_a_type_stands_once() -> None:
    (error,) = validate_status({"conditions": [condition(), condition(type="B"), condition()]})
    assert str(error) == 'status.conditions[2].type: Duplicate value: "Ready"'


@pytest.mark.parametrize(
    ("reference", "warning", "messages"),
    [
        ("spec.validations[0].expression", "w", []),
        ("spec", "", ["warning: Required value"]),
        (" \t", "w", ["fieldRef: Required value"]),
        ("", "", ["warning: Required value", "fieldRef: Required value"]),
    ],
)
def test_warnings_of_the_type_checker(reference: str, warning: str, messages: list[str]) -> None:
    given = [{"fieldRef": "spec", "warning": "w"}, {"fieldRef": reference, "warning": warning}]
    errors = validate_status({"typeChecking": {"expressionWarnings": given}})
    place = "status.typeChecking.expressionWarnings[1]."
    assert [str(error).removeprefix(place) for error in errors] == messages


def test_a_place_that_is_no_path() -> None:
    given = [{"fieldRef": "a[", "warning": "w"}]
    (error,) = validate_status({"typeChecking": {"expressionWarnings": given}})
    place = 'status.typeChecking.expressionWarnings[0].fieldRef: Invalid value: "a[": '
    assert str(error).startswith(f"{place}invalid JSONPath: ")
