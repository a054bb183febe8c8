"""Works in threads: whose turn it is, and how they end."""

from __future__ import annotations

import asyncio
import gc
import sys
import threading
import time
import weakref
from collections.abc import Callable
from functools import partial
from typing import Any

import pytest

from celadon.apiserver import workers as worker_threads
from celadon.apiserver.workers import TooMuchWork, Workers, is_worker, on_loop, soon_on, waited_for
from celadon.kube import StatusError, status


def test_the_loop_goes_on_while_a_work_is_under_way() -> None:
    async def run() -> bool:
        gate = threading.Event()
        task = asyncio.create_task(Workers().run("alice", gate.wait))
        for _ in range(100):
            await asyncio.sleep(0)
        assert not task.done()
        gate.set()
        made, _ = await task
        return made

    assert asyncio.run(run())


def test_a_work_is_given_what_its_function_raises() -> None:
    def fail() -> None:
        raise KeyError("x")

    with pytest.raises(KeyError):
        asyncio.run(Workers().run("alice", fail))


def test_a_refusal_keeps_nothing_of_what_it_is_about() -> None:
    """Else it is the loop that gives back what was read."""

    class Large:
        pass

    kept: list[weakref.ref[Large]] = []

    def look_up(large: Large) -> None:
        raise KeyError(id(large))

    def refuse() -> None:
        large = Large()
        kept.append(weakref.ref(large))
        try:
            look_up(large)
        except KeyError:
            raise status.bad_request("no") from None

    gc.disable()
    try:
        with pytest.raises(StatusError) as refused:
            asyncio.run(Workers().run("alice", refuse))
        assert refused.value.__context__ is not None
        assert kept[0]() is None
    finally:
        gc.enable()


def test_users_take_turns() -> None:
    order: list[str] = []

    def noting(name: str) -> Callable[[], None]:
        return lambda: order.append(name)

    async def run() -> None:
        workers, gate = Workers(threads=1), threading.Event()
        first = asyncio.create_task(workers.run("alice", gate.wait))
        await asyncio.sleep(0)
        names = ["alice", "alice", "alice", "bob", "carol"]
        for one in {*names}:
            workers._charge(one, 2 * worker_threads.LIGHT_SECONDS)
        rest = [asyncio.create_task(workers.run(one, noting(one))) for one in names]
        await asyncio.sleep(0)
        gate.set()
        await asyncio.gather(first, *rest)

    asyncio.run(run())
    assert order == ["alice", "bob", "carol", "alice", "alice"]


def test_a_request_that_has_begun_comes_before_those_that_have_not() -> None:
    """It holds what it has read: a hundred long lists were all read before one was written."""
    order: list[str] = []

    async def ask(workers: Workers, name: str) -> None:
        for step in ("read", "write"):
            left = worker_threads.REQUEST_SECONDS - (step == "write")
            await workers.run("alice", partial(order.append, f"{step} {name}"), left)

    async def run() -> None:
        workers = Workers(threads=1)
        await asyncio.gather(*(ask(workers, name) for name in "abc"))

    asyncio.run(run())
    # What comes second waits until somebody has asked for it: one is read meanwhile.
    assert order.index("write a") < order.index("read c")
    assert order.index("write b") <= order.index("read c") + 1


def test_who_has_used_little_does_not_wait_for_long_works() -> None:
    async def run() -> None:
        workers, gate = Workers(), threading.Event()
        long = asyncio.create_task(workers.run("mallory", gate.wait))
        await asyncio.sleep(0)
        made, _ = await workers.run("alice", lambda: "done")
        assert made == "done"
        assert not long.done()
        gate.set()
        await long

    asyncio.run(run())


def test_nothing_else_begins_beside_a_work_for_a_while(monkeypatch: pytest.MonkeyPatch) -> None:
    order: list[str] = []

    async def run() -> None:
        workers, gate = Workers(), threading.Event()
        long = asyncio.create_task(workers.run("mallory", gate.wait))
        await asyncio.sleep(0)
        workers._charge("trudy", 2 * worker_threads.LIGHT_SECONDS)
        monkeypatch.setattr(worker_threads, "ALONE_SECONDS", 1e9)
        other = asyncio.create_task(workers.run("trudy", lambda: order.append("trudy")))
        await workers.run("alice", lambda: order.append("alice"))
        monkeypatch.setattr(worker_threads, "ALONE_SECONDS", 0.0)
        await other
        gate.set()
        await long

    asyncio.run(run())
    assert order == ["alice", "trudy"]


