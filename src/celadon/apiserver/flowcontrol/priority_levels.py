"""The seats of a priority level: how many a request takes, how requests wait for them, and how
levels lend them to each other.

Nothing here waits or knows the time: who calls does.
"""

from __future__ import annotations

import hashlib
import math
from collections.abc import Callable, Mapping, Sequence
from typing import Final

from celadon.apiserver.http_messages import Header, HttpRequest
from celadon.apiserver.operation.request_limits import WatchCounts
from celadon.apiserver.operation.server_metrics import FlowCount, LevelUse
from celadon.apiserver.request_info import RequestInfo
from celadon.kube import JsonObject
from celadon.kube.releases import is_since
from celadon.records import dataclass, field

# --- Seats of a request ------------------------------------------------------
#
# How many seats a request takes, and for how long after its answer.
#
# A list takes as many as there is to be read for it, by the number and the size of the objects
# that are stored; so does a watch that begins with a list. A write takes one; but whoever
# watches is told of it afterwards, which takes seats for some milliseconds more. As
# k8s.io/apiserver `pkg/util/flowcontrol/request` and `watch_tracker.go`.

_MOST_OF_A_WRITE: Final = 10
_MOST_OF_A_LIST: Final = 100
_OBJECTS_OF_A_SEAT: Final = 100
_BYTES_OF_A_SEAT: Final = 100_000
_STREAMED_BYTES: Final = 1_000_000
"""What a list that is sent piece by piece holds at once, at most."""

_LARGEST_OBJECT: Final = 1_500_000
"""Bytes; where it is not known how large objects are."""

EXPECTED_SECONDS: Final = 0.003
"""What a request is taken to last until it has ended."""

_WATCHES_OF_A_SEAT: Final = 10
_EVENT_SECONDS: Final = 0.005
"""For so long after a write the watches of a seat keep it busy."""

_PART_OF_A_LEVEL: Final = 0.15
"""Of the seats of a level that one request may take."""

_BY_SIZE_SINCE: Final = "1.34"
"""The release that looks at the size of objects (`SizeBasedListCostEstimate`)."""

_CONSISTENT_SINCE: Final = "1.31"
"""The release whose cache answers lists of the newest state (`ConsistentListFromCache`), and pages
that need not be of one revision."""

_WATCHES_FROM_NOWHERE_SINCE: Final = "1.35"
"""The release that charges watches without a revision for the list that they begin with."""

_MUTATING: Final = frozenset({"create", "update", "patch", "delete"})


@dataclass(frozen=True, slots=True)
class Estimate:
    """Seats while a request executes, then others for some seconds."""

    seats: int = 1
    final_seats: int = 0
    final_seconds: float = 0.0

    @property
    def width(self) -> int:
        """Return the seats that have to be free before the request begins."""
        return max(self.seats, self.final_seats)

    @property
    def seat_seconds(self) -> float:
        """Return the work that it is taken to be."""
        return EXPECTED_SECONDS * self.seats + self.final_seconds * self.final_seats


ONE_SEAT: Final = Estimate()


@dataclass(frozen=True, slots=True)
class StoredKind:
    """Says how many objects of a resource there are, and how large they are in the mean."""

    count: int
    mean_bytes: int = 0


