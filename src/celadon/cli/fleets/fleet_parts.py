"""A source cut into parts, each of which some worker audits by itself.

JSON lines are cut at lines, into pieces of some megabytes, and snapshots of etcd by their keys. Any
other dump is one part, and so are all objects of one resource of a cluster, whose pages can only be
had one after the other.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import replace
from typing import BinaryIO, Final, NamedTuple, cast

from celadon.cli.audit import audit_inputs
from celadon.cli.audit.audit_blocks import Block, LineBlock, PieceBlock, TooLarge, lines_from
from celadon.cli.audit.etcd_snapshots import DEFAULT_PREFIX, SnapshotObjects
from celadon.cli.own_files import API_VERSION, faults, is_own, problem_at
from celadon.cli.reading.documents import Document, DocumentReader, Problem, is_address, read_text
from celadon.kube import GroupVersionResource, JsonObject
from celadon.records import dataclass

PART_BYTES: Final = 8 << 20
_PART_KEYS: Final = 10_000
_BYTE_ORDER_MARK: Final = b"\xef\xbb\xbf"


class DumpPart(NamedTuple):
    """An input as a whole, or its bytes from `start` to `stop`; the first line is number `line`."""

    number: int
    start: int = 0
    stop: int = 0
    line: int = 1


class KeysPart(NamedTuple):
    """Some keys of a snapshot of etcd, by their numbers."""

    start: int
    stop: int


class ResourcePart(NamedTuple):
    """All objects of a resource of a cluster."""

    resource: GroupVersionResource


Part = DumpPart | KeysPart | ResourcePart


def surveyed_inputs(
    inputs: audit_inputs.Inputs, wanted: audit_inputs.Lookups
) -> tuple[audit_inputs.Survey, list[Part]]:
    """Return what policies may look up in inputs, and the parts of these. All is gone through
    once."""
    documents: list[Document] = []
    parts: list[Part] = []
    for number, one in enumerate(inputs.inputs):
        cutting = _Cutting(number, one)
        found = audit_inputs.looked_up(cutting.blocks(), wanted)
        documents += (one for one in found if isinstance(one, Document))
        parts += cutting.parts
    return audit_inputs.Survey(tuple(documents)), parts


class _Cutting:
    """Finds the parts of an input while its blocks go by."""

    def __init__(self, number: int, one: audit_inputs.Input | SnapshotObjects | Problem) -> None:
        self._one = one
        self.parts: list[Part] = [DumpPart(number)]
        if isinstance(one, SnapshotObjects):
            starts = range(0, len(one.keys), _PART_KEYS)
            self.parts = [KeysPart(start, start + _PART_KEYS) for start in starts]

    def blocks(self) -> Iterator[Block]:
        cuts: list[DumpPart] = []
        at = self._beginning()
        for block in audit_inputs.input_blocks(self._one):
            if isinstance(block, LineBlock) and at is not None:
                stop = at + len(block.data) + 1
                if cuts and stop - cuts[-1].start <= PART_BYTES:
                    cuts[-1] = cuts[-1]._replace(stop=stop)
                else:
                    (whole,) = self.parts
                    cuts.append(DumpPart(cast(DumpPart, whole).number, at, stop, block.first_line))
                at = stop
            else:
                at = None
            yield block
        if at is not None and len(cuts) > 1:
            self.parts = [*cuts]

    def _beginning(self) -> int | None:
        """Return where its first line begins; None where lines cannot be found by their place."""
        if not isinstance(self._one, audit_inputs.Input):
            return None
        try:
            with self._one.open() as stream:
                begin = stream.read(len(_BYTE_ORDER_MARK))
        except OSError:
            return None
        if begin.startswith(audit_inputs.GZIP):
            return None
        return len(_BYTE_ORDER_MARK) if begin == _BYTE_ORDER_MARK else 0


def part_blocks(inputs: audit_inputs.Inputs, part: DumpPart | KeysPart) -> Iterator[Block]:
    """The blocks of a part; the only input there is, of keys."""
    if isinstance(part, KeysPart):
        (snapshot,) = inputs.inputs
        if isinstance(snapshot, SnapshotObjects):
            yield from replace(snapshot, keys=snapshot.keys[part.start : part.stop]).blocks(0)
        return
    one = inputs.inputs[part.number]
    if not isinstance(one, audit_inputs.Input) or not part.stop:
        yield from audit_inputs.input_blocks(one)
        return
    try:
        with one.open() as stream:
            stream.seek(part.start)
            few = cast(BinaryIO, _Piece(stream, part.stop - part.start))
            yield from lines_from(one.name, few, part.line, lambda: part.stop)
    except TooLarge as error:
        yield PieceBlock((Problem(one.name, 0, str(error), "split it into several files"),), 0)
    except OSError as error:
        yield PieceBlock((Problem(one.name, 0, f"cannot be read: {str(error).lower()}"),), 0)


class _Piece:
    """A stream that ends early."""

    def __init__(self, stream: BinaryIO, left: int) -> None:
        self._stream, self._left = stream, left

    def read(self, size: int) -> bytes:
        found = self._stream.read(min(size, self._left))
        self._left -= len(found)
        return found


# --- Fleet file --------------------------------------------------------------
#
# Files of kind Fleet: the sources of an audit, by name.


KIND: Final = "Fleet"

_TEXT: Final = {"type": "string", "minLength": 1}
_SOURCE: Final = {
    "type": "object",
    "required": ["name"],
    "additionalProperties": False,
    "properties": {
        "name": {"description": "What reports call it.", **_TEXT},
        "dumps": {
            "description": "Files, folders and patterns, relative to this file, or addresses of "
            "an object store.",
            "type": "array",
            "minItems": 1,
            "items": _TEXT,
        },
        "etcdSnapshot": {
            "description": "A snapshot of the etcd of a cluster, relative to this file.",
            **_TEXT,
        },
        "etcdPrefix": {"description": "Where in it the objects are (default: /registry).", **_TEXT},
        "kubeconfig": {
            "description": "The kubeconfig of a cluster, relative to this file.",
            **_TEXT,
        },
        "context": {"description": "The context of the kubeconfig.", **_TEXT},
    },
}
_KINDS: Final = ({"dumps"}, {"etcdSnapshot"}, {"kubeconfig", "context"})
"""By which fields a source says what it is."""
SCHEMA: Final[JsonObject] = {
    "$schema": "https://json-schema.org/draft/2020-12/schema",
    "$id": "https://celadon.dev/schemas/fleet.json",
    "title": KIND,
    "description": "What `celadon audit --fleet` audits.",
    "type": "object",
    "required": ["apiVersion", "kind", "sources"],
    "additionalProperties": False,
    "properties": {
        "apiVersion": {"const": API_VERSION},
        "kind": {"const": KIND},
        "metadata": {"type": "object"},
        "sources": {
            "description": "In the order of the report.",
            "type": "array",
            "minItems": 1,
            "items": _SOURCE,
        },
    },
}
"""The one place where the format stands."""


@dataclass(frozen=True, slots=True)
class Source:
    """Dumps, a snapshot of etcd, or a cluster: by a context, or by all that its kubeconfig says."""

    name: str
    dumps: tuple[str, ...] = ()
    snapshot: str = ""
    prefix: str = DEFAULT_PREFIX
    kubeconfig: str = ""
    context: str = ""


def read_fleet(file: str) -> tuple[Source, ...] | list[Problem]:
    """The sources of a file, or what is wrong with it."""
    text = read_text(file)
    if isinstance(text, Problem):
        return [text]
    found = list(DocumentReader().read(text))
    problems = [one for one in found if isinstance(one, Problem)]
    documents = [one for one in found if isinstance(one, Document)]
    if not problems:
        problems = list(_wrong(file, documents))
    if problems:
        return problems
    folder = os.path.dirname(file)
    return tuple(_source(folder, one) for one in documents[0].value["sources"])


def _wrong(file: str, documents: list[Document]) -> Iterator[Problem]:
    if len(documents) != 1 or not is_own(documents[0], KIND):
        yield Problem(file, 0, f"not one document of kind {KIND} ({API_VERSION})")
        return
    (fleet,) = documents
    shape = faults(fleet.value, SCHEMA)
    if shape:
        yield from (problem_at(fleet, *one) for one in shape)
        return
    seen: set[str] = set()
    for index, one in enumerate(fleet.value["sources"]):
        at = ("sources", index)
        if one["name"] in seen:
            yield problem_at(fleet, (*at, "name"), f"a source `{one['name']}` is there already")
        seen.add(one["name"])
        kinds = sum(not one.keys().isdisjoint(kind) for kind in _KINDS)
        if kinds != 1:
            text = f"source `{one['name']}` must be one of dumps, an `etcdSnapshot`, a cluster"
            yield problem_at(fleet, at, text)


def _source(folder: str, given: JsonObject) -> Source:
    snapshot, kubeconfig = given.get("etcdSnapshot", ""), given.get("kubeconfig", "")
    return Source(
        given["name"],
        tuple(_beside(folder, one) for one in given.get("dumps", ())),
        snapshot and _beside(folder, snapshot),
        given.get("etcdPrefix", DEFAULT_PREFIX),
        kubeconfig and _beside(folder, kubeconfig),
        given.get("context", ""),
    )


def _beside(folder: str, path: str) -> str:
    """A path as seen from where the file stands; addresses are what they are."""
    return path if is_address(path) else os.path.join(folder, os.path.expanduser(path))
