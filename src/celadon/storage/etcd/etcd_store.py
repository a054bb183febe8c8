"""A store whose entries are in etcd: reads from a mirror, writes as transactions of etcd.

Theory of operation. Everything lives in one event loop: a task follows etcd's changes into a
keyspace (`etcd_client`), from which reads and watches are served as by the local stores. A write is
sent to etcd, and its future settled when the mirror has come to its revision, so that whoever is
told of a write can read it here. The revision is etcd's own: every process that looks at the same
etcd counts alike.

What other processes have written arrives a moment later. Who must not miss it waits for `synced`:
etcd is asked for its revision (confirmed by a majority, once for all who wait), and the mirror
awaited. The same question is put every second unasked. It is the pulse: a member that does not
answer it, or answers but does not send what it has, is left for the next one.

Transactions that have a key in common are sent one after the other, in the order in which they were
submitted; others may overtake each other on the way.

Reads, `submit` and `watch` may be called from any thread, like those of every store; the future of
a write is settled, and readers are told, in the loop.
"""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Awaitable, Callable, Collection, Coroutine, Iterable, Sequence
from concurrent.futures import Future
from contextlib import suppress
from functools import partial
from heapq import heappop, heappush
from itertools import count
from typing import Any, Final, TypeVar

from celadon.records import dataclass, field, replace
from celadon.storage import contract
from celadon.storage.etcd import etcd_client
from celadon.storage.etcd.etcd_messages import (
    Comparison,
    EtcdTransaction,
    Malformed,
    RevisionRefused,
    TransactionAnswer,
)
from celadon.storage.keyspace import Keyspace, KeyspaceReads, Retention, Schedule, Watcher

# --- Compaction by one -------------------------------------------------------
#
# Forgetting what is old in etcd, by one of all processes that look at it.
#
# As k8s.io/apiserver `pkg/storage/etcd3/compact.go`, with the same key and the same rule, so
# that this works beside API servers of Kubernetes. Every few minutes each process tries to
# write a common key as the next one after the last time it looked; who succeeds compacts to the
# revision of one interval ago. So etcd keeps between one and two intervals of history.

KEY: Final = b"compact_rev_key"
INTERVAL_SECONDS: Final = 300.0


class CompactionByOne:
    """Lets one process compact the history. `turn` is how often the key had been written when this
    process last looked, `revision` what etcd's revision was then."""

    def __init__(self, client: etcd_client.EtcdClient, interval: float = INTERVAL_SECONDS) -> None:
        self._client = client
        self._interval = interval
        self._turn = 0
        self._revision = 0

    async def run(self) -> None:
        """Compact again and again, until the task is cancelled."""
        while True:
            await asyncio.sleep(self._interval)
            with suppress(contract.ServiceError):
                await self.compact()

    async def compact(self) -> int:
        """Return the revision compacted to; 0 if it was somebody else's turn, or nothing is old.
        Raises ServiceError."""
        value = str(self._revision).encode()
        answer = await self._client.transact(
            EtcdTransaction((Comparison(KEY, version=self._turn),), ((KEY, value),), (KEY,))
        )
        former, self._revision = self._revision, answer.revision
        if not answer.succeeded:
            (key_value,) = answer.key_values
            self._turn = 0 if key_value is None else key_value.version
            return 0
        self._turn += 1
        if former:
            await self._client.compact(former)
        return former


# --- Key order ---------------------------------------------------------------
#
# Turns for work on keys: what has a key in common happens in the order in which it came.


class KeyOrder:
    """Orders the writes of a key, in one event loop."""

    def __init__(self) -> None:
        self._last: dict[bytes, Turn] = {}

    def turn(self, keys: Collection[bytes]) -> Turn:
        """Return a turn that is to be entered at once (`async with`); it begins when all former
        turns of these keys have ended."""
        return Turn(self._last, keys)


class Turn:
    """Says whose turn it is to compact. `last` are the newest turns of all keys."""

    __slots__ = ("_former", "_keys", "_last", "_waiting")

    def __init__(self, last: dict[bytes, Turn], keys: Collection[bytes]) -> None:
        self._last = last
        self._keys = keys
        self._former = {turn for key in keys if (turn := last.get(key)) is not None}
        self._waiting: list[asyncio.Future[None]] = []
        last.update(dict.fromkeys(keys, self))

    async def __aenter__(self) -> None:
        """Wait for the former turns. Nobody ends while others begin to wait: all of this is in one
        step of the loop."""
        if not self._former:
            return
        loop = asyncio.get_running_loop()
        ends = [loop.create_future() for _ in self._former]
        for turn, end in zip(self._former, ends, strict=True):
            turn._waiting.append(end)
        self._former = set()  # so that no chain of turns is kept
        try:
            for end in ends:
                await end
        except BaseException:
            self._end()
            raise

    async def __aexit__(self, *_: object) -> None:
        self._end()

    def _end(self) -> None:
        for waiter in self._waiting:
            if not waiter.done():
                waiter.set_result(None)
        for key in self._keys:
            if self._last.get(key) is self:
                del self._last[key]


