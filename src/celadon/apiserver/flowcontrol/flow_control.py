"""FlowSchemas and priority levels as they are stored, and what becomes of requests by them."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Iterator, Sequence
from typing import Final

from celadon.apiserver import bootstrap_objects
from celadon.apiserver.caches.store_informers import Mirror
from celadon.apiserver.flowcontrol import flow_dumps
from celadon.apiserver.flowcontrol.priority_levels import (
    CANCELLED,
    ONE_SEAT,
    PERIOD,
    TOO_LATE,
    Estimate,
    Flow,
    PriorityLevel,
    Rejection,
    SeatBounds,
    StoredKind,
    Turn,
    adjusted,
    estimate,
    most_seats,
    seat_bounds,
    watch_count,
)
from celadon.apiserver.http_messages import HttpAnswer, HttpRequest, plain_text
from celadon.apiserver.object_store import ROOT, ObjectStore, Undecodable
from celadon.apiserver.operation.request_limits import TooManyRequests, WatchCounts, is_long_running
from celadon.apiserver.operation.server_metrics import FlowCounts, LevelUse, SeatCounts
from celadon.apiserver.request_info import RequestInfo
from celadon.kube import JsonObject, User, metadata
from celadon.kube.well_known_values import FLOW_CONTROL_GROUP
from celadon.records import dataclass

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

SAMPLED: Final = 10
"""Objects of a resource whose sizes are taken for those of all."""

MOST_ADJUSTMENTS: Final = 300
"""Of seats, that are made up for: what was asked for earlier is forgotten."""

WAITING_PART: Final = 4
"""A request may wait for the fourth part of its time."""

# --- Classification ----------------------------------------------------------
#
# Which FlowSchema a request matches.


@dataclass(frozen=True, slots=True)
class FlowRule:
    """Holds one rule of a FlowSchema: whom it is about, and which requests. `namespaces` is what
    the names of users begin with who are service accounts of one."""

    users: frozenset[str]
    groups: frozenset[str]
    namespaces: tuple[str, ...]
    resources: Sequence[JsonObject]
    paths: Sequence[JsonObject]

    def matches(self, user: User, info: RequestInfo) -> bool:
        if not self._is_about(user):
            return False
        if info.is_resource:
            return any(_is_resource(resource, info) for resource in self.resources)
        return any(_is_path(path, info) for path in self.paths)

    # As `matchesSubject` of k8s.io/apiserver `pkg/util/flowcontrol/rule.go`, taken apart
    # beforehand: a rule is looked at for every request.
    def _is_about(self, user: User) -> bool:
        if user.name in self.users or ALL in self.users or ALL in self.groups:
            return True
        return not self.groups.isdisjoint(user.groups) or user.name.startswith(self.namespaces)


@dataclass(frozen=True, slots=True)
class FlowSchema:
    """One that is in force: its level exists. `distinguisher` is empty where all requests are one
    flow."""

    name: str
    uid: str
    precedence: int
    level: str
    distinguisher: str
    rules: Sequence[FlowRule]

    def matches(self, user: User, info: RequestInfo) -> bool:
        return any(rule.matches(user, info) for rule in self.rules)

    def distinguish(self, user: User, info: RequestInfo) -> str:
        """Return what tells the flow of a request from the others of this schema."""
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
        tuple(map(flow_rule, spec.get("rules") or ())),
    )


def flow_rule(rule: JsonObject) -> FlowRule:
    """Read a rule as it is stored."""
    users, groups, namespaces = set[str](), set[str](), list[str]()
    for subject in rule.get("subjects") or ():
        kind, account = subject.get("kind"), subject.get("serviceAccount")
        if kind == "User" and subject.get("user"):
            users.add(subject["user"]["name"])
        elif kind == "Group" and subject.get("group"):
            groups.add(subject["group"]["name"])
        elif kind == "ServiceAccount" and account:
            prefix = f"system:serviceaccount:{account['namespace']}:"
            if account["name"] == ALL:
                namespaces.append(prefix)
            else:
                users.add(f"{prefix}{account['name']}")
    return FlowRule(
        frozenset(users),
        frozenset(groups),
        tuple(namespaces),
        rule.get("resourceRules") or (),
        rule.get("nonResourceRules") or (),
    )


def _is_resource(rule: JsonObject, info: RequestInfo) -> bool:
    resource = f"{info.resource}/{info.subresource}" if info.subresource else info.resource
    if not (
        _has(rule, "verbs", info.verb)
        and _has(rule, "resources", resource)
        and _has(rule, "apiGroups", info.group)
    ):
        return False
    # A rule for all namespaces is none for what is in no namespace: that has a member of its own.
    if not info.namespace:
        return bool(rule.get("clusterScope"))
    return _has(rule, "namespaces", info.namespace)


def _has(rule: JsonObject, member: str, text: str) -> bool:
    listed = rule.get(member) or ()
    # A star counts only alone, which validation sees to.
    return text in listed or list(listed) == [ALL]


def _is_path(rule: JsonObject, info: RequestInfo) -> bool:
    """Return whether a rule is about a path: it covers all below it, whether it ends with `*` or
    not."""
    if not _has(rule, "verbs", info.verb):
        return False
    for path in rule.get("nonResourceURLs") or ():
        if path in (ALL, info.path):
            return True
        prefix = path.removesuffix(ALL)
        if info.path.startswith(prefix if prefix.endswith("/") else f"{prefix}/"):
            return True
    return False


# --- Flow control ------------------------------------------------------------
#
# The levels and schemas in the store, and what becomes of requests by them.


class FlowControl:
    """Lets requests wait until it is their turn. `seats` is how many requests the server answers at
    once; 0 is no limit. `watches` are those that are open."""

    def __init__(
        self,
        objects: ObjectStore,
        seats: int,
        clock: Callable[[], float],
        counts: FlowCounts,
        watches: WatchCounts | None = None,
    ) -> None:
        self._objects = objects
        self._watches = WatchCounts() if watches is None else watches
        self._most_seats: dict[str, int] = {}
        """Seats that one request may take, by level."""
        self._seats = seats
        self._clock = clock
        self._counts = counts
        # One for both kinds: half the cost.
        self._stored = Mirror(objects, f"{ROOT}/{FLOW_CONTROL_GROUP}/")
        self._schemas: Sequence[FlowSchema] = ()
        self._levels: dict[str, PriorityLevel] = {}
        self._level_uids: dict[str, str] = {}
        self._flows: dict[tuple[object, ...], Flow] = {}
        self._bounds: dict[str, SeatBounds] = {}
        self._next_adjustment = clock() + PERIOD
        self._ticking: asyncio.TimerHandle | None = None
        self._present: dict[flow_dumps.Present, None] = {}
        counts.refresh = self._refresh
        self._update()

    def classify(self, user: User, info: RequestInfo) -> Flow | None:
        """Return the flow of a request by what is stored now; None for connections and their like,
        which last as long as they want."""
        try:
            if self._stored.refresh():
                self._update()
        # Flow control must not be what makes a server useless whose store it cannot read.
        except Undecodable:  # stored by another release: what was in force stays so
            pass
        key: tuple[object, ...]
        if info.is_resource:
            # The name of the object is no part of the key: no rule looks at it, and there would be
            # a flow for each.
            kind = info.resource, info.subresource, info.namespace
            key = user.name, user.groups, info.verb, info.group, kind
        else:
            key = user.name, user.groups, info.verb, info.path
        flow = self._flows.get(key)
        if flow is None:
            # As `BasicLongRunningRequestCheck`; watches take a seat only until they have begun.
            if is_long_running(info) and info.verb != "watch":
                return None
            flow = self._classified(user, info)
            if len(self._flows) >= MOST_FLOWS:
                self._flows.clear()
            self._flows[key] = flow
        return flow

    def estimate(self, flow: Flow, request: HttpRequest, info: RequestInfo) -> Estimate:
        """Return the seats that a request of the flow takes."""
        watched = watch_count(info, self._watches)
        if watched is not None:
            self._counts.watches.observe(watched, flow.labels)
        # An exempt level has no seats to take, but its requests are counted like others.
        if flow.level.limit is None:
            self._counts.widths.observe(1, flow.labels)
            return ONE_SEAT
        most = self._most_seats.get(flow.level.name, 0)
        estimated = estimate(request, info, most, self._stored_kind, self._watches)
        self._counts.widths.observe(estimated.width, flow.labels)
        return estimated

    def _stored_kind(self, info: RequestInfo) -> StoredKind | None:
        count, size = self._objects.extent(info.group, info.resource, SAMPLED)
        return StoredKind(count, size) if count else None

    # As `Handle` of `apf_filter.go`, in two halves: what decides at once, and `seated` for who
    # waits.
    def arrive(self, flow: Flow, estimate: Estimate = ONE_SEAT) -> Turn:
        """Return a request that executes or waits, until it leaves its level. Raises
        TooManyRequests."""
        if self._clock() >= self._next_adjustment:
            self.adjust()
        try:
            turn = flow.level.arrive(flow, estimate)
        except Rejection as rejection:
            self._counts.wait_seconds.observe(0.0, (*flow.labels, "false"))
            raise self._rejected(flow, str(rejection)) from None
        if turn.queue is not None:  # upstream: it is in the queue for a moment, at least
            length = len(turn.queue.waiting) + turn.is_executing
            self._counts.queue_lengths.observe(length, flow.labels)
        if turn.is_executing and turn is not flow.turn:
            self._counts.wait_seconds.observe(0.0, (*flow.labels, "true"))
        return turn

    def appear(self, turn: Turn, user: User, info: RequestInfo) -> flow_dumps.Present:
        """Show the request on the debugging pages from here on."""
        now = time.time()
        present = flow_dumps.Present(
            turn.flow, turn, user, info, now, now if turn.is_executing else None
        )
        self._present[present] = None
        return present

    def disappear(self, present: flow_dumps.Present) -> None:
        """Show the request on the debugging pages no more."""
        self._present.pop(present, None)

    def page(self, request: HttpRequest) -> HttpAnswer | None:
        """Return one of the pages for debugging; None for other paths."""
        name = request.path.removeprefix(flow_dumps.PAGES)
        if name == "dump_priority_levels":
            dispatched, rejected = self._counts.dispatched(), self._counts.rejected.values
            text = flow_dumps.levels_dump(self._levels, self._present, dispatched, rejected)
        elif name == "dump_queues":
            text = flow_dumps.queues_dump(self._levels, self._present)
        elif name == "dump_requests":
            detailed = bool(request.first("includeRequestDetails"))
            text = flow_dumps.requests_dump(self._levels, self._present, detailed=detailed)
        else:
            return None
        return plain_text(200, text)

    def now(self) -> float:
        """Return when a request begins to execute, for `leave`."""
        return self._clock()

    def leave(self, turn: Turn, began: float | None, info: RequestInfo) -> None:
        """Note that a request is done, or (`began` is None) will never execute. What is told to
        those who watch keeps seats for some time."""
        level = turn.flow.level
        seconds = level.finish(turn)
        # Upstream's `AdditionalLatency`: the seats stay taken while the change goes out to the
        # watches.
        if seconds:
            asyncio.get_running_loop().call_later(seconds, level.leave, turn)
        else:
            level.leave(turn)
        if began is not None:
            kind = "watch" if info.verb == "watch" else "regular"
            seconds = self._clock() - began
            self._counts.execution_seconds.observe(seconds, (*turn.flow.labels, kind))

    async def seated(self, turn: Turn, seconds: float) -> None:
        """Wait until a request may execute, at most for so many seconds. Raises TooManyRequests."""
        loop, arrived = asyncio.get_running_loop(), self._clock()
        future: asyncio.Future[None] = loop.create_future()

        def wake() -> None:
            if not future.done():
                future.set_result(None)

        turn.wake = wake
        if self._ticking is None:
            self._tick()
        # Whoever is woken without executing has waited for too long.
        timer = loop.call_later(seconds, wake)
        try:
            await future
        except asyncio.CancelledError:
            self._counts.rejected.add((*turn.flow.labels, CANCELLED))
            raise
        finally:
            timer.cancel()
            # upstream: true of whoever was in a queue, whatever came of that
            waited = self._clock() - arrived
            self._counts.wait_seconds.observe(waited, (*turn.flow.labels, "true"))
        if not turn.is_executing:
            raise self._rejected(turn.flow, TOO_LATE)

    def _tick(self) -> None:
        """Lend seats in time while somebody waits, whoever comes meanwhile."""
        self.adjust()
        self._ticking = None
        if any(level.has_waiting for level in self._levels.values()):
            seconds = self._next_adjustment - self._clock()
            self._ticking = asyncio.get_running_loop().call_later(seconds, self._tick)

    def _refresh(self) -> None:
        """Bring the counts up to now, before somebody looks at them."""
        self.adjust()
        for level in self._levels.values():
            level.note()
            if level.use is not None:
                level.use.tell()

    # As `updateBorrowing`, which upstream calls every ten seconds; here it is made up for when
    # somebody comes, so that a server that idles sleeps.
    def adjust(self) -> None:
        """Lend seats as it was due until now. Since nothing has been asked for between what was
        missed, it can be made up for."""
        now = self._clock()
        missed = (now - self._next_adjustment) // PERIOD
        if missed > MOST_ADJUSTMENTS:
            self._next_adjustment += (missed - MOST_ADJUSTMENTS) * PERIOD
        while self._next_adjustment <= now:
            self._lend(self._next_adjustment)
            self._next_adjustment += PERIOD

    def _lend(self, now: float) -> None:
        if not self._bounds:
            return
        demands = {name: self._levels[name].demand for name in self._bounds}
        for value in demands.values():
            value.end_period(now)
        counts = self._counts.seats
        current = {name: counts[name].current for name in self._bounds}
        adjustment = adjusted(self._bounds, demands, current)
        self._counts.fraction = adjustment.fraction
        for name, demand in demands.items():
            count, bounds = counts[name], self._bounds[name]
            count.current, count.target = adjustment.seats[name], adjustment.targets[name]
            count.highest, count.average = demand.highest, demand.average
            count.deviation, count.smoothed = demand.deviation, demand.smoothed
            self._limit_use(self._levels[name], count.current)
            self._levels[name].admit(None if bounds.is_exempt else count.current)

    def _limit_use(self, level: PriorityLevel, seats: int) -> None:
        if level.use is not None:
            level.note()
            waiting = max(level.queue_length, 1) * max(level.queue_count, 1)
            level.use.limit(seats or max(1, round(self._seats / 10)), waiting)

    def _rejected(self, flow: Flow, reason: str) -> TooManyRequests:
        self._counts.rejected.add((*flow.labels, reason))
        drops = flow.level.drops
        drops.add(int(self._clock()))
        return TooManyRequests(drops.retry_after)

    def _classified(self, user: User, info: RequestInfo) -> Flow:
        schema = next(
            (schema for schema in self._schemas if schema.matches(user, info)),
            next(schema for schema in self._schemas if schema.name == CATCH_ALL),
        )
        level = self._levels[schema.level]
        hand: tuple[int, ...] = ()
        distinguisher = schema.distinguish(user, info)
        if level.limit is not None and level.queue_count:
            hand = level.hand(schema.name, distinguisher)
        uid = self._level_uids[schema.level]
        labels = level.name, schema.name
        headers = ((SCHEMA_HEADER, schema.uid), (LEVEL_HEADER, uid))
        return Flow(level, hand, headers, labels, self._counts.of(labels), distinguisher)

    def _update(self) -> None:
        """Take over the levels and schemas as they are stored now. Mandatory ones are there even
        where they are not stored (yet)."""
        levels = self._by_name("PriorityLevelConfiguration", bootstrap_objects.priority_levels())
        specs = {name: _limits(obj) for name, obj in levels.items()}
        shares = sum(_shares(spec) for spec in specs.values())
        before, self._levels, self._bounds = self._levels, {}, {}
        counted, self._counts.seats = self._counts.seats, {}
        for name, obj in levels.items():
            level = before.get(name) or self._new_level(name)
            self._levels[name] = level
            queuing = (specs[name].get("limitResponse") or {}).get("queuing")
            level.configure(queuing)
            if not self._seats:
                level.admit(None)
                continue
            share = _shares(specs[name]) / shares if shares else 0.0
            exempt = obj["spec"]["type"] == "Exempt"
            bounds = seat_bounds(specs[name], share, self._seats, is_exempt=exempt)
            self._bounds[name] = bounds
            # What a level has borrowed stays with it when its configuration is written anew.
            count = counted.get(name) or SeatCounts(current=bounds.initial)
            count.nominal, count.least, count.most = bounds.nominal, bounds.least, bounds.most
            self._counts.seats[name] = count
            self._most_seats[name] = most_seats(bounds.nominal, queuing)
        self._lend(self._clock())
        self._level_uids = {name: obj["metadata"].get("uid", "") for name, obj in levels.items()}
        schemas = self._by_name("FlowSchema", bootstrap_objects.flow_schemas())
        known_schemas = (_schema_of(schema) for schema in schemas.values())
        self._schemas = sorted(
            (schema for schema in known_schemas if schema.level in self._levels),
            key=lambda schema: (schema.precedence, schema.name),
        )
        self._flows.clear()

    def _new_level(self, name: str) -> PriorityLevel:
        now = self._clock()
        return PriorityLevel(name, self._clock, LevelUse(self._counts, name, now))

    def _by_name(self, kind: str, initial: Iterator[JsonObject]) -> dict[str, JsonObject]:
        """Return the objects of a kind; those that must be there as they are initially, if they are
        not stored."""
        result = {metadata.name(obj): obj for obj in initial}
        # Only the mandatory ones: what an administrator deletes of the others stays deleted for
        # this server.
        result = {name: obj for name, obj in result.items() if name in (EXEMPT, CATCH_ALL)}
        stored = (item.object for item in self._stored)
        return result | {metadata.name(obj): obj for obj in stored if obj["kind"] == kind}


def waiting_seconds(seconds: float | None, usual: float) -> float:
    """Return how long a request that may take so long waits for a seat at most. One that lasts
    (None) waits as those whose time is the usual one."""
    # A request that has waited for most of its time would be given up before it is answered, and
    # its work would be for nothing.
    return min((usual if seconds is None else seconds) / WAITING_PART, LONGEST_WAIT)


def _limits(obj: JsonObject) -> JsonObject:
    spec = obj["spec"]
    member = "exempt" if spec["type"] == "Exempt" else "limited"
    result: JsonObject = spec.get(member) or {}
    return result


def _shares(limits: JsonObject) -> int:
    shares: int = limits.get("nominalConcurrencyShares") or 0
    return shares
