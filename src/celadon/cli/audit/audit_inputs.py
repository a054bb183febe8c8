"""Inputs of an audit: what the user named (files, folders, globs, standard input, packed or not),
cut into blocks, and what policies look up in it: params, roles, definitions.

Everything may be gone through several times, by several processes, so what can be read only once
(standard input, a pipe) is first copied to a file that has no name and is gone at the end.

Dumps in object stores have addresses (`s3://bucket/folder/`). fsspec knows the stores
(docs/decisions/0033); each needs a package of its own, which it names.
"""

from __future__ import annotations

import functools
import gzip
import io
import itertools
import os
import shutil
import stat
import sys
import tarfile
import tempfile
import zlib
from collections.abc import Iterable, Iterator, Sequence
from typing import Any, BinaryIO, Final, cast

from celadon.admission import Engine, ObjectWorld
from celadon.admission.registration import Policy
from celadon.cli.audit import audit_blocks, etcd_snapshots
from celadon.cli.audit.object_audit import AuditSettings, ObjectAuditor
from celadon.cli.check.check_report import Notice
from celadon.cli.check.cluster import Circumstances
from celadon.cli.check.manifests import PolicySet, PolicySets
from celadon.cli.check.notices import Sightings
from celadon.cli.check.object_preparation import Prepare
from celadon.cli.reading.documents import (
    MAX_DOCUMENT_CHARACTERS,
    MAX_FILE_BYTES,
    STDIN,
    STDIN_CLOSED,
    STDIN_NAME,
    Document,
    DocumentReader,
    Problem,
    expand_paths,
    is_address,
)
from celadon.kube import GroupKind, Json, JsonObject, User, metadata
from celadon.kube.defaulting import LOOKED_UP
from celadon.kube.json_types import JsonDict
from celadon.kube.registry import request_bodies
from celadon.kube.resources import Catalog, known_resources
from celadon.kube.selectors import LabelSelector, SelectorError, label_selector
from celadon.kube.well_known_values import NODES, RBAC_GROUP
from celadon.late_patterns import late_pattern
from celadon.records import dataclass

# --- What is looked up -------------------------------------------------------
#
# What is looked up while objects are audited: params, roles, definitions of custom resources,
# namespaces, and what plugins read (classes, accounts, LimitRanges), from the source itself and
# from what was given with the policies.
#
# A source is gone through once for them, before anything is judged. Only texts in which a wanted
# kind is mentioned are read, and of params only those that some binding may mean, so that a
# cluster full of ConfigMaps is not kept in memory for the one that is a param.

_NAMESPACE: Final = GroupKind("", "Namespace")
_ROLES: Final = tuple(
    GroupKind(RBAC_GROUP, kind)
    for kind in ("ClusterRole", "ClusterRoleBinding", "Role", "RoleBinding")
)


@dataclass(frozen=True, slots=True)
class _ParamRefs:
    """The params of one kind that bindings may mean. A selector of None takes all."""

    names: frozenset[str]
    selectors: tuple[LabelSelector | None, ...]

    def covers(self, value: JsonObject) -> bool:
        """Return whether it is one of them."""
        if metadata.name(value) in self.names:
            return True
        labels = metadata.labels(value)
        return any(selector is None or selector.matches(labels) for selector in self.selectors)


@dataclass(frozen=True, slots=True)
class LookupKinds:
    """The kinds of objects that somebody may look up."""

    kinds: frozenset[GroupKind]
    params: dict[GroupKind, _ParamRefs]
    namespaces: bool
    """Whether policies look at namespaces."""

    def wants(self, value: JsonObject) -> bool:
        """Return whether an object has to be kept."""
        kind = metadata.gvk(value).group_kind
        if kind in self.kinds:
            return True
        refs = self.params.get(kind)
        return refs is not None and refs.covers(value)

    def may_be(self, piece: audit_blocks.AnyPiece) -> bool:
        """Return whether a piece is worth reading."""
        head = piece.head()
        if head is None:
            return not piece.text or any(word in piece.text for word in self.words)
        kind = GroupKind(head.api_version.rpartition("/")[0], head.kind)
        return kind in self.kinds or kind in self.params or head.kind.endswith("List")

    @property
    def words(self) -> tuple[bytes, ...]:
        """Texts without any of these have nothing that is wanted."""
        return tuple(sorted({kind.kind.encode() for kind in (*self.kinds, *self.params)}))


