"""Whom the campaigns ask besides `celadon check`: our server in process, or a real one over HTTPS.

Both are `Server`s. A real one needs a token or a client certificate of somebody who may do
everything, and is asked for dry runs only; what has to be there is deleted afterwards.
"""

from __future__ import annotations

import http.client
import json
import re
import ssl
import time
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from types import MappingProxyType
from typing import Any, Final, Protocol
from urllib.parse import quote, urlsplit

from celadon.apiserver.api_settings import Settings
from celadon.apiserver.controllers.controller_loops import ON_BY_DEFAULT
from celadon.apiserver.http_messages import HttpRequest
from celadon.kube.releases import DEFAULT
from celadon.kube.resources import DEFAULT_PLUGINS
from tests.apiserver.in_process import Running

_ELSEWHERE: Final = frozenset(
    {"garbage-collector-controller", "namespace-controller", "resourcequota-controller"}
)
_ASCII: Final = "".join(map(chr, range(0x21, 0x7F)))
WARNING_PREFIX = '299 - "'
SENT_JSON: Final[Mapping[str, str]] = MappingProxyType({"content-type": "application/json"})


@dataclass(frozen=True, slots=True)
class Reply:
    """`audit` are the annotations of the request's audit event, None where they are not seen."""

    code: int
    body: Any
    warnings: tuple[str, ...] = ()
    audit: dict[str, str] | None = None


@dataclass(frozen=True, slots=True)
class Sent:
    """An answer as it was sent. The names of headers have lower case."""

    code: int
    headers: Mapping[str, str]
    data: bytes
    warnings: tuple[str, ...] = ()

    @property
    def type(self) -> str:
        return self.headers.get("content-type", "")


class Server(Protocol):
    """An API server that can be asked."""

    def ask(self, method: str, target: str, data: bytes, headers: Mapping[str, str]) -> Sent:
        """Whatever is sent; a stream is read to its end."""

    def call(
        self, method: str, path: str, body: Any = None, headers: Mapping[str, str] = SENT_JSON
    ) -> Reply:
        """Of somebody who may do everything. Headers have lower case."""

    def settle(self) -> None:
        """Wait until what was written is in effect."""

    def close(self) -> None:
        """Nothing is asked any more."""


