"""Room on the disk that is kept for the day on which there is no other.

On a full disk nothing can be deleted, either: a deletion has to be written down. So a file beside
the data takes some room as long as there is any. When the disk is full it gives it back, and takes
it again as soon as it can.
"""

from __future__ import annotations

import errno
import os
from contextlib import suppress
from typing import Final

from celadon import owner_only

MOST: Final = 2 << 20
"""Bytes: more than what waits in the write-ahead log (`pages_in_log`), which has to go into the
data file before deletions can be written over it."""

SHARE: Final = 8
"""Of a small disk only one part in so many is taken."""

PAGE_BYTES: Final = 4096
LOG_SHARE: Final = 4
"""The log may have one part in so many of the reserve before it is taken over."""

FEWEST_PAGES: Final = 16


class DiskReserve:
    """Of one data file. Nothing here fails; without a reserve, a full disk takes no deletions."""

    def __init__(self, path: str) -> None:
        self._path = f"{path}-reserve"
        self._size = 0
        with suppress(OSError):
            about = os.statvfs(os.path.dirname(path) or ".")
            self._size = min(MOST, about.f_blocks * about.f_frsize // SHARE)
        self.is_released = self._was_released() and not self.take()

    def _was_released(self) -> bool:
        """Whether there is one. A reserve that is there is as large as it was when it was taken."""
        try:
            return not os.path.getsize(self._path)
        except OSError:
            self.take()
            return False

    @property
    def pages_in_log(self) -> int:
        """Pages after which the write-ahead log is to be taken over."""
        return max(FEWEST_PAGES, self._size // LOG_SHARE // PAGE_BYTES)

    def take(self) -> bool:
        """Whether there is room for it."""
        try:
            owner_only.create(self._path)
            file = os.open(self._path, os.O_WRONLY)
        except OSError:
            return False
        try:
            os.posix_fallocate(file, 0, max(1, self._size))
        except OSError:
            with suppress(OSError):
                os.ftruncate(file, 0)
            return False
        finally:
            os.close(file)
        self.is_released = False
        return True

    def release(self) -> None:
        """Give it back."""
        self.is_released = True
        with suppress(OSError):
            os.truncate(self._path, 0)

    def is_disk_full(self) -> bool:
        """Whether what failed has failed for want of room: SQLite does not tell a quota of the file
        system from other failures."""
        trial = f"{self._path}-trial"
        try:
            owner_only.create(trial)
            file = os.open(trial, os.O_WRONLY)
        except OSError as error:
            return error.errno in (errno.ENOSPC, errno.EDQUOT)
        try:
            os.posix_fallocate(file, 0, PAGE_BYTES)
        except OSError as error:
            return error.errno in (errno.ENOSPC, errno.EDQUOT)
        finally:
            os.close(file)
            with suppress(OSError):
                os.unlink(trial)
        return False
