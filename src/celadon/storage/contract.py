"""The contract that every store keeps, whatever it is made of.

The shape is that of etcd v3, because that is what the storage layer of kube-apiserver is written
against (k8s.io/apiserver `pkg/storage/interfaces.go`, `etcd3/store.go`) and what one of the
implementations talks to:

- Keys are strings in the order of their UTF-8 bytes; values are bytes. Keys mean nothing here,
  except by prefix.
- One revision counts all changes of the whole store. It begins at 1, grows by one with every
  transaction that changes something, survives restarts and is never used twice.
- A transaction compares the `mod_revision` of some keys and, if all agree, applies all its
  operations at one revision. If not, nothing happens, and the outcome tells what is there instead.
- The state at any revision since the last compaction can be read exactly.
- A watch delivers the events of a prefix after a revision: every one, once, in order, each with the
  entry it replaced.

INVARIANT (visible is durable): what a read, a watch or an outcome shows survives the death of the
process, in a store that promises to survive it at all. Outcomes come as futures for this reason:
many writers share one flush to disk.

Threads: every method of `Store` and `Watch` may be called from any thread. Reads and `watch` do not
wait for the disk. Futures are settled, and `notify` is called, in a thread of the store (or, in
memory, of the writer), unless the store is opened with a carrier to another one: callbacks must be
brief and must not wait for the store. From asyncio:

    store = open_sqlite(path, carry=loop.call_soon_threadsafe)
    outcome = await asyncio.wrap_future(store.submit(create(key, value)))

    ready = asyncio.Event()
    watch = store.watch(prefix, after, ready.set)
    while True:
        ready.clear()
        delivery = watch.take()  # raises what ended the watch
        ...
        await ready.wait()

A store that is elsewhere (etcd) mirrors its keys: it feeds a `keyspace.Keyspace` from a watch on
everything, answers reads from there, sends transactions away, and does real work in `synced`, which
costs nothing in the others. Its revision may grow by more than one, if somebody else writes there.
"""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import Future
from contextlib import AbstractContextManager
from typing import Final, Protocol, TypeAlias, TypeVar

from celadon.records import dataclass, field

T_contra = TypeVar("T_contra", contravariant=True)

MAX_OPERATIONS: Final = 128
"""Conditions, and operations, in one transaction: etcd's default of `--max-txn-ops`."""

MAX_VALUE: Final = 1 << 26
"""Bytes of a value: far more than an API server accepts (3 MiB), far less than breaks a store."""

FIRST_REVISION: Final = 1
"""Of a store in which nothing has happened, as in etcd: clients read 0 as `any`."""

WATCH_BUFFER: Final = 10_000
"""Unread events after which a watch is cancelled, beyond those it replays from the history. It is
also cancelled when the history forgets what it has not read."""


@dataclass(frozen=True, slots=True)
class Entry:
    """Holds what is stored under a key: since `create_revision` without a gap, unchanged since
    `mod_revision`. `expires`: the second since 1970 from which on it goes by itself; None: never,
    or elsewhere somebody sees to it."""

    key: str
    value: bytes
    create_revision: int
    mod_revision: int
    expires: int | None = None


@dataclass(frozen=True, slots=True)
class Event:
    """Tells of one change of one key. `entry` is None for a deletion, `previous` for a creation."""

    revision: int
    key: str
    entry: Entry | None
    previous: Entry | None


@dataclass(frozen=True, slots=True)
class Page:
    """Holds entries in the order of their keys, as they were at `revision`; `remaining` more
    follow."""

    entries: tuple[Entry, ...]
    revision: int
    remaining: int


@dataclass(frozen=True, slots=True)
class Condition:
    """Demands that a key's entry has this `mod_revision`; 0: there is none."""

    key: str
    mod_revision: int


@dataclass(frozen=True, slots=True)
class Put:
    """Writes a value under a key, whether there is one or not. It goes by itself after `seconds`,
    or up to a tenth of them later, unless it is written again before; None: never."""

    key: str
    value: bytes
    seconds: int | None = None


