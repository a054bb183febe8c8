"""Many documents in little memory: all but the last few are packed, and unpacked when their turn
comes.

A document as Python holds it takes ten times the memory of its text; packed it takes less than its
text. Packing and unpacking one takes a fraction of the time that reading it takes. The items of a
list share the text of the list, which is kept as it is.
"""

from __future__ import annotations

import json
import zlib
from collections.abc import Callable, Iterator, Sequence
from typing import Any, Final

from celadon.cli.reading.documents import Document
from celadon.cli.reading.locations import Chunk, PlainChunk
from celadon.goyaml import RepeatedKey

BLOCK: Final = 250
"""Documents that are packed together: small enough to be nothing, large enough to pack well."""
_QUICKLY: Final = 1

Kind = tuple[str, str]
"""Group and kind."""


class DocumentArchive:
    """Documents in their order. Going through them makes new ones every time."""

    __slots__ = ("_chunks", "_kinds", "_last", "_packed", "_shared")

    def __init__(self) -> None:
        self._packed: list[bytes | list[Document]] = []
        self._last: list[Document] = []
        self._kinds: list[set[Kind]] = [set()]
        self._chunks: list[Chunk] = []
        self._shared: dict[int, int] = {}

    def append(self, document: Document) -> None:
        """Puts a document behind the others."""
        if len(self._last) == BLOCK:
            self._packed.append(self._pack(self._last))
            self._last = []
            self._kinds.append(set())
        self._last.append(document)
        self._kinds[-1].add(document.group_kind)

    def __len__(self) -> int:
        return len(self._packed) * BLOCK + len(self._last)

    def __iter__(self) -> Iterator[Document]:
        for number in range(self.blocks):
            yield from self.block(number)

    @property
    def blocks(self) -> int:
        """How many blocks there are; none is empty."""
        return len(self._packed) + bool(self._last)

    def block(self, number: int) -> Sequence[Document]:
        """The documents of a block, counted from 0."""
        if number == len(self._packed):
            return self._last
        packed = self._packed[number]
        if isinstance(packed, list):
            return packed
        return [self._unpacked(*row) for row in json.loads(zlib.decompress(packed))]

    @property
    def kinds(self) -> set[Kind]:
        """The kinds of all documents."""
        return set().union(*self._kinds)

    def of_kinds(self, wanted: Callable[[Kind], bool]) -> Iterator[Document]:
        """The documents of some kinds; blocks that have none of them stay packed."""
        for number in range(self.blocks):
            if any(map(wanted, self._kinds[number])):
                yield from (one for one in self.block(number) if wanted(one.group_kind))

    def _pack(self, documents: list[Document]) -> bytes | list[Document]:
        """Documents that are nested more deeply than Python writes JSON stay as they are."""
        rows = [(self._chunk_key(one), one.path, one.value) for one in documents]
        try:
            return zlib.compress(json.dumps(rows, separators=(",", ":")).encode(), _QUICKLY)
        except RecursionError:
            return documents

    def _chunk_key(self, document: Document) -> PlainChunk | int:
        if not document.path:
            return document.chunk.plain()
        key = self._shared.get(id(document.chunk))
        if key is None:
            key = self._shared[id(document.chunk)] = len(self._chunks)
            self._chunks.append(document.chunk)
        return key

    def _unpacked(self, key: list[Any] | int, path: list[str | int], value: Any) -> Document:  # noqa: ANN401 - any JSON
        if isinstance(key, int):
            return Document(self._chunks[key], tuple(path), value)
        plain = PlainChunk._make(key)
        repeated = tuple(RepeatedKey._make(one) for one in plain.repeated)
        return Document(Chunk.from_plain(plain._replace(repeated=repeated)), tuple(path), value)