def lookups_of(sets: PolicySets) -> LookupKinds:
    """Return what these policies may look up."""
    namespaces = Sightings.wanted(sets).wants_namespaces
    kinds = {GroupKind("apiextensions.k8s.io", "CustomResourceDefinition"), _NAMESPACE}
    kinds.update(
        known_resource.gvk.group_kind
        for known_resource in known_resources()
        if known_resource.gvr in LOOKED_UP - {NODES}
    )
    if any(_asks_authorizer(policy.value) for policy in sets.validating.policies.values()):
        kinds.update(_ROLES)
    return LookupKinds(frozenset(kinds), _params(sets.validating), namespaces)


def _asks_authorizer(policy: Policy) -> bool:
    return "authorizer" in repr(policy.spec)


def _params(policies: PolicySet) -> dict[GroupKind, _ParamRefs]:
    names: dict[GroupKind, set[str]] = {}
    selectors: dict[GroupKind, list[LabelSelector | None]] = {}
    for placed in policies.bindings.values():
        policy = policies.policies.get(placed.value.spec.policy_name)
        param_kind = policy.value.spec.param_kind if policy is not None else None
        ref = placed.value.spec.param_ref
        if param_kind is None or ref is None:
            continue
        group, slash, _ = param_kind.api_version.rpartition("/")
        kind = GroupKind(group if slash else "", param_kind.kind)
        names.setdefault(kind, set())
        selectors.setdefault(kind, [])
        if ref.name:
            names[kind].add(ref.name)
        else:
            selectors[kind].append(_compiled(ref.selector))
    return {kind: _ParamRefs(frozenset(names[kind]), tuple(selectors[kind])) for kind in names}


def _compiled(selector: Any) -> LabelSelector | None:  # noqa: ANN401 - JSON
    try:
        return label_selector(selector or {})
    except SelectorError:  # said when a param is looked for
        return None


def looked_up(
    blocks: Iterable[audit_blocks.Block], lookups: LookupKinds
) -> Iterator[Document | Problem]:
    """Yield the objects of a source that are wanted; what cannot be read is said when it is
    judged."""
    words = lookups.words
    reader = DocumentReader()
    for block in blocks:
        if not block.mentions(words):
            continue
        for piece in block.pieces():
            if not isinstance(piece, Problem) and lookups.may_be(piece):
                for document in piece.documents(reader):
                    if isinstance(document, Document) and lookups.wants(document.value):
                        yield document


def preparation(
    existing: Iterable[Document], user: User, now: str, version: str, *, defaulting: bool = True
) -> Prepare:
    """Return how manifests become what a server would have stored: whatever else is odd about them
    is not asked about. `existing` are the definitions among other things."""
    circumstances = Circumstances(
        version, now, user, defaulting=defaulting, field_validation=request_bodies.IGNORE
    )
    return circumstances.preparation(existing)


def given_objects(
    documents: Iterable[Document], prepare: Prepare
) -> tuple[list[dict[str, Json]], list[Problem]]:
    """Objects that may be looked up, and what is wrong with others. One that a server has written
    is as it is."""
    objects: list[dict[str, Json]] = []
    problems: list[Problem] = []
    for document in documents:
        value: dict[str, Json] | Problem = document.value
        if not metadata.uid(document.value):
            value = prepare.existing(document)
        if isinstance(value, Problem):
            problems.append(value)
        else:
            objects.append(value)
    return objects, problems


# --- Backup archives ---------------------------------------------------------
#
# Backups as Velero writes them: a `.tar.gz` with one JSON file for each object.
#
# `resources/<resource>.<group>/namespaces/<namespace>/<name>.json` and
# `resources/<resource>.<group>/cluster/<name>.json`; newer ones have a folder
# `<version>-preferredversion` beside, whose files are the same objects in the preferred
# version, and others for further versions, which are left out. Members are read one after the
# other and never written anywhere; links, devices and whatever else a tar may hold are passed
# over.

MAX_MEMBERS: Final = 10_000_000
MAX_HEADER_BYTES: Final = 4 << 20
"""Of one file: names, attributes and maps of holes, which are read as a whole."""
_CUT_SHORT: Final = "it ends in the middle of a file"
_EMPTY_READS: Final = 100
"""At the end of an archive. `tarfile` skips a file in steps of 10 KiB, also behind the end: for
hours if its header says that it has a petabyte."""
_MEMBERS: Final = 250
_BLOCK_BYTES: Final = 8 << 20
_OBJECT: Final = late_pattern(
    r"(?:\./)?resources/(?P<resource>[^/]+)/(?:namespaces/[^/]+/|cluster/)[^/]+\.json"
)
_TAR_MAGIC: Final = (257, b"ustar")


