"""How many steps Python takes for something: instructions, which no clock and no load change."""

from __future__ import annotations

import contextlib
import sys
import threading
from collections.abc import Callable, Iterator
from types import FrameType
from typing import Any, Final

LINEAR: Final = 2.6
"""Twice as many items take that many times as many further steps at most: twice for what is linear,
four times for what compares each with each. Somewhat more than twice, because dictionaries grow."""


class Steps:
    """Counts while `counted` is open, in this thread and in those that begin meanwhile."""

    def __init__(self) -> None:
        self.count = 0

    def _of_frame(self, frame: FrameType, event: str, argument: object) -> Any:
        if event == "call":
            frame.f_trace_opcodes = True
            frame.f_trace_lines = False
        else:
            self.count += event == "opcode"
        return self._of_frame

    @contextlib.contextmanager
    def counted(self) -> Iterator[None]:
        before = sys.gettrace()
        threading.settrace(self._of_frame)
        sys.settrace(self._of_frame)
        try:
            yield
        finally:
            sys.settrace(before)
            threading.settrace(before)


def steps_of(work: Callable[[], object]) -> int:
    """How many instructions it takes."""
    steps = Steps()
    with steps.counted():
        work()
    return steps.count


def growth(work: Callable[[int], Callable[[], object]], count: int) -> float:
    """How many times as many steps the second doubling of `count` items adds as the first. `work`
    prepares what is counted for so many items; what is done once is done before."""
    work(count)()
    few, more, many = (steps_of(work(count * factor)) for factor in (1, 2, 4))
    return (many - more) / max(more - few, 1)


class Text(str):
    """A text whose comparison takes a step, which it does not if the interpreter compares texts."""

    __slots__ = ()
    __hash__ = str.__hash__

    def __eq__(self, other: object) -> bool:
        return str.__eq__(self, other)
