"""EventRateLimit: how many events a server takes in a second, in all and of each source.

It remembers, so that it is no function of a request as the other plugins are. As k8s.io/kubernetes
`plugin/pkg/admission/eventratelimit`: every limit counts a request, and the last of those that are
reached is told of.
"""

from __future__ import annotations

import hashlib
from collections import OrderedDict
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final

from celadon.admission import Operation, Request
from celadon.admission.plugins import EventLimit
from celadon.kube import GroupKind, status
from celadon.records import dataclass

EVENT: Final = GroupKind("", "Event")
"""Not that of `events.k8s.io`."""
_WRITES: Final = frozenset({Operation.CREATE, Operation.UPDATE})
_INVOLVED: Final = ("kind", "namespace", "name", "uid", "apiVersion")


@dataclass(slots=True)
class _Bucket:
    """So many requests may come at once, at `time`."""

    tokens: float
    time: float


class EventRates:
    """The buckets of one server. `seconds` is a clock that never goes back."""

    def __init__(self, limits: Sequence[EventLimit], seconds: Callable[[], float]) -> None:
        self._limits = [(one, OrderedDict[bytes, _Bucket]()) for one in limits]
        self._seconds = seconds

    def check(self, request: Request) -> None:
        """Count a request. Raises StatusError 429."""
        if not self._limits or request.dry_run or request.kind.group_kind != EVENT:
            return
        if request.operation not in _WRITES:
            return
        reached = ""
        for limit, buckets in self._limits:
            key = _key(limit.type, request)
            if not self._takes(limit, buckets, key):
                reached = f"limit reached on type {limit.type} for key {key}"
        if reached:
            raise status.too_many_requests(reached)

    def _takes(self, limit: EventLimit, buckets: OrderedDict[bytes, _Bucket], key: str) -> bool:
        now = self._seconds()
        digest = hashlib.sha256(key.encode("utf-8", "surrogatepass")).digest()  # keys can be long
        bucket = buckets.setdefault(digest, _Bucket(limit.burst, now))
        buckets.move_to_end(digest)
        if len(buckets) > limit.cache_size:
            buckets.popitem(last=False)
        bucket.tokens = min(limit.burst, bucket.tokens + (now - bucket.time) * limit.qps)
        bucket.time = now
        if bucket.tokens < 1:
            return False
        bucket.tokens -= 1
        return True


def _key(type_: str, request: Request) -> str:
    match type_:
        case "Namespace":
            return request.namespace
        case "User":
            return request.user.name
        case "SourceAndObject":
            return _source_and_object(request.object or {})
    return ""


def _source_and_object(event: Mapping[str, Any]) -> str:
    source, involved = event.get("source") or {}, event.get("involvedObject") or {}
    parts = [source.get("component"), source.get("host"), *map(involved.get, _INVOLVED)]
    return "".join(part or "" for part in parts)
