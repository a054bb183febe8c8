"""Decides which steps of a request leave the event loop.

What has begun on the loop cannot be moved. So it is decided beforehand: by the size of what a
step works on, or by what the same kind of step has taken before.
"""

from __future__ import annotations

import base64
import functools
import time
from collections.abc import Callable
from typing import Final, TypeVar

import msgspec

from celadon.apiserver.forks import Elsewhere
from celadon.apiserver.http_messages import HttpRequest
from celadon.apiserver.workers import REQUEST_SECONDS, Workers, out_of_time
from celadon.kube import StatusError
from celadon.kube.well_known_values import JSON_PATCH
from celadon.late_patterns import late_pattern
from celadon.records import dataclass, field

T = TypeVar("T")

# Bounds are in bytes and not in seconds, so that one request is treated like another on machines of
# any speed (docs/decisions/0039-what-leaves-the-event-loop.md says how they were measured).
LARGE_BYTES: Final = 32 << 10
"""Of JSON: what reading, checking and writing it takes is a few milliseconds."""

SMALL_BYTES: Final = 512
"""Of whatever it is."""

BRIEF_BYTES: Final = 1 << 10
"""Of policies, as JSON: whatever their expressions are, to compile them takes a few
milliseconds."""

FORKED_BYTES: Final = 128 << 10
"""Of JSON: from here on it is worth a process."""

FORKED_HEAD: Final = 64 << 10

MANY_MEMBERS: Final = 1_000
"""Of a body. Each may be an empty item of three bytes, which takes as long to default, to check and
to refuse as a full one."""

UNREADABLE_BYTES: Final = 4 << 10
"""Of what is no JSON: to say what is wrong with it takes longer than reading it would."""

FORKED_SECONDS: Final = 0.1
"""Of processor time in threads: a request like one that has taken so long is given a process."""

YAML_WEIGHT: Final = 6
"""So many times as long takes a byte of YAML, or of protobuf at its worst."""

MANY_OBJECTS: Final = 500
"""Objects of a list, or warnings of an answer."""

MANY_BYTES: Final = 256 << 10
"""Of the objects of a list, as they are stored."""

LARGE_ANSWER: Final = 1 << 20
"""Bytes that are compressed."""

DEAR_SECONDS: Final = 0.004
"""Of processor time: a step that has taken so long is not taken on the loop again."""

_DECAY: Final = 0.7
_SURPRISES: Final = 3
"""After so many, a kind of step stays dear."""

_FORGIVEN: Final = 1_000
"""So many cheap steps in a row make up for surprises: a collection of garbage that falls into a
step is one, too, and a worker costs a small step as much again."""

_KINDS: Final = 1_000

# A `copy` of the whole into itself doubles the object; thirty of them are a gigabyte.
_COPIES: Final = late_pattern(rb"copy|\\")
"""The word, or escapes that may spell it."""

_PATCH: Final = late_pattern(rb'"patch"\s*:\s*"([^"\\]*)"')

_SYNTAX: Final = msgspec.json.Decoder(msgspec.Raw)


# A guess before anything is read, so it errs on the side of a worker: that costs the request a
# little, a wrong guess the time of everybody.
def is_large(request: HttpRequest) -> bool:
    """Return whether what is to be read of the request may take long."""
    size = len(request.body)
    if size > SMALL_BYTES:
        if size > LARGE_BYTES or _has_many_members(request.body):
            return True
        content_type = request.header("content-type")
        if "yaml" in content_type or "protobuf" in content_type:
            return size * YAML_WEIGHT > LARGE_BYTES or request.has_long_head
        if not _is_json(request.body):
            return True
    if request.method == "PATCH" and _may_double(request):
        return True
    return request.has_long_head


def is_worth_a_fork(request: HttpRequest) -> bool:
    """Return whether what is to be read of its body takes so long."""
    size = len(request.body)
    if size <= UNREADABLE_BYTES:
        return False
    content_type = request.header("content-type")
    if "yaml" in content_type or "protobuf" in content_type:
        return size * YAML_WEIGHT > FORKED_BYTES
    return size > FORKED_BYTES or not _is_json(request.body)


# Members of JSON and of brackets in YAML end with commas, those of blocks with lines; in protobuf,
# what is empty has a length of zero.
_ENDS: Final = (b",", b"\n", b"\0")


def _has_many_members(body: bytes) -> bool:
    if len(body) <= MANY_MEMBERS:
        return False
    return any(body.count(end) > MANY_MEMBERS for end in _ENDS)


def _may_double(request: HttpRequest) -> bool:
    """Return whether it is a JSON patch with operations each of which may double the object."""
    is_operations = request.header("content-type").startswith(JSON_PATCH)
    return is_operations and _COPIES.search(request.body) is not None


