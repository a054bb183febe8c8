"""The line of a field, found when somebody asks for it.

Readers keep no positions, because almost all documents are admitted and nobody wants to know. A
`Chunk` keeps its text instead and finds a path in it later: JSON by walking its tokens, YAML by
walking its events. Both remember what they found, so that the thousandth denied item
of one list costs as little as the first.
"""

from __future__ import annotations

import json
import re
from bisect import bisect_left, bisect_right
from collections.abc import Callable, Collection, Iterator, Sequence
from contextlib import suppress
from functools import lru_cache
from operator import attrgetter, itemgetter
from typing import Any, Final, NamedTuple

from celadon.cli.reading.json_text import JsonIndex, Path
from celadon.goyaml import RepeatedKey
from celadon.late_patterns import late_pattern

# --- Nodes of YAML -----------------------------------------------------------

# YAML documents reduced to places: where each key and value stands in a text.
#
# Composed for the few documents that somebody asks about; until then PyYAML is not loaded.


class Node(NamedTuple):
    """A YAML node reduced to its places: offsets of where it begins and ends, where its value is
    (elsewhere for an alias), and of each child's key. `is_flow` is about collections."""

    start: int
    end: int
    value: int
    is_flow: bool
    children: dict[Any, tuple[Node, int]]


_BYTE_ORDER_MARK: Final = "\ufeff"


def composed(text: str, line: int) -> Node:
    """Return the node of the document that begins on a line (from 0).

    Not PyYAML's composer, which refuses two anchors of one name: Kubernetes takes the later.
    """
    nodes = _all_composed(text)
    _, node = nodes[bisect_left(nodes, line, key=itemgetter(0))]
    return _moved(node) if text.startswith(_BYTE_ORDER_MARK) else node


@lru_cache(maxsize=1)  # the documents of a text are asked for one after the other
def _all_composed(text: str) -> Sequence[tuple[int, Node]]:
    """Return the documents of a text up to one that cannot be read, each with the line of its
    content."""
    import yaml

    loader = yaml.CSafeLoader if yaml.__with_libyaml__ else yaml.SafeLoader
    events = iter(loader(text.removeprefix(_BYTE_ORDER_MARK)).get_event, None)
    nodes: list[tuple[int, Node]] = []
    with suppress(yaml.YAMLError):
        for event in events:
            if event.__class__ is yaml.DocumentStartEvent:
                first = next(events)
                nodes.append((first.start_mark.line, _node(first, events, {})))
    return nodes


def _moved(node: Node) -> Node:
    """Return a node in a text with one more character before it."""
    children = {step: (_moved(child), key + 1) for step, (child, key) in node.children.items()}
    return Node(node.start + 1, node.end + 1, node.value + 1, node.is_flow, children)


def _node(event: Any, events: Iterator[Any], anchors: dict[str | None, Node]) -> Node:  # noqa: ANN401 - untyped PyYAML
    import yaml

    start, end = event.start_mark.index, event.end_mark.index
    if isinstance(event, yaml.AliasEvent):
        target = anchors[event.anchor]
        return Node(start, end, target.value, target.is_flow, target.children)
    children: dict[Any, tuple[Node, int]] = {}
    last: Any = event
    if isinstance(event, yaml.SequenceStartEvent):
        while not isinstance(last := next(events), yaml.SequenceEndEvent):
            child = _node(last, events, anchors)
            children[len(children)] = (child, last.start_mark.index)
    elif isinstance(event, yaml.MappingStartEvent):
        while not isinstance(last := next(events), yaml.MappingEndEvent):
            _node(last, events, anchors)
            value = _node(next(events), events, anchors)
            children[getattr(last, "value", None)] = (value, last.start_mark.index)
    is_flow = bool(getattr(event, "flow_style", False))
    node = Node(start, last.end_mark.index, start, is_flow, children)
    if event.anchor is not None:
        anchors[event.anchor] = node
    return node


# --- Scalar offsets ----------------------------------------------------------
#
# From a character of a value to the character of the file that it was written as.
#
# YAML folds lines, strips indentation and knows escapes, so an offset in a value is none in the
# file. What no style changes is the sequence of characters that are not white space: the n-th
# of the value is the n-th of the source, where an escape, or a doubled quote, counts as the one
# character that it stands for. White space is taken to stand right before what follows it.

_PROPERTIES: Final = late_pattern(r"(?:[&!][^\s]*+\s++)*+")
_HEADER: Final = late_pattern(r"[|>][^\n]*\n?")
_DOUBLE: Final = late_pattern(
    r"\\(?:x(?P<x>[0-9a-fA-F]{2})|u(?P<u>[0-9a-fA-F]{4})|U(?P<U>[0-9a-fA-F]{8})|(?P<e>.|\n))|[^\\]",
    re.DOTALL,
)
_SPACES: Final = frozenset("nrtvfNLP_ \n\t")
"""What stands for white space behind a backslash."""
_HALVES: Final = late_pattern(r"\\u[dD][89aAbB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2}")


