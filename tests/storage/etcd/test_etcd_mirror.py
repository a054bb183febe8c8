"""Changes that do not follow each other are noticed."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, AsyncIterator, Callable, Sequence
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from celadon.kube.well_known_values import FUTURE_REVISION
from celadon.storage.contract import Delete, Entry, Event, Operation, Put, ServiceUnavailable
from celadon.storage.etcd.etcd_client import EtcdMirror, KeySpelling, Missed
from celadon.storage.etcd.etcd_messages import COMPACTED, KeyValue, RevisionRefused, WatchAnswer
from celadon.storage.keyspace import Keyspace


def change(revision: int, key: bytes = b"/a", value: bytes | None = b"") -> KeyValue:
    return KeyValue(key, value, revision, revision, 1)


def answer(*changes: KeyValue, is_part: bool = False, compacted: int = 0) -> WatchAnswer:
    return WatchAnswer(changes, is_part, compacted, None)


Step = WatchAnswer | Callable[[EtcdMirror], None]
"""What the watch shows, or what happens in between."""


class Client:
    """An etcd in which nothing has happened before these answers, or with a `past` that it refuses
    to show."""

    def __init__(self, steps: Sequence[Step], past: int = 1, refusal: str = "") -> None:
        self._steps = steps
        self._past, self._refusal = past, refusal
        self.mirror: EtcdMirror | None = None
        self.left = 0

    def leave(self) -> None:
        self.left += 1

    async def revision(self) -> int:
        return self._past

    async def entries(self, first: bytes, revision: int) -> AsyncIterator[tuple[KeyValue, ...]]:
        if self._refusal:
            raise RevisionRefused(self._refusal)
        yield ()

    async def changes(self, start: int) -> AsyncGenerator[WatchAnswer, None]:
        for one in self._steps:
            if isinstance(one, WatchAnswer):
                yield one
            elif self.mirror is not None:
                one(self.mirror)
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


def followed(steps: Sequence[Step]) -> tuple[Audience, type[Exception]]:
    async def run() -> tuple[Audience, type[Exception]]:
        audience, client = Audience(), Client(steps)
        spelling = KeySpelling("", "/")
        mirror = EtcdMirror(client, spelling, audience, lambda key, value: value)  # type: ignore[arg-type]  # a double
        client.mirror = mirror
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


def test_what_others_write_is_told_before_it_is_seen() -> None:
    told: list[tuple[list[bytes], int]] = []

    async def run() -> None:
        steps: Sequence[Step] = [
            own(2, Put("a", b"ours")),
            answer(change(2, b"/a", b"ours"), change(3, b"/b", b"theirs"), is_part=True),
            answer(change(3, b"/a", None)),
        ]
        audience, client = Audience(), Client(steps)
        mirror = EtcdMirror(client, KeySpelling("", "/"), audience, lambda _, value: value)  # type: ignore[arg-type]  # a double
        client.mirror = mirror

        async def coming(values: Sequence[bytes]) -> None:
            await asyncio.sleep(0)
            told.append(([*values], audience.space.revision))

        mirror.coming = coming
        await mirror.begin()
        with pytest.raises(ServiceUnavailable):
            await mirror.follow()

    asyncio.run(run())
    assert told == [([b"theirs"], 2)]


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


@pytest.mark.parametrize(
    ("past", "refusal", "answers"),
    [
        pytest.param(50_000, COMPACTED, [answer(compacted=30_000)], id="nothing newer is there"),
        pytest.param(50_000, COMPACTED, [answer(), answer(compacted=7)], id="what is older"),
        pytest.param(50_000, COMPACTED, [answer()], id="it does not say what is there"),
        pytest.param(9, FUTURE_REVISION, [answer()], id="it has forgotten what it said"),
    ],
)
def test_a_mirror_that_cannot_begin_says_so(
    past: int, refusal: str, answers: list[WatchAnswer]
) -> None:
    client = Client(answers, past, refusal)
    mirror = EtcdMirror(client, KeySpelling("", "/"), Audience(), lambda _, value: value)  # type: ignore[arg-type]  # a double
    with pytest.raises(ServiceUnavailable):
        asyncio.run(mirror.begin())


def test_a_member_whose_changes_have_a_gap_is_left() -> None:
    async def run() -> int:
        client = Client([answer(change(3))])
        mirror = EtcdMirror(client, KeySpelling("", "/"), Audience(), lambda _, value: value)  # type: ignore[arg-type]  # a double
        await mirror.begin()
        with pytest.raises(Missed):
            await mirror.follow()
        return client.left

    assert asyncio.run(run()) == 1


def test_a_key_that_is_no_text_is_not_ours() -> None:
    spelling = KeySpelling("/registry", "/own")
    assert spelling.read(b"/own/\xff") is None
    assert spelling.read(b"/other") is None
    assert spelling.read(spelling.written("/registry/\u00e9")) == "/registry/\u00e9"


def own(revision: int, *operations: Operation) -> Callable[[EtcdMirror], None]:
    return lambda mirror: mirror.learn(revision, operations)


@pytest.mark.parametrize(
    ("steps", "batches"),
    [
        pytest.param([own(2, Put("a", b"")), answer(change(2))], [[2]], id="before it is shown"),
        pytest.param([answer(change(2)), own(2, Put("a", b""))], [[2]], id="after it was shown"),
        pytest.param(
            [own(3, Put("b", b"")), answer(change(2)), answer(change(3, b"/b"))],
            [[2], [3]],
            id="not before what came before it",
        ),
        pytest.param(
            [own(3, Put("b", b"")), answer(change(2), change(3, b"/b"), change(4))],
            [[2, 3, 4]],
            id="shown with what came before it",
        ),
        pytest.param(
            [own(3, Put("b", b"")), answer(change(2))],
            [[2], [3]],
            id="once what came before it is shown",
        ),
        pytest.param(
            [own(2, Put("a", b"")), answer(change(2), change(3, b"/b"))],
            [[2], [3]],
            id="shown with what came after it",
        ),
        pytest.param(
            [own(2, Put("a", b""), Put("b", b"")), own(4, Delete("b")), own(3, Put("c", b""))],
            [[2, 2], [3], [4]],
            id="several, out of order",
        ),
    ],
)
def test_what_this_process_did_need_not_be_shown(
    steps: list[Step], batches: list[list[int]]
) -> None:
    audience, end = followed(steps)
    assert end is ServiceUnavailable
    assert audience.batches == batches


def test_a_gap_in_what_is_shown_is_one_though_it_is_known() -> None:
    assert followed([own(2, Put("a", b"")), answer(change(3))])[1] is Missed


def test_an_entry_keeps_the_revision_it_was_created_at() -> None:
    audience, _ = followed([answer(change(2)), own(3, Put("a", b"new"))])
    assert audience.space.current("a") == Entry("a", b"new", 2, 3)


@given(st.data())
def test_whoever_tells_it_everything_happens_once(data: st.DataObject) -> None:
    """The last of 3 keys' changes at each revision, some of them by this process, which is answered
    at any time."""
    steps: list[Step] = []
    present: dict[bytes, int] = {}
    for revision in range(2, 2 + data.draw(st.integers(1, 12))):
        key = data.draw(st.sampled_from([b"/a", b"/b", b"/c"]))
        value = data.draw(st.sampled_from([b"1", b"2", None])) if key in present else b"0"
        created = present.get(key, revision)
        steps.append(answer(KeyValue(key, value, created, revision, 1)))
        if value is None:
            del present[key]
        else:
            present[key] = created
        if data.draw(st.booleans()):
            name = key.decode()[1:]
            done = Delete(name) if value is None else Put(name, value)
            steps.insert(data.draw(st.integers(0, len(steps))), own(revision, done))
    audience, end = followed(steps)
    shown, _ = followed([one for one in steps if isinstance(one, WatchAnswer)])
    assert end is ServiceUnavailable
    assert audience.space.range("", "", None, None) == shown.space.range("", "", None, None)
    assert audience.space.events_after(1, "") == shown.space.events_after(1, "")
