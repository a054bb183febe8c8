"""How many seats a request takes."""

from __future__ import annotations

from contextlib import ExitStack

import pytest

from celadon.apiserver.flowcontrol.priority_levels import (
    ONE_SEAT,
    Estimate,
    StoredKind,
    estimate,
    most_seats,
)
from celadon.apiserver.http_messages import HttpRequest
from celadon.apiserver.operation.request_limits import WatchCounts
from celadon.apiserver.request_info import request_info
from celadon.kube.releases import answering_as

MAPS = "/api/v1/namespaces/default/configmaps"
SMALL = StoredKind(1_000, 1_000)
"""A megabyte."""

LARGE = StoredKind(1_000, 50_000)


def seats(
    target: str, stored: StoredKind | None, most: int = 0, method: str = "GET", watches: int = 0
) -> Estimate:
    request, counts = HttpRequest(method, target), WatchCounts()
    info = request_info(request)
    with ExitStack() as open_ones:
        for _ in range(watches):
            open_ones.enter_context(counts.watching(request_info(HttpRequest("GET", MAPS))))
        return estimate(request, info, most, lambda _: stored, counts)


@pytest.mark.parametrize(
    ("query", "stored", "expected"),
    [
        ("", None, 1),
        ("", StoredKind(0), 1),
        ("", SMALL, 10),
        ("", LARGE, 10),
        ("?limit=500", SMALL, 5),
        ("?limit=500&resourceVersion=0", SMALL, 5),
        ("?limit=500&resourceVersion=7", SMALL, 5),
        ("?limit=500&continue=abc", LARGE, 100),
        ("?limit=10&continue=abc", LARGE, 5),
        ("?limit=10&continue=abc&labelSelector=a", LARGE, 100),
        ("?limit=10&continue=abc&labelSelector=a", SMALL, 5),
        ("?resourceVersion=7&resourceVersionMatch=Exact", LARGE, 100),
        ("?resourceVersion=7&resourceVersionMatch=NotOlderThan", LARGE, 10),
        ("?fieldSelector=metadata.name%3Da", LARGE, 1),
        ("?limit=x", SMALL, 10),
        ("?limit=-5", SMALL, 10),
        ("", StoredKind(3), 10),
        ("?watch=1", SMALL, 10),
        ("?watch=1&resourceVersion=0", SMALL, 10),
        ("?watch=1&resourceVersion=7", SMALL, 1),
        ("?watch=1&resourceVersion=7&sendInitialEvents=true", SMALL, 10),
    ],
)
def test_lists(query: str, stored: StoredKind | None, expected: int) -> None:
    assert seats(MAPS + query, stored) == Estimate(expected)


@pytest.mark.parametrize(
    ("release", "query", "count", "expected"),
    [
        ("1.33", "", 450, 5),
        ("1.33", "", 5_000, 10),
        ("1.33", "?limit=100", 450, 5),
        ("1.33", "?limit=100&continue=abc", 450, 2),
        ("1.33", "?limit=100&continue=abc&labelSelector=a", 450, 6),
        ("1.33", "?fieldSelector=metadata.name%3Da", 450, 1),
        ("1.31", "", 450, 5),
        ("1.31", "?limit=100&resourceVersion=7&resourceVersionMatch=NotOlderThan", 450, 5),
        ("1.30", "", 450, 9),
        ("1.30", "?labelSelector=a", 450, 9),
        ("1.30", "?limit=100", 450, 2),
        ("1.30", "?limit=100&resourceVersion=0", 450, 5),
        ("1.30", "?limit=100&resourceVersion=7&resourceVersionMatch=NotOlderThan", 450, 2),
        ("1.30", "?resourceVersion=7", 450, 5),
        ("1.34", "?watch=1", 450, 1),
        ("1.34", "?watch=1&resourceVersion=0", 450, 1),
        ("1.34", "?watch=1&sendInitialEvents=true&resourceVersionMatch=NotOlderThan", 450, 10),
        ("1.33", "?watch=1&sendInitialEvents=true&resourceVersionMatch=NotOlderThan", 450, 5),
        ("1.35", "?watch=1", 450, 10),
    ],
)
def test_estimates_by_release(release: str, query: str, count: int, expected: int) -> None:
    with answering_as(release):
        assert seats(MAPS + query, StoredKind(count)) == Estimate(expected)


@pytest.mark.parametrize(
    ("watches", "most", "expected"),
    [
        (0, 0, ONE_SEAT),
        (9, 0, ONE_SEAT),
        (10, 0, Estimate(1, 1, 0.005)),
        (11, 0, Estimate(1, 2, 0.005)),
        (100, 0, Estimate(1, 10, 0.005)),
        (200, 0, Estimate(1, 10, 0.010)),
        (100, 2, Estimate(1, 2, 0.025)),
    ],
)
def test_writes_that_are_watched(watches: int, most: int, expected: Estimate) -> None:
    assert seats(MAPS, None, most, "POST", watches) == expected
    assert expected.width == max(1, expected.final_seats)


def test_only_those_are_told_who_watch_it() -> None:
    counts = WatchCounts()
    one = f"{MAPS}?watch=1&fieldSelector=metadata.name%3Da"
    watched = (MAPS, one, "/api/v1/configmaps", "/api/v1/namespaces/other/configmaps")
    with ExitStack() as open_ones:
        for target in watched:
            open_ones.enter_context(counts.watching(request_info(HttpRequest("GET", target))))
        put = request_info(HttpRequest("PUT", f"{MAPS}/a"))
        other = request_info(HttpRequest("PUT", f"{MAPS}/b"))
        assert (counts.interested(put), counts.interested(other)) == (3, 2)
        assert counts.interested(request_info(HttpRequest("GET", MAPS))) == 0
    assert counts.interested(put) == 0


def test_tokens_are_told_to_nobody() -> None:
    path = "/api/v1/namespaces/default/serviceaccounts/a/token"
    assert seats(path, None, 0, "POST", 100) == ONE_SEAT


def test_what_is_no_resource_takes_one_seat() -> None:
    assert seats("/version", SMALL) == ONE_SEAT


@pytest.mark.parametrize(
    ("nominal", "queuing", "expected"),
    [
        (245, {"handSize": 6}, 37),
        (74, {"handSize": 6}, 12),
        (49, {"handSize": 6}, 8),
        (10, {"handSize": 6}, 1),
        (1, {"handSize": 6}, 1),
        (245, None, 0),
    ],
)
def test_most_seats_of_a_level(nominal: int, queuing: dict[str, int] | None, expected: int) -> None:
    assert most_seats(nominal, queuing) == expected


def test_a_level_gives_a_request_no_more_than_it_may_take() -> None:
    assert seats(MAPS, SMALL, most=3) == Estimate(3)
