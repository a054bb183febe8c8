"""Snapshots of etcd, written as bbolt and etcd would lay them out.

Small pages and few elements on each make deep trees out of a handful of keys.
"""

from __future__ import annotations

import hashlib
import struct
from collections.abc import Iterable, Sequence

from celadon.kube.protobuf import sized, tag, varint

Pair = tuple[bytes, bytes]
_BRANCH, _LEAF, _META, _FREE = 1, 2, 4, 16
_HOLDS_BUCKET = 1


def fnv(data: bytes) -> int:
    found = 0xCBF29CE484222325
    for one in data:
        found = (found ^ one) * 0x100000001B3 % 2**64
    return found


def leaf(pairs: Sequence[Pair], flags: int = 0) -> bytes:
    """The elements of a leaf page, and what they lead to."""
    elements, data = b"", b""
    for i, (key, value) in enumerate(pairs):
        position = 16 * (len(pairs) - i) + len(data)
        elements += struct.pack("<IIII", flags, position, len(key), len(value))
        data += key + value
    return elements + data


def branch(children: Sequence[tuple[bytes, int]]) -> bytes:
    elements, data = b"", b""
    for i, (key, page) in enumerate(children):
        position = 16 * (len(children) - i) + len(data)
        elements += struct.pack("<IIQ", position, len(key), page)
        data += key
    return elements + data


def header(number: int, flags: int, count: int, overflow: int = 0) -> bytes:
    return struct.pack("<QHHI", number, flags, count, overflow)


class Pages:
    """The pages of a database, put one behind the other."""

    def __init__(self, size: int = 1024, fanout: int = 3) -> None:
        self.size, self.fanout = size, fanout
        self.made: list[bytes] = [b"", b"", self._padded(header(2, _FREE, 0))]

    def add(self, flags: int, count: int, content: bytes) -> int:
        """Puts a page there, as many as it needs; its number."""
        number = len(self.made)
        overflow = (16 + len(content) - 1) // self.size
        whole = self._padded(header(number, flags, count, overflow) + content)
        self.made += [whole[i : i + self.size] for i in range(0, len(whole), self.size)]
        return number

    def tree(self, pairs: Sequence[Pair], flags: int = 0) -> int:
        """The number of the root of a tree with these."""
        fanout = self.fanout
        groups = [pairs[i : i + fanout] for i in range(0, len(pairs), fanout)] or [()]
        level = [
            (group[0][0] if group else b"", self.add(_LEAF, len(group), leaf(group, flags)))
            for group in groups
        ]
        while len(level) > 1:
            parts = [level[i : i + fanout] for i in range(0, len(level), fanout)]
            level = [(part[0][0], self.add(_BRANCH, len(part), branch(part))) for part in parts]
        return level[0][1]

    def database(self, root: int, transaction: int = 7) -> bytes:
        """All of it, with two metas of which the second is older and leads nowhere."""
        metas = [self.meta(0, root, transaction), self.meta(1, 2, transaction - 1)]
        return b"".join([*metas, *self.made[2:]])

    def meta(self, number: int, root: int, transaction: int) -> bytes:
        content = struct.pack(
            "<IIIIQQQQQ",
            *(0xED0CDAED, 2, self.size, 0),
            *(root, 0, 2, len(self.made), transaction),
        )
        content += struct.pack("<Q", fnv(content))
        return self._padded(header(number, _META, 0) + content)

    def _padded(self, content: bytes) -> bytes:
        return content + bytes(-len(content) % self.size)


def database(
    pairs: Sequence[Pair], size: int = 1024, fanout: int = 3, *, inline: bool = False
) -> bytes:
    """With these in the bucket `key`; an `inline` one is a value itself."""
    pages = Pages(size, fanout)
    bucket = struct.pack("<QQ", 0 if inline else pages.tree(pairs), 0)
    if inline:
        bucket += header(0, _LEAF, len(pairs)) + leaf(pairs)
    others = struct.pack("<QQ", 0, 0) + header(0, _LEAF, 0)
    root = pages.tree([(b"alarm", others), (b"key", bucket), (b"meta", others)], _HOLDS_BUCKET)
    return pages.database(root)


def with_hash(data: bytes) -> bytes:
    """As `etcdctl snapshot save` leaves it."""
    return data + hashlib.sha256(data).digest()


def revision(main: int, sub: int = 0, *, deleted: bool = False) -> bytes:
    return struct.pack(">Q", main) + b"_" + struct.pack(">Q", sub) + b"t" * deleted


def key_value(key: bytes, value: bytes, at: int, lease: int = 0) -> bytes:
    """`mvccpb.KeyValue`."""
    made = tag(1, 2) + sized(key)
    for number, what in ((2, at), (3, at), (4, 1)):
        made += tag(number, 0) + varint(what)
    made += tag(5, 2) + sized(value)
    return made + (tag(6, 0) + varint(lease) if lease else b"")


def written(values: Iterable[tuple[str, bytes | None]]) -> list[Pair]:
    """One revision for each of them, in this order; None deletes a key."""
    made = []
    for at, (key, value) in enumerate(values, 2):
        name = key.encode()
        if value is None:
            made.append((revision(at, deleted=True), tag(1, 2) + sized(name)))
        else:
            made.append((revision(at), key_value(name, value, at)))
    return made


def snapshot(values: Iterable[tuple[str, bytes | None]]) -> bytes:
    """A snapshot with all of them."""
    return with_hash(database(written(values)))