def is_tar(begin: bytes) -> bool:
    """Return whether the first bytes of a file, unpacked, are those of a tar archive."""
    index, magic = _TAR_MAGIC
    return begin[index : index + len(magic)] == magic


class _BoundedHeaders:
    """An archive as `tarfile` reads it. What it reads for a header ends: a name may say that it is
    as long as the memory. `allowed` is how far it may be read."""

    def __init__(self, stream: BinaryIO) -> None:
        self._stream = stream
        self._position = 0
        self._empty_reads = 0
        self.allowed = MAX_HEADER_BYTES

    def read(self, size: int) -> bytes:
        """Read bytes. Raises OSError."""
        if self._position > self.allowed:
            raise OSError(f"a header of more than {MAX_HEADER_BYTES >> 20} MiB")
        data = self._stream.read(size)
        self._position += len(data)
        self._empty_reads += not data
        if self._empty_reads > _EMPTY_READS:
            raise OSError(_CUT_SHORT)
        return data


def archive_blocks(
    file: str, stream: BinaryIO, position: audit_blocks.Position
) -> Iterator[audit_blocks.Block | Problem]:
    """Yield the objects of a backup; `stream` is the archive, unpacked. What is wrong with it ends
    it."""
    pieces: list[audit_blocks.Piece | Problem] = []
    size = 0
    false = False
    try:
        bounded = _BoundedHeaders(stream)
        with tarfile.open(fileobj=cast(BinaryIO, bounded), mode="r|") as archive:
            for number, member in enumerate(archive):
                # Up to the next header, however large the file itself is.
                bounded.allowed = archive.offset + MAX_HEADER_BYTES
                archive.members.clear()  # type: ignore[attr-defined]  # else all of them are kept
                if number >= MAX_MEMBERS:
                    pieces.append(Problem(file, 0, f"more than {MAX_MEMBERS} files"))
                    break
                piece = _piece(file, archive, member)
                if piece is None:
                    continue
                false = True
                pieces.append(piece)
                size += member.size
                if len(pieces) == _MEMBERS or size >= _BLOCK_BYTES:
                    yield audit_blocks.PieceBlock(tuple(pieces), position())
                    pieces, size = [], 0
    except (
        tarfile.TarError,
        OSError,
        EOFError,
        ValueError,
        OverflowError,
        RecursionError,
    ) as error:
        reason = str(error).lower()
        if reason == "unexpected end of data":  # what `tarfile` says of it since Python 3.14
            reason = _CUT_SHORT
        pieces.append(Problem(file, 0, f"cannot be read as a backup: {reason}"))
    else:
        if not false:
            pieces.append(
                Problem(file, 0, "no backup: it has no `resources/RESOURCE/...` with JSON files")
            )
    if pieces:
        yield audit_blocks.PieceBlock(tuple(pieces), position())


def _piece(
    file: str, archive: tarfile.TarFile, member: tarfile.TarInfo
) -> audit_blocks.Piece | Problem | None:
    if not member.isreg() or _OBJECT.fullmatch(member.name) is None:
        return None
    name = f"{file}!{member.name.removeprefix('./')}"
    if member.size > MAX_DOCUMENT_CHARACTERS:
        return Problem(name, 0, f"larger than {MAX_DOCUMENT_CHARACTERS >> 20} MiB")
    content = archive.extractfile(member)
    return None if content is None else audit_blocks.Piece(name, 1, content.read())


GZIP: Final = b"\x1f\x8b"
_WHOLE: Final = 1 << 19
"""Files up to this size are read when their turn comes, each by one process."""
_BUFFER: Final = 1 << 16


@dataclass(frozen=True, slots=True)
class Input:
    """A file, or an open one that has no name of its own."""

    name: str
    size: int
    copied: int | None = None
    """The descriptor of what was copied."""

    @property
    def is_file(self) -> bool:
        """Return whether anybody on this machine can open it by its name."""
        return self.copied is None and not is_address(self.name)

    def open(self) -> BinaryIO:
        """Return a stream from its beginning. Raises OSError."""
        if is_address(self.name):
            return opened(self.name)
        if self.copied is None:
            return open(self.name, "rb")
        return cast(BinaryIO, _Copy(self.copied))


