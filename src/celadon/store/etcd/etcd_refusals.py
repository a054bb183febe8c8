"""What etcd refuses, as errors of the store.

Its servers say a status code of gRPC and a text (etcd `api/v3rpc/rpctypes/error.go`); the texts of
our errors are etcd's, because that is what an API server passes on to its clients.
"""

from __future__ import annotations

from typing import Final

from celadon.store.errors import ServiceError, ServiceFull, ServiceUnavailable, TooLarge

COMPACTED: Final = "etcdserver: mvcc: required revision has been compacted"
FUTURE: Final = "etcdserver: mvcc: required revision is a future revision"
_FULL: Final = "etcdserver: mvcc: database space exceeded"
_TOO_LARGE: Final = (
    "etcdserver: request is too large",
    "larger than max",  # what gRPC says on either side, with numbers
)
_NOT_BEGUN: Final = ("etcdserver: no leader", "etcdserver: too many requests")
"""Nothing has happened, and nothing will."""

CODES: Final = (
    *("OK", "CANCELLED", "UNKNOWN", "INVALID_ARGUMENT", "DEADLINE_EXCEEDED", "NOT_FOUND"),
    *("ALREADY_EXISTS", "PERMISSION_DENIED", "RESOURCE_EXHAUSTED", "FAILED_PRECONDITION"),
    *("ABORTED", "OUT_OF_RANGE", "UNIMPLEMENTED", "INTERNAL", "UNAVAILABLE", "DATA_LOSS"),
    "UNAUTHENTICATED",
)
"""Of gRPC, by their numbers."""

_TRANSIENT: Final = frozenset(
    {
        "ABORTED",
        "CANCELLED",
        "DEADLINE_EXCEEDED",
        "INTERNAL",
        "RESOURCE_EXHAUSTED",
        "UNAVAILABLE",
        "UNKNOWN",
    }
)


class NotBegun(ServiceUnavailable):
    """Nobody has taken the request: it may be sent again, to anyone."""


class RevisionRefused(ServiceError):
    """It is compacted, or in the future (`is_future`)."""

    def __init__(self, message: str) -> None:
        super().__init__(message)
        self.is_future = message == FUTURE


def refusal(code: int, text: str) -> ServiceError:
    """The error that says the same; without a text it says the name of the code."""
    name = CODES[code] if code < len(CODES) else "UNKNOWN"
    text = text or name
    if text in (COMPACTED, FUTURE):
        return RevisionRefused(text)
    if text == _FULL:
        return ServiceFull(text)
    if any(known in text for known in _TOO_LARGE):
        return TooLarge(text)
    if text in _NOT_BEGUN:
        return NotBegun(text)
    return ServiceUnavailable(text) if name in _TRANSIENT else ServiceError(text)
