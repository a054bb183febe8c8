"""What webhooks make of the options of a connection, beside a fake of the webhooks."""

from __future__ import annotations

import asyncio
import json
from types import SimpleNamespace
from typing import Any

import pytest

from celadon.admission import Operation, Request
from celadon.kube import GroupVersionKind, GroupVersionResource, JsonObject, User
from celadon.serve.http_messages import HttpRequest
from celadon.serve.rest.admitting.mutation_rounds import Mutation
from celadon.serve.rest.calls import Notes
from celadon.testing import KubeApi

OPTIONS = {"kind": "PodExecOptions", "apiVersion": "v1", "command": ["id"]}
ASKED = Request(
    operation=Operation.CONNECT,
    kind=GroupVersionKind("", "v1", "PodExecOptions"),
    resource=GroupVersionResource("", "v1", "pods"),
    subresource="exec",
    name="p",
    namespace="default",
    object=OPTIONS,
    user=User("u"),
)


class Hooks:
    """Each round adds a word to the command."""

    def __init__(self, *, care: bool, rounds: int) -> None:
        self.care = care
        self.seen: list[Any] = []
        notes = SimpleNamespace(warnings=["w"], annotations={}, request_annotations={})
        self.phase = SimpleNamespace(wants_another=rounds > 1, notes=notes)

    def mutates(self, _: Request) -> bool:
        return self.care

    def mutation(self, *_: Any, **__: Any) -> Any:
        return self.phase

    async def run_round(self, _: Any, request: Request, number: int, __: Any) -> JsonObject:
        self.seen.append(request.object)
        assert request.object is not None
        return {**request.object, "command": [*request.object["command"], str(number)]}


@pytest.mark.parametrize(
    ("care", "rounds", "command"),
    [(False, 1, ["id"]), (True, 1, ["id", "0"]), (True, 2, ["id", "0", "1"])],
)
def test_options_are_what_the_last_round_made_of_them(
    care: bool, rounds: int, command: list[str]
) -> None:
    hooks = Hooks(care=care, rounds=rounds)
    plugins: Any = SimpleNamespace(mutate=lambda *_: None)
    nothing: Any = None
    given: Any = hooks
    policies: Any = SimpleNamespace(rounds=lambda *_: None)
    mutation = Mutation(plugins, nothing, policies, given, nothing, nothing)
    call: Any = SimpleNamespace(remaining=None, notes=Notes())
    made = asyncio.run(mutation.looked_at(call, ASKED))
    assert made.object == {**OPTIONS, "command": command}
    assert OPTIONS["command"] == ["id"]
    assert call.notes.warnings == ["w"] * care
    assert hooks.seen == [OPTIONS, {**OPTIONS, "command": ["id", "0"]}][: rounds * care]


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
