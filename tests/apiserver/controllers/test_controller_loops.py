"""The engine: which work is done, how often, and again."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Iterable, Sequence

import pytest

from celadon.apiserver import workers
from celadon.apiserver.controllers import controller_loops
from celadon.apiserver.controllers.controller_loops import Change, Controllers, Stale
from celadon.apiserver.workers import Turns
from celadon.kube import metadata
from celadon.storage import delete, put
from tests.apiserver.serving import Shelf


class Watcher:
    """Notes what it is asked to do; `answers` says what becomes of it, in turn."""

    prefixes: Sequence[str] = ("/registry/core/configmaps/",)
    urgent = True

    def __init__(self, *answers: float | Exception | None) -> None:
        self.done: list[str] = []
        self.changes: list[tuple[bool, bool]] = []
        self._answers = list(answers)

    def concerned(self, change: Change) -> Iterable[str]:
        self.changes.append((change.old is not None, change.new is not None))
        found = change.new or change.old
        assert found is not None
        return (metadata.name(found),)

    async def reconcile(self, item: str) -> float | None:
        self.done.append(item)
        answer = self._answers.pop(0) if self._answers else None
        if isinstance(answer, Exception):
            raise answer
        return answer


def run(watcher: Watcher, scenario: Callable[[Shelf, Controllers], Awaitable[None]]) -> None:
    async def started() -> None:
        shelf = Shelf()
        await shelf.create("first")
        controllers = Controllers(shelf.objects, [watcher])
        controllers.start()
        try:
            await controllers.settled()
            await scenario(shelf, controllers)
        finally:
            await controllers.stop()

    asyncio.run(started())


def test_what_is_there_and_what_comes_is_work() -> None:
    watcher = Watcher()

    async def scenario(shelf: Shelf, controllers: Controllers) -> None:
        assert watcher.done == ["first"]
        await shelf.create("second")
        await shelf.update("second", x="y")
        await controllers.caught_up()
        assert watcher.done == ["first", "second"]
        await shelf.delete("first")
        await controllers.caught_up()
        assert watcher.done == ["first", "second", "first"]

    run(watcher, scenario)
    assert watcher.changes == [(False, True), (False, True), (True, True), (True, False)]


def test_what_cannot_be_decoded_is_no_work_and_is_not_taken_for_gone() -> None:
    watcher, key = Watcher(), "/registry/core/configmaps/a/first"

    async def scenario(shelf: Shelf, controllers: Controllers) -> None:
        whole = shelf.store.get(key)
        assert whole is not None
        for transaction in (put(key, b"{"), put(key, whole.value), put(key, b"{"), delete(key)):
            shelf.store.submit(transaction).result()
            await controllers.caught_up()

    run(watcher, scenario)
    assert watcher.changes == [(False, True), (False, True)]


class Follower(Watcher):
    """Looks at secrets as long as there is a config map called `first`."""

    def concerned(self, change: Change) -> Iterable[str]:
        if change.key == f"{Watcher.prefixes[0]}a/first":
            more = () if change.new is None else ("/registry/core/secrets/",)
            self.prefixes = (*Watcher.prefixes, *more)
        return super().concerned(change)


def test_other_prefixes_are_followed_from_then_on() -> None:
    watcher = Follower()

    async def scenario(shelf: Shelf, controllers: Controllers) -> None:
        key = "/registry/core/secrets/a/x"
        secret = b'{"kind":"Secret","apiVersion":"v1","metadata":{"name":"x"}}'
        shelf.store.submit(put(key, secret)).result()
        await controllers.caught_up()
        assert watcher.done == ["first", "x"]
        await shelf.delete("first")
        await controllers.caught_up()
        shelf.store.submit(put(key, secret)).result()
        await controllers.caught_up()
        assert watcher.done == ["first", "x", "first"]
        await shelf.create("first")
        await controllers.caught_up()
        shelf.store.submit(delete(key)).result()
        await controllers.caught_up()
        assert watcher.done == ["first", "x", "first", "first", "x"]

    run(watcher, scenario)


def test_what_failed_is_done_again() -> None:
    watcher = Watcher(Stale(), ValueError("a bug"), None)

    async def scenario(shelf: Shelf, controllers: Controllers) -> None:
        for _ in range(6000):
            if len(watcher.done) == 3:
                break
            await asyncio.sleep(0.01)
        assert watcher.done == ["first"] * 3

    run(watcher, scenario)


@pytest.mark.parametrize(("failures", "done"), [(2, 3), (9, controller_loops.MOST_TRIES + 1)])
def test_who_waits_until_it_is_quiet_has_failures_tried_at_once(
    failures: int, done: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(controller_loops, "FIRST_RETRY", 3600.0)
    monkeypatch.setattr(controller_loops, "LAST_RETRY", 3600.0)
    watcher = Watcher(*[Stale()] * failures)

    async def scenario(shelf: Shelf, controllers: Controllers) -> None:
        await controllers.settled()
        assert watcher.done == ["first"]
        await controllers.quiet()
        assert watcher.done == ["first"] * done

    run(watcher, scenario)


def test_an_item_comes_back_when_it_wanted_to() -> None:
    watcher = Watcher(0.0, 3600.0)

    async def scenario(shelf: Shelf, controllers: Controllers) -> None:
        await asyncio.sleep(0.01)
        await controllers.settled()
        assert watcher.done == ["first"] * 2

    run(watcher, scenario)


def test_nobody_waits_for_controllers_that_do_not_run() -> None:
    async def scenario() -> None:
        shelf = Shelf()
        controllers = Controllers(shelf.objects, [Watcher()])
        await controllers.caught_up()
        await controllers.settled()
        controllers.start()
        shelf.store.close()
        await controllers.settled()
        await controllers.stop()

    asyncio.run(scenario())


def test_led_controllers_begin_anew_with_each_term() -> None:
    everywhere, led = Watcher(), Watcher()
    terms: asyncio.Queue[bool] = asyncio.Queue()

    async def leading(work: Callable[[], Awaitable[None]]) -> None:
        while True:
            await terms.get()
            working = asyncio.ensure_future(work())
            await terms.get()
            working.cancel()
            await asyncio.gather(working, return_exceptions=True)

    async def scenario() -> None:
        shelf = Shelf()
        await shelf.create("first")
        controllers = Controllers(shelf.objects, [everywhere], [led], leading)
        controllers.start()
        try:
            await controllers.settled()
            assert (everywhere.done, led.done) == (["first"], [])
            for done in (["first"], ["first", "first"]):
                terms.put_nowait(True)
                for _ in range(50):
                    await asyncio.sleep(0)
                await controllers.settled()
                assert led.done == done
                terms.put_nowait(False)
            assert everywhere.done == ["first"]
        finally:
            await controllers.stop()

    asyncio.run(scenario())


def test_others_have_their_turn_during_long_work(monkeypatch: pytest.MonkeyPatch) -> None:
    seen: list[str] = []

    async def other() -> None:
        seen.append("other")

    async def scenario() -> None:
        turns = Turns()
        await turns.take()
        task = asyncio.create_task(other())
        monkeypatch.setattr(workers, "TURN_SECONDS", 3_600.0)
        await turns.take()
        seen.append("soon")
        monkeypatch.setattr(workers, "TURN_SECONDS", 0.0)
        await turns.take()
        seen.append("late")
        await task

    asyncio.run(scenario())
    assert seen == ["soon", "other", "late"]


def test_what_follows_at_once_is_looked_at_together(monkeypatch: pytest.MonkeyPatch) -> None:
    """Later, or as soon as nothing else is to be done."""
    monkeypatch.setattr(controller_loops, "GATHERED_SECONDS", 3600.0)
    watcher = Watcher()

    async def scenario() -> None:
        shelf = Shelf()
        controllers = Controllers(shelf.objects, [], simulated=[watcher])
        controllers.start()
        try:
            await shelf.create("first")
            await controllers.quiet()
            await shelf.create("second")
            for number in range(5):
                await shelf.update("first", number=str(number))
                await controllers.settled()
            assert watcher.done == ["first", "second"]
            await controllers.quiet()
        finally:
            await controllers.stop()

    asyncio.run(scenario())
    assert watcher.done == ["first", "second", "first"]
