"""A snapshot of etcd: the pages of its file, and the objects in them as pieces that can be audited.

An object is decoded when somebody wants to know more of it than its kind, by the process that
audits it. Its place is the file and its key: `snapshot.db!/registry/pods/shop/web`.
"""

from __future__ import annotations

import hashlib
import json
import mmap
import os
import struct
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import Final, NamedTuple

from celadon.cli.audit.audit_blocks import Head, Piece, ReadObject, is_sound_metadata
from celadon.cli.check.check_report import Notice, NoticeReason, Place
from celadon.cli.reading.documents import Document, DocumentReader, Problem
from celadon.cli.reading.json_text import read_written
from celadon.goyaml import UnreadableError
from celadon.kube import JsonObject, metadata
from celadon.kube.json_types import JsonDict
from celadon.kube.protobuf import MAGIC, ProtobufError, decode, open_envelope
from celadon.kube.registry import stored_form
from celadon.kube.schemas import DecodeError
from celadon.records import dataclass

# --- Pages of bbolt ----------------------------------------------------------
#
# Files of bbolt, the database in which etcd keeps its data: read, never written.
#
# A file is cut into pages of the same size; a page that needs more room goes on in those behind
# it. Two of the first pages are metas: which of them is newer says where the root bucket is. A
# bucket is a B+tree: branch pages lead to leaf pages, which have keys and values, sorted. A value
# may be a bucket itself: the number of its root page, or, for a small one, a page inside the
# value. Numbers are little-endian, as the machine that wrote them had them.
#
#     page     id u64, flags u16, count u16, overflow u32, then `count` elements
#     meta     magic, version, page size, flags (u32 each); root u64, sequence u64, freelist u64,
#              end u64, transaction u64, checksum u64 (FNV-1a of what comes before)
#     branch   pos u32, key size u32, page u64
#     leaf     flags u32, pos u32, key size u32, value size u32; `pos` counts from the element
#
# INVARIANT (bounded): a file may say anything. Nothing is read beyond the page that it belongs
# to, no page is read twice in a walk, all values of a page together are no larger than the page,
# and what does not fit together ends a walk with `BoltError`. As go.etcd.io/bbolt
# `{db,page,bucket}.go`.

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

Data = bytes | mmap.mmap


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
    """Return the database in the first `size` bytes. BoltError."""
    metas = [meta for meta in (_meta(data, 0, size), _second_meta(data, size)) if meta]
    if not metas:
        raise BoltError("it is no database of etcd")
    page_size, root, pages, _ = max(metas, key=lambda meta: meta[3])
    if pages * page_size > size:
        raise BoltError(f"it is incomplete: {size} bytes of {pages * page_size}")
    return BoltFile(data, page_size, root, pages)


def is_bolt(begin: bytes) -> bool:
    """Return whether the first bytes of a file are those of a database."""
    return _PAGE.size + 4 <= len(begin) and begin[_PAGE.size :][:4] == _MAGIC.to_bytes(4, "little")


def _second_meta(data: Data, size: int) -> tuple[int, int, int, int] | None:
    """Find the second meta, which begins where the first page ends; how large that is, a damaged
    first meta does not say."""
    page_size = _SMALLEST_PAGE
    while page_size <= _LARGEST_PAGE:
        meta = _meta(data, page_size, size)
        if meta is not None and meta[0] == page_size:
            return meta
        page_size *= 2
    return None


def _meta(data: Data, start: int, size: int) -> tuple[int, int, int, int] | None:
    """Page size, root, number of pages and transaction; None if it is no meta or damaged."""
    index = start + _PAGE.size
    if index + _META.size > size:
        return None
    magic, version, page_size, _, root, _, _, pages, transaction, checksum = _META.unpack_from(
        data, index
    )
    if magic != _MAGIC or version != _VERSION or page_size & (page_size - 1):
        return None
    if not _SMALLEST_PAGE <= page_size <= _LARGEST_PAGE:
        return None
    if checksum != _fnv(data[index : index + _META.size - 8]):
        return None
    return page_size, root, pages, transaction


def _fnv(data: bytes) -> int:
    fnv_offset = _FNV_OFFSET
    for number in data:
        fnv_offset = (fnv_offset ^ number) * _FNV_PRIME & 0xFFFFFFFFFFFFFFFF
    return fnv_offset


def _page_at(data: Data, start: int, end: int, number: int | None) -> _Page:
    """Return a page. `number` is what the page has to say it is; None for one inside a value."""
    if start + _PAGE.size > end:
        raise BoltError("a page is cut off")
    result, flags, count, _ = _PAGE.unpack_from(data, start)
    if number is not None and result != number:
        raise BoltError(f"page {number} says that it is page {result}")
    return _Page(start + _PAGE.size, end, flags, count)


