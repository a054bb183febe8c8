"""The version document."""

from __future__ import annotations

import json

from celadon.serve.http_messages import HttpRequest
from celadon.serve.publication.server_version import ServerVersion, version_answer

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


def test_only_get() -> None:
    assert version_answer(HttpRequest("HEAD", "/version"), ServerVersion("1.36")).code == 405
