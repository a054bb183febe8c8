"""Which events a request leaves behind."""

from __future__ import annotations

import asyncio
import gzip
import json
import threading
import tracemalloc
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from celadon.apiserver import audit, workers
from celadon.apiserver.audit import (
    MAX_AGENT,
    METADATA_FOR_ALL,
    TRUNCATED,
    AuditedHandler,
    AuditLog,
    AuditPolicy,
    Exchange,
    read_audit_policy,
)
from celadon.apiserver.http_messages import JSON, HttpAnswer, HttpRequest
from celadon.apiserver.operation import metric_table
from celadon.apiserver.operation.metric_table import Counter
from celadon.kube import User

ID = (("Audit-Id", "id"),)
NOW = datetime(2026, 1, 31, tzinfo=UTC)


def handled(
    path: Path,
    request: HttpRequest,
    answer: HttpAnswer,
    policy: AuditPolicy = METADATA_FOR_ALL,
) -> AuditedHandler:
    """Handle a request, and read what streams."""

    async def inner(_: HttpRequest) -> HttpAnswer:
        return answer

    async def run(handler: AuditedHandler) -> None:
        given = await handler.handle(request)
        if given.stream is not None:
            async for _ in given.stream:
                pass

    counters = Counter(metric_table.AUDIT_EVENTS), Counter(metric_table.AUDIT_ERRORS)
    with AuditLog(path, policy) as log:
        handler = AuditedHandler(inner, log, lambda: NOW, *counters)
        asyncio.run(run(handler))
    return handler


def events(path: Path) -> list[Any]:
    return [json.loads(line) for line in path.read_text().splitlines()]


def test_a_request_and_its_answer(tmp_path: Path) -> None:
    request = HttpRequest("GET", "/api/v1/pods")
    handler = handled(tmp_path / "log", request, HttpAnswer(200, headers=ID, user=User("a")))
    assert [one["stage"] for one in events(tmp_path / "log")] == [
        "RequestReceived",
        "ResponseComplete",
    ]
    assert handler.events.values == {(): 2}


REQUEST_RESPONSE = """
apiVersion: audit.k8s.io/v1
kind: Policy
rules: [{level: RequestResponse}]
"""
WITH_BODIES = """
apiVersion: audit.k8s.io/v1
kind: Policy
rules: [{level: Request}]
"""


@pytest.mark.parametrize(
    ("body", "found"),
    [(b"a: yes\nb: 0o17\n---\nc: [", {"a": True, "b": 15}), (b"a: [", None)],
)
def test_a_patch_in_yaml_is_read_as_the_server_reads_it(
    tmp_path: Path, body: bytes, found: Any
) -> None:
    headers = [("content-type", "application/apply-patch+yaml")]
    request = HttpRequest("PATCH", "/api/v1/namespaces/a/configmaps/b", headers, body)
    answer = HttpAnswer(201, headers=ID, user=User("a"), sent={})
    handled(tmp_path / "log", request, answer, read_audit_policy(WITH_BODIES))
    assert events(tmp_path / "log")[-1].get("requestObject") == found


@pytest.mark.parametrize(
    "body",
    [
        b'{"kind":"Status","apiVersion":"v1","message":"no"}',
        b"this is no gzip",
        gzip.compress(b"[" + b"0," * (8 << 20) + b"0]", mtime=0),
    ],
)
def test_what_another_server_answers_is_not_read(tmp_path: Path, body: bytes) -> None:
    """As upstream: what it and the client say is for its own log. And a few bytes of gzip may be
    gigabytes."""
    headers = (*ID, ("Content-Encoding", "gzip"))
    answer = HttpAnswer(400, "application/json", body, headers, is_passed_on=True)
    request = HttpRequest("POST", "/apis/a.example.com/v1/things", body=b'{"a": 1}')
    tracemalloc.start()
    handled(tmp_path / "log", request, answer, read_audit_policy(REQUEST_RESPONSE))
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < 4 << 20
    *_, complete = events(tmp_path / "log")
    assert complete["responseStatus"] == {"metadata": {}, "code": 400}
    assert not {"requestObject", "responseObject"} & complete.keys()


def test_a_stream_has_three_stages(tmp_path: Path) -> None:
    async def stream() -> Any:
        yield b"x"

    request = HttpRequest("GET", "/api/v1/pods?watch=1")
    answer = HttpAnswer(200, headers=ID, user=User("a"), stream=stream())
    handled(tmp_path / "log", request, answer)
    assert [one["stage"] for one in events(tmp_path / "log")] == [
        "RequestReceived",
        "ResponseStarted",
        "ResponseComplete",
    ]


