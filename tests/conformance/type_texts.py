"""Types as the recordings write them: `list(int)`, `map(string, dyn)`, `wrapper(int)`, `T`."""

from __future__ import annotations

import re

from celadon.cel import types
from celadon.cel.checking import scope
from celadon.cel.types import Kind, Type

_NAMED = {
    str(t): t
    for t in (
        *(types.ANY, types.BOOL, types.BYTES, types.DOUBLE, types.DURATION, types.DYN, types.INT),
        *(types.NULL, types.STRING, types.TIMESTAMP, types.TYPE, types.UINT),
    )
}
_TOKEN = re.compile(r"\s*([A-Za-z_.0-9]+|[(),])")


def type_text(t: Type) -> str:
    if t.kind is Kind.WRAPPER:
        return f"wrapper({t.name})"
    if not t.params:
        return str(t)
    return f"{t.name}({', '.join(map(type_text, t.params))})"


def parse_type(text: str) -> Type:
    """A single capital letter is a type parameter; unknown names are opaque or message types."""
    parts: list[str] = _TOKEN.findall(text)
    parts.reverse()
    return _parse(parts)


def _parse(parts: list[str]) -> Type:
    name = parts.pop()
    params: list[Type] = []
    if parts and parts[-1] == "(":
        while parts.pop() != ")":
            params.append(_parse(parts))
            if parts[-1] == ")":
                parts.pop()
                break
    match name, params:
        case "list", [element]:
            return types.list_of(element)
        case "map", [key, value]:
            return types.map_of(key, value)
        case "wrapper", [primitive]:
            return types.wrapper_of(primitive)
        case "type", [parameter]:
            return types.type_of(parameter)
        case _, [_, *_]:
            return types.opaque(name, *params)
    if name in _NAMED:
        return _NAMED[name]
    if name in scope.TYPES:
        return scope.TYPES[name]
    return types.type_param(name) if len(name) == 1 else types.object_type(name)