class _Copy(io.RawIOBase):
    """A view of a descriptor with a position of its own: processes share the descriptor's."""

    def __init__(self, descriptor: int) -> None:
        self._descriptor, self._position = descriptor, 0

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: bytearray | memoryview) -> int:  # type: ignore[override]
        pread = os.pread(self._descriptor, len(buffer), self._position)
        buffer[: len(pread)] = pread
        self._position += len(pread)
        return len(pread)

    def tell(self) -> int:
        return self._position


@dataclass(frozen=True, slots=True)
class Inputs:
    """All of them, in their order; `total` bytes."""

    inputs: tuple[Input | etcd_snapshots.SnapshotObjects | Problem, ...]

    @property
    def total(self) -> int:
        """Return the size in bytes, as the inputs lie on the disk."""
        return sum(source.size for source in self.inputs if not isinstance(source, Problem))

    @property
    def notices(self) -> tuple[Notice, ...]:
        """Return what is known not to be among the blocks."""
        inputs = (
            source.notices
            for source in self.inputs
            if isinstance(source, etcd_snapshots.SnapshotObjects)
        )
        return tuple(itertools.chain.from_iterable(inputs))

    def blocks(self) -> Iterator[audit_blocks.Block]:
        """Yield all blocks, the same ones each time."""
        before = 0
        for item in self.inputs:
            yield from input_blocks(item, before)
            before += 0 if isinstance(item, Problem) else item.size


def input_blocks(
    problem: Input | etcd_snapshots.SnapshotObjects | Problem, before: int = 0
) -> Iterator[audit_blocks.Block]:
    """Yield the blocks of one input; `before` are the bytes of those before it."""
    if isinstance(problem, Problem):
        yield audit_blocks.PieceBlock((problem,), before)
    elif isinstance(problem, etcd_snapshots.SnapshotObjects):
        yield from problem.blocks(before)
    else:
        for block in _blocks(problem, before):
            yield audit_blocks.PieceBlock((block,), before) if isinstance(block, Problem) else block


def given_inputs(
    arguments: Sequence[str],
    snapshots: Sequence[str] = (),
    prefix: str = etcd_snapshots.DEFAULT_PREFIX,
) -> Inputs:
    """Return what the arguments mean, then snapshots of etcd with objects under the prefix.
    Standard input and pipes are read now, and snapshots looked through."""
    files = _all(arguments)
    return Inputs(
        (*files, *(etcd_snapshots.snapshot_objects(snapshot, prefix) for snapshot in snapshots))
    )


def _all(arguments: Sequence[str]) -> Iterator[Input | Problem]:
    for remote, together in itertools.groupby(arguments, is_address):
        if not remote:
            yield from (_input(path) for path in expand_paths(list(together)))
            continue
        for item in stored(together):
            yield item if isinstance(item, Problem) else Input(*item)


def _input(source: str | Problem) -> Input | Problem:
    if isinstance(source, Problem):
        return source
    try:
        if source == STDIN:
            if sys.stdin is None:
                return STDIN_CLOSED
            return _copied(STDIN_NAME, sys.stdin.buffer)
        if os.path.isfile(source):
            return Input(source, os.path.getsize(source))
        with open(source, "rb") as stream:
            return _copied(source, stream)
    except OSError as error:
        return Problem(source, 0, f"cannot be read: {(error.strerror or str(error)).lower()}")
    except ValueError:
        return Problem(source, 0, "cannot be read: not the name of a file")


def _copied(name: str, stream: BinaryIO) -> Input | Problem:
    with tempfile.TemporaryFile() as copy:
        if stat.S_ISCHR(os.fstat(stream.fileno()).st_mode):  # a terminal, or what has no end
            copy.write(stream.read(MAX_FILE_BYTES))
            if stream.read(1):
                return Problem(name, 0, f"larger than {MAX_FILE_BYTES >> 20} MiB")
        shutil.copyfileobj(stream, copy)
        copy.flush()
        return Input(name, os.fstat(copy.fileno()).st_size, os.dup(copy.fileno()))


