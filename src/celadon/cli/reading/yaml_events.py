"""The complete YAML reader: any YAML to JSON values, by Kubernetes' rules.

Scanning and parsing is libyaml's (through PyYAML, or PyYAML's own parser where libyaml is not
built in); the values are made here from its events, because PyYAML's constructors follow other
rules than Kubernetes, accept duplicate keys, and spend three times as long.

`yaml_blocks` is the quick reader for everyday documents; whatever it does not understand comes
here, and for what it does understand the two must agree.
"""

from __future__ import annotations

import base64
import binascii
import copy
from collections.abc import Callable, Iterator
from typing import Any, Final

import yaml

from celadon.cli.reading.depth import check_depth
from celadon.cli.reading.input_limits import (
    ALIAS_FREE_COUNT,
    ALIAS_RATIO_HIGH,
    ALIAS_RATIO_LOW,
    ALIAS_SMALL_DOCUMENT,
    MAX_DEPTH,
)
from celadon.cli.reading.problems import UnreadableError
from celadon.cli.reading.yaml_scalars import (
    NotJsonError,
    key_text,
    resolve_plain,
)

_TAG: Final = "tag:yaml.org,2002:"
_MERGE: Final = "<<"
_SCALAR, _ALIAS = yaml.ScalarEvent, yaml.AliasEvent
_MAPPING, _SEQUENCE = yaml.MappingStartEvent, yaml.SequenceStartEvent
_MAPPING_END, _SEQUENCE_END = yaml.MappingEndEvent, yaml.SequenceEndEvent


def read_yaml(text: str) -> Iterator[tuple[int, Any]]:
    """The documents of a text, each with the line (from 1) where it begins.

    Raises `UnreadableError`, after the documents before the faulty one were given out.
    """
    reader = _Reader(text)
    try:
        yield from reader.documents()
    except yaml.YAMLError as error:
        raise _translated(error, text) from error


class _Reader:
    """One pass over the events of a text; the state of the document being built."""

    def __init__(self, text: str) -> None:
        loader = yaml.CSafeLoader if yaml.__with_libyaml__ else yaml.SafeLoader
        self._next: Callable[[], Any] = loader(text).get_event
        self._anchors: dict[str, tuple[Any, int]] = {}
        self._open_anchors: set[str] = set()
        self._values = 0
        self._aliased = 0

    def documents(self) -> Iterator[tuple[int, Any]]:
        """Every document; an empty one is None."""
        while (event := self._next()) is not None:
            if event.__class__ is yaml.DocumentStartEvent:
                self._anchors, self._values, self._aliased = {}, 0, 0
                first = self._next()
                value = self._node(first, 1)
                if self._aliased:
                    check_depth(value, first.start_mark.line + 1)
                yield first.start_mark.line + 1, value

    def _node(self, event: Any, depth: int) -> Any:
        kind = event.__class__
        if kind is _ALIAS:
            return self._alias(event)
        before = self._values
        self._values = before + 1
        anchor = event.anchor
        if anchor is not None:
            self._anchors.pop(anchor, None)
            self._open_anchors.add(anchor)
        if kind is _SCALAR:
            value: Any = _scalar(event)
        elif depth > MAX_DEPTH:
            raise UnreadableError(
                event.start_mark.line + 1, f"nested deeper than {MAX_DEPTH} levels"
            )
        elif kind is _MAPPING:
            value = self._mapping(depth + 1)
        else:
            value = self._sequence(depth + 1)
        if anchor is not None:
            self._open_anchors.discard(anchor)
            self._anchors[anchor] = (value, self._values - before)
        return value

    def _sequence(self, depth: int) -> list[Any]:
        items: list[Any] = []
        while (event := self._next()).__class__ is not _SEQUENCE_END:
            items.append(self._node(event, depth))
        return items

    def _mapping(self, depth: int) -> dict[str, Any]:
        result: dict[str, Any] = {}
        own: set[str] = set()
        while (event := self._next()).__class__ is not _MAPPING_END:
            if _is_merge(event):
                self._merge(result, self._next(), depth)
                continue
            key = self._key(event, depth)
            if key in own:
                raise UnreadableError(event.start_mark.line + 1, f'key "{key}" already set in map')
            own.add(key)
            result[key] = self._node(self._next(), depth)
        return result

    def _key(self, event: Any, depth: int) -> str:
        line = event.start_mark.line + 1
        key = self._node(event, depth)
        text = None if isinstance(key, dict | list) else key_text(key)
        if text is None:
            shown = "null" if key is None else "a map" if isinstance(key, dict) else "a list"
            raise UnreadableError(line, f"{shown} cannot be a key")
        return text

    def _merge(self, result: dict[str, Any], event: Any, depth: int) -> None:
        """`<<: *defaults`: the later of two equal keys wins, whichever side it came from."""
        line = event.start_mark.line + 1
        value = self._node(event, depth)
        maps = value[::-1] if isinstance(value, list) else [value]
        for item in maps:
            if not isinstance(item, dict):
                raise UnreadableError(
                    line, "map merge requires map or sequence of maps as the value"
                )
            result.update(item)

    def _alias(self, event: Any) -> Any:
        line = event.start_mark.line + 1
        if event.anchor in self._open_anchors:
            raise UnreadableError(line, f"anchor `{event.anchor}` contains itself")
        if event.anchor not in self._anchors:
            raise UnreadableError(line, f"unknown anchor `{event.anchor}` referenced")
        value, size = self._anchors[event.anchor]
        self._values += size + 1
        self._aliased += size
        if (
            self._aliased > ALIAS_FREE_COUNT
            and self._values > ALIAS_SMALL_DOCUMENT
            and self._aliased > self._values * _allowed_alias_ratio(self._values)
        ):
            raise UnreadableError(line, "document contains excessive aliasing")
        return copy.deepcopy(value) if isinstance(value, dict | list) else value


