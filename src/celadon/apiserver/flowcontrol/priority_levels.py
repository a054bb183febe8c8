"""The seats of a priority level, and how requests wait for them.

Nothing here waits or knows the time: who calls does.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from dataclasses import field
from typing import Final

from celadon.apiserver.flowcontrol.lent_seats import SeatDemand
from celadon.apiserver.flowcontrol.work_estimates import EXPECTED_SECONDS, ONE_SEAT, Estimate
from celadon.apiserver.http_messages import Header
from celadon.apiserver.operation.server_metrics import FlowCount, LevelUse
from celadon.kube import JsonObject
from celadon.records import dataclass

QUEUE_FULL: Final = "queue-full"
NO_SEAT: Final = "concurrency-limit"
TOO_LATE: Final = "time-out"
CANCELLED: Final = "cancelled"
"""Why a request is rejected, as metrics say it."""

MOST_RETRY_SECONDS: Final = 32


class Rejection(Exception):
    """A request that has no seat and no place in a queue."""


class Queue:
    """`executing` are the seats of its requests that execute. `turn_time` is how much service the
    queue has had when its next request begins; the least has the next turn."""

    __slots__ = ("executing", "turn_time", "waiting")

    def __init__(self) -> None:
        self.waiting: dict[Turn, None] = {}
        self.executing = 0
        self.turn_time = 0.0

    @property
    def length(self) -> int:
        """The seats of all its requests."""
        return self.executing + sum(one.seats for one in self.waiting)


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
    """The queues that a flow may use: drawn from all of them, by a hash of the flow."""
    number = int.from_bytes(hashlib.sha256(flow.encode()).digest()[:8], "little")
    deck, hand = list(range(queues)), []
    for _ in range(size):
        number, card = divmod(number, len(deck))
        hand.append(deck.pop(card))
    return tuple(hand)


class PriorityLevel:
    """`limit` is how many seats there are; None is no limit. Without `queue_count` what is
    too much is rejected. Whoever waits waits because there is no seat."""

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
        """What waits in a queue that is no more stays there until its turn comes."""
        queuing = queuing or {}
        self.queue_count = queuing.get("queues", 0)
        self.hand_size = queuing.get("handSize", 0)
        self.queue_length = queuing.get("queueLengthLimit", 0)
        self.queues += [Queue() for _ in range(len(self.queues), self.queue_count)]

    def admit(self, limit: int | None) -> None:
        """So many from now on."""
        self.limit = limit
        self._seat_waiting()
        self.note()

    def note(self) -> None:
        """Tell what is in use now."""
        self._note_at(self._clock())

    def _note_at(self, now: float) -> None:
        if self.use is not None:
            state = self.demand.seats, self.executing, self._requests, self._waiting
            self.use.become(now, state)

    @property
    def has_waiting(self) -> bool:
        """Whether somebody waits for a seat."""
        return bool(self._with_waiting)

    def hand(self, schema: str, distinguisher: str) -> tuple[int, ...]:
        """The queues of a flow."""
        return dealt_hand(f"{schema}\0{distinguisher}", self.queue_count, self.hand_size)

    def arrive(self, flow: Flow, estimate: Estimate = ONE_SEAT) -> Turn:
        """A request that executes or waits, until it leaves. Raises Rejection."""
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
        """The request has been answered: it keeps its final seats for the seconds that are given,
        until it leaves."""
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
        """The request is done, or does not wait any longer."""
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
        """A level whose limit is less than a request needs has one request at a time."""
        room = self.limit is None or self.executing + turn.seats <= self.limit
        return room or not self.executing

    def _queue(self, hand: tuple[int, ...]) -> Queue:
        """The shortest of those; one that is not in use begins now."""
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
        """Those whose turn it is, as long as there are seats."""
        while self._with_waiting:
            queue = min(self._with_waiting, key=lambda one: one.turn_time)
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


@dataclass(slots=True)
class Flow:
    """What is the same for requests that are alike: where they wait, what their answers say of it,
    and where they are counted. `turn` is that of all requests that nothing limits, `distinguisher`
    what tells the flow from others of its schema."""

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