def source_offset(text: str, start: int, value: str, offset: int) -> int:
    """`start` is where the scalar begins in `text`, `offset` a position in its value. A position
    behind the end of the value is behind the last character."""
    start = scalar_start(text, start)
    remaining = sum(not text.isspace() for text in value[:offset])
    last = start
    for position, length in _characters(text, start):
        if remaining == 0:
            return position
        remaining -= 1
        last = position + length
    return last


def value_offset(text: str, start: int, value: str, index: int) -> int:
    """Return the way back: where a place in `text` is in the value. White space of the value counts
    as far as it stands behind white space of the text."""
    start = scalar_start(text, start)
    passed = 0
    end = start
    for position, length in _characters(text, start):
        if position + length > index:
            break
        passed += 1
        end = position + length
    offset = 0
    while passed:
        passed -= not value[offset].isspace()
        offset += 1
    if text[end:index].isspace():
        while offset < len(value) and value[offset].isspace():
            offset += 1
    return offset


def scalar_start(text: str, start: int) -> int:
    """Return the place behind the anchor and the tag of a node."""
    match = _PROPERTIES.match(text, start)
    return start if match is None else match.end()


def _characters(text: str, start: int) -> Iterator[tuple[int, int]]:
    """Position and length of every character of the value that is not white space."""
    style = text[start : start + 1]
    if style == '"':
        yield from _escaped(text, start + 1)
    elif style == "'":
        yield from _single_quoted(text, start + 1)
    else:
        header = _HEADER.match(text, start)
        for position in range(start if header is None else header.end(), len(text)):
            if not text[position].isspace():
                yield position, 1


def _single_quoted(text: str, position: int) -> Iterator[tuple[int, int]]:
    while position < len(text):
        if text.startswith("''", position):
            yield position, 2
            position += 2
            continue
        if text[position] == "'":
            return
        if not text[position].isspace():
            yield position, 1
        position += 1


def _escaped(text: str, position: int) -> Iterator[tuple[int, int]]:
    while position < len(text) and text[position] != '"':
        halves = _HALVES.match(text, position)
        match = halves or _DOUBLE.match(text, position)
        if match is None:
            return
        length = match.end() - position
        if halves is not None or not _is_space(match):
            yield position, length
        position += length


def _is_space(escape: re.Match[str]) -> bool:
    digits = escape["x"] or escape["u"] or escape["U"]
    if digits:
        return int(digits, 16) < 0x110000 and chr(int(digits, 16)).isspace()
    if escape["e"]:
        return escape["e"] in _SPACES
    return escape[0].isspace()


_OFFSET: Final = attrgetter("offset")
_LINE_END: Final = late_pattern("\n")


@lru_cache(maxsize=2)  # of a file and of a stretch of it, for all documents in them
def line_starts(text: str) -> Sequence[int]:
    """Return where the lines of a text begin."""
    return [0, *(match.end() for match in _LINE_END.finditer(text))]


def place_of_stretch(text: str, line: int, stretch: str) -> int | None:
    """Return where a stretch stands that begins on a line (from 0) of a text; None where it is not
    there."""
    starts = line_starts(text)
    if line >= len(starts):
        return None
    end = starts[line + 1] if line + 1 < len(starts) else len(text) + 1
    place = text.find(stretch, starts[line], end - 1 + len(stretch))
    return None if place < 0 else place


class PlainChunk(NamedTuple):
    """Holds what a `Chunk` is made of."""

    file: str
    text: str
    first_line: int
    start: int
    is_json: bool
    repeated: tuple[RepeatedKey, ...]


