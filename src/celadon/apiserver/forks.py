"""Runs long work in a process of its own: a fork of the server, which sees all as it was when it
began, and changes nothing.

Threads of Python share one lock, so heavy work in one makes the event loop wait, however short its
turns are. A fork has a lock of its own, can be killed, and leaves no garbage behind. It needs to be
sent nothing: the request, the schemas and the policies are in its memory already. What it made
comes back as JSON with bytes beside it, and what it wants to be stored as well: the process that
forked it stores that, if it is still true what the fork has seen (docs/decisions/0047-forks.md).
"""

from __future__ import annotations

import asyncio
import contextlib
import ctypes
import gc
import json
import math
import os
import signal
import socket
import struct
import sys
import time
import warnings
from abc import ABC, abstractmethod
from collections.abc import Awaitable, Callable, Iterator
from concurrent.futures import Future
from contextlib import AbstractContextManager
from functools import partial
from typing import Any, Final, NoReturn, TypeAlias

from celadon import storage
from celadon.kube.json_types import JsonObject
from celadon.records import dataclass, field

# --- Messages ----------------------------------------------------------------
#
# What a process and its fork tell each other: a JSON object, and bytes that go with it.

_SIZES: Final = struct.Struct("!IQ")
_ASKED: Final = struct.Struct("!d")
_BORN: Final = struct.Struct("!I")
_PIECE: Final = 1 << 18


@dataclass(frozen=True, slots=True)
class ForkMessage:
    """Holds one message, to a fork or from it."""

    head: JsonObject
    body: bytes = b""

    def start(self) -> bytes:
        """Return what is sent before the body."""
        # without escapes, each of which the event loop would take apart; half a character is one
        head = json.dumps(self.head, ensure_ascii=False).encode("utf-8", "surrogatepass")
        return _SIZES.pack(len(head), len(self.body)) + head

    def written(self) -> bytes:
        """Return the bytes that are sent."""
        return self.start() + self.body


class Elsewhere(BaseException):
    """Raised in a fork by what only the server itself can do: all is begun anew there. With a
    `reason`, the next requests of the kind would come to the same."""

    def __init__(self, reason: str = "") -> None:
        super().__init__(reason)
        self.reason = reason


class ForkFailed(Exception):
    """Says that the system has no process for us."""


# --- The life of a fork ------------------------------------------------------

NICENESS: Final = 10
"""How far a fork stands behind the server, and whatever else there is."""

MOST_MEMORY: Final = 1 << 30
"""Bytes that a fork may take beside what the server has."""

_PR_SET_PDEATHSIG: Final = 1
_FIRST_FILE: Final = 3


class Parent:
    """Talks to the process that has forked this one, or let a template do it."""

    def __init__(self, connection: socket.socket) -> None:
        self._connection = connection

    def tell(self, message: ForkMessage) -> None:
        """Send something to the parent."""
        self._connection.sendall(message.written())

    def tell_who_we_are(self) -> None:
        """Send our process id, with a descriptor by which our end is seen."""
        end = os.pidfd_open(os.getpid())
        socket.send_fds(self._connection, [_BORN.pack(os.getpid())], [end])
        os.close(end)

    def ask(self, message: ForkMessage) -> ForkMessage:
        """Send something to the parent, and wait for its reply."""
        self.tell(message)
        return self.hear()

    def hear(self) -> ForkMessage:
        """Wait for what the parent says, and return it."""
        sizes = _SIZES.unpack(self._exactly(_SIZES.size))
        head, body = map(self._exactly, sizes)
        return ForkMessage(json.loads(head), body)

    def asks_for_forks(self) -> Iterator[tuple[socket.socket, float]]:
        """Yield what a template is asked for: connections for forks, and what these may use."""
        while True:
            data, files, _, _ = socket.recv_fds(self._connection, _ASKED.size, 1)
            if not files:
                return
            yield socket.socket(fileno=files[0]), _ASKED.unpack(data)[0]

    def _exactly(self, size: int) -> bytes:
        read = bytearray()
        while len(read) < size:
            piece = self._connection.recv(min(size - len(read), _PIECE))
            if not piece:
                raise ConnectionError("the parent has gone")
            read += piece
        return bytes(read)


Life: TypeAlias = Callable[[Parent], ForkMessage]
"""What a fork does, and what it says at its end."""

