"""Events as they are written: who, what, with what outcome."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from celadon.apiserver.audit import (
    METADATA_FOR_ALL,
    AuditedHandler,
    AuditLog,
    AuditPolicy,
    read_audit_policy,
)
from celadon.apiserver.http_messages import HttpAnswer, HttpRequest
from celadon.apiserver.operation import metric_table
from celadon.apiserver.operation.metric_table import Counter
from celadon.records import replace
from tests.apiserver.in_process import Running

NOW = datetime(2026, 1, 2, 3, 4, 5, 678, tzinfo=UTC)
MAPS = "/api/v1/namespaces/default/configmaps"
SERVICES = "/api/v1/namespaces/default/services"
REQUESTS = """
apiVersion: audit.k8s.io/v1
kind: Policy
omitStages: [RequestReceived]
rules:
- level: RequestResponse
"""


class Logged:
    """A running server with an audit log."""

    def __init__(
        self, running: Running, path: Path, policy: AuditPolicy = METADATA_FOR_ALL
    ) -> None:
        self._running, self._path, self._policy = running, path, policy

    def events(self, request: HttpRequest) -> list[dict[str, Any]]:
        """Those of one request."""

        async def inner(asked: HttpRequest) -> HttpAnswer:
            answer: HttpAnswer = self._running.wait_for(self._running.server.handle(asked))
            if answer.stream is not None:
                self._running.lines(answer.stream).close()
            return replace(answer, stream=None)

        self._path.unlink(missing_ok=True)
        counters = Counter(metric_table.AUDIT_EVENTS), Counter(metric_table.AUDIT_ERRORS)
        with AuditLog(self._path, self._policy) as log:
            asyncio.run(AuditedHandler(inner, log, lambda: NOW, *counters).handle(request))
        return [json.loads(line) for line in self._path.read_text().splitlines()]


def request(
    method: str, target: str, body: Mapping[str, Any] | None = None, **headers: str
) -> HttpRequest:
    given = {"authorization": "Bearer admin-token"} | {
        name.replace("_", "-"): value for name, value in headers.items()
    }
    data = b"" if body is None else json.dumps(body).encode()
    return HttpRequest(method, target, list(given.items()), data)


@pytest.fixture
def logged(running: Running, tmp_path: Path) -> Logged:
    return Logged(running, tmp_path / "audit")


def test_a_creation(logged: Logged) -> None:
    asked = request("POST", f"{MAPS}?dryRun=All", {"metadata": {"name": "a"}}, user_agent="me/1")
    received, complete = logged.events(asked)
    assert (received["stage"], complete["stage"]) == ("RequestReceived", "ResponseComplete")
    assert received["auditID"] == complete["auditID"]
    assert list(complete) == [
        *("kind", "apiVersion", "level", "auditID", "stage", "requestURI", "verb", "user"),
        *("sourceIPs", "userAgent", "objectRef", "responseStatus", "requestReceivedTimestamp"),
        *("stageTimestamp", "annotations"),
    ]
    assert complete["requestURI"] == f"{MAPS}?dryRun=All"
    assert complete["user"] == {
        "username": "admin",
        "uid": "admin-uid",
        "groups": ["system:masters", "system:authenticated"],
    }
    assert complete["userAgent"] == "me/1"
    assert complete["objectRef"] == {
        "resource": "configmaps",
        "namespace": "default",
        "name": "a",
        "apiVersion": "v1",
    }
    assert complete["responseStatus"] == {"metadata": {}, "code": 201}
    assert complete["stageTimestamp"] == "2026-01-02T03:04:05.000678Z"
    assert complete["annotations"] == {
        "authorization.k8s.io/decision": "allow",
        "authorization.k8s.io/reason": "",
    }


def test_a_refusal(logged: Logged) -> None:
    *_, event = logged.events(request("GET", MAPS, authorization="Bearer alice-token"))
    assert event["annotations"] == {
        "authorization.k8s.io/decision": "forbid",
        "authorization.k8s.io/reason": "",
    }
    assert event["responseStatus"] == {
        "metadata": {},
        "status": "Failure",
        "message": 'configmaps is forbidden: User "alice" cannot list resource "configmaps" in API '
        'group "" in the namespace "default"',
        "reason": "Forbidden",
        "details": {"kind": "configmaps"},
        "code": 403,
    }


def test_what_only_the_head_was_asked_of(logged: Logged) -> None:
    """The client gets no body, but the event tells why."""
    *_, event = logged.events(request("HEAD", MAPS))
    assert event["responseStatus"] == {
        "metadata": {},
        "status": "Failure",
        "message": "the server does not allow this method on the requested resource",
        "reason": "MethodNotAllowed",
        "details": {},
        "code": 405,
    }


def test_acting_as_somebody_else(logged: Logged) -> None:
    """Which shows later than that the request has come."""
    received, event = logged.events(request("GET", MAPS, impersonate_user="jane"))
    assert not {"impersonatedUser", "authenticationMetadata"} & received.keys()
    assert event["user"]["username"] == "admin"
    assert event["impersonatedUser"] == {"username": "jane", "groups": ["system:authenticated"]}
    assert event["authenticationMetadata"] == {"impersonationConstraint": "impersonate:user-info"}


def test_objects_at_the_highest_level(running: Running, tmp_path: Path) -> None:
    logged = Logged(running, tmp_path / "audit", read_audit_policy(REQUESTS))
    [event] = logged.events(request("POST", f"{MAPS}?dryRun=All", {"metadata": {"name": "a"}}))
    assert event["requestObject"]["metadata"]["name"] == "a"
    assert event["responseObject"]["kind"] == "ConfigMap"
    [event] = logged.events(request("GET", f"{MAPS}/none"))
    assert "requestObject" not in event
    assert event["responseObject"]["reason"] == "NotFound"


TOKENS = "/apis/authentication.k8s.io/v1/tokenreviews"
FULL_OPTIONS = {"kind": "DeleteOptions", "apiVersion": "meta.k8s.io/__internal"}
ALICE = {"authorization": "Bearer alice-token"}
BODIES: dict[str, tuple[HttpRequest, Any]] = {
    "decoded, as yet changed by nobody": (
        request("POST", f"{MAPS}?dryRun=All", {"metadata": {"name": "A"}, "foo": 1}),
        {"kind": "ConfigMap", "apiVersion": "v1", "metadata": {"name": "A"}},
    ),
    "defaulted": (
        request("POST", f"{SERVICES}?dryRun=All", {"spec": {"ports": [{"port": 80}]}}),
        {
            "kind": "Service",
            "apiVersion": "v1",
            "metadata": {},
            "spec": {
                "ports": [{"protocol": "TCP", "port": 80, "targetPort": 80}],
                "type": "ClusterIP",
                "sessionAffinity": "None",
                "internalTrafficPolicy": "Cluster",
            },
            "status": {"loadBalancer": {}},
        },
    ),
    "a review": (
        request("POST", TOKENS, {"spec": {"token": "x"}}),
        {
            "kind": "TokenReview",
            "apiVersion": "authentication.k8s.io/v1",
            "metadata": {},
            "spec": {"token": "x"},
            "status": {"user": {}},
        },
    ),
    "a patch as it was sent": (
        request(
            "PATCH", f"{MAPS}/none", {"foo": 1}, content_type="application/merge-patch+json"
        ),
        {"foo": 1},
    ),
    "options": (request("DELETE", f"{MAPS}/none", {"gracePeriodSeconds": 0}),
                {**FULL_OPTIONS, "gracePeriodSeconds": 0}),
    "of one that may not": (request("POST", MAPS, {"metadata": {"name": "a"}}, **ALICE), None),
    "in no known type": (request("POST", MAPS, {}, content_type="text/x"), None),
    "of another version": (request("POST", MAPS, {"apiVersion": "v2", "kind": "ConfigMap"}), None),
    "where there is no such method": (request("PUT", MAPS, {"metadata": {"name": "a"}}), None),
}  # fmt: skip


@pytest.mark.parametrize(("asked", "expected"), BODIES.values(), ids=BODIES)
def test_what_was_read_is_shown(
    running: Running, tmp_path: Path, asked: HttpRequest, expected: Any
) -> None:
    """As kube-apiserver 1.36 logs it: with its defaults, and only if it came to reading it."""
    logged = Logged(running, tmp_path / "audit", read_audit_policy(REQUESTS))
    [event] = logged.events(asked)
    assert json.dumps(event.get("requestObject")) == json.dumps(expected)
    name = None if expected is None else expected.get("metadata", {}).get("name")
    assert event["objectRef"].get("name") in (name, "none")


def test_yaml_is_shown_in_the_order_of_the_kind(running: Running, tmp_path: Path) -> None:
    logged = Logged(running, tmp_path / "audit", read_audit_policy(REQUESTS))
    [event] = logged.events(request("GET", "/api/v1/namespaces/default", accept="application/yaml"))
    assert [*event["responseObject"]] == ["kind", "apiVersion", "metadata", "spec", "status"]


@pytest.mark.parametrize("target", ["pods/none/log", "pods/none/proxy/x", "pods?watch=1&limit=x"])
def test_what_may_last_long_has_a_stage_more(logged: Logged, target: str) -> None:
    """Even if it was refused at once."""
    _, *answered = logged.events(request("GET", f"/api/v1/namespaces/default/{target}"))
    assert [event["stage"] for event in answered] == ["ResponseStarted", "ResponseComplete"]
    started, complete = (event["responseStatus"] for event in answered)
    assert started == complete


def test_empty_details_of_a_status_stay(logged: Logged) -> None:
    *_, event = logged.events(request("GET", "/foo", authorization="Bearer alice-token"))
    assert event["responseStatus"]["details"] == {}


@pytest.mark.parametrize("is_omitted", [False, True])
def test_managed_fields_can_be_left_out(
    running: Running, tmp_path: Path, *, is_omitted: bool
) -> None:
    """Of an object that is answered, and of each in a list."""
    policy = f"{REQUESTS}  omitManagedFields: {str(is_omitted).lower()}\n"
    logged = Logged(running, tmp_path / "audit", read_audit_policy(policy))
    name = f"omitted-{is_omitted}".lower()
    [made] = logged.events(request("POST", MAPS, {"metadata": {"name": name}, "data": {"x": "1"}}))
    [listed] = logged.events(request("GET", f"{MAPS}?fieldSelector=metadata.name%3D{name}"))
    objects = [made["responseObject"], *listed["responseObject"]["items"]]
    assert [obj["metadata"]["name"] for obj in objects] == [name] * 2
    assert ["managedFields" in obj["metadata"] for obj in objects] == [not is_omitted] * 2


def test_a_list_of_one_name_is_about_it(logged: Logged) -> None:
    *_, event = logged.events(request("GET", f"{MAPS}?fieldSelector=metadata.name%3Da"))
    assert (event["verb"], event["objectRef"]["name"]) == ("list", "a")
