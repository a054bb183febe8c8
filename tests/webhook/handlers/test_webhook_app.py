"""The application over ASGI: reviews, and everything that is none."""

from __future__ import annotations

import asyncio
import logging
import time
from fnmatch import fnmatchcase
from typing import Any

import pytest

from celadon.webhook import webhook_app
from celadon.webhook.handlers import Request, mutate, validate
from celadon.webhook.webhook_app import MOST_BYTES, Message, Webhook, client_config, path_of
from tests.webhook.handlers.objects import NAME, asked, patch_of, review

app = Webhook(NAME)


@app.validate("deployments.apps")
def fine(request: Request) -> bool:
    """It is not."""
    return request.name == "web"


@app.mutate("deployments.apps")
async def label(request: Request) -> None:
    request.object["metadata"]["labels"]["x"] = "y"


@app.validate("pods")
def broken(request: Request) -> bool:
    raise RuntimeError("a secret")


@app.validate("pods")
async def slow(request: Request) -> None:
    await asyncio.sleep(600)


@app.validate("pods")
def blocked(request: Request) -> None:
    time.sleep(1)


def test_reviews() -> None:
    code, body, headers = asked(app, "/validate/fine", review())
    assert (code, headers["content-type"]) == (200, "application/json")
    assert body["response"] == {"uid": "u-1", "allowed": True}
    code, body, _ = asked(app, "/validate/fine", review(name="other"))
    assert (code, body["response"]["status"]["message"]) == (200, "It is not")
    code, body, _ = asked(app, "/mutate/label", review())
    assert patch_of(body["response"])[0]["path"] == "/metadata/labels/x"


def test_mounted() -> None:
    assert asked(app, "/validate/fine", review(), root="/hooks")[0] == 200


@pytest.mark.parametrize("path", ["/healthz", "/livez", "/readyz"])
def test_health(path: str) -> None:
    assert asked(app, path, method="GET")[:2] == (200, "ok")


@pytest.mark.parametrize(
    ("path", "more", "code", "text"),
    [
        ("/validate/nope", {}, 404, "there is no handler at /validate/nope"),
        ("/mutate/fine", {}, 404, "there is no handler at /mutate/fine"),
        ("/healthz", {}, 404, "there is no handler at /healthz"),
        ("/validate/fine", {"method": "GET"}, 405, "reviews are posted"),
        (
            "/validate/fine",
            {"content_type": "text/plain"},
            415,
            "a review is application/json, not `text/plain`",
        ),
        ("/validate/fine", {"body": "{"}, 400, "the body is no JSON: *"),
        ("/validate/fine", {"body": "[" * 100_000}, 400, "the body is no JSON: *"),
        (
            "/validate/fine",
            {"body": {}},
            400,
            "not an AdmissionReview: its kind is not AdmissionReview of admission.k8s.io/v1 or "
            "admission.k8s.io/v1beta1",
        ),
        (
            "/validate/fine",
            {"body": "5"},
            400,
            "not an AdmissionReview: the body must be an object, not a number",
        ),
        (
            "/validate/fine",
            {"body": " " * (MOST_BYTES + 1)},
            413,
            "request entity is too large; limit is 7340032 bytes",
        ),
        ("/validate/broken", {}, 500, "handler broken failed"),
        ("/validate/slow", {"query": b"timeout=50ms"}, 504, "handler slow took too long"),
        ("/validate/blocked", {"query": b"timeout=10ms"}, 504, "handler blocked took too long"),
    ],
)
def test_what_is_no_answer(path: str, more: dict[str, Any], code: int, text: str) -> None:
    given = {"body": review(), **more}
    found, body, headers = asked(app, path, **given)
    assert found == body["code"] == code
    assert fnmatchcase(body["message"], text)  # what Python says of JSON depends on its version
    assert (body["kind"], body["status"]) == ("Status", "Failure")
    assert headers.get("allow") == ("POST" if code == 405 else None)


def test_failures_are_logged_and_not_told(caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.ERROR, "celadon.webhook"):
        _, body, _ = asked(app, "/validate/broken", review())
    assert "a secret" not in str(body)
    assert "a secret" in caplog.text


MISUSED: list[tuple[str, dict[str, Any], str]] = [
    (
        "/validate/number",
        {},
        "handler `number` returned int: a validating function returns true, false, a denial, or "
        "nothing",
    ),
    (
        "/mutate/number",
        {},
        "handler `number` returned int: a mutating function returns an object, a denial, or "
        "nothing",
    ),
    (
        "/mutate/whole",
        {"operation": "DELETE", "object": None, "oldObject": {"metadata": {"name": "a"}}},
        "handler `whole` returned an object for DELETE, which has none",
    ),
]


@pytest.mark.parametrize(("path", "more", "text"), MISUSED)
def test_what_a_handler_may_not_return(
    path: str, more: dict[str, Any], text: str, caplog: pytest.LogCaptureFixture
) -> None:
    def number(request: Request) -> Any:
        return 5

    def whole(request: Request) -> Any:
        return {}

    wrong = Webhook(NAME, [validate("pods")(number), mutate("pods")(number), mutate("pods")(whole)])
    with caplog.at_level(logging.ERROR, "celadon.webhook"):
        code, body, _ = asked(wrong, path, review(**more))
    assert (code, body["message"]) == (500, f"handler {path.rpartition('/')[2]} failed")
    assert text in caplog.text