@dataclass(frozen=True, slots=True)
class Delete:
    """Deletes an entry. Where there is none, nothing happens, so that there is no event."""

    key: str


Operation: TypeAlias = Put | Delete


@dataclass(frozen=True, slots=True)
class Transaction:
    """If all conditions hold, all operations, at one revision. No key is operated on twice.

    Raises ValueError for anything no store could do: too many parts, a key twice, a key that is
    empty or not text (lone surrogates), less than one second for a value; TypeError for a value
    that is not bytes. Raises TooLarge for a large one: how large it is depends on what was sent.
    """

    conditions: tuple[Condition, ...]
    operations: tuple[Operation, ...]

    def __post_init__(self) -> None:
        keys = [operation.key for operation in self.operations]
        if len(self.conditions) > MAX_OPERATIONS or len(keys) > MAX_OPERATIONS:
            raise ValueError(f"more than {MAX_OPERATIONS} conditions or operations")
        if len(set(keys)) != len(keys):
            raise ValueError("a key is operated on twice")
        for operation in self.operations:
            if not operation.key.encode():  # raises UnicodeEncodeError, which is a ValueError
                raise ValueError("a key is empty")
            if not isinstance(operation, Put):
                continue
            if not isinstance(operation.value, bytes):
                raise TypeError("a value is not bytes")
            if len(operation.value) > MAX_VALUE:
                raise TooLarge("etcdserver: request is too large")
            if operation.seconds is not None and operation.seconds < 1:
                raise ValueError("a value is to go before it is there")


def put(key: str, value: bytes) -> Transaction:
    """Write an entry, whatever is there now."""
    return Transaction((), (Put(key, value),))


def create(key: str, value: bytes, seconds: int | None = None) -> Transaction:
    """Write an entry if there is none."""
    return Transaction((Condition(key, 0),), (Put(key, value, seconds),))


def update(key: str, value: bytes, mod_revision: int, seconds: int | None = None) -> Transaction:
    """Write an entry in place of one that is still at this revision."""
    return Transaction((Condition(key, mod_revision),), (Put(key, value, seconds),))


def delete(key: str, mod_revision: int | None = None) -> Transaction:
    """Delete an entry that is still at this revision; None: whatever is there."""
    conditions = () if mod_revision is None else (Condition(key, mod_revision),)
    return Transaction(conditions, (Delete(key),))


@dataclass(frozen=True, slots=True)
class Committed:
    """Says that a transaction happened. `events` are parallel to its operations; None for a
    deletion that found nothing. `revision` is that of the events, or the current one if there are
    none."""

    revision: int
    events: tuple[Event | None, ...]


@dataclass(frozen=True, slots=True)
class Conflict:
    """Says that a condition did not hold and nothing happened. `current` is parallel to the
    conditions: what is there at `revision`, None where nothing is."""

    revision: int
    current: tuple[Entry | None, ...]


Outcome: TypeAlias = Committed | Conflict
"""What becomes of a transaction: all of it or nothing."""


@dataclass(frozen=True, slots=True)
class Delivery:
    """Holds events in order, none of a revision left out. With them, the watch has delivered all
    there was up to and including `revision`: a watch opened after it goes on without gap or
    repetition, and a client may be told so (a bookmark)."""

    events: tuple[Event, ...]
    revision: int
    is_all: bool = field(default=True, compare=False)
    """Whether nothing waits behind them, an end of the watch neither: `notify` tells of more."""


class Watch(Protocol):
    """Delivers the events of one prefix. The reader sets the pace: it is told by `notify` that
    there is something to take (events, progress that was asked for, or an end), and takes until
    nothing is left. It is told once, then not again before it has called `take`."""

    def take(self, limit: int | None = None) -> Delivery:
        """Return what has come since the last time, possibly nothing; at most about `limit` events,
        as those of one transaction stay together. Raises what ended the watch, when all events
        before the end are taken: WatchOverflow (at once), StoreClosed, WatchEnded."""

    def take_only(self) -> Event | None:
        """Take the event that waits if it is the only thing to take. If not, return None and take
        nothing. Takes half the time of `take`, for who is told of each event as it comes."""

    def is_waiting(self) -> bool:
        """Return whether `take` would give events, or raise. Takes a tenth of its time."""

    def close(self) -> None:
        """End the watch: no more events, no more `notify`. May be repeated."""


