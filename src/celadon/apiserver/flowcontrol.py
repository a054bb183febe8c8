"""Which requests are answered at once and which wait: API priority and fairness.

A FlowSchema says of a request to which priority level it belongs and from which flow it comes. A
level has seats; a request that finds none waits in a queue of its level, or is rejected. Flows are
dealt over the queues, so that one that asks for much delays few others, and queues take turns by
the time that their requests took.
As k8s.io/apiserver `pkg/util/flowcontrol` and `pkg/server/filters/priority-and-fairness.go`; other
than there, each request takes one seat, and levels lend none (docs/operation.md).
"""

from __future__ import annotations

import asyncio
import hashlib
import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import field
from typing import Final

from celadon.apiserver.bootstrap_objects import flow_schemas, priority_levels
from celadon.apiserver.caches.mirror import Mirror
from celadon.apiserver.http_messages import Header
from celadon.apiserver.object_store import ROOT, ObjectStore, Undecodable
from celadon.apiserver.operation.request_limits import TooManyRequests, is_long_running
from celadon.apiserver.operation.server_metrics import FlowCount, FlowCounts
from celadon.apiserver.request_info import RequestInfo
from celadon.kube import JsonObject, User, metadata
from celadon.records import dataclass

GROUP: Final = "flowcontrol.apiserver.k8s.io"
SCHEMA_HEADER: Final = "X-Kubernetes-Pf-Flowschema-Uid"
LEVEL_HEADER: Final = "X-Kubernetes-Pf-Prioritylevel-Uid"
EXEMPT: Final = "exempt"
CATCH_ALL: Final = "catch-all"
"""Names of schemas and levels that are in force even where they are not stored."""
ALL: Final = "*"

MOST_FLOWS: Final = 4096
"""Sorts of requests whose classification is remembered."""

LONGEST_WAIT: Final = 60.0
"""Seconds that a request waits at most, however long it may take."""

WAITING_PART: Final = 4
"""A request may wait for the fourth part of its time."""

# --- Classification ----------------------------------------------------------
#
# Which FlowSchema a request matches.


@dataclass(frozen=True, slots=True)
class FlowSchema:
    """One that is in force: its level exists. `distinguisher` is empty where all requests are one
    flow."""

    name: str
    uid: str
    precedence: int
    level: str
    distinguisher: str
    rules: Sequence[JsonObject]

    def matches(self, user: User, info: RequestInfo) -> bool:
        return any(_rule_matches(rule, user, info) for rule in self.rules)

    def distinguish(self, user: User, info: RequestInfo) -> str:
        """What tells the flow of a request from the others of this schema."""
        if self.distinguisher == "ByUser":
            return user.name
        return info.namespace if self.distinguisher == "ByNamespace" else ""


def _schema_of(obj: JsonObject) -> FlowSchema:
    spec = obj["spec"]
    return FlowSchema(
        metadata.name(obj),
        obj["metadata"].get("uid", ""),
        spec.get("matchingPrecedence", 0),
        spec["priorityLevelConfiguration"]["name"],
        (spec.get("distinguisherMethod") or {}).get("type", ""),
        spec.get("rules") or (),
    )


def _rule_matches(rule: JsonObject, user: User, info: RequestInfo) -> bool:
    if not any(_is_subject(subject, user) for subject in rule.get("subjects") or ()):
        return False
    if info.is_resource:
        return any(_is_resource(one, info) for one in rule.get("resourceRules") or ())
    return any(_is_path(one, info) for one in rule.get("nonResourceRules") or ())


def _is_subject(subject: JsonObject, user: User) -> bool:
    kind = subject.get("kind")
    if kind == "User":
        return (subject.get("user") or {}).get("name") in (ALL, user.name)
    if kind == "Group":
        name = (subject.get("group") or {}).get("name")
        return name == ALL or name in user.groups
    account = subject.get("serviceAccount")
    if kind != "ServiceAccount" or not account:
        return False
    prefix = f"system:serviceaccount:{account['namespace']}:"
    if account["name"] == ALL:
        return user.name.startswith(prefix)
    return user.name == f"{prefix}{account['name']}"


def _is_resource(rule: JsonObject, info: RequestInfo) -> bool:
    resource = f"{info.resource}/{info.subresource}" if info.subresource else info.resource
    if not (
        _has(rule, "verbs", info.verb)
        and _has(rule, "resources", resource)
        and _has(rule, "apiGroups", info.group)
    ):
        return False
    if not info.namespace:
        return bool(rule.get("clusterScope"))
    return _has(rule, "namespaces", info.namespace)


