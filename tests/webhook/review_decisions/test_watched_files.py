"""New versions of policies, good and broken."""

from __future__ import annotations

import asyncio
import dataclasses
import logging
import threading

import pytest

from celadon.webhook.review_decisions import LoadError, Rulebook, WatchedFiles
from tests.webhook.service.running import rulebook


class Files:
    """What a loader finds: a rulebook, or problems; `version` is the signature."""

    def __init__(self) -> None:
        self.version = 0
        self.found: Rulebook | LoadError = rulebook()
        self.threads: set[int] = set()

    def changed(self, found: Rulebook | LoadError) -> None:
        self.version += 1
        self.found = found

    def load(self) -> Rulebook:
        self.threads.add(threading.get_ident())
        if isinstance(self.found, LoadError):
            raise self.found
        return self.found

    def source(self) -> WatchedFiles:
        return WatchedFiles(self.load, lambda: self.version, lambda: 7.0, 0.001)


BROKEN = LoadError(("p.yaml:3: no",))


def test_before_the_first_load_there_is_nothing() -> None:
    source = Files().source()
    assert source.rulebook() is None
    assert source.state().missing == ("its files",)


def test_a_first_version_that_is_broken() -> None:
    files = Files()
    files.changed(BROKEN)
    source = files.source()
    with pytest.raises(LoadError) as caught:
        source.start()
    assert caught.value.problems == ("p.yaml:3: no",)
    assert source.rulebook() is None


def test_versions_follow_each_other(caplog: pytest.LogCaptureFixture) -> None:
    files = Files()
    source = files.source()
    source.start()
    first = source.rulebook()
    assert first is files.found
    assert not asyncio.run(source.look()), "nothing has changed"

    files.changed(BROKEN)
    with caplog.at_level(logging.WARNING):
        assert not asyncio.run(source.look())
        assert not asyncio.run(source.look()), "it is not read again before it changes"
    assert source.rulebook() is first, "the old version stays"
    assert (source.state().problems, source.state().failed_loads) == (("p.yaml:3: no",), 1)
    assert [one.message for one in caplog.records] == [
        "the policies cannot be reloaded, the old ones stay"
    ]

    second = rulebook()
    files.changed(second)
    assert asyncio.run(source.look())
    assert source.rulebook() is second
    state = source.state()
    assert (state.problems, state.loads, state.failed_loads) == ((), 2, 1)
    assert state.loaded_at == 7.0


def test_it_follows_by_itself_and_loads_beside_the_loop() -> None:
    files = Files()
    source = files.source()
    source.start()

    async def follow() -> None:
        running = asyncio.create_task(source.run())
        files.threads.clear()
        files.changed(rulebook())
        while source.rulebook() is not files.found:
            await asyncio.sleep(0.001)
        running.cancel()

    asyncio.run(asyncio.wait_for(follow(), 60))
    assert threading.get_ident() not in files.threads


def test_what_is_said_of_versions(caplog: pytest.LogCaptureFixture) -> None:
    files = Files()
    source = files.source()
    with caplog.at_level(logging.INFO, "celadon.apiserver"):
        source.start()
        files.changed(BROKEN)
        asyncio.run(source.look())
        files.changed(dataclasses.replace(rulebook(), remarks=("a kind that is gone",)))
        asyncio.run(source.look())
    assert [(one.message, vars(one)["celadon_fields"]) for one in caplog.records] == [
        ("the policies cannot be reloaded, the old ones stay", {"err": "p.yaml:3: no"}),
        (
            "enforced here, but not served by the cluster's release",
            {"err": "a kind that is gone"},
        ),
        ("the policies were reloaded", {"policies": 1, "bindings": 1}),
    ]
    assert source.state().remarks == ("a kind that is gone",)
    assert source.stamp() == 2
