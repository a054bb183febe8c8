"""Takes long work off the event loop, into threads and forks that take turns; threads may call the
loop back, and their work ends in order."""

from __future__ import annotations

import asyncio
import contextlib
import contextvars
import ctypes
import functools
import queue
import threading
import time
from collections import deque
from collections.abc import Awaitable, Callable, Coroutine
from concurrent.futures import Future
from typing import Any, Final, Generic, ParamSpec, TypeVar

from celadon.apiserver import forks
from celadon.kube import StatusError, status

# --- Loop doors --------------------------------------------------------------
#
# What belongs to the event loop, asked from a worker.
#
# INVARIANT (one owner): views, mirrors and the store belong to the thread of the event loop.
# Their doors are marked `on_loop`: whoever comes from a worker is served by the loop, and
# waits. On the loop itself a marked method costs one look at a thread-local.

P = ParamSpec("P")
R = TypeVar("R")


class _CurrentLoop(threading.local):
    """Knows, in each thread, the loop that it works for; None if it works for none."""

    home: asyncio.AbstractEventLoop | None = None
    work: _Work | None = None
    """What it works on."""


_here = _CurrentLoop()


def belong_to(loop: asyncio.AbstractEventLoop) -> None:
    """Note that this thread is a worker of the loop from now on."""
    _here.home = loop


def on_loop(method: Callable[P, R]) -> Callable[P, R]:
    """Run a method in the loop's thread, wherever it is called."""

    @functools.wraps(method)
    def wrapped(*args: P.args, **kwargs: P.kwargs) -> R:
        home = _here.home
        if home is None:
            return method(*args, **kwargs)
        future: Future[R] = Future()
        home.call_soon_threadsafe(_answer, future, method, args, kwargs)
        return future.result()

    return wrapped


def soon_on(loop: asyncio.AbstractEventLoop) -> Callable[[Callable[[], object]], object]:
    """Return what has a function called on the loop soon, asked from any thread. The loop's own
    thread need not wake it: three system calls less for a create in a store in memory."""

    def carry(function: Callable[[], object]) -> None:
        if asyncio._get_running_loop() is loop:
            loop.call_soon(function)
        else:
            loop.call_soon_threadsafe(function)

    return carry


def is_worker() -> bool:
    """Return whether this thread works for a loop, and so may wait for it."""
    return _here.work is not None


def waited_for(call: Callable[[], Coroutine[Any, Any, R]]) -> R:
    """Return what a coroutine on the loop gives, asked from a worker that waits for it. Its place
    is free for others meanwhile: what is waited for may be the network."""
    home, work = _here.home, _here.work
    assert home is not None, "asked by a worker"
    assert work is not None, "which works on something"
    future: Future[R] = Future()
    home.call_soon_threadsafe(_wait_for, future, call, work)
    return future.result()


def _wait_for(future: Future[Any], call: Callable[[], Coroutine[Any, Any, R]], work: _Work) -> None:
    async def wait() -> None:
        try:
            future.set_result(await call())
        except BaseException as error:  # noqa: BLE001  it is for who asked
            future.set_exception(error)

    work.workers.give_place(work)
    work.waits_for = asyncio.ensure_future(wait())


def _answer(future: Future[Any], method: Callable[..., Any], args: Any, kwargs: Any) -> None:  # noqa: ANN401 - any method's
    try:
        future.set_result(method(*args, **kwargs))
    except BaseException as error:  # noqa: BLE001  whatever it is, it is for who asked
        future.set_exception(error)


# --- Turns on the loop -------------------------------------------------------

TURN_SECONDS: Final = 0.002
"""Of work on the event loop, after which others have their turn."""


class Turns:
    """Between the parts of a long piece of work on the event loop: others have their turn when it
    has gone on for `TURN_SECONDS`."""

    def __init__(self) -> None:
        self._began = 0.0

    async def take(self) -> None:
        """Return at once, or when others have had their turn."""
        now = time.perf_counter()
        if now - self._began > TURN_SECONDS:
            await asyncio.sleep(0)
            self._began = time.perf_counter()


# --- Short work aside --------------------------------------------------------
#
# What is bounded, and what many wait for, does not take turns with the works of users.

A = TypeVar("A")


