"""A server of another release: it starts, and serves what that release has."""

from __future__ import annotations

import json

import pytest

from celadon.apiserver.api_settings import Settings
from celadon.apiserver.http_messages import HttpRequest
from tests.apiserver.asking import ask, make, said
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


MAPS = "/api/v1/namespaces/default/configmaps"
NUMBER = 'resourceVersion: Invalid value: "x": strconv.ParseUint: parsing "x": invalid syntax'
BAD_VERSIONS = [
    ("1.32", "", (500, NUMBER)),
    ("1.32", "&limit=1", (400, f"invalid resource version: {NUMBER}")),
    ("1.33", "", (400, f"invalid resource version: {NUMBER}")),
]


@pytest.mark.parametrize(("release", "query", "refused"), BAD_VERSIONS)
def test_lists_at_what_is_no_version(release: str, query: str, refused: tuple[int, str]) -> None:
    running = Running(Settings(version=release))
    try:
        assert said(ask(running, "GET", f"{MAPS}?resourceVersion=x{query}")) == refused
    finally:
        running.close()


SCALES = {
    "/apis/apps/v1/namespaces/default/deployments": 'deployments/scale.apps "a" not found',
    "/apis/apps/v1/namespaces/default/statefulsets": 'statefulsets.apps "a" not found',
    "/api/v1/namespaces/default/replicationcontrollers": (
        'replicationcontrollers/scale.autoscaling "a" not found'
    ),
}


def test_scales_of_objects_that_are_not_there() -> None:
    before, since = (Running(Settings(version=release)) for release in ("1.32", "1.33"))
    try:
        for path, text in SCALES.items():
            assert said(ask(before, "GET", f"{path}/a/scale")) == (404, text)
            assert "/scale" not in said(ask(since, "GET", f"{path}/a/scale"))[1]
    finally:
        before.close()
        since.close()


@pytest.mark.parametrize(
    ("release", "reason"),
    [
        ("1.31", ""),
        (
            "1.32",
            'User "alice" cannot create resource "configmaps" in API group "" in the namespace '
            '"default"',
        ),
    ],
)
def test_an_apply_that_may_not_create(release: str, reason: str) -> None:
    rbac = "/apis/rbac.authorization.k8s.io/v1/namespaces/default"
    rule = {"apiGroups": [""], "resources": ["configmaps"], "verbs": ["patch"]}
    subject = {"kind": "User", "name": "alice", "apiGroup": "rbac.authorization.k8s.io"}
    ref = {"apiGroup": "rbac.authorization.k8s.io", "kind": "Role", "name": "r"}
    named = {"apiVersion": "rbac.authorization.k8s.io/v1", "metadata": {"name": "r"}}
    config = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "a"}}
    running = Running(Settings(version=release))
    try:
        make(running, f"{rbac}/roles", {**named, "kind": "Role", "rules": [rule]})
        binding = {**named, "kind": "RoleBinding", "subjects": [subject], "roleRef": ref}
        make(running, f"{rbac}/rolebindings", binding)
        path, form = f"{MAPS}/a?fieldManager=m", "application/apply-patch+yaml"
        answer = ask(running, "PATCH", path, config, token="alice-token", content_type=form)
        assert said(answer) == (403, f'configmaps "a" is forbidden: {reason}')
    finally:
        running.close()
