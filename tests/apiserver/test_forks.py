"""Works in processes of their own, and what they may write."""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

import pytest

from celadon.apiserver.forks import (
    Elsewhere,
    ForkedStore,
    ForkFailed,
    ForkMessage,
    Parent,
    Template,
    can_fork,
    stored_for_fork,
)
from celadon.apiserver.workers import Workers
from celadon.kube import StatusError
from celadon.storage import Committed, Store, create, open_memory, put, update
from tests.apiserver.served_process import CONFIGMAPS, Served

pytestmark = pytest.mark.skipif(not can_fork(), reason="needs what Linux has")
T = TypeVar("T")
PATIENCE = 60.0
KEY = "/registry/core/configmaps/default/c"


async def unasked(_: ForkMessage) -> ForkMessage:
    raise AssertionError("nothing was to be asked")


def forked(life: Callable[[Parent], ForkMessage], allowed: float = PATIENCE) -> ForkMessage:
    async def run() -> ForkMessage:
        try:
            return (await workers.run_forked("alice", life, unasked, allowed))[0]
        finally:
            workers.stop()

    workers = Workers()
    workers.allow_forks(contextlib.nullcontext)
    return asyncio.run(run())


def test_what_it_says_at_its_end_is_heard() -> None:
    body = bytes(range(256)) * 5_000
    said = forked(lambda _: ForkMessage({"process": os.getpid()}, body))
    assert said.head["process"] != os.getpid()
    assert said.body == body


@pytest.mark.parametrize("text", ["\ufffd" * 100, "\ud800", '"\\\0'])
def test_what_it_says_is_not_escaped(text: str) -> None:
    """To take escapes apart, of which a path may have a million, would hold up the event loop."""
    assert forked(lambda _: ForkMessage({"path": text})).head["path"] == text
    assert len(ForkMessage({"path": "\ufffd" * 100}).start()) < 350


def test_one_that_takes_too_long_is_ended() -> None:
    def for_ever(_: Parent) -> ForkMessage:
        while True:
            pass

    with pytest.raises(StatusError) as refused:
        forked(for_ever, allowed=0.1)
    assert refused.value.status.code == 504


def test_one_that_takes_too_much_memory_is_ended() -> None:
    with pytest.raises(StatusError):
        forked(lambda _: ForkMessage({}, bytes(2 << 30)))


def test_nothing_that_the_parent_has_open_stays_open(tmp_path: Path) -> None:
    with (tmp_path / "file").open("w") as file:
        number = file.fileno()

        def is_open(_: Parent) -> ForkMessage:
            return ForkMessage({"open": os.path.exists(f"/proc/self/fd/{number}")})

        assert not forked(is_open).head["open"]


@pytest.mark.parametrize(
    "error",
    [Elsewhere(), ValueError("a mistake"), BaseExceptionGroup("of tasks", [Elsewhere("a")])],
)
def test_what_it_cannot_do_is_for_the_parent(error: BaseException) -> None:
    def fails(_: Parent) -> ForkMessage:
        raise error

    assert forked(fails).head == {"elsewhere": ""}


def test_without_a_process_there_is_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    def none_left() -> int:
        raise BlockingIOError("no more processes")

    monkeypatch.setattr(os, "fork", none_left)
    with pytest.raises(ForkFailed):
        forked(lambda _: ForkMessage({}))


def test_steps_of_a_fork_are_taken_where_they_are() -> None:
    workers = Workers()
    workers.allow_forks(contextlib.nullcontext)

    def life(_: Parent) -> ForkMessage:
        work = workers.run("alice", os.getpid)
        number, _seconds = asyncio.new_event_loop().run_until_complete(work)
        return ForkMessage({"same": number == os.getpid()})

    async def run() -> ForkMessage:
        try:
            return (await workers.run_forked("alice", life, unasked))[0]
        finally:
            workers.stop()

    assert asyncio.run(run()).head["same"]


# --- templates ---


class Templated:
    """Works that forks of a template do, until the end of the block."""

    def __init__(self, life: Callable[[Parent], ForkMessage]) -> None:
        self.workers = Workers()
        self.template = Template(life, contextlib.nullcontext, None)

    async def __aenter__(self) -> Templated:
        return self

    async def __aexit__(self, *_: object) -> None:
        self.workers.stop()
        self.template.close()

    async def run(
        self, told: ForkMessage, allowed: float = PATIENCE, owner: str = "alice"
    ) -> ForkMessage:
        found = await self.workers.run_templated(owner, lambda: self.template, told, allowed)
        return found[0]