async def aside(function: Callable[[A], R], argument: A) -> R:
    """Return what the function gives, in a thread that has no turn to wait for."""
    context = contextvars.copy_context()  # the release whose answers are given (kube.releases)
    loop = asyncio.get_running_loop()
    try:
        future = loop.run_in_executor(None, context.run, function, argument)
    except RuntimeError:  # the system has no more threads
        return function(argument)
    return await future


class Lagging(Generic[R]):
    """A value that changes in the event loop, one change after the other. A change that takes long
    is made in a thread: until then the value is what it was, and later changes wait."""

    def __init__(self, value: R) -> None:
        self.value = value
        self._changes: deque[Callable[[R], R]] = deque()
        self._making: asyncio.Task[None] | None = None

    def change(self, function: Callable[[R], R], *, is_long: bool) -> None:
        """Change the value: the function gives the new one for the former one."""
        if self._making is None and not (is_long and _is_in_loop()):
            self.value = function(self.value)
            return
        self._changes.append(function)
        if self._making is None:
            self._making = asyncio.get_running_loop().create_task(self._make())

    async def _make(self) -> None:
        try:
            while self._changes:
                self.value = await aside(self._changes.popleft(), self.value)
        finally:
            self._making = None

    @property
    def is_settled(self) -> bool:
        """Return whether no change waits."""
        return self._making is None

    async def settled(self) -> None:
        """Wait until no change waits."""
        while self._making is not None:
            await asyncio.shield(self._making)


def _is_in_loop() -> bool:
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return False
    return True


# --- Worker threads ----------------------------------------------------------
#
# Work that takes long, in threads: in turn by user, within a budget, and it ends.
#
# Threads of Python share one lock, so a thread more makes nothing faster; but the event loop
# gets its turn after a fraction of a millisecond (`SWITCH_SECONDS`), whatever a worker is
# doing. Each worker takes a share of the lock that is as large as the loop's, so there is one
# (`THREADS`) as a rule. A user has one worker at a time; who waits is served user by user, so that
# a thousand works of one user hold up no work of another. Beside a work that goes on and on, there
# is a place for users who have used little lately (`LIGHT_SECONDS`), at once, and for one more of
# the others each `ALONE_SECONDS`.
#
# A work has a thread to itself while it lasts, or, if it is so heavy that the loop should not
# have to share its lock with it, a process (`run_forked`). Its processor time is looked at
# while it runs. When the budget of the request or of the user is used up, or nobody waits for
# it any more, an exception is raised in the thread, and both end there. What a work may touch
# is therefore its own; what belongs to the loop it asks for (through the doors of the loop,
# above), and the loop is never interrupted.

T = TypeVar("T")

SWITCH_SECONDS: Final = 0.0001
"""After which a thread that has worked gives others a turn; Python's own 5 ms would be what each
step of the event loop waits."""

THREADS: Final = 1
"""That work at once, whoever asks."""

MOST_THREADS: Final = 3
"""That work at once, with those who need not wait for others."""

LIGHT_SECONDS: Final = 1.0
"""Processor time: a user who has less to pay back has used little."""

ALONE_SECONDS: Final = 1.0
"""For so long nothing begins beside what works already, except works of users who have used
little."""

REQUEST_SECONDS: Final = 10.0
"""Processor time of one request."""

USER_SECONDS: Final = 30.0
"""Processor time of all requests of one user, in hand at most."""

USER_SHARE: Final = 0.5
"""Seconds that a user is given each second."""

MOST_WAITING: Final = 100
"""Works of one user that wait."""

MOST_WAITING_BYTES: Final = 32 << 20
"""Of the requests of one user that wait with them."""

MOST_OUTSIDE: Final = 64
"""Works that have given their places to others while they wait for something outside."""

MOST_ACCOUNTS: Final = 10_000
"""Users whose processor time is remembered."""

FORK_PAUSE: Final = 0.05
"""From one fork to the next: to begin one takes a millisecond of the loop for each 25 MB that the
server holds."""

_LOOK_SECONDS: Final = 0.05

FREE_SECONDS: Final = 1.0
"""For so long a thread waits for another work: to make one takes the system and its lock three
turns, a tenth of a millisecond."""


class WorkEnded(BaseException):
    """Raised inside a work that has to end. No `except Exception` keeps it."""


class TooMuchWork(Exception):
    """Says that so much work of one user waits already."""