def _has(rule: JsonObject, member: str, text: str) -> bool:
    listed = rule.get(member) or ()
    return text in listed or list(listed) == [ALL]


def _is_path(rule: JsonObject, info: RequestInfo) -> bool:
    """A path covers all below it, whether it ends with `*` or not."""
    if not _has(rule, "verbs", info.verb):
        return False
    for path in rule.get("nonResourceURLs") or ():
        if path in (ALL, info.path):
            return True
        prefix = path.removesuffix(ALL)
        if info.path.startswith(prefix if prefix.endswith("/") else f"{prefix}/"):
            return True
    return False


def dealt_hand(flow: str, queues: int, size: int) -> tuple[int, ...]:
    """The queues that a flow may use: drawn from all of them, by a hash of the flow."""
    number = int.from_bytes(hashlib.sha256(flow.encode()).digest()[:8], "little")
    deck, hand = list(range(queues)), []
    for _ in range(size):
        number, card = divmod(number, len(deck))
        hand.append(deck.pop(card))
    return tuple(hand)


# --- Queues ------------------------------------------------------------------
#
# The seats of a level, and how requests wait for them. Nothing here waits or knows the time: who
# calls does.


QUEUE_FULL: Final = "queue-full"
NO_SEAT: Final = "concurrency-limit"
TOO_LATE: Final = "time-out"
CANCELLED: Final = "cancelled"
"""Why a request is rejected, as metrics say it."""

EXPECTED_SECONDS: Final = 0.003
"""What a request is taken to last until it has ended."""

MOST_RETRY_SECONDS: Final = 32


class Rejection(Exception):
    """A request that has no seat and no place in a queue."""


class _Queue:
    """`turn_time` is how much service the queue has had when its next request begins; the least has
    the next turn."""

    __slots__ = ("executing", "turn_time", "waiting")

    def __init__(self) -> None:
        self.waiting: dict[Turn, None] = {}
        self.executing = 0
        self.turn_time = 0.0


class Turn:
    """A request at its level. `wake` is called when one that waits gets its seat."""

    __slots__ = ("began", "flow", "is_executing", "queue", "wake")

    def __init__(self, flow: Flow) -> None:
        self.flow = flow
        self.queue: _Queue | None = None
        self.is_executing = False
        self.began = 0.0
        self.wake: Callable[[], None] | None = None


class PriorityLevel:
    """`limit` is how many requests execute at once; None is no limit. Without `queue_count` what is
    too much is rejected. Whoever waits waits because there is no seat."""

    def __init__(self, name: str, clock: Callable[[], float]) -> None:
        self.name = name
        self.limit: int | None = None
        self.queue_count = 0
        self.hand_size = 0
        self.queue_length = 0
        self.executing = 0
        self.drops = Drops()
        self._clock = clock
        self._queues: list[_Queue] = []
        self._with_waiting: dict[_Queue, None] = {}
        self._turn_time = 0.0

    def configure(self, limit: int | None, queuing: JsonObject | None) -> None:
        """What waits in a queue that is no more stays there until its turn comes."""
        self.limit = limit
        queuing = queuing or {}
        self.queue_count = queuing.get("queues", 0)
        self.hand_size = queuing.get("handSize", 0)
        self.queue_length = queuing.get("queueLengthLimit", 0)
        self._queues += [_Queue() for _ in range(len(self._queues), self.queue_count)]
        self._seat_waiting()

    def hand(self, schema: str, distinguisher: str) -> tuple[int, ...]:
        """The queues of a flow."""
        return dealt_hand(f"{schema}\0{distinguisher}", self.queue_count, self.hand_size)

    def arrive(self, flow: Flow) -> Turn:
        """A request that executes or waits, until it leaves. Raises Rejection."""
        if self.limit is None:
            self.executing += 1
            flow.count.executing += 1
            flow.count.dispatched += 1
            return flow.turn
        turn = Turn(flow)
        has_seat = self._has_seat()
        if flow.hand:
            turn.queue = queue = self._queue(flow.hand)
            if not has_seat:
                if len(queue.waiting) >= self.queue_length:
                    raise Rejection(QUEUE_FULL)
                queue.waiting[turn] = None
                self._with_waiting.setdefault(queue)
                flow.count.waiting += 1
                return turn
        elif not has_seat:
            raise Rejection(NO_SEAT)
        self._execute(turn)
        return turn

    def leave(self, turn: Turn) -> None:
        """The request is done, or does not wait any longer."""
        count, queue = turn.flow.count, turn.queue
        if turn.is_executing:
            self.executing -= 1
            count.executing -= 1
            if queue is not None:
                queue.executing -= 1
                queue.turn_time += self._clock() - turn.began - EXPECTED_SECONDS
            if self._with_waiting:
                self._seat_waiting()
        elif queue is not None and turn in queue.waiting:
            count.waiting -= 1
            del queue.waiting[turn]
            if not queue.waiting:
                del self._with_waiting[queue]

    def _has_seat(self) -> bool:
        """A level whose limit is less than a request needs has one request at a time."""
        return self.limit is None or self.executing < self.limit or not self.executing

    def _queue(self, hand: tuple[int, ...]) -> _Queue:
        """The shortest of those; one that is not in use begins now."""
        queue = self._queues[hand[0]]
        if self.executing:
            shortest = len(queue.waiting) + queue.executing
            for index in hand:
                other = self._queues[index]
                length = len(other.waiting) + other.executing
                if length < shortest:
                    queue, shortest = other, length
        if not queue.executing and not queue.waiting:
            queue.turn_time = self._turn_time
        return queue

    def _execute(self, turn: Turn) -> None:
        self.executing += 1
        count, queue = turn.flow.count, turn.queue
        count.executing += 1
        count.dispatched += 1
        turn.is_executing = True
        if queue is not None:
            queue.executing += 1
            turn.began = self._clock()
            self._turn_time = max(self._turn_time, queue.turn_time)
            queue.turn_time += EXPECTED_SECONDS

    def _seat_waiting(self) -> None:
        """Those whose turn it is, as long as there are seats."""
        while self._with_waiting and self._has_seat():
            queue = min(self._with_waiting, key=lambda one: one.turn_time)
            turn = next(iter(queue.waiting))
            del queue.waiting[turn], self._with_waiting[queue]
            if queue.waiting:  # behind those that have had as much
                self._with_waiting[queue] = None
            turn.flow.count.waiting -= 1
            self._execute(turn)
            if turn.wake is not None:
                turn.wake()


