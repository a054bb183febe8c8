"""Auditing in several processes at once, with the findings of one.

Each worker goes through all blocks and takes every so many; going past a block costs next to
nothing. What they find is put together in the order of the blocks. What a worker owes that has
ended before its time (somebody has killed it) is audited here.
"""

from __future__ import annotations

import functools
import itertools
from collections.abc import Callable, Iterator
from contextlib import ExitStack

from celadon.cli.auditing.audit_blocks import Block
from celadon.cli.auditing.audit_findings import Findings
from celadon.cli.worker_pipes import received, started

Blocks = Callable[[], Iterator[Block]]
Audit = Callable[[Block], Findings]


def audited_in_order(blocks: Blocks, audit: Audit, workers: int) -> Iterator[Findings]:
    """What comes of each block."""
    if workers == 1:
        yield from map(audit, blocks())
        return
    with ExitStack() as stack:
        pipes = [
            started(functools.partial(_every, blocks, audit, first, workers), stack)
            for first in range(workers)
        ]
        for number in itertools.count():
            found: Findings | str | None = received(pipes[number % workers])
            if found is None:
                yield from map(audit, itertools.islice(blocks(), number, None))
                return
            if isinstance(found, str):
                return
            yield found


def _every(blocks: Blocks, audit: Audit, first: int, step: int) -> Iterator[Findings | str]:
    """What comes of a worker's blocks; a text says that there are no more."""
    for block in itertools.islice(blocks(), first, None, step):
        yield audit(block)
    yield "done"
