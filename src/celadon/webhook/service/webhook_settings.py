"""What a webhook process is told."""

from __future__ import annotations

import ssl
from collections.abc import Callable, Coroutine, Iterable
from pathlib import Path
from typing import Final, Protocol

from celadon.admission import Request, Verdict
from celadon.apiserver.http import Address
from celadon.apiserver.operation import Family
from celadon.records import dataclass

MOST_BYTES: Final = 7 << 20
"""Of a body: two objects of 3 MiB and what is around them (as controller-runtime)."""


class Certificate(Protocol):
    """Holds what TLS needs, from files or made by ourselves."""

    @property
    def context(self) -> ssl.SSLContext:
        """For the listener, for as long as it listens."""
        ...

    def reload(self) -> bool:
        """Look whether there is a newer one. Called every few seconds."""
        ...

    def expires(self) -> float:
        """When the one in use ends, in Unix time."""
        ...


@dataclass(frozen=True, slots=True)
class DecisionLogSettings:
    """`path` None is standard output; `sample` is the part of plain admissions that is logged, from
    0 to 1; `with_objects` adds the whole objects."""

    path: Path | None
    sample: float = 1.0
    with_objects: bool = False


@dataclass(frozen=True, slots=True)
class WebhookSettings:
    """`certificate` None is plain HTTP. `in_flight` is how many reviews may wait or be decided at
    once (0: any number), `seconds` how long one may take whose caller does not say. For
    `shutdown_delay` seconds after it was told to end, the webhook is not ready and goes on; then it
    stops listening, waits `linger_seconds` for requests that are on their way, and what was begun
    may take `drain_seconds`."""

    listen: Address
    certificate: Certificate | None
    audit_only: bool = False
    decision_log: DecisionLogSettings | None = None
    in_flight: int = 400
    body_bytes: int = MOST_BYTES
    seconds: float = 10.0
    shutdown_delay: float = 5.0
    linger_seconds: float = 1.0
    drain_seconds: int = 30
    known_callers: bool = False
    """Whether reviews are taken only from callers with a certificate."""
    denied: Callable[[Request, Verdict], None] | None = None
    """Is told of each request that was denied, or would have been without `audit_only`."""
    beside: tuple[Callable[[], Coroutine[None, None, None]], ...] = ()
    """What else runs as long as the webhook does; the webhook ends if any of it fails."""
    waits_for: tuple[Callable[[], str], ...] = ()
    """Each says what the webhook cannot be ready without; empty when it is there."""
    remarks: tuple[Callable[[], Iterable[str]], ...] = ()
    """What an operator should look at, although the webhook is ready."""
    families: tuple[Family, ...] = ()
    """What `/metrics` shows besides."""

    @property
    def expires(self) -> Callable[[], float] | None:
        """Tells when the certificate ends, if there is one."""
        return None if self.certificate is None else self.certificate.expires
