"""The line of a field, found when somebody asks for it.

Readers keep no positions, because almost all documents are admitted and nobody wants to know. A
`Chunk` keeps its text instead and finds a path in it later: JSON by walking its tokens, YAML by
walking its events. Both remember what they found, so that the thousandth denied item
of one list costs as little as the first.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any, Final, NamedTuple

import yaml

from celadon.cli.reading.json_places import Path, places

_STEP: Final = re.compile(r"\[(\d+)\]|\[([^\]]*)\]|([^.\[\]]+)")
_ITEM_DEPTH: Final = 2
"""Paths of this length are remembered in JSON: `items[7]`."""


def parse_path(text: str) -> Path:
    """A field path as Kubernetes prints it, e.g. `spec.validations[0].expression`."""
    return tuple(int(index) if index else key or name for index, key, name in _STEP.findall(text))


class Chunk:
    """A stretch of a file with one document in it, and the way back to its lines."""

    __slots__ = ("_found", "_index", "file", "first_line", "is_json", "start", "text")

    def __init__(self, file: str, text: str, first_line: int, start: int, *, is_json: bool) -> None:
        self.file = file
        self.text = text
        self.first_line = first_line
        self.start = start
        self.is_json = is_json
        self._index: Any = None
        self._found: dict[Path, int] = {}

    def line(self, path: Path = ()) -> int:
        """The line (from 1, in the file) of the path, or of the longest part of it that exists."""
        if not path:
            return self._line_at(self.start)
        line = self._found.get(path)
        if line is None:
            line = self._json_line(path) if self.is_json else self._yaml_line(path)
            self._found[path] = line
        return line

    def _line_at(self, offset: int) -> int:
        return self.first_line + self.text.count("\n", 0, offset)

    def _json_line(self, path: Path) -> int:
        if self._index is None:
            self._index = {
                place.path: place.offset for place in places(self.text, self.start, _ITEM_DEPTH)
            }
        head, rest = path[:_ITEM_DEPTH], path[_ITEM_DEPTH:]
        offset = self._index.get(head, self._index.get(head[:1], self.start))
        if rest and head in self._index:
            start = offset if isinstance(head[-1], int) else self._value_start(offset)
            nearest = 0
            for place in places(self.text, start, len(rest)):
                length = len(place.path)
                if length > nearest and place.path == rest[:length]:
                    offset, nearest = place.offset, length
        return self._line_at(offset)

    def _value_start(self, key: int) -> int:
        colon = re.compile(r'"(?:[^"\\]|\\.)*"\s*:\s*').match(self.text, key)
        return colon.end() if colon is not None else key

    def _yaml_line(self, path: Path) -> int:
        if self._index is None:
            self._index = _composed(self.text, self.text.count("\n", 0, self.start))
        node: _Node = self._index
        line = node.line
        for step in path:
            if step not in node.children:
                break
            node, line = node.children[step]
        return self.first_line + line


class _Node(NamedTuple):
    """A YAML node reduced to its lines (from 0): where it begins, and each child with its key's."""

    line: int
    children: dict[Any, tuple[_Node, int]]


def _composed(text: str, line: int) -> _Node:
    """The node of the document that begins on a line (from 0).

    Not PyYAML's composer, which refuses two anchors of one name: Kubernetes takes the later.
    """
    loader = yaml.CSafeLoader if yaml.__with_libyaml__ else yaml.SafeLoader
    events = iter(loader(text).get_event, None)
    starts = (next(events) for event in events if event.__class__ is yaml.DocumentStartEvent)
    return next(_node(first, events, {}) for first in starts if first.start_mark.line >= line)


def _node(event: Any, events: Iterator[Any], anchors: dict[str | None, _Node]) -> _Node:
    line = event.start_mark.line
    if isinstance(event, yaml.AliasEvent):
        return _Node(line, anchors[event.anchor].children)
    node = _Node(line, {})
    if isinstance(event, yaml.SequenceStartEvent):
        while not isinstance(item := next(events), yaml.SequenceEndEvent):
            child = _node(item, events, anchors)
            node.children[len(node.children)] = (child, item.start_mark.line)
    elif isinstance(event, yaml.MappingStartEvent):
        while not isinstance(key := next(events), yaml.MappingEndEvent):
            _node(key, events, anchors)
            value = _node(next(events), events, anchors)
            node.children[getattr(key, "value", None)] = (value, key.start_mark.line)
    if event.anchor is not None:
        anchors[event.anchor] = node
    return node
