"""Changes that do not follow each other are noticed."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, AsyncIterator, Sequence
from typing import Any

import pytest

from celadon.store.contract import Event
from celadon.store.errors import ServiceUnavailable
from celadon.store.etcd.etcd_messages import KeyValue, WatchAnswer
from celadon.store.etcd.etcd_mirror import EtcdMirror, KeySpelling, Missed
from celadon.store.keyspace import Keyspace


def change(revision: int, key: bytes = b"/a", value: bytes | None = b"") -> KeyValue:
    return KeyValue(key, value, revision, revision, 1)


def answer(*changes: KeyValue, is_part: bool = False, compacted: int = 0) -> WatchAnswer:
    return WatchAnswer(changes, is_part, compacted, None)


class Client:
    """An etcd in which nothing has happened before these answers."""

    def __init__(self, answers: Sequence[WatchAnswer]) -> None:
        self._answers = answers

    async def revision(self) -> int:
        return 1

    async def entries(self, first: bytes, revision: int) -> AsyncIterator[tuple[KeyValue, ...]]:
        yield ()

    async def changes(self, start: int) -> AsyncGenerator[WatchAnswer, None]:
        for one in self._answers:
            yield one
        raise ServiceUnavailable("the end")


class Audience:
    def __init__(self) -> None:
        self.space = Keyspace()
        self.batches: list[list[int]] = []

    def begin_with(self, space: Keyspace) -> None:
        self.space = space

    def apply(self, events: Sequence[Event], revision: int) -> None:
        self.space.apply(events)
        self.space.advance(revision)
        self.batches.append([event.revision for event in events])


def followed(answers: Sequence[WatchAnswer]) -> tuple[Audience, type[Exception]]:
    async def run() -> tuple[Audience, type[Exception]]:
        audience, client = Audience(), Client(answers)
        spelling = KeySpelling("", "/")
        mirror = EtcdMirror(client, spelling, audience, lambda key, value: value)  # type: ignore[arg-type]  # a double
        await mirror.begin()
        with pytest.raises((Missed, ServiceUnavailable)) as caught:
            await mirror.follow()
        return audience, caught.type

    return asyncio.run(run())


def test_changes_are_taken_in_whole_revisions() -> None:
    audience, end = followed(
        [
            answer(),
            answer(change(2), change(3, b"/b"), change(3, b"/c"), is_part=True),
            answer(change(3, b"/d")),
            answer(change(4, b"/b", None), change(5, b"other")),
        ]
    )
    assert end is ServiceUnavailable
    assert audience.batches == [[2, 3, 3, 3], [4]]
    assert audience.space.revision == 5
    assert [one.key for one in audience.space.range("", "", None, None).entries] == ["a", "c", "d"]


@pytest.mark.parametrize(
    "answers",
    [
        pytest.param([answer(change(3))], id="one is missing at first"),
        pytest.param([answer(change(2)), answer(change(4))], id="one is missing"),
        pytest.param([answer(change(2), change(4))], id="one is missing inside"),
        pytest.param([answer(change(2)), answer(change(2))], id="one is repeated"),
        pytest.param([answer(change(2), change(3), change(2))], id="out of order"),
        pytest.param([answer(compacted=7)], id="compacted"),
    ],
)
def test_what_is_missed_is_noticed(answers: Any) -> None:
    assert followed(answers)[1] is Missed


def test_a_key_that_is_no_text_is_not_ours() -> None:
    spelling = KeySpelling("/registry", "/own")
    assert spelling.read(b"/own/\xff") is None
    assert spelling.read(b"/other") is None
    assert spelling.read(spelling.written("/registry/\u00e9")) == "/registry/\u00e9"