def echo(parent: Parent) -> ForkMessage:
    told = parent.hear()
    return ForkMessage({"process": os.getpid(), **told.head}, told.body)


def test_forks_of_a_template_hear_what_they_are_for() -> None:
    body = bytes(range(256)) * 20_000

    async def run() -> list[ForkMessage]:
        async with Templated(echo) as on:
            return [await on.run(ForkMessage({"number": number}, body)) for number in range(3)]

    said = asyncio.run(run())
    assert [one.head["number"] for one in said] == [0, 1, 2]
    assert all(one.body == body for one in said)
    assert len({one.head["process"] for one in said} | {os.getpid()}) == 4


def test_forks_of_a_template_see_what_was_when_it_was_made() -> None:
    known = ["before"]

    async def run() -> ForkMessage:
        async with Templated(lambda _: ForkMessage({"known": known})) as on:
            known.append("after")
            return await on.run(ForkMessage({}))

    assert asyncio.run(run()).head["known"] == ["before"]


def test_forks_of_a_template_end_with_their_budgets() -> None:
    def works(parent: Parent) -> ForkMessage:
        while parent.hear().head["for_ever"]:
            while True:
                pass
        return ForkMessage({"well": True})

    async def run() -> ForkMessage:
        async with Templated(works) as on:
            with pytest.raises(StatusError) as refused:
                await on.run(ForkMessage({"for_ever": True}), 0.1)
            assert refused.value.status.code == 504
            return await on.run(ForkMessage({"for_ever": False}))

    assert asyncio.run(run()).head["well"]


def test_forks_of_a_template_end_when_nobody_waits(tmp_path: Path) -> None:
    """And the kernel ends them with the template."""

    def tells(parent: Parent) -> ForkMessage:
        (tmp_path / parent.hear().head["name"]).write_text(f"{os.getpid()}\n")
        while True:
            time.sleep(PATIENCE)

    async def number_of(name: str) -> int:
        path = tmp_path / name
        while not path.exists() or not path.read_text().endswith("\n"):
            await asyncio.sleep(0.01)
        return int(path.read_text())

    async def has_ended(number: int) -> None:
        while True:
            try:
                os.kill(number, 0)
                state = Path(f"/proc/{number}/stat").read_text().rpartition(") ")[2][0]
            except OSError:
                return
            if state == "Z":
                return
            await asyncio.sleep(0.01)

    async def run() -> None:
        async with Templated(tells) as on:
            first = asyncio.ensure_future(on.run(ForkMessage({"name": "a"}), owner="alice"))
            number = await number_of("a")
            first.cancel()
            await has_ended(number)
            second = asyncio.ensure_future(on.run(ForkMessage({"name": "b"}), owner="bob"))
            number = await number_of("b")
            on.template.close()
            await has_ended(number)
            with pytest.raises(StatusError):
                await second

    asyncio.run(asyncio.wait_for(run(), PATIENCE))


def test_a_template_that_is_over_has_no_forks() -> None:
    async def run() -> None:
        async with Templated(echo) as on:
            on.template.close()
            with pytest.raises(ForkFailed):
                await on.run(ForkMessage({}))

    asyncio.run(run())


def test_a_template_without_processes_has_no_forks(monkeypatch: pytest.MonkeyPatch) -> None:
    def none_left() -> int:
        raise BlockingIOError("no more processes")

    fork = os.fork

    def forks_once() -> int:
        number = fork()
        os.fork = none_left  # in both
        return number

    async def run() -> None:
        monkeypatch.setattr(os, "fork", forks_once)
        async with Templated(echo) as on:
            with pytest.raises(ForkFailed):
                await on.run(ForkMessage({}, bytes(1 << 20)))

    asyncio.run(run())


def test_a_template_that_retires_waits_for_its_forks() -> None:
    async def run() -> ForkMessage:
        async with Templated(echo) as on:
            asked = asyncio.ensure_future(on.run(ForkMessage({"number": 1}, bytes(1 << 22))))
            await asyncio.sleep(0)  # it has been asked for
            on.template.retire()
            found = await asked
            while not on.template.is_over:
                await asyncio.sleep(0.01)
            return found

    assert asyncio.run(asyncio.wait_for(run(), PATIENCE)).head["number"] == 1


# --- what they write ---


