"""YAML documents reduced to places: where each key and value stands in a text.

Composed for the few documents that somebody asks about; until then PyYAML is not loaded.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final, NamedTuple

import yaml


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
    """The node of the document that begins on a line (from 0).

    Not PyYAML's composer, which refuses two anchors of one name: Kubernetes takes the later.
    """
    loader = yaml.CSafeLoader if yaml.__with_libyaml__ else yaml.SafeLoader
    events = iter(loader(text.removeprefix(_BYTE_ORDER_MARK)).get_event, None)
    starts = (next(events) for event in events if event.__class__ is yaml.DocumentStartEvent)
    node = next(_node(first, events, {}) for first in starts if first.start_mark.line >= line)
    return _moved(node) if text.startswith(_BYTE_ORDER_MARK) else node


def _moved(node: Node) -> Node:
    """A node in a text with one more character before it."""
    children = {step: (_moved(child), key + 1) for step, (child, key) in node.children.items()}
    return Node(node.start + 1, node.end + 1, node.value + 1, node.is_flow, children)


def _node(event: Any, events: Iterator[Any], anchors: dict[str | None, Node]) -> Node:  # noqa: ANN401 - untyped PyYAML
    start, end = event.start_mark.index, event.end_mark.index
    if isinstance(event, yaml.AliasEvent):
        meant = anchors[event.anchor]
        return Node(start, end, meant.value, meant.is_flow, meant.children)
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
