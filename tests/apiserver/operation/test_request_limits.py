"""Who gets in, and for how long."""

from __future__ import annotations

import pytest

from celadon.apiserver.http_messages import HttpRequest
from celadon.apiserver.operation.request_limits import (
    MUTATING,
    READING,
    InFlight,
    RequestLimits,
    TooManyRequests,
)
from celadon.apiserver.request_info import RequestInfo, request_info
from celadon.kube import MASTERS, User

ALICE = User("alice")
MASTER = User("root", (MASTERS,))
MAPS = "/api/v1/namespaces/a/configmaps"


def about(method: str, target: str) -> RequestInfo:
    return request_info(HttpRequest(method, target))


@pytest.mark.parametrize(
    ("target", "limit", "seconds"),
    [
        (MAPS, 60, 60),
        (f"{MAPS}?timeout=5s", 60, 5),
        (f"{MAPS}?timeout=2m", 60, 60),
        (f"{MAPS}?timeout=0", 60, 60),
        (f"{MAPS}?timeout=-1s", 60, 60),
        (f"{MAPS}?timeout=soon", 60, 60),
        (f"{MAPS}?timeout=2m", 0, 120),
        (MAPS, 0, None),
        (f"{MAPS}?watch=1&timeout=5s", 60, None),
        ("/api/v1/namespaces/a/pods/p/log", 60, None),
        ("/healthz", 60, 60),
    ],
)
def test_the_smaller_of_two_deadlines_counts(
    target: str, limit: float, seconds: float | None
) -> None:
    request = HttpRequest("GET", target)
    assert RequestLimits(seconds=limit).deadline(request, request_info(request)) == seconds


@pytest.mark.parametrize(
    ("method", "target", "kind"),
    [
        ("GET", f"{MAPS}/m", READING),
        ("GET", MAPS, READING),
        ("GET", "/version", READING),
        ("POST", MAPS, MUTATING),
        ("DELETE", MAPS, MUTATING),
        ("PATCH", f"{MAPS}/m", MUTATING),
        ("GET", f"{MAPS}?watch=1", ""),
    ],
)
def test_reading_changing_and_watching_are_counted_apart(
    method: str, target: str, kind: str
) -> None:
    assert InFlight(RequestLimits()).enter(about(method, target), ALICE) == kind


def test_a_full_house_lets_nobody_in_but_administrators() -> None:
    house = InFlight(RequestLimits(reading=1, mutating=1, fairness=False))
    kind = house.enter(about("GET", MAPS), ALICE)
    with pytest.raises(TooManyRequests):
        house.enter(about("GET", MAPS), ALICE)
    house.enter(about("GET", MAPS), MASTER)
    house.enter(about("POST", MAPS), ALICE)
    with pytest.raises(TooManyRequests):
        house.enter(about("POST", MAPS), ALICE)
    house.leave(kind)
    with pytest.raises(TooManyRequests):  # the administrator is still there
        house.enter(about("GET", MAPS), ALICE)
    house.leave(kind)
    assert house.enter(about("GET", MAPS), ALICE) == READING


def test_zero_is_no_limit() -> None:
    house = InFlight(RequestLimits(reading=0, fairness=False))
    for _ in range(1000):
        house.enter(about("GET", MAPS), ALICE)
    assert house.counts[READING] == 1000


def test_watches_are_counted_while_they_are_open() -> None:
    house = InFlight(RequestLimits(watches=1))
    watch = about("GET", f"{MAPS}?watch=1")
    house.enter(watch, ALICE)
    with house.watching(about("GET", "/api/v1/pods?watch=1")), pytest.raises(TooManyRequests):
        house.enter(watch, ALICE)
    house.enter(watch, ALICE)
