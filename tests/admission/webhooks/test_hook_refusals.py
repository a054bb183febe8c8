"""The Status of a webhook, as it is passed on."""

from __future__ import annotations

from typing import Any

import pytest

from celadon.admission.webhooks.hooks import (
    CallError,
    denied,
    dry_run_unsupported,
    failed,
    modified_nothing,
)
from tests.admission.webhooks.hooking import hooks, webhook

HOOK = hooks(webhook()).hooks[0]
DENIED = 'admission webhook "a.hooks.example.com" denied the request'


@pytest.mark.parametrize(
    ("said", "status"),
    [
        (None, {"message": f"{DENIED} without explanation", "code": 400}),
        ({"message": "no"}, {"message": f"{DENIED}: no", "code": 400}),
        ({"reason": "Gone"}, {"message": f"{DENIED}: Gone", "reason": "Gone", "code": 400}),
        ({"code": 399}, {"message": f"{DENIED} without explanation", "code": 400}),
        ({"code": 599}, {"message": f"{DENIED} without explanation", "code": 599}),
        (
            {"status": "Success"},
            {"message": f"{DENIED} without explanation", "code": 400},
        ),
        (
            {"status": "Odd"},
            {"status": "Odd", "message": f"{DENIED} without explanation", "code": 400},
        ),
        (
            {
                "code": 429,
                "details": {
                    "name": "n",
                    "causes": [{"message": "m", "reason": "r", "field": "f"}],
                    "retryAfterSeconds": 7,
                },
            },
            {
                "message": f"{DENIED} without explanation",
                "code": 429,
                "details": {
                    "name": "n",
                    "causes": [{"message": "m", "reason": "r", "field": "f"}],
                    "retryAfterSeconds": 7,
                },
            },
        ),
    ],
)
def test_denials(said: dict[str, Any] | None, status: dict[str, Any]) -> None:
    expected = {
        "kind": "Status",
        "apiVersion": "v1",
        "metadata": {},
        "status": "Failure",
        **status,
    }
    assert denied(HOOK, said).status.to_json() == expected


DETAILS = {"name": "n", "group": "g", "kind": "k", "uid": "u"}


@pytest.mark.parametrize(
    ("said", "details"),
    [
        ({}, {}),
        (DETAILS, DETAILS),
        ({"retryAfterSeconds": 1}, {"retryAfterSeconds": 1}),
        ({"causes": [{}]}, {"causes": [{}]}),
        (
            {"causes": [{"message": "m"}, {"reason": "r"}, {"field": "f"}]},
            {"causes": [{"message": "m"}, {"reason": "r"}, {"field": "f"}]},
        ),
    ],
)
def test_details(said: dict[str, Any], details: dict[str, Any]) -> None:
    assert denied(HOOK, {"details": said}).status.to_json()["details"] == details


@pytest.mark.parametrize(
    ("said", "key", "value"),
    [
        ({"metadata": {"continue": "c"}}, "metadata", {"continue": "c"}),
        ({"reason": "R", "message": "m"}, "message", f"{DENIED}: m"),
        ({"code": 400}, "code", 400),
        ({"code": 401}, "code", 401),
        ({"code": 200}, "code", 400),
    ],
)
def test_what_is_passed_on(said: dict[str, Any], key: str, value: Any) -> None:
    assert denied(HOOK, said).status.to_json()[key] == value


def test_other_refusals() -> None:
    name = 'admission webhook "a.hooks.example.com"'
    dry = dry_run_unsupported(HOOK).status
    assert (dry.code, dry.message) == (400, f"{name} does not support dry run")
    nothing = modified_nothing(HOOK).status
    assert nothing.code == 500
    assert nothing.message == (
        f"Internal error occurred: {name} attempted to modify the object, which is not supported "
        "for this operation"
    )
    wrong = failed(HOOK, CallError("why")).status
    assert (wrong.code, wrong.reason) == (500, "InternalError")
    assert wrong.message.startswith("Internal error occurred: failed calling webhook ")
    assert wrong.message.endswith(": why")
