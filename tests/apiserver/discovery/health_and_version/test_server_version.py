"""The version document."""

from __future__ import annotations

import json

import pytest

from celadon.apiserver.discovery.health_and_version import ServerVersion, version_answer
from celadon.apiserver.http_messages import HttpRequest
from celadon.kube import StatusError
from celadon.kube.releases import answering_as

NAMES = [
    *("major", "minor", "emulationMajor", "emulationMinor", "minCompatibilityMajor"),
    *("minCompatibilityMinor", "gitVersion", "gitCommit", "gitTreeState", "buildDate"),
    *("goVersion", "compiler", "platform"),
]


def test_version() -> None:
    answer = version_answer(HttpRequest("GET", "/version"), ServerVersion("1.36"))
    document = json.loads(answer.body)
    assert list(document) == NAMES
    assert (document["minor"], document["minCompatibilityMinor"]) == ("36", "35")
    assert document["gitVersion"] == "v1.36.0"
    assert answer.body.startswith(b'{\n  "major": "1",')


def test_older_releases_do_not_say_what_they_get_along_with() -> None:
    with answering_as("1.32"):
        assert list(ServerVersion("1.32").document()) == NAMES[:2] + NAMES[6:]


@pytest.mark.parametrize(
    ("method", "path", "accept", "code"),
    [
        ("HEAD", "/version", "*/*", 405),
        ("GET", "/version/x", "*/*", 404),
        ("GET", "/version/", "application/*", 406),
        ("GET", "/version", "application/yaml", 406),
    ],
)
def test_what_is_refused(method: str, path: str, accept: str, code: int) -> None:
    request = HttpRequest(method, path, (("accept", accept),))
    with pytest.raises(StatusError) as refused:
        version_answer(request, ServerVersion("1.36"))
    assert refused.value.code == code


def test_the_version_of_openapi_documents() -> None:
    assert ServerVersion("1.30", 14).of_documents == "v1.30.14"
    assert ServerVersion("1.31", 14).of_documents == "1.31"
    assert ServerVersion("1.36", emulated="1.34").of_documents == "1.34"
