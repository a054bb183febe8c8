"""The little of ASGI that answering reviews needs: a body up to a limit, an answer in JSON."""

from __future__ import annotations

import json
from collections.abc import Awaitable, Callable, MutableMapping
from typing import Any, Final

Message = MutableMapping[str, Any]
Scope = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]

MOST_BYTES: Final = 7 * 1024 * 1024
"""Of a review: an object of 3 MiB, twice, and what is around them (controller-runtime's limit)."""


class Unacceptable(Exception):
    """An answer that is no review: `code` is its HTTP status."""

    def __init__(self, code: int, text: str, headers: tuple[tuple[bytes, bytes], ...] = ()) -> None:
        super().__init__(text)
        self.code = code
        self.headers = headers


class Disconnected(Exception):
    """Whoever asked has gone."""


def path_of(scope: Scope) -> str:
    """The path below the place where the application is mounted."""
    path: str = scope.get("path", "")
    root: str = scope.get("root_path", "")
    return path[len(root) :] if root and path.startswith(root) else path


def header(scope: Scope, name: bytes) -> str:
    """The first of a name, in lower case; empty if there is none."""
    found = (value for key, value in scope.get("headers", ()) if key.lower() == name)
    return next(found, b"").decode("latin-1")


async def read_body(receive: Receive) -> bytes:
    """All of the body. Raises Unacceptable 413, Disconnected."""
    parts: list[bytes] = []
    size = 0
    while True:
        message = await receive()
        if message["type"] == "http.disconnect":
            raise Disconnected
        part = message.get("body", b"")
        size += len(part)
        if size > MOST_BYTES:
            raise Unacceptable(413, f"request entity is too large; limit is {MOST_BYTES} bytes")
        parts.append(part)
        if not message.get("more_body"):
            return b"".join(parts)


async def answer(
    send: Send, code: int, value: object, headers: tuple[tuple[bytes, bytes], ...] = ()
) -> None:
    """A value as JSON."""
    body = json.dumps(value, ensure_ascii=False, separators=(",", ":")).encode(
        "utf-8", "surrogatepass"
    )
    length = (b"content-length", str(len(body)).encode())
    start = [(b"content-type", b"application/json"), length, *headers]
    await send({"type": "http.response.start", "status": code, "headers": start})
    await send({"type": "http.response.body", "body": body})


def refusal(code: int, text: str) -> dict[str, Any]:
    """A Status that says why there is no review: API servers show its message."""
    head = {"kind": "Status", "apiVersion": "v1", "metadata": {}, "status": "Failure"}
    return {**head, "message": text, "code": code}


async def lifespan(receive: Receive, send: Send) -> None:
    """Nothing to begin, nothing to end."""
    while True:
        message = await receive()
        await send({"type": f"{message['type']}.complete"})
        if message["type"] == "lifespan.shutdown":
            return
