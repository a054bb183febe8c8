"""JSON as Go reads it: its complaints to the letter, members given twice, where things stand.

`read_json` gives the value as `json.loads` would, with what a dict cannot hold on the side:
`Document.repeated` has, for each object with a member that occurs more than once, all its members
in their order. Typed readers merge such members (Go decodes the second one into what the first one
left), which `merge` asks for; untyped ones take the last.

A document that is no JSON is a `JsonSyntaxError` with the text of Go's `encoding/json`
(`invalid character 'x' looking for beginning of value`). The fast path is Python's own decoder; the
text is found by a second reading that follows Go's scanner.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import field
from typing import Any, Final, NoReturn

from celadon.kube.go.go_json_scanner import MAX_DEPTH, TOO_DEEP, JsonSyntaxError, check_syntax
from celadon.records import dataclass

Pairs = Sequence[tuple[str, Any]]


_NO_BRACKETS: Final = bytes(set(range(256)) - set(b"[]{}"))
_USUAL_DEPTH: Final = 32
"""Levels below which brackets are taken away in pairs, to see how many are left."""


class NumberText(float):
    """A number that is not written as Python prints it; `text` is how it was written."""

    __slots__ = ("text",)
    text: str


@dataclass(frozen=True, slots=True)
class Document:
    """`repeated` is keyed by the identity of the objects inside `value`."""

    value: Any
    repeated: Mapping[int, Pairs] = field(default_factory=dict)

    def members(self, obj: Mapping[str, Any]) -> Pairs:
        """All members of an object inside the document, repeated ones too, in their order."""
        return self.repeated.get(id(obj)) or tuple(obj.items())


def read_json(text: str, *, merge: bool = False) -> Document:
    """Raises `JsonSyntaxError`."""
    if may_nest_deeper(text, MAX_DEPTH):
        check_syntax(text)
    try:
        return Document(_ONCE.decode(text))
    except _Repeated:
        return _read_repeated(text, merge=merge)
    except (ValueError, RecursionError):
        raise _complaint(text) from None


def may_nest_deeper(text: str, levels: int) -> bool:
    """Whether some value may be nested deeper. Quick, and sure only where it says no: brackets in
    texts count, too."""
    if text.count("{") + text.count("[") <= levels:
        return False
    brackets = text.encode("utf-8", "surrogatepass").translate(None, _NO_BRACKETS)
    for _ in range(_USUAL_DEPTH):
        brackets = brackets.replace(b"[]", b"").replace(b"{}", b"")
    return brackets.count(b"{") + brackets.count(b"[") > levels - _USUAL_DEPTH


def _read_repeated(text: str, *, merge: bool) -> Document:
    """Of a document in which some member is given twice, as most have none."""
    repeated: dict[int, Pairs] = {}

    def make(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        made = dict(pairs)
        if len(made) != len(pairs):
            if merge:
                made = merged_members(pairs)
            repeated[id(made)] = pairs
        return made

    try:
        value = _decoder(make).decode(text)
    except (ValueError, RecursionError):
        raise _complaint(text) from None
    return Document(value, repeated)


def _complaint(text: str) -> JsonSyntaxError:
    """What Go says. Raises it, where Go's scanner finds it."""
    check_syntax(text)
    return JsonSyntaxError(TOO_DEEP)


def merged_members(pairs: Iterable[tuple[str, Any]]) -> dict[str, Any]:
    """An object as a typed reader has it, of members some of which are given twice."""
    made: dict[str, Any] = {}
    for key, value in pairs:
        made[key] = _merged(made.get(key), value)
    return made


def _merged(first: object, second: object) -> Any:  # noqa: ANN401 - any JSON
    if isinstance(first, dict) and isinstance(second, dict):
        made = dict(first)
        for key, value in second.items():
            made[key] = _merged(made.get(key), value)
        return made
    return second


def _number(text: str) -> float:
    value = float(text)
    if repr(value) == text:
        return value
    made = NumberText(text)
    made.text = text
    return made


LONGEST_INTEGER: Final = 20
"""Characters of the longest integers that Go has, signed and unsigned."""


def _integer(text: str) -> int | float:
    """What is longer than any integer is read as a double, as Go does for untyped values."""
    return int(text) if len(text) <= LONGEST_INTEGER else _number(text)


def _refuse_constant(text: str) -> NoReturn:
    raise ValueError(f"{text} is not JSON")


class _Repeated(Exception):
    """Some member is given twice."""


def _members_once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    made = dict(pairs)
    if len(made) != len(pairs):
        raise _Repeated
    return made


def _decoder(make: Callable[[list[tuple[str, Any]]], dict[str, Any]]) -> json.JSONDecoder:
    return json.JSONDecoder(
        object_pairs_hook=make,
        parse_float=_number,
        parse_int=_integer,
        parse_constant=_refuse_constant,
    )


_ONCE: Final = _decoder(_members_once)
"""Made once: that takes as long as reading half a kilobyte."""
