"""Work that others do, and its results in the order in which it was given.

Some more is always under way than has been put together, but no more than a few times as much as
there are workers, so results do not pile up. Work that fails, because its worker has died or for
whatever reason, is given out again, by itself; what fails again and again is a failure, which says
so.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future
from typing import Any, Final, Protocol, TypeVar

from celadon.records import dataclass

T = TypeVar("T")

ATTEMPTS: Final = 3
"""How often work is given out."""


class Engine(Protocol):
    """Somebody who works."""

    @property
    def workers(self) -> int:
        """How many at once."""
        ...

    def share(self, value: object) -> object:
        """What stands for a value among the arguments of work; each worker is given it once."""
        ...

    def submit(self, work: Callable[..., Any], *arguments: object) -> Future[Any]:
        """Has it done some time. Raises whatever a broken engine raises."""
        ...

    def renew(self) -> None:
        """Whatever has broken is made anew."""
        ...

    def close(self) -> None:
        """Nothing more will be asked for."""
        ...


@dataclass(frozen=True, slots=True)
class Task:
    """A piece of work, which makes a `result` of this type. `about` is whatever its giver wants to
    know when it is done; `key` tells it from all others."""

    work: Callable[..., Any]
    result: type[object]
    arguments: tuple[object, ...]
    about: Any
    key: str


@dataclass(frozen=True, slots=True)
class Failure:
    """What became of work that could not be done."""

    why: str


class Memory(Protocol):
    """Results of an earlier run."""

    def found(self, kind: type[T], key: str) -> T | None:
        """A result of this type, if there is one."""
        ...

    def keep(self, key: str, result: object) -> None:
        """For a later run."""
        ...


def in_order(
    engine: Engine, tasks: Iterable[Task], memory: Memory, ahead: int
) -> Iterator[tuple[Task, Any]]:
    """Each task with its result, or with a `Failure`."""
    coming = iter(tasks)
    waiting: deque[tuple[Task, Future[Any] | None]] = deque()
    while True:
        while len(waiting) < ahead and (task := next(coming, None)) is not None:
            waiting.append((task, _begun(engine, task, memory)))
        if not waiting:
            return
        task, future = waiting.popleft()
        yield task, _result(engine, task, future, memory)


def _begun(engine: Engine, task: Task, memory: Memory) -> Future[Any] | None:
    """None for what the engine cannot take now."""
    known = memory.found(task.result, task.key)
    if known is not None:
        done: Future[Any] = Future()
        done.set_result(known)
        return done
    try:
        return engine.submit(task.work, *task.arguments)
    except Exception:  # noqa: BLE001 - each engine breaks in its own way
        return None


def _result(engine: Engine, task: Task, future: Future[Any] | None, memory: Memory) -> object:
    why = ""
    for attempt in range(ATTEMPTS):
        try:
            if attempt or future is None:
                engine.renew()
                future = engine.submit(task.work, *task.arguments)
            result = future.result()
        except Exception as error:  # noqa: BLE001 - of workers, and of whatever they do
            why = f"{type(error).__name__}: {error}"
        else:
            memory.keep(task.key, result)
            return result
    return Failure(f"given up after {ATTEMPTS} attempts: {why}")