class InProcess:
    """Our server, without a network; it serves each version of what a release knows, or those of
    the default. As beside it a kube-apiserver has no controllers, nothing is deleted that was not
    asked for."""

    def __init__(
        self,
        release: str = DEFAULT,
        *,
        without: Collection[str] = (),
        more: Collection[str] = (),
        bare: bool = False,
        gates: Mapping[str, bool] = MappingProxyType({}),
        all_versions: bool = True,
        authorizes_nodes: bool = False,
    ) -> None:
        """`without` are admission plugins that the other server does not have, `more` those that it
        has besides; one that is `bare`
        has no controllers but its own; `gates` are feature gates that are not as by default there,
        and without `all_versions` it serves those of the default. With `authorizes_nodes` kubelets
        are asked about before roles."""
        self._running = Running(
            Settings(
                version=release,
                all_versions=all_versions,
                gates=gates,
                authorizes_nodes=authorizes_nodes,
                controller_names=frozenset() if bare else ON_BY_DEFAULT - _ELSEWHERE,
                plugins=DEFAULT_PLUGINS.difference(without).union(more),
            )
        )

    def call(
        self, method: str, path: str, body: Any = None, headers: Mapping[str, str] = SENT_JSON
    ) -> Reply:
        sent = {"accept": "application/json", **headers, "authorization": "Bearer admin-token"}
        data = b"" if body is None else _compact(body)
        try:
            answer = self._running.answer(HttpRequest(method, path, [*sent.items()], data))
        except Exception as failure:  # noqa: BLE001 - whatever it is, it is what is looked for
            message = f"the server fails: {type(failure).__name__}: {failure}"
            return Reply(500, {"message": message})
        found = [text for name, text in answer.headers if name == "Warning"]
        return Reply(
            answer.code, parsed_body(answer.body), tuple(map(_warning, found)), dict(answer.audit)
        )

    def ask(self, method: str, target: str, data: bytes, headers: Mapping[str, str]) -> Sent:
        sent = {"authorization": "Bearer admin-token", **headers}
        answer = self._running.answer(HttpRequest(method, target, [*sent.items()], data))
        content = answer.body
        if answer.stream is not None:
            lines = self._running.lines(answer.stream)
            content = b"".join(iter(lines.readline, b""))
        found = {name.lower(): text for name, text in answer.headers if name != "Warning"}
        if answer.content_type:
            found["content-type"] = answer.content_type
        warnings = (text for name, text in answer.headers if name == "Warning")
        return Sent(answer.code, found, content, tuple(map(_warning, warnings)))

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
    audit_log: str = ""
    _connection: http.client.HTTPSConnection = field(init=False)

    def __post_init__(self) -> None:
        context = ssl.create_default_context(cafile=self.authority or None)
        if self.certificate:
            context.load_cert_chain(*self.certificate)
        where = urlsplit(self.url)
        self._connection = http.client.HTTPSConnection(where.netloc, context=context)

    def call(
        self, method: str, path: str, body: Any = None, headers: Mapping[str, str] = SENT_JSON
    ) -> Reply:
        sent = {"accept": "application/json", **headers}
        if self.token:
            sent["authorization"] = f"Bearer {self.token}"
        data = None if body is None else _compact(body)
        try:
            self._connection.request(method, path, data, sent)
            answer = self._connection.getresponse()
        except http.client.RemoteDisconnected:  # a map with a key of bytes lets a real one panic
            self._connection.close()
            return Reply(500, {"message": "no answer"})
        content = answer.read()
        found = answer.headers.get_all("Warning") or []
        warnings = [one.encode("latin-1").decode() for one in found]
        audit = self._audited(answer.headers["Audit-Id"]) if self.audit_log else None
        return Reply(answer.status, parsed_body(content), tuple(map(_warning, warnings)), audit)

    def ask(self, method: str, target: str, data: bytes, headers: Mapping[str, str]) -> Sent:
        shown = {"authorization": f"Bearer {self.token}"} if self.token else {}
        sent = {**shown, **headers}
        try:
            self._connection.request(method, quote(target, safe=_ASCII), data or None, sent)
            answer = self._connection.getresponse()
            content = answer.read()
        except http.client.HTTPException:
            self._connection.close()
            return Sent(500, {}, b"no answer")
        warnings = [
            text.encode("latin-1").decode() for text in answer.headers.get_all("Warning") or ()
        ]
        found = {name.lower(): text for name, text in answer.headers.items() if name != "Warning"}
        return Sent(answer.status, found, content, tuple(map(_warning, warnings)))

    def _audited(self, audit_id: str) -> dict[str, str]:
        """The annotations of the last event of a request, which is written a little later."""
        for _ in range(100):
            with Path(self.audit_log).open("rb") as log:
                log.seek(max(0, log.seek(0, 2) - (1 << 20)))
                lines = log.read().splitlines()
            for line in reversed(lines):
                if audit_id.encode() in line and b'"ResponseComplete"' in line:
                    annotations: dict[str, str] = json.loads(line).get("annotations", {})
                    return annotations
            time.sleep(0.05)
        return {}

    def settle(self) -> None:
        time.sleep(self.patience)

    def close(self) -> None:
        self._connection.close()


def _compact(body: Any) -> bytes:
    """JSON as Go writes it: a real server stores what has no type there as it was sent, and takes
    it for another where a patch lays it out anew."""
    return json.dumps(body, separators=(",", ":")).encode()


def parsed_body(data: bytes) -> Any:
    """JSON, or the text that is said of what is not served and after a panic."""
    try:
        return json.loads(data) if data else None
    except ValueError:
        return data.decode()


def release_of(server: Server) -> str:
    """Return the release that a server tells, such as `1.33`."""
    told = server.call("GET", "/version").body
    minor = re.match(r"\d*", told["minor"])
    return f"{told['major']}.{minor[0] if minor else ''}"


def _warning(header: str) -> str:
    text = header.removeprefix(WARNING_PREFIX).removesuffix('"')
    return text.replace('\\"', '"').replace("\\\\", "\\")
