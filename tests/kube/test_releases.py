"""The current release: where it holds, and what is remembered for each."""

from __future__ import annotations

import asyncio
import contextvars
from concurrent.futures import ThreadPoolExecutor

import pytest

from celadon.kube.releases import (
    DEFAULT,
    Answering,
    VersionError,
    answering_as,
    current_release,
    enter_release,
    is_since,
    leave_release,
    per_release,
)


def test_it_holds_inside_only() -> None:
    assert current_release() == DEFAULT
    with answering_as("1.31"):
        with answering_as("1.30"):
            assert current_release() == "1.30"
        assert current_release() == "1.31"
    assert current_release() == DEFAULT


def test_tasks_have_that_of_who_began_them() -> None:
    async def asked() -> str:
        await asyncio.sleep(0)
        return current_release()

    async def both() -> list[str]:
        with answering_as("1.31"):
            first = asyncio.create_task(asked())
        return [await first, await asked()]

    assert asyncio.run(both()) == ["1.31", DEFAULT]


def test_it_may_be_left_in_another_task() -> None:
    async def left(before: Answering) -> str:
        leave_release(before)
        return current_release()

    async def both() -> str:
        before = enter_release("1.31")
        return await asyncio.create_task(left(before))

    assert asyncio.run(both()) == DEFAULT


def test_threads_have_the_usual_one() -> None:
    with answering_as("1.31"), ThreadPoolExecutor(1) as threads:
        assert threads.submit(current_release).result() == DEFAULT


@pytest.mark.parametrize(
    ("release", "minor", "expected"),
    [("1.36", "1.36", True), ("1.35", "1.36", False), ("1.36", "1.9", True)],
)
def test_releases_are_compared_by_number(release: str, minor: str, *, expected: bool) -> None:
    with answering_as(release):
        assert is_since(minor) is expected


@pytest.mark.parametrize("text", ["1", "v1.36", "1.99", "1.36.2", ""])
def test_releases_that_nobody_knows(text: str) -> None:
    with pytest.raises(VersionError), answering_as(text):
        pass


def test_what_is_remembered_is_that_of_the_release() -> None:
    calls = []

    @per_release()
    def release_and(word: str) -> str:
        calls.append(word)
        return f"{current_release()} {word}"

    for release in ("1.36", "1.31", "1.36", "1.31"):
        with answering_as(release):
            assert release_and("here") == f"{release} here"
    assert calls == ["here", "here"]


def test_a_release_may_be_left_in_another_context() -> None:
    """As by a request that begins in a callback and goes on in a task."""
    token = enter_release("1.33")
    try:
        contextvars.copy_context().run(leave_release, token)
        assert current_release() == "1.33"
    finally:
        leave_release(token)
    assert current_release() == DEFAULT
