"""Coroutines that begin at once, and need a task only when they wait."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine
from typing import Any

import pytest

from celadon.apiserver.http_messages import Departure
from celadon.apiserver.operation.request_limits import in_task, started, within

SOON = 0.01
NEVER = 60.0


def run(main: Callable[[], Coroutine[Any, Any, None]]) -> None:
    asyncio.run(asyncio.wait_for(main(), 30))


def test_what_waits_for_nothing_is_done_at_once() -> None:
    async def main() -> None:
        said = []

        async def work() -> None:
            said.append("done")

        assert started(asyncio.get_running_loop(), work()) is None
        assert said == ["done"]

    run(main)


def test_what_waits_goes_on_in_a_task() -> None:
    async def main() -> None:
        loop = asyncio.get_running_loop()
        waited, said = loop.create_future(), []

        async def work() -> None:
            said.append(await waited)
            await asyncio.sleep(0)
            said.append("more")

        task = started(loop, work())
        assert task is not None
        assert said == []
        waited.set_result("first")
        await task
        assert said == ["first", "more"]

    run(main)


@pytest.mark.parametrize("turns", [0, 1, 2])
def test_a_task_that_was_started_can_be_cancelled(turns: int) -> None:
    """Also before its first step, as by a client that goes at once: a watch went on for ever."""

    async def main() -> None:
        loop = asyncio.get_running_loop()
        said = []

        async def work() -> None:
            try:
                await loop.create_future()
            finally:
                said.append("ended")

        task = started(loop, work())
        assert task is not None
        for _ in range(turns):
            await asyncio.sleep(0)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        assert said == ["ended"]

    run(main)


def test_failures_come_to_whoever_waits() -> None:
    async def main() -> None:
        loop = asyncio.get_running_loop()

        async def fails(before: Coroutine[Any, Any, None]) -> None:
            await before
            raise KeyError("no")

        async def nothing() -> None:
            pass

        with pytest.raises(KeyError):
            started(loop, fails(nothing()))
        task = started(loop, fails(asyncio.sleep(0)))
        assert task is not None
        with pytest.raises(KeyError):
            await task

    run(main)


@pytest.mark.parametrize("seconds", [None, NEVER])
def test_what_is_in_time_gives_what_it_gives(seconds: float | None) -> None:
    async def main() -> None:
        async def work(wait: bool) -> str:
            if wait:
                await asyncio.sleep(0)
                await asyncio.sleep(SOON)
            return "made"

        for wait in (False, True):
            assert await within(seconds, work(wait)) == "made"

    run(main)


def test_what_is_late_is_cancelled() -> None:
    async def main() -> None:
        said = []

        async def work() -> None:
            try:
                await asyncio.sleep(NEVER)
            finally:
                said.append("ended")

        with pytest.raises(TimeoutError):
            await within(SOON, work())
        assert said == ["ended"]

    run(main)


def test_what_is_late_without_a_future_to_cancel_is_woken_with_it() -> None:
    async def main() -> None:
        async def work() -> None:
            while True:
                await asyncio.sleep(0)

        with pytest.raises(TimeoutError):
            await within(SOON, work())

    run(main)


def test_who_is_cancelled_from_outside_was_not_late() -> None:
    async def main() -> None:
        task = asyncio.create_task(within(NEVER, asyncio.sleep(NEVER)))
        await asyncio.sleep(0)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task

    run(main)


def test_who_needs_a_task_gets_one() -> None:
    async def main() -> None:
        loop = asyncio.get_running_loop()
        found: list[bool] = []

        async def work() -> None:
            found.append(asyncio.current_task() is not None)
            await in_task()
            found.append(asyncio.current_task() is not None)
            async with asyncio.timeout(NEVER), asyncio.TaskGroup() as group:
                group.create_task(asyncio.sleep(0))

        async def outside() -> None:
            """A step of the loop that belongs to no task."""
            done = loop.create_future()

            def begin() -> None:
                task = started(loop, within(NEVER, work()))
                assert task is not None
                task.add_done_callback(lambda _: done.set_result(task.exception()))

            loop.call_soon(begin)
            assert await done is None

        await outside()
        assert found == [False, True]

    run(main)


def test_what_is_made_of_being_late_is_late() -> None:
    """Work that limits the same time itself takes the end for its own."""

    async def main() -> None:
        async def work() -> str:
            try:
                async with asyncio.timeout(SOON):
                    await asyncio.sleep(NEVER)
            except TimeoutError:
                return "in time, as far as I know"
            except asyncio.CancelledError:
                return "cancelled"
            return "never"

        with pytest.raises(TimeoutError):
            await within(SOON, work())

    run(main)


def test_work_ends_when_its_client_goes() -> None:
    async def main() -> None:
        departure, ended = Departure(), []

        async def work() -> None:
            try:
                await asyncio.sleep(NEVER)
            finally:
                ended.append(True)

        task = asyncio.create_task(within(NEVER, work(), departure))
        await asyncio.sleep(0)
        departure.tell()
        with pytest.raises(TimeoutError):
            await task
        assert ended == [True]
        departure.tell()  # nothing is left that could end

    run(main)
