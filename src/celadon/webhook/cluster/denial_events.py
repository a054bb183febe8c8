"""Kubernetes Events about requests that were denied, for those who look at their namespace.

An Event is about the object that was refused, in its namespace (`default` for cluster-scoped ones).
The same denial of the same object is one Event that counts. Nothing waits for an Event: they go out
from a queue; when it is full, or more come than the rate allows, the rest is dropped and counted.
Dry runs leave nothing, and neither do denied Events: each would make another one. As
k8s.io/client-go `tools/record`.
"""

from __future__ import annotations

import asyncio
import time
from collections import OrderedDict
from collections.abc import Callable
from datetime import UTC, datetime
from typing import Final
from uuid import uuid4

from celadon.admission import Operation, Request, Verdict
from celadon.apiserver.operation import LIFE, Description, Family, ReadCounter, say, warn
from celadon.kube import metadata, name_rules
from celadon.kube.json_types import JsonDict
from celadon.records import dataclass
from celadon.webhook.cluster import cluster_client
from celadon.webhook.service.decision_log import redacted, secret_texts

REASON: Final = "PolicyDenied"
COMPONENT: Final = "celadon-webhook"
MOST_CHARACTERS: Final = 1024
"""Of the message of an Event, as core/v1 has it."""
MOST_SERIES: Final = 1024
"""Denials that are remembered, so that the next one counts."""
MOST_WAITING: Final = 256
BURST: Final = 25
PER_SECOND: Final = 5.0
"""Events at once, and in the long run."""
DROPPED: Final = Description(
    "celadon_webhook_dropped_events_total",
    "Denials that no Event tells of: too many at once, or the cluster did not take it.",
)


@dataclass(frozen=True, slots=True)
class _Denial:
    """Two denials are the same, and counted in one Event, if these fields are equal."""

    namespace: str
    name: str
    kind: str
    api_version: str
    uid: str
    message: str


@dataclass(slots=True)
class _Series:
    path: str
    count: int


class DenialEvents:
    """Writes Events about requests that were denied. `instance` says which replica it was. `clock`
    is Unix time, `monotonic` what the rate is measured by. `run` beside the webhook."""

    def __init__(
        self,
        client: cluster_client.ClusterClient,
        instance: str,
        clock: Callable[[], float] = time.time,
        monotonic: Callable[[], float] = time.monotonic,
    ) -> None:
        self._client = client
        self._instance = instance
        self._clock = clock
        self._monotonic = monotonic
        self._waiting: OrderedDict[_Denial, int] = OrderedDict()
        self._series: OrderedDict[_Denial, _Series] = OrderedDict()
        self._wake = asyncio.Event()
        self._tokens = float(BURST)
        self._filled = monotonic()
        self._is_failing = False
        self.dropped = 0

    def families(self) -> tuple[Family, ...]:
        """Return what `/metrics` shows: how many Events were dropped."""
        return (ReadCounter(DROPPED, lambda: {(): self.dropped}),)

    def denied(self, request: Request, verdict: Verdict) -> None:
        """Take note of a denial; at once."""
        if request.dry_run or request.kind.kind == "Event":
            return
        denial = _denial(request, verdict)
        if denial not in self._waiting and len(self._waiting) >= MOST_WAITING:
            self.dropped += 1
            return
        self._waiting[denial] = self._waiting.get(denial, 0) + 1
        self._wake.set()

    async def run(self) -> None:
        """Send what waits, until it is cancelled."""
        while True:
            await self._wake.wait()
            self._wake.clear()
            while self._waiting:
                await self._await_turn()
                denial, count = self._waiting.popitem(last=False)
                try:
                    await self._send(denial, count)
                except cluster_client.ClusterError as error:
                    self.dropped += count
                    if not self._is_failing:
                        warn("events cannot be written", {"err": str(error)})
                    self._is_failing = True
                else:
                    if self._is_failing:
                        say(LIFE, "events can be written again")
                    self._is_failing = False

    async def _await_turn(self) -> None:
        while True:
            now = self._monotonic()
            self._tokens = min(BURST, self._tokens + (now - self._filled) * PER_SECOND)
            self._filled = now
            if self._tokens >= 1:
                self._tokens -= 1
                return
            await asyncio.sleep((1 - self._tokens) / PER_SECOND)

    async def _send(self, denial: _Denial, count: int) -> None:
        """Send an event. Raises ClusterError."""
        now = f"{datetime.fromtimestamp(self._clock(), UTC):%Y-%m-%dT%H:%M:%SZ}"
        series = self._series.get(denial)
        if series is not None and await self._counted(series, count, now):
            self._series.move_to_end(denial)
            return
        event = self._event(denial, count, now)
        place = event["metadata"]["namespace"]
        path = f"/api/v1/namespaces/{place}/events"
        await self._client.create(path, event)
        self._series[denial] = _Series(f"{path}/{event['metadata']['name']}", count)
        if len(self._series) > MOST_SERIES:
            self._series.popitem(last=False)

    async def _counted(self, series: _Series, count: int, now: str) -> bool:
        """Return whether there still is an Event to count in: they end after an hour. Raises
        ClusterError."""
        series.count += count
        try:
            await self._client.patch(series.path, {"count": series.count, "lastTimestamp": now})
        except cluster_client.ClusterRefusal as refusal:
            if refusal.code != cluster_client.NOT_FOUND:
                raise
            return False
        return True

    def _event(self, denial: _Denial, count: int, now: str) -> JsonDict:
        about = {
            "apiVersion": denial.api_version,
            "kind": denial.kind,
            "namespace": denial.namespace,
            "name": denial.name,
            "uid": denial.uid,
        }
        return {
            "apiVersion": "v1",
            "kind": "Event",
            "metadata": {
                "name": _event_name(denial.name),
                "namespace": denial.namespace or "default",
            },
            "involvedObject": {key: value for key, value in about.items() if value},
            "type": "Warning",
            "reason": REASON,
            "message": denial.message,
            "count": count,
            "firstTimestamp": now,
            "lastTimestamp": now,
            "source": {"component": COMPONENT},
            "reportingComponent": COMPONENT,
            "reportingInstance": self._instance,
        }


def _event_name(about: str) -> str:
    """Objects of some kinds have names that an Event cannot have."""
    unique = uuid4().hex
    name = f"{about}.{unique[:16]}"
    return unique if name_rules.dns1123_subdomain(name) else name


def _denial(request: Request, verdict: Verdict) -> _Denial:
    """Return the fields of a denial that its Event is found by. An object that is only being
    created has no uid yet that anybody would find again, and what the server has made of its
    `generateName` is another name the next time: both are left out."""
    obj = request.object or request.old_object or {}
    message = redacted(verdict.message, secret_texts(request))
    is_new = request.operation is Operation.CREATE and not request.subresource
    name, prefix = request.name or metadata.name(obj), metadata.generate_name(obj)
    if is_new and prefix and name.startswith(prefix):
        name, message = prefix, message.replace(name, prefix)
    return _Denial(
        "" if request.kind.kind == "Namespace" else request.namespace,
        (name or prefix).rstrip("-."),
        request.kind.kind,
        request.kind.api_version,
        "" if is_new else metadata.uid(obj),
        message[:MOST_CHARACTERS],
    )