def _require_elements(page: _Page, element: struct.Struct) -> None:
    if page.start + page.elements * element.size > page.end:
        raise BoltError("a page has more elements than fit into it")


def _leaf_items(data: Data, page: _Page) -> Iterator[Item]:
    _require_elements(page, _LEAF)
    start, end = page.start, page.end
    room = end - start - page.elements * _LEAF.size
    for i in range(page.elements):
        index = start + i * _LEAF.size
        flags, position, key_size, value_size = _LEAF.unpack_from(data, index)
        key = index + position
        value = key + key_size
        if value + value_size > end:
            raise BoltError("a value goes on behind the end of its page")
        room -= key_size + value_size
        if room < 0:
            raise BoltError("values of a page overlap")
        yield Item(data[key:value], value, value_size, bool(flags & _HOLDS_BUCKET))


# --- Revisions of a snapshot -------------------------------------------------
#
# What etcd keeps in its database: every revision of every key since the last compaction.
#
# The bucket `key` has a message `mvccpb.KeyValue` for each revision, by its number: eight bytes,
# `_`, eight bytes for the change within the transaction; a `t` behind them says that the key was
# deleted. The last one of a key is what the key has. `etcdctl snapshot save` puts a SHA-256 of
# the database behind it; the database of a member (`member/snap/db`) has none.

