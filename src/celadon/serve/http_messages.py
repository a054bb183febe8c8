"""HTTP as values: what came in, what goes out. No sockets here; `transport` has those.

An `HttpRequest` is complete: its body has been read, within the limit the transport keeps. An
`HttpAnswer` is complete too, or it has a `stream` whose chunks the transport sends as they come and
closes (`aclose`) when the client has gone.
"""

from __future__ import annotations

import functools
import urllib.parse
from collections.abc import AsyncGenerator, Awaitable, Callable, Mapping, Sequence
from dataclasses import field
from typing import Final, Protocol, TypeAlias

from celadon.kube import User
from celadon.records import dataclass
from celadon.serve.remembered_properties import remembered

Header: TypeAlias = tuple[str, str]

JSON: Final = "application/json"
"""The content type."""

TEXT: Final = "text/plain; charset=utf-8"


_NO_PARAMETERS: Final[Mapping[str, Sequence[str]]] = {}


LONG_HEAD: Final = 8 << 10
"""Bytes of a target with all headers: what may take long to read."""

_SHORT: Final = 128
"""Bytes of a query that is worth remembering: clients ask with the same few again and again."""


def _read_query(text: str) -> Mapping[str, Sequence[str]]:
    return urllib.parse.parse_qs(text, keep_blank_values=True)


_short_query: Final = functools.lru_cache(maxsize=512)(_read_query)


class Departure:
    """When the client of a connection goes: what is done for its request then ends."""

    __slots__ = ("_end",)

    def __init__(self) -> None:
        self._end: Callable[[], None] | None = None

    def ends(self, end: Callable[[], None] | None) -> None:
        """What to call; None when there is nothing any more that could end."""
        self._end = end

    def tell(self) -> None:
        """The client has gone."""
        if self._end is not None:
            self._end()


# House rule 9: without slots, because `remembered` needs the instance dictionary.
@dataclass(frozen=True)
class HttpRequest:
    """`target` is the request's path and query as they were sent; `headers` have their names in
    lower case, in the order they came. `client_certificate` is the verified one in DER form.
    `departure` tells when the client goes, if that is known."""

    method: str
    target: str
    headers: Sequence[Header] = ()
    body: bytes = b""
    client_certificate: bytes | None = None
    remote_address: str = ""
    departure: Departure | None = None

    @remembered
    def path(self) -> str:
        """As it was sent: percent-encoded."""
        return self.target.partition("?")[0]

    @remembered
    def query(self) -> Mapping[str, Sequence[str]]:
        """Values by name, in order; a name without `=` has an empty value."""
        text = self.target.partition("?")[2]
        if not text:
            return _NO_PARAMETERS
        return _short_query(text) if len(text) <= _SHORT else _read_query(text)

    def first(self, name: str) -> str:
        """The first value of a query parameter; empty if there is none."""
        return self.query.get(name, ("",))[0]

    @remembered
    def has_long_head(self) -> bool:
        """Whether reading the target or some header may take long."""
        size = len(self.target)
        for name, value in self.headers:
            size += len(name) + len(value)
        return size > LONG_HEAD

    @remembered
    def _by_name(self) -> Mapping[str, list[str]]:
        found: dict[str, list[str]] = {}
        for name, value in self.headers:
            found.setdefault(name, []).append(value)
        return found

    def header(self, name: str) -> str:
        """The value of the first header of this (lower-case) name; empty if there is none."""
        return self._by_name.get(name, [""])[0]

    def header_values(self, name: str) -> Sequence[str]:
        """The values of all headers of this (lower-case) name."""
        return self._by_name.get(name, ())


# House rule 9: nobody assigns to its fields, but it is not frozen: each request makes one, and a
# frozen one takes four times as long.
@dataclass(slots=True)
class HttpAnswer:
    """Either `body` or, for a watch, `stream`. Headers are written as given here, in order."""

    code: int
    content_type: str = ""
    body: bytes = b""
    headers: tuple[Header, ...] = ()
    stream: AsyncGenerator[bytes, None] | None = field(default=None, compare=False)
    audit: Mapping[str, str] = field(default_factory=dict, compare=False)
    """Annotations for the request's audit event; they do not go to the client."""
    request_audit: Mapping[str, str] = field(default_factory=dict, compare=False)
    """More of them, for levels that have the request."""
    user: User | None = field(default=None, compare=False)
    """Who asked, for the audit event; None if that was not found out."""
    impersonated_user: User | None = field(default=None, compare=False)
    """As whom they asked, if not as themselves."""
    constraint: str = field(default="", compare=False)
    """Which constrained right let them do so (`impersonate:user-info`); empty for the old one."""
    panic: str = field(default="", compare=False)
    """What was raised that nobody expected, for the audit event."""


Handler: TypeAlias = Callable[[HttpRequest], Awaitable[HttpAnswer]]
"""What a server is, without its network."""


class PromptHandler(Protocol):
    """Answers without a task for each request: a tenth of what a small request costs."""

    def offer(self, request: HttpRequest, reply: Callable[[HttpAnswer], None]) -> bool:
        """Whether it takes the request, and calls `reply` once, now or later, with an answer that
        has no stream. It never raises."""
        ...


def plain_text(code: int, text: str, *headers: Header) -> HttpAnswer:
    """What is not said as a Status."""
    return HttpAnswer(code, TEXT, text.encode(), headers)
