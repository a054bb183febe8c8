"""What etcd keeps in its database: every revision of every key since the last compaction.

The bucket `key` has a message `mvccpb.KeyValue` for each revision, by its number: eight bytes, `_`,
eight bytes for the change within the transaction; a `t` behind them says that the key was deleted.
The last one of a key is what the key has. `etcdctl snapshot save` puts a SHA-256 of the database
behind it; the database of a member (`member/snap/db`) has none.
"""

from __future__ import annotations

import hashlib
import mmap
import os
from collections.abc import Mapping
from typing import Final, NamedTuple

from celadon.cli.audit.bolt_pages import BoltError, Data, bolt_file
from celadon.records import dataclass

_KEYS: Final = b"key"
_REVISION_BYTES: Final = 17
_TOMBSTONE: Final = b"t"
_SECTOR: Final = 512
"""All databases have a multiple of so many bytes."""
_HASHED_AT_ONCE: Final = 1 << 24
_SIZE_BITS: Final = 32
_VARINT: Final = 0
_FIXED_64: Final = 1
_SIZED: Final = 2
_FIXED_32: Final = 5
_KEY_TAG: Final = 1 << 3 | _SIZED
_CONTINUED: Final = 0x80
"""A byte of a number from which on another byte follows."""
_MOD_REVISION: Final = 3
_VALUE: Final = 5


class Stored(NamedTuple):
    """The value of a key, and the revision at which it was written."""

    value: bytes
    revision: int


@dataclass(frozen=True, slots=True)
class Snapshot:
    """The keys that there are, in their order, and where in the file what they have is. It stays
    open, and may be read by several processes."""

    size: int
    _data: Data
    _messages: Mapping[bytes, int]

    @property
    def keys(self) -> tuple[bytes, ...]:
        """In the order of their bytes."""
        return tuple(self._messages)

    def stored(self, key: bytes) -> Stored:
        """Return what a key has. BoltError if it is damaged."""
        place = self._messages[key]
        start = place >> _SIZE_BITS
        message = self._data[start : start + (place & (1 << _SIZE_BITS) - 1)]
        fields = _fields(message)
        begin, end = fields.get(_VALUE, (0, 0))
        return Stored(message[begin:end], fields.get(_MOD_REVISION, (0, 0))[0])


def read_snapshot(file: str) -> Snapshot:
    """Of a file, which stays open. Raises OSError, and BoltError for a file that is none, or
    damaged."""
    with open(file, "rb") as stream:
        size = os.fstat(stream.fileno()).st_size
        if not size:
            raise BoltError("it is empty")
        data = mmap.mmap(stream.fileno(), 0, access=mmap.ACCESS_READ)
    hash_size = hashlib.sha256().digest_size
    if size % _SECTOR == hash_size:
        size -= hash_size
        if _hash(data, size) != data[size:]:
            raise BoltError("its checksum is another one: it is damaged or incomplete")
    return Snapshot(size, data, _latest(data, size))


def _hash(data: mmap.mmap, size: int) -> bytes:
    found = hashlib.sha256()
    for start in range(0, size, _HASHED_AT_ONCE):
        found.update(data[start : min(size, start + _HASHED_AT_ONCE)])
    return found.digest()


def _latest(data: Data, size: int) -> dict[bytes, int]:
    """Return where the newest message of each key is, with its size in the lower bits: one number
    for each of what may be millions."""
    found: dict[bytes, int] = {}
    last = b""
    for item in bolt_file(data, size).bucket(_KEYS):
        revision = item.key
        if len(revision) < _REVISION_BYTES or item.is_bucket or revision <= last:
            raise BoltError("its revisions are not in their order")
        last = revision
        key = _key(data[item.start : item.start + item.size])
        if revision[_REVISION_BYTES:] == _TOMBSTONE:
            found.pop(key, None)
        else:
            found[key] = item.start << _SIZE_BITS | item.size
    return dict(sorted(found.items()))


def _key(message: bytes) -> bytes:
    """It comes first; what follows is not looked at. BoltError."""
    tag, at = _varint(message, 0)
    size, at = _varint(message, at)
    if tag != _KEY_TAG or at + size > len(message):
        raise BoltError("a revision has no key")
    return message[at : at + size]


def _fields(message: bytes) -> dict[int, tuple[int, int]]:
    """Return where texts begin and end; for a number the number twice. BoltError."""
    found: dict[int, tuple[int, int]] = {}
    at, end = 0, len(message)
    while at < end:
        tag = message[at]
        if tag < _CONTINUED:
            at += 1
        else:
            tag, at = _varint(message, at)
        kind = tag & 7
        if kind == _SIZED:
            size, at = _varint(message, at)
            found[tag >> 3] = (at, at + size)
            at += size
        elif kind == _VARINT:
            number, at = _varint(message, at)
            found[tag >> 3] = (number, number)
        elif kind in (_FIXED_32, _FIXED_64):
            at += 4 if kind == _FIXED_32 else 8
        else:
            raise BoltError("a revision is damaged")
    if at > end:
        raise BoltError("a revision is cut off")
    return found


def _varint(message: bytes, at: int) -> tuple[int, int]:
    number = shift = 0
    while shift < 64 and at < len(message):
        byte = message[at]
        at += 1
        number |= (byte & 0x7F) << shift
        if byte < _CONTINUED:
            return number, at
        shift += 7
    raise BoltError("a revision is cut off")
