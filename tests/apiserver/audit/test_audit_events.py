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
from tests.apiserver.in_process import Running

NOW = datetime(2026, 1, 2, 3, 4, 5, 678, tzinfo=UTC)
MAPS = "/api/v1/namespaces/default/configmaps"
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
            return self._running.answer(asked)

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


def test_acting_as_somebody_else(logged: Logged) -> None:
    *_, event = logged.events(request("GET", MAPS, impersonate_user="jane"))
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
