"""What is read of one event: its fields in every form, the request it tells of, or why none."""

from __future__ import annotations

import base64
import gzip
import json
from pathlib import Path
from typing import Any

import pytest

from celadon.cli.audit_logs import (
    LoggedEvent,
    LoggedLine,
    Undecidable,
    events_in,
    log_files,
    logged,
    read_events,
)
from celadon.cli.reading.documents import Problem
from tests.cli.replay.events import Json, event


def read(value: object) -> list[Json]:
    return [dict(found.value) for found in events_in(value)]


MINIMAL: Json = {"auditID": "i", "verb": "create"}
TEXT = json.dumps(MINIMAL)


def packed(text: str) -> str:
    return base64.b64encode(gzip.compress(text.encode(), mtime=0)).decode()


@pytest.mark.parametrize(
    "value",
    [
        MINIMAL,
        [MINIMAL],
        [[MINIMAL]],
        *({name: [MINIMAL]} for name in ("items", "events", "logEvents", "records")),
        *({name: [MINIMAL]} for name in ("Records", "entries", "value", "results")),
        *({name: TEXT} for name in ("message", "@message", "log", "log_s", "Log", "data")),
        *({name: {"data": TEXT}} for name in ("awslogs", "kinesis")),
        {"data": packed(TEXT)},
        {"message": MINIMAL},
        {"properties": {"log": TEXT}},
        {"properties": json.dumps({"log": TEXT})},
        {"properties": {"awslogs": {"data": TEXT}}},
        {"results": [[{"field": "@message", "value": TEXT}, {"field": "@x"}, {"value": 1}]]},
        {"tables": [{"columns": [{"name": "log_s"}, 5], "rows": [[TEXT, 1], 5]}, 5, {"rows": 1}]},
        {"message": "no JSON", "log": TEXT},
    ],
    ids=lambda value: str(value)[:60],
)
def test_packings(value: object) -> None:
    assert read(value) == [MINIMAL]


@pytest.mark.parametrize(
    "value",
    [
        None,
        5,
        "text",
        {},
        {"auditID": "i"},
        {"verb": "create"},
        {"AuditId": "i"},
        {"Verb": "create"},
        {"other": [MINIMAL]},
        {"message": "{"},
        {"message": "plain"},
        {"data": packed("[")},
        {"data": "H4sInothing"},
        {"tables": [{"columns": 5, "rows": [[TEXT]]}]},
        {"protoPayload": {"serviceName": "other"}},
        {"protoPayload": {"serviceName": "k8s.io", "@type": "other"}},
    ],
    ids=lambda value: str(value)[:60],
)
def test_what_holds_no_event(value: object) -> None:
    assert read(value) == []


@pytest.mark.parametrize(("packings", "count"), [(7, 1), (8, 0)])
def test_packings_within_packings(packings: int, count: int) -> None:
    value: object = MINIMAL
    for _ in range(packings):
        value = [value]
    assert len(read(value)) == count


def test_columns() -> None:
    """Objects may be texts; what is empty is not there."""
    row = {
        "AuditId": "i",
        "Verb": "create",
        "Level": "Request",
        "Stage": "ResponseComplete",
        "RequestUri": "/api",
        "RequestReceivedTime": "t1",
        "StageReceivedTime": "t2",
        "UserAgent": "kubectl",
        "User": '{"username": "ann"}',
        "ObjectRef": {"resource": "pods"},
        "ResponseStatus": '{"code": 201}',
        "RequestObject": "{broken",
        "ResponseObject": "",
        "Annotations": None,
        "Other": "x",
    }
    assert read(row) == [
        {
            "auditID": "i",
            "verb": "create",
            "level": "Request",
            "stage": "ResponseComplete",
            "requestURI": "/api",
            "requestReceivedTimestamp": "t1",
            "stageTimestamp": "t2",
            "userAgent": "kubectl",
            "user": {"username": "ann"},
            "objectRef": {"resource": "pods"},
            "responseStatus": {"code": 201},
            "requestObject": "{broken",
        }
    ]
    more = {**row, "ResponseObject": "[1]", "Annotations": {"a": "b"}}
    assert read(more)[0]["responseObject"] == [1]
    assert read(more)[0]["annotations"] == {"a": "b"}


def entry(**payload: Any) -> Json:
    return {"protoPayload": {"serviceName": "k8s.io", **payload}}