Held: TypeAlias = Callable[[], AbstractContextManager[object]]


def can_fork() -> bool:
    """Return whether this system has what is needed."""
    return sys.platform == "linux" and hasattr(os, "fork") and hasattr(os, "pidfd_open")


_here: Final = {"is_fork": False}


def require_server(reason: str) -> None:
    """Raise Elsewhere in a fork, since what comes next can only be done by the server itself."""
    if _here["is_fork"]:
        raise Elsewhere(reason)


def _live(connection: socket.socket, life: Life, settle: Callable[[], None]) -> NoReturn:
    """Live the whole of a fork. It shows no failure of its own: its parent does all again, and
    fails."""
    code = 1
    try:
        _here["is_fork"] = True
        _let_go(connection.fileno())
        settle()
        parent = Parent(connection)
        try:
            message = life(parent)
        except MemoryError:
            raise
        except Elsewhere as elsewhere:
            message = ForkMessage({"elsewhere": elsewhere.reason})
        except BaseException:  # noqa: BLE001 - whatever it is, it will be seen there
            message = ForkMessage({"elsewhere": ""})
        parent.tell(message)
        code = 0
    finally:
        os._exit(code)


def _let_go(own_file: int) -> None:
    """Close all that the parent has open, and let its end be the end of this process."""
    import resource  # late: not on every platform

    with contextlib.suppress(ValueError):  # outside of the main thread there are no handlers
        signal.set_wakeup_fd(-1)
        signal.signal(signal.SIGTERM, signal.SIG_DFL)
        signal.signal(signal.SIGINT, signal.SIG_IGN)
    ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0)
    most_files = resource.getrlimit(resource.RLIMIT_NOFILE)[0]
    os.closerange(_FIRST_FILE, own_file)
    os.closerange(own_file + 1, most_files)


def _give_way() -> None:
    """Let others go before this process and those that it forks."""
    with contextlib.suppress(OSError):
        os.sched_setscheduler(0, os.SCHED_BATCH, os.sched_param(0))
    os.nice(NICENESS)
    with contextlib.suppress(OSError), open("/proc/self/oom_score_adj", "w") as score:
        score.write("500")  # where memory is short, it is the first to go
    gc.freeze()
    gc.disable()


def _limit(seconds: float) -> None:
    """Bound the processor time and the memory of this process."""
    import resource  # late: not on every platform

    processor = math.ceil(seconds) + 1
    with open("/proc/self/statm", encoding="ascii") as sizes:
        now = int(sizes.read().split()[0]) * resource.getpagesize()
    for kind, most in (
        (resource.RLIMIT_CPU, processor),
        (resource.RLIMIT_AS, now + MOST_MEMORY),
        (resource.RLIMIT_CORE, 0),
    ):
        hard = resource.getrlimit(kind)[1]
        soft = most if hard == resource.RLIM_INFINITY else min(most, hard)
        resource.setrlimit(kind, (soft, hard))


# --- Forking -----------------------------------------------------------------


class Process(ABC):
    """One of ours that says something and ends. `heard` is told what it says, `ended` that it is no
    more; both in the event loop, by which it is made."""

    def __init__(
        self,
        connection: socket.socket,
        heard: Callable[[ForkMessage], None],
        ended: Callable[[], None],
    ) -> None:
        self._loop = asyncio.get_running_loop()
        self._heard = heard
        self._ended = ended
        self._unread = bytearray()
        self._is_over = False
        self._connection = connection
        connection.settimeout(0)
        self._loop.add_reader(connection.fileno(), self._read)
        self.spent = 0.0
        self.has_failed = False
        """Whether the system had no process for us after all."""

    @abstractmethod
    def used(self) -> float:
        """Return the processor time until now."""

    @abstractmethod
    def kill(self) -> None:
        """End the process now."""

    def tell(self, message: ForkMessage) -> None:
        """Short things only: nobody waits until the fork has heard them."""
        with contextlib.suppress(OSError):  # it has gone
            self._connection.send(message.written())

    def close(self) -> None:
        """End it, and wait until it has ended; nobody is told."""
        if not self._is_over:
            self.kill()
            self._bury()

    def _received(self) -> bytes:
        return self._connection.recv(_PIECE)

    def _read(self) -> bool:
        """Return whether there may be more."""
        try:
            piece = self._received()
        except BlockingIOError:
            return False
        except OSError:
            piece = b""
        if not piece:
            self._loop.remove_reader(self._connection.fileno())
            return False
        self._unread += piece
        while (message := self._next()) is not None:
            self._heard(message)
        return True

    def _next(self) -> ForkMessage | None:
        unread = self._unread
        if len(unread) < _SIZES.size:
            return None
        head, body = _SIZES.unpack_from(unread)
        begin, end = _SIZES.size + head, _SIZES.size + head + body
        if len(unread) < end:
            return None
        message = ForkMessage(json.loads(unread[_SIZES.size : begin]), bytes(unread[begin:end]))
        del unread[:end]
        return message

    def _over(self) -> None:
        while self._read():
            pass
        self._bury()
        self._ended()

    def _bury(self) -> None:
        self._loop.remove_reader(self._connection.fileno())
        self._connection.close()
        self._is_over = True


