"""Reviews wait their turn, and not for ever.

Deciding keeps the processor busy, so reviews are decided one after the other. The queue is what
makes an overload visible: when it is full, who comes next is sent away at once (HTTP 429, without
`Retry-After`, which would make an API server ask ten times); who has waited until its caller has
gone is not decided any more (504). Everybody else is served as usual, however many come.

A review that has to ask others (`Unanswered`) goes on in a task of its own, up to its deadline.
"""

from __future__ import annotations

import asyncio
import logging
from collections import deque
from collections.abc import Callable
from time import perf_counter
from typing import Final, TypeAlias

from celadon.cel.value_functions import parse_duration
from celadon.records import dataclass
from celadon.serve import HttpAnswer, HttpRequest
from celadon.webhook.service.review_handler import REVIEW_PATHS, Later, ReviewHandler

AT_ONCE: Final = 8
"""Reviews that are decided before the network is looked at again."""

MARGIN_SECONDS: Final = 0.2
"""An answer should come so long before its caller goes away."""

_MOST_TARGETS: Final = 100
"""What is remembered of paths and queries; clients can invent any number."""

_LOG: Final = logging.getLogger("celadon.webhook")

Reply: TypeAlias = Callable[[HttpAnswer], None]


@dataclass(frozen=True, slots=True)
class Target:
    """A path of reviews, and how long the caller waits."""

    path: str
    seconds: float


def seconds_to_answer(request: HttpRequest, most: float) -> float:
    """How long the caller waits, by `?timeout=`; `most` if it waits longer, or does not say."""
    given = parse_duration(request.first("timeout"))
    return most if given is None or given.nanoseconds <= 0 else min(given.nanoseconds / 1e9, most)


class ReviewQueue:
    """`limit` reviews may wait or be decided at once, 0 is any number; `seconds` are for those
    whose caller does not say. Belongs to the running loop."""

    def __init__(self, handler: ReviewHandler, limit: int, seconds: float) -> None:
        self._handler = handler
        self._limit = limit
        self._seconds = seconds
        self._waiting: deque[tuple[HttpRequest, Target, Reply, float]] = deque()
        self._asking: set[asyncio.Task[None]] = set()
        self._targets: dict[str, Target | None] = {}
        self._loop = asyncio.get_running_loop()

    @property
    def in_flight(self) -> int:
        """Reviews without an answer."""
        return len(self._waiting) + len(self._asking)

    def offer(self, request: HttpRequest, reply: Reply) -> bool:
        """Takes reviews, nothing else."""
        target = self._target(request)
        if target is None:
            return False
        if self._limit and self.in_flight >= self._limit:
            text = "too many reviews at once, please try again later"
            reply(self._handler.refuse(target.path, 429, text, "busy"))
            return True
        if not self._waiting:
            self._loop.call_soon(self._work)
        self._waiting.append((request, target, reply, perf_counter()))
        return True

    def _target(self, request: HttpRequest) -> Target | None:
        if request.method != "POST":
            return None
        try:
            return self._targets[request.target]
        except KeyError:
            found = self._read_target(request)
            if len(self._targets) < _MOST_TARGETS:
                self._targets[request.target] = found
            return found

    def _read_target(self, request: HttpRequest) -> Target | None:
        if request.path not in REVIEW_PATHS:
            return None
        return Target(request.path, seconds_to_answer(request, self._seconds))

    def _work(self) -> None:
        """Decide some. INVARIANT (scheduled): a call is scheduled exactly while some wait."""
        waiting = self._waiting
        try:
            for _ in range(min(len(waiting), AT_ONCE)):
                self._decide(*waiting[0])
                waiting.popleft()
        except BaseException:
            waiting.popleft()
            raise
        finally:
            if waiting:
                self._loop.call_soon(self._work)

    def _decide(self, request: HttpRequest, target: Target, reply: Reply, arrived: float) -> None:
        left = arrived + target.seconds - perf_counter()
        if left <= 0:
            reply(self._late(target))
            return
        try:
            answer = self._handler.begin(request, target.path, arrived)
        except Exception as error:  # noqa: BLE001  the outer edge: one review must not end the server
            answer = self._broken(target, error)
        if isinstance(answer, HttpAnswer):
            reply(answer)
            return
        task = self._loop.create_task(self._ask(answer, target, reply, left))
        self._asking.add(task)
        task.add_done_callback(self._asking.discard)

    async def _ask(self, answer: Later, target: Target, reply: Reply, left: float) -> None:
        margin = min(MARGIN_SECONDS, left / 10)
        try:
            async with asyncio.timeout(left - margin):
                found = await answer
        except TimeoutError:
            found = self._late(target)
        except Exception as error:  # noqa: BLE001  the outer edge, as above
            found = self._broken(target, error)
        reply(found)

    def _late(self, target: Target) -> HttpAnswer:
        text = f"the review was not decided within {target.seconds:g}s"
        return self._handler.refuse(target.path, 504, text, "deadline")

    def _broken(self, target: Target, error: Exception) -> HttpAnswer:
        _LOG.error("%s: this is a bug in celadon", target.path, exc_info=error)
        return self._handler.refuse(target.path, 500, "Internal Server Error", "broken")
