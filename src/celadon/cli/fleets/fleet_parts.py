"""A source cut into parts, each of which some worker audits by itself.

JSON lines are cut at lines, into pieces of some megabytes, and snapshots of etcd by their keys. Any
other dump is one part, and so are all objects of one resource of a cluster, whose pages can only be
had one after the other.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import BinaryIO, Final, NamedTuple, cast

from celadon.cli.auditing.audit_blocks import Block, LineBlock, PieceBlock
from celadon.cli.auditing.audit_inputs import GZIP, Input, Inputs, input_blocks
from celadon.cli.auditing.audit_lookups import Lookups, looked_up
from celadon.cli.auditing.etcd_snapshots.snapshot_blocks import SnapshotObjects
from celadon.cli.auditing.object_streams import TooLarge, lines_from
from celadon.cli.auditing.source_survey import Survey
from celadon.cli.reading.documents import Document
from celadon.cli.reading.problems import Problem
from celadon.kube import GroupVersionResource

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


def surveyed_inputs(inputs: Inputs, wanted: Lookups) -> tuple[Survey, list[Part]]:
    """What policies may look up in inputs, and the parts of these. All is gone through once."""
    documents: list[Document] = []
    parts: list[Part] = []
    for number, one in enumerate(inputs.inputs):
        cutting = _Cutting(number, one)
        found = looked_up(cutting.blocks(), wanted)
        documents += (one for one in found if isinstance(one, Document))
        parts += cutting.parts
    return Survey(tuple(documents)), parts


class _Cutting:
    """Finds the parts of an input while its blocks go by."""

    def __init__(self, number: int, one: Input | SnapshotObjects | Problem) -> None:
        self._one = one
        self.parts: list[Part] = [DumpPart(number)]
        if isinstance(one, SnapshotObjects):
            starts = range(0, len(one.keys), _PART_KEYS)
            self.parts = [KeysPart(start, start + _PART_KEYS) for start in starts]

    def blocks(self) -> Iterator[Block]:
        cuts: list[DumpPart] = []
        at = self._beginning()
        for block in input_blocks(self._one):
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
        """Where its first line begins; None where lines cannot be found by their place."""
        if not isinstance(self._one, Input):
            return None
        try:
            with self._one.open() as stream:
                begin = stream.read(len(_BYTE_ORDER_MARK))
        except OSError:
            return None
        if begin.startswith(GZIP):
            return None
        return len(_BYTE_ORDER_MARK) if begin == _BYTE_ORDER_MARK else 0


def part_blocks(inputs: Inputs, part: DumpPart | KeysPart) -> Iterator[Block]:
    """The blocks of a part; the only input there is, of keys."""
    if isinstance(part, KeysPart):
        (snapshot,) = inputs.inputs
        if isinstance(snapshot, SnapshotObjects):
            yield from replace(snapshot, keys=snapshot.keys[part.start : part.stop]).blocks(0)
        return
    one = inputs.inputs[part.number]
    if not isinstance(one, Input) or not part.stop:
        yield from input_blocks(one)
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
