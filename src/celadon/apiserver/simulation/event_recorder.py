"""How controllers tell what has happened: events that are counted, combined and held back.

As k8s.io/client-go `tools/record`. What is told again is counted. From the tenth message on that
differs from others of the same reason about the same object, they are one event together. And about
one object a controller tells 25 things at once, and then one in five minutes.
"""

from __future__ import annotations

import contextlib
from collections import OrderedDict
from collections.abc import Callable, Hashable, Iterator
from dataclasses import field
from datetime import datetime, timedelta
from typing import Final, Generic, Literal, TypeVar

from celadon.apiserver.controllers.controller_loops import Stale
from celadon.apiserver.controllers.server_controllers import built_in
from celadon.apiserver.simulation.cluster_client import CREATED, Requests
from celadon.apiserver.simulation.planning.pod_facts import precise_time_text, time_text
from celadon.kube import GroupVersionResource, JsonObject, metadata
from celadon.kube.json_types import JsonDict
from celadon.records import dataclass

EVENTS: Final = GroupVersionResource("", "v1", "events")
NEW_EVENTS: Final = GroupVersionResource("events.k8s.io", "v1", "events")
COMBINED: Final = "(combined from similar events): "
SIMILAR: Final = 10
"""Messages of one reason that are told each on its own, and one more."""
SIMILAR_FOR: Final = timedelta(minutes=10)
"""After so long without a similar one, each is told on its own again."""
BURST: Final = 25
"""Events of one type about one object at once."""
REFILL_SECONDS: Final = 300.0
"""After which there may be another one."""
_SERIES: Final = 2
"""Times that are a series, which is told then, and counted on later only."""
_REMEMBERED: Final = 4_096

V = TypeVar("V")


class _Recent(Generic[V]):
    """What was asked for last; the rest is forgotten."""

    def __init__(self, make: Callable[[], V]) -> None:
        self._make = make
        self._found: OrderedDict[Hashable, V] = OrderedDict()

    def of(self, key: Hashable) -> V:
        found = self._found.pop(key, None)
        if found is None:
            found = self._make()
        self._found[key] = found
        if len(self._found) > _REMEMBERED:
            self._found.popitem(last=False)
        return found


@dataclass(slots=True)
class _Similar:
    """The messages of one reason about one object, and when there was one last."""

    messages: dict[str, None] = field(default_factory=dict)
    last: datetime | None = None


@dataclass(slots=True)
class _Bucket:
    """How many more events there may be."""

    tokens: float = BURST
    at: datetime | None = None

    def take(self, now: datetime) -> bool:
        """Whether there may be one now."""
        if self.at is not None:
            gone = (now - self.at).total_seconds()
            self.tokens = min(float(BURST), self.tokens + gone / REFILL_SECONDS)
        self.at = now
        if self.tokens < 1:
            return False
        self.tokens -= 1
        return True


class Correlator:
    """What becomes of an event: it is another one, or counted, or not told at all."""

    def __init__(self) -> None:
        self._similar = _Recent(_Similar)
        self._buckets = _Recent(_Bucket)

    def key_of(
        self, about: Hashable, kind: str, reason: str, message: str, field: str, now: datetime
    ) -> tuple[Hashable, ...]:
        """By which it is counted; without message and field where it is one of many."""
        group = (about, kind, reason)
        similar = self._similar.of(group)
        if similar.last is not None and now - similar.last > SIMILAR_FOR:
            similar.messages.clear()
        similar.last = now
        similar.messages[message] = None
        if len(similar.messages) < SIMILAR:
            return (*group, message, field)
        del similar.messages[next(iter(similar.messages))]
        return group

    def may_tell(self, about: Hashable, kind: str, now: datetime) -> bool:
        """Whether it is not too much."""
        return self._buckets.of((about, kind)).take(now)


@dataclass(slots=True)
class _Told:
    """The event that was made, if there is one, and how often it has been told."""

    event: JsonObject | None = None
    count: int = 0


