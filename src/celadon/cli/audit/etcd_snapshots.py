"""The objects of a snapshot of etcd as pieces that can be audited.

An object is decoded when somebody wants to know more of it than its kind, by the process that
audits it. Its place is the file and its key: `snapshot.db!/registry/pods/shop/web`.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Any, Final, NamedTuple

from celadon.cli.audit.audit_blocks import Found, Head, Piece, is_sound_metadata
from celadon.cli.audit.bolt_pages import BoltError
from celadon.cli.audit.snapshot_revisions import Snapshot, read_snapshot
from celadon.cli.check.check_report import Notice, Place, Silence
from celadon.cli.reading.documents import Document, DocumentReader
from celadon.cli.reading.json_text import read_written
from celadon.cli.reading.problems import Problem
from celadon.goyaml import UnreadableError
from celadon.kube import metadata
from celadon.kube.json_types import JsonObject
from celadon.kube.protobuf import MAGIC, ProtobufError, decode, open_envelope
from celadon.kube.registry import stored_form
from celadon.kube.schemas import DecodeError
from celadon.records import dataclass

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
        """As it is stored."""
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
        """Of the database, in bytes."""
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