def written(
    store: Store, life: Callable[[ForkedStore], Any], own: str = "/registry/"
) -> ForkMessage:
    def lives(parent: Parent) -> ForkMessage:
        return ForkMessage({"made": life(ForkedStore(store, parent, (own,)))})

    async def stored(said: ForkMessage) -> ForkMessage:
        return await stored_for_fork(lambda one: asyncio.wrap_future(store.submit(one)), said)

    async def run() -> ForkMessage:
        workers = Workers()
        workers.allow_forks(store.held)
        try:
            return (await workers.run_forked("alice", lives, stored))[0]
        finally:
            workers.stop()

    return asyncio.run(run())


def creates(store: ForkedStore) -> list[Any]:
    outcome = store.submit(create(KEY, b"{}")).result()
    assert isinstance(outcome, Committed)
    (event,) = outcome.events
    assert event is not None
    assert event.entry is not None
    return [outcome.revision, event.entry.create_revision, event.entry.value.decode()]


def test_the_parent_stores_what_a_fork_wants_to_be_stored() -> None:
    with open_memory() as store:
        revision, created, value = written(store, creates).head["made"]
        entry = store.get(KEY)
        assert entry is not None
        assert (entry.mod_revision, entry.create_revision) == (revision, created)
        assert entry.value.decode() == value


def test_nothing_is_stored_where_something_else_was_in_between() -> None:
    with open_memory() as store:
        store.submit(put(KEY, b"1")).result()
        assert written(store, creates).head == {"elsewhere": ""}
        assert written(store, lambda fork: fork.submit(update(KEY, b"2", 99))).head == {
            "elsewhere": ""
        }
        entry = store.get(KEY)
        assert entry is not None
        assert entry.value == b"1"


def test_a_fork_writes_what_is_its_own_only() -> None:
    with open_memory() as store:
        assert written(store, creates, "/registry/core/pods/").head == {"elsewhere": "writes"}
        assert store.get(KEY) is None


# --- a server ---


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory) -> Any:
    server = Served(tmp_path_factory.mktemp("forks"))
    yield server
    server.process.terminate()
    server.process.wait(PATIENCE)
    assert server.process.stdout is not None
    server.process.stdout.close()


def large(letter: str, name: str = "large", **more: Any) -> dict[str, Any]:
    data = {f"k{number}": letter * 300 for number in range(1_000)}
    return {"metadata": {"name": name}, "data": data, **more}


@pytest.mark.thorough
def test_large_writes_are_as_others(served: Served) -> None:
    code, made = served.call("POST", CONFIGMAPS, large("a"))
    assert code == 201
    assert made["metadata"]["managedFields"][0]["operation"] == "Update"
    code, refused = served.call("POST", CONFIGMAPS, large("a"))
    assert (code, refused["reason"]) == (409, "AlreadyExists")
    code, changed = served.call("PUT", f"{CONFIGMAPS}/large", large("b"))
    assert code == 200
    assert changed["metadata"]["uid"] == made["metadata"]["uid"]
    code, found = served.call("GET", f"{CONFIGMAPS}/large")
    assert found == changed
    code, refused = served.call("POST", CONFIGMAPS, large("a", name="Large"))
    assert (code, refused["reason"]) == (422, "Invalid")


@pytest.mark.thorough
def test_large_writes_are_counted_against_quotas(served: Served) -> None:
    quotas = CONFIGMAPS.replace("configmaps", "resourcequotas")
    spec = {"hard": {"count/configmaps": "20"}}
    assert served.call("POST", quotas, {"metadata": {"name": "q"}, "spec": spec})[0] == 201
    before = served.call("GET", f"{quotas}/q")[1].get("status", {}).get("used", {})
    assert served.call("POST", CONFIGMAPS, large("c", name="counted"))[0] == 201
    after = served.call("GET", f"{quotas}/q")[1]["status"]["used"]
    counted = int(after["count/configmaps"])
    assert counted == int(before.get("count/configmaps", counted - 1)) + 1
    assert served.call("DELETE", f"{quotas}/q")[0] == 200


@pytest.mark.thorough
def test_long_heads_are_read_in_a_fork(served: Served) -> None:
    code, found = served.call("GET", f"{CONFIGMAPS}?labelSelector={','.join(['a'] * 50_000)}")
    assert (code, found["items"]) == (200, [])
    connection = served.connection()
    connection.request("GET", f"{CONFIGMAPS}?labelSelector={','.join(['a'] * 50_000)}")
    answer = connection.getresponse()
    assert answer.status == 403
    assert json.loads(answer.read())["reason"] == "Forbidden"
    connection.close()
