"""A clock that stands still until somebody moves it."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

from celadon.testing.handler_access import VirtualClock

BEGAN = datetime(2026, 1, 1, tzinfo=UTC)


def test_what_is_due_happens_in_its_order() -> None:
    clock, done = VirtualClock(BEGAN), list[str]()
    for seconds, name in ((5, "late"), (1, "first"), (1, "second"), (9, "never")):
        clock.call_later(seconds, done.append, name)
    assert clock.next_due() == 1.0
    clock.move_to(5)
    assert done == ["first", "second", "late"]
    assert clock.now() == BEGAN + timedelta(seconds=5)
    assert clock.next_due() == 9.0


def test_what_is_cancelled_does_not_happen() -> None:
    clock, done = VirtualClock(BEGAN), list[str]()
    timer = clock.call_later(1, done.append, "it")
    timer.cancel()
    assert timer.is_cancelled
    assert clock.next_due() is None
    clock.move_to(2)
    assert done == []


def test_what_follows_may_be_due_at_once() -> None:
    clock, done = VirtualClock(BEGAN), list[str]()
    clock.call_later(1, lambda: clock.call_later(0, done.append, "then"))
    clock.move_to(1)
    assert done == ["then"]


def test_it_does_not_go_back() -> None:
    clock = VirtualClock(BEGAN)
    clock.move_to(10)
    clock.move_to(3)
    assert clock.seconds == 10