def out_of_time() -> StatusError:
    """Return the error of a request whose work was ended (k8s.io/apiserver
    `pkg/endpoints/handlers/finisher/finisher.go`)."""
    return status.timeout(
        "request did not complete within requested timeout - context deadline exceeded"
    )


class _Work:
    """One function to be called; `spent` is its processor time, when it is over."""

    __slots__ = ("allowed", "began", "began_at", "function", "future", "is_over", "is_told",
                 "owner", "size", "spent", "thread", "waits_for", "workers")  # fmt: skip

    def __init__(
        self, workers: Workers, owner: str, function: Callable[..., Any], allowed: float, size: int
    ) -> None:
        # An error that is set knows the frames that it came through, and they know the work: what
        # they all held would stay until garbage is collected, which is seldom. So the future goes
        # when it has been waited for.
        self.workers = workers
        self.owner = owner
        self.function = function
        self.allowed = allowed
        self.size = size
        self.future: asyncio.Future[Any] | None = None
        self.thread: threading.Thread | None = None
        self.waits_for: asyncio.Future[None] | None = None
        """The last that it has waited for."""
        self.began = False
        self.began_at = 0.0
        """What its thread had used before."""
        self.is_told = False
        """Whether its thread has done with it: nothing is raised there any more."""
        self.is_over = False
        self.spent = 0.0

    def end(self) -> None:
        """Raise `WorkEnded` in it. Said again until it is over: code may swallow anything."""
        thread = self.thread
        if self.began and thread is not None and thread.ident is not None:
            ident, error = ctypes.c_ulong(thread.ident), ctypes.py_object(WorkEnded)
            if not self.is_told:  # no other thread runs between this look and the call
                ctypes.pythonapi.PyThreadState_SetAsyncExc(ident, error)

    def begin(self) -> None:
        """Begin the work in a thread."""
        workers = self.workers
        workers.lender.lend(self, workers.loop, workers.over)

    def stop(self) -> None:
        """End it, since the server ends."""
        self.end()

    def used(self) -> float:
        """Processor time until now."""
        thread = self.thread
        if not self.began or thread is None or thread.ident is None or not thread.is_alive():
            return self.spent
        if self.is_over:
            return self.spent
        try:
            now = time.clock_gettime(time.pthread_getcpuclockid(thread.ident))
            return now - self.began_at
        except OSError:  # it has just ended
            return self.spent


Forking = Callable[[float, Callable[[forks.ForkMessage], None], Callable[[], None]], forks.Process]
"""Makes a process that may use so many seconds; see there. Raises ForkFailed."""


class _ForkedWork(_Work):
    """A life to be lived in a process of its own. `hear` answers what it asks."""

    __slots__ = ("_asking", "fork", "hear")

    def __init__(
        self,
        workers: Workers,
        owner: str,
        forking: Forking,
        hear: Callable[[forks.ForkMessage], Awaitable[forks.ForkMessage]],
        allowed: float,
        size: int,
    ) -> None:
        super().__init__(workers, owner, forking, allowed, size)
        self.hear = hear
        self.fork: forks.Process | None = None
        self._asking: asyncio.Task[None] | None = None

    def begin(self) -> None:
        """Begin in a process that is made now."""
        workers = self.workers

        def ended() -> None:
            assert self.fork is not None
            self.spent = self.fork.spent
            failed = (
                forks.ForkFailed("there is no process") if self.fork.has_failed else WorkEnded()
            )
            workers.over(self, None, failed)

        try:
            self.fork = self.function(self.allowed, self._heard, ended)
        except forks.ForkFailed as error:
            workers.loop.call_soon(workers.over, self, None, error)

    def _heard(self, message: forks.ForkMessage) -> None:
        assert self.fork is not None
        if "operations" in message.head:
            self._asking = asyncio.ensure_future(self._answer(message))
            return
        self.spent = self.fork.used()
        if self.future is not None and not self.future.done():
            self.future.set_result(message)

    async def _answer(self, message: forks.ForkMessage) -> None:
        assert self.fork is not None
        try:
            self.fork.tell(await self.hear(message))
        except Exception as error:  # noqa: BLE001 - it is for who waits
            if self.future is not None and not self.future.done():
                self.future.set_exception(error)
            self.fork.kill()

    def end(self) -> None:
        if self.fork is not None:
            self.fork.kill()

    def stop(self) -> None:
        if self.fork is not None:
            self.fork.close()

    def used(self) -> float:
        return self.spent if self.fork is None else self.fork.used()


