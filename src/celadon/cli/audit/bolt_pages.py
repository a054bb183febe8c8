"""Files of bbolt, the database in which etcd keeps its data: read, never written.

A file is cut into pages of the same size; a page that needs more room goes on in those behind it.
Two of the first pages are metas: which of them is newer says where the root bucket is. A bucket is
a B+tree: branch pages lead to leaf pages, which have keys and values, sorted. A value may be a
bucket itself: the number of its root page, or, for a small one, a page inside the value. Numbers
are little-endian, as the machine that wrote them had them.

    page     id u64, flags u16, count u16, overflow u32, then `count` elements
    meta     magic, version, page size, flags (u32 each); root u64, sequence u64, freelist u64,
             end u64, transaction u64, checksum u64 (FNV-1a of what comes before)
    branch   pos u32, key size u32, page u64
    leaf     flags u32, pos u32, key size u32, value size u32; `pos` counts from the element

INVARIANT (bounded): a file may say anything. Nothing is read beyond the page that it belongs to, no
page is read twice in a walk, all values of a page together are no larger than the page, and what
does not fit together ends a walk with `BoltError`.
As go.etcd.io/bbolt `{db,page,bucket}.go`.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator
from mmap import mmap
from typing import Final, NamedTuple

from celadon.records import dataclass

_PAGE: Final = struct.Struct("<QHHI")
_META: Final = struct.Struct("<IIIIQQQQQQ")
_BRANCH: Final = struct.Struct("<IIQ")
_LEAF: Final = struct.Struct("<IIII")
_BUCKET: Final = struct.Struct("<QQ")
_MAGIC: Final = 0xED0CDAED
_VERSION: Final = 2
_IS_BRANCH: Final = 0x01
_IS_LEAF: Final = 0x02
_HOLDS_BUCKET: Final = 0x01
_FNV_OFFSET: Final = 0xCBF29CE484222325
_FNV_PRIME: Final = 0x100000001B3
_SMALLEST_PAGE: Final = 1 << 10
_LARGEST_PAGE: Final = 1 << 24
_MAX_DEPTH: Final = 64
"""Of a tree. A branch has hundreds of children."""

Data = bytes | mmap


class BoltError(ValueError):
    """A file that is none of bbolt's, or damaged; the text says what is wrong."""


class Item(NamedTuple):
    """A key, and where in the file its value is."""

    key: bytes
    start: int
    size: int
    is_bucket: bool


class _Page(NamedTuple):
    """Elements begin at `start`; nothing of the page is at or behind `end`."""

    start: int
    end: int
    flags: int
    elements: int


