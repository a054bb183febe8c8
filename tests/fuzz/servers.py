"""Whom the campaigns ask besides `celadon check`: our server in process, or a real one over HTTPS.

Both are `Server`s. A real one needs a token or a client certificate of somebody who may do
everything, and is asked for dry runs only; what has to be there is deleted afterwards.
"""

from __future__ import annotations

import json
import ssl
import time
import urllib.error
import urllib.request
from dataclasses import dataclass, field
from typing import Any, Protocol

from celadon.apiserver.http_messages import HttpRequest
from tests.apiserver.in_process import Running

WARNING_PREFIX = '299 - "'


@dataclass(frozen=True, slots=True)
class Reply:
    """`audit` are the annotations of the request's audit event, None where they are not seen."""

    code: int
    body: Any
    warnings: tuple[str, ...] = ()
    audit: dict[str, str] | None = None


class Server(Protocol):
    """An API server that can be asked."""

    def call(self, method: str, path: str, body: Any = None) -> Reply:
        """Of somebody who may do everything."""

    def settle(self) -> None:
        """Wait until what was written is in effect."""

    def close(self) -> None:
        """Nothing is asked any more."""


class InProcess:
    """Our server, without a network."""

    def __init__(self) -> None:
        self._running = Running()

    def call(self, method: str, path: str, body: Any = None) -> Reply:
        headers = [("accept", "application/json"), ("authorization", "Bearer admin-token")]
        data = b""
        if body is not None:
            headers.append(("content-type", "application/json"))
            data = json.dumps(body).encode()
        try:
            answer = self._running.answer(HttpRequest(method, path, headers, data))
        except Exception as failure:  # noqa: BLE001 - whatever it is, it is what is looked for
            message = f"the server fails: {type(failure).__name__}: {failure}"
            return Reply(500, {"message": message})
        found = [text for name, text in answer.headers if name == "Warning"]
        content = json.loads(answer.body) if answer.body else None
        return Reply(answer.code, content, tuple(map(_warning, found)), dict(answer.audit))

    def settle(self) -> None:
        self._running.settle()

    def close(self) -> None:
        self._running.close()


@dataclass(slots=True)
class OverHttps:
    """A real server. Policies are in effect there some time after they were written."""

    url: str
    token: str = ""
    authority: str = ""
    certificate: tuple[str, str] | None = None
    patience: float = 2.0
    _context: ssl.SSLContext = field(init=False)

    def __post_init__(self) -> None:
        self._context = ssl.create_default_context(cafile=self.authority or None)
        if self.certificate:
            self._context.load_cert_chain(*self.certificate)

    def call(self, method: str, path: str, body: Any = None) -> Reply:
        headers = {"Accept": "application/json", "Content-Type": "application/json"}
        if self.token:
            headers["Authorization"] = f"Bearer {self.token}"
        data = None if body is None else json.dumps(body).encode()
        asked = urllib.request.Request(self.url.rstrip("/") + path, data, headers, method=method)
        try:
            with urllib.request.urlopen(asked, context=self._context) as answer:
                return _reply(answer.status, answer.read(), answer.headers)
        except urllib.error.HTTPError as refused:
            with refused:
                return _reply(refused.code, refused.read(), refused.headers)

    def settle(self) -> None:
        time.sleep(self.patience)

    def close(self) -> None:
        """Nothing is kept open."""


def _reply(code: int, content: bytes, headers: Any) -> Reply:
    warnings = headers.get_all("Warning") or []
    return Reply(code, json.loads(content) if content else None, tuple(map(_warning, warnings)))


def _warning(header: str) -> str:
    text = header.removeprefix(WARNING_PREFIX).removesuffix('"')
    return text.replace('\\"', '"').replace("\\\\", "\\")