# --- Revision waiters --------------------------------------------------------
#
# Who waits for the mirror to come to a revision.


class RevisionWaiters:
    """Wakes those who wait for a revision, in one event loop."""

    def __init__(self) -> None:
        self._waiting: list[tuple[int, int, asyncio.Future[bool]]] = []
        self._numbers = count()

    async def wait(self, revision: int, seconds: float) -> bool:
        """Return whether it is reached within that time."""
        loop = asyncio.get_running_loop()
        future: asyncio.Future[bool] = loop.create_future()
        heappush(self._waiting, (revision, next(self._numbers), future))
        late = loop.call_later(seconds, partial(_settle, future, is_reached=False))
        try:
            return await future
        finally:
            late.cancel()

    def reached(self, revision: int) -> None:
        """Note a revision that is reached: whoever waits for this one, or an older one, is told."""
        while self._waiting and self._waiting[0][0] <= revision:
            _settle(heappop(self._waiting)[2], is_reached=True)


def _settle(future: asyncio.Future[bool], *, is_reached: bool) -> None:
    if not future.done():
        future.set_result(is_reached)


# --- Shared leases -----------------------------------------------------------
#
# Leases of etcd that many keys share, as kube-apiserver's do (k8s.io/apiserver
# `pkg/storage/etcd3/lease_manager.go`): what is written within the same minute goes at the same
# time, so that there is not a lease for each key.

LONGEST_USE: Final = 60
"""Seconds for which new keys are given the same lease."""

SHARE_OF_USE: Final = 20
"""But not more than this part of what the keys last."""

MOST_KEYS: Final = 1_000
"""Of one lease; etcd removes them all in one go."""


@dataclass(slots=True)
class _Shared:
    """Holds a lease that several keys share. `expires` by the clock; it was asked for after that
    clock was read."""

    number: int
    expires: float
    keys: int = 1