async def _unasked(_: forks.ForkMessage) -> forks.ForkMessage:
    """Answer a fork that asks for something although it must not."""
    return forks.ForkMessage({})


class _Account:
    """Counts the seconds of work that a user has in hand."""

    __slots__ = ("_share", "at", "seconds")

    def __init__(self, now: float, share: float) -> None:
        self.seconds = USER_SECONDS
        self.at = now
        self._share = share

    def refill(self, now: float) -> float:
        """Return what is in hand now."""
        self.seconds = min(USER_SECONDS, self.seconds + (now - self.at) * self._share)
        self.at = now
        return self.seconds


class Workers:
    """Does the long work of one server, in threads and forks. It belongs to the event loop that
    first asks. `share` are the seconds that a user is given each second."""

    def __init__(self, threads: int = THREADS, share: float = USER_SHARE) -> None:
        self.forks = False
        """Whether there may be forks."""
        self.is_fork = False
        """Whether this is one: then all is done here, and nobody waits for it."""
        self.held: forks.Held = contextlib.nullcontext
        self._forked_at = 0.0
        self._threads = threads
        self._share = share
        self._waiting: dict[str, deque[_Work]] = {}
        """By user, who comes next first."""
        self._working: dict[str, _Work] = {}
        """By user."""
        self._without_place: set[_Work] = set()
        """Those that have waited for something outside, and go on when it has come."""
        self._accounts: dict[str, _Account] = {}
        self._begun_at = 0.0
        """When the last work began."""
        self._loop: asyncio.AbstractEventLoop | None = None
        self._timer: asyncio.TimerHandle | None = None
        self.lender = _Lender()

    async def run(
        self, owner: str, function: Callable[[], T], allowed: float = REQUEST_SECONDS, size: int = 0
    ) -> tuple[T, float]:
        """Return what the function gives, and the processor time it took; `size` is what its
        request holds in memory. Raises what it raises, StatusError 504 when it was ended,
        TooMuchWork."""
        if self.is_fork:
            return function(), 0.0
        context = contextvars.copy_context()  # the release whose answers are given (kube.releases)
        run_here = functools.partial(context.run, function)
        return await self._done(_Work(self, owner, run_here, allowed, size))

    def allow_forks(self, held: forks.Held) -> None:
        """Allow forks of a process that is ours, whose loop is in its main thread, if the system
        can make them. While somebody has `held` it, no other thread changes what forks look at."""
        self.forks = forks.can_fork()
        self.held = held

    async def run_forked(
        self,
        owner: str,
        life: forks.Life,
        hear: Callable[[forks.ForkMessage], Awaitable[forks.ForkMessage]],
        allowed: float = REQUEST_SECONDS,
        size: int = 0,
    ) -> tuple[forks.ForkMessage, float]:
        """Return what a fork says at its end, and the processor time it took; `hear` answers what
        it asks. Raises ForkFailed, what `hear` raises, StatusError 504 when it was ended,
        TooMuchWork."""
        context = contextvars.copy_context()

        def live(parent: forks.Parent) -> forks.ForkMessage:
            self.is_fork = True
            return context.run(life, parent)

        def fork(
            seconds: float, heard: Callable[[forks.ForkMessage], None], ended: Callable[[], None]
        ) -> forks.Process:
            return forks.Fork(live, seconds, self.held, heard, ended)

        return await self._done(_ForkedWork(self, owner, fork, hear, allowed, size))

    async def run_templated(
        self,
        owner: str,
        template: Callable[[], forks.Template],
        message: forks.ForkMessage,
        allowed: float = REQUEST_SECONDS,
    ) -> tuple[forks.ForkMessage, float]:
        """Do work as `run_forked` does, in a fork of the template, which is told what it is for,
        and asks for nothing."""

        def fork(
            seconds: float, heard: Callable[[forks.ForkMessage], None], ended: Callable[[], None]
        ) -> forks.Process:
            return forks.TemplateFork(template(), message, seconds, heard, ended)

        return await self._done(
            _ForkedWork(self, owner, fork, _unasked, allowed, len(message.body))
        )

    async def _done(self, work: _Work) -> tuple[Any, float]:
        """Wait until it is this work's turn, and the turn is over."""
        self._loop = asyncio.get_running_loop()
        waiting = self._waiting.setdefault(work.owner, deque())
        waiting_bytes = work.size + sum(waiter.size for waiter in waiting)
        if len(waiting) >= MOST_WAITING or (waiting and waiting_bytes > MOST_WAITING_BYTES):
            raise TooMuchWork
        work.future = future = self._loop.create_future()
        if work.allowed < REQUEST_SECONDS:  # a request that has begun holds what it has read
            waiting.appendleft(work)
        else:
            waiting.append(work)
        self._begin_some()
        try:
            return await future, work.spent
        finally:
            work.future = None
            del future
            if not work.is_over:  # nobody waits for it any more
                if work.thread is None:
                    self._forget(work)
                if work.waits_for is not None:
                    work.waits_for.cancel()
                work.allowed = -1.0
                work.end()

    @property
    def loop(self) -> asyncio.AbstractEventLoop:
        """Return the loop that all this belongs to."""
        assert self._loop is not None
        return self._loop

    def _forget(self, work: _Work) -> None:
        waiting = self._waiting.get(work.owner)
        if waiting is not None and work in waiting:
            waiting.remove(work)
            if not waiting:
                del self._waiting[work.owner]

    def _begin_some(self) -> None:
        """Begin as much work as there are places for: one piece of each user, in turn."""
        assert self._loop is not None
        now = self._loop.time()
        for owner in list(self._waiting):
            if owner in self._working or not self._may_begin(owner, now):
                continue
            is_fork = isinstance(self._waiting[owner][0], _ForkedWork)
            if is_fork and now - self._forked_at < FORK_PAUSE:
                continue
            self._forked_at = now if is_fork else self._forked_at
            waiting = self._waiting.pop(owner)
            work = waiting.popleft()
            if waiting:
                self._waiting[owner] = waiting  # behind all others
            self._working[owner] = work
            self._begun_at = now
            work.begin()
        busy = self._working or self._waiting or self._without_place
        if self._timer is None and busy:
            self._timer = self._loop.call_later(_LOOK_SECONDS, self._look)

    def _may_begin(self, owner: str, now: float) -> bool:
        """Return whether there is a place for a work of this user, and the user has time left."""
        account = self._accounts.get(owner)
        left = USER_SECONDS if account is None else account.refill(now)
        working = len(self._working)
        if working < self._threads:
            return left > 0
        if left > USER_SECONDS - LIGHT_SECONDS:
            return working < self._threads + MOST_THREADS - THREADS
        is_alone = working == self._threads and now - self._begun_at >= ALONE_SECONDS
        return is_alone and left > 0

    def give_place(self, work: _Work) -> None:
        """Give the place away: the work waits for something outside, so others may begin. Call it
        in the loop."""
        if self._working.get(work.owner) is work and len(self._without_place) < MOST_OUTSIDE:
            del self._working[work.owner]
            self._without_place.add(work)
            self._begin_some()

    def _look(self) -> None:
        """End work that has used up its time; begin what was waiting for time and has some
        again."""
        assert self._loop is not None
        self._timer = None
        for work in [*self._working.values(), *self._without_place]:
            if work.thread is not None and not work.thread.is_alive():
                # What it has told is heard first; if it was ended while it told, this is.
                self._loop.call_soon(self.over, work, None, WorkEnded())
                continue
            account = self._accounts.get(work.owner)
            left = USER_SECONDS if account is None else account.seconds
            if work.used() > min(work.allowed, left):
                work.end()
        self._begin_some()

    def over(self, work: _Work, result: Any, error: BaseException | None) -> None:  # noqa: ANN401 - any function's
        """Take what a thread has made, in the loop, when it is done."""
        if work in self._without_place:
            self._without_place.remove(work)
        elif self._working.get(work.owner) is work:
            del self._working[work.owner]
        else:
            return
        work.is_over = True
        self._charge(work.owner, work.spent)
        future = work.future
        if future is not None and not future.done():
            if error is None:
                future.set_result(result)
            elif isinstance(error, WorkEnded):
                future.set_exception(out_of_time())
            else:
                future.set_exception(error)
        self._begin_some()

    def _charge(self, owner: str, seconds: float) -> None:
        assert self._loop is not None
        now = self._loop.time()
        account = self._accounts.get(owner)
        if account is None:
            if len(self._accounts) >= MOST_ACCOUNTS:
                self._accounts.clear()
            account = self._accounts[owner] = _Account(now, self._share)
        account.refill(now)
        account.seconds -= seconds

    def stop(self) -> None:
        """End all works; nobody waits for them."""
        if self._timer is not None:
            self._timer.cancel()
        for work in [*self._working.values(), *self._without_place]:
            if work.waits_for is not None:
                work.waits_for.cancel()
            work.stop()
        self.lender.stop()