def may_copy(review: bytes) -> bool:
    """Return whether an answer of a webhook has a patch whose operations may do that. Its text is
    in Base64."""
    if b"patch" not in review and b"\\" not in review:
        return False
    found = _PATCH.search(review)
    if found is None:
        return True
    try:
        return _COPIES.search(base64.b64decode(found[1])) is not None
    except ValueError:
        return False  # which is refused


def _is_json(body: bytes) -> bool:
    """Return whether it is JSON, and not nested deeply. To say what is wrong with it takes a
    thousand times as long as this."""
    try:
        _SYNTAX.decode(body)
    except (msgspec.DecodeError, RecursionError):
        return False
    return True


def is_large_refusal(error: StatusError) -> bool:
    """Return whether writing what is wrong may take long: each of a hundred thousand keys can
    be."""
    details = error.status.details
    many = details is not None and len(details.causes) > MANY_OBJECTS
    return many or len(error.status.message) > LARGE_BYTES


@dataclass(slots=True)
class RequestWork:
    """Does the work of one request: `owner` is its user, `spent` the processor time of its workers,
    `is_large` whether what it has sent, or changes, is; `size` is what it holds in memory."""

    workers: Workers = field(default_factory=Workers)
    owner: str = ""
    is_large: bool = False
    is_expressive: bool = False
    """Whether what it has sent has expressions, schemas or rights: to validate a kilobyte may
    take long."""
    spent: float = 0.0
    size: int = 0

    async def aside(self, function: Callable[..., T], *args: object) -> T:
        """Do one work in a worker with the whole budget. Raises as `step`."""
        result, _ = await self.workers.run(self.owner, functools.partial(function, *args))
        return result

    async def step(self, function: Callable[..., T], *args: object, aside: bool = False) -> T:
        """Call a function here, or in a worker if the request is large, or this step is to be taken
        `aside`. Raises what it raises; StatusError 504, TooMuchWork."""
        if not (aside or self.is_large):
            return function(*args)
        left = REQUEST_SECONDS - self.spent
        if left <= 0:
            raise out_of_time()
        called = functools.partial(function, *args)
        result, spent = await self.workers.run(self.owner, called, left, self.size)
        self.spent += spent
        return result


@dataclass(slots=True)
class _StepHistory:
    """Holds what is known of one kind of step: by which `rules` it was taken, and the seconds it
    may be expected to take; None until the first one is over."""

    rules: object
    seconds: float | None = None
    surprises: int = 0
    cheap: int = 0
    """How many steps in a row were."""

    def is_dear(self) -> bool:
        return self.seconds is None or self.seconds > DEAR_SECONDS


class Pace:
    """Knows what steps have taken that depend on rules which somebody wrote. With other rules
    nothing is known: steps of a kind are taken in a worker until the first of them is over."""

    def __init__(self, clock: Callable[[], float] = time.thread_time) -> None:
        self._clock = clock
        self._histories: dict[tuple[object, ...], _StepHistory] = {}

    async def step(
        self,
        work: RequestWork,
        kind: tuple[object, ...],
        rules: object,
        function: Callable[..., T],
        *args: object,
        waits: Callable[[], bool] | None = None,
        aside: bool = False,
    ) -> T:
        """Take a step as `RequestWork.step` does. `waits` is asked of what is cheap: whether it may
        have to wait for somebody all the same, which nobody may here."""
        history = self._histories.get(kind)
        if history is None or history.rules is not rules:
            if work.workers.is_fork:  # what is compiled would be lost
                raise Elsewhere
            if len(self._histories) >= _KINDS:
                self._histories.clear()
            history = self._histories[kind] = _StepHistory(rules)
        if work.is_large:
            return await work.step(function, *args)
        measured = functools.partial(self._measured, history, function, *args)
        aside = aside or history.is_dear() or (waits is not None and waits())
        return await work.step(measured, aside=aside)

    def _measured(self, history: _StepHistory, function: Callable[..., T], *args: object) -> T:
        began = self._clock()
        try:
            return function(*args)
        # What was expected falls slowly and rises at once, unless it has surprised three times:
        # rules whose cost depends on the object (a cheap one, then a dear one) would else be taken
        # for cheap again and again.
        finally:  # even if it was ended
            seconds = self._clock() - began
            expected = history.seconds or 0.0
            if DEAR_SECONDS < seconds > expected:
                history.surprises += 1
            history.cheap = 0 if seconds > DEAR_SECONDS else history.cheap + 1
            if history.cheap >= _FORGIVEN:
                history.cheap = history.surprises = 0
            falls = 1.0 if history.surprises >= _SURPRISES else _DECAY
            history.seconds = max(seconds, expected * falls)
