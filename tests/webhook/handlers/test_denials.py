"""Denials as the Status of a response."""

from __future__ import annotations

import pytest

from celadon.webhook.handlers import Denied


def test_the_reason_follows_from_the_code() -> None:
    assert Denied("no").status() == {
        "status": "Failure",
        "message": "no",
        "code": 403,
        "reason": "Forbidden",
    }
    assert Denied("no", code=422).reason == "Invalid"
    assert Denied("no", code=422, reason="Mine").reason == "Mine"
    assert "reason" not in Denied("no", code=418).status()


REASONS = {
    400: "BadRequest",
    401: "Unauthorized",
    403: "Forbidden",
    404: "NotFound",
    409: "Conflict",
    413: "RequestEntityTooLarge",
    422: "Invalid",
    429: "TooManyRequests",
    500: "InternalError",
    503: "ServiceUnavailable",
    418: "",
    599: "",
}
"""`StatusReason` of k8s.io/apimachinery `pkg/apis/meta/v1/types.go`, by the code that goes with
it."""


@pytest.mark.parametrize("code", REASONS)
def test_each_code_has_its_reason(code: int) -> None:
    assert Denied("no", code=code).reason == REASONS[code]


def test_details() -> None:
    causes = [{"field": "spec.replicas", "message": "too few"}]
    assert Denied("no", details={"causes": causes}).status()["details"] == {"causes": causes}


@pytest.mark.parametrize("code", [0, 200, 399, 600, 1000])
def test_a_denial_has_the_code_of_an_error(code: int) -> None:
    with pytest.raises(ValueError, match=f"^a denial has a code from 400 to 599, not {code}$"):
        Denied("no", code=code)
    assert [Denied("no", code=one).code for one in (400, 599)] == [400, 599]
