"""Logs of pods, of which there are none."""

from __future__ import annotations

from typing import Any

import pytest

from celadon.apiserver.api_settings import Settings
from celadon.apiserver.handlers.connect import SPLIT_STREAMS
from tests.apiserver.asking import ask, make, said
from tests.apiserver.in_process import Running

PODS = "/api/v1/namespaces/default/pods"


@pytest.fixture(scope="module")
def pods(running: Running) -> Running:
    running.settle()
    node: Any = make(running, "/api/v1/nodes", {"metadata": {"name": "logging"}})
    node["status"] = {"addresses": [{"type": "Hostname", "address": "h"}]}
    ask(running, "PUT", "/api/v1/nodes/logging/status", node)
    for name, names, more in (
        ("log-one", ["c"], {}),
        ("log-two", ["a", "b"], {}),
        ("log-placed", ["c"], {"nodeName": "logging"}),
    ):
        spec = {"containers": [{"name": one, "image": "i"} for one in names], **more}
        make(running, PODS, {"metadata": {"name": name}, "spec": spec})
    return running


def test_a_pod_without_a_node_has_no_log(pods: Running) -> None:
    for query in ("", "?follow=true&timeout=bogus&tailLines=0", "?container=c&previous=true"):
        answer = ask(pods, "GET", f"{PODS}/log-one/log{query}")
        assert (answer.code, answer.body) == (204, b"")


STREAMS = [
    ("1.31", {}, "stream=x&tailLines=1", ""),
    ("1.32", {}, "stream=Stdout", "stream: Forbidden: may not be specified"),
    ("1.36", {}, "stream=", "stream: Forbidden: may not be specified"),
    ("1.36", {SPLIT_STREAMS: True}, "stream=Stdout", ""),
    ("1.36", {SPLIT_STREAMS: True}, "stream=All&tailLines=1", ""),
    (
        "1.36",
        {SPLIT_STREAMS: True},
        "stream=x",
        'stream: Unsupported value: "x": supported values: "All", "Stdout", "Stderr"',
    ),
    (
        "1.36",
        {SPLIT_STREAMS: True},
        "stream=Stderr&tailLines=1",
        "[]: Forbidden: `tailLines` and specific `stream` are mutually exclusive for now",
    ),
]


@pytest.mark.parametrize(("release", "gates", "query", "message"), STREAMS)
def test_streams_are_asked_for_where_the_gate_is_on(
    release: str, gates: dict[str, bool], query: str, message: str
) -> None:
    running = Running(Settings(version=release, gates=gates))
    try:
        code, found = said(ask(running, "GET", f"{PODS}/p/log?{query}"))
    finally:
        running.close()
    if message:
        assert (code, found) == (422, f'PodLogOptions "p" is invalid: {message}')
    else:
        assert code == 404


REFUSED = [
    ("none/log", 404, 'pods "none" not found'),
    (
        "log-two/log",
        400,
        "a container name must be specified for pod log-two, choose one of: [a b]",
    ),
    ("log-two/log?container=c", 400, "container c is not valid for pod log-two"),
    ("log-one/log?tailLines=x", 400, 'strconv.ParseInt: parsing "x": invalid syntax'),
    (
        "log-one/log?tailLines=-1",
        422,
        'PodLogOptions "log-one" is invalid: tailLines: Invalid value: -1: must be greater than or '
        "equal to 0",
    ),
    (
        "log-one/log?limitBytes=0",
        422,
        'PodLogOptions "log-one" is invalid: limitBytes: Invalid value: 0: must be greater than 0',
    ),
    (
        "log-one/log?sinceSeconds=0",
        422,
        'PodLogOptions "log-one" is invalid: sinceSeconds: Invalid value: 0: must be greater than '
        "0",
    ),
    (
        "log-placed/log",
        500,
        'Get "https://h:10250/containerLogs/default/log-placed/c": dial tcp h:10250: connect: '
        "connection refused",
    ),
]


@pytest.mark.parametrize(("path", "code", "message"), REFUSED)
def test_why_there_is_no_log(pods: Running, path: str, code: int, message: str) -> None:
    assert said(ask(pods, "GET", f"{PODS}/{path}")) == (code, message)


def test_since_one_point(pods: Running) -> None:
    path = f"{PODS}/log-one/log?sinceSeconds=1&sinceTime=2024-01-02T03:04:05Z"
    code, message = said(ask(pods, "GET", path))
    assert code == 422
    assert message.endswith("at most one of `sinceTime` or `sinceSeconds` may be specified")


NOT_ROUTED = (
    "406: Not Acceptable\n\nAvailable representations: text/plain, application/json, "
    "application/yaml, application/vnd.kubernetes.protobuf"
)
NOT_NEGOTIATED = (
    "only the following media types are accepted: application/json, application/yaml, "
    "application/vnd.kubernetes.protobuf"
)


@pytest.mark.parametrize(
    ("accept", "code", "message"),
    [
        ("text/*", 406, NOT_ROUTED),
        ("application/cbor", 406, NOT_ROUTED),
        ("text/plain", 406, NOT_NEGOTIATED),
        ("application/json;as=Table;v=v1;g=meta.k8s.io", 406, NOT_NEGOTIATED),
        ("text/plain, */*", 404, 'pods "absent" not found'),
        ("application/yaml;q=0.5, application/json", 404, 'pods "absent" not found'),
    ],
)
def test_logs_are_negotiated_like_objects(
    running: Running, accept: str, code: int, message: str
) -> None:
    assert said(ask(running, "GET", f"{PODS}/absent/log", accept=accept)) == (code, message)
