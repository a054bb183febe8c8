"""Which steps leave the event loop: told by the thread that takes them."""

from __future__ import annotations

import asyncio
import base64
import threading
from collections.abc import Callable

import pytest

from celadon.apiserver.http_messages import HttpRequest
from celadon.apiserver.loop_offloading import DEAR_SECONDS, Pace, RequestWork, is_large, may_copy
from celadon.kube import StatusError

JSON = [("content-type", "application/json")]
APPLY = [("content-type", "application/apply-patch+yaml")]
YAML = [("content-type", "application/yaml")]
PROTOBUF = [("content-type", "application/vnd.kubernetes.protobuf")]
PATCH = [("content-type", "application/json-patch+json")]


@pytest.mark.parametrize(
    ("request_", "large"),
    [
        (HttpRequest("POST", "/", JSON, b"{}" + b" " * 10_000), False),
        (HttpRequest("POST", "/", JSON, b"[" * 9_000), True),
        (HttpRequest("POST", "/", JSON, b"[1" + b",1" * 5_000), True),
        (HttpRequest("POST", "/", JSON, b"[" + b"{}," * 2_000 + b"{}]"), True),
        (HttpRequest("POST", "/", YAML, b" " * 1_000), False),
        (HttpRequest("POST", "/", YAML, b"-\n" * 2_000), True),
        (HttpRequest("POST", "/", PROTOBUF, b"k8s\0" + b"\x12\0" * 2_000), True),
        (HttpRequest("POST", "/", JSON, b" " * 100_000), True),
        (HttpRequest("POST", "/", YAML, b" " * 10_000), True),
        (
            HttpRequest("POST", "/", APPLY, b" " * 9000),
            True,
        ),
        (HttpRequest("PATCH", "/", PATCH, b'[{"op":"copy","from":"/a","path":"/b"}]'), True),
        (HttpRequest("PATCH", "/", PATCH, b'[{"op":"\\u0063opy"}]'), True),
        (HttpRequest("PATCH", "/", PATCH, b'[{"op":"remove","path":"/b"}]'), False),
        (HttpRequest("GET", "/?labelSelector=" + "a," * 10_000), True),
        (HttpRequest("GET", "/", [("accept", "a/b," * 10_000)]), True),
    ],
)
def test_what_is_large(request_: HttpRequest, large: bool) -> None:
    assert is_large(request_) == large


@pytest.mark.parametrize(
    ("patch", "copies"),
    [
        (b'[{"op":"copy","from":"/a","path":"/b"}]', True),
        (b' [{"op":"\\u0063opy"}]', True),
        (b'[{"op":"remove","path":"/b"}]', False),
    ],
)
def test_patches_of_webhooks_that_may_double_an_object(patch: bytes, copies: bool) -> None:
    text = base64.b64encode(patch)
    assert may_copy(b'{"response":{"patch": "%b"}}' % text) == copies
    assert may_copy(b'{"response":{"p\\u0061tch": "%b"}}' % text)
    assert may_copy(b"response:\n  patch: %b" % text)
    assert not may_copy(b'{"response":{"allowed":true}}')
    assert not may_copy(b'{"response":{"patch":"!"}}')


def here() -> int:
    return threading.get_ident()


@pytest.mark.parametrize(("large", "aside"), [(True, True), (False, False)])
def test_steps_of_a_large_request_are_taken_aside(large: bool, aside: bool) -> None:
    found = asyncio.run(RequestWork(is_large=large).step(here))
    assert (found != threading.get_ident()) == aside


def test_a_step_that_is_known_to_be_dear_is_taken_aside_however_cheap_its_kind_has_been() -> None:
    pace, work, home = Pace(), RequestWork(), threading.get_ident()

    async def run() -> list[bool]:
        asked = [False, False, True]
        return [await pace.step(work, (), None, here, aside=one) != home for one in asked]

    assert asyncio.run(run()) == [True, False, True]


def test_all_steps_share_one_budget() -> None:
    work = RequestWork(is_large=True, spent=1e9)
    with pytest.raises(StatusError):
        asyncio.run(work.step(here))


def steps(seconds: list[float], rules: Callable[[int], object]) -> list[bool]:
    """For steps that take so long in turn: which were taken aside."""
    times = [time for one in seconds for time in (0.0, one)]
    pace, home = Pace(lambda: times.pop(0)), threading.get_ident()

    async def run() -> list[bool]:
        work = RequestWork()
        return [
            await pace.step(work, ("kind",), rules(number), here) != home
            for number in range(len(seconds))
        ]

    return asyncio.run(run())


DEAR = 2 * DEAR_SECONDS


@pytest.mark.parametrize(
    ("seconds", "aside"),
    [
        ([0.0, 0.0, 0.0], [True, False, False]),
        ([DEAR, 0.0, 0.0, 0.0], [True, True, True, False]),
        ([0.0, DEAR, 0.0, 0.0], [True, False, True, True]),
        ([0.0, DEAR, 0.0, 0.0, DEAR, 0.0, 0.0, DEAR] + [0.0] * 9, None),
    ],
)
def test_what_was_dear_is_taken_aside(seconds: list[float], aside: list[bool] | None) -> None:
    found = steps(seconds, lambda _: "the same")
    if aside is None:
        assert all(found[8:])  # for good
    else:
        assert found == aside


def test_what_has_surprised_is_forgiven_after_a_thousand_cheap_steps() -> None:
    surprising = [0.0, DEAR, 0.0, 0.0, DEAR, 0.0, 0.0, DEAR]
    found = steps(surprising + [0.0] * 1_010, lambda _: "the same")
    assert all(found[8:1_000])
    assert not any(found[-5:])


def test_nothing_is_known_of_other_rules() -> None:
    assert steps([0.0] * 4, lambda number: "ab"[number // 2]) == [True, False, True, False]


def test_steps_beside_the_first_are_taken_aside() -> None:
    """Until the first one is over, nobody knows what they take."""
    pace, home, begun = Pace(), threading.get_ident(), threading.Event()

    def first() -> int:
        begun.wait(60)
        return here()

    def second() -> int:
        begun.set()
        return here()

    async def run() -> list[int]:
        task = asyncio.create_task(pace.step(RequestWork(), ("kind",), "rules", first))
        await asyncio.sleep(0)
        other = await pace.step(RequestWork(), ("kind",), "rules", second)
        return [await task, other]

    assert home not in asyncio.run(run())


def test_what_is_cheap_and_may_wait_for_somebody_is_taken_aside() -> None:
    async def run() -> list[bool]:
        pace, work, home = Pace(lambda: 0.0), RequestWork(), threading.get_ident()
        waits = [False, True, False]  # nobody asks while it is not known to be cheap
        return [
            await pace.step(work, ("kind",), "rules", here, waits=lambda: waits.pop(0)) != home
            for _ in range(4)
        ]

    assert asyncio.run(run()) == [True, False, True, False]