@dataclass(slots=True)
class SharedLeases:
    """Lets many keys share a lease, in one event loop. `grant` makes a lease of so many seconds,
    `clock` is in seconds."""

    grant: Callable[[int], Awaitable[int]]
    clock: Callable[[], float]
    _newest: dict[int, _Shared] = field(default_factory=dict)
    """By the seconds that their keys last."""
    _granting: asyncio.Lock = field(default_factory=asyncio.Lock)

    async def lease(self, seconds: int) -> int:
        """Return a lease for one more key that is to last at least so long. Raises ServiceError."""
        async with self._granting:
            now = self.clock()
            shared = self._newest.get(seconds)
            if shared and shared.keys < MOST_KEYS and now + seconds <= shared.expires:
                shared.keys += 1
                return shared.number
            longest = seconds + min(LONGEST_USE, seconds // SHARE_OF_USE)
            number = await self.grant(longest)
            self._newest[seconds] = _Shared(number, now + longest)
            return number

    def forget(self) -> None:
        """Use none of them any more: one may not be there."""
        self._newest.clear()


# --- Shared question ---------------------------------------------------------
#
# A question that many ask at once, answered for all of them.
#
# Whoever asks gets an answer to a question that was put no earlier than they asked: who comes
# while one is under way waits for the next, together with everybody else who does.


class SharedQuestion:
    """Asks once for all who wait, in one event loop; `put` asks."""

    def __init__(self, put: Callable[[], Awaitable[int]]) -> None:
        self._put = put
        self._next: Future[int] | None = None
        self._asking: asyncio.Task[None] | None = None

    def ask(self) -> Future[int]:
        """Return the answer, or what `put` raised. It cannot be cancelled, as it is for others,
        too."""
        if self._next is None:
            self._next = Future()
            self._next.set_running_or_notify_cancel()
            if self._asking is None:
                self._asking = asyncio.get_running_loop().create_task(self._ask())
        return self._next

    async def _ask(self) -> None:
        while self._next is not None:
            answer, self._next = self._next, None
            try:
                answer.set_result(await self._put())
            except asyncio.CancelledError:
                answer.set_exception(contract.StoreClosed("the store is closed"))
                raise
            except Exception as error:  # noqa: BLE001  # House rule 17: who asked judges it
                answer.set_exception(error)
        self._asking = None

    async def stop(self) -> None:
        """Stop asking etcd."""
        if self._asking is not None:
            self._asking.cancel()
            await asyncio.wait((self._asking,))


PULSE_SECONDS: Final = 1.0
"""Between two questions whether the member is alive."""

_LOG: Final = logging.getLogger("celadon.storage")

MOST_SILENCE: Final = 10.0
"""Seconds without an answer, after which the store says so."""

START_SECONDS: Final = 30.0
"""In which a store that is opened must have got everything from some member."""

_T = TypeVar("_T")


async def open_etcd(
    settings: etcd_client.EtcdSettings, retention: Retention | None = None
) -> EtcdStore:
    """Return the store in the running event loop, when it has everything that is in etcd.
    `retention`: how much history the mirror keeps, as `Retention()` unless given. Raises
    ServiceError, OSError for files of the settings."""
    store = EtcdStore(etcd_client.EtcdConnections(settings), settings, retention or Retention())
    try:
        await store.begin()
    except BaseException:
        await store.aclose()
        raise
    return store


@dataclass(frozen=True, slots=True)
class _PendingWrite:
    """A key that is being written: the value (None: deleted), and what has happened to it since."""

    value: bytes | None
    events: list[contract.Event]


class EtcdStore(KeyspaceReads):
    """Is a `contract.Store` on a cluster of etcd, and the `Audience` of its mirror."""

    def __init__(
        self,
        connections: etcd_client.EtcdConnections,
        settings: etcd_client.EtcdSettings,
        retention: Retention,
    ) -> None:
        super().__init__(Keyspace())
        self._loop = asyncio.get_running_loop()
        self._client = etcd_client.EtcdClient(connections)
        self._spelling = etcd_client.KeySpelling(settings.root, settings.prefix)
        self._mirror = etcd_client.EtcdMirror(self._client, self._spelling, self, self._kept_value)
        self._retention = retention
        self._schedule = Schedule(retention, time.monotonic)
        self._waiters = RevisionWaiters()
        self._order = KeyOrder()
        self._leases = SharedLeases(self._client.lease, self._loop.time)
        self._pending: dict[str, _PendingWrite] = {}
        self._current = SharedQuestion(self._ask)
        self._full = ""
        self._work: set[asyncio.Task[Any]] = set()
        self._background: list[asyncio.Task[None]] = []
        self._ended: asyncio.Task[None] | None = None
        self._heard = self._loop.time()
        """When the mirror was last known to have everything, by the loop's clock."""

    async def begin(self) -> None:
        """Load everything, and go on following it. Raises ServiceError."""
        await self._mirror.begin()
        compaction = CompactionByOne(self._client)
        self._background = [
            self._loop.create_task(self._follow()),
            self._loop.create_task(self._beat()),
            self._loop.create_task(compaction.run()),
        ]
        end = self._loop.time() + START_SECONDS
        while True:
            try:
                await self._sync()
            except contract.ServiceUnavailable:  # the next member is asked
                if self._loop.time() >= end:
                    raise
            else:
                return

    def tell_before(self, coming: etcd_client.Coming) -> None:
        """Set who is told of the values that others write; they are not seen before it returns."""
        self._mirror.coming = coming

    # Reading

    @property
    def is_shared(self) -> bool:
        return True

    def synced(self) -> Future[int]:
        if self._is_in_loop():
            return self._current.ask()
        future: Future[int] = Future()
        self._start(self._settle(future, self._sync()), future)
        return future

    def trouble(self) -> str:
        silence = self._loop.time() - self._heard
        return f"etcd has not answered for {silence:.0f} s" if silence > MOST_SILENCE else ""

    def writing_trouble(self) -> str:
        return self._full

    def sweep(self) -> None:
        """Do nothing: leases of etcd remove what has outlived its time."""

    async def _sync(self) -> int:
        return await asyncio.wrap_future(self._current.ask())

    async def _ask(self) -> int:
        """etcd's revision, when the mirror has it."""
        last_revision = self._keyspace.revision
        revision = await self._client.revision()
        if revision < last_revision:  # the data is an older copy now
            await self._mirror.begin()
            self._client.leave()  # so that `_follow` goes on behind what is loaded
        while (came := self._keyspace.revision) < revision:
            try:
                await self._reached(revision, etcd_client.ATTEMPT_SECONDS)
            except contract.ServiceUnavailable:
                if self._keyspace.revision == came:  # else it only has a lot to send
                    self._client.leave()
                    raise
        self._heard = self._loop.time()
        return revision

    async def _reached(self, revision: int, seconds: float = etcd_client.CALL_SECONDS) -> None:
        """Wait until the keyspace has reached a revision. Raises ServiceUnavailable if that takes
        longer."""
        if self._keyspace.revision < revision and not await self._waiters.wait(revision, seconds):
            raise contract.ServiceUnavailable("the member of etcd does not send its changes")

    # Writing

    def submit(self, transaction: contract.Transaction) -> Future[contract.Outcome]:
        future: Future[contract.Outcome] = Future()
        self.carry_out(transaction, future)
        return future

    def carry_out(
        self, transaction: contract.Transaction, promise: contract.Promise[contract.Outcome]
    ) -> None:
        with self._lock:
            self._must_be_open()
        self._start(self._settle(promise, self._carried_out(transaction)), promise)

    def compact(self, revision: int) -> Future[int]:
        with self._lock:
            self._must_be_open()
        future: Future[int] = Future()
        self._start(self._settle(future, self._compacted(revision)), future)
        return future

    def _start(self, work: Coroutine[Any, Any, None], promise: contract.Promise[Any]) -> None:
        """Start work in the loop, whichever thread this is."""

        def begin() -> None:
            task = self._loop.create_task(work)
            self._work.add(task)
            task.add_done_callback(self._work.discard)

        if self._is_in_loop():
            begin()
            return
        try:
            self._loop.call_soon_threadsafe(begin)
        except RuntimeError:  # the loop is closed
            work.close()
            promise.set_exception(contract.StoreClosed("the store is closed"))

    def _is_in_loop(self) -> bool:
        try:
            return asyncio.get_running_loop() is self._loop
        except RuntimeError:
            return False

    async def _settle(self, promise: contract.Promise[_T], result: Coroutine[Any, Any, _T]) -> None:
        if not promise.set_running_or_notify_cancel():
            result.close()
            return
        try:
            value = await result
        except BaseException as error:  # noqa: BLE001  # House rule 17: the promise's reader judges it
            promise.set_exception(error)
        else:
            promise.set_result(value)

    async def _carried_out(self, transaction: contract.Transaction) -> contract.Outcome:
        spelled = self._spelled(transaction)
        keys = {key for key, _ in spelled.operations}.union(spelled.else_read)
        async with self._order.turn(keys):
            for operation in transaction.operations:
                self._pending[operation.key] = _PendingWrite(
                    operation.value if isinstance(operation, contract.Put) else None, []
                )
            try:
                answer = await self._noticed(self._transact(spelled, transaction), transaction)
                self._learn(transaction, answer)
                await self._reached(answer.revision)
                return self._outcome(transaction, answer)
            finally:
                for item in transaction.operations:
                    del self._pending[item.key]

    async def _noticed(
        self, answer: Coroutine[Any, Any, TransactionAnswer], transaction: contract.Transaction
    ) -> TransactionAnswer:
        """Return whether etcd has room is known from what it says to writes that need some."""
        needs_room = any(
            isinstance(operation, contract.Put) for operation in transaction.operations
        )
        try:
            outcome = await answer
        except contract.ServiceFull as full:
            self._full = str(full)
            raise
        if needs_room and outcome.succeeded:
            self._full = ""
        return outcome

    async def _transact(
        self, spelled: EtcdTransaction, transaction: contract.Transaction
    ) -> TransactionAnswer:
        """Carry out a transaction, with leases for what does not last. Raises ServiceError."""
        leases = {
            self._spelling.written(operation.key): await self._leases.lease(operation.seconds)
            for operation in transaction.operations
            if isinstance(operation, contract.Put) and operation.seconds is not None
        }
        if not leases:
            return await self._client.transact(spelled)
        try:
            return await self._client.transact(replace(spelled, leases=leases))
        except contract.ServiceError:
            self._leases.forget()
            raise

    def _spelled(self, transaction: contract.Transaction) -> EtcdTransaction:
        conditions = [
            (self._spelling.written(condition.key), condition)
            for condition in transaction.conditions
        ]
        return EtcdTransaction(
            [Comparison(key, condition.mod_revision) for key, condition in conditions],
            [
                (
                    self._spelling.written(operation.key),
                    operation.value if isinstance(operation, contract.Put) else None,
                )
                for operation in transaction.operations
            ],
            [key for key, _ in conditions],
        )

    def _learn(self, transaction: contract.Transaction, answer: TransactionAnswer) -> None:
        changed = zip(transaction.operations, answer.changed, strict=False)  # none if it failed
        done = [item for item, did in changed if did]
        if done:
            self._mirror.learn(answer.revision, done)

    def _outcome(
        self, transaction: contract.Transaction, answer: TransactionAnswer
    ) -> contract.Outcome:
        if not answer.succeeded:
            pairs = zip(transaction.conditions, answer.key_values, strict=True)
            return contract.Conflict(
                answer.revision, tuple([kv.entry(pair.key) if kv else None for pair, kv in pairs])
            )
        changed = zip(transaction.operations, answer.changed, strict=True)
        return contract.Committed(
            answer.revision,
            tuple([self._event(item.key, answer) if did else None for item, did in changed]),
        )

    def _event(self, key: str, answer: TransactionAnswer) -> contract.Event:
        for event in self._pending[key].events:
            if event.revision == answer.revision:
                return event
        raise Malformed(f"no change of {key} at revision {answer.revision}")

    def _kept_value(self, key: str, value: bytes) -> bytes:
        """Return the bytes that were submitted, if they are the same: readers know them already."""
        sent = self._pending.get(key)
        if sent is None or sent.value is None or sent.value != value:
            return value
        return sent.value

    async def _compacted(self, revision: int) -> int:
        if revision <= self._keyspace.compacted:
            raise contract.Compacted(revision, self._keyspace.compacted)
        try:
            await self._client.compact(revision)
        except RevisionRefused as error:
            if error.is_future:
                raise contract.FutureRevision(revision, self._keyspace.revision) from None
            raise contract.Compacted(
                revision, revision + 1
            ) from None  # by somebody else, at least to there
        await self._reached(revision)
        with self._lock:
            behind = self._forget(revision)
        self._watchers.tell(behind)
        return revision

    def _forget(self, oldest: int) -> dict[Watcher, None]:
        """Forget, under the lock, the history up to a revision; return the watches that had not
        read it."""
        if oldest <= self._keyspace.compacted:
            return {}
        self._keyspace.compact(oldest)
        return self._watchers.forget(oldest)

    # What comes from etcd

    def begin_with(self, space: Keyspace) -> None:
        with self._lock:
            lost = self._watchers.end_all(contract.WatchLost())
            self._keyspace = self._watchers.space = space
            self._schedule = Schedule(self._retention, time.monotonic)
            self._schedule.note(space.revision)
        self._watchers.tell(lost)

    def apply(self, events: Sequence[contract.Event], revision: int) -> None:
        with self._lock:
            self._keyspace.apply(events)
            self._keyspace.advance(revision)
            forget = self._forget(self._schedule.due(self._keyspace))
            self._schedule.note(revision)
            forget |= self._watchers.publish(events)
        for event in events if self._pending else ():
            if event.key in self._pending:
                self._pending[event.key].events.append(event)
        self._watchers.tell(forget)
        self._waiters.reached(revision)

    async def _follow(self) -> None:
        while True:
            try:
                await self._mirror.follow()
            except etcd_client.Missed:
                with suppress(contract.ServiceError):
                    await self._mirror.begin()
            except contract.ServiceError:
                pass  # the next member is asked
            except Exception:  # noqa: BLE001  the outer edge: a defect must not end the task
                _LOG.exception("etcd's changes could not be followed")
            await asyncio.sleep(etcd_client.PAUSE_SECONDS)

    async def _beat(self) -> None:
        while True:
            with suppress(contract.ServiceError):
                await self._sync()
            await asyncio.sleep(PULSE_SECONDS)

    # The end

    def close(self) -> None:
        """Close the store. In its own loop this only begins; `aclose` is for there."""
        with self._lock:
            self._closed = True
        if self._is_in_loop():
            self._ended = self._ending()
        elif not self._loop.is_closed():
            asyncio.run_coroutine_threadsafe(self.aclose(), self._loop).result()

    async def aclose(self) -> None:
        """Close the store as `close` does, and return when everything has ended."""
        with self._lock:
            self._closed = True
        self._ended = self._ending()
        await self._ended

    def _ending(self) -> asyncio.Task[None]:
        return self._ended or self._loop.create_task(self._end())

    async def _end(self) -> None:
        work = [task for task in self._work if task is not asyncio.current_task()]
        if work:
            await asyncio.wait(work)
        for task in self._background:
            task.cancel()
        await asyncio.gather(*self._background, return_exceptions=True)
        await self._current.stop()
        with self._lock:
            watchers: Iterable[Watcher] = self._watchers.end_all(
                contract.StoreClosed("the store is closed")
            )
        self._watchers.tell(watchers)
        with suppress(contract.StoreError):
            await self._client.close()