def most_seats(nominal: int, queuing: JsonObject | None) -> int:
    """Return how many seats one request of a level may take; 0 where that is as for all."""
    if not queuing:
        return 0
    hand = queuing.get("handSize") or 1
    return max(1, min(math.ceil(nominal * _PART_OF_A_LEVEL), nominal // hand))


# --- Reading -----------------------------------------------------------------


def _list_seats(request: HttpRequest, info: RequestInfo, stored: StoredKind) -> int:
    limit = _limit(request.first("limit"))
    is_cached = info.verb == "watch" or _is_cached(request, limit)
    limited = min(limit, stored.count) if limit > 0 else stored.count
    is_selective = bool(request.first("fieldSelector") or request.first("labelSelector"))
    if not is_since(_BY_SIZE_SINCE):
        if info.name:
            read = 1
        elif is_cached:
            read = stored.count
        else:
            read = stored.count + limited if is_selective else 2 * limited
        return math.ceil(read / _OBJECTS_OF_A_SEAT)
    if info.name:
        read = 1
    else:
        chosen = is_selective and not is_cached
        read = max(limited, stored.count // 2) if chosen else limited
    size = read * (stored.mean_bytes or (_LARGEST_OBJECT if stored.count else 0))
    return math.ceil((min(size, _STREAMED_BYTES) if is_cached else size) / _BYTES_OF_A_SEAT)


def _is_cached(request: HttpRequest, limit: int) -> bool:
    """Tell whether upstream answers a list from its watch cache."""
    version, match = request.first("resourceVersion"), request.first("resourceVersionMatch")
    if not is_since(_CONSISTENT_SINCE) and (not version or (limit and version != "0")):
        return False
    if match:
        return match == "NotOlderThan"
    return not (request.first("continue") or (limit and version not in ("", "0")))


def _limit(text: str) -> int:
    """Read the limit of a list; what is no number counts as none, and is refused elsewhere."""
    return int(text) if text.isascii() and text.isdecimal() and len(text) < 19 else 0


def _starts_with_list(request: HttpRequest) -> bool:
    """Tell whether a watch starts with a list, as far as it is charged for that."""
    if request.first("sendInitialEvents") in ("true", "1"):
        return True
    from_nowhere = request.first("resourceVersion") in ("", "0")
    return from_nowhere and is_since(_WATCHES_FROM_NOWHERE_SINCE)


def read_estimate(
    request: HttpRequest, info: RequestInfo, stored: StoredKind | None, most: int
) -> Estimate:
    """Estimate the seats of a list or a watch. `stored` is None for what other servers serve,
    `most` is 0 where the bound is that of all."""
    if stored is None or (info.verb == "watch" and not _starts_with_list(request)):
        return ONE_SEAT
    largest = _MOST_OF_A_LIST if is_since(_BY_SIZE_SINCE) else _MOST_OF_A_WRITE
    bound = min(most or largest, largest)
    return Estimate(min(max(_list_seats(request, info, stored), 1), bound))


# --- Writing -----------------------------------------------------------------


def write_estimate(info: RequestInfo, watches: int, most: int) -> Estimate:
    """Estimate the seats of a request that changes something that so many watch."""
    if _is_for_a_token(info) or watches < _WATCHES_OF_A_SEAT:
        return ONE_SEAT
    wide = math.ceil(watches / _WATCHES_OF_A_SEAT)
    narrow = min(wide, min(most or _MOST_OF_A_WRITE, _MOST_OF_A_WRITE))
    return Estimate(1, narrow, _EVENT_SECONDS * wide / narrow)


def watch_count(info: RequestInfo, watches: WatchCounts) -> int | None:
    """Return how many watches are told of what a request changes; None for a request of which no
    watch is told."""
    if not info.is_resource or info.verb not in _MUTATING or _is_for_a_token(info):
        return None
    return watches.interested(info)


def _is_for_a_token(info: RequestInfo) -> bool:
    return (info.resource, info.subresource) == ("serviceaccounts", "token")


Stored = Callable[[RequestInfo], StoredKind | None]
"""Knows how much there is of a resource; None of what is not stored here."""


def estimate(
    request: HttpRequest, info: RequestInfo, most: int, stored: Stored, watches: WatchCounts
) -> Estimate:
    """Return the seats of a request, of which a level gives it so many at most (0: as for all)."""
    if not info.is_resource:
        return ONE_SEAT
    if info.verb in ("list", "watch"):
        return read_estimate(request, info, stored(info), most)
    if info.verb in _MUTATING:
        return write_estimate(info, watches.interested(info), most)
    return ONE_SEAT


# --- Seats that are lent -----------------------------------------------------
#
# How priority levels lend each other seats that they do not need.
#
# A level has nominal seats by its shares. It lends a part of them, and borrows up to a limit.
# Every ten seconds each gets as many as it could have used, by the average of the seats that were
# asked of it; where that is more or less than there are, all get the same fraction of it, within
# their bounds. Arithmetic only: what time it is says who calls. As k8s.io/apiserver
# `pkg/util/flowcontrol`, `apf_controller.go`, `conc_alloc.go` and `fairqueuing/integrator.go`.

PERIOD: Final = 10.0
"""Seconds from one adjustment to the next."""

_SMOOTHING: Final = 0.977
"""So slowly what was needed is forgotten: to a half within five minutes."""

_LEAST_TARGET: Final = 0.001
_NEGLIGIBLE: Final = 1e-7


def _rounded(number: float) -> int:
    """Round to the nearest integer, a half upwards; Python's `round` would go to the even one."""
    return math.floor(number + 0.5)


# --- Bounds of levels --------------------------------------------------------


@dataclass(frozen=True, slots=True)
class SeatBounds:
    """The nominal seats of a level, and how few and how many it may have instead."""

    nominal: int
    least: int
    most: int
    is_exempt: bool = False

    @property
    def initial(self) -> int:
        """Return the seats of a level before anything is known of what it needs."""
        return self.nominal - (self.nominal - self.least) // 2


def seat_bounds(limits: JsonObject, share: float, seats: int, *, is_exempt: bool) -> SeatBounds:
    """Return the bounds that follow from a level's limits and its share of all seats of a
    server."""
    nominal = math.ceil(seats * share)
    lent = _rounded(nominal * (limits.get("lendablePercent") or 0) / 100)
    borrowing = limits.get("borrowingLimitPercent")
    borrowed = seats if borrowing is None else _rounded(nominal * borrowing / 100)
    return SeatBounds(nominal, nominal - lent, nominal + borrowed, is_exempt)


# --- What is asked of a level ------------------------------------------------


class SeatDemand:
    """The seats that one level could use: of what executes there and what waits. `highest` to
    `smoothed` are those of the last period."""

    __slots__ = ("_changed", "_integral", "_most", "_squares", "_started", "average", "deviation",
                 "highest", "seats", "smoothed")  # fmt: skip

    def __init__(self, now: float) -> None:
        self.seats = self._most = 0
        """How many are asked for now, and were at most."""
        self._changed = self._started = now
        self._integral = self._squares = 0.0
        self.highest = 0
        self.average = self.deviation = self.smoothed = 0.0

    def add(self, seats: int, now: float) -> None:
        """Note that so many seats more, or less, are asked for from now on."""
        had, seconds = self.seats, now - self._changed
        self._changed = now
        self._integral += seconds * had
        self._squares += seconds * had * had
        self.seats = had = had + seats
        if had > self._most:
            self._most = had

    def end_period(self, now: float) -> None:
        """End a period, and begin the next one."""
        self.add(0, now)
        seconds = now - self._started
        self.highest = self._most
        if seconds > 0:
            self.average = self._integral / seconds
            variance = self._squares / seconds - self.average * self.average
            self.deviation = math.sqrt(max(variance, 0.0))
            envelope = self.average + self.deviation
            smoothed = _SMOOTHING * self.smoothed + (1 - _SMOOTHING) * envelope
            self.smoothed = max(envelope, smoothed)
        self._started, self._most = now, self.seats
        self._integral = self._squares = 0.0


# --- Dealing out seats -------------------------------------------------------


@dataclass(frozen=True, slots=True)
class SeatTarget:
    """Holds what a level should have, and its bounds."""

    target: float
    least: float
    most: float


def fair_allocation(total: int, classes: Sequence[SeatTarget]) -> tuple[list[float], float] | None:
    """Return what each level gets, so that it is `total` together: the same fraction of its target,
    or a bound; and the fraction. Returns None where the bounds do not allow it."""
    targets = [max(item.target, _LEAST_TARGET) for item in classes]
    low, high = sum(item.least for item in classes), sum(item.most for item in classes)
    if low - total > _NEGLIGIBLE or total - high > _NEGLIGIBLE:
        return None
    if total == 0:
        return [0.0] * len(classes), 0.0
    lows = [item.least / target for item, target in zip(classes, targets, strict=True)]
    highs = [item.most / target for item, target in zip(classes, targets, strict=True)]
    if low - total > -_NEGLIGIBLE:
        return [item.least for item in classes], min(lows)
    if total - high > -_NEGLIGIBLE:
        return [item.most for item in classes], max(highs)
    turns = [(bound, target) for bound, target in zip(lows, targets, strict=True)]
    turns += [(bound, -target) for bound, target in zip(highs, targets, strict=True)]
    fraction = _fraction(total, low, sorted(turns))
    result = [
        max(item.least, min(item.most, fraction * target))
        for item, target in zip(classes, targets, strict=True)
    ]
    return result, fraction


def _fraction(total: float, low: float, turns: Sequence[tuple[float, float]]) -> float:
    """Return the fraction with which all get `total`. Where a lower bound does not hold any more, a
    class grows with the fraction, by its target; from its upper bound on it does not."""
    fraction, dealt, grows = turns[0][0], low, 0.0
    for bound, change in turns:
        more = (bound - fraction) * grows
        if grows > 0 and dealt + more >= total:
            break
        dealt, fraction = dealt + more, bound
        grows += change
    return fraction + (total - dealt) / grows if grows > 0 else fraction


@dataclass(frozen=True, slots=True)
class Adjustment:
    """Holds what came of a period. `seats` and `targets` are by level."""

    seats: Mapping[str, int]
    targets: Mapping[str, float]
    fraction: float


def adjusted(
    bounds: Mapping[str, SeatBounds], demands: Mapping[str, SeatDemand], current: Mapping[str, int]
) -> Adjustment:
    """Return the seats of each level for the next period. Those that nothing limits take what they
    take, and the others share what is left, if that is little."""
    total = sum(bound.nominal for bound in bounds.values())
    needed = {
        name: max(
            bound.least,
            demands[name].highest if bound.is_exempt else min(bound.nominal, demands[name].highest),
        )
        for name, bound in bounds.items()
    }
    limited = [name for name, bound in bounds.items() if not bound.is_exempt]
    left = total - sum(needed[name] for name, bound in bounds.items() if bound.is_exempt)
    least = sum(bounds[name].least for name in limited)
    enough = sum(needed[name] for name in limited)
    targets = {name: max(float(needed[name]), demands[name].smoothed) for name in bounds}
    seats, fraction = dict(needed), 0.0
    if left <= least:
        seats |= {name: bounds[name].least for name in limited}
    elif left <= enough:
        part = (left - least) / (enough - least)
        for name in limited:
            low = bounds[name].least
            seats[name] = low + _rounded((needed[name] - low) * part)
    else:
        classes = [SeatTarget(targets[name], needed[name], bounds[name].most) for name in limited]
        allocation = fair_allocation(total, classes)
        if allocation is None:
            seats |= {name: current[name] for name in limited}
        else:
            fraction = allocation[1]
            dealt = zip(limited, allocation[0], strict=True)
            seats |= {name: _rounded(number) for name, number in dealt}
    return Adjustment(seats, targets, fraction)


QUEUE_FULL: Final = "queue-full"
NO_SEAT: Final = "concurrency-limit"
TOO_LATE: Final = "time-out"
CANCELLED: Final = "cancelled"
"""Why a request is rejected, as metrics say it."""

MOST_RETRY_SECONDS: Final = 32


class Rejection(Exception):
    """A request that has no seat and no place in a queue."""


class Queue:
    """Holds the requests of a flow, or of several, that wait. `executing` are the seats of its
    requests that execute. `turn_time` is how much service the queue has had when its next request
    begins; the least has the next turn."""

    __slots__ = ("executing", "turn_time", "waiting")

    def __init__(self) -> None:
        self.waiting: dict[Turn, None] = {}
        self.executing = 0
        self.turn_time = 0.0

    @property
    def length(self) -> int:
        """Return the seats of all its requests."""
        return self.executing + sum(waiter.seats for waiter in self.waiting)


class Turn:
    """A request at its level, with the seats that it takes: `seats` are those that it has or waits
    for. `wake` is called when one that waits gets its seats."""

    __slots__ = ("began", "estimate", "flow", "is_executing", "queue", "seats", "wake")

    def __init__(self, flow: Flow, estimate: Estimate) -> None:
        self.flow = flow
        self.estimate = estimate
        self.seats = estimate.width
        self.queue: Queue | None = None
        self.is_executing = False
        self.began = 0.0
        self.wake: Callable[[], None] | None = None


def dealt_hand(flow: str, queues: int, size: int) -> tuple[int, ...]:
    """Return the queues that a flow may use: drawn from all of them, by a hash of the flow."""
    number = int.from_bytes(hashlib.sha256(flow.encode()).digest()[:8], "little")
    deck, hand = list(range(queues)), []
    for _ in range(size):
        number, card = divmod(number, len(deck))
        hand.append(deck.pop(card))
    return tuple(hand)


class PriorityLevel:
    """Divides seats among the queues of a level. `limit` is how many seats there are; None is no
    limit. Without `queue_count` what is too much is rejected. Whoever waits waits because there is
    no seat."""

    def __init__(self, name: str, clock: Callable[[], float], use: LevelUse | None = None) -> None:
        """`use` is told of all that changes."""
        self.name = name
        self.use = use
        self._requests = self._waiting = 0
        self.limit: int | None = None
        self.queue_count = 0
        self.hand_size = 0
        self.queue_length = 0
        self.executing = 0
        self.drops = Drops()
        self.demand = SeatDemand(clock())
        self._clock = clock
        self.queues: list[Queue] = []
        self._with_waiting: dict[Queue, None] = {}
        self._turn_time = 0.0

    def configure(self, queuing: JsonObject | None) -> None:
        """Take over the settings of queues. Whatever waits in a queue that is no more stays there
        until its turn comes."""
        queuing = queuing or {}
        self.queue_count = queuing.get("queues", 0)
        self.hand_size = queuing.get("handSize", 0)
        self.queue_length = queuing.get("queueLengthLimit", 0)
        self.queues += [Queue() for _ in range(len(self.queues), self.queue_count)]

    def admit(self, limit: int | None) -> None:
        """Let the level have so many seats from now on."""
        self.limit = limit
        self._seat_waiting()
        self.note()

    def note(self) -> None:
        """Note the seats that are in use now."""
        self._note_at(self._clock())

    def _note_at(self, now: float) -> None:
        if self.use is not None:
            state = self.demand.seats, self.executing, self._requests, self._waiting
            self.use.become(now, state)

    @property
    def has_seat(self) -> bool:
        """Tell whether a request that takes one seat would execute at once."""
        if self.limit is None:
            return True
        return not self._with_waiting and self.executing < self.limit

    @property
    def has_waiting(self) -> bool:
        """Tell whether somebody waits for a seat."""
        return bool(self._with_waiting)

    def hand(self, schema: str, distinguisher: str) -> tuple[int, ...]:
        """Return the queues of a flow."""
        return dealt_hand(f"{schema}\0{distinguisher}", self.queue_count, self.hand_size)

    def arrive(self, flow: Flow, estimate: Estimate = ONE_SEAT) -> Turn:
        """Return a request that executes or waits, until it leaves. Raises Rejection."""
        if self.limit is None:
            now = self._clock()
            self.demand.add(1, now)
            self.executing += 1
            flow.count.executing += 1
            flow.count.dispatched += 1
            flow.count.seats += 1
            self._requests += 1
            self._note_at(now)
            return flow.turn
        turn = Turn(flow, estimate)
        has_seat = not self._with_waiting and self._has_room(turn)
        if flow.hand:
            turn.queue = queue = self._queue(flow.hand)
            if not has_seat:
                if len(queue.waiting) >= self.queue_length:
                    raise Rejection(QUEUE_FULL)
                self.demand.add(turn.seats, self._clock())
                queue.waiting[turn] = None
                self._with_waiting.setdefault(queue)
                flow.count.waiting += 1
                flow.count.waiting_seats += turn.seats
                self._waiting += 1
                self.note()
                return turn
        elif not has_seat:
            raise Rejection(NO_SEAT)
        now = self._clock()
        self.demand.add(turn.seats, now)
        self._execute(turn)
        self._note_at(now)
        return turn

    def finish(self, turn: Turn) -> float:
        """Note that a request has been answered: it keeps its final seats for the seconds that are
        given, until it leaves."""
        estimate = turn.estimate
        if not turn.is_executing or not estimate.final_seats or turn is turn.flow.turn:
            return 0.0
        self._give_back(turn, turn.seats - estimate.final_seats)
        return estimate.final_seconds

    def _give_back(self, turn: Turn, seats: int) -> None:
        turn.seats -= seats
        self.demand.add(-seats, self._clock())
        self.executing -= seats
        if turn.queue is not None:
            turn.queue.executing -= seats
        if self._with_waiting:
            self._seat_waiting()

    def leave(self, turn: Turn) -> None:
        """Note that a request is done, or does not wait any longer."""
        count, queue = turn.flow.count, turn.queue
        if turn is turn.flow.turn:
            now = self._clock()
            self.demand.add(-1, now)
            self.executing -= 1
            self._requests -= 1
            count.executing -= 1
            count.seats -= 1
            self._note_at(now)
            return
        if turn.is_executing:
            self._requests -= 1
            count.executing -= 1
            count.seats -= turn.estimate.width
            if queue is not None:
                estimate = turn.estimate
                lasted = self._clock() - turn.began - estimate.final_seconds
                queue.turn_time += (lasted - EXPECTED_SECONDS) * estimate.seats
            self._give_back(turn, turn.seats)
        elif queue is not None and turn in queue.waiting:
            self.demand.add(-turn.seats, self._clock())
            self._waiting -= 1
            count.waiting -= 1
            count.waiting_seats -= turn.seats
            del queue.waiting[turn]
            if not queue.waiting:
                del self._with_waiting[queue]
        self.note()

    def _has_room(self, turn: Turn) -> bool:
        """Return whether there is room for a request. A level whose limit is less than it needs has
        one request at a time."""
        room = self.limit is None or self.executing + turn.seats <= self.limit
        return room or not self.executing

    def _queue(self, hand: tuple[int, ...]) -> Queue:
        """Return the shortest of those queues; one that is not in use begins now."""
        queue = self.queues[hand[0]]
        if self.executing:
            shortest = queue.length
            for index in hand:
                other = self.queues[index]
                length = other.length
                if length < shortest:
                    queue, shortest = other, length
        if not queue.executing and not queue.waiting:
            queue.turn_time = self._turn_time
        return queue

    def _execute(self, turn: Turn) -> None:
        self.executing += turn.seats
        count, queue = turn.flow.count, turn.queue
        self._requests += 1
        count.executing += 1
        count.seats += turn.seats
        count.dispatched += 1
        turn.is_executing = True
        if queue is not None:
            queue.executing += turn.seats
            turn.began = self._clock()
            self._turn_time = max(self._turn_time, queue.turn_time)
            queue.turn_time += turn.estimate.seat_seconds

    def _seat_waiting(self) -> None:
        """Let those execute whose turn it is, as long as there are seats."""
        while self._with_waiting:
            queue = min(self._with_waiting, key=lambda queue: queue.turn_time)
            turn = next(iter(queue.waiting))
            if not self._has_room(turn):  # a wide one is not overtaken by narrow ones
                break
            del queue.waiting[turn], self._with_waiting[queue]
            if queue.waiting:  # behind those that have had as much
                self._with_waiting[queue] = None
            self._waiting -= 1
            turn.flow.count.waiting -= 1
            turn.flow.count.waiting_seats -= turn.seats
            self._execute(turn)
            if turn.wake is not None:
                turn.wake()


class Drops:
    """Counts how many requests were rejected lately, and says after how many seconds clients should
    come back for that: twice as many when it is three for each of these seconds, one less when it
    is less than one."""

    def __init__(self) -> None:
        self.retry_after = 1
        self._history: list[tuple[int, int]] = []
        self._second = self._count = 0
        self._raised = -MOST_RETRY_SECONDS

    def add(self, second: int) -> None:
        """Note that a request was rejected at that time."""
        if second == self._second:
            self._count += 1
            return
        most = min(2 * self.retry_after, MOST_RETRY_SECONDS)
        self._history.append((self._second, self._count))
        self._history = [
            (begun, count) for begun, count in self._history if self._second - begun <= most
        ]
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


@dataclass(slots=True)
class Flow:
    """Holds what is the same for requests that are alike: where they wait, what their answers say
    of it, and where they are counted. `turn` is that of all requests that nothing limits,
    `distinguisher` what tells the flow from others of its schema."""

    level: PriorityLevel
    hand: tuple[int, ...]
    headers: tuple[Header, ...]
    labels: tuple[str, str]
    count: FlowCount
    distinguisher: str = ""
    turn: Turn = field(init=False)

    def __post_init__(self) -> None:
        self.turn = Turn(self, ONE_SEAT)
        self.turn.is_executing = True