def _pair() -> tuple[socket.socket, socket.socket]:
    """Return two connected sockets: ours, and that of a process to come. Raises ForkFailed."""
    try:
        return socket.socketpair()
    except OSError as error:
        raise ForkFailed(str(error)) from None


def _processor_time(pid: int, known: float) -> float:
    """Return what a process has used until now; what is `known` of it where it is no more."""
    try:
        return time.clock_gettime((~pid << 3) | 2)  # the clock of another process
    except OSError:
        return known


class Fork(Process):
    """A process that is forked now. `held` keeps other threads from changing what it will look
    at."""

    def __init__(
        self,
        life: Life,
        seconds: float,
        held: Held,
        heard: Callable[[ForkMessage], None],
        ended: Callable[[], None],
    ) -> None:
        """Fork this process, without limits if `seconds` has none. Raises ForkFailed."""
        ours, theirs = _pair()
        try:
            with warnings.catch_warnings(), held():
                # From Python 3.12 on: there are threads. They hold nothing that a fork waits for.
                warnings.simplefilter("ignore", DeprecationWarning)
                self._pid = os.fork()
        except OSError as error:
            ours.close()
            theirs.close()
            raise ForkFailed(str(error)) from None
        if not self._pid:
            _live(theirs, life, partial(_settle, seconds))
        theirs.close()
        super().__init__(ours, heard, ended)
        self._end = os.pidfd_open(self._pid)
        self._loop.add_reader(self._end, self._over)

    def used(self) -> float:
        return self.spent if self._is_over else _processor_time(self._pid, self.spent)

    def kill(self) -> None:
        if not self._is_over:
            os.kill(self._pid, signal.SIGKILL)

    def ask_for_fork(self, connection: socket.socket, seconds: float) -> None:
        """Ask a fork that is a template for a fork of its own. Raises OSError."""
        socket.send_fds(self._connection, [_ASKED.pack(seconds)], [connection.fileno()])

    def ask_no_more(self) -> None:
        """Tell a fork that is a template that nothing more will be asked: it ends when all have
        ended that it has forked."""
        with contextlib.suppress(OSError):  # it has gone
            self._connection.shutdown(socket.SHUT_WR)

    def _bury(self) -> None:
        self._loop.remove_reader(self._end)
        os.close(self._end)
        super()._bury()
        _, _, usage = os.wait4(self._pid, 0)
        self.spent = usage.ru_utime + usage.ru_stime


def _settle(seconds: float) -> None:
    _give_way()
    if seconds < math.inf:
        _limit(seconds)


# --- Templates ---------------------------------------------------------------
#
# To fork takes the longer the more a process holds, and what it writes to from then on has to be
# copied, page by page. One that answers within a millisecond has no time for that. So it forks a
# template, which does nothing but fork.


class Template:
    """Is a fork that forks as often as it is asked. Those forks see all as it was when the template
    was made (`stamp` says what that was), and hear first what they are for."""

    def __init__(self, life: Life, held: Held, stamp: object) -> None:
        """Fork the template. Raises ForkFailed."""
        self.stamp = stamp
        self.is_over = False
        """Whether it has ended."""
        self._process = Fork(
            lambda parent: _fork_on(parent, life), math.inf, held, lambda _: None, self._ended
        )

    def _ended(self) -> None:
        self.is_over = True

    def ask(self, connection: socket.socket, seconds: float) -> None:
        """Have it fork one that talks by the connection. Raises ForkFailed."""
        try:
            self._process.ask_for_fork(connection, seconds)
        except OSError as error:
            raise ForkFailed(str(error)) from None

    def retire(self) -> None:
        """Let the template end when those have ended that it has forked."""
        self._process.ask_no_more()

    def close(self) -> None:
        """End the template now, and its forks with it."""
        self._process.close()
        self.is_over = True