_KEY_BUCKET: Final = b"key"
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
        """Return the keys in the order of their bytes."""
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
    """Read a file, which stays open. Raises OSError, and BoltError for a file that is none, or
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
    digest = hashlib.sha256()
    for start in range(0, size, _HASHED_AT_ONCE):
        digest.update(data[start : min(size, start + _HASHED_AT_ONCE)])
    return digest.digest()


def _latest(data: Data, size: int) -> dict[bytes, int]:
    """Return where the newest message of each key is, with its size in the lower bits: one number
    for each of what may be millions."""
    result: dict[bytes, int] = {}
    last = b""
    for item in bolt_file(data, size).bucket(_KEY_BUCKET):
        revision = item.key
        if len(revision) < _REVISION_BYTES or item.is_bucket or revision <= last:
            raise BoltError("its revisions are not in their order")
        last = revision
        key = _key(data[item.start : item.start + item.size])
        if revision[_REVISION_BYTES:] == _TOMBSTONE:
            result.pop(key, None)
        else:
            result[key] = item.start << _SIZE_BITS | item.size
    return dict(sorted(result.items()))


def _key(message: bytes) -> bytes:
    """Return the key, which comes first; what follows is not looked at. BoltError."""
    tag, index = _varint(message, 0)
    size, index = _varint(message, index)
    if tag != _KEY_TAG or index + size > len(message):
        raise BoltError("a revision has no key")
    return message[index : index + size]


def _fields(message: bytes) -> dict[int, tuple[int, int]]:
    """Return where texts begin and end; for a number the number twice. BoltError."""
    result: dict[int, tuple[int, int]] = {}
    index, end = 0, len(message)
    while index < end:
        tag = message[index]
        if tag < _CONTINUED:
            index += 1
        else:
            tag, index = _varint(message, index)
        kind = tag & 7
        if kind == _SIZED:
            size, index = _varint(message, index)
            result[tag >> 3] = (index, index + size)
            index += size
        elif kind == _VARINT:
            number, index = _varint(message, index)
            result[tag >> 3] = (number, number)
        elif kind in (_FIXED_32, _FIXED_64):
            index += 4 if kind == _FIXED_32 else 8
        else:
            raise BoltError("a revision is damaged")
    if index > end:
        raise BoltError("a revision is cut off")
    return result


def _varint(message: bytes, index: int) -> tuple[int, int]:
    number = shift = 0
    while shift < 64 and index < len(message):
        byte = message[index]
        index += 1
        number |= (byte & 0x7F) << shift
        if byte < _CONTINUED:
            return number, index
        shift += 7
    raise BoltError("a revision is cut off")


# --- Stored values -----------------------------------------------------------
#
# What kube-apiserver keeps in etcd: one object under each key, in one of several encodings.
#
# Objects of built-in kinds are protobuf in an envelope that names their kind; custom resources,
# and built-in ones of old, are JSON. A key only says roughly what is in it: the kind is in the
# value, and in its stored version, which need not be the one that clients see. Whoever reads an
# object back fills in defaults that the version has got since, and the resource version, which
# is etcd's.
#
# What a server has encrypted begins with `k8s:enc:`, the method and the name of a key. It is
# counted and never guessed at.
#
# As k8s.io/apiserver `pkg/storage/{etcd3,value}` and k8s.io/apimachinery
# `pkg/runtime/serializer/{protobuf,cbor}`.

_ENCRYPTED: Final = b"k8s:enc:"
_CBOR: Final = b"\xd9\xd9\xf7"
_JSON: Final = b"{"
_METHOD_BYTES: Final = 200
"""Of what stands before an encrypted value."""


class NotStoredObject(ValueError):
    """A value that is no object, or cannot be read; the text says why."""


def sealed_by(value: bytes) -> str:
    """Return with what a value is encrypted: `aescbc`, `kms`; empty if it is not."""
    if not value.startswith(_ENCRYPTED):
        return ""
    method, colon, _ = value[len(_ENCRYPTED) : _METHOD_BYTES].partition(b":")
    return method.decode("ascii", "replace") if colon and method else "in an unknown way"


def looks_like_object(value: bytes) -> bool:
    """Return whether it begins as objects do, in an encoding that is read or another."""
    return value.startswith((MAGIC, _JSON, _CBOR))


def stored_head(value: bytes) -> Head | None:
    """Return the type of an object, if its envelope says it; the whole has to be read for that of
    JSON."""
    if not value.startswith(MAGIC):
        return None
    try:
        gvk = open_envelope(value).gvk
    except ProtobufError:
        return None
    return Head(gvk.api_version, gvk.kind)


def stored_object(value: bytes, revision: int) -> JsonDict:
    """Return the object as a server would show it to a client that asks for the version in which it
    is stored. NotStoredObject."""
    content = _read(value)
    about = content.get("metadata") or {}
    if not is_sound_metadata(about):
        raise NotStoredObject("its metadata is none")
    content["metadata"] = {**about, "resourceVersion": str(revision)}
    try:
        return stored_form(content, metadata.gvk(content))
    except DecodeError as error:
        raise NotStoredObject(f"it is no object of its kind: {error}") from None


def _read(value: bytes) -> JsonDict:
    if value.startswith(MAGIC):
        try:
            return decode(value)
        except ProtobufError as error:
            raise NotStoredObject(str(error)) from None
    if value.startswith(_CBOR):
        raise NotStoredObject("it is stored as CBOR, which is not read")
    try:
        result = read_written(value.decode()) if value.startswith(_JSON) else None
    except (UnreadableError, UnicodeDecodeError) as error:
        raise NotStoredObject(f"invalid JSON: {error}") from None
    if not isinstance(result, dict) or not _has_type(result):
        raise NotStoredObject("it is no object with `apiVersion` and `kind`")
    return result


def _has_type(obj: JsonObject) -> bool:
    type_fields = (obj.get("apiVersion"), obj.get("kind"))
    return all(isinstance(field, str) and field for field in type_fields)


DEFAULT_PREFIX: Final = "/registry"
"""Under which kube-apiserver keeps everything unless `--etcd-prefix` says otherwise."""
_NO_OBJECTS: Final = ("masterleases", "peerserverleases", "ranges")
"""What servers keep for themselves beside the objects: who is there, and what is taken."""
_KEYS: Final = 250
_SHOWN_PREFIXES: Final = 3


class StoredPiece(NamedTuple):
    """The value of one key."""

    file: str
    key: bytes
    snapshot: Snapshot

    @property
    def place(self) -> Place:
        """Return the file and the key."""
        return Place(f"{self.file}!{self.key.decode('utf-8', 'replace')}")

    @property
    def text(self) -> bytes:
        """Return the key as it is stored."""
        return self.snapshot.stored(self.key).value

    @property
    def told_bytes(self) -> None:
        """Defaults are not among what is stored, and protobuf does not write names."""

    def head(self) -> Head | None:
        """Return the type, if the envelope says it."""
        return stored_head(self.text)

    def objects(self, _: DocumentReader) -> Iterator[ReadObject | Problem]:
        """Yield the object, or why it is none."""
        value, revision = self.snapshot.stored(self.key)
        try:
            yield ReadObject(stored_object(value, revision), self)
        except NotStoredObject as error:
            yield Problem(self.place.file, 0, f"cannot be read: {error}")

    def documents(self, reader: DocumentReader) -> Iterator[Document | Problem]:
        """Yield the same as a document, which has places of its own."""
        for item in self.objects(reader):
            if isinstance(item, Problem):
                yield item
            else:
                text = json.dumps(item.value).encode()
                yield from Piece(self.place.file, 1, text).documents(reader)


@dataclass(frozen=True, slots=True)
class SnapshotBlock:
    """Some of the keys of a snapshot."""

    file: str
    snapshot: Snapshot
    keys: Sequence[bytes]
    read_bytes: int

    def pieces(self) -> Iterator[StoredPiece]:
        """Yield a piece for each key."""
        return (StoredPiece(self.file, key, self.snapshot) for key in self.keys)

    def mentions(self, words: Sequence[bytes]) -> bool:
        """Kinds are written out in both encodings."""
        texts = (piece.text for piece in self.pieces())
        return any(word in text for text in texts for word in words)


@dataclass(frozen=True, slots=True)
class SnapshotObjects:
    """The keys under a prefix, and what is to be said of those that are not audited."""

    file: str
    snapshot: Snapshot
    keys: tuple[bytes, ...]
    notices: tuple[Notice, ...]

    @property
    def size(self) -> int:
        """Return the size of the database, in bytes."""
        return self.snapshot.size

    def blocks(self, before: int) -> Iterator[SnapshotBlock]:
        """Yield all blocks; `before` bytes are those of the inputs before this one."""
        keys = self.keys
        for first in range(0, len(keys), _KEYS):
            done = min(first + _KEYS, len(keys)) / len(keys)
            block_keys = keys[first : first + _KEYS]
            yield SnapshotBlock(
                self.file, self.snapshot, block_keys, before + int(done * self.size)
            )


def snapshot_objects(file: str, prefix: str = DEFAULT_PREFIX) -> SnapshotObjects | Problem:
    """Return what of a file can be audited."""
    try:
        return _objects_below(file, read_snapshot(file), prefix)
    except OSError as error:
        return Problem(file, 0, f"cannot be read: {(error.strerror or str(error)).lower()}")
    except BoltError as error:
        return Problem(file, 0, f"cannot be read as a snapshot of etcd: {error}")


def _objects_below(file: str, snapshot: Snapshot, prefix: str) -> SnapshotObjects | Problem:
    """Return the objects. Every value is looked at, so none that is damaged is met later. Raises
    BoltError."""
    root = prefix.rstrip("/").encode() + b"/"
    under = [key for key in snapshot.keys if key.startswith(root)]
    if snapshot.keys and not under:
        return Problem(
            file,
            0,
            f"no key begins with `{root.decode('utf-8', 'replace')}`",
            f"name another prefix with `--etcd-prefix`: there are {_prefixes(snapshot.keys)}",
        )
    return _sorted_out(file, snapshot, under, len(root))


def _prefixes(keys: Sequence[bytes]) -> str:
    """Return the first of the first parts of keys."""
    first_parts = dict.fromkeys(
        key.decode("utf-8", "replace").lstrip("/").split("/")[0] for key in keys
    )
    prefixes = [f"`/{text}`" for text in list(first_parts)[:_SHOWN_PREFIXES]]
    return ", ".join(prefixes) + (", ..." if len(first_parts) > len(prefixes) else "")


def _sorted_out(file: str, snapshot: Snapshot, keys: Sequence[bytes], root: int) -> SnapshotObjects:
    kept_keys = []
    sealed: Counter[tuple[str, str]] = Counter()
    strange: list[str] = []
    for key in keys:
        if key[root:].decode("utf-8", "replace").split("/")[0] in _NO_OBJECTS:
            continue
        value = snapshot.stored(key).value
        method = sealed_by(value)
        if method:
            sealed[_folder(key, root), method] += 1
        elif looks_like_object(value):
            kept_keys.append(key)
        else:
            strange.append(key.decode("utf-8", "replace"))
    notices = [*_sealed_notices(file, sealed)]
    if strange:
        text = f"{_values(len(strange))} no object and not audited: first `{strange[0]}`"
        notices.append(Notice(NoticeReason.NOT_EVALUATED, Place(file), text))
    return SnapshotObjects(file, snapshot, tuple(kept_keys), tuple(notices))


def _sealed_notices(file: str, sealed: Counter[tuple[str, str]]) -> Iterator[Notice]:
    for (folder, method), count in sealed.items():
        text = f"{_values(count)} encrypted ({method}) under `{folder}`, and not audited"
        yield Notice(
            NoticeReason.NOT_EVALUATED,
            Place(file),
            text,
            "audit the cluster, which can read them, with `--from-cluster`",
        )


def _values(count: int) -> str:
    return "1 value is" if count == 1 else f"{count} values are"


def _folder(key: bytes, root: int) -> str:
    """Return where the objects of its resource are; those of most groups have a folder for the
    group."""
    first, _, rest = key[root:].partition(b"/")
    parts = [first, rest.partition(b"/")[0]] if b"." in first else [first]
    return (key[:root] + b"/".join(parts)).decode("utf-8", "replace")
