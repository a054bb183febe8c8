"""Types written as text, by either of their printers: `map(string, list(null_type))`."""

from __future__ import annotations

from celadon.cel import types
from celadon.cel.types import Type

_NAMED = {
    name: t
    for t in (
        types.ANY,
        types.BOOL,
        types.BYTES,
        types.DOUBLE,
        types.DURATION,
        types.DYN,
        types.INT,
        types.NULL,
        types.STRING,
        types.TIMESTAMP,
        types.TYPE,
        types.UINT,
    )
    for name in (t.display(), t.runtime_name)
}


def parse_type(text: str) -> Type:
    """Names with a capital or a dot are object types; single capital letters are parameters."""
    t, rest = _parse(text.replace(" ", ""))
    assert not rest, f"{rest!r} is left of {text!r}"
    return t


def _parse(text: str) -> tuple[Type, str]:
    end = next((i for i, c in enumerate(text) if c in "(),"), len(text))
    name, rest = text[:end], text[end:]
    params: list[Type] = []
    if rest.startswith("("):
        while rest[0] != ")":
            t, rest = _parse(rest[1:])
            params.append(t)
        rest = rest[1:]
    return _named(name, params), rest


def _named(name: str, params: list[Type]) -> Type:
    match name, params:
        case "list", [element]:
            return types.list_of(element)
        case "map", [key, value]:
            return types.map_of(key, value)
        case "type", [t]:
            return types.type_of(t)
        case "wrapper", [primitive]:
            return types.wrapper_of(primitive)
        case _, []:
            if len(name) == 1 and name.isupper():
                return types.type_param(name)
            return _NAMED.get(name) or types.object_type(name)
        case _:
            return types.opaque(name, *params)