def _fork_on(parent: Parent, life: Life) -> ForkMessage:
    """Live the life of a template: fork whenever the parent asks for it."""
    for connection, seconds in parent.asks_for_forks():
        with contextlib.suppress(ChildProcessError):  # there are none
            while os.waitpid(-1, os.WNOHANG)[0]:
                pass
        with contextlib.suppress(OSError):  # who asked sees that the connection ends
            if not os.fork():
                _live(connection, partial(_born, life=life), partial(_limit, seconds))
        connection.close()
    with contextlib.suppress(ChildProcessError):
        while True:
            os.wait()
    return ForkMessage({})


def _born(parent: Parent, life: Life) -> ForkMessage:
    parent.tell_who_we_are()
    return life(parent)


class TemplateFork(Process):
    """A process that a template forks, and that is `told` what it is for."""

    def __init__(
        self,
        template: Template,
        message: ForkMessage,
        seconds: float,
        heard: Callable[[ForkMessage], None],
        ended: Callable[[], None],
    ) -> None:
        """Ask the template for a fork. Raises ForkFailed."""
        ours, theirs = _pair()
        try:
            template.ask(theirs, seconds)
        except ForkFailed:
            ours.close()
            raise
        finally:
            theirs.close()
        super().__init__(ours, heard, ended)
        self._pid: int | None = None
        self._end: int | None = None
        self._is_killed = False
        self._unsent = [memoryview(message.start()), memoryview(message.body)]
        self._loop.add_writer(ours.fileno(), self._write)

    def _write(self) -> None:
        """Send as much as the kernel takes now."""
        try:
            sent = self._connection.send(self._unsent[0])
        except BlockingIOError:
            return
        except OSError:  # it has gone, which is seen elsewhere
            self._unsent.clear()
        else:
            self._unsent[0] = self._unsent[0][sent:]
            while self._unsent and not self._unsent[0]:
                del self._unsent[0]
        if not self._unsent:
            self._loop.remove_writer(self._connection.fileno())

    def _received(self) -> bytes:
        if self._pid is not None:
            return super()._received()
        try:
            born, files, _, _ = socket.recv_fds(self._connection, _BORN.size, 1)
        except ConnectionResetError:
            born, files = b"", []
        if not files:  # it never was
            self._loop.call_soon(self._over_unborn)
            return b""
        (self._pid,) = _BORN.unpack(born)
        self._end = files[0]
        self._loop.add_reader(self._end, self._over)
        return super()._received()

    def _over_unborn(self) -> None:
        if not self._is_over:
            self.has_failed = not self._is_killed
            self._bury()
            self._ended()

    def used(self) -> float:
        is_running = self._pid is not None and not self._is_over
        return _processor_time(self._pid or 0, self.spent) if is_running else self.spent

    def kill(self) -> None:
        if self._is_over:
            return
        self._is_killed = True
        if self._end is None:  # it will see that nobody listens
            self._loop.call_soon(self._over_unborn)
            return
        with contextlib.suppress(OSError):  # it has just ended
            signal.pidfd_send_signal(self._end, signal.SIGKILL)

    def _bury(self) -> None:
        self.spent = self.used()
        self._loop.remove_writer(self._connection.fileno())
        if self._end is not None:
            self._loop.remove_reader(self._end)
            os.close(self._end)
        super()._bury()


# --- The store of a fork -----------------------------------------------------