def _allowed_alias_ratio(values: int) -> float:
    """The part of a document that may come from aliases, as go-yaml `decode.go` allows."""
    if values <= ALIAS_RATIO_LOW:
        return 0.99
    if values >= ALIAS_RATIO_HIGH:
        return 0.10
    return 0.99 - 0.89 * (values - ALIAS_RATIO_LOW) / (ALIAS_RATIO_HIGH - ALIAS_RATIO_LOW)


def _is_merge(event: Any) -> bool:
    return (
        event.__class__ is _SCALAR
        and event.value == _MERGE
        and (event.implicit[0] or event.tag == _TAG + "merge")
    )


def _scalar(event: Any) -> str | int | float | bool | None:
    tag = event.tag
    text: str = event.value
    if tag is None or tag == "!":
        if not event.implicit[0]:
            return text
        try:
            return resolve_plain(text)
        except NotJsonError:
            raise _not_json(event) from None
    if not tag.startswith(_TAG):
        return text
    return _tagged(event, tag.removeprefix(_TAG))


def _not_json(event: Any) -> UnreadableError:
    return UnreadableError(
        event.start_mark.line + 1,
        f"the number `{event.value[:40]}` has no form in JSON",
        "put it in quotes if it is meant as text",
    )


def _tagged(event: Any, tag: str) -> str | int | float | bool | None:
    """A scalar with an explicit tag of the YAML language, e.g. `!!int "5"`."""
    text: str = event.value
    if tag == "binary":
        return _binary(event)
    if tag not in ("int", "float", "bool", "null", "timestamp"):
        return text
    try:
        value = resolve_plain(text)
    except NotJsonError:
        raise _not_json(event) from None
    found = _tag_of(value)
    if tag == found or (tag, found) in (("float", "int"), ("int", "float")):
        return value
    if tag == "timestamp":
        return text
    raise UnreadableError(
        event.start_mark.line + 1, f"cannot decode !!{found} `{text[:40]}` as a !!{tag}"
    )


def _tag_of(value: str | int | float | bool | None) -> str:
    if value is None:
        return "null"
    if isinstance(value, bool):
        return "bool"
    if isinstance(value, int):
        return "int"
    return "float" if isinstance(value, float) else "str"


def _binary(event: Any) -> str:
    try:
        # As Go prints bytes that are not UTF-8: the replacement character.
        return base64.b64decode("".join(event.value.split()), validate=True).decode(
            errors="replace"
        )
    except binascii.Error:
        raise UnreadableError(
            event.start_mark.line + 1, "!!binary value contains invalid base64 data"
        ) from None


def _translated(error: yaml.YAMLError, text: str) -> UnreadableError:
    """libyaml's complaint with its line; its words are those kubectl's users know."""
    if isinstance(error, yaml.reader.ReaderError):
        line = text.count("\n", 0, error.position) + 1
        return UnreadableError(line, str(error.reason))
    if not isinstance(error, yaml.MarkedYAMLError):
        return UnreadableError(1, str(error).splitlines()[0])
    mark = error.problem_mark or error.context_mark
    line = mark.line + 1 if mark is not None else 1
    message = error.problem or error.context or "invalid YAML"
    if "tab" in message or ("cannot start any token" in message and _has_tab(text, line)):
        return UnreadableError(line, message, "indent with spaces: YAML does not allow tabs there")
    return UnreadableError(line, message)


def _has_tab(text: str, line: int) -> bool:
    lines = text.splitlines()
    return 0 < line <= len(lines) and "\t" in lines[line - 1]
