"""The chain in a server: managed fields that policies spoil."""

from __future__ import annotations

import json
from typing import Any

import pytest

from celadon.apiserver.http_messages import HttpRequest
from celadon.testing import KubeApi

GROUP = "admissionregistration.k8s.io/v1"
NAME = {"metadata": {"name": "spoils"}}


def spoiling(patch: str) -> list[dict[str, Any]]:
    """A policy that does this to each ConfigMap, and its binding."""
    rule = {
        "apiGroups": [""],
        "apiVersions": ["v1"],
        "resources": ["configmaps"],
        "operations": ["CREATE"],
    }
    mutation = {"patchType": "JSONPatch", "jsonPatch": {"expression": f"[{patch}]"}}
    spec = {
        "matchConstraints": {"resourceRules": [rule]},
        "reinvocationPolicy": "Never",
        "mutations": [mutation],
    }
    return [
        {"apiVersion": GROUP, "kind": "MutatingAdmissionPolicy", **NAME, "spec": spec},
        {
            "apiVersion": GROUP,
            "kind": "MutatingAdmissionPolicyBinding",
            **NAME,
            "spec": {"policyName": "spoils"},
        },
    ]


@pytest.mark.parametrize(
    ("patch", "why"),
    [
        (
            'JSONPatch{op: "replace", path: "/metadata/managedFields/0/operation", value: "Own"}',
            "operation must be `Apply` or `Update`",
        ),
        (
            'JSONPatch{op: "replace", path: "/metadata/managedFields/0/fieldsType", value: "F"}',
            'invalid fieldsType "F" in managed fields entry 0',
        ),
        (
            'JSONPatch{op: "remove", path: "/metadata/managedFields/0/fieldsType"}',
            "missing fieldsType in managed fields entry 0",
        ),
        ('JSONPatch{op: "remove", path: "/metadata/managedFields"}', ""),
    ],
)
def test_managed_fields_that_nobody_can_read_are_what_they_were(patch: str, why: str) -> None:
    with KubeApi(spoiling(patch)) as api:
        headers = [
            ("authorization", f"Bearer {api.admin.token}"),
            ("content-type", "application/json"),
        ]
        config_map = {
            "apiVersion": "v1",
            "kind": "ConfigMap",
            "metadata": {"name": "a"},
            "data": {"k": "v"},
        }
        path = "/api/v1/namespaces/default/configmaps?fieldManager=me"
        answer = api.handle(HttpRequest("POST", path, headers, json.dumps(config_map).encode()))
    made = json.loads(answer.body)
    assert answer.code == 201, made
    warnings = [value for name, value in answer.headers if name.lower() == "warning"]
    managers = [one["manager"] for one in made["metadata"].get("managedFields", ())]
    if not why:
        assert (warnings, managers) == ([], [])
        return
    assert managers == ["me"]
    (warning,) = warnings
    assert warning.startswith('299 - ".metadata.managedFields was in an invalid state after adm')
    assert json.dumps(f"please fix your requests: {why}")[1:] in warning


def test_policies_are_asked_from_the_first_that_comes_to_the_last_that_goes() -> None:
    path = "/api/v1/namespaces/default/configmaps"

    def made(api: KubeApi, name: str) -> dict[str, Any]:
        body = {"metadata": {"name": name}, "data": {"k": "v"}}
        data: dict[str, Any] = api.request("POST", path, body)["data"]
        return data

    with KubeApi() as api:
        assert made(api, "before") == {"k": "v"}
        api.create(*spoiling('JSONPatch{op: "add", path: "/data/added", value: "x"}'))
        assert made(api, "while") == {"k": "v", "added": "x"}
        assert made(api, "still") == {"k": "v", "added": "x"}
        api.request("DELETE", f"/apis/{GROUP}/mutatingadmissionpolicies/spoils")
        assert made(api, "after") == {"k": "v"}