@dataclass(slots=True)
class ForkedStore:
    """The store as it was when the process was forked. What is to be written goes to the parent, if
    the first key begins with one of `forwarded_prefixes`: nothing else has been told apart from
    what the server itself has to do."""

    snapshot: storage.Store
    parent: Parent
    forwarded_prefixes: tuple[str, ...] = ()
    _synced: Future[int] = field(default_factory=Future)

    def revision(self) -> int:
        return self.snapshot.revision()

    @property
    def is_shared(self) -> bool:
        return False

    def synced(self) -> Future[int]:
        if not self._synced.done():
            self._synced.set_result(self.revision())
        return self._synced

    def trouble(self) -> str:
        return self.snapshot.trouble()

    def writing_trouble(self) -> str:
        return self.snapshot.writing_trouble()

    def get(self, key: str, revision: int | None = None) -> storage.Entry | None:
        return self.snapshot.get(key, revision)

    def range(
        self, prefix: str, start: str = "", limit: int | None = None, revision: int | None = None
    ) -> storage.Page:
        return self.snapshot.range(prefix, start, limit, revision)

    def submit(self, transaction: storage.Transaction) -> Future[storage.Outcome]:
        """Ask the parent to carry out a transaction. Raises Elsewhere where it did not happen: the
        fork cannot see what is there instead."""
        if not self.forwarded_prefixes or not transaction.operations[0].key.startswith(
            self.forwarded_prefixes
        ):
            raise Elsewhere("writes")
        ask = self.parent.ask(_asked_to_store(transaction))
        if "revision" not in ask.head:
            raise Elsewhere
        revision = ask.head["revision"]
        events = zip(transaction.operations, ask.head["entries"], strict=True)
        future = Future[storage.Outcome]()
        result = tuple(self._event(event, revision, numbers) for event, numbers in events)
        future.set_result(storage.Committed(revision, result))
        return future

    def carry_out(
        self, transaction: storage.Transaction, promise: storage.Promise[storage.Outcome]
    ) -> None:
        promise.set_result(self.submit(transaction).result())

    def _event(
        self,
        operation: storage.Put | storage.Delete,
        revision: int,
        numbers: Any,  # noqa: ANN401 - JSON
    ) -> storage.Event | None:
        previous = self.snapshot.get(operation.key)
        if isinstance(operation, storage.Delete):
            return storage.Event(revision, operation.key, None, previous) if previous else None
        entry = storage.Entry(operation.key, operation.value, *numbers)
        return storage.Event(revision, operation.key, entry, previous)

    def compact(self, revision: int) -> Future[int]:
        raise Elsewhere

    def watch(
        self,
        prefix: str,
        after: int | None = None,
        notify: Callable[[], object] | None = None,
        buffer: int = 0,
    ) -> storage.Watch:
        raise Elsewhere

    def held(self) -> AbstractContextManager[object]:
        return contextlib.nullcontext()

    def sweep(self) -> None:
        pass

    def close(self) -> None:
        pass


def _asked_to_store(transaction: storage.Transaction) -> ForkMessage:
    operations = transaction.operations
    values = [operation.value for operation in operations if isinstance(operation, storage.Put)]
    head = {
        "conditions": [
            [condition.key, condition.mod_revision] for condition in transaction.conditions
        ],
        "operations": [
            [operation.key, len(operation.value), operation.seconds]
            if isinstance(operation, storage.Put)
            else [operation.key]
            for operation in operations
        ],
    }
    return ForkMessage(head, b"".join(values))


def asked_transaction(message: ForkMessage) -> storage.Transaction:
    """Return what a fork wants to be stored."""
    index, operations = 0, list[storage.Put | storage.Delete]()
    for key, *of_put in message.head["operations"]:
        if not of_put:
            operations.append(storage.Delete(key))
            continue
        size, seconds = of_put
        operations.append(storage.Put(key, message.body[index : index + size], seconds))
        index += size
    conditions = tuple(
        storage.Condition(key, revision) for key, revision in message.head["conditions"]
    )
    return storage.Transaction(conditions, tuple(operations))


async def stored_for_fork(
    submit: Callable[[storage.Transaction], Awaitable[storage.Outcome]], message: ForkMessage
) -> ForkMessage:
    """Return what a fork is told that wants something to be stored. Raises as the store."""
    try:
        outcome = await submit(asked_transaction(message))
    except storage.StoreClosed:
        return ForkMessage({})
    if not isinstance(outcome, storage.Committed):
        return ForkMessage({})
    entries = [
        None
        if event is None or event.entry is None
        else [event.entry.create_revision, event.entry.mod_revision, event.entry.expires]
        for event in outcome.events
    ]
    return ForkMessage({"revision": outcome.revision, "entries": entries})
