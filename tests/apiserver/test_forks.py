"""Works in processes of their own, and what they may write."""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

import pytest

from celadon.apiserver.forks import (
    Elsewhere,
    ForkedStore,
    ForkFailed,
    Parent,
    Said,
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


async def unasked(_: Said) -> Said:
    raise AssertionError("nothing was to be asked")


def forked(life: Callable[[Parent], Said], allowed: float = PATIENCE) -> Said:
    async def run() -> Said:
        try:
            return (await workers.run_forked("alice", life, unasked, allowed))[0]
        finally:
            workers.stop()

    workers = Workers()
    workers.allow_forks(contextlib.nullcontext)
    return asyncio.run(run())


def test_what_it_says_at_its_end_is_heard() -> None:
    body = bytes(range(256)) * 5_000
    said = forked(lambda _: Said({"process": os.getpid()}, body))
    assert said.head["process"] != os.getpid()
    assert said.body == body


def test_one_that_takes_too_long_is_ended() -> None:
    def for_ever(_: Parent) -> Said:
        while True:
            pass

    with pytest.raises(StatusError) as refused:
        forked(for_ever, allowed=0.1)
    assert refused.value.status.code == 504


def test_one_that_takes_too_much_memory_is_ended() -> None:
    with pytest.raises(StatusError):
        forked(lambda _: Said({}, bytes(2 << 30)))


def test_nothing_that_the_parent_has_open_stays_open(tmp_path: Path) -> None:
    with (tmp_path / "file").open("w") as file:
        number = file.fileno()

        def is_open(_: Parent) -> Said:
            return Said({"open": os.path.exists(f"/proc/self/fd/{number}")})

        assert not forked(is_open).head["open"]


@pytest.mark.parametrize(
    "error",
    [Elsewhere(), ValueError("a mistake"), BaseExceptionGroup("of tasks", [Elsewhere("a")])],
)
def test_what_it_cannot_do_is_for_the_parent(error: BaseException) -> None:
    def fails(_: Parent) -> Said:
        raise error

    assert forked(fails).head == {"elsewhere": ""}


def test_without_a_process_there_is_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    def none_left() -> int:
        raise BlockingIOError("no more processes")

    monkeypatch.setattr(os, "fork", none_left)
    with pytest.raises(ForkFailed):
        forked(lambda _: Said({}))


def test_steps_of_a_fork_are_taken_where_they_are() -> None:
    workers = Workers()
    workers.allow_forks(contextlib.nullcontext)

    def life(_: Parent) -> Said:
        work = workers.run("alice", os.getpid)
        number, _seconds = asyncio.new_event_loop().run_until_complete(work)
        return Said({"same": number == os.getpid()})

    async def run() -> Said:
        try:
            return (await workers.run_forked("alice", life, unasked))[0]
        finally:
            workers.stop()

    assert asyncio.run(run()).head["same"]


# --- what they write ---


def written(store: Store, life: Callable[[ForkedStore], Any], own: str = "/registry/") -> Said:
    def lives(parent: Parent) -> Said:
        return Said({"made": life(ForkedStore(store, parent, (own,)))})

    async def stored(said: Said) -> Said:
        return await stored_for_fork(store, said)

    async def run() -> Said:
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
