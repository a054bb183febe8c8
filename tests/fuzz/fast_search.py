"""The same search at the speed of the readers, for millions of inputs.

Nothing is traced line by line. Where Python has `sys.monitoring` (3.12), each branch that has not
been taken reports itself once, and costs nothing from then on; an older Python traces every
`SAMPLED`-th input. What bounds the work is the processor time that an input takes, and what it adds
to the memory of the process.
"""

from __future__ import annotations

import contextlib
import random
import resource
import signal
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from types import CodeType, FrameType
from typing import Any, Final, Protocol

import celadon
from tests.fuzz.byte_reader import ByteReader
from tests.fuzz.guided_search import mutated, traced, wrong_with

MOST_SECONDS: Final = 1.0
"""Of the processor, for an input of some kilobytes."""

MOST_MEMORY: Final = 64 << 20
"""Bytes that one input may add to the most that the process has had."""

SAMPLED: Final = 4
_PACKAGE: Final = str(Path(celadon.__file__).parent)
_TOOL: Final = 4
_TWO_WAYS: Final = 2


class _TooLong(BaseException):
    """Not an error that readers would answer for."""


class Coverage(Protocol):
    """Tells which inputs lead somewhere."""

    @property
    def branches(self) -> int:
        """How many ways are known."""
        ...

    def tried(self, reader: ByteReader, data: bytes) -> tuple[str, bool]:
        """What is wrong, and whether the input took a branch as none did before."""
        ...


class SampledLines:
    """By tracing some of the inputs."""

    def __init__(self) -> None:
        self._known: set[tuple[CodeType, int, int]] = set()
        self._count = 0

    @property
    def branches(self) -> int:
        return len(self._known)

    def tried(self, reader: ByteReader, data: bytes) -> tuple[str, bool]:
        self._count += 1
        if self._count % SAMPLED != 1 and self._count > len(reader.seeds):
            return wrong_with(reader, data), False
        steps, wrong = traced(reader, data)
        is_new = not steps <= self._known
        self._known |= steps
        return wrong, is_new


class MonitoredBranches:
    """By events of the interpreter, which are switched off where both ways are known."""

    def __init__(self) -> None:
        self.branches = 0
        self._ways: dict[tuple[CodeType, int], int] = {}

    @contextlib.contextmanager
    def watching(self) -> Iterator[None]:
        monitoring: Any = sys.monitoring  # type: ignore[attr-defined, unused-ignore]  # from 3.12 on
        events = monitoring.events
        disable = monitoring.DISABLE

        def branch(code: CodeType, offset: int, target: int) -> Any:
            if not code.co_filename.startswith(_PACKAGE):
                return disable
            known = self._ways.get((code, offset))
            if known is None:
                self._ways[code, offset] = target
                self.branches += 1
                return None
            if known == target:
                return None
            self.branches += 1
            return disable

        def line(code: CodeType, number: int) -> Any:
            self.branches += code.co_filename.startswith(_PACKAGE)
            return disable

        monitoring.use_tool_id(_TOOL, "celadon-fuzz")
        monitoring.register_callback(_TOOL, events.BRANCH, branch)
        monitoring.register_callback(_TOOL, events.LINE, line)
        monitoring.restart_events()  # what an earlier search has switched off
        monitoring.set_events(_TOOL, events.BRANCH | events.LINE)
        try:
            yield
        finally:
            monitoring.set_events(_TOOL, 0)
            monitoring.free_tool_id(_TOOL)

    def tried(self, reader: ByteReader, data: bytes) -> tuple[str, bool]:
        before = self.branches
        wrong = wrong_with(reader, data)
        return wrong, self.branches != before


def _too_long(_: int, __: FrameType | None) -> None:
    raise _TooLong


def bounded(coverage: Coverage, reader: ByteReader, data: bytes) -> tuple[str, bool]:
    """As `Coverage.tried`, and too much time or memory is wrong, too."""
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    signal.setitimer(signal.ITIMER_VIRTUAL, MOST_SECONDS)
    try:
        wrong, is_new = coverage.tried(reader, data)
    except _TooLong:
        return f"more than {MOST_SECONDS} s of processor time", False
    finally:
        signal.setitimer(signal.ITIMER_VIRTUAL, 0)
    more = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before
    if more << 10 > MOST_MEMORY:
        wrong = wrong or f"more than {MOST_MEMORY >> 20} MiB of memory"
    return wrong, is_new


class FastSearch:
    """Of one reader. `finds` has an input for each kind of mistake, as small as it came."""

    def __init__(self, reader: ByteReader, seed: int) -> None:
        self.reader = reader
        self.inputs = 0
        self.branches = 0
        self.finds: dict[str, bytes] = {}
        self.kept: list[bytes] = []
        self._dice = random.Random(f"{reader.name} {seed}")

    def run(self, inputs: int, seconds: float) -> None:
        """So many inputs, or so long, whichever ends first."""
        before = signal.signal(signal.SIGVTALRM, _too_long)
        if self.reader.warms_up:
            wrong_with(self.reader, self.reader.seeds[0])  # what is loaded late is nobody's work
        until = time.monotonic() + seconds
        try:
            if sys.version_info < (3, 12):
                self._search(SampledLines(), inputs, until)
            else:
                branches = MonitoredBranches()
                with branches.watching():
                    self._search(branches, inputs, until)
        finally:
            signal.signal(signal.SIGVTALRM, before)

    def _search(self, coverage: Coverage, inputs: int, until: float) -> None:
        waiting = [*self.reader.seeds, b""]
        while self.inputs < inputs and (self.inputs % 64 or time.monotonic() < until):
            data = waiting.pop() if waiting else mutated(self._dice, self.kept, self.reader.words)
            self.inputs += 1
            wrong, is_new = bounded(coverage, self.reader, data)
            if is_new or not self.kept:
                self.kept.append(data)
            if wrong and len(data) < len(self.finds.get(wrong, data + b" ")):
                self.finds[wrong] = data
        self.branches = coverage.branches