class Promise(Protocol[T_contra]):
    """Takes what becomes of a transaction from any thread, as a `concurrent.futures.Future`
    does."""

    def set_running_or_notify_cancel(self) -> bool:
        """Return whether it is still wanted: it can no longer be cancelled if it is."""

    def set_result(self, result: T_contra) -> object:
        """Take the result."""

    def set_exception(self, exception: BaseException) -> object:
        """Take the reason why there is none."""


class Store(Protocol):
    """Keys with values and revisions, transactions on them, and who watches them."""

    def revision(self) -> int:
        """Return the newest revision that can be read here."""

    @property
    def is_shared(self) -> bool:
        """Return whether somebody else may write to it, too. If nobody does, all can be read here
        that was acknowledged, and nobody needs to ask for `synced`."""

    def synced(self) -> Future[int]:
        """Return a revision not older than any write acknowledged so far, to anyone. It is done
        when that can be read here, and on return in a store that nobody else writes to. Fails with
        ServiceUnavailable."""

    def trouble(self) -> str:
        """Return what keeps this store from being used, for an operator; empty if nothing does."""

    def writing_trouble(self) -> str:
        """Return why the last write failed, if it was for want of room or for the place where the
        store is: reads go on. Empty as soon as a write succeeds."""

    def get(self, key: str, revision: int | None = None) -> Entry | None:
        """Return the entry, now or at a revision. Raises RevisionError."""

    def range(
        self, prefix: str, start: str = "", limit: int | None = None, revision: int | None = None
    ) -> Page:
        """Return entries whose key begins with `prefix` and is not before `start`, now or at a
        revision. To go on after a page: `start` is its last key and a NUL, `revision` is the
        page's. Raises RevisionError."""

    def submit(self, transaction: Transaction) -> Future[Outcome]:
        """Transactions that have a key in common take effect in the order in which they are
        submitted (by one thread), each as if alone; local stores keep the order of all. The future
        fails with a FileError or a ServiceError if it could not be made durable. A future that is
        cancelled in time is not carried out. Raises StoreClosed."""

    def carry_out(self, transaction: Transaction, promise: Promise[Outcome]) -> None:
        """Do what `submit` does; the promise takes the place of the future. Raises StoreClosed."""

    def compact(self, revision: int) -> Future[int]:
        """Forget what was before `revision`: it stays readable, older ones do not. The future
        gives the new oldest revision, or fails with RevisionError if there is nothing to do or the
        revision has not been reached, or as that of a write does. Raises StoreClosed."""

    def watch(
        self,
        prefix: str,
        after: int | None = None,
        notify: Callable[[], object] | None = None,
        buffer: int = WATCH_BUFFER,
    ) -> Watch:
        """Watch events with a revision greater than `after` (None: the current one), which may lie
        in the future: then it waits. If events are waiting already, `notify` is not called for
        them: begin with `take`. Raises Compacted, StoreClosed."""

    def held(self) -> AbstractContextManager[object]:
        """Hold the store: nothing changes meanwhile that could be read, for who forks the
        process."""

    def sweep(self) -> None:
        """See to it that what has outlived its seconds goes, and that a store that could not be
        written is tried again: to be called now and then. Does nothing in a store that does so by
        itself."""

    def close(self) -> None:
        """Finish what was submitted, end all watches. Reads still work. May be repeated."""


