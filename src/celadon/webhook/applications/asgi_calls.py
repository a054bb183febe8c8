"""One request over ASGI: a complete request in, a complete answer out.

Answers to reviews are small, so what an application sends in parts is sent on as one.
"""

from __future__ import annotations

import asyncio
import urllib.parse
from collections.abc import Mapping
from typing import Any, Final

from celadon.serve import HttpAnswer, HttpRequest
from celadon.webhook.applications.asgi_lifespan import ASGI
from celadon.webhook.applications.named_application import Application
from celadon.webhook.handlers.asgi_messages import Message

_OURS: Final = frozenset({"content-type", "content-length", "transfer-encoding", "connection"})
"""Headers of an answer that the connection writes itself."""


class NoAnswer(Exception):
    """The application has ended without an answer."""


class AsgiCall:
    """`answer` is there as soon as the application has sent all of it; it may go on then."""

    def __init__(self, request: HttpRequest, scheme: str, state: Mapping[str, Any]) -> None:
        self._request = request
        self._scheme = scheme
        self._state = state
        self._is_read = False
        self._start: Message = {}
        self._parts: list[bytes] = []
        self.answer: asyncio.Future[HttpAnswer] = asyncio.get_running_loop().create_future()

    async def run(self, application: Application) -> None:
        """Whatever the application raises before its answer is that of `answer`."""
        try:
            await application(self._scope(), self._receive, self._send)
        except Exception as error:
            if self.answer.done():
                raise
            self.answer.set_exception(error)
        else:
            if not self.answer.done():
                self.answer.set_exception(NoAnswer("there is no answer"))

    def _scope(self) -> dict[str, Any]:
        request = self._request
        path, _, query = request.target.partition("?")
        return {
            "type": "http",
            "asgi": ASGI,
            "http_version": "1.1",
            "method": request.method,
            "scheme": self._scheme,
            "path": urllib.parse.unquote(path),
            "raw_path": path.encode("latin-1"),
            "query_string": query.encode("latin-1"),
            "root_path": "",
            "headers": [
                (name.encode("latin-1"), value.encode()) for name, value in request.headers
            ],
            "client": (request.remote_address, 0),
            "server": None,
            "state": dict(self._state),
        }

    async def _receive(self) -> Message:
        if not self._is_read:
            self._is_read = True
            return {"type": "http.request", "body": self._request.body, "more_body": False}
        await asyncio.wait((self.answer,))
        return {"type": "http.disconnect"}

    async def _send(self, message: Message) -> None:
        if message["type"] == "http.response.start":
            self._start = message
            return
        if message["type"] != "http.response.body" or not self._start:
            raise ValueError(f"`{message['type']}` is not expected here")
        self._parts.append(bytes(message.get("body", b"")))
        if not message.get("more_body") and not self.answer.done():
            self.answer.set_result(self._complete())

    def _complete(self) -> HttpAnswer:
        headers = [
            (bytes(name).decode("latin-1"), bytes(value).decode("latin-1"))
            for name, value in self._start.get("headers", ())
        ]
        kinds = [value for name, value in headers if name.lower() == "content-type"]
        kept = tuple(header for header in headers if header[0].lower() not in _OURS)
        body = b"".join(self._parts)
        return HttpAnswer(self._start["status"], kinds[0] if kinds else "", body, kept)
