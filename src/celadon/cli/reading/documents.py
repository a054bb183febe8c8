"""From texts to documents: one Kubernetes object each, with the place where it stands.

A YAML text is cut at its `---` lines first, as kubectl does, so that one broken document does not
take the others of its file with it. A chunk that begins with `{` is JSON; any other goes to the
quick YAML reader, and to the complete one if the quick one declines. An object whose kind ends in
`List` is replaced by its items.
"""

from __future__ import annotations

import json
import re
import zlib
from collections.abc import Callable, Iterator, Sequence
from typing import Any, Final

from celadon.cli.reading.json_text import Path, read_json
from celadon.cli.reading.locations import Chunk, PlainChunk
from celadon.cli.reading.problems import Problem
from celadon.cli.reading.sources import MAX_DOCUMENT_CHARACTERS, MAX_LIST_CHARACTERS, Text
from celadon.goyaml import BlockReader, RepeatedKey, UnreadableError, UnusualError, read_yaml
from celadon.kube.json_shapes import DEFINITION, OBJECT, misfit
from celadon.patterns import late_pattern
from celadon.records import dataclass

_SEPARATOR: Final = late_pattern(r"^---(?=[ \t\n]|\Z)([ \t]*(?:#[^\n]*)?(?:\n|\Z))?", re.MULTILINE)
_CONTENT: Final = late_pattern(r"^[ \t]*([^#\s])", re.MULTILINE)
_LIST_KIND: Final = late_pattern(r"""["']?kind["']?[ ]*:[ ]*["']?[A-Za-z]*List\b""")


@dataclass(frozen=True, slots=True)
class Document:
    """One object as it stands in a file. `value` has texts for `apiVersion` and `kind`."""

    chunk: Chunk
    path: Path
    value: dict[str, Any]

    @property
    def file(self) -> str:
        """The file as the user named it."""
        return self.chunk.file

    @property
    def group_kind(self) -> tuple[str, str]:
        """The API group, empty for the core group, and the kind."""
        group, slash, _ = self.value["apiVersion"].rpartition("/")
        return group if slash else "", self.value["kind"]

    def line(self, path: Path = ()) -> int:
        """The line of the object, or of a field of it (or of the nearest one above that exists)."""
        return self.chunk.line(self.path + path)

    def value_at(self, path: Path) -> object:
        """A field of the object; None where there is none."""
        value: object = self.value
        for step in path:
            if isinstance(value, dict):
                value = value.get(step)
            elif isinstance(value, list) and isinstance(step, int) and step < len(value):
                value = value[step]
            else:
                return None
        return value

    @property
    def repeated(self) -> Sequence[RepeatedKey]:
        """The keys that a map of it has twice; only of readers that let them pass."""
        return self.chunk.repeated_in(self.path)

    def position(self, path: Path = ()) -> str:
        """`file:line`."""
        return f"{self.file}:{self.line(path)}"


def chunk_start(text: Text, document: Document) -> int | None:
    """Return where the stretch of a document begins in the text of its file; None if that is not
    known."""
    offset = 0
    for _ in range(document.chunk.first_line - 1):
        offset = text.content.find("\n", offset) + 1
    chunk = document.chunk.text
    found = text.content.find(chunk, offset)
    return found if found >= 0 and "\n" not in text.content[offset:found] else None


class DocumentReader:
    """Reads texts; what the quick YAML reader learned stays for the next text. With
    `keeps_repeated`, a key that its map has already is no fault, but noted."""

    __slots__ = ("_blocks", "_keeps_repeated")

    def __init__(self, *, keeps_repeated: bool = False) -> None:
        self._blocks = BlockReader()
        self._keeps_repeated = keeps_repeated

    def read(self, text: Text, first_line: int = 1) -> Iterator[Document | Problem]:
        """The documents of a text, and what is wrong with the others. `first_line` is that of the
        text in its file."""
        for item in self.values(text, first_line):
            if isinstance(item, Problem):
                yield item
            else:
                yield from _objects(item[0], (), item[1])

    def values(self, text: Text, first_line: int = 1) -> Iterator[tuple[Chunk, Any] | Problem]:
        """The same, whatever the documents are: of tests of other tools, not all are objects."""
        for start, end, line in _chunks(text.content):
            at = line + first_line - 1
            yield from self._values(text.file, text.content[start:end], at)

    def _values(self, file: str, text: str, line: int) -> Iterator[tuple[Chunk, Any] | Problem]:
        first = _CONTENT.search(text)
        if first is None:
            return
        start = first.start(1)
        if first[1] == "{":
            yield from self._json_values(file, text, line)
            return
        if (limit := _exceeded(text, 0, len(text))) is not None:
            yield _too_large(file, line + text.count("\n", 0, start), limit)
            return
        try:
            value = self._blocks.read(text)
        except UnusualError:
            yield from self._yaml_values(file, text, line)
        else:
            yield Chunk(file, text, line, start, is_json=False), value

    def _json_values(
        self, file: str, text: str, line: int
    ) -> Iterator[tuple[Chunk, Any] | Problem]:
        values = counted = 0
        at = line
        repeated: list[RepeatedKey] = []
        try:
            for start, end, value in read_json(text, repeated if self._keeps_repeated else None):
                values += 1
                at += text.count("\n", counted, start)
                counted = start
                limit = _exceeded(text, start, end)
                if limit is not None:
                    yield _too_large(file, at, limit)
                else:
                    chunk = Chunk(
                        file,
                        text,
                        line,
                        start,
                        is_json=True,
                        start_line=at,
                        end=end,
                        repeated=repeated,
                    )
                    yield chunk, value
                repeated.clear()
        except UnreadableError as error:
            if values == 0 and len(text) <= MAX_DOCUMENT_CHARACTERS:
                # A map in YAML's flow style also begins with a brace.
                read = list(self._yaml_values(file, text, line))
                if not any(isinstance(item, Problem) for item in read):
                    yield from read
                    return
            yield Problem(file, line + error.line - 1, error.message, error.help)

    def _yaml_values(
        self, file: str, text: str, line: int
    ) -> Iterator[tuple[Chunk, Any] | Problem]:
        lines = text.split("\n")
        repeated: list[RepeatedKey] = []
        try:
            for first, value in read_yaml(text, repeated if self._keeps_repeated else None):
                start = sum(len(above) + 1 for above in lines[: first - 1])
                yield Chunk(file, text, line, start, is_json=False, repeated=repeated), value
                repeated.clear()
        except UnreadableError as error:
            yield Problem(file, line + error.line - 1, error.message, error.help)