class EventRecorder:
    """Tells in the name of a component, which may be on a host."""

    def __init__(
        self,
        requests: Requests,
        now: Callable[[], datetime],
        numbers: Iterator[int],
        component: str,
        host: str = "",
    ) -> None:
        self._requests = requests
        self._now = now
        self._numbers = numbers
        self._component, self._host = component, host
        self._correlator = Correlator()
        self._told = _Recent(_Told)

    async def record(
        self,
        obj: JsonObject,
        kind: Literal["Normal", "Warning"],
        reason: str,
        message: str,
        field: str = "",
    ) -> None:
        """About an object, or a field of it. What the server answers is nobody's concern."""
        about, now = (metadata.uid(obj), metadata.name(obj)), self._now()
        key = self._correlator.key_of(about, kind, reason, message, field, now)
        is_combined = key == (about, kind, reason)
        told = self._told.of(key)
        told.count += 1
        if not self._correlator.may_tell(about, kind, now):
            return
        text = COMBINED + message if is_combined else message
        time = time_text(now)
        if told.event is not None:
            change = {"count": told.count, "lastTimestamp": time, "message": text}
            with contextlib.suppress(Stale):  # then it is gone by now
                await self._requests.patch(built_in(EVENTS), told.event, change)
                return
        host = {"host": self._host} if self._host else {}
        reporting = {"reportingComponent": self._component, "reportingInstance": self._host}
        made = {
            **self._event("v1", obj, kind, reason),
            "involvedObject": _reference(obj, field),
            "message": text,
            "firstTimestamp": time,
            "lastTimestamp": time,
            "count": told.count,
            "source": {"component": self._component, **host},
            **({} if is_combined else reporting),
        }
        reply = await self._requests.create(built_in(EVENTS), made)
        if reply.code == CREATED:
            told.event = reply.body

    async def record_action(
        self,
        obj: JsonObject,
        kind: Literal["Normal", "Warning"],
        reason: str,
        message: str,
        action: str,
    ) -> None:
        """As those tell who write events of `events.k8s.io`: what is told again about the same
        version of an object is a series, whatever its message is."""
        about = (metadata.uid(obj), metadata.resource_version(obj))
        told = self._told.of((about, kind, reason, action))
        told.count += 1
        time = precise_time_text(self._now())
        if told.event is not None:
            if told.count == _SERIES:
                change = {"series": {"count": told.count, "lastObservedTime": time}}
                with contextlib.suppress(Stale):
                    await self._requests.patch(built_in(NEW_EVENTS), told.event, change)
            return
        made = {
            **self._event("events.k8s.io/v1", obj, kind, reason),
            "regarding": _reference(obj),
            "note": message,
            "eventTime": time,
            "action": action,
            "reportingController": self._component,
            "reportingInstance": self._host,
        }
        reply = await self._requests.create(built_in(NEW_EVENTS), made)
        if reply.code == CREATED:
            told.event = reply.body

    def _event(self, version: str, obj: JsonObject, kind: str, reason: str) -> JsonDict:
        nanoseconds = int(self._now().timestamp() * 1e9) + next(self._numbers)
        name = f"{metadata.name(obj)}.{nanoseconds:x}"
        return {
            "apiVersion": version,
            "kind": "Event",
            "metadata": {"name": name, "namespace": metadata.namespace(obj) or "default"},
            "reason": reason,
            "type": kind,
        }


def _reference(obj: JsonObject, field: str = "") -> dict[str, str]:
    about = {
        "kind": obj["kind"],
        "namespace": metadata.namespace(obj),
        "name": metadata.name(obj),
        "uid": metadata.uid(obj),
        "apiVersion": obj["apiVersion"],
        "resourceVersion": metadata.resource_version(obj),
        "fieldPath": field,
    }
    return {key: value for key, value in about.items() if value}
