"""The Status of a webhook, as it is passed on."""

from __future__ import annotations

from typing import Any

import pytest

from celadon.admission.webhooks.hook_refusals import denied
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
