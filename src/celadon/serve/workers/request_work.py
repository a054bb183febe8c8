"""Which steps of a request leave the event loop.

What has begun on the loop cannot be moved. So it is decided beforehand: by the size of what a step
works on, or by what the same kind of step has taken before.
"""

from __future__ import annotations

import functools
import time
from collections.abc import Callable
from dataclasses import field
from typing import Final, TypeVar

from celadon.kube import StatusError
from celadon.records import dataclass
from celadon.serve.http_messages import HttpRequest
from celadon.serve.workers.worker_threads import REQUEST_SECONDS, Workers, out_of_time

T = TypeVar("T")

LARGE_BYTES: Final = 32 << 10
"""Of JSON: what reading, checking and writing it takes is a few milliseconds."""

YAML_WEIGHT: Final = 6
"""So many times as long takes a byte of YAML, or of protobuf at its worst."""

MANY_OBJECTS: Final = 500
"""Objects of a list, or warnings of an answer."""

LARGE_ANSWER: Final = 1 << 20
"""Bytes that are compressed."""

DEAR_SECONDS: Final = 0.004
"""Of processor time: a step that has taken so long is not taken on the loop again."""

_DECAY: Final = 0.7
_SURPRISES: Final = 3
"""After so many, a kind of step is dear for good."""

_KINDS: Final = 1_000


_WEIGHTY: Final = ("yaml", "protobuf")


def is_large(request: HttpRequest) -> bool:
    """Whether what is to be read of the request may take long."""
    size = len(request.body)
    if size * YAML_WEIGHT > LARGE_BYTES:
        if size > LARGE_BYTES:
            return True
        content_type = request.header("content-type")
        if any(one in content_type for one in _WEIGHTY):
            return True
    return request.has_long_head


def is_large_refusal(error: StatusError) -> bool:
    """Whether writing what is wrong may take long: each of a hundred thousand keys can be."""
    details = error.status.details
    many = details is not None and len(details.causes) > MANY_OBJECTS
    return many or len(error.status.message) > LARGE_BYTES


@dataclass(slots=True)
class RequestWork:
    """Of one request: `owner` is its user, `spent` the processor time of its workers, `is_large`
    whether what it has sent, or changes, is."""

    workers: Workers = field(default_factory=Workers)
    owner: str = ""
    is_large: bool = False
    spent: float = 0.0

    async def step(self, function: Callable[..., T], *args: object, aside: bool = False) -> T:
        """Here, or in a worker if the request is large, or this step is to be taken `aside`. Raises
        what it raises; StatusError 504, TooMuchWork."""
        if not (aside or self.is_large):
            return function(*args)
        left = REQUEST_SECONDS - self.spent
        if left <= 0:
            raise out_of_time()
        made, spent = await self.workers.run(self.owner, functools.partial(function, *args), left)
        self.spent += spent
        return made


@dataclass(slots=True)
class _Known:
    """Of one kind of step: by which `rules` it was taken, the seconds it may be expected to
    take."""

    rules: object
    seconds: float
    surprises: int = 0


class Pace:
    """What steps have taken that depend on rules which somebody wrote. With other rules nothing is
    known: the first step of a kind is taken in a worker."""

    def __init__(self, clock: Callable[[], float] = time.thread_time) -> None:
        self._clock = clock
        self._known: dict[tuple[object, ...], _Known] = {}

    async def step(
        self,
        work: RequestWork,
        kind: tuple[object, ...],
        rules: object,
        function: Callable[..., T],
        *args: object,
    ) -> T:
        """As `RequestWork.step`."""
        known = self._known.get(kind)
        aside = known is None or known.rules is not rules or known.seconds > DEAR_SECONDS
        if known is None or known.rules is not rules:
            if len(self._known) >= _KINDS:
                self._known.clear()
            known = self._known[kind] = _Known(rules, 0.0)
        if work.is_large:
            return await work.step(function, *args)
        measured = functools.partial(self._measured, known, function, *args)
        return await work.step(measured, aside=aside)

    def _measured(self, known: _Known, function: Callable[..., T], *args: object) -> T:
        began = self._clock()
        try:
            return function(*args)
        finally:  # even if it was ended
            seconds = self._clock() - began
            if DEAR_SECONDS < seconds > known.seconds:
                known.surprises += 1
            falls = 1.0 if known.surprises >= _SURPRISES else _DECAY
            known.seconds = max(seconds, known.seconds * falls)
