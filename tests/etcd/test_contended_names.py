"""Events that do not fit each other are noticed."""

from __future__ import annotations

import random
import threading
from typing import Any

import pytest

from tests.apiserver.served_process import config_map
from tests.etcd.contended_names import NAMES, Acknowledged, Client, Watcher


def event(kind: str, revision: int, replaces: int) -> Any:
    made = config_map(NAMES[0])
    made["metadata"]["resourceVersion"] = str(revision)
    return {"type": kind, "object": {**made, "data": {"replaces": str(replaces)}}}


GOOD = [event("ADDED", 5, 0), event("MODIFIED", 7, 5), event("DELETED", 8, 5), event("ADDED", 9, 0)]


def watcher_of(events: list[Any]) -> Watcher:
    watcher = Watcher(Client((), random.Random(0)), threading.Event(), 4, {})
    for one in events:
        watcher._take(one)
    return watcher


def test_a_chain_without_a_gap() -> None:
    watcher = watcher_of(GOOD)
    assert watcher.faults == []
    made = [
        Acknowledged(NAMES[0], "update", 7, "", 0.0),
        Acknowledged(NAMES[0], "delete", 7, "", 0.0),
    ]
    assert watcher.missing(made) == []
    lost = Acknowledged(NAMES[0], "update", 6, "", 0.0)
    assert watcher.missing([lost]) == [lost]


@pytest.mark.parametrize(
    "events",
    [
        pytest.param([*GOOD[:2], GOOD[1]], id="repeated"),
        pytest.param(GOOD[1:], id="missed at first"),
        pytest.param([*GOOD[:2], GOOD[3]], id="missed"),
        pytest.param([*GOOD[:2], event("MODIFIED", 10, 5)], id="stale condition accepted"),
        pytest.param([GOOD[0], event("MODIFIED", 4, 5)], id="out of order"),
    ],
)
def test_faults_are_noticed(events: list[Any]) -> None:
    assert watcher_of(events).faults != []
