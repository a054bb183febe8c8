"""A server of another release: it starts, and serves what that release has."""

from __future__ import annotations

import json

import pytest

from celadon.apiserver.api_settings import Settings
from celadon.apiserver.http_messages import HttpRequest
from tests.apiserver.in_process import Running

ADMIN = [("authorization", "Bearer admin-token")]
RELEASES = ("1.30", "1.31", "1.32", "1.33", "1.34", "1.35", "1.36")


@pytest.mark.parametrize("release", RELEASES)
def test_groups_and_versions(release: str) -> None:
    running = Running(Settings(version=release, all_versions=True))
    try:
        answer = running.answer(HttpRequest("GET", "/apis", ADMIN, b""))
        groups = {one["name"]: one["versions"] for one in json.loads(answer.body)["groups"]}
        versions = {name: {one["version"] for one in group} for name, group in groups.items()}
        assert ("v1" in versions["resource.k8s.io"]) is (release >= "1.34")
        assert ("v1alpha2" in versions["resource.k8s.io"]) is (release == "1.30")
        kinds = running.answer(
            HttpRequest("GET", "/apis/admissionregistration.k8s.io/v1", ADMIN, b"")
        )
        names = {one["name"] for one in json.loads(kinds.body)["resources"]}
        assert ("mutatingadmissionpolicies" in names) is (release == "1.36")
    finally:
        running.close()