def test_who_is_not_known_leaves_one_event(tmp_path: Path) -> None:
    """With the answer's words: those of the handler for what failed are lost, as upstream's are."""
    status = {"kind": "Status", "apiVersion": "v1", "metadata": {}, "status": "Failure"}
    words = {"message": "Unauthorized", "reason": "Unauthorized", "code": 401}
    body = json.dumps(status | words).encode()
    handled(tmp_path / "log", HttpRequest("GET", "/x"), HttpAnswer(401, JSON, body, ID))
    (event,) = events(tmp_path / "log")
    assert (event["stage"], event["user"]) == ("ResponseStarted", {})
    assert event["responseStatus"] == {"metadata": {}, "status": "Failure", **words}


def test_a_log_that_cannot_be_written_is_counted_and_told(caplog: pytest.LogCaptureFixture) -> None:
    handler = handled(Path("/dev/full"), HttpRequest("GET", "/x"), HttpAnswer(200, headers=ID))
    assert [one.message for one in caplog.records] == ["the audit log cannot be written"] * 2
    assert handler.errors.values == {("log",): 2}
    assert handler.events.values == {}


def test_a_panic_is_a_stage(tmp_path: Path) -> None:
    request = HttpRequest("GET", "/api/v1/pods")
    answer = HttpAnswer(500, headers=ID, user=User("a"), panic="APIServer panic'd: oops")
    handled(tmp_path / "log", request, answer)
    received, panic = events(tmp_path / "log")
    assert (received["stage"], panic["stage"]) == ("RequestReceived", "Panic")
    assert panic["responseStatus"] == {
        "metadata": {},
        "status": "Failure",
        "message": "APIServer panic'd: oops",
        "reason": "InternalError",
        "code": 500,
    }


def test_long_bodies_are_read_in_a_worker(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    threads: list[bool] = []
    real = Exchange.event

    def event(self: Exchange, *args: Any) -> Any:
        threads.append(threading.current_thread() is threading.main_thread())
        return real(self, *args)

    monkeypatch.setattr(Exchange, "event", event)
    headers = [("content-type", "application/yaml")]
    request = HttpRequest("POST", "/api/v1/namespaces/a/configmaps", headers, b"a: b\n" * 2_000)
    handled(tmp_path / "log", request, HttpAnswer(201, headers=ID, user=User("a")))
    assert threads == [True, False]


LONG = {
    "a target": HttpRequest("GET", "/api/v1/pods?" + "a=b&" * 3_000),
    "proxies": HttpRequest("GET", "/api/v1/pods", [("x-forwarded-for", "10.0.0.1, " * 1_000)]),
}


@pytest.mark.parametrize("request_", LONG.values(), ids=LONG)
def test_long_heads_are_written_in_a_worker(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, request_: HttpRequest
) -> None:
    threads: list[bool] = []
    real = audit.line_of

    def line_of(event: Any) -> bytes:
        threads.append(threading.current_thread() is threading.main_thread())
        return real(event)

    monkeypatch.setattr(audit, "line_of", line_of)
    handled(tmp_path / "log", request_, HttpAnswer(200, headers=ID, user=User("a")))
    assert threads == [False, False]
    assert [one["requestURI"] for one in events(tmp_path / "log")] == [request_.target] * 2


def test_a_long_head_that_nobody_has_time_for_is_shortened(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(workers, "MOST_WAITING", 0)
    handled(tmp_path / "log", LONG["a target"], HttpAnswer(200, headers=ID, user=User("a")))
    for event in events(tmp_path / "log"):
        assert event["requestURI"] == LONG["a target"].target[:MAX_AGENT] + TRUNCATED
        assert event["user"]["username"] == "a"


def test_a_line_is_a_line_whoever_is_in_it(tmp_path: Path) -> None:
    hostile = 'a\n{"kind":"Event"}\r\x1b[31m\u2028'
    request = HttpRequest("GET", "/api/v1/pods", [("user-agent", hostile)])
    answer = HttpAnswer(200, headers=ID, user=User(hostile))
    handled(tmp_path / "log", request, answer)
    lines = (tmp_path / "log").read_bytes().split(b"\n")
    assert len(lines) == 3
    assert lines[2] == b""
    for line in lines[:2]:
        assert b"\x1b" not in line
        assert json.loads(line)["user"]["username"] == hostile