class Drops:
    """How many requests were rejected lately, and after how many seconds clients should come back
    for that: twice as many when it is three for each of these seconds, one less when it is less
    than one."""

    def __init__(self) -> None:
        self.retry_after = 1
        self._history: list[tuple[int, int]] = []
        self._second = self._count = 0
        self._raised = -MOST_RETRY_SECONDS

    def add(self, second: int) -> None:
        """One was rejected at that time."""
        if second == self._second:
            self._count += 1
            return
        most = min(2 * self.retry_after, MOST_RETRY_SECONDS)
        self._history.append((self._second, self._count))
        self._history = [one for one in self._history if self._second - one[0] <= most]
        self._second, self._count = second, 1
        self._adjust(second)

    def _adjust(self, now: int) -> None:
        seconds = self.retry_after
        dropped = sum(count for second, count in self._history if now - second <= seconds)
        if now - self._raised >= seconds and dropped >= 3 * seconds:
            self.retry_after = min(2 * seconds, MOST_RETRY_SECONDS)
            self._raised = now
        elif dropped < seconds and seconds > 1:
            self.retry_after -= 1


# --- Flow control ------------------------------------------------------------
#
# The levels and schemas in the store, and what becomes of requests by them.


@dataclass(slots=True)
class Flow:
    """What is the same for requests that are alike: where they wait, what their answers say of it,
    and where they are counted. `turn` is that of all requests that nothing limits."""

    level: PriorityLevel
    hand: tuple[int, ...]
    headers: tuple[Header, ...]
    labels: tuple[str, str]
    count: FlowCount
    turn: Turn = field(init=False)

    def __post_init__(self) -> None:
        self.turn = Turn(self)
        self.turn.is_executing = True


