"""Elements of the paths in field sets, in the form in which FieldsV1 writes them.

    f:name                     a field, or a key of a map
    k:{"name":"c"}             an item of a list with keys
    v:"x"                      an item of a set
    i:0                        an item by its index (nobody writes these)

An element is its canonical text, so that two elements are equal when their texts are. As
structured-merge-diff `fieldpath/{element,serialize-pe}.go`.
"""

from __future__ import annotations

import functools
import json
from collections.abc import Iterable
from typing import Any, Final

from celadon.kube.errors import MalformedText
from celadon.kube.go.go_text import json_text, quote
from celadon.remembering import LONGEST, remembering

FIELD: Final = "f:"
KEY: Final = "k:"
VALUE: Final = "v:"
INDEX: Final = "i:"

_KINDS: Final = (FIELD, KEY, VALUE, INDEX)

UNDEFINED: Final = VALUE + "{{undefined}}"
"""Of the item of a set that is no JSON value."""


class FieldSetError(MalformedText):
    """A FieldsV1 value that cannot be read."""


def key_element(members: dict[str, Any]) -> str:
    """Of the item of a list with keys; `members` are the values of its keys."""
    ordered_members = dict(sorted(members.items()))
    values = tuple(ordered_members.values())
    return plain_key_element(tuple(ordered_members), values) or KEY + json_text(ordered_members)


def plain_key_element(keys: tuple[str, ...], values: tuple[Any, ...]) -> str:
    """The same for keys in their order, if all values are short texts and integers; else
    empty."""
    for value in values:
        if value.__class__ is str:
            if len(value) > LONGEST:
                return ""
        elif value.__class__ is not int:
            return ""
    return _plain_key_element(keys, values)


def _key_element(keys: tuple[str, ...], values: tuple[str | int, ...]) -> str:
    return KEY + json_text(dict(zip(keys, values, strict=True)))


_plain_key_element: Final = functools.lru_cache(maxsize=4096)(_key_element)


def text_key_element(key: str, value: str) -> str:
    """The same for one key with a text, which is what most lists have."""
    return (_plain_key_element if len(value) <= LONGEST else _key_element)((key,), (value,))


def value_element(value: object) -> str:
    """Of the item of a set."""
    return VALUE + json_text(value)


@remembering(4096)
def canonical(text: str) -> str:
    """An element as others have written it; empty for one of a kind that nobody knows, which is
    passed over. FieldSetError when it cannot be read."""
    if text[1:2] != ":":
        raise FieldSetError(f"missing colon: {text}" if len(text) > 1 else "key too short")
    kind, rest = text[:2], text[2:]
    if kind == FIELD:
        return text
    if kind not in _KINDS:
        return ""
    try:
        value = json.loads(rest)
    except ValueError as error:
        raise FieldSetError(str(error)) from None
    if kind == VALUE:
        return value_element(value)
    if kind == INDEX and value.__class__ is int:
        return INDEX + str(value)
    if kind == KEY and isinstance(value, dict):
        return key_element(value)
    raise FieldSetError(f"not an element: {text}")


def ordered(elements: Iterable[str]) -> list[str]:
    """Fields by name, then items by their keys, by value, by index."""
    found = sorted(elements)
    if len(found) < 2 or found[-1] < INDEX:  # fields only: texts and names have the same order
        return found
    return sorted(found, key=_order)


@remembering(4096)
def _order(element: str) -> tuple[Any, ...]:
    kind, rest = element[:2], element[2:]
    if kind == FIELD:
        return (0, rest)
    value = json.loads(rest)
    if kind == KEY:
        return (1, [(name, _value_order(one)) for name, one in value.items()])
    return (2, _value_order(value)) if kind == VALUE else (3, value)


def _value_order(value: object) -> tuple[int, Any]:
    """Numbers, texts, booleans, lists, maps, null."""
    match value:
        case bool():
            return (2, value)
        case int() | float():
            return (0, value)
        case str():
            return (1, value)
        case list():
            return (3, [_value_order(one) for one in value])
        case dict():
            return (4, [(key, _value_order(value[key])) for key in sorted(value)])
    return (5, 0)


def step_text(element: str) -> str:
    """The element in the path that a message shows: `.name`, `[name="c"]`, `[="x"]`."""
    kind, rest = element[:2], element[2:]
    if kind == FIELD:
        return f".{rest}"
    if element == UNDEFINED:
        return f"[={rest}]"
    value = json.loads(rest)
    if kind == KEY:
        pairs = (f"{name}={value_text(one)}" for name, one in value.items())
        return f"[{','.join(pairs)}]"
    return f"[={value_text(value)}]" if kind == VALUE else f"[{value}]"


def value_text(value: object) -> str:
    """A value within such a step."""
    match value:
        case str():
            return quote(value)
        case bool():
            return "true" if value else "false"
        case None:
            return "null"
        case list():
            return f"[{','.join(map(value_text, value))}]"
        case dict():
            return "".join(f"{key}={value_text(one)}" for key, one in value.items())
    return str(value)
