"""What is read of reviews for counting them."""

from __future__ import annotations

import pytest

from celadon.webhook.applications import UNKNOWN, is_allowed, operation_of


@pytest.mark.parametrize(
    ("body", "operation"),
    [
        (b'{"request": {"operation": "UPDATE", "uid": "1"}, "kind": "AdmissionReview"}', "UPDATE"),
        (b'{"request": {"operation": "INVENTED"}}', UNKNOWN),
        (b'{"request": {}}', UNKNOWN),
        (b'{"request": {"operation": 1}}', UNKNOWN),
        (b"{}", UNKNOWN),
        (b"no JSON", UNKNOWN),
        (b'{"request": {"operation": "\xff"}}', UNKNOWN),
    ],
)
def test_the_operation(body: bytes, operation: str) -> None:
    assert operation_of(body) == operation


@pytest.mark.parametrize(
    ("body", "allowed"),
    [
        (b'{"response": {"uid": "1", "allowed": true}}', True),
        (b'{"response": {"allowed": false, "status": {}}}', False),
        (b'{"response": {"allowed": "yes"}}', None),
        (b'{"response": {}}', None),
        (b"ok", None),
        (b"", None),
    ],
)
def test_the_answer(body: bytes, allowed: bool | None) -> None:
    assert is_allowed(body) is allowed
