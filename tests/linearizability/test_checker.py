"""The checker explains what can be explained, and nothing else; stores can be explained."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, cast

import pytest

from celadon.storage import Store
from tests.linearizability.broken_stores import (
    Broken,
    ForgottenWrites,
    LostUpdates,
    RevisionsUsedTwice,
    StaleReads,
)
from tests.linearizability.checker import NEVER, Listing, Operation, explained, faults
from tests.linearizability.histories import History


def put(called: float, answered: float, value: bytes, revision: int, **more: Any) -> Operation:
    return Operation("/a", "put", called, answered, value, revision=revision, **more)


def read(called: float, answered: float, value: bytes | None, revision: int = 0) -> Operation:
    found = None if value is None else (value, revision)
    return Operation("/a", "read", called, answered, found=found)


def gone(called: float, answered: float, revision: int, **more: Any) -> Operation:
    return Operation("/a", "delete", called, answered, revision=revision, **more)


@pytest.mark.parametrize(
    ("history", "well"),
    [
        pytest.param([put(0, 1, b"1", 2), read(2, 3, b"1", 2)], True, id="read after write"),
        pytest.param([put(0, 1, b"1", 2), read(2, 3, None)], False, id="stale read"),
        pytest.param([put(0, 3, b"1", 2), read(1, 2, None)], True, id="read meanwhile, before"),
        pytest.param([put(0, 3, b"1", 2), read(1, 2, b"1", 2)], True, id="read meanwhile, after"),
        pytest.param(
            [put(0, 9, b"1", 2), read(1, 2, b"1", 2), read(3, 4, None)], False, id="back again"
        ),
        pytest.param([read(0, 1, b"1", 2)], False, id="out of nowhere"),
        pytest.param([put(0, 1, b"1", 2), read(2, 3, b"1", 3)], False, id="another revision"),
        pytest.param([put(0, NEVER, b"1", 0), read(2, 3, b"1", 2)], True, id="no answer, done"),
        pytest.param([put(0, NEVER, b"1", 0), read(2, 3, None)], True, id="no answer, not done"),
        pytest.param(
            [put(0, NEVER, b"1", 0), read(2, 3, None), read(4, 5, b"1", 2)], True, id="done later"
        ),
        pytest.param(
            [put(0, NEVER, b"1", 0), read(2, 3, b"1", 2), read(4, 5, None)], False, id="undone"
        ),
        pytest.param(
            [
                put(0, 1, b"1", 2),
                put(2, 5, b"2", 3, expected=2),
                put(2, 5, b"3", 4, expected=2),
            ],
            False,
            id="lost update",
        ),
        pytest.param(
            [
                put(0, 1, b"1", 2),
                put(2, 5, b"2", 3, expected=2),
                put(2, 5, b"3", 0, expected=2, done=False, found=(b"2", 3)),
            ],
            True,
            id="conflict",
        ),
        pytest.param(
            [put(0, 1, b"1", 2), put(2, 5, b"2", 0, expected=2, done=False, found=(b"1", 2))],
            False,
            id="conflict without a reason",
        ),
        pytest.param([put(0, 1, b"1", 2), gone(2, 3, 3), read(4, 5, None)], True, id="deleted"),
        pytest.param([gone(0, 1, 0), read(2, 3, None)], True, id="nothing to delete"),
        pytest.param([put(0, 1, b"1", 2), gone(2, 3, 0)], False, id="deletion that found nothing"),
    ],
)
def test_histories_of_one_key(history: list[Operation], well: bool) -> None:
    assert explained(history) is well


def test_revisions_tie_keys_together() -> None:
    other = Operation("/b", "put", 2, 3, b"2", revision=2)
    assert faults([put(0, 1, b"1", 2), other]) == ["revision 2 is used twice: /a, /b"]
    assert faults([put(0, 1, b"1", 5), other]) == [
        "revision 5 was answered before an older one was called"
    ]


@pytest.mark.parametrize(
    ("revision", "entries", "text"),
    [
        (3, {"/a": (b"1", 2), "/b": (b"2", 3)}, ""),
        (2, {"/a": (b"1", 2)}, ""),
        (3, {"/a": (b"1", 2)}, "a list of revision 3 lacks /b of 3"),
        (2, {"/a": (b"1", 2), "/b": (b"2", 3)}, "a list of revision 2 shows /b of 3"),
    ],
)
def test_lists_are_of_their_revision(revision: int, entries: Any, text: str) -> None:
    writes = [put(0, 9, b"1", 2), Operation("/b", "put", 0, 9, b"2", revision=3)]
    found = faults(writes, [Listing(1, 8, revision, entries)])
    assert found == ([text] if text else [])


def test_stores_can_be_explained(store: Store) -> None:
    history = History()
    history.run(store, clients=6, count=100, seed=1)
    assert faults(history.operations, history.listings) == []
    assert len(history.operations) > 300


@pytest.mark.parametrize("broken", [StaleReads, LostUpdates, ForgottenWrites, RevisionsUsedTwice])
def test_planted_bugs_are_found(broken: Callable[[], Broken]) -> None:
    history = History()
    history.run(cast(Store, broken()), clients=4, count=100, seed=1)
    assert faults(history.operations, history.listings)
