"""Judging in several processes at once, with the answers of one.

Blocks of an archive are judged one after the other, or by forks of this process, which know all
that it knows: worker k of n takes the blocks k, k + n, k + 2n, ... and writes what it finds to a
pipe. It is read in the order of the blocks, so nobody can tell how many were at work. What a worker
owes that has ended before its time (somebody has killed it) is judged here.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Generator, Iterator, Sequence
from contextlib import ExitStack

from celadon.cli.checking.judging.check_findings import Findings
from celadon.cli.reading.document_archive import DocumentArchive
from celadon.cli.reading.documents import Document
from celadon.cli.worker_pipes import possible_workers, received, started

Judged = Callable[[Sequence[Document], Callable[[], None]], Findings]
"""What comes of some documents; is to tell when it is done with one."""


def workers_for(archive: DocumentArchive, wanted: int) -> int:
    """How many processes judge: as many as wanted, or as there are processors (0); but no more than
    there are blocks, and one where processes cannot fork."""
    return max(1, min(possible_workers(wanted), archive.blocks))


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
            started(functools.partial(_blocks, judged, archive, first, workers), stack)
            for first in range(workers)
        ]
        for number in range(archive.blocks):
            found: Findings | None = received(pipes[number % workers])
            if found is None:
                yield judged(archive.block(number), tick)
                continue
            for _ in range(found.documents):
                tick()
            yield found


def _blocks(
    judged: Judged, archive: DocumentArchive, first: int, workers: int
) -> Iterator[Findings]:
    """What comes of a block and of every so many behind it."""
    for number in range(first, archive.blocks, workers):
        yield judged(archive.block(number), lambda: None)
