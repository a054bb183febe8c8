"""How many events a server takes."""

from __future__ import annotations

import tracemalloc
from dataclasses import replace
from typing import Any

import pytest

from celadon.admission import Operation, Request
from celadon.admission.plugins import EventLimit
from celadon.apiserver.handlers.write_admission import EventRates
from celadon.kube import GroupVersionKind, GroupVersionResource, StatusError, User

EVENT = Request(
    kind=GroupVersionKind("", "v1", "Event"),
    resource=GroupVersionResource("", "v1", "events"),
    operation=Operation.CREATE,
    name="e",
    namespace="n",
    user=User("alice"),
    object={
        "source": {"component": "kubelet", "host": "h"},
        "involvedObject": {"kind": "Pod", "namespace": "n", "name": "p", "uid": "u"},
    },
)


class Clock:
    now = 0.0

    def __call__(self) -> float:
        return self.now


def rates(*limits: EventLimit, clock: Any = None) -> EventRates:
    return EventRates(limits, clock or Clock())


def limit(type_: str, qps: int = 1, burst: int = 1, kept: int = 100) -> EventLimit:
    return EventLimit(type_, qps, burst, kept)


def refused(given: EventRates, request: Request) -> str:
    try:
        given.check(request)
    except StatusError as error:
        return f"{error.code} {error.status.message}"
    return ""


@pytest.mark.parametrize(
    ("type_", "key"),
    [
        ("Server", ""),
        ("Namespace", "n"),
        ("User", "alice"),
        ("SourceAndObject", "kubelethPodnpu"),
    ],
)
def test_a_bucket_is_empty_and_fills_again(type_: str, key: str) -> None:
    clock = Clock()
    given = rates(limit(type_, qps=2, burst=2), clock=clock)
    assert not refused(given, EVENT)
    assert not refused(given, EVENT)
    why = f"429 Too many requests: limit reached on type {type_} for key {key}"
    assert refused(given, EVENT) == why
    clock.now = 0.5
    assert not refused(given, EVENT)
    assert refused(given, EVENT)


def test_others_have_buckets_of_their_own_as_long_as_there_is_room() -> None:
    given = rates(limit("Namespace", kept=2))
    assert not refused(given, EVENT)
    for name in ("m", "l"):
        assert not refused(given, replace(EVENT, namespace=name))
    assert not refused(given, EVENT), "its bucket was forgotten"


def test_the_last_limit_is_told() -> None:
    given = rates(limit("Server"), limit("User"))
    refused(given, EVENT)
    assert refused(given, EVENT).endswith("type User for key alice")


@pytest.mark.parametrize(
    "change",
    [
        {"dry_run": True},
        {"operation": Operation.DELETE},
        {"kind": GroupVersionKind("events.k8s.io", "v1", "Event")},
        {"kind": GroupVersionKind("", "v1", "ConfigMap")},
    ],
)
def test_what_is_not_counted(change: Any) -> None:
    given, request = rates(limit("Server")), replace(EVENT, **change)
    assert not any(refused(given, request) for _ in range(3))


def test_long_keys_are_not_kept() -> None:
    given = rates(limit("User"))
    tracemalloc.start()
    try:
        for number in range(50):
            made_up = User(f"{number}{'x' * 100_000}")
            assert refused(given, replace(EVENT, user=made_up)) == ""
            assert refused(given, replace(EVENT, user=made_up)) != ""
        made_up = User("")
        kept, _ = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert kept < 1_000_000
