"""The seats and queues of a priority level."""

from __future__ import annotations

import pytest

from celadon.apiserver.flowcontrol.priority_levels import (
    ONE_SEAT,
    Drops,
    Estimate,
    Flow,
    PriorityLevel,
    Rejection,
    Turn,
    dealt_hand,
)
from celadon.apiserver.operation.server_metrics import FlowCount


def test_a_hand_is_dealt_from_all_queues_without_repeating() -> None:
    hands = {dealt_hand(f"flow {number}", 8, 3) for number in range(10_000)}
    assert all(len(set(hand)) == 3 for hand in hands)
    assert len(hands) == 8 * 7 * 6, "every hand comes up"
    assert dealt_hand("flow", 64, 6) == dealt_hand("flow", 64, 6)


class Clock:
    """Stands still until the test moves it."""

    def __init__(self) -> None:
        self.now = 0.0

    def __call__(self) -> float:
        return self.now


class Level:
    """A level with named flows; `order` says who got a seat."""

    def __init__(self, limit: int | None, queues: int = 0, length: int = 50) -> None:
        self.clock = Clock()
        self.level = PriorityLevel("level", self.clock)
        queuing = {"queues": queues, "handSize": 1, "queueLengthLimit": length}
        self.level.configure(queuing if queues else None)
        self.level.admit(limit)
        self.order: list[str] = []
        self.flows: dict[str, Flow] = {}

    def arrive(self, name: str, queue: int = 0, estimate: Estimate = ONE_SEAT) -> Turn:
        hand = (queue,) if self.level.queue_count else ()
        count = self.flows[name].count if name in self.flows else FlowCount()
        flow = Flow(self.level, hand, (), ("level", name), count)
        self.flows[name] = flow
        turn = self.level.arrive(flow, estimate)
        turn.wake = lambda: self.order.append(name)
        return turn


def test_what_has_no_seat_is_rejected_where_nothing_queues() -> None:
    level = Level(1)
    first = level.arrive("a")
    with pytest.raises(Rejection, match="concurrency-limit"):
        level.arrive("b")
    level.level.leave(first)
    assert level.arrive("b").is_executing


def test_what_is_too_much_for_a_queue_is_rejected() -> None:
    level = Level(1, queues=2, length=1)
    level.arrive("a")
    assert not level.arrive("a").is_executing
    with pytest.raises(Rejection, match="queue-full"):
        level.arrive("a")
    assert not level.arrive("b", queue=1).is_executing, "the other queue has room"


def test_who_waits_longest_in_a_queue_is_next() -> None:
    level = Level(1, queues=1)
    running = level.arrive("a")
    waiting = [level.arrive(name) for name in ("b", "c", "d")]
    level.level.leave(waiting[1])
    level.level.leave(running)
    assert level.order == ["b"]
    level.level.leave(waiting[0])
    assert level.order == ["b", "d"]
    assert level.flows["c"].count.waiting == 0


def test_who_asks_for_much_does_not_delay_others() -> None:
    level = Level(1, queues=2)
    turns = [level.arrive("greedy") for _ in range(20)]
    turns.append(level.arrive("modest", queue=1))
    level.level.leave(turns[0])
    level.level.leave(turns[1])
    assert "modest" in level.order


def test_queues_take_turns_by_the_time_that_they_had() -> None:
    level = Level(1, queues=2)
    turns = [level.arrive("slow")]
    for _ in range(10):
        turns.append(level.arrive("slow"))
        turns.append(level.arrive("quick", queue=1))
    for _ in range(11):
        turn = next(one for one in turns if one.is_executing)
        turns.remove(turn)
        level.clock.now += 1.0 if turn.queue is turns[-2].queue else 0.1
        level.level.leave(turn)
    assert level.order[:11].count("quick") == 10


def test_a_wide_request_waits_for_all_its_seats_and_is_not_overtaken() -> None:
    level = Level(3, queues=2)
    narrow = [level.arrive("narrow") for _ in range(3)]
    wide = level.arrive("wide", queue=1, estimate=Estimate(3))
    assert level.level.demand.seats == 6
    level.clock.now += 1.0
    level.level.leave(narrow[0])
    late = level.arrive("late")
    assert level.order == []
    assert not late.is_executing
    level.level.leave(narrow[1])
    level.level.leave(narrow[2])
    assert level.order == ["wide"]
    assert (level.level.executing, level.flows["wide"].count.seats) == (3, 3)
    level.level.leave(wide)
    assert level.order == ["wide", "late"]
    assert (level.level.executing, level.flows["wide"].count.seats) == (1, 0)


def test_a_request_that_is_wider_than_its_level_has_all_of_it() -> None:
    level = Level(2, queues=1)
    assert level.arrive("wide", estimate=Estimate(10)).is_executing
    assert not level.arrive("narrow").is_executing


def test_final_seats_are_kept_after_the_answer() -> None:
    level = Level(4, queues=1)
    told = level.arrive("told", estimate=Estimate(1, 3, 0.01))
    assert level.level.executing == 3
    wide = level.arrive("wide", estimate=Estimate(2))
    assert level.level.finish(told) == 0.01
    assert not wide.is_executing
    level.level.leave(told)
    assert level.order == ["wide"]
    assert level.level.finish(wide) == 0.0
    level.level.leave(wide)
    assert level.level.executing == level.level.demand.seats == 0


def test_a_level_without_seats_has_one_request_at_a_time() -> None:
    level = Level(0, queues=1)
    assert level.arrive("a").is_executing
    assert not level.arrive("a").is_executing


def test_who_waits_gets_the_seats_that_a_change_gives() -> None:
    level = Level(1, queues=4)
    level.arrive("a")
    for queue in range(4):
        level.arrive(str(queue), queue)
    level.level.configure({"queues": 1, "handSize": 1, "queueLengthLimit": 1})
    level.level.admit(3)
    assert len(level.order) == 2
    level.level.admit(None)
    assert len(level.order) == 4
    assert level.level.executing == 5


def test_clients_are_told_to_come_back_later_the_more_are_rejected() -> None:
    drops = Drops()
    seen = []
    for second in range(10, 20):
        for _ in range(40):
            drops.add(second)
        seen.append(drops.retry_after)
    assert seen == [1, 2, 2, 4, 4, 4, 4, 8, 8, 8]
    for second in range(100, 110):
        drops.add(second)
    assert drops.retry_after < 8