@pytest.mark.parametrize(
    ("path", "reference"),
    [
        (
            "apps/v1/namespaces/shop/deployments/web/status",
            {
                "apiGroup": "apps",
                "apiVersion": "v1",
                "namespace": "shop",
                "resource": "deployments",
                "name": "web",
                "subresource": "status",
            },
        ),
        (
            "core/v1/namespaces/shop/pods",
            {"apiGroup": "", "apiVersion": "v1", "namespace": "shop", "resource": "pods"},
        ),
        *(
            (
                f"core/v1/namespaces/shop/{subresource}",
                {
                    "apiGroup": "",
                    "apiVersion": "v1",
                    "resource": "namespaces",
                    "name": "shop",
                    "subresource": subresource,
                },
            )
            for subresource in ("status", "finalize")
        ),
        (
            "core/v1/namespaces/shop",
            {"apiGroup": "", "apiVersion": "v1", "resource": "namespaces", "name": "shop"},
        ),
        (
            "core/v1/nodes/a",
            {"apiGroup": "", "apiVersion": "v1", "resource": "nodes", "name": "a"},
        ),
        ("", {"apiGroup": "", "apiVersion": ""}),
    ],
)
def test_references_of_google(path: str, reference: Json) -> None:
    assert read(entry(resourceName=path))[0]["objectRef"] == reference


def test_entries_of_google() -> None:
    full = entry(
        methodName="io.k8s.core.v1.pods.create",
        resourceName="core/v1/nodes/a",
        authenticationInfo={"principalEmail": "ann@example.com"},
        requestMetadata={"callerSuppliedUserAgent": "kubectl"},
        request={"@type": "core.k8s.io/v1.Pod", "kind": "Pod"},
        response={"@type": "core.k8s.io/v1.Pod", "kind": "Pod", "spec": {}},
        status={"code": 7, "message": "no"},
    )
    full |= {"insertId": "i", "timestamp": "t", "labels": {"a": "b"}}
    (found,) = events_in(full)
    assert not found.knows_groups
    assert found.value == {
        "level": "RequestResponse",
        "auditID": "i",
        "stage": "ResponseComplete",
        "verb": "create",
        "user": {"username": "ann@example.com"},
        "userAgent": "kubectl",
        "objectRef": {"apiGroup": "", "apiVersion": "v1", "resource": "nodes", "name": "a"},
        "requestReceivedTimestamp": "t",
        "stageTimestamp": "t",
        "annotations": {"a": "b"},
        "responseStatus": {"code": 500, "message": "no"},
        "requestObject": {"kind": "Pod"},
        "responseObject": {"kind": "Pod", "spec": {}},
    }
    assert read(entry()) == [
        {
            "level": "Metadata",
            "auditID": "",
            "stage": "ResponseComplete",
            "verb": "",
            "user": {"username": ""},
            "userAgent": "",
            "objectRef": {"apiGroup": "", "apiVersion": ""},
            "requestReceivedTimestamp": None,
            "stageTimestamp": None,
            "annotations": {},
            "responseStatus": {"code": 0, "message": ""},
        }
    ]
    status = {"kind": "Status", "code": 422}
    assert read(entry(response=status))[0]["responseStatus"] == status
    assert read(entry(response=status))[0]["level"] == "RequestResponse"
    assert read(entry(request={"kind": "Pod"}))[0]["level"] == "RequestResponse"
    assert read(entry(request={}))[0]["level"] == "Metadata"


@pytest.mark.parametrize(
    ("members", "operation"),
    [
        ({"verb": "create"}, "CREATE"),
        ({"verb": "update", "responseStatus": {"code": 200}}, "UPDATE"),
        ({"verb": "update"}, "CREATE"),
        ({"verb": "patch", "responseStatus": {"code": 200}}, "UPDATE"),
        ({"verb": "delete"}, "DELETE"),
        ({"verb": "deletecollection"}, "DELETE"),
        ({"verb": "get"}, None),
        ({"verb": "watch"}, None),
        ({"verb": 5}, None),
        ({"objectRef": {}}, None),
        *(
            ({"verb": "get", "objectRef": {"resource": "pods", "subresource": name}}, "CONNECT")
            for name in ("exec", "attach", "portforward", "proxy")
        ),
        ({"verb": "get", "objectRef": {"resource": "pods", "subresource": "log"}}, None),
    ],
)
def test_operations(members: Json, operation: str | None) -> None:
    record = logged(LoggedEvent(event(**members)))
    assert (None if record is None else record.operation.value) == operation


@pytest.mark.parametrize(
    ("members", "may_create"),
    [
        ({"responseStatus": {"code": 200}}, False),
        ({"responseStatus": {"code": 399}}, False),
        ({"responseStatus": {"code": 400}}, True),
        ({"responseStatus": {}}, True),
        ({"responseStatus": {}, "responseObject": None}, True),
        (
            {
                "responseStatus": {"code": 0},
                "stageTimestamp": "2026-03-01T10:00:00Z",
                "responseObject": {"metadata": {"creationTimestamp": "2026-03-01T09:59:01Z"}},
            },
            True,
        ),
        (
            {
                "responseStatus": {},
                "stageTimestamp": "2026-03-01T10:00:00Z",
                "responseObject": {"metadata": {"creationTimestamp": "2026-03-01T09:59:00Z"}},
            },
            False,
        ),
        ({"responseStatus": {}, "objectRef": {"resource": "a", "subresource": "status"}}, False),
    ],
)
def test_patches_that_may_have_created(members: Json, *, may_create: bool) -> None:
    record = logged(LoggedEvent(event(verb="patch", **members)))
    assert record is not None
    assert record.may_create is may_create


