"""Requests to a server in process, as tests write them down."""

from __future__ import annotations

import json
from typing import Any

from celadon.apiserver.http_messages import HttpAnswer, HttpRequest
from tests.apiserver.in_process import Running


def ask(
    running: Running,
    method: str,
    path: str,
    body: Any = None,
    token: str = "admin-token",
    **headers: str,
) -> HttpAnswer:
    """`body` is sent as it is if it is bytes, as JSON otherwise; in the names of headers `_` stands
    for `-`."""
    data = b"" if body is None else body if isinstance(body, bytes) else json.dumps(body).encode()
    given = [(name.replace("_", "-"), value) for name, value in headers.items()]
    if token:
        given.append(("authorization", f"Bearer {token}"))
    return running.answer(HttpRequest(method, path, given, data))


def read(answer: HttpAnswer) -> Any:
    """The JSON in an answer."""
    return json.loads(answer.body)


def said(answer: HttpAnswer) -> tuple[int, str]:
    """The code and the message of a Status; the message is empty for anything else."""
    body = read(answer)
    return answer.code, body.get("message", "") if body.get("kind") == "Status" else ""


def warnings(answer: HttpAnswer) -> list[str]:
    """The texts of the Warning headers."""
    texts = [value for name, value in answer.headers if name == "Warning"]
    return [text.removeprefix('299 - "').removesuffix('"').replace('\\"', '"') for text in texts]


def make(running: Running, path: str, body: Any, **headers: str) -> Any:
    """The object that was created."""
    answer = ask(running, "POST", path, body, **headers)
    assert answer.code == 201, answer.body
    return read(answer)