PLACES: list[tuple[dict[str, Any], dict[str, Any]]] = [
    ({"service": "a/b"}, {"service": {"namespace": "a", "name": "b", "path": ""}}),
    (
        {"service": "a/b:8443/c/d"},
        {"service": {"namespace": "a", "name": "b", "path": "/c/d", "port": 8443}},
    ),
    ({"url": "https://x/", "ca_bundle": "x"}, {"url": "https://x", "caBundle": "eA=="}),
    ({"url": "https://x", "ca_bundle": b"x"}, {"url": "https://x", "caBundle": "eA=="}),
]


@pytest.mark.parametrize(("place", "client"), PLACES)
def test_where_an_application_is(place: dict[str, Any], client: dict[str, Any]) -> None:
    assert client_config(**place) == client


@pytest.mark.parametrize("service", ["a", "/b", "a/", "a/b:", "a/b:x", "a/b:123456", "a/:1"])
def test_places_that_are_no_services(service: str) -> None:
    with pytest.raises(ValueError, match=f"^`{service}` is not NAMESPACE/NAME") as caught:
        client_config(service)
    assert str(caught.value) == f"`{service}` is not NAMESPACE/NAME[:PORT]"


@pytest.mark.parametrize("both", [("", ""), ("a/b", "https://x")])
def test_an_application_is_at_one_place(both: tuple[str, str]) -> None:
    with pytest.raises(ValueError, match=r"^say where") as caught:
        client_config(*both)
    assert str(caught.value) == "say where the webhook is: either `service` or `url`"


@pytest.mark.parametrize("query", [b"", b"timeout=", b"timeout=x", b"timeout=-1s", b"timeout=10s"])
def test_timeouts_that_are_none(query: bytes) -> None:
    assert asked(app, "/validate/fine", review(), query=query)[0] == 200


@pytest.mark.parametrize(
    ("query", "seconds"),
    [
        (b"", None),
        (b"timeout=", None),
        (b"timeout=0s", None),
        (b"timeout=-1ns", None),
        (b"timeout=1ns", 1e-9),
        (b"a=b&timeout=1m5s", 65.0),
        (b"timeout=5s&timeout=6s", 5.0),
        (b"timeout=\xff", None),
    ],
)
def test_how_long_the_caller_waits(query: bytes, seconds: float | None) -> None:
    assert webhook_app._seconds(query) == seconds


def test_the_life_of_a_server() -> None:
    waiting = [{"type": "lifespan.startup"}, {"type": "lifespan.shutdown"}]
    sent: list[Message] = []

    async def receive() -> Message:
        return waiting.pop(0)

    async def send(message: Message) -> None:
        sent.append(message)

    asyncio.run(app({"type": "lifespan"}, receive, send))
    assert [one["type"] for one in sent] == [
        "lifespan.startup.complete",
        "lifespan.shutdown.complete",
    ]
    with pytest.raises(ValueError, match="not for `websocket`"):
        asyncio.run(app({"type": "websocket"}, receive, send))


def test_whoever_asks_may_go() -> None:
    async def receive() -> Message:
        return {"type": "http.disconnect"}

    async def send(message: Message) -> None:
        raise AssertionError(message)

    scope = {
        "type": "http",
        "method": "POST",
        "path": "/validate/fine",
        "headers": [(b"Content-Type", b"application/json")],
    }
    asyncio.run(app(scope, receive, send))


def test_handlers_that_cannot_be_added() -> None:
    one = validate("pods", name="one")(lambda _: None)
    twice = "^there are two handlers `one`: give one another `name`$"
    with pytest.raises(ValueError, match=twice):
        Webhook(NAME, [one, one])
    Webhook(NAME, [one, mutate("pods", name="one")(lambda _: None)])
    for wrong, text in (
        (validate("pods", name="One_")(lambda _: None), "webhooks\\[0\\].name: Invalid value"),
        (validate("pods", name="x", failure_policy="No")(lambda _: None), "Unsupported value"),
        (validate("pods", name="x", timeout_seconds=31)(lambda _: None), "between 1 and 30"),
        (validate("pods", name="x", match_conditions={"a": "1"})(lambda _: None), "must evaluate"),
    ):
        with pytest.raises(ValueError, match=text):
            Webhook(NAME, [wrong])
    with pytest.raises(ValueError, match="at least three segments"):
        Webhook("short", [one])


@pytest.mark.parametrize(
    ("scope", "path"),
    [
        ({}, ""),
        ({"path": "/validate/a"}, "/validate/a"),
        ({"path": "/hooks/validate/a", "root_path": "/hooks"}, "/validate/a"),
        ({"path": "/validate/a", "root_path": "/hooks"}, "/validate/a"),
        ({"path": "/validate/a", "root_path": ""}, "/validate/a"),
    ],
)
def test_the_path_below_the_place_of_an_application(scope: dict[str, Any], path: str) -> None:
    assert path_of(scope) == path