# --- Errors ------------------------------------------------------------------
#
# The exceptions of the store room.
#
#     StoreError
#     ├── RevisionError     a revision that cannot be read, watched from or compacted to
#     │   ├── Compacted       it is older than the history that is kept
#     │   └── FutureRevision  it has not happened yet
#     ├── WatchEnded        a watch will deliver nothing more
#     │   ├── WatchOverflow   because it was not read and its buffer is full
#     │   └── WatchLost       because the store has missed changes itself
#     ├── StoreClosed       the store has been closed, or its writer is gone
#     ├── FileError         the file a store lives in; `path` says which
#     │   ├── FileUnavailable   cannot be opened, read or written (missing folder, I/O error)
#     │   ├── FileLocked        another process, or another store of this one, has it open
#     │   ├── FileReadOnly      may not be written
#     │   ├── DiskFull          the disk, or the quota given to the store, has no room left
#     │   ├── NotAStore         not a database, or one of another application
#     │   ├── FileDamaged       a store once, but its pages contradict each other
#     │   └── NewerSchema       written by a newer Celadon
#     └── ServiceError      the service a store lives in refuses, in its words
#         ├── ServiceUnavailable  does not answer in time, or has no majority
#         ├── ServiceFull         has no room left
#         └── TooLarge            takes no request of that size
#
# A conflict is not among them: that somebody else was faster is an expected outcome and a value
# (`contract.Conflict`). After a `FileError` from a write the store is as it was before that
# write, and usable: the same write may be tried again. Only if the process dies before the next
# successful write may a failed one turn up after all, where the disk had it but could not say
# so. After a `ServiceUnavailable` from a write nobody knows whether it has happened, or is
# going to: what it was conditional on decides what to do. Of the other errors of a service,
# nothing has happened.


class StoreError(Exception):
    """Base of everything this room raises on purpose."""


class RevisionError(StoreError):
    """Says that the revision `requested` cannot be served."""

    def __init__(self, message: str, requested: int) -> None:
        super().__init__(message)
        self.requested = requested


class Compacted(RevisionError):
    """Says that a revision is no longer kept (HTTP 410 in the API). `oldest` is the oldest revision
    that can still be read or watched from."""

    def __init__(self, requested: int, oldest: int) -> None:
        super().__init__(f"revision {requested} is compacted, the oldest is {oldest}", requested)
        self.oldest = oldest


class FutureRevision(RevisionError):
    """Says that a revision is not there yet. `current` is the newest revision there is."""

    def __init__(self, requested: int, current: int) -> None:
        super().__init__(f"revision {requested} is in the future, now is {current}", requested)
        self.current = current


class WatchEnded(StoreError):
    """Says that a watch was closed, or its `notify` failed."""


class WatchOverflow(WatchEnded):
    """Says that more came than the watch may hold `unread`; it can be opened again where it stopped
    as long as the history reaches back to there."""

    def __init__(self, unread: str) -> None:
        super().__init__(f"the watch was cancelled: {unread} were not read in time")


class WatchLost(WatchEnded):
    """Says that the store has been out of touch for longer than the history reaches back: what
    happened meanwhile can only be seen by listing again."""

    def __init__(self) -> None:
        super().__init__("the watch was cancelled: the store has missed changes")


class StoreClosed(StoreError):
    """Says that nothing can be written any more."""


class FileError(StoreError):
    """Says what is wrong with the file of a store. `path` as it was given to open the store,
    `message` what is wrong with it."""

    def __init__(self, path: str, message: str) -> None:
        super().__init__(f"`{path}`: {message}")
        self.path = path
        self.message = message


class FileUnavailable(FileError):
    """Says that the operating system refuses to open or write the file."""


class FileLocked(FileError):
    """Says that another store has the file open."""


class FileReadOnly(FileError):
    """A store needs to write, also when it is only read."""


class DiskFull(FileError):
    """Says that nothing was written; smaller writes, or compaction, may still succeed."""


class NotAStore(FileError):
    """Says that a file is no store; it is left untouched."""


class FileDamaged(FileError):
    """Says that a file is damaged: it has to be restored from a copy."""


class NewerSchema(FileError):
    """Says that a newer release has written the file; it is left untouched."""


class ServiceError(StoreError):
    """Says, in its own words, why a service has refused."""


class ServiceUnavailable(ServiceError):
    """Says that a service could not be reached; a write may have happened."""


class ServiceFull(ServiceError):
    """Says that etcd has no room; deletions may still succeed."""


class TooLarge(ServiceError):
    """Says that a value is larger than the store takes, in etcd's words. The bound of a service is
    a setting of it."""
