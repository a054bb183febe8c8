"""Judging in several processes at once, with the answers of one.

Blocks of an archive are judged one after the other, or by forks of this process, which know all
that it knows: worker k of n takes the blocks k, k + n, k + 2n, ... and writes what it finds to a
pipe. It is read in the order of the blocks, so nobody can tell how many were at work. What a worker
owes that has ended before its time (somebody has killed it) is judged here.
"""

from __future__ import annotations

import os
import pickle
from collections.abc import Callable, Generator, Sequence
from contextlib import ExitStack, suppress
from typing import BinaryIO, Final, NoReturn

from celadon.cli.checking.judging.check_findings import Findings
from celadon.cli.reading.document_archive import DocumentArchive
from celadon.cli.reading.documents import Document

_LENGTH_BYTES: Final = 8

Judged = Callable[[Sequence[Document], Callable[[], None]], Findings]
"""What comes of some documents; is to tell when it is done with one."""


def workers_for(archive: DocumentArchive, wanted: int) -> int:
    """How many processes judge: as many as wanted, or as there are processors (0); but no more than
    there are blocks, and one where processes cannot fork."""
    if not hasattr(os, "fork"):
        return 1
    return max(1, min(wanted or _processors(), archive.blocks))


def _processors() -> int:
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def judged_in_order(
    judged: Judged, archive: DocumentArchive, workers: int, tick: Callable[[], None]
) -> Generator[Findings, None, None]:
    """What comes of each block, in their order. `tick` is called for each document."""
    if workers == 1:
        for number in range(archive.blocks):
            yield judged(archive.block(number), tick)
        return
    with ExitStack() as stack:
        pipes = [
            stack.enter_context(_worker(judged, archive, first, workers, stack))
            for first in range(workers)
        ]
        for number in range(archive.blocks):
            found = _received(pipes[number % workers])
            if found is None:
                yield judged(archive.block(number), tick)
                continue
            for _ in range(found.documents):
                tick()
            yield found


def _worker(
    judged: Judged, archive: DocumentArchive, first: int, workers: int, stack: ExitStack
) -> BinaryIO:
    """Starts the worker for a block and every so many behind it; where its findings can be read.
    The stack waits for its end, after the pipe is closed."""
    reading, writing = os.pipe()
    process = os.fork()
    if process == 0:
        os.close(reading)
        _work(judged, archive, range(first, archive.blocks, workers), writing)
    os.close(writing)
    stack.callback(os.waitpid, process, 0)
    return os.fdopen(reading, "rb")


def _work(judged: Judged, archive: DocumentArchive, blocks: range, writing: int) -> NoReturn:
    """All that a worker does. It leaves without tidying up what is its parent's."""
    with suppress(BaseException), os.fdopen(writing, "wb") as pipe:
        for number in blocks:
            data = pickle.dumps(
                judged(archive.block(number), lambda: None), pickle.HIGHEST_PROTOCOL
            )
            pipe.write(len(data).to_bytes(_LENGTH_BYTES, "big") + data)
            pipe.flush()
    os._exit(0)


def _received(pipe: BinaryIO) -> Findings | None:
    """What a worker has found next; None if it has ended."""
    length = int.from_bytes(pipe.read(_LENGTH_BYTES), "big")
    data = pipe.read(length)
    if not length or len(data) < length:
        return None
    found: Findings = pickle.loads(data)
    return found
