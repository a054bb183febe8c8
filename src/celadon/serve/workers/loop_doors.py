"""What belongs to the event loop, asked from a worker.

INVARIANT (one owner): views, mirrors and the store belong to the thread of the event loop. Their
doors are marked `on_loop`: whoever comes from a worker is served by the loop, and waits. On the
loop itself a marked method costs one look at a thread-local.
"""

from __future__ import annotations

import asyncio
import functools
import threading
from collections.abc import Callable
from concurrent.futures import Future
from typing import Any, ParamSpec, TypeVar

P = ParamSpec("P")
R = TypeVar("R")


class _Here(threading.local):
    """Of each thread: the loop that it works for; None if it works for none."""

    home: asyncio.AbstractEventLoop | None = None


_here = _Here()


def belong_to(loop: asyncio.AbstractEventLoop) -> None:
    """This thread is a worker of the loop from now on."""
    _here.home = loop


def on_loop(method: Callable[P, R]) -> Callable[P, R]:
    """The method runs in the loop's thread, wherever it is called."""

    @functools.wraps(method)
    def asked(*args: P.args, **kwargs: P.kwargs) -> R:
        home = _here.home
        if home is None:
            return method(*args, **kwargs)
        found: Future[R] = Future()
        home.call_soon_threadsafe(_answer, found, method, args, kwargs)
        return found.result()

    return asked


def _answer(found: Future[Any], method: Callable[..., Any], args: Any, kwargs: Any) -> None:  # noqa: ANN401 - any method's
    try:
        found.set_result(method(*args, **kwargs))
    except BaseException as error:  # noqa: BLE001  whatever it is, it is for who asked
        found.set_exception(error)
