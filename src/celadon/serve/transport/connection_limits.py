"""What connections may cost: bytes and seconds, by phase, and bytes of all of them together.

A client that is slow on purpose holds a connection no longer than these say; one that does not read
what it asked for loses it, and with it its watch.
"""

from __future__ import annotations

from celadon.records import dataclass


@dataclass(frozen=True, slots=True)
class ConnectionLimits:
    """The defaults are upstream's where it has any."""

    head_bytes: int = (1 << 20) + 4096
    """Request line and headers together (Go's net/http, `DefaultMaxHeaderBytes` and what it reads
    ahead)."""

    head_seconds: float = 32.0
    """For sending them (k8s.io/apiserver `pkg/server/secure_serving.go`)."""

    body_bytes: int = 3 << 20
    """Of a body (`MaxRequestBodyBytes`). One byte more is kept, so that the handler sees that there
    was too much."""

    drained_bytes: int = 32 << 20
    """Of a body that is too large: so much is read and dropped, so that the client sees the
    answer."""

    ahead_bytes: int = 64 << 10
    """What may come behind a request that is being answered. Then no more is read, and behind a
    stream the connection ends."""

    held_bytes: int = 256 << 20
    """What all connections together may hold: heads and bodies that have come or are coming, until
    the request has been answered, and answers that nobody reads."""

    connections: int = 16_384
    """Open at once; TLS takes some 60 KB of each."""

    body_seconds: float = 34.0
    """For sending a body (k8s.io/apiserver `pkg/endpoints/handlers/rest.go`)."""

    idle_seconds: int = 90
    """A connection without requests is kept so long (secure_serving.go)."""

    stalled_seconds: float = 30.0
    """A client that has read nothing for so long, while there is much to read, is cut off."""

    farewell_seconds: float = 0.5
    """A client that was refused while it was sending may read why for so long (Go's net/http,
    `rstAvoidanceDelay`)."""

    linger_seconds: float = 0.0
    """So long after the server has stopped listening, connections without a request are kept: one
    may be on its way."""

    drain_seconds: int = 10
    """Requests may go on for so long when the server ends."""