class Chunk:
    """A stretch of a file with one document in it, and the way back to its lines."""

    __slots__ = (
        "_counted",
        "_index",
        "_lines",
        "_repeated",
        "end",
        "file",
        "first_line",
        "is_json",
        "start",
        "text",
    )

    def __init__(
        self,
        file: str,
        text: str,
        first_line: int,
        start: int,
        *,
        is_json: bool,
        start_line: int | None = None,
        end: int | None = None,
        repeated: Collection[RepeatedKey] = (),
    ) -> None:
        """Take a document that begins at `start`, and ends at `end` if others follow it.
        `first_line` is the line of `text`, `start_line` that of `start`, if it is known; `repeated`
        are the keys that are given twice."""
        self.end = len(text) if end is None else end
        self.file = file
        self.text = text
        self.first_line = first_line
        self.start = start
        self.is_json = is_json
        self._repeated = sorted(repeated, key=_OFFSET) if repeated else ()
        self._index: Any = None
        self._lines: dict[Path, int] = {}
        self._counted = (0, first_line) if start_line is None else (start, start_line)

    def plain(self) -> PlainChunk:
        """Return the chunk without what was found, which is found again; and with nothing of other
        documents'."""
        start, end = (self.start, self.end) if self.is_json else (0, len(self.text))
        line = self._line_at(start)
        above = line - self.first_line
        repeated = tuple(
            item._replace(
                offset=item.offset - start,
                line=item.line - above,
                value_line=item.value_line - above,
            )
            for item in self._repeated
        )
        text = self.text[start:end]
        return PlainChunk(self.file, text, line, self.start - start, self.is_json, repeated)

    @classmethod
    def from_plain(cls, plain: PlainChunk) -> Chunk:
        """Return a stretch as `plain` has given it."""
        file, text, first_line, start, is_json, repeated = plain
        return cls(file, text, first_line, start, is_json=is_json, repeated=repeated)

    def __reduce__(self) -> tuple[Callable[[PlainChunk], Chunk], tuple[PlainChunk]]:
        """Return what other processes make it of."""
        return Chunk.from_plain, (self.plain(),)

    def line(self, path: Path = ()) -> int:
        """Return the line (from 1, in the file) of the path, or of the longest part of it that
        exists."""
        if not path:
            return self._line_at(self.start)
        line = self._lines.get(path)
        if line is None:
            begin, *_ = self._json_offsets(path) if self.is_json else self._offsets(path)
            line = self._line_at(begin)
            self._lines[path] = line
        return line

    def spot(self, path: Path, value: str | None = None, offset: int = 0) -> tuple[int, int]:
        """Line and column (from 1, in the file) of the path or of the longest part of it that
        exists: of its key, or of the item. With the `value` of the scalar at the path, those of the
        character at this offset of it."""
        key, start, is_whole = self._json_offsets(path) if self.is_json else self._offsets(path)
        index = key
        if value is not None and is_whole:
            index = source_offset(self.text, start, value, offset)
        starts = line_starts(self.text)  # a line may be megabytes long, and full of places
        return self._line_at(index), index - starts[bisect_right(starts, index) - 1] + 1

    def repeated_in(self, path: Path) -> Sequence[RepeatedKey]:
        """Return the keys of the value at a path, or below it, that are given twice; in the order
        of the text."""
        if not self._repeated or not path:
            return self._repeated
        start, end = self.span(path)
        first = bisect_left(self._repeated, start, key=_OFFSET)
        return self._repeated[first : bisect_left(self._repeated, end, key=_OFFSET)]

    def span(self, path: Path) -> tuple[int, int]:
        """Return where the value at a path that exists begins and ends in `text`."""
        if self.is_json:
            _, start, _ = self._json_offsets(path)
            _, end = json.JSONDecoder().raw_decode(self.text, start)
            return start, end
        node = self.node()
        for step in path:
            node, _ = node.children[step]
        return node.start, node.end

    def source_of(self, path: Path, value: str, start: int, end: int) -> tuple[int, int] | None:
        """Return where the characters of a value stand in `text`; None where there is no such
        path."""
        _, index, is_whole = self._json_offsets(path) if self.is_json else self._offsets(path)
        if not is_whole:
            return None
        first = source_offset(self.text, index, value, start)
        return first, source_offset(self.text, index, value, end - 1) + 1

    def style(self, path: Path) -> str:
        """Return the character that a value begins with: a quote, `|`, `>`, or its first one."""
        _, index, _ = self._json_offsets(path) if self.is_json else self._offsets(path)
        start = scalar_start(self.text, index)
        return self.text[start : start + 1]

    def _line_at(self, offset: int) -> int:
        """Count on from the last line that was asked for: what follows is asked for mostly."""
        start, line = self._counted
        if offset < start:
            return self.first_line + bisect_right(line_starts(self.text), offset) - 1
        self._counted = offset, line + self.text.count("\n", start, offset)
        return self._counted[1]

    def _json_offsets(self, path: Path) -> tuple[int, int, bool]:
        """Return where the key (or item) and the value begin, and whether that is all of the
        path."""
        if self._index is None:
            self._index = JsonIndex(self.text, self.start)
        index: JsonIndex = self._index
        return index.offsets(path)

    def _offsets(self, path: Path) -> tuple[int, int, bool]:
        """Look up as `_json_offsets` does, in YAML."""
        node = self.node()
        key = node.start
        for step in path:
            if step not in node.children:
                return key, node.value, False
            node, key = node.children[step]
        return key, node.value, True

    def node(self) -> Node:
        """Return the YAML document, reduced to places. Not for JSON."""
        if self._index is None:
            line = bisect_right(line_starts(self.text), self.start) - 1
            self._index = composed(self.text, line)
        node: Node = self._index
        return node