def test_what_waits_of_a_user_has_a_bound_in_bytes(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(worker_threads, "MOST_WAITING_BYTES", 100)

    async def run() -> None:
        workers, gate = Workers(), threading.Event()
        tasks = []
        for _ in range(2):  # one works, one waits, however large
            tasks.append(asyncio.create_task(workers.run("mallory", gate.wait, size=80)))
            await asyncio.sleep(0)
        with pytest.raises(TooMuchWork):
            await workers.run("mallory", gate.wait, size=80)
        gate.set()
        await asyncio.gather(*tasks)

    asyncio.run(run())


def test_a_user_has_one_worker() -> None:
    together: list[int] = []

    async def run() -> None:
        workers, inside = Workers(threads=2), [0]

        def work() -> None:
            inside[0] += 1
            together.append(inside[0])
            inside[0] -= 1

        await asyncio.gather(*(workers.run("alice", work) for _ in range(20)))

    asyncio.run(run())
    assert together == [1] * 20


def busy(until: threading.Event) -> Callable[[], None]:
    """Works for ever; sets the event when it ends."""

    def work() -> None:
        try:
            while True:
                pass
        finally:
            until.set()

    return work


def test_a_work_ends_with_its_budget() -> None:
    ended = threading.Event()
    with pytest.raises(StatusError) as caught:
        asyncio.run(Workers().run("alice", busy(ended), 0.01))
    assert ended.wait(60)
    assert caught.value.code == 504
    assert caught.value.status.message == (
        "Timeout: request did not complete within requested timeout - context deadline exceeded"
    )


def test_a_work_that_is_over_is_not_ended() -> None:
    """Not even before the loop has heard what it has made."""

    async def run() -> list[threading.ExceptHookArgs]:
        workers, loop = Workers(), asyncio.get_running_loop()
        tell = loop.call_soon_threadsafe

        def tell_and_be_ended(callback: Callable[..., object], *heard: Any) -> asyncio.Handle:
            if callback == workers.over:
                while heard[0].thread is None:
                    time.sleep(0.001)
                heard[0].end()
            return tell(callback, *heard)

        loop.call_soon_threadsafe = tell_and_be_ended  # type: ignore[method-assign, assignment]
        await workers.run("alice", threading.get_ident)
        workers.stop()
        for thread in threading.enumerate():
            if thread.name == "worker":
                thread.join()
        return escaped

    escaped: list[threading.ExceptHookArgs] = []
    hook, threading.excepthook = threading.excepthook, escaped.append
    try:
        assert asyncio.run(run()) == []
    finally:
        threading.excepthook = hook


def test_threads_take_the_next_work() -> None:
    async def run() -> None:
        workers = Workers()
        took = [await workers.run("alice", threading.current_thread) for _ in range(100)]
        workers.stop()
        threads = [thread for thread, _ in took]
        assert len(set(threads)) < len(threads)
        assert all(spent < 1 for _, spent in took)

    asyncio.run(run())


def test_a_thread_whose_work_was_ended_takes_no_other() -> None:
    threads = []

    def work() -> None:
        threads.append(threading.current_thread())
        busy(threading.Event())()

    with pytest.raises(StatusError):
        asyncio.run(Workers().run("alice", work, 0.01))
    threads[0].join(60)
    assert not threads[0].is_alive()


def test_a_work_ends_with_the_budget_of_its_user(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(worker_threads, "USER_SECONDS", 0.01)
    with pytest.raises(StatusError):
        asyncio.run(Workers().run("alice", busy(threading.Event())))


def test_a_work_ends_when_nobody_waits_for_it() -> None:
    ended = threading.Event()

    async def run() -> None:
        workers = Workers()
        task = asyncio.create_task(workers.run("alice", busy(ended)))
        await asyncio.sleep(0)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        await workers.run("alice", lambda: None)  # the worker is free again

    asyncio.run(run())
    assert ended.is_set()


def test_no_more_wait_than_may(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(worker_threads, "MOST_WAITING", 1)

    async def run() -> None:
        workers, gate = Workers(), threading.Event()
        tasks = [asyncio.create_task(workers.run("alice", gate.wait)) for _ in range(2)]
        await asyncio.sleep(0)
        with pytest.raises(TooMuchWork):
            await workers.run("alice", gate.wait)
        gate.set()
        await asyncio.gather(*tasks)

    asyncio.run(run())


def test_what_belongs_to_the_loop_runs_there() -> None:
    @on_loop
    def where() -> int:
        return threading.get_ident()

    async def run() -> tuple[int, int]:
        at_home = where()
        asked, _ = await Workers().run("alice", where)
        return at_home, asked

    at_home, asked = asyncio.run(run())
    assert at_home == asked == threading.get_ident()


def test_a_door_passes_on_what_is_raised() -> None:
    @on_loop
    def broken() -> None:
        raise ValueError("no")

    with pytest.raises(ValueError, match="no"):
        asyncio.run(Workers().run("alice", broken))


class Body:
    """Something large."""


def test_nothing_is_left_of_a_work_that_failed() -> None:
    """Without a collection of garbage."""
    bodies: list[weakref.ref[Body]] = []

    def fail() -> None:
        body = Body()
        bodies.append(weakref.ref(body))
        raise status.bad_request("no")

    async def request(workers: Workers) -> str:
        try:
            await workers.run("alice", fail)
        except StatusError as error:
            return error.status.message
        return ""

    async def run() -> None:
        workers = Workers()
        for _ in range(5):
            assert await request(workers) == "no"
        while threading.active_count() > before + 1:  # what begins threads stays
            await asyncio.sleep(0)
        await asyncio.sleep(0)
        assert [one() for one in bodies] == [None] * 5
        workers.stop()

    before = threading.active_count()
    gc.disable()
    try:
        asyncio.run(run())
    finally:
        gc.enable()


def test_who_waits_for_something_outside_gives_its_place_to_others() -> None:
    async def run() -> list[str]:
        workers, answered = Workers(threads=1), asyncio.Event()
        done: list[str] = []

        async def answer() -> str:
            await answered.wait()
            return "answer"

        async def work(owner: str, function: Callable[[], str]) -> None:
            made, _ = await workers.run(owner, function)
            done.append(made)

        waiting = [asyncio.create_task(work(owner, lambda: waited_for(answer))) for owner in "abcd"]
        await asyncio.create_task(work("e", lambda: "other"))
        answered.set()
        await asyncio.gather(*waiting)
        return done

    assert asyncio.run(run()) == ["other", *["answer"] * 4]


def test_what_is_waited_for_may_fail_and_the_work_goes_on() -> None:
    async def fail() -> None:
        raise KeyError("x")

    def work() -> str:
        with pytest.raises(KeyError):
            waited_for(fail)
        return "done"

    assert asyncio.run(Workers().run("a", work))[0] == "done"
    assert not is_worker()


@pytest.mark.skipif(
    sys.gettrace() is not None,
    reason="traced threads of Python 3.11 turn in circles while a waiting one is to be ended",
)
def test_whom_nobody_waits_for_waits_no_longer() -> None:
    async def run() -> bool:
        begun, cancelled = asyncio.Event(), asyncio.Event()

        async def never() -> None:
            begun.set()
            try:
                await asyncio.Event().wait()
            finally:
                cancelled.set()

        task = asyncio.create_task(Workers().run("a", lambda: waited_for(never)))
        await begun.wait()
        task.cancel()
        await cancelled.wait()
        return True

    assert asyncio.run(run())


def test_what_is_carried_to_a_loop_runs_there_in_turn_whoever_asks() -> None:
    async def run() -> list[tuple[str, bool]]:
        loop = asyncio.get_running_loop()
        carry, done = soon_on(loop), list[tuple[str, bool]]()

        def note(name: str) -> None:
            done.append((name, threading.current_thread() is threading.main_thread()))

        carry(lambda: note("own"))
        await asyncio.to_thread(carry, lambda: note("other"))
        carry(lambda: note("late"))
        await asyncio.sleep(0)
        return done

    assert asyncio.run(run()) == [("own", True), ("other", True), ("late", True)]