def _exceeded(text: str, start: int, end: int) -> int | None:
    """The limit that a document of this length breaks, if any."""
    size = end - start
    if size <= MAX_DOCUMENT_CHARACTERS:
        return None
    is_list = _LIST_KIND.search(text, start, end) is not None
    limit = MAX_LIST_CHARACTERS if is_list else MAX_DOCUMENT_CHARACTERS
    return limit if size > limit else None


def _chunks(text: str) -> Iterator[tuple[int, int, int]]:
    """Start, end and first line of every stretch between `---` lines."""
    if "---" not in text or text.lstrip("\ufeff \t\n").startswith("%"):
        yield 0, len(text), 1
        return
    start = counted = 0
    line = 1
    for match in _SEPARATOR.finditer(text):
        line += text.count("\n", counted, start)
        counted = start
        yield start, match.start(), line
        # A separator with something behind it belongs to its document: `--- |`, `--- !tag`.
        start = match.start() if match[1] is None else match.end()
    line += text.count("\n", counted, start)
    yield start, len(text), line


def _objects(chunk: Chunk, path: Path, value: object) -> Iterator[Document | Problem]:
    """The object, or the objects of a list; a problem where there is none."""
    if value is None and not path:
        return
    if not isinstance(value, dict):
        found = "a list" if isinstance(value, list) else "a single value"
        yield Problem(chunk.file, chunk.line(path), f"an object is expected here, not {found}")
        return
    missing = [name for name in ("apiVersion", "kind") if not value.get(name)]
    if missing:
        text = " and ".join(f"`{name}`" for name in missing)
        yield Problem(chunk.file, chunk.line(path), f"{text} not set")
        return
    if not (isinstance(value["apiVersion"], str) and isinstance(value["kind"], str)):
        yield Problem(chunk.file, chunk.line(path), "`apiVersion` and `kind` must be text")
        return
    items = value.get("items")
    if value["kind"].endswith("List") and (isinstance(items, list) or items is None):
        for index, item in enumerate(items or ()):
            yield from _objects(chunk, (*path, "items", index), _with_kind(value, item))
        return
    yield Document(chunk, path, value)


def _with_kind(parent: dict[str, Any], item: object) -> Any:  # noqa: ANN401 - any JSON
    """Items of a typed list (`PodList`) may leave out what the list says already."""
    kind = parent["kind"].removesuffix("List")
    if not kind or not isinstance(item, dict) or item.get("kind"):
        return item
    return {"apiVersion": parent["apiVersion"], "kind": kind, **item}


def _too_large(file: str, line: int, limit: int) -> Problem:
    return Problem(
        file,
        line,
        f"Request entity too large: limit is {limit}",
        "kube-apiserver refuses larger objects too",
    )


# --- Document archive --------------------------------------------------------
#
# Many documents in little memory: all but the last few are packed, and unpacked when their turn
# comes.
#
# A document as Python holds it takes ten times the memory of its text; packed it takes less
# than its text. Packing and unpacking one takes a fraction of the time that reading it takes.
# The items of a list share the text of the list, which is kept as it is.


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
        """Return how many blocks there are; none is empty."""
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


# --- Object shape ------------------------------------------------------------
#
# The few things that must be right about an object before anybody looks at its meaning.
#
# The API server decodes metadata into typed fields and refuses what does not fit. The most
# frequent accident has a help of its own: a label such as `enabled: yes`, which YAML reads as
# true.


def shape_problem(document: Document) -> Problem | None:
    """The first thing wrong with the metadata (or with what a CRD defines), if any."""
    found = misfit(document.value, OBJECT)
    if found is None and document.value["kind"] == "CustomResourceDefinition":
        found = misfit(document.value, DEFINITION)
    if found is None:
        return None
    help = ""
    if found.wanted == "text" and isinstance(found.found, bool | int | float):
        help = "YAML reads some words as true, false or a number: put the value in quotes"
    return Problem(document.file, document.line(found.path), str(found), help)
