"""A command as a process: when it looks for garbage, how it ends, and the forks that it shares
work with."""

from __future__ import annotations

import gc
import os
import sys
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from typing import Any, BinaryIO, Final, NoReturn

# --- When garbage is looked for ----------------------------------------------

# When Python looks for garbage: not while a command is loaded and reads, and seldom afterwards.
#
# What is loaded stays, and looking through it again and again takes a tenth of the time of a short
# command. Reading and judging leave hardly any cycles behind.

YOUNG: Final = 20_000
"""So many new containers are worth a look."""


@contextmanager
def garbage_later() -> Iterator[Callable[[], None]]:
    """Collect nothing until what this yields is called; all is as before at the end."""
    before = gc.get_threshold()
    gc.disable()

    def settle() -> None:
        gc.freeze()
        gc.set_threshold(YOUNG, 20, 50)
        gc.enable()

    try:
        yield settle
    finally:
        gc.set_threshold(*before)
        gc.enable()


# --- The end -----------------------------------------------------------------


def leave(code: int) -> NoReturn:
    """End the process as it stands, with all output written: its objects need not be taken apart,
    which takes a twentieth of a short command, and longer than the end of a server may."""
    for stream in (sys.stdout, sys.stderr):
        if stream is not None:
            with suppress(OSError):
                stream.flush()
    os._exit(code)


# --- Forks -------------------------------------------------------------------

# Forks of this process that know all that it knows and tell what they find, one value after the
# other, through a pipe.

_LENGTH_BYTES: Final = 8


def possible_workers(workers: int) -> int:
    """Return how many are worth their while: as many as are wanted, or (0) as there are processors
    that this process may use; one where it cannot fork."""
    if not hasattr(os, "fork"):
        return 1
    if workers:
        return workers
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def started(work: Callable[[], Iterator[object]], stack: ExitStack) -> BinaryIO:
    """Start a worker; return where what it yields can be read. The stack waits for its end, after
    the pipe is closed."""
    reading, writing = os.pipe()
    process = os.fork()
    if process == 0:
        os.close(reading)
        _run(work, writing)
    os.close(writing)
    stack.callback(os.waitpid, process, 0)
    return stack.enter_context(os.fdopen(reading, "rb"))


def _run(work: Callable[[], Iterator[object]], writing: int) -> NoReturn:
    """All that a worker does. It leaves without tidying up what is its parent's."""
    import pickle  # late: one process has nobody to tell

    with suppress(BaseException), os.fdopen(writing, "wb") as pipe:
        for item in work():
            data = pickle.dumps(item, pickle.HIGHEST_PROTOCOL)
            pipe.write(len(data).to_bytes(_LENGTH_BYTES, "big") + data)
            pipe.flush()
    os._exit(0)


def received(pipe: BinaryIO) -> Any | None:  # noqa: ANN401 - whatever the worker yields
    """Return what a worker has yielded next; None if it has ended."""
    length = int.from_bytes(pipe.read(_LENGTH_BYTES), "big")
    data = pipe.read(length)
    if not length or len(data) < length:
        return None
    import pickle  # late: as above

    return pickle.loads(data)