@dataclass(frozen=True, slots=True)
class BoltFile:
    """A file that was opened: `root` is the page of the root bucket, `pages` how many there are."""

    data: Data
    page_size: int
    root: int
    pages: int

    def bucket(self, name: bytes) -> Iterator[Item]:
        """Yield what is in a bucket, in the order of the keys. BoltError, also if there is none."""
        for item in self._items(self._page(self.root)):
            if item.key == name and item.is_bucket:
                return self._inside(item)
        raise BoltError(f"it has no bucket `{name.decode('utf-8', 'replace')}`")

    def _inside(self, item: Item) -> Iterator[Item]:
        if item.size < _BUCKET.size:
            raise BoltError("a bucket is cut off")
        root, _ = _BUCKET.unpack_from(self.data, item.start)
        if root:
            return self._items(self._page(root))
        start = item.start + _BUCKET.size
        return self._items(_page_at(self.data, start, item.start + item.size, None))

    def _page(self, number: int) -> _Page:
        if not 1 < number < self.pages:
            raise BoltError(f"there is no page {number}")
        start = number * self.page_size
        _, _, _, overflow = _PAGE.unpack_from(self.data, start)
        if number + overflow >= self.pages:
            raise BoltError(f"page {number} goes on behind the end")
        return _page_at(self.data, start, start + (1 + overflow) * self.page_size, number)

    def _items(self, root: _Page) -> Iterator[Item]:
        seen = bytearray(self.pages // 8 + 1)
        pending = [iter([root])]
        while pending:
            page = next(pending[-1], None)
            if page is None:
                pending.pop()
            elif page.flags & _IS_BRANCH:
                if len(pending) > _MAX_DEPTH:
                    raise BoltError("its pages are nested too deep")
                pending.append(self._children(page, seen))
            elif page.flags & _IS_LEAF:
                yield from _leaf_items(self.data, page)
            else:
                raise BoltError("a page in a tree is neither branch nor leaf")

    def _children(self, page: _Page, seen: bytearray) -> Iterator[_Page]:
        _require_elements(page, _BRANCH)
        for i in range(page.elements):
            _, _, number = _BRANCH.unpack_from(self.data, page.start + i * _BRANCH.size)
            child = self._page(number)
            if seen[number >> 3] & 1 << (number & 7):
                raise BoltError(f"page {number} is in a tree twice")
            seen[number >> 3] |= 1 << (number & 7)
            yield child


def bolt_file(data: Data, size: int) -> BoltFile:
    """The database in the first `size` bytes. BoltError."""
    metas = [found for found in (_meta(data, 0, size), _second_meta(data, size)) if found]
    if not metas:
        raise BoltError("it is no database of etcd")
    page_size, root, pages, _ = max(metas, key=lambda one: one[3])
    if pages * page_size > size:
        raise BoltError(f"it is incomplete: {size} bytes of {pages * page_size}")
    return BoltFile(data, page_size, root, pages)


def is_bolt(begin: bytes) -> bool:
    """Return whether the first bytes of a file are those of a database."""
    return _PAGE.size + 4 <= len(begin) and begin[_PAGE.size :][:4] == _MAGIC.to_bytes(4, "little")


def _second_meta(data: Data, size: int) -> tuple[int, int, int, int] | None:
    """It begins where the first page ends; how large that is, a damaged first meta does not say."""
    page_size = _SMALLEST_PAGE
    while page_size <= _LARGEST_PAGE:
        found = _meta(data, page_size, size)
        if found is not None and found[0] == page_size:
            return found
        page_size *= 2
    return None


def _meta(data: Data, start: int, size: int) -> tuple[int, int, int, int] | None:
    """Page size, root, number of pages and transaction; None if it is no meta or damaged."""
    at = start + _PAGE.size
    if at + _META.size > size:
        return None
    magic, version, page_size, _, root, _, _, pages, transaction, checksum = _META.unpack_from(
        data, at
    )
    if magic != _MAGIC or version != _VERSION or page_size & (page_size - 1):
        return None
    if not _SMALLEST_PAGE <= page_size <= _LARGEST_PAGE:
        return None
    if checksum != _fnv(data[at : at + _META.size - 8]):
        return None
    return page_size, root, pages, transaction


def _fnv(data: bytes) -> int:
    found = _FNV_OFFSET
    for one in data:
        found = (found ^ one) * _FNV_PRIME & 0xFFFFFFFFFFFFFFFF
    return found


def _page_at(data: Data, start: int, end: int, number: int | None) -> _Page:
    """`number` is what the page has to say it is; None for one inside a value."""
    if start + _PAGE.size > end:
        raise BoltError("a page is cut off")
    found, flags, count, _ = _PAGE.unpack_from(data, start)
    if number is not None and found != number:
        raise BoltError(f"page {number} says that it is page {found}")
    return _Page(start + _PAGE.size, end, flags, count)


def _require_elements(page: _Page, element: struct.Struct) -> None:
    if page.start + page.elements * element.size > page.end:
        raise BoltError("a page has more elements than fit into it")


def _leaf_items(data: Data, page: _Page) -> Iterator[Item]:
    _require_elements(page, _LEAF)
    start, end = page.start, page.end
    room = end - start - page.elements * _LEAF.size
    for i in range(page.elements):
        at = start + i * _LEAF.size
        flags, position, key_size, value_size = _LEAF.unpack_from(data, at)
        key = at + position
        value = key + key_size
        if value + value_size > end:
            raise BoltError("a value goes on behind the end of its page")
        room -= key_size + value_size
        if room < 0:
            raise BoltError("values of a page overlap")
        yield Item(data[key:value], value, value_size, bool(flags & _HOLDS_BUCKET))
