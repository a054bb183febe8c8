"""Stack enough for what walks objects that nest 10,000 levels deep, as many as Go reads.

What walks objects calls itself for each level, up to a dozen calls deep. Python ends such a walk
with RecursionError after 1,000 calls, unless told otherwise, and the machine ends the process where
the stack is used up. So both grow together: a thread gets a larger stack first, and only then as
many calls as fit on it (docs/decisions/0041-depth.md). Pure rooms do not import this: they
work with what their callers have.
"""

from __future__ import annotations

import contextlib
import sys
import threading
from collections.abc import Callable, Iterator
from typing import Final

STACK: Final = 128 << 20
"""Bytes of a stack. They are reserved; memory is what is used of them."""

USUAL_STACK: Final = 8 << 20
"""Bytes that a stack has at least, unless told otherwise."""

BYTES_OF_CALL: Final = 1 << 10
"""What a call takes of the stack at most, where C calls Python and Python C."""


@contextlib.contextmanager
def own_process() -> Iterator[None]:
    """Prepare for deep calls in a process that is ours: the main thread, and threads begun inside,
    may call deeply."""
    limit, threads = sys.getrecursionlimit(), _stack_of_threads(STACK)
    sys.setrecursionlimit(max(limit, _main_stack() // BYTES_OF_CALL))
    try:
        yield
    finally:
        sys.setrecursionlimit(limit)
        _stack_of_threads(threads)


def deep_thread(work: Callable[[], None], name: str) -> threading.Thread:
    """Return a thread that has begun, with a stack for deep calls; it may make them inside
    `deep_calls` only. It does not keep the process alive."""
    thread = threading.Thread(target=work, name=name, daemon=True)
    with _LOCK:
        # The size is one for the process, so it is set for as long as one thread starts, and nobody
        # else starts one of ours meanwhile.
        before = _stack_of_threads(STACK)
        try:
            thread.start()
        finally:
            _stack_of_threads(before)
    return thread


@contextlib.contextmanager
def deep_calls(stack: int = STACK) -> Iterator[None]:
    """Allow deep calls in a process of somebody else: calls as deep as fit on a stack of so many
    bytes, which every thread that works inside must have. Python knows one limit for all threads,
    so it is raised for as long as somebody is inside, and no longer."""
    global _outside
    expected = stack // BYTES_OF_CALL
    with _LOCK:
        if not _wanted:
            _outside = sys.getrecursionlimit()
        _wanted.append(expected)
        sys.setrecursionlimit(max([_outside, *_wanted]))
    try:
        yield
    finally:
        with _LOCK:
            _wanted.remove(expected)
            sys.setrecursionlimit(max([_outside, *_wanted]))


_LOCK: Final = threading.Lock()
_wanted: Final[list[int]] = []
"""The limits of those who are inside."""
_outside = 0
"""Everybody else's limit, while somebody is inside."""


def _stack_of_threads(size: int) -> int:
    """Set the size of the stack for threads that begin from now on, and return what it was. Some
    platforms have no choice: 0."""
    try:
        return threading.stack_size(size)
    except (ValueError, RuntimeError):
        return 0


def _main_stack() -> int:
    """Bytes that the stack may grow to, after asking for as many as a deep walk needs."""
    # Only the main thread has a stack that grows; the others have what they were begun with.
    if threading.current_thread() is not threading.main_thread():
        return USUAL_STACK
    try:
        import resource  # late: not on every platform
    except ImportError:
        return USUAL_STACK
    soft, hard = resource.getrlimit(resource.RLIMIT_STACK)
    stack = STACK if hard == resource.RLIM_INFINITY else min(STACK, hard)
    # The kernel looks at the limit each time the stack grows, so raising it now still counts.
    if soft != resource.RLIM_INFINITY and soft < stack:
        try:
            resource.setrlimit(resource.RLIMIT_STACK, (stack, hard))
        except (OSError, ValueError):
            stack = soft
    return max(USUAL_STACK, min(stack, _room_below_stack()))


def _room_below_stack() -> int:
    """Bytes from the beginning of the main stack down to whatever lies below, where Linux tells."""
    below = 0
    try:
        with open("/proc/self/maps", encoding="utf-8", errors="replace") as maps:
            for line in maps:
                last = line.partition(" ")[0].partition("-")[2]
                # The lines of the file are in the order of addresses.
                if line.endswith("[stack]\n"):
                    return int(last, 16) - below - USUAL_STACK
                below = int(last, 16)
    except (OSError, ValueError):
        pass
    return USUAL_STACK
