"""Checksums over what a file holds, so that what has changed by itself is noticed.

SQLite reads what is in its pages, and has no checksums for them. So each change in the file has one
over everything that is in it, and the file keeps how many changes there are and the sum of their
checksums: a change that is gone, or an older page in place of a newer one, makes the sum another.
The sum is kept current by triggers of the database, in the transaction that changes it.
"""

from __future__ import annotations

from hashlib import blake2b
from typing import Final

MASK: Final = (1 << 62) - 1
"""Checksums and their sums have 62 bits: two of them can be added in SQLite's signed 64."""


def checksum_of_change(
    position: int, key: str, created: int | None, value: bytes | None, expires: int | None
) -> int:
    """Over all columns of a change and their types. Raises TypeError, ValueError for what can not
    have been written."""
    kind = "deleted" if value is None else "put"
    head = f"{position} {created} {expires} {kind} {len(key)} {key}"
    digest = blake2b(head.encode(), digest_size=8)
    if value is not None:
        digest.update(value)
    return int.from_bytes(digest.digest(), "big") & MASK


def is_as_written(
    position: int,
    key: str,
    created: int | None,
    value: bytes | None,
    expires: int | None,
    checksum: int,
) -> bool:
    """Whether a change, as it was read, is the one that the checksum is of. What was read may be of
    any type."""
    try:
        return checksum_of_change(position, key, created, value, expires) == checksum
    except (TypeError, ValueError):
        return False


def checksum_of_compaction(revision: int) -> int:
    """Of the oldest revision that is kept: part of the sum, so that it cannot change either."""
    digest = blake2b(f"compacted {revision}".encode(), digest_size=8)
    return int.from_bytes(digest.digest(), "big") & MASK


class Sum:
    """What the changes in a file add up to, compared with what the file says in the end."""

    def __init__(self, compacted: int) -> None:
        self._changes = 0
        self._checksums = checksum_of_compaction(compacted)

    def add(self, checksum: int) -> None:
        self._changes += 1
        self._checksums = (self._checksums + checksum) & MASK

    def difference(self, changes: int, checksums: int) -> str:
        """What is wrong, empty if nothing is."""
        if self._changes != changes:
            return f"{changes} changes should be in it, {self._changes} are"
        if self._checksums != checksums:
            return "its changes do not add up to what was written"
        return ""
