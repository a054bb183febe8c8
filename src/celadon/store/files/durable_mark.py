"""The mark beside a data file: how far its changes were acknowledged.

SQLite ends its recovery at the first frame of the write-ahead log that is not as it was written. It
cannot tell damage from a transaction that was never finished, and goes on without what came later.
The mark can: it says the newest revision that was durable, is written behind each commit, and goes
when the log does, at an orderly end. A file that ends before its mark has lost something.

It has two places that are written in turns, each with a checksum. It is not flushed: after a loss
of power it may say less than there is, never more.
"""

from __future__ import annotations

import os
from contextlib import suppress
from hashlib import blake2b
from typing import Final

from celadon import owner_only

_PLACES: Final = 2
_DISTANCE: Final = 512
"""Bytes between places: a sector each."""


def mark_path(path: str) -> str:
    """Of the mark beside a data file."""
    return f"{path}-mark"


def read_mark(path: str) -> int:
    """The revision that the mark of a data file says; 0 without a mark that can be read."""
    try:
        with open(mark_path(path), "rb") as file:
            content = file.read(_PLACES * _DISTANCE)
    except OSError:
        return 0
    return max(_revision(content[_DISTANCE * place :]) for place in range(_PLACES))


def _revision(place: bytes) -> int:
    digits = place[:20]
    return int(digits) if place.startswith(_written(digits)) and digits.isdigit() else 0


def _written(digits: bytes) -> bytes:
    checksum = blake2b(digits, digest_size=8).hexdigest()
    return digits + b" " + checksum.encode() + b"\n"


class DurableMark:
    """The mark of a data file that is open. It never fails: without room for it, the file has
    none."""

    def __init__(self, path: str) -> None:
        self._path = path
        self._place = 0
        self._file = -1
        with suppress(OSError):
            owner_only.create(mark_path(path))
            self._file = os.open(mark_path(path), os.O_RDWR)

    def say(self, revision: int) -> None:
        """That all up to a revision is durable."""
        if self._file < 0:
            return
        self._place = (self._place + 1) % _PLACES
        with suppress(OSError):
            os.pwrite(self._file, _written(b"%020d" % revision), self._place * _DISTANCE)

    def close(self) -> None:
        """Behind the data file. The mark goes, unless there is still a write-ahead log."""
        if self._file < 0:
            return
        os.close(self._file)
        self._file = -1
        if not os.path.exists(f"{self._path}-wal"):
            with suppress(OSError):
                os.unlink(mark_path(self._path))