Done = Callable[[_Work, Any, BaseException | None], None]


def _worked(work: _Work, loop: asyncio.AbstractEventLoop, done: Done) -> bool:
    """Do a work in its thread, and return whether the thread may have another. The exception that
    ends a work may come wherever it is: what was told twice is heard once."""
    try:
        try:
            belong_to(loop)
            _here.work = work
            work.began_at = time.thread_time()
            work.began = True
            function = work.function()
        except BaseException as error:  # noqa: BLE001  it is for who waits
            _let_go(error)
            _tell(work, loop, done, None, error)
        else:
            _tell(work, loop, done, function, None)
    except WorkEnded as error:
        work.is_told = True
        _let_go(error)
        _tell(work, loop, done, None, error)
        return False
    finally:
        _here.work = None
    return True


def _let_go(error: BaseException) -> None:
    """Let an error go: an answer or an end needs no traceback. Its frames hold all that was read,
    which would be given back on the loop, a tenth of a second for three megabytes."""
    if not isinstance(error, StatusError | WorkEnded):
        return
    cause: BaseException | None = error
    while cause is not None:
        cause.__traceback__ = None
        cause = cause.__context__


def _tell(
    work: _Work,
    loop: asyncio.AbstractEventLoop,
    done: Done,
    result: Any,  # noqa: ANN401 - any function's
    error: BaseException | None,
) -> None:
    work.is_told = True
    work.spent = time.thread_time() - work.began_at
    if not loop.is_closed():
        loop.call_soon_threadsafe(done, work, result, error)