class FlowControl:
    """`seats` is how many requests the server answers at once; 0 is no limit."""

    def __init__(
        self, objects: ObjectStore, seats: int, clock: Callable[[], float], counts: FlowCounts
    ) -> None:
        self._seats = seats
        self._clock = clock
        self._counts = counts
        self._stored = Mirror(objects, f"{ROOT}/{GROUP}/")  # one for both kinds: half the cost
        self._schemas: Sequence[FlowSchema] = ()
        self._levels: dict[str, PriorityLevel] = {}
        self._level_uids: dict[str, str] = {}
        self._flows: dict[tuple[object, ...], Flow] = {}
        self._update()

    def classify(self, user: User, info: RequestInfo) -> Flow | None:
        """The flow of a request by what is stored now; None for connections and their like, which
        last as long as they want."""
        try:
            if self._stored.refresh():
                self._update()
        except Undecodable:  # stored by another release: what was in force stays so
            pass
        key: tuple[object, ...]
        if info.is_resource:
            kind = info.resource, info.subresource, info.namespace
            key = user.name, user.groups, info.verb, info.group, kind
        else:
            key = user.name, user.groups, info.verb, info.path
        flow = self._flows.get(key)
        if flow is None:
            if is_long_running(info) and info.verb != "watch":
                return None
            flow = self._classified(user, info)
            if len(self._flows) >= MOST_FLOWS:
                self._flows.clear()
            self._flows[key] = flow
        return flow

    def arrive(self, flow: Flow) -> Turn:
        """A request that executes or waits, until it leaves its level. Raises TooManyRequests."""
        try:
            return flow.level.arrive(flow)
        except Rejection as rejection:
            raise self._rejected(flow, str(rejection)) from None

    async def seated(self, turn: Turn, seconds: float) -> None:
        """When a request that waits may execute, of which it is seconds the most that it waits.
        Raises TooManyRequests."""
        loop = asyncio.get_running_loop()
        future: asyncio.Future[None] = loop.create_future()

        def wake() -> None:
            if not future.done():
                future.set_result(None)

        turn.wake = wake
        timer = loop.call_later(seconds, wake)
        try:
            await future
        except asyncio.CancelledError:
            self._counts.rejected.add((*turn.flow.labels, CANCELLED))
            raise
        finally:
            timer.cancel()
        if not turn.is_executing:
            raise self._rejected(turn.flow, TOO_LATE)

    def _rejected(self, flow: Flow, reason: str) -> TooManyRequests:
        self._counts.rejected.add((*flow.labels, reason))
        drops = flow.level.drops
        drops.add(int(self._clock()))
        return TooManyRequests(drops.retry_after)

    def _classified(self, user: User, info: RequestInfo) -> Flow:
        schema = next(
            (one for one in self._schemas if one.matches(user, info)),
            next(one for one in self._schemas if one.name == CATCH_ALL),
        )
        level = self._levels[schema.level]
        hand: tuple[int, ...] = ()
        if level.limit is not None and level.queue_count:
            hand = level.hand(schema.name, schema.distinguish(user, info))
        uid = self._level_uids[schema.level]
        labels = level.name, schema.name
        headers = ((SCHEMA_HEADER, schema.uid), (LEVEL_HEADER, uid))
        return Flow(level, hand, headers, labels, self._counts.of(labels))

    def _update(self) -> None:
        """What is mandatory is there even where it is not stored (yet)."""
        levels = self._by_name("PriorityLevelConfiguration", priority_levels())
        specs = {name: _limits(obj) for name, obj in levels.items()}
        shares = sum(_shares(spec) for spec in specs.values())
        before, self._levels = self._levels, {}
        self._counts.limits.clear()
        for name, obj in levels.items():
            level = before.get(name) or PriorityLevel(name, self._clock)
            self._levels[name] = level
            limit = queuing = None
            if self._seats:
                seats = math.ceil(self._seats * _shares(specs[name]) / shares) if shares else 0
                self._counts.limits[name] = seats
                if obj["spec"]["type"] != "Exempt":
                    limit = seats
                    queuing = (specs[name].get("limitResponse") or {}).get("queuing")
            level.configure(limit, queuing)
        self._level_uids = {name: obj["metadata"].get("uid", "") for name, obj in levels.items()}
        schemas = self._by_name("FlowSchema", flow_schemas())
        known = (_schema_of(obj) for obj in schemas.values())
        self._schemas = sorted(
            (one for one in known if one.level in self._levels),
            key=lambda one: (one.precedence, one.name),
        )
        self._flows.clear()

    def _by_name(self, kind: str, initial: Iterator[JsonObject]) -> dict[str, JsonObject]:
        """The objects of a kind; those that must be there as they are initially, if they are not
        stored."""
        found = {metadata.name(obj): obj for obj in initial}
        found = {name: obj for name, obj in found.items() if name in (EXEMPT, CATCH_ALL)}
        stored = (one.object for one in self._stored)
        return found | {metadata.name(obj): obj for obj in stored if obj["kind"] == kind}


def waiting_seconds(seconds: float | None, usual: float) -> float:
    """How long a request that may take so long waits for a seat at most; None lasts, and waits as
    those whose time is the usual one."""
    return min((usual if seconds is None else seconds) / WAITING_PART, LONGEST_WAIT)


def _limits(obj: JsonObject) -> JsonObject:
    spec = obj["spec"]
    member = "exempt" if spec["type"] == "Exempt" else "limited"
    found: JsonObject = spec.get(member) or {}
    return found


def _shares(limits: JsonObject) -> int:
    shares: int = limits.get("nominalConcurrencyShares") or 0
    return shares