def test_what_is_read_of_a_request() -> None:
    impersonated = {"username": "bob", "uid": "7", "groups": ["g", "", 5], "extra": {"a": ["b", 1]}}
    record = logged(
        LoggedEvent(
            event(
                verb="delete",
                requestURI="/api/v1/namespaces/default/configmaps/a?dryRun=All",
                impersonatedUser=impersonated,
                requestReceivedTimestamp=None,
            ),
            knows_groups=False,
        )
    )
    assert record is not None
    assert (record.resource.group, record.resource.version) == ("", "v1")
    assert (record.resource.resource, record.subresource) == ("configmaps", "")
    assert (record.namespace, record.name) == ("default", "a")
    assert (record.user.name, record.user.uid) == ("bob", "7")
    assert (record.user.groups, dict(record.user.extra)) == (("g",), {"a": ("b", "")})
    assert [one.name for one in record.missing] == ["GROUPS", "OLD_OBJECT"]
    assert (record.dry_run, record.code) == (True, 201)
    assert record.time == "2026-03-01T10:00:00.100000Z"


def test_a_namespace_is_in_itself() -> None:
    reference = {"resource": "namespaces", "name": "shop", "apiVersion": "v1"}
    record = logged(LoggedEvent(event(objectRef=reference, responseStatus={"code": "x"})))
    assert record is not None
    assert (record.namespace, record.code, record.dry_run) == ("shop", 0, False)
    assert record.missing == ()


def test_reasons_of_what_cannot_be_decided() -> None:
    assert {one.name: one.value for one in Undecidable} == {
        "METADATA": "the log has no objects of it (level Metadata)",
        "TRUNCATED": "its objects were too large for the log",
        "NO_OBJECT": "the log does not have its object",
        "PATCH": "a patch, whose object is not in the log (level Request)",
        "APPLIED": "a patch that may have created its object: the log has no HTTP code",
        "MUTATED": "a webhook has changed its object, and the log has it as it was sent",
        "COLLECTION": "it deletes a collection, whose objects are not in the log",
        "CONNECTION": "it opens a connection, whose options are not in the log",
        "KIND": "nobody knows the kind of its resource",
        "UNUSABLE": "its object cannot be read",
        "MISSING": (
            "it depends on what is not in the log (the old object, the user's groups, the roles)"
        ),
    }


def test_files_of_a_folder_by_age(tmp_path: Path) -> None:
    """Dated ones, then numbered ones, the highest first, then the one that is written to."""
    names = [
        *("audit-2026-03-01.log", "audit-20260302.log", "audit.log.10.gz", "audit.log.2"),
        *("a.gz", "a.json", "a.jsonl", "a.ndjson", "a.txt", "audit.log"),
    ]
    (tmp_path / "deep").mkdir()
    for name in (*names, "a.yaml", "audit.log.x", "deep/b.log"):
        (tmp_path / name).touch()
    found = log_files([str(tmp_path)])
    assert found == [str(tmp_path / name) for name in (*names, "deep/b.log")]
    empty = tmp_path / "empty"
    empty.mkdir()
    assert log_files([str(empty)]) == [Problem(str(empty), 0, "no log in this folder")]


def test_bytes_that_were_read(tmp_path: Path) -> None:
    first, second = tmp_path / "a.log", tmp_path / "b.log"
    line = f"{TEXT}\n"
    first.write_text(line)
    second.write_text(f"\n{line}{{}}\nno JSON\n2026-03-01T10:00:00.000Z {line}")
    found = list(read_events([str(first), Problem("x", 0, "gone"), str(second), "gone"]))
    size = len(line)
    behind = [size, *(size + len("\n") + size + more for more in (0, len("{}\n")))]
    assert found == [
        LoggedLine(str(first), 1, LoggedEvent(MINIMAL), behind[0]),
        Problem("x", 0, "gone"),
        LoggedLine(str(second), 2, LoggedEvent(MINIMAL), behind[1]),
        LoggedLine(str(second), 3, None, behind[2]),
        Problem(str(second), 4, "this is no JSON"),
        LoggedLine(str(second), 5, LoggedEvent(MINIMAL), size + second.stat().st_size),
        Problem("gone", 0, "cannot be read: no such file or directory"),
    ]
