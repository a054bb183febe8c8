"""How many requests at once, and how long each may take.

Whoever comes when the house is full is sent away with 429 and told to come back; administrators
always get in. As k8s.io/apiserver `pkg/server/filters/{maxinflight,timeout}.go`.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from typing import Final

from celadon.cel.value_functions import parse_duration
from celadon.kube import MASTERS, User
from celadon.records import dataclass
from celadon.serve.http_messages import HttpRequest, plain_text
from celadon.serve.requests.request_info import LONG_RUNNING, RequestInfo

READING_VERBS: Final = frozenset({"get", "list", "watch"})
LONG_RUNNING_SUBRESOURCES: Final = frozenset({"attach", "exec", "proxy", "log", "portforward"})
READING: Final = "readOnly"
MUTATING: Final = "mutating"
NO_LIMIT: Final = 0

TOO_MANY: Final = plain_text(
    429, "Too many requests, please try again later.\n", ("Retry-After", "1")
)
TIMED_OUT: Final = plain_text(
    504,
    '{"metadata":{},"status":"Failure","message":"Timeout: request did not complete within the '
    'allotted timeout","reason":"Timeout","details":{},"code":504}\n',
)


@dataclass(frozen=True, slots=True)
class RequestLimits:
    """The defaults are those of kube-apiserver; 0 is no limit. `seconds` is for the answer,
    `watch_seconds` the least time that a watch without a time of its own lasts: up to twice as
    long. `watches` is ours: how many may be open."""

    reading: int = 400
    mutating: int = 200
    watches: int = 10_000
    seconds: float = 60.0
    watch_seconds: float = 1800.0

    def deadline(self, request: HttpRequest, info: RequestInfo) -> float | None:
        """Seconds for the answer: those of the request's own `timeout` if they are fewer; None for
        what lasts."""
        if is_long_running(info):
            return None
        limit = self.seconds or None
        text = request.first("timeout") if "timeout=" in request.target else ""
        wanted = parse_duration(text) if text else None
        if wanted is None or wanted.nanoseconds <= 0:
            return limit
        seconds = wanted.nanoseconds / 1e9
        return seconds if limit is None else min(seconds, limit)


def is_long_running(info: RequestInfo) -> bool:
    """Whether a request lasts as long as its client wants."""
    return info.verb in LONG_RUNNING or info.subresource in LONG_RUNNING_SUBRESOURCES


class TooManyRequests(Exception):
    """Try again later."""


class InFlight:
    """The requests that are being answered, by kind, and the watches that are open."""

    def __init__(self, limits: RequestLimits) -> None:
        self._limits = limits
        self.counts = {READING: 0, MUTATING: 0}
        self.watches = 0

    def enter(self, info: RequestInfo, user: User) -> str:
        """The kind, for `leave`; empty for what lasts. Raises TooManyRequests."""
        if is_long_running(info):
            self._check(self.watches, self._limits.watches, user)
            return ""
        kind = READING if info.verb in READING_VERBS else MUTATING
        limit = self._limits.reading if kind is READING else self._limits.mutating
        self._check(self.counts[kind], limit, user)
        self.counts[kind] += 1
        return kind

    def leave(self, kind: str) -> None:
        """What `enter` has let in."""
        if kind:
            self.counts[kind] -= 1

    @contextlib.contextmanager
    def watching(self) -> Iterator[None]:
        """While a watch is open."""
        self.watches += 1
        try:
            yield
        finally:
            self.watches -= 1

    @staticmethod
    def _check(count: int, limit: int, user: User) -> None:
        if limit != NO_LIMIT and count >= limit and MASTERS not in user.groups:
            raise TooManyRequests
