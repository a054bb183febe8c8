"""HTTP answers that are none, as Go's client tells them."""

from __future__ import annotations

import pytest

from celadon.admission.webhooks.hooks import CallError, Reply, failed_call, require_success
from celadon.kube.releases import answering_as
from tests.admission.webhooks.hooking import as_json

SERVER = "an error on the server ({}) has prevented the request from succeeding"


@pytest.mark.parametrize(
    ("code", "content_type", "body", "text"),
    [
        (400, None, b"x", "the server rejected our request for an unknown reason"),
        (401, None, b"x", "the server has asked for the client to provide credentials"),
        (405, None, b"", "the server does not allow this method on the requested resource"),
        (422, None, b"", "the server rejected our request due to an error in our request"),
        (
            429,
            None,
            b"",
            "the server has received too many requests and has asked us to try again later",
        ),
        (
            504,
            None,
            b"",
            "the server was unable to return a response in the time allotted, but may still be "
            "processing the request",
        ),
        (403, "text/plain", b" go away \n", "go away"),
        (403, "application/json", b"go away", "unknown"),
        (404, None, b"", "the server could not find the requested resource"),
        (
            406,
            None,
            b"",
            "the server was unable to respond with a content type that the client supports",
        ),
        (406, None, b"not that", "not that"),
        (409, None, b"", "the server reported a conflict"),
        (415, "text/html", b"wrong", "wrong"),
        (500, None, b'it "broke"', SERVER.format(r'"it \"broke\""')),
        (500, "application/json", b'{"a":1}', SERVER.format('"unknown"')),
        (502, "text/plain", b"a" * 3000, SERVER.format(f'"{"a" * 2048}"')),
        (503, None, b"", "the server is currently unable to handle the request"),
        (
            302,
            None,
            b"",
            "the server responded with the status code 302 but did not return more information",
        ),
        (
            200,
            None,
            b"",
            "0-length response with status code: 200 and content type: application/json",
        ),
        (204, "a/b", b"", "0-length response with status code: 204 and content type: a/b"),
        (
            101,
            None,
            b"",
            "0-length response with status code: 101 and content type: application/json",
        ),
    ],
)
def test_texts(code: int, content_type: str | None, body: bytes, text: str) -> None:
    with pytest.raises(CallError) as failed:
        require_success(Reply(code, body, content_type), as_json)
    assert str(failed.value) == f"failed to call webhook: {text}"
    assert failed.value.code == (code if code not in {200, 204, 101} else 503)


def test_a_status_speaks_for_itself() -> None:
    body = b'{"kind":"Status","status":"Failure","message":"the hook is cross","code":418}'
    with pytest.raises(CallError, match="failed to call webhook: the hook is cross") as failed:
        require_success(Reply(500, body, "application/json"), as_json)
    assert failed.value.code == 418


def test_a_status_of_success_does_not() -> None:
    body = b'{"kind":"Status","status":"Success","message":"fine"}'
    with pytest.raises(CallError, match="an error on the server"):
        require_success(Reply(500, body, "application/json"), as_json)


@pytest.mark.parametrize("code", range(200, 207))
def test_success(code: int) -> None:
    require_success(Reply(code, b"{}"), as_json)


@pytest.mark.parametrize(("release", "code"), [("1.33", 400), ("1.34", 503), ("1.36", 503)])
def test_codes_of_what_nobody_answered(release: str, code: int) -> None:
    with answering_as(release):
        with pytest.raises(CallError) as failed:
            require_success(Reply(200, b""), as_json)
        assert failed.value.code == code
        assert failed_call("a").code == code
        with pytest.raises(CallError) as refused:
            require_success(Reply(503, b""), as_json)
        assert refused.value.code == 503
