"""The objects of a snapshot of etcd as pieces that can be audited.

An object is decoded when somebody wants to know more of it than its kind, by the process that
audits it. Its place is the file and its key: `snapshot.db!/registry/pods/shop/web`.
"""

from __future__ import annotations

import hashlib
import json
import mmap
import os
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final, NamedTuple

from celadon.cli.audit.audit_blocks import Found, Head, Piece, is_sound_metadata
from celadon.cli.audit.bolt_pages import BoltError, Data, bolt_file
from celadon.cli.check.check_report import Notice, Place, Silence
from celadon.cli.reading.documents import Document, DocumentReader
from celadon.cli.reading.json_text import read_written
from celadon.cli.reading.problems import Problem
from celadon.goyaml import UnreadableError
from celadon.kube import JsonObject, metadata
from celadon.kube.protobuf import MAGIC, ProtobufError, decode, open_envelope
from celadon.kube.registry import stored_form
from celadon.kube.schemas import DecodeError
from celadon.records import dataclass

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
    found = hashlib.sha256()
    for start in range(0, size, _HASHED_AT_ONCE):
        found.update(data[start : min(size, start + _HASHED_AT_ONCE)])
    return found.digest()


def _latest(data: Data, size: int) -> dict[bytes, int]:
    """Return where the newest message of each key is, with its size in the lower bits: one number
    for each of what may be millions."""
    found: dict[bytes, int] = {}
    last = b""
    for item in bolt_file(data, size).bucket(_KEY_BUCKET):
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


# --- Snapshots ---------------------------------------------------------------

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
    """With what a value is encrypted: `aescbc`, `kms`; empty if it is not."""
    if not value.startswith(_ENCRYPTED):
        return ""
    method, colon, _ = value[len(_ENCRYPTED) : _METHOD_BYTES].partition(b":")
    return method.decode("ascii", "replace") if colon and method else "in an unknown way"


def looks_like_object(value: bytes) -> bool:
    """Return whether it begins as objects do, in an encoding that is read or another."""
    return value.startswith((MAGIC, _JSON, _CBOR))


def stored_head(value: bytes) -> Head | None:
    """The type of an object, if its envelope says it; the whole has to be read for that of JSON."""
    if not value.startswith(MAGIC):
        return None
    try:
        gvk = open_envelope(value).gvk
    except ProtobufError:
        return None
    return Head(gvk.api_version, gvk.kind)


def stored_object(value: bytes, revision: int) -> dict[str, Any]:
    """The object as a server would show it to a client that asks for the version in which it is
    stored. NotStoredObject."""
    made = _read(value)
    about = made.get("metadata") or {}
    if not is_sound_metadata(about):
        raise NotStoredObject("its metadata is none")
    made["metadata"] = {**about, "resourceVersion": str(revision)}
    try:
        return stored_form(made, metadata.gvk(made))
    except DecodeError as error:
        raise NotStoredObject(f"it is no object of its kind: {error}") from None


def _read(value: bytes) -> dict[str, Any]:
    if value.startswith(MAGIC):
        try:
            return decode(value)
        except ProtobufError as error:
            raise NotStoredObject(str(error)) from None
    if value.startswith(_CBOR):
        raise NotStoredObject("it is stored as CBOR, which is not read")
    try:
        made = read_written(value.decode()) if value.startswith(_JSON) else None
    except (UnreadableError, UnicodeDecodeError) as error:
        raise NotStoredObject(f"invalid JSON: {error}") from None
    if not isinstance(made, dict) or not _has_type(made):
        raise NotStoredObject("it is no object with `apiVersion` and `kind`")
    return made


def _has_type(made: JsonObject) -> bool:
    found = (made.get("apiVersion"), made.get("kind"))
    return all(isinstance(one, str) and one for one in found)


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
        """The file and the key."""
        return Place(f"{self.file}!{self.key.decode('utf-8', 'replace')}")

    @property
    def text(self) -> bytes:
        """Return it as it is stored."""
        return self.snapshot.stored(self.key).value

    @property
    def told_bytes(self) -> None:
        """Defaults are not among what is stored, and protobuf does not write names."""

    def head(self) -> Head | None:
        """The type, if the envelope says it."""
        return stored_head(self.text)

    def objects(self, _: DocumentReader) -> Iterator[Found | Problem]:
        """The object, or why it is none."""
        value, revision = self.snapshot.stored(self.key)
        try:
            yield Found(stored_object(value, revision), self)
        except NotStoredObject as error:
            yield Problem(self.place.file, 0, f"cannot be read: {error}")

    def documents(self, reader: DocumentReader) -> Iterator[Document | Problem]:
        """The same as a document, which has places of its own."""
        for found in self.objects(reader):
            if isinstance(found, Problem):
                yield found
            else:
                text = json.dumps(found.value).encode()
                yield from Piece(self.place.file, 1, text).documents(reader)


@dataclass(frozen=True, slots=True)
class SnapshotBlock:
    """Some of the keys of a snapshot."""

    file: str
    snapshot: Snapshot
    keys: Sequence[bytes]
    read_bytes: int

    def pieces(self) -> Iterator[StoredPiece]:
        """One for each key."""
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
        """All of them; `before` bytes are those of the inputs before this one."""
        keys = self.keys
        for first in range(0, len(keys), _KEYS):
            done = min(first + _KEYS, len(keys)) / len(keys)
            some = keys[first : first + _KEYS]
            yield SnapshotBlock(self.file, self.snapshot, some, before + int(done * self.size))


def snapshot_objects(file: str, prefix: str = DEFAULT_PREFIX) -> SnapshotObjects | Problem:
    """Return what of a file can be audited."""
    try:
        return _objects_below(file, read_snapshot(file), prefix)
    except OSError as error:
        return Problem(file, 0, f"cannot be read: {(error.strerror or str(error)).lower()}")
    except BoltError as error:
        return Problem(file, 0, f"cannot be read as a snapshot of etcd: {error}")


def _objects_below(file: str, snapshot: Snapshot, prefix: str) -> SnapshotObjects | Problem:
    """Every value is looked at, so none that is damaged is met later. BoltError."""
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
    """The first of the first parts of keys."""
    found = dict.fromkeys(key.decode("utf-8", "replace").lstrip("/").split("/")[0] for key in keys)
    shown = [f"`/{one}`" for one in list(found)[:_SHOWN_PREFIXES]]
    return ", ".join(shown) + (", ..." if len(found) > len(shown) else "")


def _sorted_out(file: str, snapshot: Snapshot, keys: Sequence[bytes], root: int) -> SnapshotObjects:
    taken = []
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
            taken.append(key)
        else:
            strange.append(key.decode("utf-8", "replace"))
    notices = [*_sealed_notices(file, sealed)]
    if strange:
        text = f"{_values(len(strange))} no object and not audited: first `{strange[0]}`"
        notices.append(Notice(Silence.NOT_EVALUATED, Place(file), text))
    return SnapshotObjects(file, snapshot, tuple(taken), tuple(notices))


def _sealed_notices(file: str, sealed: Counter[tuple[str, str]]) -> Iterator[Notice]:
    for (folder, method), count in sealed.items():
        text = f"{_values(count)} encrypted ({method}) under `{folder}`, and not audited"
        yield Notice(
            Silence.NOT_EVALUATED,
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
