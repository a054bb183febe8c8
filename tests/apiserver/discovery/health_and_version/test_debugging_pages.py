"""What a server says of itself to people, and to those who ask for a kind."""

from __future__ import annotations

import json

import pytest

from celadon.apiserver.discovery.health_and_version import (
    SelfPortrait,
    ServerVersion,
    logs_answer,
    page_answer,
    serves_logs,
)
from celadon.apiserver.http_messages import HttpAnswer, HttpRequest
from celadon.kube import StatusError
from celadon.kube.releases import answering_as

PORTRAIT = SelfPortrait(ServerVersion("1.36"), 100.0, lambda: 3830.5, {"b": "2", "a": "1"})
PATHS = ("/", "/api/v1", "/livez/ping", "/livez", "/.well-known/openid-configuration", "/statusz")
KIND = "application/json;as=Statusz;g=config.k8s.io;v="


def page(name: str, accept: str = "") -> HttpAnswer:
    headers = (("accept", accept),) if accept else ()
    return page_answer(name, HttpRequest("GET", f"/{name}", headers), PORTRAIT, PATHS)


@pytest.mark.parametrize("accept", ["", "text/plain", "*/*", "application/json, */*;q=0.1"])
def test_text_is_for_people(accept: str) -> None:
    shown = page("statusz", accept)
    assert shown.content_type == "text/plain; charset=utf-8"
    lines = shown.body.decode().splitlines()
    assert lines[1] == "apiserver statusz"
    assert lines[4:] == [
        "Started: Thu Jan  1 00:01:40 UTC 1970",
        "Up: 1 hr 02 min 10 sec",
        "Go version: go1.25.0",
        "Binary version: 1.36.0",
        "Emulation version: 1.36",
        "Paths: /livez /statusz",
    ]


def test_flags_are_sorted() -> None:
    assert page("flagz").body.endswith(b"purposes only.\na=1\nb=2\n")
    given = page("flagz", "application/json;as=Flagz;g=config.k8s.io;v=v1beta1")
    assert json.loads(given.body)["flags"] == {"a": "1", "b": "2"}


def test_the_kind_is_for_programs() -> None:
    shown = page("statusz", f"{KIND}v1beta1")
    assert json.loads(shown.body) == {
        "kind": "Statusz",
        "apiVersion": "config.k8s.io/v1beta1",
        "metadata": {"name": "apiserver"},
        "startTime": "1970-01-01T00:01:40Z",
        "uptimeSeconds": 3730,
        "goVersion": "go1.25.0",
        "binaryVersion": "1.36.0",
        "emulationVersion": "1.36",
        "paths": ["/livez", "/statusz"],
    }
    assert not shown.headers


def test_a_version_that_goes_away_is_warned_of() -> None:
    told = "This version of the statusz endpoint is deprecated. Please use a newer version."
    assert page("statusz", f"{KIND}v1alpha1").headers == (("Warning", f'299 - "{told}"'),)


@pytest.mark.parametrize(
    "accept",
    [
        "application/json",
        "application/yaml",
        "application/vnd.kubernetes.protobuf",
        f"{KIND}v1",
        "application/json;as=Flagz;g=config.k8s.io;v=v1beta1",
        "text/plain;as=Statusz;g=config.k8s.io;v=v1beta1",
    ],
)
def test_nothing_else_is_there(accept: str) -> None:
    accepted = "application/json, application/yaml, text/plain"
    with pytest.raises(StatusError, match=f"media types are accepted: {accepted}"):
        page("statusz", accept)


@pytest.mark.parametrize(
    ("method", "path", "accept", "code"),
    [
        ("GET", "/logs", "*/*", 301),
        ("GET", "/logs/", "", 200),
        ("GET", "/logs/x", "*/*", 404),
        ("GET", "/logs/", "text/html", 406),
        ("HEAD", "/logs/", "*/*", 405),
        ("POST", "/logs", "*/*", 405),
    ],
)
def test_the_folder_of_logs_is_empty(method: str, path: str, accept: str, code: int) -> None:
    headers = (("accept", accept),) if accept else ()
    request = HttpRequest(method, path, headers)
    if code < 405:
        assert logs_answer(request).code == code
        return
    with pytest.raises(StatusError) as caught:
        logs_answer(request)
    assert caught.value.status.code == code


@pytest.mark.parametrize(("release", "served"), [("1.30", True), ("1.31", False)])
def test_logs_are_served_until_1_31(release: str, *, served: bool) -> None:
    with answering_as(release):
        assert serves_logs() == served