_Asked = tuple[_Work, asyncio.AbstractEventLoop, Done]
_Works = queue.SimpleQueue[_Asked | None]
_Free = tuple[threading.Thread, _Works]


class _Lender:
    """Lends threads to works. Who has done one waits for the next. To make a thread is to wait
    until it has had its first turn, for which the loop has no time: another one does that."""

    __slots__ = ("_beginner", "_free", "_works")

    def __init__(self) -> None:
        self._works: _Works = queue.SimpleQueue()
        self._beginner: threading.Thread | None = None
        self._free: deque[_Free] = deque()

    def lend(self, work: _Work, loop: asyncio.AbstractEventLoop, done: Done) -> None:
        """`done` is told in the loop."""
        try:
            work.thread, works = self._free.pop()
        except IndexError:
            works = self._works
            if self._beginner is None:
                begin = self._begin_threads
                self._beginner = threading.Thread(target=begin, name="beginner", daemon=True)
                self._beginner.start()
        works.put((work, loop, done))

    def stop(self) -> None:
        """Stop: nothing begins any more."""
        self._works.put(None)
        while self._free:
            with contextlib.suppress(IndexError):  # it has just ended by itself
                self._free.pop()[1].put(None)

    # Nothing of what was done stays in the variables of a thread that waits.

    def _begin_threads(self) -> None:
        while (work := self._works.get()) is not None:
            works: _Works = queue.SimpleQueue()
            works.put(work)
            thread = threading.Thread(target=self._live, args=(works,), name="worker", daemon=True)
            try:
                thread.start()
            except RuntimeError as error:  # the system has no more threads
                _tell(*work, None, error)
            else:
                work[0].thread = thread
            del work

    def _live(self, works: _Works) -> None:
        free = threading.current_thread(), works
        while (work := self._next(free)) is not None:
            if not _worked(*work):
                return
            del work
            self._free.append(free)

    def _next(self, free: _Free) -> _Asked | None:
        """Return the next work of a thread; None when there has been none for long."""
        with contextlib.suppress(queue.Empty):
            return free[1].get(timeout=FREE_SECONDS)
        with contextlib.suppress(ValueError):  # it has just been lent
            self._free.remove(free)
            return None
        return free[1].get()