def _blocks(source: Input, before: int) -> Iterator[audit_blocks.Block | Problem]:
    try:
        with source.open() as raw:
            begin = raw.read(_BUFFER)
            if etcd_snapshots.is_bolt(begin):
                help = "give it with `--etcd-snapshot`"
                yield Problem(source.name, 0, "it is a snapshot of etcd, not a dump", help)
                return
            packed = begin.startswith(GZIP)
            if source.is_file and source.size <= _WHOLE and not packed and not is_tar(begin):
                yield audit_blocks.FileBlock(source.name, before + source.size)
                return
        with source.open() as raw:
            buffered = io.BufferedReader(cast(io.RawIOBase, raw), _BUFFER)
            stream = cast(BinaryIO, gzip.GzipFile(fileobj=buffered) if packed else buffered)
            with io.BufferedReader(cast(io.RawIOBase, stream), _BUFFER) as peekable:
                position = functools.partial(_position, before, raw)
                yield from _formed(source, cast(io.BufferedReader, peekable), position)
    except (OSError, EOFError, zlib.error) as error:
        reason = getattr(error, "strerror", None) or str(error)
        yield Problem(source.name, 0, f"cannot be read: {reason.lower()}")


def _position(before: int, raw: BinaryIO) -> int:
    return before + raw.tell()


def _formed(
    source: Input, stream: io.BufferedReader, position: audit_blocks.Position
) -> Iterator[audit_blocks.Block | Problem]:
    if is_tar(stream.peek(_BUFFER)):
        yield from archive_blocks(source.name, stream, position)
    else:
        yield from audit_blocks.blocks_of(source.name, stream, position)


# --- object stores --------------------------------------------------------------------------------

_MISSING: Final = "pip install 'celadon[fleet]'"


def stored(addresses: Iterable[str]) -> Iterator[tuple[str, int] | Problem]:
    """Yield everything at and below these addresses, with its size in bytes."""
    for address in addresses:
        try:
            yield from _below(address)
        except ImportError as error:
            yield Problem(address, 0, f"cannot be read: {error}", _MISSING)
        except Exception as error:  # noqa: BLE001 - each store raises its own
            yield Problem(address, 0, f"cannot be read: {error}")


def _below(address: str) -> Iterator[tuple[str, int] | Problem]:
    import fsspec  # late: an extra

    store, path = fsspec.core.url_to_fs(address)
    files = sorted(store.find(path, detail=True).items())
    if not files:
        yield Problem(address, 0, "there is nothing at this address")
    for name, about in files:
        yield store.unstrip_protocol(name), int(about["size"])


def opened(address: str) -> BinaryIO:
    """Return a stream that can be read from any place. Raises OSError."""
    import fsspec  # late: an extra

    try:
        return cast(BinaryIO, fsspec.open(address, "rb").open())
    except OSError:
        raise
    except Exception as error:
        raise OSError(str(error)) from error


# --- Source survey -----------------------------------------------------------
#
# What is known of a source before its objects are judged: what policies may look up there.


@dataclass(frozen=True, slots=True)
class Survey:
    """Holds what a source has. `documents` are those of dumps, `objects` those of a cluster, which
    has a `catalog` of its own."""

    documents: tuple[Document, ...] = ()
    objects: tuple[JsonDict, ...] = ()
    catalog: Catalog | None = None


@dataclass(frozen=True, slots=True)
class LookupObjects:
    """Holds what policies can look up: as it was found (`existing`), and as a server has it
    (`objects`), with what is wrong with others."""

    existing: tuple[JsonObject, ...]
    objects: tuple[JsonObject, ...]
    problems: tuple[Problem, ...]
    prepare: Prepare


def looked_up_in(
    survey: Survey, policy_documents: tuple[Document, ...], settings: AuditSettings
) -> LookupObjects:
    """Return what lookups find. `policy_documents` was given with the policies, and counts like
    what is in the source."""
    documents = (*survey.documents, *policy_documents)
    prepare = preparation(
        documents, settings.user, settings.now, settings.version, defaulting=settings.defaulting
    )
    objects, problems = given_objects(documents, prepare)
    existing = (*survey.objects, *(document.value for document in documents))
    return LookupObjects(existing, (*survey.objects, *objects), tuple(problems), prepare)


def source_world(survey: Survey, up: LookupObjects) -> ObjectWorld:
    """Return the world of a source, in which policies look up what was found there."""
    return ObjectWorld(up.objects, implicit_namespaces=True, catalog=survey.catalog)


def source_auditor(
    world: ObjectWorld, up: LookupObjects, sets: PolicySets, engine: Engine, settings: AuditSettings
) -> ObjectAuditor:
    """Ready to audit the objects of a source."""
    return ObjectAuditor(
        engine,
        world,
        up.prepare,
        sets.validating,
        settings,
        wants_namespaces=lookups_of(sets).namespaces,
    )
