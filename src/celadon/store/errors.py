"""The exceptions of the store room.

    StoreError
    ├── RevisionError     a revision that cannot be read, watched from or compacted to
    │   ├── Compacted       it is older than the history that is kept
    │   └── FutureRevision  it has not happened yet
    ├── WatchEnded        a watch will deliver nothing more
    │   ├── WatchOverflow   because it was not read and its buffer is full
    │   └── WatchLost       because the store has missed changes itself
    ├── StoreClosed       the store has been closed, or its writer is gone
    ├── FileError         the file a store lives in; `path` says which
    │   ├── FileUnavailable   cannot be opened, read or written (missing folder, I/O error)
    │   ├── FileLocked        another process, or another store of this one, has it open
    │   ├── FileReadOnly      may not be written
    │   ├── DiskFull          the disk, or the quota given to the store, has no room left
    │   ├── NotAStore         not a database, or one of another application
    │   ├── FileDamaged       a store once, but its pages contradict each other
    │   └── NewerSchema       written by a newer Celadon
    └── ServiceError      the service a store lives in refuses, in its words
        ├── ServiceUnavailable  does not answer in time, or has no majority
        ├── ServiceFull         has no room left
        └── TooLarge            takes no request of that size

A conflict is not among them: that somebody else was faster is an expected outcome and a value
(`contract.Conflict`). After a `FileError` from a write the store is as it was before that write,
and usable: the same write may be tried again. Only if the process dies before the next successful
write may a failed one turn up after all, where the disk had it but could not say so. After a
`ServiceUnavailable` from a write nobody knows whether it has happened, or is going to: what it was
conditional on decides what to do. Of the other errors of a service, nothing has happened.
"""

from __future__ import annotations


class StoreError(Exception):
    """Base of everything this room raises on purpose."""


class RevisionError(StoreError):
    """`requested` cannot be served."""

    def __init__(self, message: str, requested: int) -> None:
        super().__init__(message)
        self.requested = requested


class Compacted(RevisionError):
    """`oldest` is the oldest revision that can still be read or watched from."""

    def __init__(self, requested: int, oldest: int) -> None:
        super().__init__(f"revision {requested} is compacted, the oldest is {oldest}", requested)
        self.oldest = oldest


class FutureRevision(RevisionError):
    """`current` is the newest revision there is."""

    def __init__(self, requested: int, current: int) -> None:
        super().__init__(f"revision {requested} is in the future, now is {current}", requested)
        self.current = current


class WatchEnded(StoreError):
    """The watch was closed, or its `notify` failed."""


class WatchOverflow(WatchEnded):
    """More came than the watch may hold `unread`; it can be opened again where it stopped as long
    as the history reaches back to there."""

    def __init__(self, unread: str) -> None:
        super().__init__(f"the watch was cancelled: {unread} were not read in time")


class WatchLost(WatchEnded):
    """The store has been out of touch for longer than the history reaches back: what happened
    meanwhile can only be seen by listing again."""

    def __init__(self) -> None:
        super().__init__("the watch was cancelled: the store has missed changes")


class StoreClosed(StoreError):
    """Nothing can be written any more."""


class FileError(StoreError):
    """`path` as it was given to open the store, `message` what is wrong with it."""

    def __init__(self, path: str, message: str) -> None:
        super().__init__(f"`{path}`: {message}")
        self.path = path
        self.message = message


class FileUnavailable(FileError):
    """The operating system refuses."""


class FileLocked(FileError):
    """Only one store at a time may have a file open."""


class FileReadOnly(FileError):
    """A store needs to write, also when it is only read."""


class DiskFull(FileError):
    """Nothing was written; smaller writes, or compaction, may still succeed."""


class NotAStore(FileError):
    """The file is left untouched."""


class FileDamaged(FileError):
    """Restore it from a copy."""


class NewerSchema(FileError):
    """The file is left untouched."""


class ServiceError(StoreError):
    """The message is the service's."""


class ServiceUnavailable(ServiceError):
    """A write may have happened."""


class ServiceFull(ServiceError):
    """Deletions may still succeed."""


class TooLarge(ServiceError):
    """The bound is a setting of the service."""
